//! `check-arrows`: the table of arrows in ARCHITECTURE.md against what cargo knows of our crates.
//!
//! Both ways: an arrow that is not in the table, and a row or an arrow that is not in the workspace.
//! Deliberately absent: external crates, which `deny` and `check-pure` judge.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::{Failure, Fault, none};
use crate::metadata::{Kind, Metadata, Package};
use crate::repo::Repo;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Arrows";
/// The one crate that tests may use beyond the arrows, and that nothing else may use.
const TESTKIT: &str = "backstop-testkit";

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Holds the table against the workspace.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    let page = repo.text(PAGE);
    let page = page.ok_or_else(|| Failure::unreadable(format!("`{PAGE}`"), "it is not there"))?;
    let metadata = Metadata::ask(&repo.root, "--locked")?;
    none(faults(page, &metadata))
}

/// What differs between the page and the workspace.
fn faults(page: &str, metadata: &Metadata) -> Vec<Fault> {
    let (table, mut faults) = parse(page);
    let actual = arrows(metadata);
    let none = BTreeSet::new();
    let crates: BTreeSet<&String> = table.keys().chain(actual.keys()).collect();
    for name in crates {
        match (table.get(name), actual.contains_key(name)) {
            (None, _) => faults.push(Fault::of(name, format!("add a row for `{name}` to {PAGE}"))),
            (Some(_), false) => faults.push(Fault::of(
                PAGE,
                format!("`{name}` is not a crate here: drop its row"),
            )),
            (Some(_), true) => {}
        }
        let drawn = table.get(name).unwrap_or(&none);
        let real = actual.get(name).unwrap_or(&none);
        faults.extend(real.difference(drawn).map(|to| undrawn(name, to)));
        faults.extend(drawn.difference(real).map(|to| unreal(name, to)));
    }
    faults.extend(
        metadata
            .ours()
            .flat_map(|package| testkit_faults(package, metadata, &table)),
    );
    faults
}

fn undrawn(from: &str, to: &str) -> Fault {
    let said = format!("depends on `{to}`, an arrow that is not in {PAGE}: remove the dependency");
    Fault::of(from, said)
}

fn unreal(from: &str, to: &str) -> Fault {
    let said = format!("`{from}` does not depend on `{to}`: drop the arrow");
    Fault::of(PAGE, said)
}

/// Dev-dependencies follow the arrows too, but for the testkit; other uses of the testkit are refused.
fn testkit_faults(package: &Package, metadata: &Metadata, table: &Arrows) -> Vec<Fault> {
    let from = &package.name;
    let drawn = |to: &str| table.get(from).is_some_and(|row| row.contains(to));
    let is_ours = |to: &str| metadata.ours().any(|ours| ours.name == to);
    let judge = |to: &str, kind| match kind {
        Some(Kind::Dev) if to != TESTKIT && to != from && is_ours(to) && !drawn(to) => {
            Some(format!(
                "tests with `{to}`, which is no arrow: only `{TESTKIT}` may be added for tests"
            ))
        }
        None | Some(Kind::Build) if to == TESTKIT => Some(format!(
            "depends on `{TESTKIT}`, which is for tests: make it a dev-dependency"
        )),
        None | Some(Kind::Build | Kind::Dev) => None,
    };
    let declared = package.dependencies.iter();
    let said = declared.filter_map(|used| judge(&used.name, used.kind));
    said.map(|said| Fault::of(from, said)).collect()
}

/// The arrows that cargo knows: normal and build dependencies, optional ones included.
fn arrows(metadata: &Metadata) -> Arrows {
    let names: BTreeSet<&str> = metadata
        .ours()
        .map(|package| package.name.as_str())
        .collect();
    let row = |package: &Package| {
        let used = package.dependencies.iter();
        let used =
            used.filter(|used| used.kind != Some(Kind::Dev) && names.contains(used.name.as_str()));
        (
            package.name.clone(),
            used.map(|used| used.name.clone()).collect(),
        )
    };
    metadata.ours().map(row).collect()
}

