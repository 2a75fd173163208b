//! A board under test with short words for what happens to it.

use backstop_gates::{
    Approval, Board, GateDraft, GateKind, HostEvidence, Judged, OnFail, Reason, Refusal, Rejection,
    Specs, State, StateKind, Target, Trigger, Verdict, standard_roles,
};
use backstop_vocab::{Attempt, Channel, Digest, GateId, Note, Operator, RoleName, Signature};

pub(crate) fn role(name: &str) -> RoleName {
    name.parse().unwrap()
}

pub(crate) fn id(name: &str) -> GateId {
    name.parse().unwrap()
}

pub(crate) fn note(text: &str) -> Note {
    Note::clip(text)
}

pub(crate) fn attempt(n: u32) -> Attempt {
    Attempt::try_from(n).unwrap()
}

pub(crate) fn tree(n: u8) -> Digest {
    Digest::GitTreeSha1([n; 20])
}

/// What is there: this tree, and the findings of the same number.
pub(crate) fn now(n: u8) -> Judged {
    Judged::of_tree(tree(n)).with("findings".parse().unwrap(), Digest::of(&[n]))
}

pub(crate) fn signature() -> Signature {
    Signature {
        name: "ada".parse().unwrap(),
        channel: Channel::Cli,
    }
}

pub(crate) fn operator() -> Operator {
    Operator::attest(signature())
}

/// A `role_complete` gate of the reviewer that blocks the verifier.
pub(crate) fn gate(name: &str, kind: GateKind, on_fail: OnFail) -> GateDraft {
    GateDraft {
        id: name.into(),
        role: "reviewer".into(),
        on: Trigger::RoleComplete,
        gate: kind,
        on_fail,
        blocks_role: Some("verifier".into()),
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    }
}

pub(crate) fn board(gates: &[GateDraft]) -> Board {
    Board::new(Specs::load(gates, &standard_roles()).unwrap())
}

pub(crate) fn target(name: &str) -> Target {
    Target {
        gate: id(name),
        attempt: attempt(1),
    }
}

pub(crate) fn approval(board: &Board, name: &str, judged: &Judged, words: &str) -> Approval {
    Approval {
        target: target(name),
        digest: board
            .specs()
            .gate(&id(name))
            .unwrap()
            .subject(judged)
            .unwrap(),
        note: note(words),
    }
}

pub(crate) fn rejection(name: &str, words: &str) -> Rejection {
    Rejection {
        gate: id(name),
        note: note(words),
    }
}

pub(crate) fn green() -> HostEvidence {
    HostEvidence::new("cargo test".parse().unwrap(), 0, Digest::of(b"log")).unwrap()
}

pub(crate) fn red() -> HostEvidence {
    HostEvidence::new("cargo clippy".parse().unwrap(), 101, Digest::of(b"log")).unwrap()
}

pub(crate) fn fails(words: &str) -> Verdict {
    Verdict::Fail {
        reason: Reason::clip(words),
    }
}

/// The role runs and completes its first attempt on this tree.
pub(crate) fn ran(board: &Board, name: &str, judged: &Judged) -> Board {
    let admitted = board.admit(&role(name), judged).unwrap();
    let started = board.started(&admitted, attempt(1)).unwrap();
    started.completed(&role(name), attempt(1)).unwrap()
}

/// The evidence of the gate's own kind for a pass, given for attempt 1.
pub(crate) fn give_pass(board: &Board, name: &str, judged: &Judged) -> Result<Board, Refusal> {
    match board.specs().gate(&id(name)).unwrap().kind() {
        GateKind::Verify => board.verify(&target(name), &[green()], judged),
        GateKind::Review => board.review(&target(name), &Ok(Verdict::Pass), judged),
        GateKind::Approve => board.approve(&operator(), &approval(board, name, judged, ""), judged),
    }
}

/// The same for a failure.
pub(crate) fn give_failure(board: &Board, name: &str, judged: &Judged) -> Result<Board, Refusal> {
    match board.specs().gate(&id(name)).unwrap().kind() {
        GateKind::Verify => board.verify(&target(name), &[green(), red()], judged),
        GateKind::Review => board.review(&target(name), &Ok(fails("it leaks")), judged),
        GateKind::Approve => board.reject(&operator(), &rejection(name, "not this"), judged),
    }
}

pub(crate) fn kind_of(board: &Board, name: &str) -> StateKind {
    board.state(&id(name)).kind()
}

/// A board whose one gate `g` is in this state, reached by operations alone; tree 1 is there.
pub(crate) fn in_state(wanted: StateKind, kind: GateKind) -> Board {
    let on_fail = match wanted {
        StateKind::Retrying => OnFail::Retry,
        StateKind::Escalated => OnFail::Escalate,
        StateKind::Pending
        | StateKind::Passed
        | StateKind::Overridden
        | StateKind::Waived
        | StateKind::Blocked => OnFail::Block,
    };
    let new = board(&[gate("g", kind, on_fail)]);
    let ripe = ran(&new, "reviewer", &now(1));
    let made = match wanted {
        StateKind::Pending => ripe,
        StateKind::Passed => give_pass(&ripe, "g", &now(1)).unwrap(),
        StateKind::Waived => new
            .waive(&operator(), &[role("reviewer")], &note(""))
            .unwrap(),
        StateKind::Retrying | StateKind::Blocked | StateKind::Escalated => {
            give_failure(&ripe, "g", &now(1)).unwrap()
        }
        StateKind::Overridden => {
            let failed = give_failure(&ripe, "g", &now(1)).unwrap();
            let yes = approval(&failed, "g", &now(1), "known flake");
            failed.overrule(&operator(), &yes, &now(1)).unwrap()
        }
    };
    assert_eq!(kind_of(&made, "g"), wanted);
    made
}

pub(crate) fn reason_of(state: &State) -> &str {
    state.reason().unwrap().as_str()
}
