//! Missions with a whole team: who works when, what is handed on, what the review loop and the gates between roles make of it.

use backstop_engine::gates::{self, Fate, GateDraft, OnFail, StateKind, Trigger, stopship};
use backstop_engine::mode::{Account, Mode, Reason as Policy};
use backstop_engine::outcome::{FailCause, Status};
use backstop_engine::review::{Finding, Findings, Loop, Require};
use backstop_engine::vocab::{Digest, PhaseKind, Span, Stage};
use backstop_engine::{
    Answer, Brief, CharterFault, CheckVerdict, Effect, Fact, GateKind, Mission, Position, Reason,
    Refusal, ReviewStop, Role, Rule, Ruling, Verb,
};
use backstop_testkit::{Opening, Walk, fails, fresh, pass, short};

fn reviewed() -> Walk {
    Walk::begin(Opening::default().reviewer())
}

fn no_verdict() -> Ruling {
    Ruling::None(gates::NoVerdict::Blank)
}

/// What is handed to the launch that runs: who made it, and what it is.
fn given(walk: &Walk) -> Vec<(String, String)> {
    let all = walk.order().handoffs.into_iter();
    let named = all.map(|handoff| (handoff.from().to_string(), handoff.kind().to_string()));
    named.collect()
}

fn pair(from: &str, kind: &str) -> (String, String) {
    (from.into(), kind.into())
}

fn iterations(mission: &Mission) -> u32 {
    let review = mission.lane().review.as_ref();
    review.map_or(0, |review| review.receipt().iterations())
}

fn state(walk: &Walk, gate: &str) -> Option<StateKind> {
    let lane = walk.mission.lane();
    let lines = lane.board.status(&lane.judged());
    let mut lines = lines.into_iter().filter(|line| line.gate.as_str() == gate);
    lines.next().map(|line| line.state)
}

#[test]
fn a_reviewer_that_finds_a_fault_twice_and_passes_then_is_three_iterations_and_one_ship() {
    let mut walk = Walk::begin(
        Opening::default()
            .reviewer()
            .ceilings(&[(Account::PhaseFailures, 4), (Account::Attempts, 18)]),
    );
    let mut pins = Vec::new();
    for fault in ["off by one", "off by two"] {
        walk.works().green();
        assert_eq!(walk.order().role, Role::Reviewer);
        pins.push(walk.mission.lane().review.as_ref().unwrap().receipt().pin());
        walk.rules(fails(fault));
        assert_eq!(walk.mission.stage(), Stage::Code);
        assert_eq!(given(&walk), [pair("reviewer", "repair")]);
        let text = format!("{:?}", walk.order().handoffs);
        assert!(text.contains(fault), "{text}");
    }
    walk.works().green();
    pins.push(walk.mission.lane().review.as_ref().unwrap().receipt().pin());
    walk.rules(pass());
    assert_eq!(iterations(&walk.mission), 3);
    pins.dedup();
    assert_eq!(pins.len(), 3);
    walk.lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
    assert_eq!(walk.used(Account::PhaseFailures), 2);
    let fates = walk.mission.lane().handoffs.all();
    let fates: Vec<Fate> = fates.map(|(_, fate)| fate).collect();
    assert!(matches!(
        fates[..],
        [Fate::Committed(_), Fate::Committed(_)]
    ));
}

#[test]
fn a_reviewer_that_never_passes_gates_and_nothing_lands() {
    let mut walk = reviewed();
    while walk.mission.gate().is_none() {
        if matches!(walk.last().1, Effect::RunChecks(_)) {
            walk.green();
        } else if walk.order().role == Role::Reviewer {
            walk.rules(fails("still wrong"));
        } else {
            walk.works();
        }
    }
    let gate = walk.gate();
    assert_eq!(gate.kind, GateKind::Validate);
    assert!(gate.reasons.contains(&Reason::Policy(Policy::PhaseCeiling)));
    assert_eq!(walk.mission.cleared(), None);
    assert!(walk.mission.landed().is_empty());
    // An override opens the whole board with it, for this tree.
    walk.answers(Verb::Approve);
    assert_eq!(state(&walk, "review"), Some(StateKind::Overridden));
    walk.lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
}

