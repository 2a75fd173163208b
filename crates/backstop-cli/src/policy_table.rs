//! `policy table`: the policy as Markdown tables, made from the constants that decide.

use std::fmt::{Display, Write as _};

use backstop_engine::mode::{
    Account, Ceilings, Meter, Mode, Reason, gate_reasons, should_auto_loop,
};
use backstop_engine::outcome::{self, StatusKind};
use backstop_engine::vocab::Stage;
use backstop_engine::{Funds, GateKind, Role};
use backstop_runner::words;

use crate::fault::{Fault, Status};
use crate::out;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Table {
    /// The stages, and who works in each
    Stages,
    /// What is counted, and where each ceiling is
    Accounts,
    /// What is made of an attempt: status by stage
    Outcome,
    /// When a stage stops for a person
    Gating,
    /// Which answers each gate takes
    Gates,
}

const ALL: [Table; 5] = [
    Table::Stages,
    Table::Accounts,
    Table::Outcome,
    Table::Gating,
    Table::Gates,
];

/// Prints one table, or all.
pub(crate) fn table(wanted: Option<Table>) -> Result<Status, Fault> {
    let tables: Vec<String> = match wanted {
        Some(one) => vec![page(one)],
        None => ALL.into_iter().map(page).collect(),
    };
    out::say(&tables.join("\n"))
}

fn page(table: Table) -> String {
    match table {
        Table::Stages => stages(),
        Table::Accounts => accounts(),
        Table::Outcome => outcome(),
        Table::Gating => gating(),
        Table::Gates => gates(),
    }
}

/// A section with a Markdown table.
fn section(title: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = format!("## {title}\n\n| {} |\n", head.join(" | "));
    let _ = writeln!(text, "|{}", " --- |".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn code(name: impl Display) -> String {
    format!("`{name}`")
}

/// The name on the wire.
fn wire(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    let name = name.as_ref().and_then(serde_json::Value::as_str);
    name.unwrap_or_default().replace('_', " ")
}

fn stages() -> String {
    let row = |stage: Stage| {
        let role = Role::ALL.into_iter().find(|role| role.stage() == stage);
        let next = stage.next().map_or_else(|| "the end".into(), code);
        vec![
            code(stage),
            role.map_or_else(|| "the host".into(), code),
            next,
        ]
    };
    section(
        "Stages",
        &["stage", "who works", "then"],
        Stage::ALL.map(row),
    )
}

fn accounts() -> String {
    let row = |account: Account| {
        vec![
            code(account),
            account.unit().to_owned(),
            wire(&account.family()),
            wire(&account.scope()),
            account.amount(account.default_ceiling()).to_string(),
            account.amount(account.hard_max()).to_string(),
            wire(&account.gate()),
        ]
    };
    section(
        "Accounts",
        &[
            "account", "counts", "family", "per", "ceiling", "at most", "gate",
        ],
        Account::ALL.map(row),
    )
}

fn outcome() -> String {
    let cell = |status: StatusKind| {
        move |stage: Stage| {
            let decision = outcome::decide(stage, status);
            format!("{} ({})", decision.action, decision.rule)
        }
    };
    let row = |status: &StatusKind| {
        let cells = Stage::ALL.into_iter().map(cell(*status));
        std::iter::once(code(status)).chain(cells).collect()
    };
    let head = std::iter::once("status").chain(Stage::ALL.iter().map(|stage| stage.name()));
    section(
        "Outcome: what is made of an attempt that ended so",
        &head.collect::<Vec<_>>(),
        StatusKind::ALL.iter().map(row),
    )
}

/// The reasons for which a stage stops, under meters on which they hold.
fn gating() -> String {
    let red = [
        (Account::Streak, Ceilings::DEFAULT.of(Account::Streak)),
        (
            Account::PhaseFailures,
            Ceilings::DEFAULT.of(Account::PhaseFailures),
        ),
    ];
    let [streak, phase] = red;
    let meters: [(&str, &[(Account, u64)]); 4] = [
        ("nothing", &[]),
        ("`streak`", &[streak]),
        ("`phase_failures`", &[phase]),
        ("both", &[streak, phase]),
    ];
    let mut rows = Vec::new();
    for stage in [Stage::Validate, Stage::Ship] {
        for mode in [Mode::Auto, Mode::Supervise] {
            for (exhausted, used) in meters {
                let meter = Meter::with_used(Ceilings::DEFAULT, used);
                let reasons = gate_reasons(mode, stage, &meter);
                let reasons: Vec<String> = reasons.iter().map(|r| code(Reason::name(r))).collect();
                let without = if should_auto_loop(mode, stage) {
                    "loops back"
                } else {
                    "advances"
                };
                let says = if reasons.is_empty() {
                    without.into()
                } else {
                    reasons.join(", ")
                };
                rows.push(vec![code(stage), code(mode), exhausted.to_owned(), says]);
            }
        }
    }
    section(
        "Gating: when a failed Validate, or Ship, stops for a person (other stages never do)",
        &["stage", "mode", "exhausted", "stops because"],
        rows,
    )
}

fn gates() -> String {
    let mut rows = Vec::new();
    for kind in GateKind::ALL {
        for funds in Funds::ALL {
            let verbs = kind.offers(funds).iter();
            let offers = verbs.map(|verb| format!("{}: {}", code(verb), words::offer(kind, *verb)));
            let funds = match funds {
                Funds::Left => "no",
                Funds::Exhausted => "yes",
            };
            let offers: Vec<String> = offers.collect();
            rows.push(vec![code(kind), funds.to_owned(), offers.join("; ")]);
        }
    }
    section(
        "Gates: the answers that each takes",
        &["gate", "an account is exhausted", "answers"],
        rows,
    )
}
