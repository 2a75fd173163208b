//! Handoffs: delivered to one visit, committed once, superseded by a later one.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::{BTreeMap, BTreeSet};

use backstop_gates::{
    DELIVERY_LIMIT, Fate, Handoff, HandoffDraft, HandoffRefusal, Handoffs, Made, Payload,
};
use backstop_vocab::{Digest, GateId, RoleName, Stage, Timestamp, Visit};
use proptest::prelude::*;

fn role(name: &str) -> RoleName {
    name.parse().unwrap()
}

fn visit(n: u32) -> Visit {
    Visit::try_from(n).unwrap()
}

fn made(n: u32) -> Made {
    Made {
        stage: Stage::Validate,
        visit: visit(n),
    }
}

fn draft(id: &str, kind: &str) -> HandoffDraft {
    HandoffDraft {
        id: id.parse().unwrap(),
        lane: "l1".parse().unwrap(),
        from: role("reviewer"),
        to: role("implementer"),
        kind: kind.parse().unwrap(),
        payload: Payload::of("the lock leaks"),
        digest: Digest::of(id.as_bytes()),
        created_at: Timestamp::from_millis(7),
    }
}

fn handoff(id: &str, kind: &str) -> Handoff {
    draft(id, kind).try_into().unwrap()
}

fn empty() -> Handoffs {
    Handoffs::new("l1".parse().unwrap())
}

/// Handoffs `h1` to `hN` of one visit.
fn register(count: u32) -> Handoffs {
    (1..=count).fold(empty(), |all, n| {
        all.add(handoff(&format!("h{n}"), "repair"), made(1))
            .unwrap()
    })
}

fn give(all: &Handoffs, n: u32) -> (Handoffs, Vec<String>) {
    let (next, items) = all.reserve(
        &role("implementer"),
        visit(n),
        DELIVERY_LIMIT,
        &BTreeSet::new(),
    );
    (
        next,
        items.iter().map(|item| item.id().to_string()).collect(),
    )
}

fn fates(all: &Handoffs) -> Vec<Fate> {
    all.all().map(|(_, fate)| fate).collect()
}

#[test]
fn the_newest_four_are_given_first() {
    let (all, given) = give(&register(6), 1);
    assert_eq!(given, ["h6", "h5", "h4", "h3"]);
    let all = all.commit(&role("implementer"), visit(1));
    let (all, given) = give(&all, 2);
    assert_eq!(given, ["h2", "h1"]);
    let reserved = Fate::Reserved(visit(2));
    let committed = Fate::Committed(visit(1));
    assert_eq!(fates(&all)[..3], [reserved.clone(), reserved, committed]);
    let (_, none) = register(3).reserve(&role("implementer"), visit(1), 0, &BTreeSet::new());
    assert!(none.is_empty());
}

#[test]
fn a_later_attempt_of_the_same_visit_is_given_the_same_and_what_is_new() {
    let (all, given) = give(&register(2), 1);
    assert_eq!(given, ["h2", "h1"]);
    assert_eq!(give(&all, 1), (all.clone(), given));
    let all = all.add(handoff("note", "note"), made(1)).unwrap();
    assert_eq!(give(&all, 1).1, ["note", "h2", "h1"]);
    let (full, _) = give(&register(4), 1);
    let full = full.add(handoff("note", "note"), made(1)).unwrap();
    assert_eq!(
        give(&full, 1).1,
        ["h4", "h3", "h2", "h1"],
        "never more than the limit"
    );
}

#[test]
fn a_committed_handoff_is_never_delivered_again_and_stays_on_record() {
    let (all, _) = give(&register(1), 1);
    let all = all.commit(&role("implementer"), visit(1));
    for later in 1..4 {
        assert!(give(&all, later).1.is_empty());
    }
    let after = all.release(&role("implementer"), visit(1));
    assert_eq!(after, all, "what is committed cannot be released");
    assert_eq!(fates(&all), [Fate::Committed(visit(1))]);
}

#[test]
fn what_a_failed_visit_was_given_waits_again() {
    let (all, _) = give(&register(1), 1);
    let released = all.release(&role("implementer"), visit(1));
    assert_eq!(released, register(1));
    assert_eq!(give(&released, 2).1, ["h1"]);
    let (moved_on, given) = give(&all, 2);
    assert_eq!(
        given,
        ["h1"],
        "a visit that was never ended is over when the next begins"
    );
    assert_eq!(moved_on.commit(&role("implementer"), visit(1)), moved_on);
}

#[test]
fn a_handoff_goes_only_to_its_role_and_visit() {
    let all = register(1);
    let (same, none) = all.reserve(&role("verifier"), visit(1), 4, &BTreeSet::new());
    assert!(none.is_empty());
    assert_eq!(same, all);
    let (all, _) = give(&all, 1);
    assert_eq!(all.commit(&role("verifier"), visit(1)), all);
    assert_eq!(all.commit(&role("implementer"), visit(2)), all);
}

#[test]
fn a_later_visits_handoff_supersedes_and_those_of_one_visit_are_all_given() {
    let all = register(2).add(handoff("h3", "repair"), made(2)).unwrap();
    let all = all.add(handoff("h4", "repair"), made(2)).unwrap();
    let all = all.add(handoff("n1", "note"), made(1)).unwrap();
    assert_eq!(give(&all, 1).1, ["n1", "h4", "h3"]);
    let superseded = [Fate::Superseded, Fate::Superseded];
    assert_eq!(fates(&all)[..2], superseded);
    let late = all.add(handoff("h5", "repair"), made(1)).unwrap_err();
    assert_eq!(late.code(), "late");
    let other_sender = HandoffDraft {
        from: role("verifier"),
        ..draft("h6", "repair")
    };
    let all = all.add(other_sender.try_into().unwrap(), made(1)).unwrap();
    assert_eq!(give(&all, 1).1, ["h6", "n1", "h4", "h3"]);
}

