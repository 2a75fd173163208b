//! Every way in which an attempt can end, as the host would tell it. One of each kind, not one of each value.

use backstop_engine::gates::{NoVerdict, Verdict};
use backstop_engine::mode::Account;
use backstop_engine::outcome::{Artifact, FailCause, Interruption, Status, UnavailableCause};
use backstop_engine::review::{EffectiveReasoning, Finding, Findings, RouteReceipt, RoutedBy};
use backstop_engine::vocab::{Digest, EffectId, Span, Stage, Text};
use backstop_engine::{ArtifactSeen, AttemptEnded, Cost, Head, Lane, Mission, Ruling, Usage};

use crate::moves::Palette;
use crate::world::{commit, fresh, short, tree, unspent};

/// An attempt that ended so, changed nothing, left numbers to read and used nothing.
#[must_use]
pub fn ended(mission: &Mission, effect: EffectId, status: Status) -> AttemptEnded {
    AttemptEnded {
        effect,
        status,
        usage: unspent(),
        session: None,
        head: Some(mission.lane().head.clone()),
        artifact: kept(Artifact::Numbers),
        ruling: Some(pass()),
        route: route(&format!("session-{effect}")),
        protected: Vec::new(),
        transcript: None,
        words: short(""),
    }
}

fn kept(form: Artifact) -> ArtifactSeen {
    ArtifactSeen::Kept {
        digest: Digest::of(b"artifact"),
        form,
        head: short("what was found"),
    }
}

/// A complete receipt of this session.
#[must_use]
pub fn route(session: &str) -> RouteReceipt {
    RouteReceipt {
        role: None,
        provider: Some(short("provider")),
        model: Some(short("model")),
        requested_reasoning: Some(short("default")),
        effective_reasoning: Some(EffectiveReasoning::Unreported),
        routed_by: Some(RoutedBy::SessionDefault),
        session: Some(short(session)),
    }
}

/// A verdict that the work is good, and nothing is open.
#[must_use]
pub fn pass() -> Ruling {
    Ruling::Verdict {
        verdict: Verdict::Pass,
        findings: Findings::default(),
    }
}

/// A verdict that the work is not good, and this is open.
#[must_use]
pub fn fails(finding: &str) -> Ruling {
    Ruling::Verdict {
        verdict: Verdict::Fail {
            reason: Text::default(),
        },
        findings: Findings::clip(Finding::clip(finding)),
    }
}

/// Everything that a role that judges can say.
fn rulings() -> [Option<Ruling>; 5] {
    let open = Ruling::Verdict {
        verdict: Verdict::Pass,
        findings: Findings::clip(Finding::clip("and yet")),
    };
    [
        Some(fails("a fault")),
        Some(fails("")),
        Some(open),
        Some(Ruling::None(NoVerdict::Blank)),
        None,
    ]
}

/// All ends of the launch `effect` that the palette allows.
#[must_use]
pub fn ends(mission: &Mission, effect: EffectId, palette: &Palette) -> Vec<AttemptEnded> {
    let plain = |status| ended(mission, effect, status);
    let mut all = if palette.calm {
        calm(mission, effect)
    } else {
        successes(mission, effect)
    };
    let troubles = troubles(mission).into_iter();
    let some = if palette.calm { 1 } else { usize::MAX };
    for status in troubles.take(some) {
        let moved = AttemptEnded {
            head: Some(fresh(effect)),
            session: Some(short("session")),
            ..plain(status.clone())
        };
        all.extend([plain(status), moved]);
    }
    for account in &palette.spends {
        let usage = usage(mission, *account);
        let overspent = [
            Status::OverBudget { account: *account },
            Status::Success,
            Status::AgentUnavailable {
                cause: UnavailableCause::Billing,
            },
        ];
        all.extend(overspent.map(|status| AttemptEnded {
            usage,
            head: Some(fresh(effect)),
            ..plain(status)
        }));
    }
    all
}

/// All that is left of an account, used at once.
fn usage(mission: &Mission, account: Account) -> Usage {
    let left = mission.meter().remaining(account);
    let mut usage = unspent();
    match account {
        Account::ToolCalls => usage.tool_calls = left,
        Account::Tokens => usage.tokens = left,
        Account::Cost => usage.cost = Cost::Reported(left),
        Account::ActiveTime => usage.active_ms = left,
        Account::Streak
        | Account::PhaseFailures
        | Account::Infra
        | Account::InfraTotal
        | Account::QuotaWaits
        | Account::Preflight
        | Account::CheckpointResumes
        | Account::Attempts => {}
    }
    usage
}

