//! One mission at a time: what happens, and what the engine makes of it.

use backstop_engine::mode::{Account, Mode, Reason as Policy};
use backstop_engine::outcome::{FailCause, Interruption, Status, StatusKind};
use backstop_engine::vocab::{Digest, PhaseKind, Span, Stage};
use backstop_engine::{
    ArtifactSeen, AttemptStarted, BaseMerged, Begins, Brief, CheckVerdict, ChecksRan, Cost, Effect,
    Ended, Fact, GateKind, GreenBase, Head, MergeOutcome, ParkCause, ParkedAt, PointVerdict,
    Position, PreflightRan, ProcessRef, Reason, Refusal, Rule, SessionOpened, ShipOutcome, Verb,
    WaitCause,
};
use backstop_testkit::{Opening, Walk, check_results, commit, fresh, operator, short};

fn defaults() -> Opening {
    Opening::default().default_ceilings()
}

fn limited(walk: &Walk, after: Span) -> Status {
    Status::RateLimited {
        until: Some(walk.mission.now().after(after)),
    }
}

fn cut() -> Status {
    Status::Interrupted {
        by: Interruption::RunnerDied,
    }
}

fn at_ship() -> Walk {
    let mut walk = Walk::begin(Opening::default());
    walk.works().green().lands();
    walk
}

#[test]
fn three_failures_without_progress_gate_in_auto() {
    let mut walk = Walk::begin(defaults());
    walk.works().red();
    for _ in 0..2 {
        assert_eq!(walk.mission.stage(), Stage::Code);
        walk.ends(Status::Success).red();
    }
    assert_eq!(walk.gate().kind, GateKind::Validate);
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::StreakCeiling)]);
    assert_eq!(
        (
            walk.used(Account::Streak),
            walk.used(Account::PhaseFailures)
        ),
        (3, 3)
    );
}

#[test]
fn ten_failures_with_progress_gate_all_the_same() {
    let mut walk = Walk::begin(defaults());
    for _ in 0..10 {
        assert_eq!(walk.mission.stage(), Stage::Code);
        walk.works().red();
        assert_eq!(walk.used(Account::Streak), 1);
    }
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::PhaseCeiling)]);
    assert_eq!(walk.used(Account::PhaseFailures), 10);
}

#[test]
fn an_empty_commit_a_rewind_and_a_tree_seen_before_are_no_progress() {
    let mut walk = Walk::begin(defaults());
    walk.works().red();
    let failed = walk.mission.lane().head.clone();
    let bent: [fn(Head, &Head) -> Head; 3] = [
        |new, old| Head {
            tree: old.tree,
            ..new
        },
        |new, _| Head {
            commits: Some(1),
            ..new
        },
        |new, _| Head {
            commits: None,
            ..new
        },
    ];
    for bend in bent {
        let mut walk = walk.clone();
        let mut end = walk.end(Status::Success);
        end.head = Some(bend(fresh(end.effect), &failed));
        walk.take(Fact::AttemptEnded(Box::new(end))).red();
        assert_eq!(walk.used(Account::Streak), 2);
    }
}

#[test]
fn supervise_gates_every_validate() {
    let mut walk = Walk::begin(defaults().mode(Mode::Supervise));
    walk.works().red();
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::Supervised)]);
    walk.answers(Verb::Reject);
    assert_eq!(walk.mission.stage(), Stage::Code);
    walk.works().green();
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::Supervised)]);
    walk.answers(Verb::Retry).green();
    assert_eq!(walk.gate().kind, GateKind::Validate);
    walk.answers(Verb::Approve);
    assert!(matches!(walk.last().1, Effect::Land(_)));
}

#[test]
fn an_overridden_failure_lands_and_says_so() {
    let mut walk = Walk::begin(defaults().mode(Mode::Supervise));
    walk.works().red();
    assert_eq!(walk.mission.cleared(), None);
    let tree = walk.mission.lane().head.tree;
    walk.answers(Verb::Approve);
    assert_eq!(walk.mission.cleared(), Some(tree));
    assert!(matches!(walk.last().1, Effect::Land(landing) if landing.tree == tree));
}