#[test]
fn red_checks_are_repaired_before_anybody_reviews() {
    let mut walk = reviewed();
    walk.works().red();
    assert_eq!(walk.mission.stage(), Stage::Code);
    walk.works().green();
    assert_eq!(walk.order().role, Role::Reviewer);
    assert_eq!(iterations(&walk.mission), 1);
}

#[test]
fn an_answer_without_a_verdict_is_asked_again_twice_and_then_a_persons() {
    let mut walk = reviewed();
    walk.works().green();
    for asked in 1..=2 {
        let mut end = walk.end(Status::Success);
        end.ruling = Some(no_verdict());
        end.session = Some(short("talk"));
        walk.take(Fact::AttemptEnded(Box::new(end)));
        let order = walk.order();
        assert_eq!(order.session, Some(short("talk")));
        assert!(matches!(order.briefs[..], [Brief::AskedAgain(_)]));
        assert_eq!(walk.used(Account::Attempts), 2 + asked);
    }
    walk.rules(no_verdict());
    let (gate, last) = (walk.gate(), walk.mission.lane().last.clone());
    assert_eq!(gate.kind, GateKind::Review);
    let cause = FailCause::NoVerdict;
    assert_eq!(last, Some(Status::Failed { cause }));
    assert_eq!(walk.used(Account::PhaseFailures), 0);
    assert_eq!(walk.used(Account::Streak), 0);
    walk.answers(Verb::Retry);
    assert!(walk.because.contains(&Rule::Entered(Stage::Validate)));
}

/// What the loop makes of a review that is bent so.
fn stops(bend: impl Fn(&Walk, &mut backstop_engine::AttemptEnded)) -> Walk {
    let mut walk = reviewed();
    walk.works().green();
    let mut end = walk.end(Status::Success);
    bend(&walk, &mut end);
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.mission.cleared(), None);
    walk
}

fn reasons(walk: &Walk) -> Vec<Reason> {
    walk.gate().reasons
}

#[test]
fn a_review_that_establishes_nothing_stops_the_loop() {
    let inconclusive = [Reason::Reviewed(ReviewStop::Inconclusive)];
    let same_session = stops(|walk, end| {
        end.route = walk.mission.lane().implementer.clone().unwrap();
    });
    assert_eq!(reasons(&same_session), inconclusive);
    let nameless = stops(|_, end| {
        end.route = backstop_engine::review::RouteReceipt::default();
        end.usage.tool_calls = 3;
    });
    assert_eq!(reasons(&nameless), inconclusive);
    // However often its receipt is looked at, a review is paid for once.
    let review = nameless.mission.lane().review.as_ref().unwrap();
    assert_eq!(review.receipt().tool_calls(), 3);
    let contradicting = stops(|_, end| {
        end.ruling = Some(Ruling::Verdict {
            verdict: gates::Verdict::Pass,
            findings: Findings::clip(Finding::clip("and yet")),
        });
    });
    assert_eq!(reasons(&contradicting), inconclusive);
    let unexplained = stops(|_, end| end.ruling = Some(fails("")));
    assert_eq!(reasons(&unexplained), inconclusive);
    for walk in [same_session, nameless, contradicting, unexplained] {
        assert_eq!(walk.used(Account::PhaseFailures), 0);
    }
}

#[test]
fn a_tree_that_moved_under_the_reviewer_is_stale_input() {
    let walk = stops(|_, end| end.head = Some(backstop_testkit::fresh(end.effect)));
    assert_eq!(reasons(&walk), [Reason::Reviewed(ReviewStop::StaleInput)]);
    let unseen = stops(|_, end| end.head = None);
    assert_eq!(unseen.mission.lane().last, Some(Status::Unknown));
}

