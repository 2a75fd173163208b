//! The gates of a mission: which answers each offers and takes, and which gate opens where several are due.

use backstop_engine::gates::stopship;
use backstop_engine::mode::{Account, Mode, Reason as Policy};
use backstop_engine::outcome::{Status, StatusKind, UnavailableCause};
use backstop_engine::vocab::Digest;
use backstop_engine::{
    Answer, CheckVerdict, Cost, Effect, Fact, Funds, GateKind, OnQuestion, PointVerdict, Reason,
    Refusal, Role, Rule, ShipOutcome, Verb,
};
use backstop_testkit::{Opening, Walk, operator, short};

const ALL: [(GateKind, Funds, &[Verb]); 16] = {
    use Funds::{Exhausted, Left};
    use GateKind::{Ceiling, Held, Infra, Preflight, Review, Ship, ShipFailed, Validate};
    use Verb::{Abort, Approve, Grant, Reject, Retry};
    [
        (Preflight, Left, &[Approve, Retry, Abort]),
        (Preflight, Exhausted, &[Approve, Grant, Abort]),
        (Ceiling, Left, &[Grant, Abort]),
        (Ceiling, Exhausted, &[Grant, Abort]),
        (Infra, Left, &[Retry, Abort]),
        (Infra, Exhausted, &[Grant, Abort]),
        (Review, Left, &[Retry, Abort]),
        (Review, Exhausted, &[Grant, Abort]),
        (Held, Left, &[Approve, Reject, Retry, Abort]),
        (Held, Exhausted, &[Approve, Reject, Retry, Abort]),
        (Validate, Left, &[Approve, Reject, Retry, Abort]),
        (Validate, Exhausted, &[Approve, Reject, Retry, Grant, Abort]),
        (Ship, Left, &[Approve, Reject, Abort]),
        (Ship, Exhausted, &[Approve, Reject, Abort]),
        (ShipFailed, Left, &[Approve, Reject, Abort]),
        (ShipFailed, Exhausted, &[Approve, Reject, Abort]),
    ]
};

#[test]
fn every_gate_offers_the_answers_of_the_table_and_no_others() {
    for kind in GateKind::ALL {
        for funds in Funds::ALL {
            let row = ALL.iter().find(|(k, f, _)| (*k, *f) == (kind, funds));
            let mut wanted = row.unwrap().2.to_vec();
            let mut offers = kind.offers(funds).to_vec();
            wanted.sort();
            offers.sort();
            assert_eq!(offers, wanted, "{kind} {funds:?}");
        }
    }
}

#[test]
fn gates_answers_and_roles_have_one_name_everywhere() {
    fn named(shown: &impl ToString, written: &impl serde::Serialize, name: &str) {
        assert_eq!(shown.to_string(), name);
        assert_eq!(serde_json::to_value(written).unwrap(), name);
    }
    for kind in GateKind::ALL {
        named(&kind, &kind, kind.name());
    }
    for verb in Verb::ALL {
        named(&verb, &verb, verb.name());
        assert_eq!(verb.name().parse(), Ok(verb));
    }
    assert!("yes".parse::<Verb>().is_err());
    for role in Role::ALL {
        named(&role, &role, role.name());
    }
}

#[test]
fn a_refusal_names_every_account_that_a_grant_leaves_out() {
    let lacking = vec![Account::Attempts, Account::Cost];
    let said = Refusal::GrantFallsShort { lacking }.to_string();
    assert!(
        said.starts_with("the grant leaves `attempts`, `cost` exhausted"),
        "{said}"
    );
}

#[test]
fn only_an_approval_must_name_what_it_covers() {
    let mut walk = Walk::begin(Opening::default());
    walk.works().green().lands();
    let blind = |verb| Answer {
        digest: None,
        ..walk.answer(verb)
    };
    let refused = walk.refusal(Fact::Answered(blind(Verb::Approve)));
    assert!(matches!(refused, Refusal::DigestNeeded { .. }), "{refused}");
    let rejection = blind(Verb::Reject);
    walk.take(Fact::Answered(rejection));
    assert!(walk.mission.gate().is_none());
}

fn failed() -> PointVerdict {
    PointVerdict::Failed(short("no git: install it"))
}

fn unavailable() -> Status {
    Status::AgentUnavailable {
        cause: UnavailableCause::Auth,
    }
}

