//! `policy table`: the tables that decide, as `cargo xtask tables` makes them from the constants and functions of the
//! policy crates and as the check holds them.

use crate::fault::{Fault, Status};
use crate::out;

/// Every page, by its name.
const PAGES: [(&str, &str); 13] = [
    ("accounts", include_str!("../../../docs/tables/accounts.md")),
    ("evidence", include_str!("../../../docs/tables/evidence.md")),
    (
        "gate-states",
        include_str!("../../../docs/tables/gate-states.md"),
    ),
    (
        "gates-answers",
        include_str!("../../../docs/tables/gates-answers.md"),
    ),
    ("outcome", include_str!("../../../docs/tables/outcome.md")),
    (
        "plan-keys",
        include_str!("../../../docs/tables/plan-keys.md"),
    ),
    (
        "plan-refusals",
        include_str!("../../../docs/tables/plan-refusals.md"),
    ),
    ("resets", include_str!("../../../docs/tables/resets.md")),
    ("review", include_str!("../../../docs/tables/review.md")),
    ("stages", include_str!("../../../docs/tables/stages.md")),
    ("streak", include_str!("../../../docs/tables/streak.md")),
    ("verdicts", include_str!("../../../docs/tables/verdicts.md")),
    (
        "when-a-stage-gates",
        include_str!("../../../docs/tables/when-a-stage-gates.md"),
    ),
];

/// The names of all tables, for the command line.
pub(crate) fn names() -> [&'static str; PAGES.len()] {
    PAGES.map(|(name, _)| name)
}

/// Prints one table, or all.
pub(crate) fn table(wanted: Option<&str>) -> Result<Status, Fault> {
    let asked = PAGES
        .iter()
        .filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
    let pages: Vec<&str> = asked.map(|(_, page)| body(page)).collect();
    out::say(&pages.join("\n"))
}

/// A page without the note for those who would edit it.
fn body(page: &str) -> &str {
    page.split_once("-->\n\n").map_or(page, |(_, body)| body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generated_page_can_be_printed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        found.sort();
        assert_eq!(found, names());
    }

    #[test]
    fn what_is_printed_begins_with_its_title() {
        for (name, page) in PAGES {
            assert!(body(page).starts_with("# "), "{name}");
        }
    }
}