#[test]
fn a_rate_limited_mission_waits_exactly_until_the_reset_and_its_streak_does_not_move() {
    let mut walk = Walk::begin(defaults());
    walk.works().red();
    let status = limited(&walk, Span::from_mins(90));
    let reset = walk.mission.now().after(Span::from_mins(90));
    walk.ends(status);
    assert_eq!(walk.mission.deadline(), Some(reset));
    let (id, _) = walk.last();
    let early = walk.refusal(Fact::WaitEnded { effect: id });
    assert_eq!(early, Refusal::NotDue(reset));
    walk.due();
    assert_eq!(walk.order().attempt.number(), 2);
    let used = |account| walk.used(account);
    assert_eq!(
        (used(Account::Streak), used(Account::PhaseFailures)),
        (1, 1)
    );
    assert_eq!((used(Account::QuotaWaits), used(Account::Attempts)), (1, 2));
}

#[test]
fn a_limit_that_lifts_too_late_is_a_persons_to_judge() {
    let mut walk = Walk::begin(defaults());
    let status = limited(&walk, Span::from_hours(9 * 24));
    walk.ends(status);
    assert_eq!(walk.gate().kind, GateKind::Infra);
    assert_eq!(walk.gate().reasons, [Reason::LimitTooFar]);
}

#[test]
fn a_stop_while_an_agent_runs_parks_at_its_end_and_resume_goes_on_in_the_same_visit() {
    let mut walk = Walk::begin(defaults());
    let (running, _) = walk.last();
    assert_eq!(walk.mission.stopping(), None);
    walk.stop();
    assert_eq!(walk.mission.stopping(), Some(&operator()));
    assert_eq!(walk.last().1, Effect::Halt(running));
    assert_eq!(
        walk.refusal(Fact::StopRequested { by: operator() }),
        Refusal::AlreadyStopping
    );
    walk.ends(Status::Cancelled);
    assert!(matches!(
        walk.mission.position(),
        Position::Parked(ParkCause::Stopped, ParkedAt::Work(_))
    ));
    assert_eq!(walk.mission.outstanding().count(), 0);
    walk.resume();
    let order = walk.order();
    assert_eq!((order.visit.number(), order.attempt.number()), (1, 2));
    assert!(
        order
            .briefs
            .contains(&Brief::TakenUp(StatusKind::Cancelled))
    );
}

#[test]
fn an_attempt_that_ends_well_after_the_stop_counts_and_parks() {
    let mut walk = Walk::begin(defaults());
    walk.stop().works();
    assert!(matches!(
        walk.mission.position(),
        Position::Parked(ParkCause::Stopped, _)
    ));
    assert_eq!(walk.mission.stage(), Stage::Validate);
    walk.resume();
    assert!(matches!(walk.last().1, Effect::RunChecks(_)));
}

#[test]
fn a_stop_in_a_wait_keeps_the_moment_and_a_stop_at_a_gate_keeps_the_gate() {
    let mut walk = Walk::begin(defaults());
    let status = limited(&walk, Span::from_mins(90));
    walk.ends(status);
    let reset = walk.mission.deadline();
    walk.stop();
    assert_eq!(walk.mission.deadline(), None);
    let Position::Parked(ParkCause::Stopped, ParkedAt::Work(pending)) = walk.mission.position()
    else {
        panic!("parked: {:?}", walk.mission.position());
    };
    let (wait, then) = pending.wait().unwrap();
    assert_eq!(Some(wait.until), reset);
    assert_eq!((then.begins(), then.wait()), (Begins::Attempt, None));
    walk.resume();
    assert_eq!(walk.mission.deadline(), reset);

    let mut walk = Walk::begin(defaults());
    walk.ends(Status::Unknown);
    let gate = walk.gate().id;
    walk.stop().resume();
    assert_eq!(walk.gate().id, gate);
    assert!(matches!(walk.mission.position(), Position::AtGate(..)));
}

#[test]
fn a_gate_that_expires_parks_and_a_later_answer_is_taken() {
    let mut walk = at_ship();
    let gate = walk.gate();
    assert_eq!(
        walk.refusal(Fact::GateExpired {
            gate: gate.id.clone()
        }),
        Refusal::NotDue(gate.expires_at)
    );
    walk.due();
    assert_eq!(walk.because, [Rule::Expired, Rule::Parked]);
    assert_eq!(
        walk.refusal(Fact::GateExpired { gate: gate.id }),
        Refusal::NoGate
    );
    assert!(!matches!(walk.mission.position(), Position::Ended(_)));
    walk.answers(Verb::Approve);
    assert!(matches!(walk.last().1, Effect::Ship(_)));
}

