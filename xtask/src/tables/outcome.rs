//! The page of statuses: what policy makes of each, and how long an automatic resume waits.

use backstop_engine::outcome::{
    Decision, QUOTA_FLOOR, QUOTA_HORIZON, StatusKind, Wait, decide, fault_wait, quota_wait,
};
use backstop_engine::vocab::{Stage, Timestamp};

use super::{Page, code, list, table};

/// Status × stage, with the stages of one decision together; then the waits.
pub(super) fn page() -> Page {
    let rows = StatusKind::ALL.iter().flat_map(|status| rows(*status));
    let statuses = table(&["status", "at", "action", "rule", "why"], rows);
    let waits = table(
        &["n", "limit without a known reset", "fault from outside"],
        (1..=7).map(wait),
    );
    Page {
        path: "outcome.md",
        body: format!(
            "# What becomes of an attempt\n\n{statuses}\n## How long the n-th automatic resume in a row waits\n\n\
             Up to a tenth longer, so that missions do not wake together. A limit whose reset is known is waited out to \
             that moment, at least {QUOTA_FLOOR} unless the operator set less; a reset more than {QUOTA_HORIZON} away is a \
             person's to decide.\n\n{waits}"
        ),
    }
}

fn rows(status: StatusKind) -> Vec<Vec<String>> {
    let mut groups: Vec<(Decision, Vec<Stage>)> = Vec::new();
    for stage in Stage::ALL {
        let decision = decide(stage, status);
        match groups.iter_mut().find(|(known, _)| *known == decision) {
            Some((_, stages)) => stages.push(stage),
            None => groups.push((decision, vec![stage])),
        }
    }
    let row = |(decision, stages): (Decision, Vec<Stage>)| {
        let at = if stages == Stage::ALL {
            "every stage".to_owned()
        } else {
            list(stages)
        };
        let Decision { action, rule } = decision;
        let why = rule.why().to_owned();
        vec![code(status), at, code(action), code(rule), why]
    };
    groups.into_iter().map(row).collect()
}

fn wait(n: u64) -> Vec<String> {
    let now = Timestamp::from_millis(0);
    let limit = match quota_wait(None, now, n - 1, 0, QUOTA_FLOOR) {
        Wait::Until(moment) | Wait::TooFar(moment) => moment.since(now).to_string(),
    };
    let fault = fault_wait(n, now, 0).since(now).to_string();
    vec![n.to_string(), limit, fault]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_decision_and_silence_is_never_resumed() {
        let body = page().body;
        for row in [
            "| `success` | `define`, `plan`, `code`, `ship` | `advance` | `success_advances` |",
            "| `success` | `validate` | `advance` | `verdict_decides` |",
            "| `idle_timeout` | every stage | `gate_review` | `silence_needs_review` |",
            "| `rate_limited` | every stage | `auto_resume` | `limit_is_waited_out` |",
            "| 1 | 1m | 1m |\n",
            "| 3 | 4m | 20m |\n",
            "| 6 | 30m | 1h |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