#[test]
fn a_moved_branch_is_the_work_only_where_the_answer_names_its_tree() {
    let moved = || stops(|_, end| end.head = Some(backstop_testkit::fresh(end.effect)));
    let found = |walk: &Walk| walk.mission.lane().moved.as_ref().unwrap().tree;
    let retry = |walk: &Walk, digest| {
        Fact::Answered(Answer {
            digest,
            ..walk.answer(Verb::Retry)
        })
    };
    let walk = moved();
    let other = Digest::of(b"another");
    let refusal = walk.refusal(retry(&walk, Some(other)));
    assert!(
        matches!(refusal, Refusal::StaleDigest { asked, shown, .. } if (asked, shown) == (found(&walk), other)),
        "{refusal}"
    );
    let pin = walk.mission.lane().head.tree;
    for digest in [None, Some(pin)] {
        let mut walk = moved();
        walk.take(retry(&walk, digest));
        assert_eq!(walk.mission.lane().head.tree, pin);
        assert!(!walk.because.contains(&Rule::TakenOver));
        assert_eq!(walk.mission.lane().moved, None);
    }
    let mut walk = moved();
    let (found, pin) = (found(&walk), walk.mission.lane().head.tree);
    // Who ends the mission takes nothing over, whatever was shown.
    for shown in [other, found] {
        let mut walk = walk.clone();
        walk.take(Fact::Answered(Answer {
            digest: Some(shown),
            ..walk.answer(Verb::Abort)
        }));
        assert_eq!(walk.mission.lane().head.tree, pin);
    }
    walk.take(retry(&walk, Some(found)));
    assert!(walk.because.contains(&Rule::TakenOver));
    let lane = walk.mission.lane();
    assert_eq!((lane.head.tree, &lane.moved), (found, &None));
    assert_eq!(lane.review.as_ref().unwrap().receipt().pin(), found);
    walk.green();
    assert_eq!(walk.mission.cleared(), None);
    walk.rules(pass()).lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
    assert_eq!(walk.gate().digest, Some(found));
}

#[test]
fn a_repair_that_changes_nothing_stalls_the_loop_where_nobody_else_gates() {
    let mut walk = Walk::begin(Opening::default().mode(Mode::Supervise).reviewer());
    walk.works().green().rules(fails("wrong"));
    let mut stalled = 0;
    while walk.gate().kind == GateKind::Validate {
        walk.answers(Verb::Reject).ends(Status::Success);
        if walk.mission.gate().is_none() {
            walk.green().rules(fails("wrong"));
        }
        stalled += 1;
    }
    assert_eq!(stalled, 2, "the streak's ceiling");
    assert_eq!(reasons(&walk), [Reason::Reviewed(ReviewStop::Stalled)]);
}

#[test]
fn a_person_ratifies_or_declines_where_the_mission_is_supervised() {
    let clean = || {
        let mut walk = Walk::begin(Opening::default().mode(Mode::Supervise).reviewer());
        walk.works().green().rules(pass());
        assert!(matches!(walk.mission.lane().review, Some(Loop::Parked(_))));
        walk
    };
    let mut ratified = clean();
    ratified.answers(Verb::Approve);
    assert!(matches!(
        ratified.mission.lane().review,
        Some(Loop::Verified(_))
    ));
    ratified.lands();
    let mut declined = clean();
    declined.answers(Verb::Reject);
    let stopped = Rule::ReviewStopped(ReviewStop::Declined);
    assert!(declined.because.contains(&stopped));
    assert_eq!(given(&declined), [pair("operator", "note")]);
    declined.works().green();
    assert_eq!(iterations(&declined.mission), 1, "a new loop");
}

#[test]
fn a_verifier_works_on_what_the_reviewer_let_pass() {
    let mut walk = Walk::begin(Opening::default().verifier());
    walk.works().green().rules(pass());
    assert_eq!(walk.order().role, Role::Verifier);
    assert_eq!(given(&walk), [pair("reviewer", "diff_review")]);
    walk.rules(fails("it crashes"));
    assert_eq!(given(&walk), [pair("verifier", "repair")]);
    // What the visit was given waits again.
    let mut all = walk.mission.lane().handoffs.all();
    let given_back = all.find(|(handoff, _)| handoff.kind().as_str() == "diff_review");
    assert_eq!(given_back.unwrap().1, Fate::Waiting);
    drop(all);
    walk.works().green().rules(pass()).rules(pass()).lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
    let lines = walk
        .mission
        .lane()
        .review
        .as_ref()
        .unwrap()
        .receipt()
        .route_lines();
    for role in ["reviewer:", "verifier:"] {
        assert!(lines.iter().any(|line| line.starts_with(role)), "{lines:?}");
    }
}

