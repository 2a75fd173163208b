//! What is accepted as ceilings, from a caller and from a file.

use backstop_mode::{Account, CeilingDraft, CeilingFault, Ceilings, Relation};
use proptest::prelude::*;

use Account::{Attempts, CheckpointResumes, Infra, InfraTotal, PhaseFailures, Streak};

fn faults(asked: &[(Account, u64)]) -> Vec<CeilingFault> {
    match Ceilings::new(asked) {
        Ok(_) => Vec::new(),
        Err(faults) => faults.as_slice().to_vec(),
    }
}

fn mismatch(relation: Relation, value: u64, bound: u64) -> CeilingFault {
    CeilingFault::Mismatch {
        relation,
        value,
        bound,
    }
}

#[test]
fn nothing_asked_for_is_the_defaults() {
    assert_eq!(Ceilings::new(&[]), Ok(Ceilings::DEFAULT));
    assert_eq!(Ceilings::default(), Ceilings::DEFAULT);
    for account in Account::ALL {
        assert_eq!(Ceilings::DEFAULT.of(account), account.default_ceiling());
        assert_eq!(Ceilings::DEFAULT.opened(account), account.default_ceiling());
    }
}

#[test]
fn what_is_asked_for_replaces_the_default_and_nothing_else() {
    let ceilings = Ceilings::new(&[(Streak, 2), (Account::Cost, 1)]).unwrap();
    for account in Account::ALL {
        let wanted = match account.name() {
            "streak" => 2,
            "cost" => 1,
            _ => account.default_ceiling(),
        };
        assert_eq!(ceilings.of(account), wanted, "{account}");
    }
}

#[test]
fn zero_is_refused_for_every_account() {
    for account in Account::ALL {
        assert!(
            faults(&[(account, 0)]).contains(&CeilingFault::Zero { account }),
            "{account}"
        );
    }
}

/// Ceilings that leave room for `account` to be as high as it may be.
fn room_for(account: Account) -> Vec<(Account, u64)> {
    [
        (Infra, 5),
        (InfraTotal, 20),
        (PhaseFailures, 50),
        (Attempts, 400),
    ]
    .into_iter()
    .filter(|(other, _)| *other != account)
    .chain([(account, account.hard_max())])
    .collect()
}

#[test]
fn every_account_may_be_at_its_hard_maximum_and_not_above() {
    for account in Account::ALL {
        let mut asked = room_for(account);
        assert_eq!(faults(&asked), [], "{account}");
        asked.retain(|(other, _)| *other != account);
        let over = account.hard_max() + 1;
        asked.push((account, over));
        let fault = CeilingFault::OverHardMax {
            account,
            asked: over,
        };
        assert!(faults(&asked).contains(&fault), "{account}");
    }
}

#[test]
fn the_phase_total_is_above_the_streak() {
    let wanted = mismatch(Relation::PhaseFailuresAboveStreak, 3, 4);
    assert_eq!(faults(&[(PhaseFailures, 3)]), [wanted]);
    assert_eq!(faults(&[(PhaseFailures, 4)]), []);
}

#[test]
fn resumed_questions_are_at_most_the_faults_in_a_row() {
    let wanted = mismatch(Relation::ResumesWithinInfra, 3, 2);
    assert_eq!(faults(&[(Infra, 2)]), [wanted]);
    assert_eq!(faults(&[(Infra, 3)]), []);
    assert_eq!(faults(&[(CheckpointResumes, 5)]), []);
}

#[test]
fn all_faults_are_at_least_the_faults_in_a_row() {
    let wanted = mismatch(Relation::InfraTotalCoversInfra, 4, 5);
    assert_eq!(faults(&[(InfraTotal, 4)]), [wanted]);
    assert_eq!(faults(&[(InfraTotal, 5)]), []);
}

#[test]
fn launches_cover_every_other_loop() {
    let wanted = mismatch(Relation::AttemptsCoverTheLoop, 47, 48);
    assert_eq!(faults(&[(Attempts, 47)]), [wanted]);
    assert_eq!(faults(&[(Attempts, 48)]), []);
    let wanted = mismatch(Relation::AttemptsCoverTheLoop, 60, 61);
    assert_eq!(faults(&[(InfraTotal, 28)]), [wanted]);
    let wanted = mismatch(Relation::AttemptsCoverTheLoop, 60, 63);
    assert_eq!(faults(&[(PhaseFailures, 15)]), [wanted]);
}

