//! The page of the review loop: which step fits which state, and how far a loop may go.

use backstop_engine::review::{Bounds, StateKind, StepKind, accepts};

use super::{Page, code, table};

/// State × step, and the bounds.
pub(super) fn page() -> Page {
    let names: Vec<String> = StepKind::ALL.iter().map(code).collect();
    let mut head = vec!["state"];
    head.extend(names.iter().map(String::as_str));
    let rows = StateKind::ALL.iter().map(|state| {
        let fits = |step: &StepKind| if accepts(*state, *step) { "yes" } else { "–" };
        let mut row = vec![code(state)];
        row.extend(StepKind::ALL.iter().map(|step| fits(step).to_owned()));
        row
    });
    let steps = table(&head, rows);
    let bounds = table(&["bound", "default", "hard cap"], bounds());
    Page {
        path: "review.md",
        body: format!("# Review and repair\n\n{steps}\n## Bounds\n\n{bounds}"),
    }
}

fn bounds() -> Vec<Vec<String>> {
    let own = Bounds::default();
    let row = |name: &str, default: String, most: String| vec![code(name), default, most];
    vec![
        row(
            "iterations",
            own.iterations().to_string(),
            Bounds::MOST_ITERATIONS.to_string(),
        ),
        row(
            "wall_clock_secs",
            own.wall_clock().as_secs().to_string(),
            Bounds::MOST_WALL_CLOCK_SECS.to_string(),
        ),
        row(
            "tool_calls",
            own.tool_calls().to_string(),
            Bounds::MOST_TOOL_CALLS.to_string(),
        ),
        row(
            "stalled_repairs",
            own.stalled_repairs().to_string(),
            Bounds::MOST_STALLED_REPAIRS.to_string(),
        ),
        row(
            "red checks before a review",
            Bounds::MOST_RED_CHECKS.to_string(),
            Bounds::MOST_RED_CHECKS.to_string(),
        ),
        row(
            "incomplete receipts of one slot",
            Bounds::MOST_INCOMPLETE.to_string(),
            Bounds::MOST_INCOMPLETE.to_string(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_takes_its_own_steps() {
        let body = page().body;
        for row in [
            "| state | `begin` | `record` | `abandon` | `record_repair` | `record_red` | `observe` | `ratify` |\n",
            "| `parked` | – | – | – | – | – | yes | yes |\n",
            "| `verified` | – | – | – | – | – | – | – |\n",
            "| `wall_clock_secs` | 900 | 604800 |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
