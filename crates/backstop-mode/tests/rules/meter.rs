//! Charging before the act, and the one predicate.

use backstop_mode::{Account, CeilingFault, Ceilings, Exhausted, Meter};
use proptest::prelude::*;

use Account::{ActiveTime, Attempts, Cost, Infra, InfraTotal, QuotaWaits, Streak};

#[test]
fn a_new_meter_has_everything_left() {
    let meter = Meter::new(Ceilings::DEFAULT);
    for account in Account::ALL {
        assert_eq!(meter.used(account), 0);
        assert_eq!(meter.total(account), 0);
        assert_eq!(meter.grants(account), 0);
        assert_eq!(meter.ceiling(account), account.default_ceiling());
        assert_eq!(meter.remaining(account), account.default_ceiling());
        assert!(!meter.exhausted(account));
    }
    assert_eq!(meter.exhausted_accounts().count(), 0);
    assert_eq!(*meter.ceilings(), Ceilings::DEFAULT);
}

#[test]
fn every_account_takes_exactly_its_ceiling() {
    for account in Account::ALL {
        let meter = Meter::with_used(
            Ceilings::DEFAULT,
            &[(account, account.default_ceiling() - 1)],
        );
        assert!(!meter.exhausted(account), "{account}");
        assert_eq!(meter.remaining(account), 1);
        let (full, paid) = meter.charge(account, 1).unwrap();
        assert_eq!(paid.account(), account);
        assert!(full.exhausted(account), "{account}");
        assert!(full.exhausted_accounts().eq([account]));
        let ceiling = account.default_ceiling();
        let refused = Exhausted {
            account,
            used: ceiling,
            ceiling,
        };
        assert_eq!(full.charge(account, 1).err(), Some(refused));
    }
}

#[test]
fn a_charge_may_overshoot_once_and_then_nothing_is_left() {
    let meter = Meter::with_used(Ceilings::DEFAULT, &[(Cost, 24_000_000)]);
    let (over, _paid) = meter.charge(Cost, 5_000_000).unwrap();
    assert_eq!(over.used(Cost), 29_000_000);
    assert_eq!(over.remaining(Cost), 0);
    assert!(over.charge(Cost, 1).is_err());
}

#[test]
fn there_is_no_free_proof() {
    let (meter, _paid) = Meter::new(Ceilings::DEFAULT).charge(Attempts, 0).unwrap();
    assert_eq!(meter.used(Attempts), 1);
}

#[test]
fn a_launch_is_resumed_on_what_settles_faults_and_waits_while_any_is_left() {
    for account in Account::ALL {
        let new = Meter::new(Ceilings::DEFAULT);
        let settles = [Infra, InfraTotal, QuotaWaits].contains(&account);
        let paid = new.resume(account).ok();
        let wanted = settles.then_some(account);
        assert_eq!(paid.map(|paid| paid.account()), wanted);
        let ceiling = account.default_ceiling();
        let full = Meter::with_used(Ceilings::DEFAULT, &[(account, ceiling)]);
        let refused = Exhausted {
            account,
            used: ceiling,
            ceiling,
        };
        assert_eq!(full.resume(account).err(), Some(refused));
    }
}

#[test]
fn counters_stay_at_the_end_of_the_numbers() {
    let meter = Meter::new(Ceilings::DEFAULT);
    let (meter, _paid) = meter.charge(Attempts, u64::MAX).unwrap();
    assert_eq!(meter.total(Attempts), u64::MAX);
    assert!(meter.exhausted(Attempts));
    let summed = Meter::with_used(Ceilings::DEFAULT, &[(Streak, u64::MAX), (Streak, 1)]);
    assert_eq!(summed.used(Streak), u64::MAX);
}

#[test]
fn a_hosts_counters_named_twice_add_up() {
    let meter = Meter::with_used(Ceilings::DEFAULT, &[(Streak, 1), (Streak, 2)]);
    assert_eq!((meter.used(Streak), meter.total(Streak)), (3, 3));
    assert_eq!(
        Meter::with_used(Ceilings::DEFAULT, &[]),
        Meter::new(Ceilings::DEFAULT)
    );
}

#[test]
fn an_exhausted_account_says_what_is_spent_and_who_can_help() {
    let words = |account: Account, used| {
        let meter = Meter::with_used(Ceilings::DEFAULT, &[(account, used)]);
        meter.charge(account, 1).unwrap_err().to_string()
    };
    assert_eq!(
        words(Attempts, 60),
        "`attempts` is exhausted: 60 of 60 used; an operator can grant `attempts`"
    );
    assert_eq!(
        words(Cost, 26_500_000),
        "`cost` is exhausted: 26.50 USD of 25.00 USD used; an operator can grant `cost`"
    );
    assert_eq!(
        words(ActiveTime, 30_000_000),
        "`active_time` is exhausted: 8h 20m of 8h used; an operator can grant `active_time`"
    );
}

#[test]
fn tightened_below_what_is_spent_is_exhausted() {
    let meter = Meter::with_used(Ceilings::DEFAULT, &[(Attempts, 10)]);
    let tighter = meter.tighten(Attempts, 11).unwrap();
    assert!(!tighter.exhausted(Attempts));
    let tighter = tighter.tighten(Attempts, 9).unwrap();
    assert!(tighter.exhausted(Attempts));
    assert_eq!((tighter.used(Attempts), tighter.ceiling(Attempts)), (10, 9));
    assert_eq!(
        tighter.tighten(Attempts, 0),
        Err(CeilingFault::Zero { account: Attempts })
    );
    assert!(tighter.tighten(Attempts, 10).is_err());
}

#[test]
fn a_meter_is_written_row_by_row() {
    let meter = Meter::with_used(Ceilings::DEFAULT, &[(Streak, 2)]);
    let json = serde_json::to_value(&meter).unwrap();
    let row = json.pointer("/spent/streak");
    assert_eq!(
        row,
        Some(&serde_json::json!({"used": 2, "total": 2, "grants": 0}))
    );
    assert_eq!(json.pointer("/ceilings/opened/streak"), Some(&3.into()));
}

proptest! {
    #[test]
    fn a_charge_moves_its_own_account_and_no_other(
        account in prop::sample::select(Account::ALL.as_slice()),
        before in prop::collection::vec((prop::sample::select(Account::ALL.as_slice()), 0..70u64), 0..8),
        n in 1..5u64,
    ) {
        let meter = Meter::with_used(Ceilings::DEFAULT, &before);
        match meter.charge(account, n) {
            Ok((charged, _paid)) => for other in Account::ALL {
                let more = if other == account { n } else { 0 };
                prop_assert_eq!(charged.used(other), meter.used(other) + more);
            },
            Err(refused) => {
                prop_assert_eq!(refused.used, meter.used(account));
                prop_assert!(refused.used >= refused.ceiling);
            }
        }
    }
}
