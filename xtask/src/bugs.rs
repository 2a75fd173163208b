//! `bugs`: deliberate bugs, put one at a time into a copy of the sources. The simulation must find each of them, and the
//! search those that break a law of the engine.
//!
//! A bug is a patch with a sentence on top; where the search must find it, the test that must fail is named below. The copy
//! has a target folder of its own: cargo takes crates of two workspaces for the same where they lie in the same places, and
//! would build the next program of the workspace with a bug in it.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::failure::{Failure, Fault, none};
use crate::out::say;
use crate::program::{Line, cargo};
use crate::repo::{File, Repo};

/// Where the bugs are.
const BUGS: &str = "crates/backstop-testkit/bugs/";

/// Those of them that the search must find.
const LAWS: &str = "crates/backstop-testkit/bugs/laws/";

/// The seeds that each bug has to show itself in.
const SEEDS: &str = "1000";

/// Tries every bug, also where one is not found.
pub(crate) fn check(repo: &Repo, out: &mut dyn Write) -> Result<(), Failure> {
    let copy = repo.root.join("target/bugs");
    fs::create_dir_all(&copy).map_err(|error| Failure::file(&copy, error))?;
    // A repository of its own, so that patches are taken from its root.
    Line::new("git", "init --quiet").run(&copy)?;
    let mut faults = Vec::new();
    for bug in bugs(repo) {
        refresh(repo, &copy)?;
        let patch = Line::new("git", "apply").with(repo.root.join(&bug.path).to_string_lossy());
        patch.run(&copy)?;
        let found = if bug.path.starts_with(LAWS) {
            searched(&copy, bug)?
        } else {
            simulated(&copy)?
        };
        match found {
            Ok(words) => say(out, &format!("{}: {words}", bug.path)),
            Err(words) => faults.push(Fault::of(&bug.path, words)),
        }
    }
    refresh(repo, &copy)?;
    none(faults)
}

fn bugs(repo: &Repo) -> impl Iterator<Item = &File> {
    let files = repo.files.iter();
    files.filter(|file| file.path.starts_with(BUGS) && file.ends("patch"))
}

/// Makes the copy like the sources. What is alike stays untouched, so that it is not built again.
fn refresh(repo: &Repo, copy: &Path) -> Result<(), Failure> {
    for path in &repo.paths {
        let (from, to) = (repo.root.join(path), copy.join(path));
        let bytes = fs::read(&from).map_err(|error| Failure::file(&from, error))?;
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
        fs::write(&to, bytes).map_err(|error| Failure::file(&to, error))?;
    }
    Ok(())
}

/// What a bug came to: how it was found, or that it was not.
type Found = Result<String, String>;

/// How the simulation finds the bug in the copy.
fn simulated(copy: &Path) -> Result<Found, Failure> {
    let simulate = simulate();
    let output = simulate.output(copy)?;
    if output.status.success() {
        let words = format!("the simulation does not find it within {SEEDS} seeds");
        return Ok(Err(words));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    match told_of(&told) {
        Some(words) => Ok(Ok(words)),
        // It did not get as far as to break a law.
        None => Err(simulate.complaint(&output)),
    }
}

/// How the search finds the bug in the copy.
fn searched(copy: &Path, bug: &File) -> Result<Found, Failure> {
    let Some(test) = held_by(bug) else {
        return Ok(Err("name the test that must fail: `Held by: …`".to_owned()));
    };
    let search = search(test);
    let output = search.output(copy)?;
    if output.status.success() {
        return Ok(Err(format!("`{test}` does not find it")));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    if told.contains(&format!("test {test} ... FAILED")) {
        return Ok(Ok(format!("`{test}` finds it")));
    }
    // It did not get as far as to search.
    Err(search.complaint(&output))
}

/// The test that holds the law which a bug breaks.
fn held_by(bug: &File) -> Option<&str> {
    bug.text
        .lines()
        .find_map(|line| line.strip_prefix("Held by: "))
}

/// The law that was broken, and where.
fn told_of(told: &str) -> Option<String> {
    let rest = |start: &str| told.lines().find_map(|line| line.strip_prefix(start));
    let (broken, seed) = (rest("broken: ")?, rest("seed ")?);
    let (seed, _) = seed.split_once(';')?;
    let (law, _) = broken.split_once(':')?;
    Some(format!("breaks the law `{law}` in seed {seed}"))
}

fn simulate() -> Line {
    in_copy("run --quiet --locked --package backstop-testkit --example simulate -- --seeds")
        .with(SEEDS)
}

fn search(test: &str) -> Line {
    in_copy("test --locked --package backstop-testkit --test laws -- --exact").with(test)
}

/// A line for cargo that builds into the copy.
fn in_copy(arguments: &str) -> Line {
    cargo(arguments).setting("CARGO_TARGET_DIR", "target")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_simulation_tells_is_read() {
        let told = "a process begins\n\nbroken: never stuck: Busy(3)\nseed 17; this is the smallest run found, with 2\nrepeat: x\n";
        assert_eq!(
            told_of(told).as_deref(),
            Some("breaks the law `never stuck` in seed 17")
        );
        assert_eq!(told_of("error: no such package"), None);
    }

    #[test]
    fn nothing_with_a_bug_is_built_into_the_workspace() {
        for line in [simulate(), search("a::test")] {
            let line = line.to_string();
            assert!(line.starts_with("CARGO_TARGET_DIR=target cargo "), "{line}");
        }
    }

    #[test]
    fn every_bug_says_what_it_is() {
        let repo = Repo::open(Path::new(".")).unwrap();
        let laws = bugs(&repo).filter(|bug| bug.path.starts_with(LAWS));
        assert!(laws.count() >= 6);
        assert!(bugs(&repo).count() >= 13);
        for bug in bugs(&repo) {
            let first = bug.text.lines().next().unwrap();
            assert!(first.ends_with('.'), "{}", bug.path);
            let names_a_test = held_by(bug).is_some();
            assert_eq!(names_a_test, bug.path.starts_with(LAWS), "{}", bug.path);
        }
    }
}
