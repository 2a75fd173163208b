//! `e2e`: real agent CLIs work on real missions with a scripted model, and each mission ends as it must.
//!
//! Deliberately absent: a provider, an account, a key. The CLIs are installed by name and pinned version.

mod agents;
mod scenarios;
mod world;

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::failure::Failure;
use crate::program::cargo;
use crate::repo::Repo;

pub(crate) use agents::Agent;
use scenarios::{SCENARIOS, Scenario};

/// The agents that every commit is tried with.
const IN_CI: [&str; 2] = ["codex", "gemini"];

/// Which runs are wanted.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) scenario: Option<&'a str>,
}

impl<'a> Wish<'a> {
    /// Reads `--agent NAME` and `--scenario NAME`.
    pub(crate) fn read(words: &[&'a str]) -> Option<Self> {
        let mut wish = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = Some(*words.next()?);
            match *word {
                "--agent" if wish.agent.is_none() => wish.agent = value,
                "--scenario" if wish.scenario.is_none() => wish.scenario = value,
                _ => return None,
            }
        }
        Some(wish)
    }
}

/// The agents of the continuous check, in all scenarios.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    run(repo, Wish::default(), &mut std::io::stdout())
}

/// Runs what is wished for, to the end, and tells of all that failed.
pub(crate) fn run(repo: &Repo, wish: Wish<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let agents: Vec<&Agent> = match wish.agent {
        Some(name) => vec![agents::find(name)?],
        None => IN_CI
            .into_iter()
            .map(agents::find)
            .collect::<Result<_, _>>()?,
    };
    let scenarios: Vec<&Scenario> = SCENARIOS
        .iter()
        .filter(|scenario| wish.scenario.is_none_or(|name| name == scenario.name))
        .collect();
    if scenarios.is_empty() {
        return Err(unknown(wish.scenario.unwrap_or_default()));
    }
    cargo("build --package backstop --locked").run(&repo.root)?;
    let backstop = built()?;
    let mut failed = Vec::new();
    for agent in agents {
        let installed = agent.install(&repo.root)?;
        for scenario in &scenarios {
            let start = Instant::now();
            let done = scenario.play(&installed, &backstop);
            let ended = done
                .as_ref()
                .map_or_else(ToString::to_string, |()| "ok".to_owned());
            let seconds = start.elapsed().as_secs();
            let said = writeln!(
                out,
                "{} {}: {ended} ({seconds} s)",
                agent.name, scenario.name
            );
            drop(said);
            if done.is_err() {
                failed.push(format!(
                    "cargo xtask e2e --agent {} --scenario {}",
                    agent.name, scenario.name
                ));
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let count = failed.len();
    Err(Failure::Wrong(format!(
        "{count} did not end as they must; repeat them with\n{}",
        failed.join("\n")
    )))
}

/// The program beside this one.
fn built() -> Result<PathBuf, Failure> {
    let own = env::current_exe()
        .map_err(|error| Failure::file(Path::new("the running program"), error))?;
    Ok(own.with_file_name(format!("backstop{}", env::consts::EXE_SUFFIX)))
}

fn unknown(scenario: &str) -> Failure {
    let names: Vec<&str> = SCENARIOS.iter().map(|known| known.name).collect();
    Failure::Usage(format!(
        "`{scenario}` is not a scenario: use one of {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_names_an_agent_and_a_scenario_in_any_order() {
        let wish = Wish::read(&["--scenario", "works", "--agent", "codex"]).unwrap();
        assert_eq!((wish.agent, wish.scenario), (Some("codex"), Some("works")));
        assert!(Wish::read(&[]).is_some());
        for words in [
            &["--agent"][..],
            &["codex"],
            &["--agent", "a", "--agent", "b"],
            &["--all", "x"],
        ] {
            assert!(Wish::read(words).is_none(), "{words:?}");
        }
    }

    #[test]
    fn every_agent_of_the_continuous_check_is_known() {
        for name in IN_CI {
            assert_eq!(agents::find(name).unwrap().name, name);
        }
        assert!(agents::find("nobody").is_err());
    }
}