#[test]
fn a_dead_runner_resumes_at_once_and_is_not_charged_to_attempts() {
    let mut walk = Walk::begin(defaults());
    let effect = walk.last().0;
    walk.take(Fact::SessionOpened(backstop_engine::SessionOpened {
        effect,
        session: short("s-1"),
    }));
    walk.ends(cut());
    let order = walk.order();
    assert_eq!((order.visit.number(), order.attempt.number()), (1, 2));
    assert_eq!(order.session, Some(short("s-1")));
    assert_eq!(
        (walk.used(Account::Attempts), walk.used(Account::Infra)),
        (1, 1)
    );
    walk.works();
    assert_eq!(
        (walk.used(Account::Infra), walk.used(Account::InfraTotal)),
        (0, 1)
    );
}

#[test]
fn a_cancelled_attempt_is_no_fault_and_ends_a_row_of_them() {
    let mut walk = Walk::begin(defaults());
    walk.ends(cut()).stop().ends(Status::Cancelled);
    assert_eq!(
        (walk.used(Account::Infra), walk.used(Account::InfraTotal)),
        (0, 1)
    );
}

#[test]
fn results_for_another_tree_or_of_other_checks_are_refused() {
    let mut walk = Walk::begin(defaults());
    walk.works();
    let (effect, asked) = (walk.last().0, walk.mission.lane().head.tree);
    let found = Digest::of(b"another tree");
    let results = check_results(&walk.mission.charter().fields().checks, &[]);
    let ran = |tree, results| {
        Fact::ChecksRan(ChecksRan {
            effect,
            tree,
            results,
        })
    };
    let other = walk.refusal(ran(found, results.clone()));
    assert_eq!(other, Refusal::OtherTree { asked, found });
    let fewer = walk.refusal(ran(asked, results[..1].to_vec()));
    assert_eq!(fewer, Refusal::OtherChecks("build, test".into()));
    walk.green();
    let effect = walk.last().0;
    let landed = walk.refusal(Fact::Landed {
        effect,
        tree: found,
    });
    assert_eq!(landed, Refusal::OtherTree { asked, found });
}

#[test]
fn a_base_that_moved_voids_the_approval() {
    let mut walk = at_ship();
    let approval = walk.answer(Verb::Approve);
    walk.take(Fact::Answered(approval.clone()));
    walk.ships(ShipOutcome::BaseMoved { now: commit(77) });
    assert!(walk.because.contains(&Rule::ApprovalVoid));
    let effect = walk.last().0;
    let head = fresh(effect);
    let outcome = MergeOutcome::Merged {
        base: commit(77),
        head: head.clone(),
    };
    let merged = |outcome| Fact::BaseMerged(BaseMerged { effect, outcome });

    // A new tree is judged again, and asked about again.
    let mut new = walk.clone();
    new.take(merged(outcome)).green().lands();
    assert_eq!(new.gate().digest, Some(head.tree));
    assert!(matches!(
        new.refusal(Fact::Answered(approval.clone())),
        Refusal::AlreadyAnswered { .. }
    ));

    // The same tree is only asked about again.
    let tree = walk.mission.lane().head.tree;
    let mut same = walk.clone();
    same.take(merged(MergeOutcome::Merged {
        base: commit(77),
        head: Head { tree, ..head },
    }));
    assert_eq!(
        (same.gate().kind, same.gate().digest),
        (GateKind::Ship, Some(tree))
    );
    assert_ne!(same.gate().id, approval.gate);

    // A contradiction goes back to the agent with its paths.
    walk.take(merged(MergeOutcome::Conflict {
        cause: short("src/lib.rs"),
    }));
    assert_eq!(walk.gate().reasons, [Reason::MergeConflict]);
    walk.answers(Verb::Reject);
    assert!(
        walk.order()
            .briefs
            .contains(&Brief::Conflict(short("src/lib.rs")))
    );
}

#[test]
fn a_stop_while_shipping_starts_no_merge() {
    let mut walk = at_ship();
    walk.answers(Verb::Approve).stop();
    walk.ships(ShipOutcome::BaseMoved { now: commit(77) });
    assert!(matches!(
        walk.mission.position(),
        Position::Parked(ParkCause::Stopped, _)
    ));
    assert_eq!(walk.mission.outstanding().count(), 0);
    walk.resume();
    assert!(matches!(walk.last().1, Effect::MergeBase(_)));
}

