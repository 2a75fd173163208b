//! Every distinct answer the world could give next, and who gives it. Values that decide nothing are not varied.

use backstop_engine::mode::Account;
use backstop_engine::vocab::{Digest, EffectId, Note, Timestamp};
use backstop_engine::{
    Answer, AttemptStarted, BaseMerged, CheckRun, CheckVerdict, ChecksRan, Effect, Event, Fact,
    Gate, Head, MergeOutcome, Mission, Point, PointVerdict, PreflightRan, ProcessRef,
    SessionOpened, ShipOutcome, Shipped, Verb,
};

use crate::ends::ends;
use crate::world::{check_results, commit, fresh, note, operator, short, tree};

/// Who makes a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// An agent, as its adapter reads it.
    Agent,
    /// The machinery that runs on the host.
    Host,
    /// Time itself.
    Clock,
    /// A person.
    Operator,
}

/// Something that the world can do to a mission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Who does it.
    pub by: Actor,
    /// What it is.
    pub event: Event,
}

/// Which of the moves that multiply states are made.
#[derive(Debug, Clone, Default)]
pub struct Palette {
    /// The effort accounts that one attempt may use up.
    pub spends: Vec<Account>,
    /// How many grants the operator gives in all.
    pub grants: u8,
    /// The ceilings to which the operator tightens.
    pub tightens: Vec<(Account, u64)>,
    /// What else the operator does outside of gates.
    pub outside: Vec<Outside>,
    /// Whether attempts end in the plainest ways alone.
    pub calm: bool,
    /// Whether the operator says why and what is meant, and gives no answer in another shape.
    pub apt: bool,
}

/// What an operator does outside of gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outside {
    /// Stops what runs, and goes on with it.
    Stop,
    /// Asks to see every Validate.
    Supervise,
}

/// Whether it is a record without a decision: it answers nothing, so it can be said any number of times.
#[must_use]
pub const fn is_note(fact: &Fact) -> bool {
    matches!(fact, Fact::AttemptStarted(_) | Fact::SessionOpened(_))
}

/// Every move that the palette allows. Answers to the open gate are in every shape, those that do not fit included, unless
/// the operator is apt.
#[must_use]
pub fn moves(mission: &Mission, palette: &Palette) -> Vec<Move> {
    let now = mission.now();
    let made = |by, fact| Move {
        by,
        event: Event { at: now, fact },
    };
    let mut all = Vec::new();
    for (id, effect) in mission.outstanding() {
        let answers = world(mission, palette, id, effect);
        all.extend(answers.into_iter().map(|(by, fact)| made(by, fact)));
    }
    all.extend(due(mission));
    let answers = if palette.apt {
        apt_answers(mission)
    } else {
        answers(mission)
    };
    let facts = answers
        .into_iter()
        .filter(|answer| answer.verb != Verb::Grant || grants(mission) < palette.grants)
        .map(Fact::Answered)
        .chain(outside(palette));
    all.extend(facts.map(|fact| made(Actor::Operator, fact)));
    all
}

fn due(mission: &Mission) -> Option<Move> {
    let at: Timestamp = mission.deadline()?;
    Some(Move {
        by: Actor::Clock,
        event: Event {
            at,
            fact: mission.due()?,
        },
    })
}

/// How many grants were given, over all accounts.
fn grants(mission: &Mission) -> u8 {
    let granted = Account::ALL.map(|account| mission.meter().grants(account));
    granted.into_iter().fold(0, u8::saturating_add)
}

fn outside(palette: &Palette) -> Vec<Fact> {
    let by = operator();
    let mut facts: Vec<Fact> = palette
        .tightens
        .iter()
        .map(|(account, ceiling)| Fact::Tightened {
            account: *account,
            ceiling: *ceiling,
            by: by.clone(),
        })
        .collect();
    for outside in &palette.outside {
        match outside {
            Outside::Stop => {
                facts.push(Fact::StopRequested { by: by.clone() });
                facts.push(Fact::Resumed { by: by.clone() });
            }
            Outside::Supervise => facts.push(Fact::Supervised { by: by.clone() }),
        }
    }
    facts
}

/// Every verb with and without a note, for the right digest, a stale one and none.
#[must_use]
pub fn answers(mission: &Mission) -> Vec<Answer> {
    let Some(gate) = mission.gate() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for verb in Verb::ALL {
        for digest in digests(mission, gate) {
            for note in [None, Some(short("  ")), Some(note())] {
                all.push(answer(gate, verb, digest, note));
            }
        }
    }
    all
}

/// Every verb with a note, for the right digest; where the branch was moved, for the work as it is too.
fn apt_answers(mission: &Mission) -> Vec<Answer> {
    let Some(gate) = mission.gate() else {
        return Vec::new();
    };
    let moved = mission.lane().moved.as_ref().map(|head| head.tree);
    let as_it_is = gate.digest.is_none().then_some(None);
    let meant = gate.digest.or(moved).map(Some);
    let digests = as_it_is.into_iter().chain(meant);
    let all = digests.flat_map(|digest| Verb::ALL.map(|verb| (verb, digest)));
    all.map(|(verb, digest)| answer(gate, verb, digest, Some(note())))
        .collect()
}

fn digests(mission: &Mission, gate: &Gate) -> Vec<Option<Digest>> {
    let stale = Some(Digest::of(b"stale"));
    let moved = mission.lane().moved.as_ref().map(|head| head.tree);
    match gate.digest.or(moved) {
        Some(digest) => vec![None, stale, Some(digest)],
        None => vec![None],
    }
}