#[test]
fn the_loop_is_told_what_a_review_cost_and_what_must_stand_beside_it() {
    let spent = |opening: Opening| {
        let mut walk = Walk::begin(opening);
        walk.works();
        if matches!(walk.last().1, Effect::RunChecks(_)) {
            walk.green();
        }
        assert_eq!(walk.order().role, Role::Reviewer);
        let mut end = walk.end(Status::Success);
        (end.usage.tool_calls, end.usage.active_ms) = (3, 2_000);
        walk.take(Fact::AttemptEnded(Box::new(end)));
        let receipt = walk.mission.lane().review.as_ref().unwrap().receipt();
        assert_eq!(receipt.tool_calls(), 3);
        assert_eq!(receipt.elapsed(), Span::from_millis(2_000));
        (*receipt.policy(), walk)
    };
    let (checked, mut walk) = spent(Opening::default().reviewer());
    assert_eq!(checked.verifier_receipt, Require::Required);
    assert_eq!(checked.human_ratification, Require::NotRequired);
    walk.lands();
    let (bare, mut walk) = spent(Opening::default().reviewer().unchecked());
    assert_eq!(bare.verifier_receipt, Require::NotRequired);
    walk.lands();
    let supervised = Opening::default().reviewer().mode(Mode::Supervise);
    let (seen, walk) = spent(supervised);
    assert_eq!(seen.human_ratification, Require::Required);
    assert_eq!(walk.gate().kind, GateKind::Validate);
}

#[test]
fn the_sessions_of_all_who_worked_on_a_visit_are_on_record() {
    let mut walk = Walk::begin(Opening::default().verifier());
    let implementer = walk.last().0;
    walk.works().green();
    let reviewer = walk.last().0;
    walk.rules(pass());
    let verifier = walk.last().0;
    walk.rules(pass());
    let receipt = walk.mission.lane().review.as_ref().unwrap().receipt();
    let record = format!("{receipt:?}");
    for effect in [implementer, reviewer, verifier] {
        let session = format!("\"session-{effect}\"");
        assert!(record.contains(&session), "{session} in {record}");
    }
}

#[test]
fn a_reviewer_that_is_sent_back_is_no_verifier_of_its_own() {
    let again = verify("again", "reviewer", Trigger::RoleComplete, OnFail::Retry);
    let mut walk = Walk::begin(Opening::default().reviewer().gates(&[again]));
    walk.works().green();
    let first = walk.last().0;
    walk.rules(pass()).red();
    assert_eq!(walk.order().role, Role::Reviewer);
    let second = walk.last().0;
    walk.rules(pass()).green().lands();
    let receipt = walk.mission.lane().review.as_ref().unwrap().receipt();
    let record = format!("{receipt:?}");
    let has = |effect| record.contains(&format!("\"session-{effect}\""));
    assert!(!has(first) && has(second), "{record}");
}

fn verify(id: &str, role: &str, on: Trigger, on_fail: OnFail) -> GateDraft {
    gate(id, role, on, gates::GateKind::Verify, on_fail)
}

/// A gate after the planner that runs the checks.
fn planned() -> Walk {
    let suite = verify("suite", "planner", Trigger::RoleComplete, OnFail::Escalate);
    let mut walk = Walk::begin(Opening::default().planner().gates(&[suite]));
    walk.ends(Status::Success);
    assert!(matches!(walk.last().1, Effect::RunChecks(_)));
    walk
}

#[test]
fn checks_after_a_role_that_does_not_judge_charge_nobody() {
    let mut walk = planned();
    walk.green();
    assert_eq!(walk.order().role, Role::Implementer);
    let mut walk = planned();
    walk.red();
    assert!(walk.because.contains(&Rule::GateChecksRed));
    for account in [Account::Streak, Account::PhaseFailures] {
        assert_eq!(walk.used(account), 0);
    }
}

#[test]
fn checks_that_let_a_role_in_stand_for_its_attempts_and_are_renewed_by_green_work() {
    let base = verify("base", "implementer", Trigger::RoleStart, OnFail::Escalate);
    let mut walk = Walk::begin(Opening::default().gates(&[base]));
    walk.green();
    // What a cut attempt made of the tree is not what its role was let in on.
    let mut end = walk.end(Status::Ambiguous);
    end.head = Some(fresh(end.effect));
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.order().attempt.number(), 2);
    walk.works().green();
    assert!(matches!(walk.last().1, Effect::Land(_)));
}