#[test]
fn a_rejected_shipment_is_charged_to_the_phase_and_not_to_the_streak() {
    let mut walk = at_ship();
    walk.answers(Verb::Reject);
    assert_eq!(
        (
            walk.used(Account::PhaseFailures),
            walk.used(Account::Streak)
        ),
        (1, 0)
    );
    assert_eq!(walk.mission.stage(), Stage::Code);
    assert_eq!(walk.mission.cleared(), None);
    assert!(
        walk.order()
            .handoffs
            .iter()
            .any(|handoff| handoff.kind().as_str() == "note")
    );
}

#[test]
fn one_ship_gate_for_all_lanes_and_each_starts_where_the_last_landed() {
    let two = Opening::default().phases(&[PhaseKind::Coding, PhaseKind::Coding]);
    let mut walk = Walk::begin(two);
    walk.works().red().works().green().lands();
    assert_eq!(walk.mission.landed().len(), 1);
    assert_eq!(walk.used(Account::PhaseFailures), 0);
    let first = walk.mission.landed()[0].clone();
    assert_eq!(walk.order().start, first.commit);
    // No commit of the new lane is there yet.
    assert_eq!(walk.mission.lane().head.commits, Some(0));
    walk.works().green().lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
    // A lane that lands again is there once.
    walk.answers(Verb::Reject).works().green().lands();
    assert_eq!(walk.mission.landed().len(), 2);
    assert_eq!(walk.mission.landed()[0], first);
    assert_eq!(walk.mission.landed()[1].tree, walk.mission.lane().head.tree);
    walk.answers(Verb::Approve).ships(ShipOutcome::Done {
        place: short("refs/heads/backstop/m-1"),
    });
    let place = short("refs/heads/backstop/m-1");
    assert_eq!(
        walk.mission.position(),
        &Position::Ended(Ended::Shipped(place))
    );
    assert_eq!(
        walk.refusal(Fact::Resumed { by: operator() }),
        Refusal::Ended
    );
}

#[test]
fn work_whose_head_could_not_be_read_is_not_judged_by_an_older_one() {
    let mut walk = Walk::begin(defaults());
    walk.works().red();
    let mut end = walk.end(Status::Success);
    end.head = None;
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.gate().reasons, [Reason::Ended(StatusKind::Unknown)]);
    assert!(walk.because.contains(&Rule::EvidenceOutranksClaim));
}

#[test]
fn evidence_outranks_what_the_agent_says() {
    let mut idle = Walk::begin(defaults());
    idle.ends(Status::Success);
    let no_work = Status::Failed {
        cause: FailCause::NoWork,
    };
    assert_eq!(idle.mission.lane().last, Some(no_work));
    let mut walk = Walk::begin(defaults());
    walk.works().red();
    let mut end = walk.end(Status::Success);
    end.protected = vec![short("backstop.toml")];
    walk.take(Fact::AttemptEnded(Box::new(end)));
    let protected = Status::Failed {
        cause: FailCause::ProtectedPath,
    };
    assert_eq!(walk.mission.lane().last, Some(protected));
    assert_eq!(walk.gate().kind, GateKind::Review);

    let mut blank = Walk::begin(Opening::default().scout());
    let mut end = blank.end(Status::Success);
    end.artifact = ArtifactSeen::Blank;
    blank.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(blank.gate().reasons, [Reason::Ended(StatusKind::Failed)]);
}

#[test]
fn an_attempt_after_a_failed_one_is_not_told_that_it_goes_on() {
    let mut walk = Walk::begin(defaults());
    walk.ends(cut()).ends(Status::Unknown).answers(Verb::Retry);
    let order = walk.order();
    assert_eq!(order.session, None);
    assert!(
        !order
            .briefs
            .iter()
            .any(|brief| matches!(brief, Brief::TakenUp(_)))
    );
}

fn looked(walk: &Walk, verdicts: &[CheckVerdict], point: PointVerdict) -> Fact {
    let checks = &walk.mission.charter().fields().checks;
    Fact::PreflightRan(PreflightRan {
        effect: walk.last().0,
        points: vec![backstop_engine::Point {
            name: short("git"),
            verdict: point,
        }],
        base_checks: check_results(checks, verdicts),
    })
}

