//! The table of accounts, row by row.

use backstop_mode::{Account, ExhaustedGate, Family, Scope};

use Account::{
    ActiveTime, Attempts, CheckpointResumes, Cost, Infra, InfraTotal, PhaseFailures, Preflight,
    QuotaWaits, Streak, Tokens, ToolCalls,
};
use Family::{Effort, LoopGuard, QuotaWait};
use Scope::{Lane, Mission, Visit};

type Row = (Account, &'static str, Scope, Family, u64, u64);

const TABLE: [Row; 12] = [
    (Streak, "streak", Lane, LoopGuard, 3, 10),
    (PhaseFailures, "phase_failures", Lane, LoopGuard, 10, 50),
    (Infra, "infra", Lane, LoopGuard, 5, 20),
    (InfraTotal, "infra_total", Lane, LoopGuard, 15, 60),
    (QuotaWaits, "quota_waits", Lane, QuotaWait, 24, 200),
    (Preflight, "preflight", Mission, LoopGuard, 3, 10),
    (
        CheckpointResumes,
        "checkpoint_resumes",
        Visit,
        LoopGuard,
        3,
        5,
    ),
    (Attempts, "attempts", Lane, LoopGuard, 60, 600),
    (ToolCalls, "tool_calls", Mission, Effort, 2_000, 100_000),
    (Tokens, "tokens", Mission, Effort, 20_000_000, 2_000_000_000),
    (Cost, "cost", Mission, Effort, 25_000_000, 10_000_000_000),
    (
        ActiveTime,
        "active_time",
        Mission,
        Effort,
        28_800_000,
        604_800_000,
    ),
];

#[test]
fn every_account_has_its_row() {
    assert_eq!(TABLE.map(|row| row.0), Account::ALL);
    for (account, name, scope, family, default, most) in TABLE {
        assert_eq!(account.name(), name);
        assert_eq!(account.to_string(), name);
        assert_eq!(account.scope(), scope, "{name}");
        assert_eq!(account.family(), family, "{name}");
        assert_eq!(account.default_ceiling(), default, "{name}");
        assert_eq!(account.hard_max(), most, "{name}");
    }
}

#[test]
fn exhaustion_opens_the_gate_of_the_table() {
    use ExhaustedGate::{Ceiling, Review, Validate};
    let gates = [
        Validate,
        Validate,
        Ceiling,
        Ceiling,
        Ceiling,
        ExhaustedGate::Preflight,
        Review,
        Ceiling,
        Review,
        Review,
        Review,
        Review,
    ];
    assert_eq!(Account::ALL.map(Account::gate), gates);
}

#[test]
fn an_account_is_read_and_written_by_its_name() {
    for account in Account::ALL {
        let name = account.name();
        assert_eq!(
            serde_json::to_string(&account).unwrap(),
            format!("{name:?}")
        );
        assert_eq!(format!(" {} ", name.to_uppercase()).parse(), Ok(account));
    }
    assert_eq!(
        serde_json::to_string(&[Lane, Mission, Visit]).unwrap(),
        r#"["lane","mission","visit"]"#
    );
    let families = serde_json::to_string(&[LoopGuard, QuotaWait, Effort]).unwrap();
    assert_eq!(families, r#"["loop_guard","quota_wait","effort"]"#);
}

#[test]
fn a_bad_account_shows_the_input_and_every_accepted_name() {
    let words = "budget".parse::<Account>().unwrap_err().to_string();
    let names = Account::ALL.map(Account::name).join(", ");
    assert_eq!(
        words,
        format!("`budget` is not a known account: use one of {names}")
    );
}

#[test]
fn amounts_read_as_a_person_counts_them() {
    let cases = [
        (Cost.amount(25_000_000), "25.00 USD"),
        (Cost.amount(1_239_999), "1.23 USD"),
        (Cost.amount(50_000), "0.05 USD"),
        (ActiveTime.amount(28_800_000), "8h"),
        (Attempts.amount(60), "60"),
        (Tokens.amount(20_000_000), "20000000"),
    ];
    for (amount, words) in cases {
        assert_eq!(amount.to_string(), words);
    }
}

#[test]
fn units_are_told() {
    assert_eq!(Cost.unit(), "micro-USD");
    assert_eq!(ActiveTime.unit(), "ms");
    assert_eq!(Attempts.unit(), "launches");
    assert!(
        Account::ALL
            .iter()
            .all(|account| !account.unit().is_empty())
    );
}
