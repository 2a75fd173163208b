//! `e2e`: real agent CLIs work on real missions with a scripted model, and each mission ends as it must.
//!
//! Deliberately absent: a provider, an account, a key. The CLIs are installed by name and pinned version.

mod agents;
mod scenarios;
mod world;

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::failure::Failure;
use crate::program::cargo;
use crate::repo::Repo;

pub(crate) use agents::{Agent, Installed, Retries, find};
use scenarios::{SCENARIOS, Scenario};
pub(crate) use world::World;

/// The agents that every commit is tried with.
const IN_CI: [&str; 2] = ["codex", "gemini"];

/// The values of options with these names, each at most once, in any order; none where the words are others.
pub(crate) fn options<'a, const N: usize>(
    words: &[&'a str],
    names: [&str; N],
) -> Option<[Option<&'a str>; N]> {
    let mut values = [None; N];
    for pair in words.chunks(2) {
        let [name, value] = *pair else { return None };
        let at = names.iter().position(|known| *known == name)?;
        let free = values.get_mut(at).filter(|slot| slot.is_none())?;
        *free = Some(value);
    }
    Some(values)
}

/// The agents of the continuous check, in all scenarios.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    run(repo, [None; 2], &mut std::io::stdout())
}

/// Runs the agent and the scenario that are wished for, or all, to the end, and tells of all that failed. Agents run
/// side by side, since most of the time is waiting.
pub(crate) fn run(
    repo: &Repo,
    [agent, scenario]: [Option<&str>; 2],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let agents: Vec<&Agent> = match agent {
        Some(name) => vec![find(name)?],
        None => IN_CI.into_iter().map(find).collect::<Result<_, _>>()?,
    };
    let wanted = |known: &&Scenario| scenario.is_none_or(|name| name == known.name);
    let scenarios: Vec<&Scenario> = SCENARIOS.iter().filter(wanted).collect();
    if scenarios.is_empty() {
        return Err(unknown(scenario.unwrap_or_default()));
    }
    cargo("build --package backstop --locked").run(&repo.root)?;
    let backstop = built()?;
    let installed: Vec<Installed> = agents
        .into_iter()
        .map(|agent| agent.install(&repo.root))
        .collect::<Result<_, _>>()?;
    let (sender, ends) = mpsc::channel();
    let failed = thread::scope(|scope| {
        for agent in &installed {
            let (sender, scenarios, backstop) = (sender.clone(), &scenarios, &backstop);
            scope.spawn(move || play(agent, scenarios, backstop, &sender));
        }
        drop(sender);
        told(&ends, out)
    });
    if failed.is_empty() {
        return Ok(());
    }
    let (count, list) = (failed.len(), failed.join("\n"));
    Err(Failure::Wrong(format!(
        "{count} did not end as they must; repeat them with\n{list}"
    )))
}

/// How one scenario of one agent ended.
struct End {
    agent: &'static str,
    scenario: &'static str,
    seconds: u64,
    done: Result<(), Failure>,
}

fn play(agent: &Installed, scenarios: &[&Scenario], backstop: &Path, ends: &mpsc::Sender<End>) {
    for scenario in scenarios {
        let start = Instant::now();
        let done = scenario.play(agent, backstop);
        let end = End {
            agent: agent.agent.name,
            scenario: scenario.name,
            seconds: start.elapsed().as_secs(),
            done,
        };
        drop(ends.send(end));
    }
}

/// Tells of each end as it comes, and gives the commands that repeat those that failed.
fn told(ends: &mpsc::Receiver<End>, out: &mut dyn Write) -> Vec<String> {
    let mut failed = Vec::new();
    for end in ends {
        let End {
            agent,
            scenario,
            seconds,
            done,
        } = end;
        let ended = done
            .as_ref()
            .map_or_else(ToString::to_string, |()| "ok".to_owned());
        drop(writeln!(out, "{agent} {scenario}: {ended} ({seconds} s)"));
        if done.is_err() {
            failed.push(format!(
                "cargo xtask e2e --agent {agent} --scenario {scenario}"
            ));
        }
    }
    failed
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
    fn options_are_read_in_any_order_and_once() {
        let names = ["--agent", "--scenario"];
        let read = |words: &[&'static str]| options(words, names);
        let both = Some([Some("codex"), Some("works")]);
        assert_eq!(read(&["--scenario", "works", "--agent", "codex"]), both);
        assert_eq!(read(&[]), Some([None, None]));
        for words in [
            &["--agent"][..],
            &["codex"],
            &["--agent", "a", "--agent", "b"],
            &["--all", "x"],
        ] {
            assert_eq!(read(words), None, "{words:?}");
        }
    }

    #[test]
    fn every_scenario_begins_with_a_scene() {
        for scenario in &SCENARIOS {
            assert!(scenario.begins().is_some(), "{}", scenario.name);
        }
    }

    #[test]
    fn every_agent_of_the_continuous_check_is_known() {
        for name in IN_CI {
            assert_eq!(find(name).unwrap().name, name);
        }
        assert!(find("nobody").is_err());
    }
}
