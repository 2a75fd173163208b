//! What each answer at a gate does, and the command that gives it.

use backstop_engine::gates::{self, Holder, StateKind};
use backstop_engine::mode::Verdict;
use backstop_engine::outcome::StatusKind;
use backstop_engine::{Begins, Gate, GateKind, Mission, Reason, Role, Verb};

/// The gate between roles that an answer is about, at held.
#[must_use]
pub fn holder(mission: &Mission, gate: &Gate) -> Option<Holder> {
    let asked = gate.holder.as_ref()?;
    let mut holders = mission.holders().into_iter();
    holders.find(|holder| holder.gate == *asked)
}

/// Whether it only waits for a person to approve it.
fn waits_for_approval(holder: &Holder) -> bool {
    (holder.kind, holder.state) == (gates::GateKind::Approve, StateKind::Pending)
}

/// What an answer does at a gate, in a clause.
#[must_use]
pub fn offer(mission: &Mission, gate: &Gate, verb: Verb) -> String {
    let words = match (gate.kind, verb) {
        (_, Verb::Abort) => "end the mission; everything is kept",
        (GateKind::Held, _) => return held(mission, gate, verb),
        (GateKind::Validate, Verb::Grant) => "refill what is exhausted, and go back to Code",
        (_, Verb::Grant) => {
            return format!("refill what is exhausted, and {}", again(mission, gate));
        }
        (GateKind::Preflight, Verb::Approve) => "go on although it fails; the waiver is on record",
        (GateKind::Validate, Verb::Approve) => {
            "let this tree land (needs a note where it was not passed)"
        }
        (_, Verb::Approve) => "ship exactly this digest",
        (_, Verb::Reject) => "back to Code with your note",
        (GateKind::Validate, Verb::Retry) => judge_again(mission),
        (_, Verb::Retry) => again(mission, gate),
    };
    words.into()
}

/// What an answer does to the gate between roles that holds.
fn held(mission: &Mission, gate: &Gate, verb: Verb) -> String {
    let Some(holder) = holder(mission, gate) else {
        return "answer the gate that holds".into();
    };
    let Holder { gate, role, .. } = &holder;
    match verb {
        Verb::Approve if waits_for_approval(&holder) => format!("open `{gate}`"),
        Verb::Approve => format!("open `{gate}` against its state; on record as your override"),
        Verb::Reject => format!("fail `{gate}` by its own rule, with your note"),
        Verb::Retry | Verb::Grant => {
            format!("have the {role} work again; a note reaches it")
        }
        Verb::Abort => "end the mission; everything is kept".into(),
    }
}

fn judge_again(mission: &Mission) -> &'static str {
    if mission
        .charter()
        .fields()
        .roles
        .of(Role::Reviewer)
        .is_some()
    {
        return "have it judged again: the checks, then the reviewer";
    }
    "run the checks again"
}

/// What a gate goes on with, as an order.
fn again(mission: &Mission, gate: &Gate) -> &'static str {
    match gate.pending().begins() {
        Begins::Preflight => "look again",
        Begins::Attempt if gate.reasons.contains(&Reason::LimitTooFar) => {
            "make a new attempt at once, without waiting for the limit; a note reaches the agent"
        }
        Begins::Attempt => "make a new attempt; a note reaches the agent",
        Begins::Checks => judge_again(mission),
        Begins::Landing => "try again to put the lane on the mission branch",
        Begins::Merge => "merge the moved base again",
        Begins::Following => "begin what follows the landed lane",
        Begins::ShipGate => "come back to the ship gate",
    }
}

/// The command that gives an answer.
#[must_use]
pub fn command(mission: &Mission, gate: &Gate, verb: Verb) -> String {
    let (name, id) = (&mission.charter().fields().mission, &gate.id);
    let overrides = || {
        let failed = gate.verdict == Some(Verdict::RepairsNeeded);
        failed || holder(mission, gate).is_some_and(|holder| !waits_for_approval(&holder))
    };
    let note = match verb {
        Verb::Reject => " --note \"…\"",
        Verb::Approve if overrides() => " --note \"…\"",
        Verb::Retry if gate.reasons.contains(&Reason::Ended(StatusKind::Asked)) => {
            " --note \"your answer\""
        }
        Verb::Approve | Verb::Retry | Verb::Grant | Verb::Abort => "",
    };
    let digest = match (verb, gate.digest) {
        (Verb::Approve, Some(digest)) => format!(" --digest {digest}"),
        _ => String::new(),
    };
    format!("backstop gate {verb} {id} --mission {name}{digest}{note}")
}
