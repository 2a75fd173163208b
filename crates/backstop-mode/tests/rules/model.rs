//! The meter against a second, counts-only telling of the table of accounts.

use std::collections::BTreeMap;

use backstop_mode::{Account, Ceilings, Meter, Progress, Settlement, Spend};
use backstop_vocab::Stage;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Charge(Account, u64),
    Settle(Settlement),
    Tighten(Account, u64),
    Grant(Vec<Account>),
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    ceiling: u64,
    used: u64,
    total: u64,
    grants: u64,
}

/// Counters by name, with the rules as the table of the policy lists them.
struct Model(BTreeMap<&'static str, Count>);

const LANE: [&str; 6] = [
    "streak",
    "phase_failures",
    "infra",
    "infra_total",
    "quota_waits",
    "attempts",
];

impl Model {
    fn new() -> Self {
        let defaults = [
            ("streak", 3),
            ("phase_failures", 10),
            ("infra", 5),
            ("infra_total", 15),
            ("quota_waits", 24),
            ("preflight", 3),
            ("checkpoint_resumes", 3),
            ("attempts", 60),
            ("tool_calls", 2_000),
            ("tokens", 20_000_000),
            ("cost", 25_000_000),
            ("active_time", 28_800_000),
        ];
        let row = |(name, ceiling)| {
            let count = Count {
                ceiling,
                ..Count::default()
            };
            (name, count)
        };
        Self(defaults.map(row).into())
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Count)) {
        if let Some(count) = self.0.get_mut(name) {
            change(count);
        }
    }

    fn add(&mut self, name: &str, n: u64) {
        self.change(name, |count| {
            count.used += n;
            count.total += n;
        });
    }

    fn zero(&mut self, name: &str) {
        self.change(name, |count| count.used = 0);
    }

    fn anew(&mut self, name: &str) {
        self.change(name, |count| (count.used, count.grants) = (0, 0));
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Charge(account, n) => self.charge(account.name(), *n),
            Step::Settle(fact) => self.settle(*fact),
            Step::Tighten(account, n) => self.change(account.name(), |count| {
                if *n > 0 && *n < count.ceiling {
                    count.ceiling = *n;
                }
            }),
            Step::Grant(accounts) => self.grant(accounts),
        }
    }

    fn charge(&mut self, name: &str, n: u64) {
        if self
            .0
            .get(name)
            .is_some_and(|count| count.used < count.ceiling)
        {
            self.add(name, n);
        }
    }

    fn grant(&mut self, accounts: &[Account]) {
        let mut unique = accounts.to_vec();
        unique.sort();
        unique.dedup();
        let spent = |a: &Account| self.0.get(a.name()).is_some_and(|count| count.grants == 3);
        if unique.len() != accounts.len() || accounts.iter().any(spent) {
            return;
        }
        for account in accounts {
            self.change(account.name(), |count| {
                count.used = count.used.saturating_sub(count.ceiling);
                count.grants += 1;
            });
        }
    }

    fn settle(&mut self, fact: Settlement) {
        match fact {
            Settlement::Faulted => {
                self.add("infra", 1);
                self.add("infra_total", 1);
            }
            Settlement::AttemptEndedWithoutFault => self.zero("infra"),
            Settlement::QuotaWaited => self.add("quota_waits", 1),
            Settlement::RepairsNeeded(progress) => {
                if progress == Progress::Made {
                    self.zero("streak");
                }
                self.add("streak", 1);
                self.add("phase_failures", 1);
            }
            Settlement::ShipRejected => self.add("phase_failures", 1),
            Settlement::PreflightFailed => self.add("preflight", 1),
            Settlement::PreflightCleared => self.zero("preflight"),
            Settlement::Spent(spend) => {
                self.add("tool_calls", spend.tool_calls);
                self.add("tokens", spend.tokens);
                self.add("cost", spend.cost_micro_usd);
                self.add("active_time", spend.active_ms);
            }
            Settlement::Moved { from, to } => self.moved(from, to),
            Settlement::VisitOpened => self.anew("checkpoint_resumes"),
            Settlement::LaneOpened => {
                for name in LANE {
                    self.anew(name);
                }
                self.anew("checkpoint_resumes");
            }
        }
    }

    fn moved(&mut self, from: Stage, to: Stage) {
        self.anew("checkpoint_resumes");
        if from != to {
            self.zero("infra");
        }
        if from < to {
            self.zero("quota_waits");
            if to != Stage::Validate || from != Stage::Code {
                self.zero("streak");
            }
        }
    }
}