fn answer(gate: &Gate, verb: Verb, digest: Option<Digest>, note: Option<Note>) -> Answer {
    Answer {
        gate: gate.id.clone(),
        digest,
        verb,
        accounts: Vec::new(),
        note,
        by: operator(),
    }
}

/// Every answer that agents and host could give to what is being done; none where nothing is.
#[must_use]
pub fn replies(mission: &Mission, palette: &Palette, id: EffectId) -> Vec<Fact> {
    let running = mission.outstanding().find(|(running, _)| *running == id);
    let answers = running.map(|(_, effect)| world(mission, palette, id, effect));
    let answers = answers.unwrap_or_default().into_iter();
    answers.map(|(_, fact)| fact).collect()
}

fn world(
    mission: &Mission,
    palette: &Palette,
    id: EffectId,
    effect: &Effect,
) -> Vec<(Actor, Fact)> {
    let host = |facts: Vec<Fact>| facts.into_iter().map(|fact| (Actor::Host, fact)).collect();
    match effect {
        Effect::Preflight => host(preflights(mission, id)),
        Effect::Launch(_) => attempts(mission, palette, id),
        Effect::RunChecks(run) => host(checks(mission, id, run)),
        Effect::Land(landing) => host(vec![
            Fact::Landed {
                effect: id,
                tree: landing.tree,
            },
            Fact::LandFailed {
                effect: id,
                cause: short("the disk is full"),
            },
        ]),
        Effect::Ship(_) => host(shipments(id)),
        Effect::MergeBase(_) => host(merges(mission, id)),
        Effect::Wait(_) | Effect::Ask(_) | Effect::Halt(_) => Vec::new(),
    }
}

fn preflights(mission: &Mission, effect: EffectId) -> Vec<Fact> {
    let held = PointVerdict::Held(short("there"));
    let warned = PointVerdict::Warned(short("little room"));
    let failed = PointVerdict::Failed(short("no git: install it"));
    let point = |verdict: &PointVerdict| Point {
        name: short("git"),
        verdict: verdict.clone(),
    };
    let ran = |verdicts: &[&PointVerdict], checks: &[CheckVerdict]| {
        Fact::PreflightRan(PreflightRan {
            effect,
            points: verdicts.iter().map(|verdict| point(verdict)).collect(),
            base_checks: check_results(&mission.charter().fields().checks, checks),
        })
    };
    let red = [CheckVerdict::Failed { exit: 1 }];
    vec![
        ran(&[&held, &warned], &[]),
        ran(&[&held], &red),
        ran(&[&held, &failed], &[]),
        ran(&[], &[]),
    ]
}

fn attempts(mission: &Mission, palette: &Palette, effect: EffectId) -> Vec<(Actor, Fact)> {
    let noted = [
        Fact::AttemptStarted(AttemptStarted {
            effect,
            process: ProcessRef { pid: 7, started: 1 },
        }),
        Fact::SessionOpened(SessionOpened {
            effect,
            session: short("session"),
        }),
    ];
    let ends = ends(mission, effect, palette);
    let ends = ends
        .into_iter()
        .map(|end| Fact::AttemptEnded(Box::new(end)));
    let by_agent = |fact| (Actor::Agent, fact);
    noted.into_iter().chain(ends).map(by_agent).collect()
}

fn checks(mission: &Mission, effect: EffectId, run: &CheckRun) -> Vec<Fact> {
    let wanted = mission
        .phase()
        .map(|phase| mission.charter().checks(phase))
        .unwrap_or_default();
    let not_run = CheckVerdict::NotRun {
        cause: short("no shell"),
    };
    let red = CheckVerdict::Failed { exit: 1 };
    let verdicts: [&[CheckVerdict]; 5] = [
        &[],
        core::slice::from_ref(&red),
        &[CheckVerdict::TimedOut],
        core::slice::from_ref(&not_run),
        &[not_run.clone(), red.clone()],
    ];
    verdicts
        .into_iter()
        .map(|verdicts| {
            Fact::ChecksRan(ChecksRan {
                effect,
                tree: run.tree,
                results: check_results(&wanted, verdicts),
            })
        })
        .collect()
}

fn shipments(effect: EffectId) -> Vec<Fact> {
    let outcomes = [
        ShipOutcome::Done {
            place: short("refs/heads/backstop/m-1"),
        },
        ShipOutcome::Failed {
            cause: short("the branch is protected"),
        },
        ShipOutcome::BaseMoved { now: commit(9_000) },
    ];
    outcomes
        .map(|outcome| Fact::Shipped(Shipped { effect, outcome }))
        .into()
}

fn merges(mission: &Mission, effect: EffectId) -> Vec<Fact> {
    let merged = |head| MergeOutcome::Merged {
        base: commit(9_000),
        head,
    };
    let same = Head {
        tree: mission.lane().head.tree,
        ..fresh(effect)
    };
    let base = Head {
        tree: tree(0),
        ..fresh(effect)
    };
    let outcomes = [
        merged(fresh(effect)),
        merged(same),
        merged(base),
        MergeOutcome::Conflict {
            cause: short("src/lib.rs"),
        },
    ];
    outcomes
        .map(|outcome| Fact::BaseMerged(BaseMerged { effect, outcome }))
        .into()
}
