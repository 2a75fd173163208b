//! Lands lanes, ships missions and merges moved bases: git in the operator's repository, each step safe to do again.

use std::sync::Arc;

use backstop_engine::vocab::{EffectId, Text};
use backstop_engine::{BaseMerged, Fact, Head, Landing, Merge, MergeOutcome, ShipBy, ShipOutcome};
use backstop_engine::{Shipment, Shipped};

use super::blocking;
use crate::edge::Ground;
use crate::git::{GitError, Merged, shown};

/// Puts a verified lane on the mission branch. The answer names the tree that was put there, or why none was.
pub(super) async fn land(ground: &Arc<Ground>, id: EffectId, landing: Landing) -> Fact {
    let landed = blocking(ground, move |ground| {
        let host = &ground.host;
        let now = host.tip(&host.names().mission())?;
        host.land(&landing.commit, now.as_ref())?;
        host.repository().tree(&landing.commit)
    })
    .await;
    match landed {
        Ok(tree) => Fact::Landed { effect: id, tree },
        Err(error) => Fact::LandFailed {
            effect: id,
            cause: ground.clean(&error.to_string()),
        },
    }
}

/// Hands the approved tree over.
pub(super) async fn ship(ground: &Arc<Ground>, id: EffectId, shipment: Shipment) -> Fact {
    let outcome = blocking(ground, move |ground| hand_over(ground, &shipment)).await;
    Fact::Shipped(Shipped {
        effect: id,
        outcome,
    })
}

fn hand_over(ground: &Ground, shipment: &Shipment) -> ShipOutcome {
    let (host, fields) = (&ground.host, ground.charter.fields());
    let shipped = match (shipment.by, &fields.base.branch) {
        (ShipBy::Branch, _) => host
            .ship_branch(&shipment.commit, &shipment.tree)
            .map(|_| format!("branch {}", host.names().ship_branch())),
        (ShipBy::Merge, Some(branch)) => host
            .ship_merge(
                branch.as_str(),
                &shipment.base,
                &shipment.commit,
                &shipment.tree,
            )
            .map(|_| format!("merged into {branch}")),
        (ShipBy::Merge, None) => {
            let words = "the base is on no branch, so there is nothing to merge into: reject, or abort and ship as a branch";
            return ShipOutcome::Failed {
                cause: Text::clip(words),
            };
        }
    };
    match shipped {
        Ok(place) => ShipOutcome::Done {
            place: ground.clean(&place),
        },
        Err(GitError::BaseMoved { now, .. }) => ShipOutcome::BaseMoved { now },
        Err(error) => ShipOutcome::Failed {
            cause: ground.clean(&error.to_string()),
        },
    }
}

/// Merges a moved base into the mission branch.
pub(super) async fn merge(ground: &Arc<Ground>, id: EffectId, merge: Merge) -> Fact {
    let outcome = blocking(ground, move |ground| join(ground, &merge)).await;
    Fact::BaseMerged(BaseMerged {
        effect: id,
        outcome,
    })
}

fn join(ground: &Ground, merge: &Merge) -> MergeOutcome {
    let host = &ground.host;
    let conflict = |words: &str| MergeOutcome::Conflict {
        cause: ground.clean(words),
    };
    match host.merge_base(&merge.base) {
        Ok(Merged::Clean { commit, tree }) => {
            let commits = host
                .commits(&ground.charter.fields().base.commit, &commit)
                .ok();
            let head = Head {
                commit,
                tree,
                commits,
            };
            MergeOutcome::Merged {
                base: merge.base.clone(),
                head,
            }
        }
        Ok(Merged::Conflicts(paths)) => {
            let paths: Vec<String> = paths
                .iter()
                .map(|path| format!("`{}`", shown(path)))
                .collect();
            conflict(&format!(
                "base {} conflicts with the work in {}",
                merge.base,
                paths.join(", ")
            ))
        }
        Err(error) => conflict(&error.to_string()),
    }
}