#[test]
fn a_red_base_that_a_person_passes_clears_no_tree() {
    let base = verify("base", "implementer", Trigger::RoleStart, OnFail::Escalate);
    let mut walk = Walk::begin(Opening::default().gates(&[base]));
    walk.red();
    assert_eq!(walk.gate().kind, GateKind::Held);
    walk.answers(Verb::Approve);
    assert_eq!(walk.order().role, Role::Implementer);
    assert_eq!(walk.mission.cleared(), None);
}

#[test]
fn a_check_that_is_red_where_the_reviewer_was_let_in_stays_the_evidence() {
    let suite = verify("suite", "reviewer", Trigger::RoleStart, OnFail::Escalate);
    let mut walk = Walk::begin(Opening::default().reviewer().gates(&[suite]));
    walk.works().green();
    walk.checks(&[CheckVerdict::Passed, CheckVerdict::Failed { exit: 7 }]);
    assert_eq!(walk.gate().kind, GateKind::Held);
    walk.answers(Verb::Approve);
    assert_eq!(walk.order().role, Role::Reviewer);
    walk.rules(pass());
    let receipt = walk.mission.lane().review.as_ref().unwrap().receipt();
    let record = format!("{receipt:?}");
    assert!(record.contains("exit_status: 7"), "{record}");
    assert_eq!(walk.mission.cleared(), None);
}

#[test]
fn what_is_behind_a_gate_is_handed_to_nobody_before_it_opens() {
    let findings = GateDraft {
        blocks_role: Some("implementer".to_owned()),
        artifact_kind: Some("findings".to_owned()),
        ..gate(
            "seen",
            "scout",
            Trigger::RoleComplete,
            gates::GateKind::Approve,
            OnFail::Block,
        )
    };
    let handed = |gates: &[GateDraft]| {
        let mut walk = Walk::begin(Opening::default().scout().planner().gates(gates));
        walk.ends(Status::Success);
        assert_eq!(walk.order().role, Role::Planner);
        given(&walk)
    };
    assert_eq!(handed(&[findings]), []);
    assert_eq!(handed(&[]), [pair("scout", "findings")]);
}

#[test]
fn a_role_that_no_gate_asks_for_a_verdict_is_not_asked_again() {
    let trial = GateDraft {
        require_explicit_verdict: false,
        ..gate(
            "trial",
            "verifier",
            Trigger::RoleComplete,
            gates::GateKind::Review,
            OnFail::Escalate,
        )
    };
    let mut walk = Walk::begin(Opening::default().verifier().gates(&[trial]));
    walk.works().green().rules(pass());
    assert_eq!(walk.order().role, Role::Verifier);
    walk.rules(no_verdict());
    for rule in [Rule::AskedAgain, Rule::EvidenceOutranksClaim] {
        assert!(!walk.because.contains(&rule), "{:?}", walk.because);
    }
    assert_eq!(walk.mission.lane().last, Some(Status::Success));
}

fn stopped_ship() -> Walk {
    let team = Opening::default().scout().verifier().release_lead();
    let mut walk = Walk::begin(team.gates(&stopship()));
    walk.ends(Status::Success);
    walk
}

#[test]
fn nothing_is_coded_before_a_person_has_seen_the_findings() {
    let mut walk = stopped_ship();
    let gate = walk.gate();
    assert_eq!(gate.kind, GateKind::Held);
    assert_eq!(gate.holder.as_ref().unwrap().as_str(), "scout-findings");
    let holders = walk.mission.holders();
    assert_eq!(holders.len(), 1);
    assert_eq!(
        gate.digest,
        Some(backstop_engine::vocab::Digest::of(b"artifact"))
    );
    walk.answers(Verb::Approve);
    assert_eq!(walk.order().role, Role::Implementer);
    let both = [pair("operator", "note"), pair("scout", "findings")];
    assert_eq!(given(&walk), both);
}

