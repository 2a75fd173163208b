//! The answers that each gate offers, written down a second time from the policy.

use backstop_testkit::engine::gates::{GateKind as Held, Holder, StateKind};
use backstop_testkit::engine::mode::Verdict;
use backstop_testkit::engine::vocab::Digest;
use backstop_testkit::engine::{Answer, Funds, Gate, GateKind, Mission, Verb};

/// What a gate offers; `broke` when an account that it names is exhausted.
pub(crate) fn offers(kind: GateKind, broke: bool) -> Vec<Verb> {
    use Verb::{Abort, Approve, Grant, Reject, Retry};
    let verbs: &[Verb] = match (kind, broke) {
        (GateKind::Preflight, false) => &[Approve, Retry, Abort],
        (GateKind::Preflight, true) => &[Approve, Grant, Abort],
        (GateKind::Infra | GateKind::Review, false) => &[Retry, Abort],
        (GateKind::Held, _) | (GateKind::Validate, false) => &[Approve, Reject, Retry, Abort],
        (GateKind::Validate, true) => &[Approve, Reject, Retry, Grant, Abort],
        (GateKind::Ceiling, _) | (GateKind::Infra | GateKind::Review, true) => &[Grant, Abort],
        (GateKind::Ship | GateKind::ShipFailed, _) => &[Approve, Reject, Abort],
    };
    let mut verbs = verbs.to_vec();
    verbs.sort();
    verbs
}

/// Every answer that any gate offers.
pub(crate) fn every_offer() -> Vec<(GateKind, Verb)> {
    let of = |kind| {
        let funds = Funds::ALL.into_iter();
        let verbs = funds.flat_map(move |funds| offers(kind, funds == Funds::Exhausted));
        verbs.map(move |verb| (kind, verb))
    };
    GateKind::ALL.into_iter().flat_map(of).collect()
}

pub(crate) fn broke(mission: &Mission, gate: &Gate) -> bool {
    gate.exhausted()
        .any(|account| mission.meter().exhausted(account))
}

/// Whether a gate takes an answer.
pub(crate) fn takes(mission: &Mission, gate: &Gate, answer: &Answer) -> bool {
    let noted = answer.note.as_ref().is_some_and(|note| !note.is_blank());
    let covered = match (gate.digest, answer.digest) {
        (Some(asked), Some(shown)) => asked == shown,
        (Some(_), None) => answer.verb != Verb::Approve,
        (None, None) => true,
        (None, Some(shown)) => is_of_the_lane(mission, answer.verb, shown),
    };
    gate.offers.contains(&answer.verb)
        && (noted || !wants_words(mission, gate, answer.verb))
        && covered
        && (gate.kind != GateKind::Held || can_be(mission, gate, answer.verb))
}

/// Who goes on beside a branch that was moved means the work as it is, or what the branch was moved to.
fn is_of_the_lane(mission: &Mission, verb: Verb, shown: Digest) -> bool {
    let lane = mission.lane();
    match (&lane.moved, verb) {
        (Some(moved), Verb::Retry | Verb::Grant) => shown == moved.tree || shown == lane.head.tree,
        (Some(_) | None, _) => true,
    }
}

fn wants_words(mission: &Mission, gate: &Gate, verb: Verb) -> bool {
    match (verb, gate.kind) {
        (Verb::Reject, _) => true,
        (Verb::Approve, GateKind::Validate) => gate.verdict == Some(Verdict::RepairsNeeded),
        (Verb::Approve, GateKind::Held) => !awaits_approval(mission, gate),
        (Verb::Approve | Verb::Retry | Verb::Grant | Verb::Abort, _) => false,
    }
}

fn holder(mission: &Mission, gate: &Gate) -> Option<Holder> {
    let mut holders = mission.holders().into_iter();
    holders.find(|holder| Some(&holder.gate) == gate.holder.as_ref())
}

fn awaits_approval(mission: &Mission, gate: &Gate) -> bool {
    let held = holder(mission, gate);
    held.is_some_and(|h| h.kind == Held::Approve && h.state == StateKind::Pending)
}

/// What was not measured cannot be approved, and what has failed for good does not fail again.
fn can_be(mission: &Mission, gate: &Gate, verb: Verb) -> bool {
    let state = holder(mission, gate).map(|holder| holder.state);
    match verb {
        Verb::Approve => gate.digest.is_some(),
        Verb::Reject => !matches!(state, Some(StateKind::Blocked | StateKind::Escalated)),
        Verb::Retry | Verb::Grant | Verb::Abort => true,
    }
}