/// A mission at each gate.
fn at(kind: GateKind) -> Walk {
    let begin = || Walk::begin(Opening::default());
    let mut walk = match kind {
        GateKind::Preflight => Walk::open(Opening::default()),
        GateKind::Validate => Walk::begin(Opening::default().mode(Mode::Supervise)),
        GateKind::Held => {
            let gates = stopship();
            Walk::begin(
                Opening::default()
                    .scout()
                    .verifier()
                    .release_lead()
                    .gates(&gates),
            )
        }
        GateKind::Ceiling
        | GateKind::Infra
        | GateKind::Review
        | GateKind::Ship
        | GateKind::ShipFailed => begin(),
    };
    match kind {
        GateKind::Preflight => walk.preflight(failed()),
        GateKind::Ceiling => walk.ends(Status::Ambiguous).ends(Status::Ambiguous),
        GateKind::Infra => walk.ends(unavailable()),
        GateKind::Review => walk.ends(Status::Unknown),
        GateKind::Held => walk.ends(Status::Success),
        GateKind::Validate => walk.works().green(),
        GateKind::Ship => walk.works().green().lands(),
        GateKind::ShipFailed => {
            walk.works()
                .green()
                .lands()
                .answers(Verb::Approve)
                .ships(ShipOutcome::Failed {
                    cause: short("no room"),
                })
        }
    };
    assert_eq!(walk.gate().kind, kind);
    walk
}

#[test]
fn an_answer_that_is_not_offered_is_refused_and_the_offered_ones_are_named() {
    for kind in GateKind::ALL {
        let walk = at(kind);
        let offered = walk.gate().offers;
        for verb in Verb::ALL.into_iter().filter(|verb| !offered.contains(verb)) {
            let refusal = walk.refusal(Fact::Answered(walk.answer(verb)));
            let wanted = Refusal::NotOffered {
                kind,
                verb,
                offered: offered.clone(),
            };
            assert_eq!(refusal, wanted);
            assert!(
                offered
                    .iter()
                    .all(|v| refusal.to_string().contains(v.name()))
            );
        }
    }
}

#[test]
fn a_reject_and_an_override_need_words() {
    let mut overridden = Walk::begin(Opening::default().mode(Mode::Supervise));
    overridden.works().red();
    let cases = [
        (at(GateKind::Validate), Verb::Reject),
        (at(GateKind::Held), Verb::Reject),
        (at(GateKind::Ship), Verb::Reject),
        (at(GateKind::ShipFailed), Verb::Reject),
        (overridden.clone(), Verb::Approve),
    ];
    for (walk, verb) in cases {
        for note in [None, Some(short(" \n"))] {
            let answer = Answer {
                note,
                ..walk.answer(verb)
            };
            let refusal = walk.refusal(Fact::Answered(answer));
            assert_eq!(refusal, Refusal::NoteNeeded { verb });
        }
    }
}

#[test]
fn ratifying_waiving_shipping_retrying_and_aborting_need_no_words() {
    for kind in GateKind::ALL {
        let offers = at(kind).gate().offers;
        for verb in offers.into_iter().filter(|verb| *verb != Verb::Reject) {
            let mut walk = at(kind);
            let answer = Answer {
                note: None,
                ..walk.answer(verb)
            };
            walk.take(Fact::Answered(answer));
            assert!(
                walk.because.contains(&Rule::Answered(verb)),
                "{kind} {verb}"
            );
        }
    }
}

#[test]
fn an_approval_names_the_digest_it_covers_and_a_stale_one_is_refused() {
    for kind in [GateKind::Validate, GateKind::Ship, GateKind::ShipFailed] {
        let walk = at(kind);
        let gate = walk.gate();
        let asked = walk.mission.lane().head.tree;
        assert_eq!(gate.digest, Some(asked));
        let unnamed = Answer {
            digest: None,
            ..walk.answer(Verb::Approve)
        };
        let needed = Refusal::DigestNeeded {
            gate: gate.id.clone(),
            asked,
        };
        assert_eq!(walk.refusal(Fact::Answered(unnamed)), needed);
        let shown = Digest::of(b"what was shown before");
        for verb in gate.offers {
            let stale = Answer {
                digest: Some(shown),
                ..walk.answer(verb)
            };
            let wanted = Refusal::StaleDigest {
                gate: gate.id.clone(),
                asked,
                shown,
            };
            assert_eq!(walk.refusal(Fact::Answered(stale)), wanted, "{kind} {verb}");
        }
    }
}