#[test]
fn a_released_handoff_that_was_replaced_meanwhile_is_not_delivered() {
    let (all, _) = give(&register(1), 1);
    let all = all.add(handoff("h2", "repair"), made(2)).unwrap();
    assert_eq!(
        give(&all, 1).1,
        ["h2", "h1"],
        "the visit keeps what it was given"
    );
    let all = all.release(&role("implementer"), visit(1));
    assert_eq!(give(&all, 2).1, ["h2"]);
    assert_eq!(fates(&all), [Fate::Superseded, Fate::Waiting]);
}

#[test]
fn a_promoted_handoff_is_deliverable_while_its_gate_is_open() {
    let gate: GateId = "scout-findings".parse().unwrap();
    let all = empty()
        .promote(handoff("h1", "findings"), made(1), gate.clone())
        .unwrap();
    let give = |all: &Handoffs, open: &BTreeSet<GateId>| {
        let (next, items) = all.reserve(&role("implementer"), visit(1), 4, open);
        (next, items.len())
    };
    let open = BTreeSet::from([gate]);
    assert_eq!(give(&all, &BTreeSet::new()), (all.clone(), 0));
    let (reserved, given) = give(&all, &open);
    assert_eq!(given, 1);
    assert_eq!(
        give(&reserved, &BTreeSet::new()).1,
        0,
        "its gate has closed again"
    );
    assert_eq!(give(&reserved, &open).1, 1);
}

#[test]
fn what_does_not_fit_is_refused() {
    let all = register(1);
    let elsewhere = HandoffDraft {
        lane: "l2".parse().unwrap(),
        ..draft("h2", "repair")
    };
    let refusal = all.add(elsewhere.try_into().unwrap(), made(1)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "handoff `h2` belongs to lane `l2`, not to `l1`: hand it on there"
    );
    let twice = all.add(handoff("h1", "note"), made(1)).unwrap_err();
    assert_eq!(
        twice,
        HandoffRefusal::DuplicateId {
            id: "h1".parse().unwrap()
        }
    );
    let spaces = "\n ".repeat(100_000);
    for blank in ["", " \n\t", "\u{200b}", &spaces] {
        let blank = HandoffDraft {
            payload: Payload::of(blank),
            ..draft("h2", "repair")
        };
        assert_eq!(Handoff::try_from(blank).unwrap_err().code(), "blank");
    }
}

#[test]
fn a_payload_over_64_kib_becomes_a_blob_with_its_head() {
    let most = "x".repeat(64 * 1024);
    assert!(matches!(Payload::of(&most), Payload::Inline(text) if text.as_str() == most));
    let over = format!("\n\n{most}é");
    let Payload::Blob { digest, head } = Payload::of(&over) else {
        panic!("a blob");
    };
    assert_eq!(digest, Digest::of(over.as_bytes()));
    assert_eq!(head.as_str(), "x".repeat(4096));
    let forged = serde_json::json!({ "inline": over });
    assert!(serde_json::from_value::<Payload>(forged).is_err());
}

#[test]
fn a_stored_register_meets_the_same_checks() {
    let (all, _) = give(&register(2), 1);
    let all = all.commit(&role("implementer"), visit(1));
    let all = all.add(handoff("h3", "repair"), made(2)).unwrap();
    let json = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Handoffs>(&json).unwrap(), all);
    let forged = [
        ("\"id\":\"h2\"", "\"id\":\"h1\""),
        (
            "{\"lane\":\"l1\",\"records\"",
            "{\"lane\":\"l2\",\"records\"",
        ),
        ("the lock leaks", " "),
        ("\"kept\"", "\"fate\""),
    ];
    for (from, to) in forged {
        assert!(json.contains(from));
        assert!(
            serde_json::from_str::<Handoffs>(&json.replace(from, to)).is_err(),
            "{to}"
        );
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(u32),
    Reserve(u32, usize),
    Commit(u32),
    Release(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_u32..4).prop_map(Step::Add),
        3 => (1_u32..4, 0_usize..6).prop_map(|(n, limit)| Step::Reserve(n, limit)),
        1 => (1_u32..4).prop_map(Step::Commit),
        1 => (1_u32..4).prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn a_handoff_is_committed_at_most_once_and_never_delivered_after(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut all = empty();
        let mut committed: BTreeMap<String, Fate> = BTreeMap::new();
        for (place, step) in steps.into_iter().enumerate() {
            match step {
                Step::Add(n) => all = all.add(handoff(&format!("h{place}"), "repair"), made(n)).unwrap_or(all),
                Step::Commit(n) => all = all.commit(&role("implementer"), visit(n)),
                Step::Release(n) => all = all.release(&role("implementer"), visit(n)),
                Step::Reserve(n, limit) => {
                    let (next, items) = all.reserve(&role("implementer"), visit(n), limit, &BTreeSet::new());
                    prop_assert!(items.iter().all(|item| !committed.contains_key(item.id().as_str())));
                    let held = next.all().filter(|(_, fate)| matches!(fate, Fate::Reserved(_))).count();
                    prop_assert_eq!(held, items.len(), "one visit at a time holds what it was given");
                    all = next;
                }
            }
            for (handoff, fate) in all.all() {
                let id = handoff.id().to_string();
                if let Some(before) = committed.get(&id) {
                    prop_assert_eq!(before, &fate);
                } else if matches!(fate, Fate::Committed(_)) {
                    committed.insert(id, fate);
                }
            }
        }
        let json = serde_json::to_string(&all).unwrap();
        prop_assert_eq!(serde_json::from_str::<Handoffs>(&json).unwrap(), all);
    }
}