#[test]
fn all_faults_are_told_at_once() {
    let asked = [
        (Streak, 0),
        (Infra, 21),
        (Account::Cost, 1),
        (Account::Cost, 2),
    ];
    let wanted = [
        CeilingFault::Zero { account: Streak },
        CeilingFault::OverHardMax {
            account: Infra,
            asked: 21,
        },
        CeilingFault::Repeated {
            account: Account::Cost,
        },
        mismatch(Relation::InfraTotalCoversInfra, 15, 21),
    ];
    assert_eq!(faults(&asked), wanted);
    assert_eq!(
        wanted.map(|fault| fault.code()),
        [
            "zero_ceiling",
            "over_hard_max",
            "repeated_account",
            "mismatched_ceilings"
        ]
    );
}

#[test]
fn the_words_of_a_fault_say_what_to_do() {
    let words = |asked: &[(Account, u64)]| Ceilings::new(asked).unwrap_err().to_string();
    assert_eq!(
        words(&[(Streak, 0)]),
        "`0` is no ceiling for `streak`: it would be exhausted before anything ran; use 1 to 10"
    );
    assert_eq!(
        words(&[(Account::QuotaWaits, 201)]),
        "`201` is too high a ceiling for `quota_waits`: nothing is unlimited; use at most 200"
    );
    assert_eq!(
        words(&[(Account::Tokens, 5), (Account::Tokens, 5)]),
        "`tokens` is given more than one ceiling: name it once"
    );
    assert_eq!(
        words(&[(Attempts, 47), (PhaseFailures, 3)]),
        "`3` does not fit as the ceiling of `phase_failures`: `phase_failures` must be above `streak`; use at least 4"
    );
    assert_eq!(
        words(&[(Attempts, 47), (Infra, 2)]),
        "`3` does not fit as the ceiling of `checkpoint_resumes`: `checkpoint_resumes` must be at most `infra`; \
         use at most 2\n\
         `47` does not fit as the ceiling of `attempts`: `attempts` must be at least 3 + 3 × `phase_failures` + \
         `infra_total`; use at least 48"
    );
}

#[test]
fn tightening_only_lowers_and_never_to_zero() {
    let tighter = Ceilings::DEFAULT.tighten(Attempts, 2).unwrap();
    assert_eq!(tighter.of(Attempts), 2, "relations are not checked again");
    assert_eq!(tighter.opened(Attempts), 60);
    let not_tighter = |asked| CeilingFault::NotTighter {
        account: Attempts,
        asked,
        ceiling: 2,
    };
    assert_eq!(tighter.tighten(Attempts, 2), Err(not_tighter(2)));
    assert_eq!(tighter.tighten(Attempts, 60), Err(not_tighter(60)));
    assert_eq!(
        tighter.tighten(Attempts, 0),
        Err(CeilingFault::Zero { account: Attempts })
    );
    assert_eq!(tighter.tighten(Attempts, 1).unwrap().of(Attempts), 1);
    assert_eq!(not_tighter(2).code(), "not_tighter");
    assert_eq!(
        not_tighter(2).to_string(),
        "`2` does not tighten `attempts`, whose ceiling is 2: a running mission's ceilings only go down; use a lower \
         number, or grant the account once it is exhausted"
    );
}

#[test]
fn an_attempt_without_a_reported_cost_is_charged_its_share() {
    assert_eq!(Ceilings::DEFAULT.assumed_cost(), 416_666);
    let tighter = Ceilings::DEFAULT.tighten(Attempts, 1).unwrap();
    assert_eq!(
        tighter.assumed_cost(),
        416_666,
        "tightening does not change the share"
    );
    let tiny = Ceilings::new(&[(Account::Cost, 59)]).unwrap();
    assert_eq!(
        tiny.assumed_cost(),
        1,
        "a share of nothing would never bind"
    );
}

#[test]
fn ceilings_are_written_as_opened_and_tightened() {
    let json = serde_json::to_value(Ceilings::DEFAULT).unwrap();
    let opened = json.get("opened").and_then(|o| o.as_object()).unwrap();
    assert_eq!(opened.len(), 12);
    assert_eq!(
        opened.get("cost").and_then(serde_json::Value::as_u64),
        Some(25_000_000)
    );
    assert_eq!(json.get("tightened"), None);
    let tighter = Ceilings::DEFAULT.tighten(Streak, 1).unwrap();
    let json = serde_json::to_value(tighter).unwrap();
    assert_eq!(
        json.get("tightened"),
        Some(&serde_json::json!({"streak": 1}))
    );
}