#[test]
fn a_rejected_gate_fails_by_its_rule_and_its_role_runs_again_when_a_person_wants_it() {
    let mut walk = stopped_ship();
    walk.answers(Verb::Reject);
    assert_eq!(walk.gate().kind, GateKind::Held);
    assert_eq!(walk.mission.holders()[0].state, StateKind::Blocked);
    let again = Answer {
        note: Some(short("no")),
        ..walk.answer(Verb::Reject)
    };
    let fixed = walk.refusal(Fact::Answered(again));
    assert!(matches!(fixed, Refusal::Board(_)), "{fixed}");
    let bare = Answer {
        note: None,
        ..walk.answer(Verb::Approve)
    };
    let unexplained = walk.refusal(Fact::Answered(bare));
    assert!(matches!(unexplained, Refusal::Board(_)), "{unexplained}");
    walk.answers(Verb::Retry);
    assert!(walk.because.contains(&Rule::SentBack(Role::Scout)));
    assert_eq!(walk.order().role, Role::Scout);
    assert!(given(&walk).contains(&pair("operator", "note")));
    walk.ends(Status::Success).answers(Verb::Approve);
    assert_eq!(walk.order().visit.number(), 1, "nobody has coded yet");
}

#[test]
fn a_verify_gate_after_the_verifier_runs_both_again_until_it_is_a_persons() {
    let mut walk = stopped_ship();
    walk.answers(Verb::Approve).works().green().rules(pass());
    for _ in 0..2 {
        walk.rules(pass()).red();
        assert!(walk.because.contains(&Rule::SentBack(Role::Verifier)));
    }
    walk.rules(pass()).red();
    let gate = walk.gate();
    assert_eq!(
        (gate.kind, walk.used(Account::PhaseFailures)),
        (GateKind::Held, 1)
    );
    assert_eq!(state(&walk, "verifier-suite"), Some(StateKind::Escalated));
    // Who overrides it takes this tree as it is.
    walk.answers(Verb::Approve);
    assert_eq!(state(&walk, "verifier-suite"), Some(StateKind::Overridden));
    walk.lands();
    assert_eq!(walk.order().role, Role::ReleaseLead);
    assert_eq!(walk.mission.cleared(), Some(walk.mission.lane().head.tree));
}

#[test]
fn however_the_release_lead_ends_the_ship_gate_opens() {
    for status in [
        Status::Success,
        Status::Unknown,
        Status::RateLimited { until: None },
        Status::Ambiguous,
        Status::IdleTimeout,
    ] {
        let mut walk = Walk::begin(Opening::default().release_lead());
        walk.works().green().lands();
        assert_eq!(walk.order().role, Role::ReleaseLead);
        let tree = walk.mission.lane().head.tree;
        let mut end = walk.end(status.clone());
        end.head = Some(backstop_testkit::fresh(end.effect));
        walk.take(Fact::AttemptEnded(Box::new(end)));
        assert_eq!(walk.gate().kind, GateKind::Ship, "{status:?}");
        assert_eq!(
            walk.gate().digest,
            Some(tree),
            "what it changed is thrown away"
        );
        let faults = u64::from(status == Status::Ambiguous);
        assert_eq!(walk.used(Account::InfraTotal), faults);
    }
}

fn gate(id: &str, role: &str, on: Trigger, kind: gates::GateKind, on_fail: OnFail) -> GateDraft {
    GateDraft {
        id: id.into(),
        role: role.into(),
        on,
        gate: kind,
        on_fail,
        blocks_role: None,
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    }
}

#[test]
fn gates_before_a_role_want_the_checks_or_a_person_first() {
    use gates::GateKind::{Approve, Verify};
    let start = Trigger::RoleStart;
    let both = [
        gate("base", "implementer", start, Verify, OnFail::Retry),
        gate("go", "implementer", start, Approve, OnFail::Escalate),
    ];
    let mut walk = Walk::begin(Opening::default().gates(&both));
    assert!(matches!(walk.last().1, Effect::RunChecks(_)));
    walk.red();
    assert!(matches!(walk.last().1, Effect::RunChecks(_)), "once more");
    walk.red();
    assert_eq!(walk.gate().kind, GateKind::Held);
    assert_eq!(walk.mission.holders().len(), 2);
    walk.answers(Verb::Retry);
    walk.green();
    assert_eq!(walk.gate().holder.unwrap().as_str(), "go");
    walk.answers(Verb::Approve);
    // Who is let in has done nothing that could land.
    assert_eq!(walk.mission.cleared(), None);
    walk.works().red();
    // A new generation: what was let in once is asked about again.
    assert!(walk.because.contains(&Rule::NewGeneration));
    assert!(matches!(walk.last().1, Effect::RunChecks(_)));
    walk.green();
    assert_eq!(walk.gate().holder.unwrap().as_str(), "go");
}

