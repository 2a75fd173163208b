//! Refills: who, how far, how often.

use backstop_mode::{Account, Ceilings, GrantRefused, MAX_GRANTS, Meter, Scope, Settlement};
use backstop_vocab::Stage;

use Account::{Attempts, CheckpointResumes, Cost, PhaseFailures, Streak};

fn granted(meter: &Meter, account: Account, times: u8) -> Result<Meter, GrantRefused> {
    let mut meter = meter.clone();
    for _ in 0..times {
        meter = meter.grant(&[account])?;
    }
    Ok(meter)
}

#[test]
fn a_grant_refills_an_account_by_its_own_ceiling() {
    for account in Account::ALL {
        let ceiling = account.default_ceiling();
        for (used, left) in [
            (ceiling, 0),
            (ceiling + 1, 1),
            (3 * ceiling, 2 * ceiling),
            (1, 0),
        ] {
            let meter = Meter::with_used(Ceilings::DEFAULT, &[(account, used)]);
            let meter = meter.grant(&[account]).unwrap();
            assert_eq!(meter.used(account), left, "{account}");
            assert_eq!(meter.total(account), used, "{account}");
            assert_eq!(meter.grants(account), 1, "{account}");
        }
    }
}

#[test]
fn a_grant_moves_no_account_that_it_does_not_name() {
    let used = Account::ALL.map(|account| (account, account.default_ceiling()));
    let full = Meter::with_used(Ceilings::DEFAULT, &used);
    let meter = full.grant(&[Attempts, Cost]).unwrap();
    for account in Account::ALL {
        let named = account == Attempts || account == Cost;
        assert_eq!(meter.exhausted(account), !named, "{account}");
        assert_eq!(meter.grants(account), u8::from(named), "{account}");
    }
}

#[test]
fn a_grant_refills_by_the_tightened_ceiling() {
    let meter = Meter::with_used(Ceilings::DEFAULT, &[(Attempts, 10)]);
    let meter = meter
        .tighten(Attempts, 4)
        .unwrap()
        .grant(&[Attempts])
        .unwrap();
    assert_eq!(meter.used(Attempts), 6);
    assert!(meter.exhausted(Attempts));
}

#[test]
fn the_fourth_grant_is_refused_for_every_account() {
    for account in Account::ALL {
        let meter = granted(&Meter::new(Ceilings::DEFAULT), account, MAX_GRANTS).unwrap();
        assert_eq!(meter.grants(account), 3);
        let refused = GrantRefused::Spent {
            accounts: vec![account],
        };
        assert_eq!(meter.grant(&[account]), Err(refused), "{account}");
    }
}

#[test]
fn a_grant_is_all_or_nothing_and_names_every_spent_account() {
    let meter = granted(&Meter::new(Ceilings::DEFAULT), PhaseFailures, 3).unwrap();
    let meter = granted(&meter, Streak, 3).unwrap();
    let refused = GrantRefused::Spent {
        accounts: vec![Streak, PhaseFailures],
    };
    assert_eq!(
        meter.grant(&[PhaseFailures, Attempts, Streak]),
        Err(refused)
    );
}

#[test]
fn an_empty_grant_and_a_double_one_are_refused() {
    let meter = Meter::new(Ceilings::DEFAULT);
    assert_eq!(meter.grant(&[]), Err(GrantRefused::Empty));
    let refused = GrantRefused::Repeated {
        accounts: vec![Streak, Cost],
    };
    assert_eq!(
        meter.grant(&[Cost, Streak, Cost, Streak, Attempts]),
        Err(refused)
    );
}

#[test]
fn the_words_of_a_refused_grant_say_what_to_do() {
    let spent = GrantRefused::Spent {
        accounts: vec![Streak, Cost],
    };
    assert_eq!(
        spent.to_string(),
        "`streak`, `cost` granted 3 times already, which is the most: abort, or start a new mission with a higher ceiling"
    );
    let repeated = GrantRefused::Repeated {
        accounts: vec![Cost],
    };
    assert_eq!(
        repeated.to_string(),
        "`cost` named more than once: a grant refills an account once"
    );
    assert_eq!(
        GrantRefused::Empty.to_string(),
        "a grant that names no account refills nothing: name the exhausted ones"
    );
}

#[test]
fn grants_are_counted_anew_only_in_a_new_scope() {
    let mut meter = Meter::new(Ceilings::DEFAULT);
    for account in Account::ALL {
        meter = granted(&meter, account, 3).unwrap();
    }
    let visit = meter.settle(&Settlement::VisitOpened);
    let moved = meter.settle(&Settlement::Moved {
        from: Stage::Plan,
        to: Stage::Code,
    });
    let lane = meter.settle(&Settlement::LaneOpened);
    for account in Account::ALL {
        let (of_visit, of_lane) = match account.scope() {
            Scope::Visit => (0, 0),
            Scope::Lane => (3, 0),
            Scope::Mission => (3, 3),
        };
        assert_eq!(visit.grants(account), of_visit, "{account}");
        assert_eq!(moved.grants(account), of_visit, "{account}");
        assert_eq!(lane.grants(account), of_lane, "{account}");
    }
    assert_eq!(visit.grants(CheckpointResumes), 0);
}
