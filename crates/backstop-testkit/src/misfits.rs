//! Facts that do not fit a mission, whatever it is at: each must be refused and leave no trace.

use backstop_engine::outcome::Status;
use backstop_engine::vocab::{Digest, EffectId, GateId, Timestamp};
use backstop_engine::{
    Answer, AttemptStarted, BaseMerged, ChecksRan, Effect, Event, Fact, MergeOutcome, Mission,
    PreflightRan, ProcessRef, SessionOpened, ShipOutcome, Shipped, Verb,
};

use crate::ends::ended;
use crate::world::{note, operator, short};

/// Facts that do not fit.
#[must_use]
pub fn misfits(mission: &Mission) -> Vec<Event> {
    let now = mission.now();
    let mut facts = vec![Fact::Opened(Box::new(mission.charter().clone()))];
    let unknown = EffectId::new(1_000_000);
    facts.extend(world(mission, unknown));
    if !mission.outstanding().any(|(id, _)| id == EffectId::new(0)) {
        facts.extend(world(mission, EffectId::new(0)));
    }
    for (id, effect) in mission.outstanding() {
        let wrong = world(mission, id).into_iter();
        facts.extend(wrong.filter(|fact| !answers(effect, fact)));
        facts.extend(bent(effect, id));
    }
    facts.extend(stale(mission));
    let early = mission.due().into_iter().map(|fact| Event {
        at: Timestamp::from_millis(0),
        fact,
    });
    let early: Vec<_> = early.filter(|_| mission.deadline() > Some(now)).collect();
    let at_now = facts.into_iter().map(|fact| Event { at: now, fact });
    at_now.chain(early).collect()
}

/// One fact of each kind about this effect.
fn world(mission: &Mission, effect: EffectId) -> Vec<Fact> {
    vec![
        Fact::PreflightRan(PreflightRan {
            effect,
            points: Vec::new(),
            base_checks: Vec::new(),
        }),
        Fact::AttemptStarted(AttemptStarted {
            effect,
            process: ProcessRef { pid: 1, started: 1 },
        }),
        Fact::SessionOpened(SessionOpened {
            effect,
            session: short("session"),
        }),
        Fact::AttemptEnded(Box::new(ended(mission, effect, Status::Success))),
        Fact::ChecksRan(ChecksRan {
            effect,
            tree: mission.lane().head.tree,
            results: Vec::new(),
        }),
        Fact::WaitEnded { effect },
        Fact::Landed {
            effect,
            tree: mission.lane().head.tree,
        },
        Fact::LandFailed {
            effect,
            cause: short("full"),
        },
        Fact::Shipped(Shipped {
            effect,
            outcome: ShipOutcome::Done {
                place: short("somewhere"),
            },
        }),
        Fact::BaseMerged(BaseMerged {
            effect,
            outcome: MergeOutcome::Conflict {
                cause: short("paths"),
            },
        }),
    ]
}

/// Whether this kind of fact answers this effect.
const fn answers(effect: &Effect, fact: &Fact) -> bool {
    matches!(
        (effect, fact),
        (Effect::Preflight, Fact::PreflightRan(_))
            | (
                Effect::Launch(_),
                Fact::AttemptStarted(_) | Fact::SessionOpened(_) | Fact::AttemptEnded(_)
            )
            | (Effect::RunChecks(_), Fact::ChecksRan(_))
            | (Effect::Wait(_), Fact::WaitEnded { .. })
            | (
                Effect::Land(_),
                Fact::Landed { .. } | Fact::LandFailed { .. }
            )
            | (Effect::Ship(_), Fact::Shipped(_))
            | (Effect::MergeBase(_), Fact::BaseMerged(_))
    )
}

/// The right kind of answer, about something else than was asked.
fn bent(effect: &Effect, id: EffectId) -> Vec<Fact> {
    let other = Digest::of(b"another tree");
    match effect {
        Effect::Land(_) => vec![Fact::Landed {
            effect: id,
            tree: other,
        }],
        Effect::RunChecks(run) => [run.tree, other]
            .map(|tree| {
                Fact::ChecksRan(ChecksRan {
                    effect: id,
                    tree,
                    results: Vec::new(),
                })
            })
            .into(),
        Effect::Preflight
        | Effect::Launch(_)
        | Effect::Wait(_)
        | Effect::Ask(_)
        | Effect::Ship(_)
        | Effect::MergeBase(_)
        | Effect::Halt(_) => Vec::new(),
    }
}

/// Answers to gates that were answered already, to gates that never were, and the end of such gates.
fn stale(mission: &Mission) -> Vec<Fact> {
    let answered = mission.answers().iter().map(|(gate, ..)| gate.clone());
    let gates = answered.chain([GateId::numbered(1_000_000)]);
    let digest = mission.gate().and_then(|gate| gate.digest);
    let answer = |gate: GateId, verb| {
        Fact::Answered(Answer {
            gate,
            digest,
            verb,
            accounts: Vec::new(),
            note: Some(note()),
            by: operator(),
        })
    };
    gates
        .flat_map(|gate| {
            let expired = Fact::GateExpired { gate: gate.clone() };
            Verb::ALL
                .map(|verb| answer(gate.clone(), verb))
                .into_iter()
                .chain([expired])
        })
        .collect()
}