#[test]
fn a_person_who_has_validate_done_again_is_not_held_by_what_it_found_before() {
    let mut walk = Walk::begin(Opening::default().mode(Mode::Supervise).reviewer());
    walk.works().red().answers(Verb::Retry);
    walk.green().rules(fails("")).answers(Verb::Retry);
    walk.green().rules(pass()).answers(Verb::Approve).lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
}

#[test]
fn an_approval_without_a_role_to_block_holds_the_landing() {
    let after = Trigger::RoleComplete;
    let plan = gate(
        "outline",
        "planner",
        after,
        gates::GateKind::Approve,
        OnFail::Retry,
    );
    let mut walk = Walk::begin(Opening::default().planner().gates(&[plan]));
    walk.ends(Status::Success).works().green();
    assert_eq!(walk.gate().kind, GateKind::Held);
    walk.answers(Verb::Reject);
    assert_eq!(walk.order().role, Role::Planner, "it retries");
    walk.ends(Status::Success)
        .works()
        .green()
        .answers(Verb::Approve)
        .lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
}

#[test]
fn roles_that_the_opener_skips_hold_nobody() {
    let team = Opening::default()
        .scout()
        .verifier()
        .release_lead()
        .from(Stage::Code);
    let walk = Walk::begin(team.gates(&stopship()));
    assert_eq!(walk.order().role, Role::Implementer);
    assert_eq!(state(&walk, "scout-findings"), Some(StateKind::Waived));
}

#[test]
fn a_later_phase_reads_what_the_earlier_ones_reported() {
    let two = Opening::default().phases(&[PhaseKind::Research, PhaseKind::Coding]);
    let mut walk = Walk::begin(two);
    walk.ends(Status::Success).lands();
    let reports = walk.order().reports;
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].phase.number(), 1);
}

#[test]
fn a_persons_note_is_delivered_again_within_a_visit_and_to_no_later_one() {
    let mut walk = Walk::begin(Opening::default());
    walk.ends(Status::Unknown).answers(Verb::Retry);
    assert_eq!(given(&walk), [pair("operator", "note")]);
    walk.ends(Status::Ambiguous);
    assert_eq!(given(&walk), [pair("operator", "note")], "the same visit");
    walk.works().red();
    assert_eq!(given(&walk), []);
}

#[test]
fn a_stop_while_a_verdict_is_asked_for_parks_with_the_visit() {
    let mut walk = reviewed();
    walk.works().green().stop();
    walk.rules(no_verdict());
    assert!(matches!(walk.mission.position(), Position::Parked(..)));
    walk.resume();
    assert_eq!(walk.gate().kind, GateKind::Review);
}

#[test]
fn gates_that_nothing_could_open_are_no_charter() {
    use gates::GateKind::{Approve, Review, Verify};
    let (before, after) = (Trigger::RoleStart, Trigger::RoleComplete);
    let fault = |opening: Opening, gates: &[GateDraft]| opening.gates(gates).chartered().err();
    let open = Opening::default;
    let off = gate("a", "scout", after, Approve, OnFail::Block);
    let named = fault(open().from(Stage::Define), &[off]);
    assert!(matches!(
        named,
        Some(CharterFault::RoleOff {
            role: Role::Scout,
            ..
        })
    ));
    let mute = gate("a", "implementer", after, Review, OnFail::Block);
    assert!(matches!(
        fault(open(), &[mute]),
        Some(CharterFault::NoVerdict(_))
    ));
    let early = gate("a", "reviewer", before, Review, OnFail::Block);
    assert!(matches!(
        fault(open().reviewer(), &[early]),
        Some(CharterFault::NoVerdict(_))
    ));
    let late = gate("a", "release_lead", after, Approve, OnFail::Block);
    let none = fault(open().release_lead(), &[late]);
    assert!(matches!(none, Some(CharterFault::NothingWaits(_))));
    let suite = gate("a", "implementer", after, Verify, OnFail::Block);
    let bare = fault(
        open().phases(&[PhaseKind::Coding, PhaseKind::Research]),
        &[suite],
    );
    let Some(CharterFault::NothingToVerify { phase, .. }) = bare else {
        panic!("{bare:?}");
    };
    assert_eq!(phase.number(), 2);
}
