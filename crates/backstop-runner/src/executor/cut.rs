//! A launch that an earlier process left unanswered: what is left of it is ended and surveyed, and what never began is begun.

use std::sync::Arc;

use backstop_agents::{self as agents, Support};
use backstop_engine::outcome::{Interruption, Status};
use backstop_engine::vocab::{EffectId, Phase};
use backstop_engine::{AttemptEnded, Cost, Order, ProcessRef};

use super::attempt::{Live, Presence, Run, end, run};
use super::blocking;
use super::checks::{end_left, none_left};
use super::turn::Turn;
use super::work;
use crate::edge::Ground;
use crate::process::{self, Identity, Marker};

/// A launch that an earlier process left unanswered.
#[derive(Debug)]
pub struct Cut {
    /// The launch.
    pub id: EffectId,
    /// What was launched.
    pub order: Order,
    /// Its process, where its start is on record.
    pub process: Option<ProcessRef>,
}

/// Takes up a launch whose runner died. One whose agent was never let in, such as one that waited for its turn, is begun
/// anew: nothing of it was spent.
pub(super) async fn take_up(
    ground: &Arc<Ground>,
    cut: &Cut,
    live: Live,
    turn: &Turn,
) -> AttemptEnded {
    let id = cut.id;
    let entered = blocking(ground, move |ground| work::has_entered(ground, id)).await;
    if entered || cut.process.is_some() {
        return end_cut(ground, cut, Presence::Over).await;
    }
    match end_left(ground, &left_of(ground, cut)).await {
        Ok(()) => run(ground, &cut.order, live, turn).await,
        Err(_) => end_cut(ground, cut, Presence::Never).await,
    }
}

/// The markers of what a launch may have left at work: the setup of its workspace too.
fn left_of(ground: &Ground, cut: &Cut) -> [Marker; 2] {
    [ground.marker(&cut.order), ground.check_marker(Phase::FIRST)]
}

/// Ends what is left of a launch whose runner died, and takes its work.
async fn end_cut(ground: &Arc<Ground>, cut: &Cut, presence: Presence) -> AttemptEnded {
    let agent = match cut.process {
        Some(ProcessRef { pid, started }) => {
            let identity = Identity {
                pid,
                start_time: started,
            };
            let marker = ground.marker(&cut.order);
            let swept = process::stop_by_identity(identity, &marker, ground.grace()).await;
            none_left(&swept.left)
        }
        None => Ok(()),
    };
    let rest = end_left(ground, &left_of(ground, cut)).await;
    let status = Status::Interrupted {
        by: Interruption::RunnerDied,
    };
    let mut run = Run::never(status, "the runner died while it ran".into());
    if matches!(presence, Presence::Over) {
        run.usage.cost = unheard_cost(cut.order.agent.agent.as_str());
    }
    run.presence = presence;
    end(ground, cut.id, &cut.order, run.beside(agent.and(rest))).await
}

/// What an attempt cost that was not heard to its end: not known, but for an agent for which no model works.
fn unheard_cost(agent: &str) -> Cost {
    match agents::find(agent).map(|adapter| adapter.features().model) {
        Some(Support::No) => Cost::NoModelWork,
        Some(Support::Yes) | None => Cost::Unreported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_unheard_attempt_cost_is_known_only_where_no_model_works() {
        assert_eq!(unheard_cost("scripted"), Cost::NoModelWork);
        assert_eq!(unheard_cost("exec"), Cost::Unreported);
        assert_eq!(
            unheard_cost("an agent of another version"),
            Cost::Unreported
        );
    }
}