/// A success that changed the tree, and of a role that judges a pass, a failure and no verdict.
fn calm(mission: &Mission, effect: EffectId) -> Vec<AttemptEnded> {
    let plain = || ended(mission, effect, Status::Success);
    if mission.lane().stage == Stage::Validate {
        let rulings = [pass(), fails("a fault"), Ruling::None(NoVerdict::Blank)];
        let ruled = rulings.map(|ruling| AttemptEnded {
            ruling: Some(ruling),
            ..plain()
        });
        return ruled.into();
    }
    vec![AttemptEnded {
        head: Some(fresh(effect)),
        ..plain()
    }]
}

/// A claimed success with every kind of evidence, good and bad.
fn successes(mission: &Mission, effect: EffectId) -> Vec<AttemptEnded> {
    let lane = mission.lane();
    let plain = || ended(mission, effect, Status::Success);
    if lane.stage == Stage::Validate {
        return judgements(mission, effect);
    }
    let mut all: Vec<_> = heads(lane, effect)
        .into_iter()
        .map(|head| AttemptEnded { head, ..plain() })
        .collect();
    let artifacts = [
        kept(Artifact::Text),
        kept(Artifact::Missing),
        ArtifactSeen::Blank,
        ArtifactSeen::Unmeasured,
    ];
    all.extend(artifacts.map(|artifact| AttemptEnded {
        artifact,
        ..plain()
    }));
    all.push(AttemptEnded {
        head: Some(fresh(effect)),
        protected: vec![short("backstop.toml")],
        ..plain()
    });
    all
}

/// A claimed success of a role that judges: with every ruling, of a moved tree, by the wrong session.
fn judgements(mission: &Mission, effect: EffectId) -> Vec<AttemptEnded> {
    let plain = || ended(mission, effect, Status::Success);
    let mut all = vec![plain()];
    all.extend(rulings().map(|ruling| AttemptEnded { ruling, ..plain() }));
    let author = mission.lane().implementer.clone();
    all.push(AttemptEnded {
        route: author.unwrap_or_default(),
        ..plain()
    });
    all.push(AttemptEnded {
        route: RouteReceipt::default(),
        ..plain()
    });
    all.extend([Some(fresh(effect)), None].map(|head| AttemptEnded { head, ..plain() }));
    all
}

/// Where a lane's head can be after an attempt: the same, new, or new in a way that is no progress.
fn heads(lane: &Lane, effect: EffectId) -> Vec<Option<Head>> {
    let (same, new) = (lane.head.clone(), fresh(effect));
    let mut heads = vec![Some(same.clone()), Some(new.clone())];
    if lane.stage != Stage::Code {
        return heads;
    }
    let emptied = Head {
        tree: same.tree,
        ..new.clone()
    };
    let uncounted = Head {
        commits: None,
        ..new.clone()
    };
    let rewound = Head {
        commit: commit(0),
        commits: Some(0),
        ..new.clone()
    };
    let seen = failed_tree(lane, effect).map(|tree| Head { tree, ..new });
    heads.extend([None, Some(emptied), Some(uncounted), Some(rewound)]);
    heads.extend(seen.map(Some));
    heads
}

/// A tree, other than the present one, on which Validate failed before.
fn failed_tree(lane: &Lane, effect: EffectId) -> Option<Digest> {
    let mut known = (0..effect.number()).map(tree);
    known.find(|tree| *tree != lane.head.tree && crate::fingerprint::failed_before(lane, *tree))
}

/// Every end that is no success.
fn troubles(mission: &Mission) -> Vec<Status> {
    let now = mission.now();
    let soon = now.after(Span::from_mins(10));
    let late = now.after(Span::from_hours(9 * 24));
    vec![
        Status::Failed {
            cause: FailCause::Reported,
        },
        Status::Unknown,
        Status::RateLimited { until: None },
        Status::RateLimited { until: Some(soon) },
        Status::RateLimited { until: Some(late) },
        Status::Ambiguous,
        Status::Interrupted {
            by: Interruption::RunnerDied,
        },
        Status::Interrupted {
            by: Interruption::Network,
        },
        Status::ResourceKilled,
        Status::AgentUnavailable {
            cause: UnavailableCause::Missing,
        },
        Status::IdleTimeout,
        Status::OverBudget {
            account: Account::Tokens,
        },
        Status::Asked {
            question: short("which one?"),
        },
        Status::Cancelled,
    ]
}
