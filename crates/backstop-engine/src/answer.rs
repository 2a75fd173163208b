//! A person's answer to a gate: checked, used once, and carried out.

use alloc::vec::Vec;

use backstop_mode::Verdict;
use backstop_review::Decision;
use backstop_vocab::{Digest, Operator, Stage};

use crate::fact::Answer;
use crate::flow::{begin_visit, enter, proceed};
use crate::mission::{Ended, Next, Position};
use crate::turn::Turn;
use crate::{Gate, GateKind, Head, Refusal, Role, Rule, Verb};
use crate::{handing, held, preflight, ship, verdict};

/// Checks the answer against the open gate and carries it out.
pub(crate) fn answered(turn: &mut Turn, answer: &Answer) -> Result<(), Refusal> {
    let gate = open_gate(turn, answer)?;
    fits(&gate, answer)?;
    knows_move(turn, answer)?;
    let operator = Operator::attest(answer.by.clone());
    close(turn, &gate, answer);
    take_over(turn, answer);
    note(turn, &gate, answer);
    match answer.verb {
        Verb::Approve => approve(turn, &gate, &operator, answer),
        Verb::Reject => reject(turn, &gate, &operator, answer),
        Verb::Retry => retry(turn, gate, &operator),
        Verb::Grant => grant(turn, gate, &operator, answer),
        Verb::Abort => {
            turn.m.position = Position::Ended(Ended::Aborted);
            Ok(())
        }
    }
}

fn open_gate(turn: &Turn, answer: &Answer) -> Result<Gate, Refusal> {
    if let Some((gate, by, verb)) = turn.m.answered.iter().find(|(id, ..)| *id == answer.gate) {
        let (gate, by, verb) = (gate.clone(), by.clone(), *verb);
        return Err(Refusal::AlreadyAnswered { gate, by, verb });
    }
    let gate = turn.m.gate().ok_or(Refusal::NoGate)?;
    if gate.id != answer.gate {
        let (asked, open) = (answer.gate.clone(), gate.id.clone());
        return Err(Refusal::OtherGate { asked, open });
    }
    Ok(gate.clone())
}

/// Whether the gate takes this answer as it stands.
fn fits(gate: &Gate, answer: &Answer) -> Result<(), Refusal> {
    let verb = answer.verb;
    if !gate.offers.contains(&verb) {
        return Err(Refusal::NotOffered {
            kind: gate.kind,
            verb,
            offered: gate.offers.clone(),
        });
    }
    covers(gate, answer)?;
    let failed = gate.verdict == Some(Verdict::RepairsNeeded);
    let overrides = verb == Verb::Approve && failed;
    let unexplained = answer
        .note
        .as_ref()
        .is_none_or(backstop_vocab::Text::is_blank);
    if unexplained && (overrides || verb == Verb::Reject) {
        return Err(Refusal::NoteNeeded { verb });
    }
    Ok(())
}

/// Whether the answer was given for what the gate is about.
fn covers(gate: &Gate, answer: &Answer) -> Result<(), Refusal> {
    let id = || gate.id.clone();
    match (gate.digest, answer.digest) {
        (Some(asked), Some(shown)) if asked != shown => Err(Refusal::StaleDigest {
            gate: id(),
            asked,
            shown,
        }),
        (Some(asked), None) if answer.verb == Verb::Approve => {
            Err(Refusal::DigestNeeded { gate: id(), asked })
        }
        (None | Some(_), None | Some(_)) => Ok(()),
    }
}

/// Whether an answer that goes on names the work as it is, or as the moved branch has it.
fn knows_move(turn: &Turn, answer: &Answer) -> Result<(), Refusal> {
    let lane = &turn.m.lane;
    let (Some(found), Some(shown)) = (&lane.moved, answer.digest) else {
        return Ok(());
    };
    if !goes_on(answer.verb) || [found.tree, lane.head.tree].contains(&shown) {
        return Ok(());
    }
    Err(Refusal::StaleDigest {
        gate: answer.gate.clone(),
        asked: found.tree,
        shown,
    })
}

const fn goes_on(verb: Verb) -> bool {
    match verb {
        Verb::Retry | Verb::Grant => true,
        Verb::Approve | Verb::Reject | Verb::Abort => false,
    }
}

/// Who goes on and names the tree that the lane's branch was moved to takes that for the work. It is judged like any other.
fn take_over(turn: &mut Turn, answer: &Answer) {
    let found = turn.m.lane.moved.clone();
    let named = |found: &Head| goes_on(answer.verb) && answer.digest == Some(found.tree);
    if let Some(found) = found.filter(named) {
        turn.m.lane.head = found;
        turn.because(Rule::TakenOver);
    }
}

/// The gate is answered: it never opens again under this id.
fn close(turn: &mut Turn, gate: &Gate, answer: &Answer) {
    if let Position::AtGate(effect, _) = turn.m.position {
        turn.m.outstanding.remove(&effect);
    }
    turn.m.stopping = None;
    turn.m
        .answered
        .push((gate.id.clone(), answer.by.clone(), answer.verb));
    turn.because(Rule::Answered(answer.verb));
}