#[test]
fn a_second_answer_and_an_answer_to_another_gate_are_refused() {
    let mut walk = at(GateKind::Review);
    let answer = walk.answer(Verb::Retry);
    walk.take(Fact::Answered(answer.clone()));
    let taken = Refusal::AlreadyAnswered {
        gate: answer.gate.clone(),
        by: operator(),
        verb: Verb::Retry,
    };
    assert_eq!(walk.refusal(Fact::Answered(answer.clone())), taken);
    walk.ends(Status::Unknown);
    assert_ne!(walk.gate().id, answer.gate);
    assert_eq!(walk.refusal(Fact::Answered(answer.clone())), taken);
    let other = Answer {
        gate: "gate-99".parse().unwrap(),
        ..answer
    };
    let refusal = walk.refusal(Fact::Answered(other.clone()));
    assert!(matches!(refusal, Refusal::OtherGate { .. }));
    walk.answers(Verb::Retry);
    assert_eq!(walk.refusal(Fact::Answered(other)), Refusal::NoGate);
}

#[test]
fn of_several_reasons_the_first_gate_opens_and_all_are_shown() {
    // Out of faults in a row, and the agent cannot run.
    let mut walk = Walk::begin(Opening::default());
    walk.ends(Status::Ambiguous).ends(unavailable());
    assert_eq!(walk.gate().kind, GateKind::Ceiling);
    let shown = [
        Reason::Exhausted(Account::Infra),
        Reason::Ended(StatusKind::AgentUnavailable),
    ];
    assert_eq!(walk.gate().reasons, shown);

    // The agent cannot run, and the calls are spent.
    let mut walk = Walk::begin(Opening::default());
    let mut end = walk.end(unavailable());
    end.usage.tool_calls = 2_000;
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.gate().kind, GateKind::Infra);
    let shown = [
        Reason::Ended(StatusKind::AgentUnavailable),
        Reason::Exhausted(Account::ToolCalls),
    ];
    assert_eq!(walk.gate().reasons, shown);
    assert_eq!(walk.gate().offers, [Verb::Grant, Verb::Abort]);

    // In auto, a phase total and a streak at once.
    let mut walk = Walk::begin(Opening::default());
    walk.works().red().works().red().works().red();
    assert_eq!(walk.gate().kind, GateKind::Validate);
    assert_eq!(walk.gate().reasons, [Reason::Policy(Policy::PhaseCeiling)]);
    walk.answers(Verb::Retry).red();
    let shown = [Policy::PhaseCeiling, Policy::StreakCeiling].map(Reason::Policy);
    assert_eq!(walk.gate().reasons, shown);
}

#[test]
fn one_gate_asks_for_every_account_that_a_launch_lacks() {
    let mut walk = Walk::begin(Opening::default());
    let mut end = walk.end(Status::OverBudget {
        account: Account::Tokens,
    });
    end.usage = backstop_engine::Usage {
        tool_calls: 2_000,
        tokens: 20_000_000,
        cost: Cost::Reported(25_000_000),
        active_ms: 1,
    };
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.gate().kind, GateKind::Review);
    let spent = [Account::ToolCalls, Account::Tokens, Account::Cost];
    assert_eq!(walk.gate().exhausted().collect::<Vec<_>>(), spent);
    walk.answers(Verb::Grant);
    assert!(matches!(walk.last().1, Effect::Launch(_)));
}

#[test]
fn the_last_launch_and_an_empty_purse_are_a_ceiling_gate_with_both_shown() {
    let mut walk = Walk::begin(Opening::default());
    for _ in 1..15 {
        walk.ends(Status::Unknown).answers(Verb::Retry);
    }
    assert_eq!(walk.used(Account::Attempts), 15);
    let mut end = walk.end(Status::Unknown);
    end.usage.tool_calls = 2_000;
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert_eq!(walk.gate().kind, GateKind::Ceiling);
    let shown = [
        Reason::Exhausted(Account::Attempts),
        Reason::Exhausted(Account::ToolCalls),
        Reason::Ended(StatusKind::Unknown),
    ];
    assert_eq!(walk.gate().reasons, shown);
    walk.answers(Verb::Grant);
    assert_eq!(walk.used(Account::Attempts), 1);
    assert!(matches!(walk.last().1, Effect::Launch(_)));
}

