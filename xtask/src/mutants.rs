//! `mutants`: every small change to the policy crates and the engine that the tests should notice, with a pinned cargo-mutants.
//!
//! First the crate's own tests are tried on each change, then those of the testkit on what survived. It takes hours and is
//! no step of `ci`. What no test can notice is listed with the reason in `.cargo/mutants.toml`.

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

/// Tries the changes of one crate, or of all.
pub(crate) fn check(repo: &Repo, only: Option<&str>) -> Result<(), Failure> {
    let wanted = |name: &&&str| only.is_none_or(|only| only == **name);
    let wanted: Vec<&&str> = CRATES.iter().filter(wanted).collect();
    if wanted.is_empty() {
        return Err(Failure::Usage(format!(
            "`{}` is not tried: use one of {}",
            only.unwrap_or_default(),
            CRATES.join(", ")
        )));
    }
    let program = MUTANTS.ready(&repo.root)?;
    for name in wanted {
        let own = tries(&program.to_string_lossy(), name);
        if own.run(&repo.root).is_err() {
            kit(&program.to_string_lossy(), name).run(&repo.root)?;
        }
    }
    Ok(())
}

/// The changes of a crate, against its own tests.
fn tries(program: &str, name: &str) -> Line {
    Line::new(program, "mutants --no-shuffle --colors never")
        .with("--output")
        .with(format!("target/mutants/{name}"))
        .with("--package")
        .with(name)
}

/// What survived those, against the small searches, the model and the simulation.
fn kit(program: &str, name: &str) -> Line {
    tries(program, name)
        .with("--iterate")
        .with("--test-package")
        .with("backstop-testkit")
        .with("--")
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
        let lines = [tries("m", "backstop-mode"), kit("m", "backstop-mode")].map(|l| l.to_string());
        let own = "m mutants --no-shuffle --colors never --output target/mutants/backstop-mode --package backstop-mode";
        assert_eq!(lines[0], own);
        assert_eq!(
            lines[1],
            format!(
                "{own} --iterate --test-package backstop-testkit -- --test laws --test model --test simulation"
            )
        );
    }
}
