//! The page of accounts: what each counts, how far it goes, and which facts move it.

use backstop_engine::mode::{
    Account, Ceilings, MAX_GRANTS, Meter, Progress, Relation, Settlement, Spend,
};

use super::{Page, code, list, table, wire};

/// The accounts, what charges and clears them, and what holds between their ceilings.
pub(super) fn page() -> Page {
    let head = [
        "account",
        "scope",
        "family",
        "default",
        "hard maximum",
        "unit",
        "gate when exhausted",
    ];
    let accounts = table(&head, Account::ALL.map(account));
    let facts = table(
        &["fact", "adds to", "back to zero"],
        FACTS.map(|fact| {
            let (added, cleared) = moved(&fact);
            vec![code(name(&fact)), list(added), list(cleared)]
        }),
    );
    let relations = table(
        &["relation", "at the defaults"],
        Relation::ALL.map(|relation| {
            let value = Ceilings::DEFAULT.of(relation.account());
            let bound = relation.bound(&Ceilings::DEFAULT);
            vec![
                relation.words().to_owned(),
                format!("{value}, bound {bound}"),
            ]
        }),
    );
    Page {
        path: "accounts.md",
        body: format!(
            "# Accounts\n\n{accounts}\nAn operator refills an account at most {MAX_GRANTS} times in its scope, each time by its own ceiling.\n\n\
             ## What moves them\n\nA launch that is not an automatic resume is charged to `attempts`, a resumed question also to \
             `checkpoint_resumes`; both before the act. [A move between stages](streak.md) clears more.\n\n{facts}\n\
             ## What holds between ceilings when a mission opens\n\n{relations}"
        ),
    }
}

fn account(account: Account) -> Vec<String> {
    vec![
        code(account),
        wire(&account.scope()),
        wire(&account.family()),
        account.amount(account.default_ceiling()).to_string(),
        account.amount(account.hard_max()).to_string(),
        account.unit().to_owned(),
        wire(&account.gate()),
    ]
}

const FACTS: [Settlement; 11] = [
    Settlement::Faulted,
    Settlement::AttemptEndedWithoutFault,
    Settlement::QuotaWaited,
    Settlement::RepairsNeeded(Progress::Made),
    Settlement::RepairsNeeded(Progress::None),
    Settlement::ShipRejected,
    Settlement::PreflightFailed,
    Settlement::PreflightCleared,
    Settlement::Spent(Spend {
        tool_calls: 1,
        tokens: 1,
        cost_micro_usd: 1,
        active_ms: 1,
    }),
    Settlement::VisitOpened,
    Settlement::LaneOpened,
];

const fn name(fact: &Settlement) -> &'static str {
    match fact {
        Settlement::Faulted => "faulted",
        Settlement::AttemptEndedWithoutFault => "attempt_ended_without_fault",
        Settlement::QuotaWaited => "quota_waited",
        Settlement::RepairsNeeded(Progress::Made) => "repairs_needed, with progress",
        Settlement::RepairsNeeded(Progress::None) => "repairs_needed, without progress",
        Settlement::ShipRejected => "ship_rejected",
        Settlement::PreflightFailed => "preflight_failed",
        Settlement::PreflightCleared => "preflight_cleared",
        Settlement::Spent(_) => "spent",
        Settlement::Moved { .. } => "moved",
        Settlement::VisitOpened => "visit_opened",
        Settlement::LaneOpened => "lane_opened",
    }
}

/// The accounts that a fact adds to, and those that it takes back to zero. An account that is cleared and then
/// charged is in both.
pub(super) fn moved(fact: &Settlement) -> (Vec<Account>, Vec<Account>) {
    let before = Meter::with_used(Ceilings::DEFAULT, &Account::ALL.map(|account| (account, 7)));
    let after = before.settle(fact);
    let added = |account: &Account| after.total(*account) > before.total(*account);
    let cleared = |account: &Account| after.used(*account) < before.used(*account);
    let pick =
        |wanted: &dyn Fn(&Account) -> bool| Account::ALL.into_iter().filter(wanted).collect();
    (pick(&added), pick(&cleared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_shown_with_its_limits_as_a_person_reads_them() {
        let body = page().body;
        for row in [
            "| `streak` | lane | loop_guard | 3 | 10 | failed visits in a row | validate |\n",
            "| `cost` | mission | effort | 25.00 USD | 10000.00 USD | micro-USD | review |\n",
            "| `preflight` | mission | loop_guard | 3 | 10 | failed preflights in a row | preflight |\n",
            "| `faulted` | `infra`, `infra_total` | – |\n",
            "| `ship_rejected` | `phase_failures` | – |\n",
            "| `repairs_needed, with progress` | `streak`, `phase_failures` | `streak` |\n",
            "at least 3 + 3 × `phase_failures` + `infra_total` | 60, bound 48 |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
