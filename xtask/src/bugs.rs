//! `bugs`: deliberate bugs, put one at a time into a copy of the sources. The simulation must find each of them.
//!
//! A bug is a patch with a sentence on top. The copy is built into the target folder of the workspace, so that only the
//! crates are built that a bug touches.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Fault, none};
use crate::out::say;
use crate::program::{Line, cargo};
use crate::repo::{File, Repo};

/// Where the bugs are.
const BUGS: &str = "crates/backstop-testkit/bugs/";

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
        match found(repo, &copy, bug)? {
            Some(words) => say(out, &format!("{}: {words}", bug.path)),
            None => faults.push(Fault::of(
                &bug.path,
                format!("the simulation does not find it within {SEEDS} seeds"),
            )),
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

/// How the simulation found a bug, if it did.
fn found(repo: &Repo, copy: &Path, bug: &File) -> Result<Option<String>, Failure> {
    let patch = Line::new("git", "apply").with(repo.root.join(&bug.path).to_string_lossy());
    patch.run(copy)?;
    let simulate = simulate(&target(repo));
    let output = simulate.output(copy)?;
    if output.status.success() {
        return Ok(None);
    }
    let told = String::from_utf8_lossy(&output.stdout);
    match told_of(&told) {
        Some(words) => Ok(Some(words)),
        // It did not get as far as to break a law.
        None => simulate.read(copy).map(|_| None),
    }
}

/// The law that was broken, and where.
fn told_of(told: &str) -> Option<String> {
    let rest = |start: &str| told.lines().find_map(|line| line.strip_prefix(start));
    let (broken, seed) = (rest("broken: ")?, rest("seed ")?);
    let (seed, _) = seed.split_once(';')?;
    let (law, _) = broken.split_once(':')?;
    Some(format!("breaks the law `{law}` in seed {seed}"))
}

fn simulate(target: &Path) -> Line {
    cargo("run --quiet --locked --package backstop-testkit --example simulate --target-dir")
        .with(target.to_string_lossy())
        .with("--")
        .with("--seeds")
        .with(SEEDS)
}

fn target(repo: &Repo) -> PathBuf {
    let set = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    repo.root.join(set.unwrap_or_else(|| "target".into()))
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
    fn every_bug_says_what_it_is() {
        let repo = Repo::open(Path::new(".")).unwrap();
        assert!(bugs(&repo).count() >= 7);
        for bug in bugs(&repo) {
            let first = bug.text.lines().next().unwrap();
            assert!(first.ends_with('.'), "{}", bug.path);
        }
    }
}
