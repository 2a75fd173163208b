//! Samples: receipts, reviews and loops in each state. No assertion is here.

use backstop_review::*;
use backstop_vocab::{Channel, Digest, Operator, Signature, Timestamp};

pub(crate) fn at(secs: u64) -> Timestamp {
    Timestamp::from_millis(secs * 1_000)
}

pub(crate) fn tree(n: u8) -> Digest {
    Digest::GitTreeSha1([n; 20])
}

pub(crate) fn label(text: &str) -> Label {
    text.parse().unwrap()
}

pub(crate) fn receipt(role: &str, session: &str) -> RouteReceipt {
    RouteReceipt {
        role: Some(role.parse().unwrap()),
        provider: Some(label("p")),
        model: Some(label("m")),
        requested_reasoning: Some(label("max")),
        effective_reasoning: Some(EffectiveReasoning::Known(label("high"))),
        routed_by: Some(RoutedBy::Router {
            provider: label("p"),
            model: label("m"),
        }),
        session: Some(label(session)),
    }
}

pub(crate) fn findings(texts: &[&str]) -> Findings {
    Findings::clip(texts.iter().map(|text| text.parse().unwrap()))
}

pub(crate) fn host(exit_status: i32) -> Verifier {
    Verifier::Host(HostEvidence {
        command: "cargo test".parse().unwrap(),
        exit_status,
        log: Digest::of(b"log"),
    })
}

/// A clean review of `tree(0)` in the first slot, without a flaw.
pub(crate) fn clean() -> Review {
    Review {
        iteration: 1,
        digest: tree(0),
        spend: Spend { tool_calls: 10 },
        implementer: Author::Agent(receipt("implementer", "i")),
        reviewer: receipt("reviewer", "r"),
        verifier: Some(host(0)),
        verdict: Some(Verdict::Clean),
        findings: Findings::default(),
        at: at(60),
    }
}

/// As `clean`, but one repair is needed.
pub(crate) fn failing() -> Review {
    Review {
        verdict: Some(Verdict::RepairsNeeded),
        findings: findings(&["off by one"]),
        ..clean()
    }
}

pub(crate) fn repair(from: u8, to: u8) -> Repair {
    Repair {
        from: tree(from),
        to: tree(to),
        implementer: receipt("implementer", "i"),
        paths: Paths::clip(["src/lib.rs".parse().unwrap()]),
    }
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

pub(crate) fn answer(decision: Decision, note: &str) -> Answer {
    Answer {
        decision,
        digest: tree(0),
        note: note.parse().unwrap(),
        at: at(100),
    }
}

pub(crate) fn bounds(edit: impl FnOnce(&mut BoundsDraft)) -> Bounds {
    let mut draft = BoundsDraft::default();
    edit(&mut draft);
    draft.try_into().unwrap()
}

pub(crate) fn ready(bounds: Bounds) -> Ready {
    Ready::open(bounds, Policy::default(), tree(0))
}

pub(crate) fn reviewing(bounds: Bounds) -> Reviewing {
    ready(bounds).begin(at(0)).unwrap()
}

pub(crate) fn repairing(bounds: Bounds) -> Repairing {
    match reviewing(bounds).record(failing()).unwrap() {
        Loop::Repairing(state) => state,
        other => wrong_end(&other),
    }
}

pub(crate) fn parked() -> Parked {
    match reviewing(Bounds::default()).record(clean()).unwrap() {
        Loop::Parked(state) => state,
        other => wrong_end(&other),
    }
}

pub(crate) fn wrong_end(found: &Loop) -> ! {
    panic!("the sample ends in {found:?}")
}

pub(crate) fn stop_reason(state: &Loop) -> &StopReason {
    match state {
        Loop::Stopped(stopped) => stopped.reason(),
        other => wrong_end(other),
    }
}

/// A loop in each state, in the order of `StateKind::ALL`.
pub(crate) fn every_state() -> [Loop; 6] {
    let stopped = parked().ratify(&operator(), answer(Decision::Decline, "no"));
    let verified = parked().ratify(&operator(), answer(Decision::Approve, ""));
    [
        ready(Bounds::default()).into(),
        reviewing(Bounds::default()).into(),
        repairing(Bounds::default()).into(),
        parked().into(),
        stopped.unwrap(),
        verified.unwrap(),
    ]
}

/// A step of each kind that succeeds where it fits, in the order of `StepKind::ALL`.
pub(crate) fn every_step() -> [Step; 7] {
    [
        Step::Begin { at: at(0) },
        Step::Record(Box::new(clean())),
        Step::Abandon {
            spend: Spend::default(),
            at: at(10),
        },
        Step::RecordRepair(repair(0, 1)),
        Step::RecordRed {
            findings: findings(&["red"]),
        },
        Step::Observe {
            digest: tree(0),
            at: at(10),
        },
        Step::Ratify(Signed {
            decision: Decision::Approve,
            digest: tree(0),
            by: signature(),
            note: "".parse().unwrap(),
            at: at(100),
        }),
    ]
}