#[test]
fn a_forged_file_meets_the_same_checks() {
    let refused = [
        (
            r#"{"opened":{"streak":0}}"#,
            "`0` is no ceiling for `streak`",
        ),
        (
            r#"{"opened":{"streak":11,"phase_failures":12}}"#,
            "use at most 10",
        ),
        (
            r#"{"opened":{"phase_failures":3}}"#,
            "must be above `streak`",
        ),
        (
            r#"{"opened":{},"tightened":{"streak":3}}"#,
            "does not tighten `streak`",
        ),
        (
            r#"{"opened":{},"tightened":{"streak":9}}"#,
            "does not tighten `streak`",
        ),
        (
            r#"{"opened":{},"tightened":{"streak":0}}"#,
            "`0` is no ceiling",
        ),
        (r#"{"opened":{"streaks":3}}"#, "unknown variant `streaks`"),
        (
            r#"{"opened":{"streak":3,"streak":2}}"#,
            "`streak` is given more than one ceiling",
        ),
        (r#"{"opened":{"streak":null}}"#, "expected u64"),
        (r#"{"opened":{"streak":2.5}}"#, "expected u64"),
        (r#"{"opened":{"streak":-1}}"#, "expected u64"),
        (r#"{"opened":{"streak":"unlimited"}}"#, "expected u64"),
        (
            r#"{"opened":[3]}"#,
            "expected a map from account to ceiling",
        ),
        (r#"{"opened":{},"raised":{}}"#, "unknown field `raised`"),
        ("{}", "missing field `opened`"),
    ];
    for (json, words) in refused {
        let error = serde_json::from_str::<Ceilings>(json).unwrap_err();
        assert!(error.to_string().contains(words), "{json}: {error}");
    }
}

#[test]
fn every_fault_of_a_tightened_file_is_told() {
    let json = r#"{"opened":{},"tightened":{"streak":0,"infra":9}}"#;
    let words = serde_json::from_str::<Ceilings>(json)
        .unwrap_err()
        .to_string();
    assert!(
        words.contains("`streak`") && words.contains("`infra`"),
        "{words}"
    );
}

#[test]
fn a_draft_is_checked_when_it_becomes_ceilings() {
    let draft: CeilingDraft = serde_json::from_str(r#"{"cost":1000000,"streak":2}"#).unwrap();
    let wanted = [(Streak, 2), (Account::Cost, 1_000_000)];
    assert!(draft.iter().eq(wanted));
    assert_eq!(Ceilings::try_from(draft), Ceilings::new(&wanted));
    assert_eq!(
        serde_json::to_string(&draft).unwrap(),
        r#"{"streak":2,"cost":1000000}"#
    );
    let zero: CeilingDraft = serde_json::from_str(r#"{"streak":0}"#).unwrap();
    assert!(Ceilings::try_from(zero).is_err());
    for bad in [
        r#"{"speed":1}"#,
        r#"{"streak":null}"#,
        r#"{"streak":1,"streak":2}"#,
        "[1]",
    ] {
        assert!(serde_json::from_str::<CeilingDraft>(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_relation_names_the_account_it_bounds() {
    let accounts = Relation::ALL.map(Relation::account);
    assert_eq!(
        accounts,
        [PhaseFailures, CheckpointResumes, InfraTotal, Attempts]
    );
    for relation in Relation::ALL {
        assert!(
            relation
                .words()
                .starts_with(&format!("`{}`", relation.account()))
        );
        assert!(relation.holds(&Ceilings::DEFAULT));
    }
}

fn any_asked() -> impl Strategy<Value = Vec<(Account, u64)>> {
    let account = prop::sample::select(Account::ALL.as_slice());
    let n = prop_oneof![0..12u64, 0..700u64, any::<u64>()];
    prop::collection::vec((account, n), 0..6)
}

proptest! {
    #[test]
    fn accepted_ceilings_are_finite_related_and_read_back(
        asked in any_asked(),
        tighter in any_asked(),
    ) {
        if let Ok(ceilings) = Ceilings::new(&asked) {
            for account in Account::ALL {
                prop_assert!((1..=account.hard_max()).contains(&ceilings.of(account)));
            }
            let of = |a| ceilings.of(a);
            prop_assert!(of(PhaseFailures) > of(Streak));
            prop_assert!(of(CheckpointResumes) <= of(Infra));
            prop_assert!(of(InfraTotal) >= of(Infra));
            prop_assert!(of(Attempts) >= 3 + 3 * of(PhaseFailures) + of(InfraTotal));
            let step = |c: Ceilings, (a, n): &(Account, u64)| c.tighten(*a, *n).unwrap_or(c);
            let tightened = tighter.iter().fold(ceilings, step);
            for account in Account::ALL {
                prop_assert!((1..=of(account)).contains(&tightened.of(account)));
            }
            let json = serde_json::to_string(&tightened).unwrap();
            prop_assert_eq!(serde_json::from_str::<Ceilings>(&json).unwrap(), tightened);
        }
    }
}
