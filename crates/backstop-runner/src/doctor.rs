//! Looks whether Backstop can work here, before anybody opens a mission: git, state, settings, agents, the system. Changes nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use backstop_agents as agents;
use backstop_engine::Role;
use rustix::fs::Access;
use serde::Serialize;

use crate::config::{self, File};
use crate::git::{Git, GitError, Repository, shown};
use crate::history;
use crate::opening;
use crate::process;
use crate::programs::{self, Installed};
use crate::room::{self, Found, Need};
use crate::state::Home;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// As it should be.
    Good,
    /// It works, and should be known.
    Note,
    /// A mission cannot be worked on.
    Blocks,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What, in a word or two.
    pub name: String,
    /// How bad it is.
    pub weight: Weight,
    /// What was found, and what to do.
    pub words: String,
}

impl Finding {
    fn new(name: &str, weight: Weight, words: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            weight,
            words: words.into(),
        }
    }
}

/// Everything that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// Point by point.
    pub findings: Vec<Finding>,
    /// The agents, installed or not.
    pub agents: Vec<Installed>,
}

/// Looks at everything, from `dir`, with the state under `state` where a flag says so.
#[must_use]
pub fn look(dir: &Path, state: Option<&Path>) -> Diagnosis {
    let mut found = Vec::new();
    let mut agents = Vec::new();
    match Repository::discover(&Git::new(), dir) {
        Ok(repository) => {
            found.extend(git(&repository));
            found.extend(state_of(&repository, state));
            found.extend(settings(repository.root(), &mut agents));
        }
        Err(error) => {
            found.push(Finding::new("git", Weight::Blocks, error.to_string()));
            found.extend(settings(dir, &mut agents));
        }
    }
    found.extend(system());
    Diagnosis {
        findings: found,
        agents,
    }
}

fn git(repository: &Repository) -> Vec<Finding> {
    let version = repository
        .version()
        .unwrap_or_else(|error| error.to_string());
    let place = shown(repository.root());
    let mut found = vec![Finding::new(
        "git",
        Weight::Good,
        format!("{version}, repository `{place}`"),
    )];
    match repository.fitness(None) {
        Ok(fitness) => {
            let unfit = fitness.unfit.iter().map(ToString::to_string);
            found.extend(unfit.map(|words| Finding::new("repository", Weight::Blocks, words)));
            let notices = fitness.notices.iter().map(ToString::to_string);
            found.extend(notices.map(|words| Finding::new("repository", Weight::Note, words)));
            if fitness.unfit.is_empty() {
                let words = "a commit to start from, and somebody to commit as";
                found.push(Finding::new("repository", Weight::Good, words));
            }
        }
        Err(error) => found.push(Finding::new(
            "repository",
            Weight::Blocks,
            error.to_string(),
        )),
    }
    found.extend(uncommitted(repository.dirty()));
    found
}

fn uncommitted(dirty: Result<Vec<PathBuf>, GitError>) -> Option<Finding> {
    match dirty {
        Ok(paths) if paths.is_empty() => None,
        Ok(paths) => Some(Finding::new(
            "checkout",
            Weight::Note,
            format!(
                "uncommitted changes are no part of a mission: commit them first if they should be ({} in all)",
                paths.len()
            ),
        )),
        Err(error) => Some(Finding::new("checkout", Weight::Blocks, error.to_string())),
    }
}

fn state_of(repository: &Repository, flag: Option<&Path>) -> Vec<Finding> {
    let home = match Home::resolve(flag, |name| std::env::var_os(name), repository.root()) {
        Ok(home) => home,
        Err(error) => return vec![Finding::new("state", Weight::Blocks, error.to_string())],
    };
    // Wrong settings are told below; what they say by default is needed all the same.
    let configured = opening::configuration(repository.root());
    let need = configured.map_or_else(|_| Need::default(), |set| set.file.run.need());
    let places = [nearest(home.path()), repository.common_dir()];
    let mut found = vec![
        writable(home.path()),
        room("disk", room::disks(&places, need.disk)),
        room("memory", room::memory(need.memory)),
    ];
    match home.missions() {
        Ok(ids) => found.push(missions(&home, &ids)),
        Err(error) => found.push(Finding::new("missions", Weight::Blocks, error.to_string())),
    }
    found
}

/// The nearest folder above `path` that is there.
fn nearest(path: &Path) -> &Path {
    path.ancestors()
        .find(|above| above.is_dir())
        .unwrap_or(Path::new("/"))
}

fn writable(path: &Path) -> Finding {
    let at = nearest(path);
    let place = shown(path);
    if let Err(error) = rustix::fs::access(at, Access::WRITE_OK | Access::EXEC_OK) {
        let words = format!(
            "`{place}` cannot be written ({error} at `{}`): choose another with --state-dir",
            shown(at)
        );
        return Finding::new("state", Weight::Blocks, words);
    }
    if at != path {
        let words = format!("`{place}` will be made by the first mission");
        return Finding::new("state", Weight::Good, words);
    }
    // The six lowest bits are what others may do.
    let mode = fs::metadata(path).map_or(0, |found| found.mode() & 0o777);
    if mode.trailing_zeros() >= 6 {
        return Finding::new("state", Weight::Good, format!("`{place}`, yours alone"));
    }
    let words = format!("others can enter `{place}` (mode {mode:o}): `chmod 700 {place}`");
    Finding::new("state", Weight::Note, words)
}

