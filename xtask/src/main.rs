//! Repository checks and generators, run as `cargo xtask <command>`.
//!
//! Deliberately absent: a library for arguments. A command takes a few options, or hands all of them on.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a check may end where nobody listens"
)]

mod arrows;
mod bugs;
mod ci;
mod deny;
mod e2e;
mod failure;
mod fuzz;
mod metadata;
mod model;
mod mutants;
mod out;
mod program;
mod pure;
mod record;
mod repo;
mod rust;
mod tables;
mod tidy;
mod tools;

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use failure::Failure;
use program::cargo;
use repo::Repo;

const HELP: &str = "\
Repository checks and generators

Usage: cargo xtask <command>

  ci [--only STEP]  everything that must hold, to the first failure; or one step of it
  bugs              puts deliberate bugs into a copy, one at a time; the simulation or the search must find each
  check-arrows      the table of arrows in ARCHITECTURE.md against the workspace
  check-pure        the policy crates: what they pull in, what they hold, a build without std
  crash [TEST]      the real program, killed at every system call that matters, and its journal cut and changed at every byte:
                    hours; or only the tests with TEST in their names
  fuzz-smoke [--seconds N] [--target T]
                    every target of `fuzz/` for N seconds (30), or one of them, with a pinned cargo-fuzz
  deny              licences, sources and duplicate versions, with a pinned cargo-deny
  e2e [--agent NAME] [--scenario NAME]
                    real agent CLIs on real missions, with a scripted model
  record --agent NAME --scenario NAME [--out DIR]
                    a new recording of a real agent CLI
  mutants [CRATE]   small changes to the policy crates and the engine, with a pinned cargo-mutants; a test must notice each
  simulate [--seeds N] [--from SEED]
                    drives missions through simulated worlds with faults, and shrinks the first run that breaks a law
  tables [--check]  writes the pages of docs/tables; or compares them
  tidy              sizes, names, comments, links, reasons for dependencies
  help              this
";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Err(failure) = run(&words) else {
        return ExitCode::SUCCESS;
    };
    eprintln!("error: {failure}");
    ExitCode::from(code(&failure))
}

/// 2 for a command that was not understood, 1 for one that did not succeed.
fn code(failure: &Failure) -> u8 {
    if matches!(failure, Failure::Usage(_)) {
        2
    } else {
        1
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    let here = Path::new(".");
    match words {
        ["ci"] => ci(None),
        ["ci", "--only", step] => ci(Some(step)),
        ["bugs"] => bugs::check(&Repo::open(here)?, &mut io::stdout()),
        ["check-arrows"] => arrows::check(&Repo::open(here)?),
        ["check-pure"] => pure::check(&Repo::open(here)?),
        ["crash"] => crash(&["points::", "cuts::"]),
        ["crash", test] if !test.starts_with('-') => crash(&[test]),
        ["fuzz-smoke", options @ ..] => match fuzz::asked(options) {
            Some(asked) => fuzz::smoke(&Repo::open(here)?, &asked),
            None => Err(Failure::Usage(not_understood(words))),
        },
        ["deny"] => deny::check(&Repo::open(here)?),
        ["e2e", rest @ ..] => {
            let wish = e2e::options(rest, ["--agent", "--scenario"]);
            let wish = wish.ok_or_else(|| Failure::Usage(not_understood(words)))?;
            e2e::run(&Repo::open(here)?, wish, &mut io::stdout())
        }
        ["mutants"] => mutants::check(&Repo::open(here)?, None),
        ["mutants", name] => mutants::check(&Repo::open(here)?, Some(name)),
        ["record", rest @ ..] => {
            let wish = e2e::options(rest, ["--agent", "--scenario", "--out"]);
            let Some([Some(agent), Some(scenario), out]) = wish else {
                return Err(Failure::Usage(not_understood(words)));
            };
            record::run(&Repo::open(here)?, (agent, scenario), out.map(Path::new))
        }
        ["simulate", options @ ..] => simulate(options),
        ["tables"] => tables::write(&Repo::open(here)?),
        ["tables", "--check"] => tables::check(&Repo::open(here)?),
        ["tidy"] => tidy::check(&Repo::open(here)?),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(Failure::Usage(not_understood(words))),
    }
}

fn ci(only: Option<&str>) -> Result<(), Failure> {
    let repo = Repo::open(Path::new("."))?;
    ci::run(&ci::steps(), only, &repo.root, &mut io::stdout())
}

/// What the suite tries a spread of, tried whole.
fn crash(tests: &[&str]) -> Result<(), Failure> {
    let line = cargo("test --locked --package backstop --test crash_points --test mission_runs --");
    let line = line
        .with("--nocapture")
        .setting("BACKSTOP_CRASH_POINTS", "all");
    let line = tests.iter().fold(line, |line, test| line.with(*test));
    line.run(&Repo::open(Path::new("."))?.root)
}

/// The testkit is for tests alone, so its program is run and not linked.
fn simulate(options: &[&str]) -> Result<(), Failure> {
    let line = cargo("run --quiet --locked --package backstop-testkit --example simulate --");
    let line = options.iter().fold(line, |line, option| line.with(*option));
    line.run(&Repo::open(Path::new("."))?.root)
}

fn not_understood(words: &[&str]) -> String {
    format!(
        "`{}` is not a command of `cargo xtask`\n\n{HELP}",
        words.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_not_understood_is_answered_with_the_help() {
        for words in [
            &["frob"][..],
            &["ci", "--only"],
            &["tidy", "--check"],
            &["fuzz-smoke", "-x"],
            &["crash", "--all"],
            &[],
        ] {
            let failure = run(words).unwrap_err();
            assert_eq!(code(&failure), 2);
            assert!(failure.to_string().ends_with(HELP));
        }
    }

    #[test]
    fn the_help_names_every_step_that_is_a_command() {
        for command in [
            "check-arrows",
            "check-pure",
            "deny",
            "fuzz-smoke",
            "tables",
            "tidy",
        ] {
            assert!(HELP.contains(&format!("\n  {command} ")));
        }
    }
}