#[test]
fn a_launch_that_cannot_be_paid_names_the_account() {
    let mut walk = Walk::begin(Opening::default());
    let mut end = walk.end(Status::Interrupted {
        by: backstop_engine::outcome::Interruption::RunnerDied,
    });
    end.usage.active_ms = 8 * 60 * 60 * 1_000;
    walk.take(Fact::AttemptEnded(Box::new(end)));
    assert!(walk.because.contains(&Rule::Exhausted(Account::ActiveTime)));
    assert_eq!(walk.gate().kind, GateKind::Review);
}

#[test]
fn a_grant_that_leaves_out_what_the_gate_is_about_is_refused() {
    let walk = at(GateKind::Ceiling);
    let lacking: Vec<Account> = walk.gate().exhausted().collect();
    assert!(!lacking.is_empty());
    let answer = Answer {
        accounts: vec![Account::Streak],
        ..walk.answer(Verb::Grant)
    };
    let refusal = walk.refusal(Fact::Answered(answer));
    assert_eq!(refusal, Refusal::GrantFallsShort { lacking });
}

#[test]
fn a_grant_goes_on_and_the_fourth_is_refused() {
    let mut walk = Walk::begin(Opening::default());
    for _ in 0..3 {
        walk.ends(Status::Ambiguous).ends(Status::Ambiguous);
        assert_eq!(walk.gate().kind, GateKind::Ceiling);
        let grant = Answer {
            accounts: vec![Account::Infra, Account::InfraTotal],
            ..walk.answer(Verb::Grant)
        };
        walk.take(Fact::Answered(grant));
        assert_eq!(walk.used(Account::Infra), 0);
        assert!(matches!(walk.last().1, Effect::Launch(_)));
    }
    walk.ends(Status::Ambiguous).ends(Status::Ambiguous);
    let before = walk.mission.clone();
    let refusal = walk.refusal(Fact::Answered(walk.answer(Verb::Grant)));
    assert!(matches!(refusal, Refusal::Grant(_)), "{refusal}");
    assert_eq!(walk.mission, before);
    walk.answers(Verb::Abort);
}

#[test]
fn a_granted_validate_gate_refills_and_goes_back_to_code() {
    let mut walk = Walk::begin(Opening::default());
    walk.works().red().works().red().works().red();
    walk.answers(Verb::Grant);
    assert_eq!(walk.used(Account::PhaseFailures), 0);
    assert_eq!(walk.order().visit.number(), 4);
}

#[test]
fn a_waived_preflight_goes_on_and_a_checked_again_one_counts() {
    let mut walk = at(GateKind::Preflight);
    walk.answers(Verb::Retry).preflight(failed());
    assert_eq!(walk.used(Account::Preflight), 2);
    assert_eq!(
        walk.gate().offers,
        [Verb::Grant, Verb::Approve, Verb::Abort]
    );
    walk.answers(Verb::Approve);
    assert_eq!(walk.used(Account::Preflight), 0);
    assert_eq!(walk.mission.answers().last().unwrap().2, Verb::Approve);
    assert!(matches!(walk.last().1, Effect::Launch(_)));
}

#[test]
fn a_question_is_resumed_as_often_as_its_ceiling_says_and_then_asked_of_a_person() {
    let asked = || Status::Asked {
        question: short("which one?"),
    };
    let mut walk = Walk::begin(Opening::default());
    walk.ends(asked());
    assert_eq!(walk.gate().reasons, [Reason::Ended(StatusKind::Asked)]);

    let mut walk = Walk::begin(Opening::default().on_question(OnQuestion::Decide));
    walk.ends(asked());
    assert_eq!(
        (
            walk.used(Account::CheckpointResumes),
            walk.used(Account::Attempts)
        ),
        (1, 2)
    );
    walk.ends(asked());
    assert_eq!(walk.gate().kind, GateKind::Review);
    assert!(
        walk.gate()
            .reasons
            .contains(&Reason::Exhausted(Account::CheckpointResumes))
    );
    assert_eq!(walk.used(Account::Attempts), 2);
}

#[test]
fn a_check_that_cannot_run_is_tried_again_until_its_ceiling_opens() {
    let not_run = [CheckVerdict::NotRun {
        cause: short("no shell"),
    }];
    let mut walk = Walk::begin(Opening::default());
    walk.works().checks(&not_run);
    assert_eq!(
        (walk.used(Account::Infra), walk.used(Account::PhaseFailures)),
        (1, 0)
    );
    walk.due().checks(&not_run);
    assert_eq!(walk.gate().kind, GateKind::Ceiling);
    let shown = [Reason::Exhausted(Account::Infra), Reason::CheckNotRun];
    assert_eq!(walk.gate().reasons, shown);
}
