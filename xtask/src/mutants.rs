//! `mutants`: every small change to the policy crates and the engine that the tests should notice, with a pinned cargo-mutants.
//!
//! First the crate's own tests are tried on each change, then those of the testkit on what survived. Only a copy of the
//! sources is changed. It takes hours and is no step of `ci`. What no test can notice is listed with the reason in `.cargo/mutants.toml`.

use std::fs;

use crate::failure::Failure;
use crate::program::Line;
use crate::repo::Repo;
use crate::tools::Tool;

const MUTANTS: Tool = Tool {
    name: "cargo-mutants",
    version: "27.1.0",
};

/// The crates whose every decision is to be held by a test.
const CRATES: [&str; 7] = [
    "backstop-vocab",
    "backstop-mode",
    "backstop-outcome",
    "backstop-gates",
    "backstop-review",
    "backstop-plan",
    "backstop-engine",
];

/// Where cargo-mutants leaves what it found. It makes no folder in a missing one.
const RESULTS: &str = "target/mutants";

/// How cargo-mutants ends where no test noticed a change, and where tests took too long. With other codes nothing was tried
/// (<https://mutants.rs/exit-codes.html>).
const MISSED: i32 = 2;
const TIMED_OUT: i32 = 3;

/// Tries the changes of one crate, or of all.
pub(crate) fn check(repo: &Repo, only: Option<&str>) -> Result<(), Failure> {
    let wanted = |name: &&str| only.is_none_or(|only| only == *name);
    let wanted: Vec<&str> = CRATES.into_iter().filter(wanted).collect();
    if wanted.is_empty() {
        return Err(Failure::Usage(format!(
            "`{}` is not tried: use one of {}",
            only.unwrap_or_default(),
            CRATES.join(", ")
        )));
    }
    let program = MUTANTS.ready(&repo.root)?;
    let program = program.to_string_lossy();
    let results = repo.root.join(RESULTS);
    fs::create_dir_all(&results).map_err(|error| Failure::file(&results, error))?;
    let own = own(&program, &wanted);
    let ended = own.status(&repo.root)?;
    match ended.code() {
        Some(0) => Ok(()),
        Some(MISSED | TIMED_OUT) => kit(&program, &wanted).run(&repo.root),
        Some(_) | None => Err(own.ended(ended)),
    }
}

/// The changes of those crates.
fn tries(program: &str, names: &[&str]) -> Line {
    let line = Line::new(program, "mutants --colors never --cap-lints true --output");
    let line = line.with(RESULTS);
    names
        .iter()
        .fold(line, |line, name| line.with("--package").with(*name))
}

/// Each change against the tests of its own crate, but for slow ones: those of what must not compile, to which it makes no
/// difference what a function does inside, and those of huge inputs, which others try small.
fn own(program: &str, names: &[&str]) -> Line {
    tries(program, names)
        .with("--profile")
        .with("mutants")
        .with("--")
        .with("--lib")
        .with("--tests")
        .with("--")
        .with("--skip")
        .with("cannot_be_forged")
        .with("--skip")
        .with("is_not_forged")
        .with("--skip")
        .with("a_huge")
}

/// What survived those, against the small searches, the model and the simulation. The testkit is named to cargo, since
/// cargo-mutants tries the unchanged sources with the tests of the changed crates alone.
fn kit(program: &str, names: &[&str]) -> Line {
    tries(program, names)
        .with("--iterate")
        .with("--")
        .with("--package")
        .with("backstop-testkit")
        .with("--test")
        .with("laws")
        .with("--test")
        .with("model")
        .with("--test")
        .with("simulation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_survives_the_crates_own_tests_is_tried_with_the_testkit() {
        let names = ["backstop-mode", "backstop-plan"];
        let lines = [own("m", &names), kit("m", &names)].map(|line| line.to_string());
        let both = "m mutants --colors never --cap-lints true --output target/mutants \
                    --package backstop-mode --package backstop-plan";
        let tests =
            "-- --lib --tests -- --skip cannot_be_forged --skip is_not_forged --skip a_huge";
        assert_eq!(lines[0], format!("{both} --profile mutants {tests}"));
        let tests = "-- --package backstop-testkit --test laws --test model --test simulation";
        assert_eq!(lines[1], format!("{both} --iterate {tests}"));
    }
}
