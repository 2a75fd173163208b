//! The answers that each gate offers, written down a second time from the policy.

use backstop_testkit::engine::mode::Verdict;
use backstop_testkit::engine::{Answer, Gate, GateKind, Mission, Verb};

/// What a gate offers; `broke` when an account that it names is exhausted.
pub(crate) fn offers(kind: GateKind, broke: bool) -> Vec<Verb> {
    use Verb::{Abort, Approve, Grant, Reject, Retry};
    let verbs: &[Verb] = match (kind, broke) {
        (GateKind::Preflight, false) => &[Approve, Retry, Abort],
        (GateKind::Preflight, true) => &[Approve, Grant, Abort],
        (GateKind::Infra | GateKind::Review, false) => &[Retry, Abort],
        (GateKind::Validate, false) => &[Approve, Reject, Retry, Abort],
        (GateKind::Validate, true) => &[Approve, Reject, Retry, Grant, Abort],
        (GateKind::Ceiling, _) | (GateKind::Infra | GateKind::Review, true) => &[Grant, Abort],
        (GateKind::Ship | GateKind::ShipFailed, _) => &[Approve, Reject, Abort],
    };
    let mut verbs = verbs.to_vec();
    verbs.sort();
    verbs
}

pub(crate) fn broke(mission: &Mission, gate: &Gate) -> bool {
    gate.exhausted()
        .any(|account| mission.meter().exhausted(account))
}

/// Whether a gate takes an answer.
pub(crate) fn takes(gate: &Gate, answer: &Answer) -> bool {
    let overrides = match gate.kind {
        GateKind::Validate => gate.verdict == Some(Verdict::RepairsNeeded),
        GateKind::Preflight
        | GateKind::Ceiling
        | GateKind::Infra
        | GateKind::Review
        | GateKind::Ship
        | GateKind::ShipFailed => false,
    };
    let words = match answer.verb {
        Verb::Reject => true,
        Verb::Approve => overrides,
        Verb::Retry | Verb::Grant | Verb::Abort => false,
    };
    let noted = answer.note.as_ref().is_some_and(|note| !note.is_blank());
    let covered = match (gate.digest, answer.digest) {
        (Some(asked), Some(shown)) => asked == shown,
        (Some(_), None) => answer.verb != Verb::Approve,
        (None, _) => true,
    };
    gate.offers.contains(&answer.verb) && (noted || !words) && covered
}
