//! A deed of the model as a fact for the engine; where nothing waits for it, as a fact that does not fit.

use backstop_testkit::engine::mode::Account;
use backstop_testkit::engine::outcome::{FailCause, Interruption, Status, UnavailableCause};
use backstop_testkit::engine::vocab::{EffectId, GateId, Span};
use backstop_testkit::engine::{
    Answer, BaseMerged, CheckVerdict, ChecksRan, Fact, Head, MergeOutcome, Mission, Point,
    PointVerdict, PreflightRan, ShipOutcome, Shipped, Verb,
};
use backstop_testkit::{check_results, commit, ended, fresh, note, operator, short};

use crate::deeds::Deed;

pub(crate) fn fact(mission: &Mission, deed: Deed) -> Fact {
    let first = mission.outstanding().next();
    let effect = first.map_or(EffectId::new(1_000_000), |(id, _)| id);
    match deed {
        Deed::PreflightHeld => preflight(effect, PointVerdict::Held(short("there"))),
        Deed::PreflightFailed => preflight(effect, PointVerdict::Failed(short("no git"))),
        Deed::Green => checks(mission, effect, &[]),
        Deed::Red => checks(mission, effect, &[CheckVerdict::Failed { exit: 1 }]),
        Deed::NotRun => {
            let cause = short("no shell");
            checks(mission, effect, &[CheckVerdict::NotRun { cause }])
        }
        Deed::WaitEnded => Fact::WaitEnded { effect },
        Deed::Landed => Fact::Landed {
            effect,
            tree: mission.lane().head.tree,
        },
        Deed::LandFailed => Fact::LandFailed {
            effect,
            cause: short("full"),
        },
        Deed::Shipped | Deed::ShipFailed | Deed::BaseMoved => shipped(effect, deed),
        Deed::MergedNew | Deed::MergedSame | Deed::Conflict => merged(mission, effect, deed),
        Deed::Answer(verb) => answer(mission, verb),
        Deed::Expired => Fact::GateExpired {
            gate: gate(mission),
        },
        Deed::Stop => Fact::StopRequested { by: operator() },
        Deed::Resume => Fact::Resumed { by: operator() },
        Deed::Supervise => Fact::Supervised { by: operator() },
        Deed::Worked
        | Deed::DidNothing
        | Deed::Failed
        | Deed::Limited
        | Deed::LimitedForLong
        | Deed::Died
        | Deed::CutOff
        | Deed::Unavailable
        | Deed::Asked
        | Deed::Spent
        | Deed::Cancelled => attempt(mission, effect, deed),
    }
}

fn preflight(effect: EffectId, verdict: PointVerdict) -> Fact {
    Fact::PreflightRan(PreflightRan {
        effect,
        points: vec![Point {
            name: short("git"),
            verdict,
        }],
        base_checks: Vec::new(),
    })
}

fn attempt(mission: &Mission, effect: EffectId, deed: Deed) -> Fact {
    let mut end = ended(mission, effect, status(mission, deed));
    if deed == Deed::Worked {
        end.head = Some(fresh(effect));
    }
    if deed == Deed::Spent {
        end.usage.tokens = mission.meter().remaining(Account::Tokens);
    }
    Fact::AttemptEnded(Box::new(end))
}

fn status(mission: &Mission, deed: Deed) -> Status {
    let later = Span::from_hours(9 * 24);
    match deed {
        Deed::Worked | Deed::DidNothing => Status::Success,
        Deed::Limited => Status::RateLimited { until: None },
        Deed::LimitedForLong => Status::RateLimited {
            until: Some(mission.now().after(later)),
        },
        Deed::Died => Status::Interrupted {
            by: Interruption::RunnerDied,
        },
        Deed::CutOff => Status::Interrupted {
            by: Interruption::Network,
        },
        Deed::Unavailable => Status::AgentUnavailable {
            cause: UnavailableCause::Auth,
        },
        Deed::Asked => Status::Asked {
            question: short("which?"),
        },
        Deed::Spent => Status::OverBudget {
            account: Account::Tokens,
        },
        Deed::Cancelled => Status::Cancelled,
        _ => Status::Failed {
            cause: FailCause::Reported,
        },
    }
}

fn checks(mission: &Mission, effect: EffectId, verdicts: &[CheckVerdict]) -> Fact {
    let fields = mission.charter().fields();
    Fact::ChecksRan(ChecksRan {
        effect,
        tree: mission.lane().head.tree,
        results: check_results(&fields.checks, verdicts),
    })
}

fn shipped(effect: EffectId, deed: Deed) -> Fact {
    let outcome = match deed {
        Deed::Shipped => ShipOutcome::Done {
            place: short("a branch"),
        },
        Deed::BaseMoved => ShipOutcome::BaseMoved { now: commit(9_000) },
        _ => ShipOutcome::Failed {
            cause: short("no room"),
        },
    };
    Fact::Shipped(Shipped { effect, outcome })
}

fn merged(mission: &Mission, effect: EffectId, deed: Deed) -> Fact {
    let same = Head {
        tree: mission.lane().head.tree,
        ..fresh(effect)
    };
    let merged = |head| MergeOutcome::Merged {
        base: commit(9_000),
        head,
    };
    let outcome = match deed {
        Deed::MergedNew => merged(fresh(effect)),
        Deed::MergedSame => merged(same),
        _ => MergeOutcome::Conflict {
            cause: short("a.rs"),
        },
    };
    Fact::BaseMerged(BaseMerged { effect, outcome })
}

fn gate(mission: &Mission) -> GateId {
    mission
        .gate()
        .map_or(GateId::numbered(1_000_000), |gate| gate.id.clone())
}

fn answer(mission: &Mission, verb: Verb) -> Fact {
    Fact::Answered(Answer {
        gate: gate(mission),
        digest: mission.gate().and_then(|gate| gate.digest),
        verb,
        accounts: Vec::new(),
        note: Some(note()),
        by: operator(),
    })
}