#[test]
fn a_red_base_is_told_to_the_agent_and_gates_only_where_it_must_be_green() {
    let red = [CheckVerdict::Failed { exit: 1 }];
    let held = || PointVerdict::Held(short("there"));
    let mut shown = Walk::open(Opening::default());
    let ran = looked(&shown, &red, held());
    shown.take(ran);
    assert!(
        shown
            .order()
            .briefs
            .iter()
            .any(|brief| matches!(brief, Brief::RedBase(_)))
    );

    let mut required = Walk::open(Opening::default().green_base(GreenBase::Required));
    let ran = looked(&required, &red, held());
    required.take(ran);
    assert_eq!(required.gate().kind, GateKind::Preflight);
    required.answers(Verb::Retry);
    let ran = looked(&required, &[], held());
    required.take(ran);
    assert_eq!(
        required
            .order()
            .briefs
            .iter()
            .filter(|b| matches!(b, Brief::RedBase(_)))
            .count(),
        0
    );
}

#[test]
fn time_never_runs_backwards() {
    let mut walk = Walk::begin(defaults());
    let now = walk.mission.now();
    let end = walk.end(Status::Unknown);
    walk.take_at(
        backstop_engine::vocab::Timestamp::from_millis(1),
        Fact::AttemptEnded(Box::new(end)),
    );
    assert_eq!(walk.mission.now(), now);
}

#[test]
fn auto_becomes_supervise_and_never_comes_back() {
    let mut walk = Walk::begin(defaults());
    walk.take(Fact::Supervised { by: operator() })
        .works()
        .green();
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::Supervised)]);
    assert_eq!(
        walk.refusal(Fact::Supervised { by: operator() }),
        Refusal::AlreadySupervised
    );
}

#[test]
fn what_is_noted_of_an_attempt_is_of_one_that_runs() {
    let mut walk = Walk::begin(defaults());
    walk.works();
    let checks = walk.last().0;
    let started = |effect| {
        let process = ProcessRef { pid: 7, started: 1 };
        Fact::AttemptStarted(AttemptStarted { effect, process })
    };
    let opened = |effect| {
        let session = short("s-1");
        Fact::SessionOpened(SessionOpened { effect, session })
    };
    let wrong = Refusal::WrongAnswer(checks);
    assert_eq!(walk.refusal(started(checks)), wrong);
    assert_eq!(walk.refusal(opened(checks)), wrong);
    let late = walk.mission.lane().clone();
    walk.green();
    let over = Refusal::NotOutstanding(checks);
    assert_eq!(walk.refusal(started(checks)), over);
    assert_eq!(walk.refusal(opened(checks)), over);
    assert_eq!(walk.mission.lane().session, late.session);
}

#[test]
fn a_cost_that_nobody_reports_is_assumed_and_told_apart() {
    let mut walk = Walk::begin(defaults());
    let mut end = walk.end(Status::Unknown);
    end.usage.cost = Cost::Reported(7);
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.mission.assumed_cost(), 0);
    for assumed in [1, 2] {
        walk.answers(Verb::Retry);
        let mut end = walk.end(Status::Unknown);
        end.usage.cost = Cost::Unreported;
        walk.take(Fact::AttemptEnded(Box::new(end)));
        assert_eq!(walk.mission.assumed_cost(), assumed);
        assert_eq!(walk.used(Account::Cost), 7 + assumed);
    }
}

#[test]
fn the_time_of_the_host_checks_is_spent() {
    let mut walk = Walk::open(defaults());
    let slow = |walk: &Walk| {
        let mut results = check_results(&walk.mission.charter().fields().checks, &[]);
        for result in &mut results {
            result.active_ms = 5;
        }
        results
    };
    let (effect, base_checks) = (walk.last().0, slow(&walk));
    let point = backstop_engine::Point {
        name: short("git"),
        verdict: PointVerdict::Held(short("there")),
    };
    walk.take(Fact::PreflightRan(PreflightRan {
        effect,
        points: vec![point],
        base_checks,
    }));
    assert_eq!(walk.used(Account::ActiveTime), 10);
    walk.works();
    let (effect, results) = (walk.last().0, slow(&walk));
    let tree = walk.mission.lane().head.tree;
    walk.take(Fact::ChecksRan(ChecksRan {
        effect,
        tree,
        results,
    }));
    assert_eq!(walk.used(Account::ActiveTime), 20);
}