fn room(name: &str, found: Found) -> Finding {
    match found {
        Found::Enough(words) => Finding::new(name, Weight::Good, words),
        Found::Unknown(words) => Finding::new(name, Weight::Note, words),
        Found::Lacking(words) => Finding::new(name, Weight::Blocks, words),
    }
}

fn missions(home: &Home, ids: &[backstop_engine::vocab::MissionId]) -> Finding {
    let readable = |id: &&backstop_engine::vocab::MissionId| {
        home.mission(id)
            .is_ok_and(|dir| history::read(&dir.journal()).is_ok())
    };
    let damaged: Vec<String> = ids
        .iter()
        .filter(|id| !readable(id))
        .map(ToString::to_string)
        .collect();
    if damaged.is_empty() {
        return Finding::new(
            "missions",
            Weight::Good,
            format!("{}, every journal can be read", ids.len()),
        );
    }
    let words = format!(
        "not every journal can be read ({} cannot): look at `backstop journal verify`: {}",
        damaged.len(),
        damaged.join(", ")
    );
    Finding::new("missions", Weight::Note, words)
}

/// The settings, and what follows from them: agents and checks.
fn settings(root: &Path, agents: &mut Vec<Installed>) -> Vec<Finding> {
    let file = match opening::configuration(root) {
        Ok(configured) => configured.file,
        Err(error) => return vec![Finding::new("settings", Weight::Blocks, error.to_string())],
    };
    let own = config::own_path().into_iter();
    let read: Vec<String> = std::iter::once(root.join(config::FILE_NAME))
        .chain(own)
        .filter(|path| path.is_file())
        .map(|path| format!("`{}`", shown(&path)))
        .collect();
    let mut found = vec![if read.is_empty() {
        let words = "there is no file: flags and defaults hold; `backstop init` writes one";
        Finding::new("settings", Weight::Note, words)
    } else {
        Finding::new("settings", Weight::Good, read.join(", "))
    }];
    *agents = agents_of(&file);
    found.extend(agents.iter().map(|found| agent(&file, found)));
    if used(&file).is_empty() {
        let words = "no file names one: give `--agent NAME`, or set `agent = \"NAME\"`";
        found.push(Finding::new("agent", Weight::Note, words));
    }
    found.push(checks(&file));
    found
}

/// The agents that the settings name.
fn used(file: &File) -> Vec<&str> {
    let named = Role::ALL.into_iter().filter_map(|role| file.roles.on(role));
    let named = named.filter_map(|role| role.agent.as_ref().or(file.agent.as_ref()));
    named.map(|name| name.get_ref().as_str()).collect()
}

/// Each agent as it is here. Some programs take seconds to tell their version: all are asked at once.
fn agents_of(file: &File) -> Vec<Installed> {
    let options = |name: &str| {
        let table = file.agents.get(name).cloned().unwrap_or_default();
        let options = [
            (agents::EXEC_COMMAND, table.command),
            (agents::SCRIPT, table.script),
            (agents::PROGRAM, table.program),
        ];
        let set = |(key, value): (&str, Option<String>)| Some((key.to_owned(), value?));
        options.into_iter().filter_map(set).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let asked: Vec<_> = agents::all()
            .map(|agent| (agent, options(agent.name())))
            .map(|(agent, options)| scope.spawn(move || programs::look(agent, options)))
            .collect();
        asked
            .into_iter()
            .filter_map(|look| look.join().ok())
            .collect()
    })
}

fn agent(file: &File, found: &Installed) -> Finding {
    let weight = match (&found.problem, used(file).contains(&found.name)) {
        (None, _) => Weight::Good,
        (Some(_), true) => Weight::Blocks,
        (Some(_), false) => Weight::Note,
    };
    Finding::new(&format!("agent {}", found.name), weight, found.words())
}

fn checks(file: &File) -> Finding {
    let named = file.check.iter().map(|check| check.name.get_ref().clone());
    let all: Vec<String> = file
        .checks
        .iter()
        .cloned()
        .chain(named)
        .map(|check| format!("`{check}`"))
        .collect();
    if all.is_empty() {
        let words = "none: a coding mission needs one; set `checks = [\"…\"]`, give `--check CMD`, or open it with --no-check";
        return Finding::new("checks", Weight::Note, words);
    }
    Finding::new("checks", Weight::Good, all.join(", "))
}

fn system() -> Vec<Finding> {
    let proc = process::Identity::of(std::process::id());
    let proc = proc.map_or_else(
        || {
            Finding::new(
                "processes",
                Weight::Blocks,
                "`/proc` cannot be read: mount it, else a process cannot be told from another",
            )
        },
        |_| Finding::new("processes", Weight::Good, "`/proc` can be read"),
    );
    let orphans = match process::become_subreaper() {
        Ok(()) => Finding::new(
            "orphans",
            Weight::Good,
            "come to the runner, which ends them",
        ),
        Err(error) => Finding::new(
            "orphans",
            Weight::Blocks,
            format!(
                "the system does not give them to the runner ({error}): use Linux 3.4 or newer"
            ),
        ),
    };
    let memory = match process::oom_counter() {
        Some(file) => Finding::new(
            "memory",
            Weight::Good,
            format!("kills are counted in `{}`", shown(&file)),
        ),
        None => Finding::new(
            "memory",
            Weight::Note,
            "kills for want of memory are not counted here: a SIGKILL that nobody sent is taken for one",
        ),
    };
    vec![proc, orphans, memory]
}
