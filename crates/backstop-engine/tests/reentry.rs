//! Going back and coming again: roles that are still to come, visits that did not happen, and what a new generation asks.

use backstop_engine::gates::{GateDraft, GateKind, OnFail, StateKind, Trigger};
use backstop_engine::outcome::Status;
use backstop_engine::vocab::PhaseKind;
use backstop_engine::{Answer, Effect, Fact, GateKind as Asked, Refusal, Role, Rule, Verb};
use backstop_testkit::{Opening, Walk, fresh, short};

fn approval(id: &str, role: &str, on: Trigger) -> GateDraft {
    GateDraft {
        id: id.into(),
        role: role.into(),
        on,
        gate: GateKind::Approve,
        on_fail: OnFail::Retry,
        blocks_role: None,
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    }
}

#[test]
fn a_gate_of_a_role_that_is_still_to_come_skips_no_landing_and_no_phase() {
    let notes = approval("notes", "release_lead", Trigger::RoleStart);
    let two = [PhaseKind::Coding, PhaseKind::Coding];
    for verb in [Verb::Retry, Verb::Reject] {
        let team = Opening::default().phases(&two).release_lead();
        let mut walk = Walk::begin(team.gates(std::slice::from_ref(&notes)));
        walk.works().green();
        assert_eq!(walk.gate().kind, Asked::Held);
        walk.answers(verb);
        assert_eq!(walk.gate().kind, Asked::Held, "{verb}: the landing waits");
        assert!(!walk.because.contains(&Rule::SentBack(Role::ReleaseLead)));
        walk.answers(Verb::Approve).lands();
        assert_eq!(walk.mission.lane().phase.number(), 2, "{verb}");
        walk.works().green().answers(Verb::Approve).lands();
        assert_eq!(walk.mission.landed().len(), 2, "{verb}");
        assert_eq!(walk.order().role, Role::ReleaseLead);
    }
}

/// At the second entry into Code, where the planner's outline and the start of the work both wait for a person.
fn held_again() -> Walk {
    let outline = GateDraft {
        blocks_role: Some("implementer".into()),
        ..approval("outline", "planner", Trigger::RoleComplete)
    };
    let go = approval("start", "implementer", Trigger::RoleStart);
    let mut walk = Walk::begin(Opening::default().planner().gates(&[outline, go]));
    walk.ends(Status::Success);
    walk.answers(Verb::Approve).answers(Verb::Approve);
    walk.works().red();
    let holder = walk.gate().holder;
    assert_eq!(
        holder.as_ref().map(backstop_engine::vocab::GateId::as_str),
        Some("outline")
    );
    walk
}

#[test]
fn going_back_from_a_visit_in_which_nobody_was_let_in_forgets_no_earlier_visit() {
    let mut walk = held_again();
    assert_eq!(walk.mission.lane().visit().number(), 2);
    walk.answers(Verb::Retry);
    assert_eq!(walk.order().role, Role::Planner);
    walk.ends(Status::Success);
    assert!(walk.because.contains(&Rule::NewGeneration));
    walk.answers(Verb::Approve).answers(Verb::Approve);
    assert_eq!(walk.order().visit.number(), 2);
    // A later visit may leave the tree as it is.
    walk.ends(Status::Success);
    assert!(matches!(walk.last().1, Effect::RunChecks(_)));
}

#[test]
fn what_a_person_wrote_before_a_step_back_and_after_it_is_delivered() {
    let outline = |id| GateDraft {
        blocks_role: Some("implementer".into()),
        ..approval(id, "planner", Trigger::RoleComplete)
    };
    let both = [outline("one"), outline("two")];
    let mut walk = Walk::begin(Opening::default().planner().gates(&both));
    walk.ends(Status::Success);
    walk.answers(Verb::Approve).answers(Verb::Approve);
    walk.works().red();
    let noted = |walk: &Walk, words: &str| {
        let note = Some(short(words));
        let answer = walk.answer(Verb::Approve);
        Fact::Answered(Answer { note, ..answer })
    };
    let before = noted(&walk, "before the step back");
    walk.take(before).answers(Verb::Retry);
    walk.ends(Status::Success);
    let after = noted(&walk, "after the step back");
    walk.take(after).answers(Verb::Approve);
    let given = format!("{:?}", walk.order().handoffs);
    assert!(given.contains("before the step back"), "{given}");
    assert!(given.contains("after the step back"), "{given}");
}

#[test]
fn a_new_generation_asks_for_every_gate_from_the_implementer_on_and_for_none_before() {
    let walk = held_again();
    let lane = walk.mission.lane();
    let states = |tree| {
        let judged = backstop_engine::gates::Judged::of_tree(tree);
        let lines = lane.board.status(&judged).into_iter();
        lines.map(|line| line.state).collect::<Vec<_>>()
    };
    // The outline was approved for the tree of then; the start is asked about for any.
    let base = walk.mission.charter().fields().base.tree;
    assert_eq!(states(base), [StateKind::Passed, StateKind::Pending]);
    assert_eq!(lane.board.generation(), 2);
}

#[test]
fn an_agent_that_is_cut_off_in_its_work_was_let_in_for_the_whole_visit() {
    let go = approval("go", "implementer", Trigger::RoleStart);
    let mut walk = Walk::begin(Opening::default().gates(&[go]));
    walk.answers(Verb::Approve);
    let mut end = walk.end(Status::Ambiguous);
    end.head = Some(fresh(end.effect));
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.order().attempt.number(), 2);
}

#[test]
fn a_validate_that_is_done_again_begins_with_a_new_conversation() {
    let mut walk = Walk::begin(Opening::default().reviewer());
    walk.works().green();
    let question = short("which one?");
    let mut end = walk.end(Status::Asked { question });
    end.session = Some(short("talk"));
    walk.take(Fact::AttemptEnded(Box::new(end)));
    walk.answers(Verb::Retry).green();
    let order = walk.order();
    assert_eq!((order.role, order.session), (Role::Reviewer, None));
}

#[test]
fn the_end_of_another_launch_than_the_one_that_runs_is_refused() {
    let mut walk = Walk::begin(Opening::default().reviewer());
    let earlier = walk.end(Status::Success);
    walk.works().green();
    let id = earlier.effect;
    let refusal = walk.refusal(Fact::AttemptEnded(Box::new(earlier)));
    assert_eq!(refusal, Refusal::NotOutstanding(id));
}