#[test]
fn a_preflight_that_fails_after_a_stop_is_done_again_and_charged_to_nobody() {
    let mut walk = Walk::open(defaults());
    walk.stop().preflight(PointVerdict::Failed(short("no git")));
    assert!(matches!(
        walk.mission.position(),
        Position::Parked(ParkCause::Stopped, ParkedAt::Work(_))
    ));
    assert_eq!(walk.used(Account::Preflight), 0);
    walk.resume();
    assert_eq!(walk.last().1, Effect::Preflight);
}

#[test]
fn a_retry_at_code_is_another_attempt_of_the_same_visit() {
    let mut walk = Walk::begin(defaults());
    walk.ends(Status::Unknown).answers(Verb::Retry);
    let order = walk.order();
    assert_eq!((order.visit.number(), order.attempt.number()), (1, 2));
}

#[test]
fn what_a_visit_was_told_is_not_told_to_the_next_role() {
    let mut walk = Walk::begin(Opening::default().reviewer());
    walk.works().red();
    let told = walk.order().briefs;
    assert!(matches!(told[..], [Brief::RedChecks(_)]), "{told:?}");
    walk.works().green();
    assert_eq!(walk.order().briefs, []);
}

#[test]
fn a_fault_from_outside_waits_before_the_same_work_goes_on() {
    let mut walk = Walk::begin(defaults());
    walk.ends(Status::Interrupted {
        by: Interruption::Network,
    });
    assert!(walk.because.contains(&Rule::Waits(WaitCause::FaultBackoff)));
    assert!(walk.mission.deadline() > Some(walk.mission.now()));
}

#[test]
fn a_landing_that_fails_is_a_fault_and_is_tried_again() {
    let mut walk = Walk::begin(defaults());
    walk.works().green();
    let (effect, landing) = walk.last();
    walk.take(Fact::LandFailed {
        effect,
        cause: short("the disk is full"),
    });
    assert_eq!(walk.gate().reasons, [Reason::LandFailed]);
    assert_eq!(walk.used(Account::InfraTotal), 1);
    walk.answers(Verb::Retry);
    assert_eq!(walk.last().1, landing);
}

#[test]
fn release_notes_are_kept_and_who_cannot_be_paid_leaves_none() {
    let mut walk = Walk::begin(Opening::default().release_lead());
    walk.works().green().lands().ends(Status::Success);
    assert_eq!(walk.gate().kind, GateKind::Ship);
    assert!(!walk.because.contains(&Rule::NoReleaseNotes));
    let artifacts = &walk.mission.lane().artifacts;
    assert!(artifacts.contains_key(&backstop_engine::Role::ReleaseLead));

    let mut walk = Walk::begin(Opening::default().release_lead());
    for _ in 1..walk.mission.meter().ceiling(Account::Attempts) {
        walk.ends(Status::Unknown).answers(Verb::Retry);
    }
    walk.works().green().lands();
    assert_eq!(walk.gate().kind, GateKind::Ship);
    assert!(walk.because.contains(&Rule::NoReleaseNotes));
    assert!(walk.because.contains(&Rule::Exhausted(Account::Attempts)));
}

#[test]
fn a_ceiling_is_lowered_and_not_raised() {
    let mut walk = Walk::begin(defaults());
    let ceiling = |walk: &Walk| walk.mission.meter().ceiling(Account::Attempts);
    let before = ceiling(&walk);
    let tightened = |ceiling| Fact::Tightened {
        account: Account::Attempts,
        ceiling,
        by: operator(),
    };
    let higher = walk.refusal(tightened(before + 1));
    assert!(matches!(higher, Refusal::Ceiling(_)), "{higher}");
    walk.take(tightened(before - 1));
    assert_eq!(ceiling(&walk), before - 1);
}

#[test]
fn waits_that_begin_together_do_not_end_together() {
    let deadline = |seed| {
        let mut draft: backstop_engine::CharterDraft = defaults().charter().into();
        draft.settings.seed = seed;
        let opened = backstop_engine::Mission::open(draft.try_into().unwrap());
        let mut walk = Walk {
            mission: opened.mission,
            facts: Vec::new(),
            because: opened.because,
        };
        walk.preflight(PointVerdict::Held(short("there")));
        walk.ends(Status::RateLimited { until: None });
        walk.mission.deadline().unwrap()
    };
    let deadlines: std::collections::BTreeSet<_> = (0..20).map(deadline).collect();
    assert!(deadlines.len() > 15, "{deadlines:?}");
    assert_eq!(deadline(3), deadline(3));
}