/// The table under the heading: in each cell, the names in backticks.
fn parse(page: &str) -> (Arrows, Vec<Fault>) {
    let mut table = Arrows::new();
    let mut faults = Vec::new();
    let numbered = (1..).zip(page.lines());
    let section = numbered
        .skip_while(|(_, line)| line.trim_end() != HEADING)
        .skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    for (number, line) in section.filter(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').collect();
        let [from, to] = cells.as_slice() else {
            faults.push(Fault::at(
                PAGE,
                number,
                "a row of the arrows has two cells: crate, depends on",
            ));
            continue;
        };
        for name in backticked(from) {
            let to = backticked(to).map(str::to_owned).collect();
            if table.insert(name.to_owned(), to).is_some() {
                faults.push(Fault::at(
                    PAGE,
                    number,
                    format!("`{name}` has a second row"),
                ));
            }
        }
    }
    if table.is_empty() {
        faults.push(Fault::of(
            PAGE,
            format!("there is no table of crates under `{HEADING}`"),
        ));
    }
    (table, faults)
}

fn backticked(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::planted::{table, workspace};

    const PAGE_OF_THREE: &str = "# Map\n\n## Arrows\n\nProse.\n\n| crate | depends on |\n|---|---|\n\
        | `vocab` | nothing of ours |\n| `mode` | `vocab` |\n| `backstop-testkit` | `mode` |\n\n## Next\n\n| `other` | `row` |\n";

    fn said(page: &str, crates: &[(&str, &str)]) -> Vec<String> {
        let faults = faults(page, &workspace(crates));
        faults.iter().map(Fault::to_string).collect()
    }

    #[test]
    fn a_workspace_that_follows_the_table_is_fine() {
        let mode =
            table("dependencies", &["vocab"]) + &table("dev-dependencies", &["backstop-testkit"]);
        let kit = table("dependencies", &["mode"]);
        let crates = [("vocab", ""), ("mode", &*mode), ("backstop-testkit", &*kit)];
        assert_eq!(said(PAGE_OF_THREE, &crates), [""; 0]);
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_refused_and_so_is_one_that_is_not_real() {
        let vocab = table("build-dependencies", &["mode"]);
        let kit = table("dependencies", &["mode"]);
        let crates = [
            ("vocab", &*vocab),
            ("mode", ""),
            ("backstop-testkit", &*kit),
        ];
        let wanted = [
            "ARCHITECTURE.md: `mode` does not depend on `vocab`: drop the arrow",
            "vocab: depends on `mode`, an arrow that is not in ARCHITECTURE.md: remove the dependency",
        ];
        assert_eq!(said(PAGE_OF_THREE, &crates), wanted);
    }

    #[test]
    fn every_crate_has_a_row_and_every_row_a_crate() {
        let mode = table("dependencies", &["vocab"]);
        let wanted = [
            "ARCHITECTURE.md: `backstop-testkit` is not a crate here: drop its row",
            "ARCHITECTURE.md: `backstop-testkit` does not depend on `mode`: drop the arrow",
            "extra: add a row for `extra` to ARCHITECTURE.md",
        ];
        assert_eq!(
            said(
                PAGE_OF_THREE,
                &[("vocab", ""), ("mode", &mode), ("extra", "")]
            ),
            wanted
        );
    }

    #[test]
    fn the_testkit_is_for_tests_alone_and_tests_follow_the_arrows() {
        let vocab = table("dependencies", &["backstop-testkit"]);
        let kit = table("dev-dependencies", &["mode"]);
        let page = PAGE_OF_THREE
            .replace("nothing of ours", "`backstop-testkit`")
            .replace(
                "| `backstop-testkit` | `mode` |",
                "| `backstop-testkit` | |",
            )
            .replace("| `mode` | `vocab` |", "| `mode` | |");
        let crates = [
            ("vocab", &*vocab),
            ("mode", ""),
            ("backstop-testkit", &*kit),
        ];
        let wanted = [
            "backstop-testkit: tests with `mode`, which is no arrow: only `backstop-testkit` may be added for tests",
            "vocab: depends on `backstop-testkit`, which is for tests: make it a dev-dependency",
        ];
        assert_eq!(said(&page, &crates), wanted);
    }

    #[test]
    fn a_page_without_a_readable_table_is_a_fault() {
        let (table, faults) = parse("## Arrows\n\n| `a` | `b` | `c` |\n");
        assert!(table.is_empty());
        assert_eq!(faults.len(), 2);
        let (_, faults) = parse("## Arrows\n| `a` | |\n| `a` | `b` |\n");
        assert_eq!(
            faults[0].to_string(),
            "ARCHITECTURE.md:3: `a` has a second row"
        );
    }
}
