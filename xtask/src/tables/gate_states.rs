//! The page of a board's gates: which states hold, what opens which kind, and what a failure does.

use backstop_engine::gates::{
    Board, Evidence, GateDraft, GateKind, HostEvidence, Judged, MAX_RETRIES, OnFail, Specs,
    StateKind, Target, Trigger, standard_roles,
};
use backstop_engine::vocab::{Attempt, Digest};

use super::{Page, code, list, table};

/// How many failures in a row are shown.
const FAILURES: usize = 3;

/// State × holds, kind × evidence, `on_fail` × failures.
pub(super) fn page() -> Page {
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let states = StateKind::ALL
        .iter()
        .map(|state| vec![code(state), yes_or_no(state.holds())]);
    let kinds = GateKind::ALL.iter().map(|kind| {
        let opens = |evidence: &Evidence| evidence.opens() == *kind;
        let evidence: Vec<String> = Evidence::ALL
            .into_iter()
            .filter(opens)
            .map(|e| e.to_string())
            .collect();
        vec![code(kind), evidence.join(", ")]
    });
    let failures = OnFail::ALL.iter().map(|on_fail| {
        let states = failed(*on_fail).unwrap_or_default();
        vec![code(on_fail), list(states)]
    });
    let states = table(&["state", "holds"], states);
    let kinds = table(&["gate", "opens by"], kinds);
    let failures = table(
        &["on_fail", "states after one failure and the next"],
        failures,
    );
    Page {
        path: "gate-states.md",
        body: format!(
            "# The gates of a board\n\n{states}\n{kinds}\n## What a failure does\n\n\
             `max_retries` is 1 here, its default, and at most {MAX_RETRIES}. A state that no machine result changes ends the row.\n\n{failures}"
        ),
    }
}

/// The states of a gate whose role fails it again and again.
fn failed(on_fail: OnFail) -> Option<Vec<StateKind>> {
    let draft = GateDraft {
        id: "suite".to_owned(),
        role: "verifier".to_owned(),
        on: Trigger::RoleComplete,
        gate: GateKind::Verify,
        on_fail,
        blocks_role: None,
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    };
    let mut board = Board::new(Specs::load(&[draft], &standard_roles()).ok()?);
    let (role, gate) = ("verifier".parse().ok()?, "suite".parse().ok()?);
    let judged = Judged::of_tree(Digest::of(b"a tree"));
    let red = [HostEvidence::new("make test".parse().ok()?, 1, Digest::of(b"a log")).ok()?];
    let attempts = std::iter::successors(Some(Attempt::FIRST), |attempt| Some(attempt.next()));
    let mut states = Vec::new();
    for attempt in attempts.take(FAILURES) {
        let target = Target {
            gate: Clone::clone(&gate),
            attempt,
        };
        let started = board
            .started(&board.admit(&role, &judged).ok()?, attempt)
            .ok()?;
        let completed = started.completed(&role, attempt).ok()?;
        let Ok(next) = completed.verify(&target, &red, &judged) else {
            break;
        };
        states.push(next.state(&gate).kind());
        board = next;
    }
    Some(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_holds_each_kind_has_its_evidence_and_each_failure_its_state() {
        let body = page().body;
        for row in [
            "| `pending` | yes |\n",
            "| `overridden` | no |\n",
            "| `verify` | host evidence |\n",
            "| `approve` | an operator's approval |\n",
            "| `retry` | `retrying`, `escalated` |\n",
            "| `block` | `blocked` |\n",
            "| `escalate` | `escalated` |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