/// What a person wrote goes to whoever works next because of it.
fn note(turn: &mut Turn, gate: &Gate, answer: &Answer) {
    let Some(note) = answer.note.as_ref().filter(|note| !note.is_blank()) else {
        return;
    };
    let roles = &turn.m.charter.fields().roles;
    let (stage, role) = (turn.m.lane.stage, turn.m.lane.role);
    let to = match (answer.verb, gate.kind) {
        (Verb::Reject | Verb::Retry | Verb::Grant, GateKind::Held) => held::reader(turn, gate),
        (Verb::Reject, _) | (Verb::Grant, GateKind::Validate) => None,
        (Verb::Approve | Verb::Retry | Verb::Grant | Verb::Abort, _) => {
            role.or_else(|| roles.first_at(stage))
        }
    };
    handing::note(turn, to.unwrap_or(Role::Implementer), note);
}

fn approve(
    turn: &mut Turn,
    gate: &Gate,
    operator: &Operator,
    answer: &Answer,
) -> Result<(), Refusal> {
    match (gate.kind, gate.digest) {
        (GateKind::Held, _) => return held::approve(turn, gate, operator, answer),
        (GateKind::Preflight, _) => preflight::cleared(turn),
        (GateKind::Validate, Some(digest)) => clear(turn, (gate, digest), operator, answer),
        (GateKind::Ship | GateKind::ShipFailed, Some(digest)) => ship::ship(turn, operator, digest),
        // None of these offers an approval, so none gets here; holding is the safe reading.
        (GateKind::Validate | GateKind::Ship | GateKind::ShipFailed, None)
        | (GateKind::Ceiling | GateKind::Infra | GateKind::Review, _) => {
            crate::flow::open(turn, gate.clone());
        }
    }
    Ok(())
}

/// A ratification of a clean visit, or an override of a failed one.
fn clear(turn: &mut Turn, (gate, digest): (&Gate, Digest), operator: &Operator, answer: &Answer) {
    match gate.verdict {
        Some(Verdict::Clean) => verdict::ratify(turn, operator, answer, Decision::Approve),
        Some(Verdict::RepairsNeeded) | None => {
            held::overrule_all(turn, operator, answer);
            turn.m.lane.review = None;
        }
    }
    turn.m.lane.cleared = Some(digest);
    proceed(turn, Next::Land);
}

fn reject(
    turn: &mut Turn,
    gate: &Gate,
    operator: &Operator,
    answer: &Answer,
) -> Result<(), Refusal> {
    match gate.kind {
        GateKind::Held => return held::reject(turn, gate, operator, answer),
        GateKind::Ship | GateKind::ShipFailed => ship::reject(turn),
        GateKind::Validate
        | GateKind::Preflight
        | GateKind::Ceiling
        | GateKind::Infra
        | GateKind::Review => {
            verdict::ratify(turn, operator, answer, Decision::Decline);
            enter(turn, Stage::Code);
        }
    }
    Ok(())
}

fn retry(turn: &mut Turn, gate: Gate, operator: &Operator) -> Result<(), Refusal> {
    match gate.kind {
        GateKind::Held => return held::retry(turn, &gate, operator),
        GateKind::Validate => {
            turn.m.lane.review = None;
            held::judge_again(turn, operator);
            begin_visit(turn, Stage::Validate);
        }
        GateKind::Preflight
        | GateKind::Ceiling
        | GateKind::Infra
        | GateKind::Review
        | GateKind::Ship
        | GateKind::ShipFailed => go_on(turn, gate.then, operator),
    }
    Ok(())
}

/// Goes on with what the gate stood before.
fn go_on(turn: &mut Turn, then: Next, operator: &Operator) {
    if then == Next::Visit {
        held::judge_again(turn, operator);
    }
    proceed(turn, then);
}

fn grant(turn: &mut Turn, gate: Gate, operator: &Operator, answer: &Answer) -> Result<(), Refusal> {
    let accounts: Vec<_> = if answer.accounts.is_empty() {
        gate.exhausted()
            .filter(|account| turn.meter().exhausted(*account))
            .collect()
    } else {
        answer.accounts.clone()
    };
    let lacking = gate
        .exhausted()
        .filter(|account| turn.meter().exhausted(*account));
    let lacking: Vec<_> = lacking
        .filter(|account| !accounts.contains(account))
        .collect();
    if !lacking.is_empty() {
        return Err(Refusal::GrantFallsShort { lacking });
    }
    turn.m.meter = turn.meter().grant(&accounts)?;
    match gate.kind {
        GateKind::Validate => enter(turn, Stage::Code),
        GateKind::Held
        | GateKind::Preflight
        | GateKind::Ceiling
        | GateKind::Infra
        | GateKind::Review
        | GateKind::Ship
        | GateKind::ShipFailed => go_on(turn, gate.then, operator),
    }
    Ok(())
}
