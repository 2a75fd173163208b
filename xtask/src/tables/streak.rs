//! The page of moves between stages: which of them end a streak, and what else they clear.

use backstop_engine::mode::{Account, Settlement, transition_resets_streak};
use backstop_engine::vocab::Stage;

use super::{Page, accounts, code, list, table};

/// Every stage to every other.
pub(super) fn page() -> Page {
    let pairs = Stage::ALL
        .into_iter()
        .flat_map(|from| Stage::ALL.map(|to| (from, to)));
    let rows = table(
        &["from", "to", "ends the streak", "also back to zero"],
        pairs.map(|(from, to)| row(from, to)),
    );
    Page {
        path: "streak.md",
        body: format!("# What a move between stages clears\n\n{rows}"),
    }
}

fn row(from: Stage, to: Stage) -> Vec<String> {
    let (_, cleared) = accounts::moved(&Settlement::Moved { from, to });
    let others = cleared
        .into_iter()
        .filter(|account| *account != Account::Streak);
    let resets = if transition_resets_streak(from, to) {
        "yes"
    } else {
        "no"
    };
    vec![code(from), code(to), resets.to_owned(), list(others)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streak_outlives_the_loop_and_ends_with_every_other_way_forward() {
        let body = page().body;
        for row in [
            "| `plan` | `code` | yes | `infra`, `quota_waits`, `checkpoint_resumes` |\n",
            "| `code` | `validate` | no | `infra`, `quota_waits`, `checkpoint_resumes` |\n",
            "| `validate` | `code` | no | `infra`, `checkpoint_resumes` |\n",
            "| `validate` | `validate` | no | `checkpoint_resumes` |\n",
            "| `validate` | `ship` | yes | `infra`, `quota_waits`, `checkpoint_resumes` |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
