//! `ci`: everything that must hold, in order, to the first failure.
//!
//! One profile and one set of features throughout, so that each step finds what the last one built.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use crate::failure::Failure;
use crate::out::say;
use crate::program::{Line, cargo};
use crate::repo::Repo;
use crate::{arrows, bugs, deny, e2e, pure, tables, tidy};

/// One thing that must hold.
pub(crate) struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    Program(Line),
    Own(fn(&Repo) -> Result<(), Failure>),
}

impl Step {
    fn program(name: &'static str, line: Line) -> Self {
        let work = Work::Program(line);
        Self { name, work }
    }

    fn own(name: &'static str, check: fn(&Repo) -> Result<(), Failure>) -> Self {
        let work = Work::Own(check);
        Self { name, work }
    }

    /// The command that does the same.
    fn repeat(&self) -> String {
        match &self.work {
            Work::Program(line) => line.to_string(),
            Work::Own(_) => format!("cargo xtask ci --only {}", self.name),
        }
    }

    fn run(&self, root: &Path) -> Result<(), Failure> {
        match &self.work {
            Work::Program(line) => line.run(root),
            Work::Own(check) => check(&Repo::open(root)?),
        }
    }
}

/// All steps, in order.
pub(crate) fn steps() -> Vec<Step> {
    let lint = "clippy --workspace --all-targets --locked -- -D warnings";
    // The same commit gets the same answer here; `cargo test` by hand searches elsewhere each time.
    let test = cargo("test --workspace --locked").setting("PROPTEST_RNG_SEED", "20");
    let doc = cargo("doc --workspace --no-deps --locked").setting("RUSTDOCFLAGS", "-D warnings");
    vec![
        Step::program("fmt", cargo("fmt --all --check")),
        Step::program("clippy", cargo(lint)),
        Step::program("test", test),
        Step::own("bugs", |repo| bugs::check(repo, &mut io::stdout())),
        Step::own("e2e", e2e::check),
        Step::program("doc", doc),
        Step::own("check-pure", pure::check),
        Step::own("check-arrows", arrows::check),
        Step::own("tidy", tidy::check),
        Step::own("tables", tables::check),
        Step::own("deny", deny::check),
    ]
}

/// Runs the steps, or the one of that name, to the first that fails.
pub(crate) fn run(
    steps: &[Step],
    only: Option<&str>,
    root: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let wanted: Vec<&Step> = steps
        .iter()
        .filter(|step| only.is_none_or(|name| name == step.name))
        .collect();
    if wanted.is_empty() {
        return Err(unknown(steps, only.unwrap_or("")));
    }
    let whole = Instant::now();
    for step in &wanted {
        say(out, &format!("==> {}: {}", step.name, step.repeat()));
        let start = Instant::now();
        let done = step.run(root);
        let seconds = start.elapsed().as_secs_f64();
        let ended = if done.is_ok() { "ok" } else { "failed" };
        say(
            out,
            &format!("==> {}: {ended} in {seconds:.1} s", step.name),
        );
        done.map_err(|why| failed(step, why))?;
    }
    let seconds = whole.elapsed().as_secs_f64();
    say(
        out,
        &format!("==> all of {}: ok in {seconds:.1} s", wanted.len()),
    );
    Ok(())
}

fn failed(step: &Step, why: Failure) -> Failure {
    Failure::Step {
        step: step.name,
        why: Box::new(why),
        repeat: step.repeat(),
    }
}

fn unknown(steps: &[Step], name: &str) -> Failure {
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    Failure::Usage(format!(
        "`{name}` is not a step: use one of {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted() -> Vec<Step> {
        let line = |script: &str| Line::new("sh", "-c").with(script);
        vec![
            Step::program("first", line("true")),
            Step::program("second", line("exit 7")),
            Step::program("third", line("true")),
        ]
    }

    fn ran(only: Option<&str>) -> (Result<(), String>, String) {
        let mut out = Vec::new();
        let done = run(&planted(), only, Path::new("."), &mut out);
        (
            done.map_err(|failure| failure.to_string()),
            String::from_utf8(out).unwrap(),
        )
    }

    #[test]
    fn the_first_failure_stops_the_run_and_says_how_to_repeat_it() {
        let (done, said) = ran(None);
        let wanted = "step `second` failed: `sh -c 'exit 7'` ended with exit status: 7\nrepeat it with `sh -c 'exit 7'`";
        assert_eq!(done, Err(wanted.to_owned()));
        assert!(said.contains("==> first: ok in ") && said.contains("==> second: failed in "));
        assert!(!said.contains("third"));
    }

    #[test]
    fn one_step_runs_alone() {
        let (done, said) = ran(Some("third"));
        assert_eq!(done, Ok(()));
        assert!(said.starts_with("==> third: sh -c true\n") && !said.contains("first"));
        assert!(said.contains("==> all of 1: ok in "));
    }

    #[test]
    fn an_unknown_step_names_the_known_ones() {
        let (done, _) = ran(Some("fourth"));
        assert_eq!(
            done,
            Err("`fourth` is not a step: use one of first, second, third".to_owned())
        );
    }

    #[test]
    fn the_steps_are_these_in_this_order() {
        let names: Vec<&str> = steps().iter().map(|step| step.name).collect();
        let wanted = "fmt clippy test bugs e2e doc check-pure check-arrows tidy tables deny";
        assert_eq!(names.join(" "), wanted);
        assert_eq!(steps()[8].repeat(), "cargo xtask ci --only tidy");
    }
}
