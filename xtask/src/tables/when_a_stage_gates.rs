//! The page of gates by mode and ceiling, and of what follows a judged Validate.

use backstop_engine::mode::{
    Account, Ceilings, Meter, Mode, Next, Verdict, after_validate, gate_reasons, should_auto_loop,
};
use backstop_engine::vocab::Stage;

use super::{Page, code, list, table, wire};

/// The accounts that a stage looks at, in every combination of exhausted ones.
const EXHAUSTED: [&[Account]; 4] = [
    &[],
    &[Account::Streak],
    &[Account::PhaseFailures],
    &[Account::Streak, Account::PhaseFailures],
];

/// Mode × stage × exhausted accounts, then mode × verdict × exhausted accounts.
pub(super) fn page() -> Page {
    let mut gates = Vec::new();
    let mut after = Vec::new();
    for mode in Mode::ALL {
        for stage in Stage::ALL {
            gates.extend(EXHAUSTED.map(|accounts| gate(mode, stage, accounts)));
        }
        for verdict in [Verdict::Clean, Verdict::RepairsNeeded] {
            after.extend(EXHAUSTED.map(|accounts| next(mode, verdict, accounts)));
        }
    }
    let gates = table(
        &[
            "mode",
            "stage",
            "exhausted",
            "gates because of",
            "auto-loop",
        ],
        gates,
    );
    let after = table(&["mode", "verdict", "exhausted", "next"], after);
    Page {
        path: "when-a-stage-gates.md",
        body: format!(
            "# When a stage gates\n\nA gate outranks an auto-loop.\n\n{gates}\n## After Validate\n\n{after}"
        ),
    }
}

fn meter(exhausted: &[Account]) -> Meter {
    let used: Vec<(Account, u64)> = exhausted
        .iter()
        .map(|account| (*account, account.default_ceiling()))
        .collect();
    Meter::with_used(Ceilings::DEFAULT, &used)
}

fn gate(mode: Mode, stage: Stage, exhausted: &[Account]) -> Vec<String> {
    let reasons = gate_reasons(mode, stage, &meter(exhausted));
    let loops = if should_auto_loop(mode, stage) {
        "yes"
    } else {
        "no"
    };
    vec![
        code(mode),
        code(stage),
        list(exhausted),
        list(reasons.iter()),
        loops.to_owned(),
    ]
}

fn next(mode: Mode, verdict: Verdict, exhausted: &[Account]) -> Vec<String> {
    let next = match after_validate(mode, verdict, &meter(exhausted)) {
        Next::Advance => code("advance"),
        Next::LoopBack => code("loop_back"),
        Next::Gate(reasons) => format!("{}: {}", code("gate"), list(reasons.iter())),
    };
    vec![code(mode), code(wire(&verdict)), list(exhausted), next]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_that_ended_well_wakes_nobody_and_a_spent_phase_total_always_does() {
        let body = page().body;
        for row in [
            "| `auto` | `ship` | – | `ship_always` | no |\n",
            "| `auto` | `validate` | `streak` | `streak_ceiling` | yes |\n",
            "| `supervise` | `validate` | `streak` | `supervised` | no |\n",
            "| `auto` | `code` | `streak`, `phase_failures` | – | no |\n",
            "| `auto` | `clean` | `streak` | `advance` |\n",
            "| `auto` | `clean` | `phase_failures` | `gate`: `phase_ceiling` |\n",
            "| `auto` | `repairs_needed` | – | `loop_back` |\n",
            "| `supervise` | `clean` | – | `gate`: `supervised` |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