/// The meter after the step, and whether it was taken.
fn take(meter: &Meter, step: &Step) -> (Meter, bool) {
    let next = match step {
        Step::Charge(account, n) => meter.charge(*account, *n).ok().map(|(next, _paid)| next),
        Step::Settle(fact) => Some(meter.settle(fact)),
        Step::Tighten(account, n) => meter.tighten(*account, *n).ok(),
        Step::Grant(accounts) => meter.grant(accounts).ok(),
    };
    let taken = next.is_some();
    (next.unwrap_or_else(|| meter.clone()), taken)
}

fn any_account() -> impl Strategy<Value = Account> {
    prop::sample::select(Account::ALL.as_slice())
}

fn any_stage() -> impl Strategy<Value = Stage> {
    prop::sample::select(Stage::ALL.as_slice())
}

fn any_fact() -> impl Strategy<Value = Settlement> {
    let spend = (0..900u64, 0..9_000_000u64, 0..9_000_000u64, 0..9_000_000u64);
    prop_oneof![
        3 => Just(Settlement::Faulted),
        1 => Just(Settlement::AttemptEndedWithoutFault),
        2 => Just(Settlement::QuotaWaited),
        2 => Just(Settlement::RepairsNeeded(Progress::Made)),
        3 => Just(Settlement::RepairsNeeded(Progress::None)),
        1 => Just(Settlement::ShipRejected),
        2 => Just(Settlement::PreflightFailed),
        1 => Just(Settlement::PreflightCleared),
        1 => Just(Settlement::VisitOpened),
        1 => Just(Settlement::LaneOpened),
        3 => (any_stage(), any_stage()).prop_map(|(from, to)| Settlement::Moved { from, to }),
        3 => spend.prop_map(|(tool_calls, tokens, cost_micro_usd, active_ms)| {
            Settlement::Spent(Spend { tool_calls, tokens, cost_micro_usd, active_ms })
        }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (any_account(), 1..4u64).prop_map(|(account, n)| Step::Charge(account, n)),
        6 => any_fact().prop_map(Step::Settle),
        1 => (any_account(), 0..70u64).prop_map(|(account, n)| Step::Tighten(account, n)),
        2 => prop::collection::vec(any_account(), 1..4).prop_map(Step::Grant),
    ]
}

proptest! {
    #[test]
    fn the_meter_counts_as_the_table_says(steps in prop::collection::vec(any_step(), 0..120)) {
        let (mut meter, mut model) = (Meter::new(Ceilings::DEFAULT), Model::new());
        for step in &steps {
            let (next, taken) = take(&meter, step);
            model.step(step);
            for account in Account::ALL {
                let count = model.0.get(account.name()).copied().unwrap_or_default();
                prop_assert_eq!(next.used(account), count.used, "used {} after {:?}", account, step);
                prop_assert_eq!(next.total(account), count.total, "total {} after {:?}", account, step);
                prop_assert_eq!(u64::from(next.grants(account)), count.grants, "grants {}", account);
                prop_assert_eq!(next.ceiling(account), count.ceiling, "ceiling {}", account);
                prop_assert_eq!(next.exhausted(account), count.used >= count.ceiling);
            }
            prop_assert!(taken || next == meter, "a refusal changes nothing: {:?}", step);
            meter = next;
        }
    }

    #[test]
    fn totals_never_go_down_and_hold_what_is_used(
        steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut meter = Meter::new(Ceilings::DEFAULT);
        for step in &steps {
            let (next, _) = take(&meter, step);
            for account in Account::ALL {
                prop_assert!(next.total(account) >= meter.total(account));
                prop_assert!(next.used(account) <= next.total(account));
                prop_assert!(next.ceiling(account) <= meter.ceiling(account));
                prop_assert!(next.grants(account) <= 3);
            }
            meter = next;
        }
    }

    #[test]
    fn infra_and_quota_never_move_the_loop_and_the_loop_never_moves_them(
        faults in 0..30u64, waits in 0..30u64, failures in 0..12u64,
    ) {
        let mut meter = Meter::new(Ceilings::DEFAULT);
        let facts = [
            (Settlement::Faulted, faults),
            (Settlement::QuotaWaited, waits),
            (Settlement::RepairsNeeded(Progress::None), failures),
        ];
        for (fact, times) in facts {
            for _ in 0..times {
                meter = meter.settle(&fact);
            }
        }
        prop_assert_eq!(meter.used(Account::Infra), faults);
        prop_assert_eq!(meter.used(Account::InfraTotal), faults);
        prop_assert_eq!(meter.used(Account::QuotaWaits), waits);
        prop_assert_eq!(meter.used(Account::Streak), failures);
        prop_assert_eq!(meter.used(Account::PhaseFailures), failures);
        prop_assert_eq!(meter.used(Account::Attempts), 0);
    }
}
