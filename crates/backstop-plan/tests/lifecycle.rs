//! Proposed, approved, applied: by whom, for which digest, how often, and what may be run.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use backstop_plan::{Approved, Author, Checks, MOST_PROPOSALS, Plan, Proposals, Proposed, Spent};
use backstop_vocab::{Channel, Operator, Phase, Signature};

fn operator() -> Operator {
    Operator::attest(Signature {
        name: "ada".parse().unwrap(),
        channel: Channel::Cli,
    })
}

fn plan(task: &str) -> Plan {
    let text = format!(
        r#"{{"phases":[{{"kind":"coding","task":"{task}","done_when_check":"make test"}},{{"kind":"research","task":"x"}}]}}"#
    );
    Plan::read(&text, Checks::None).unwrap()
}

fn model() -> Author {
    Author::Model("anthropic/opus".parse().unwrap())
}

fn proposed() -> Proposed {
    let (_, turn) = Proposals::default().take().unwrap();
    turn.propose(plan("a"), model())
}

#[test]
fn an_approval_names_who_and_what() {
    let approved = proposed().approve(&operator(), plan("a").digest()).unwrap();
    assert_eq!(approved.by(), operator().signature());
    assert_eq!(approved.author(), &model());
    assert_eq!(
        (approved.digest(), approved.plan()),
        (plan("a").digest(), &plan("a"))
    );
}

#[test]
fn an_approval_of_another_digest_approves_nothing_and_hands_the_proposal_back() {
    let other = plan("b").digest();
    let refused = proposed().approve(&operator(), other).unwrap_err();
    assert_eq!(refused.given(), other);
    let words = format!(
        "the approval is for `{other}`, and the proposed plan is `{}`: look at that plan and approve its digest",
        plan("a").digest()
    );
    assert_eq!(refused.to_string(), words);
    assert_eq!(refused.into_proposed(), proposed());
}

#[test]
fn a_fourth_proposal_is_refused_whoever_wrote_the_three() {
    let mut proposals = Proposals::default();
    for number in 1..=MOST_PROPOSALS {
        let (next, turn) = proposals.take().unwrap();
        assert_eq!((next.spent(), turn.number()), (number, number));
        let proposed = turn.propose(plan("a"), Author::Operator(operator().signature().clone()));
        assert_eq!(
            (proposed.number(), proposed.digest()),
            (number, plan("a").digest())
        );
        proposals = next;
    }
    assert_eq!(MOST_PROPOSALS, 3);
    assert_eq!(proposals.take(), Err(Spent));
    assert_eq!(proposals.spent(), 3);
}

#[test]
fn a_forged_count_of_proposals_is_refused() {
    assert_eq!(
        serde_json::from_str::<Proposals>("3").unwrap().take(),
        Err(Spent)
    );
    let (one, _) = Proposals::default().take().unwrap();
    let written = [Proposals::default(), one].map(|count| serde_json::to_string(&count).unwrap());
    assert_eq!(written, ["0", "1"]);
    for forged in ["4", "255", "-1", "256", "null"] {
        assert!(
            serde_json::from_str::<Proposals>(forged).is_err(),
            "{forged}"
        );
    }
}

#[test]
fn an_edit_needs_a_new_approval() {
    let (proposals, turn) = Proposals::default().take().unwrap();
    let first = turn.propose(plan("a"), model());
    let (_, turn) = proposals.take().unwrap();
    let edited = turn.propose(plan("b"), model());
    assert!(edited.approve(&operator(), first.digest()).is_err());
}

#[test]
fn the_checks_of_an_applied_plan_may_be_run_by_the_host() {
    let approved = proposed().approve(&operator(), plan("a").digest()).unwrap();
    let applied = approved.apply("m1".parse().unwrap());
    assert_eq!(applied.mission().as_str(), "m1");
    assert_eq!(applied.plan(), &plan("a"));
    assert_eq!(applied.approved().by(), operator().signature());
    let check = applied.check(Phase::FIRST).unwrap();
    assert_eq!(check.command().as_str(), "make test");
    assert_eq!(
        (check.phase(), check.plan()),
        (Phase::FIRST, plan("a").digest())
    );
    assert_eq!(applied.check(Phase::FIRST.next()), None);
    assert_eq!(applied.check(Phase::try_from(3).unwrap()), None);
}

#[test]
fn a_person_approves_their_own_plan_by_writing_it() {
    let approved = Approved::written_by(&operator(), plan("a"));
    assert_eq!(approved.digest(), plan("a").digest());
    assert_eq!(approved.by(), operator().signature());
    assert_eq!(
        approved.author(),
        &Author::Operator(operator().signature().clone())
    );
}

#[test]
fn an_author_is_externally_tagged_on_the_wire() {
    let wire = serde_json::to_string(&model()).unwrap();
    assert_eq!(wire, r#"{"model":"anthropic/opus"}"#);
    assert_eq!(serde_json::from_str::<Author>(&wire).unwrap(), model());
    let person = serde_json::to_string(&Author::Operator(operator().signature().clone())).unwrap();
    assert_eq!(person, r#"{"operator":{"name":"ada","channel":"cli"}}"#);
}
