//! Where a command works: the repository, its state, and the mission that was meant.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use backstop_engine::Position;
use backstop_engine::vocab::{Channel, MissionId, Operator, Signature};
use backstop_runner::door;
use backstop_runner::git::{Git, Repository};
use backstop_runner::history::{self, History};
use backstop_runner::queue;
use backstop_runner::state::{Home, MissionDir};

use crate::fault::{Fault, Status};
use crate::screen;

/// A repository and where Backstop keeps its state.
pub struct Place {
    /// The operator's repository.
    pub repository: Repository,
    /// The state.
    pub home: Home,
}

impl Place {
    /// The place that `dir` lies in.
    pub fn find(dir: &Path, state: Option<&Path>) -> Result<Self, Fault> {
        let repository = Repository::discover(&Git::new(), dir)?;
        let home = Home::resolve(state, |name| std::env::var_os(name), repository.root())?;
        Ok(Self { repository, home })
    }

    /// The place of the present folder.
    pub fn here(state: Option<&Path>) -> Result<Self, Fault> {
        Self::find(&std::env::current_dir()?, state)
    }

    /// The mission that was meant: by its id or the beginning of it; without one, the latest that has not ended, else the
    /// latest. Those that only stand in the queue come last.
    pub fn mission(&self, wanted: Option<&str>) -> Result<MissionDir, Fault> {
        if let Some(wanted) = wanted {
            return Ok(self.home.find(wanted)?);
        }
        let mut latest = self.latest_first()?;
        let open = latest.iter().position(|(_, ended)| !ended);
        if latest.is_empty() {
            return Err(Fault::new(
                Status::Refused,
                "there is no mission in this repository: start one with `backstop run \"…\"`",
            ));
        }
        Ok(latest.swap_remove(open.unwrap_or(0)).0)
    }

    /// Every mission, by id; in place of its history what is wrong with it, where something is.
    pub(crate) fn all(&self) -> Result<Vec<(MissionId, Read)>, Fault> {
        let read = |id: &MissionId| -> Read {
            let dir = self.home.mission(id)?;
            let history = read(&dir)?;
            Ok((dir, history))
        };
        let ids = self.home.missions()?.into_iter();
        Ok(ids
            .map(|id| {
                let read = read(&id);
                (id, read)
            })
            .collect())
    }

    /// Every mission, the latest first, and whether it has ended. One whose journal cannot be read counts as open.
    fn latest_first(&self) -> Result<Vec<(MissionDir, bool)>, Fault> {
        let mut found = Vec::new();
        for id in self.home.missions()? {
            let dir = self.home.mission(&id)?;
            let history = read(&dir).ok();
            let opened = history
                .as_ref()
                .map(|history| history.mission.charter().fields().opened_at);
            let begun = history.as_ref().is_none_or(queue::has_begun);
            let ended = history
                .is_some_and(|history| matches!(history.mission.position(), Position::Ended(_)));
            let idle = dir.is_queued() && !begun && dir.holder().is_none();
            found.push(((idle, Reverse(opened)), dir, ended));
        }
        found.sort_by_key(|(order, ..)| *order);
        Ok(found
            .into_iter()
            .map(|(_, dir, ended)| (dir, ended))
            .collect())
    }
}

/// A mission's folder and history, or what is wrong with them.
pub(crate) type Read = Result<(MissionDir, History), Fault>;

/// The history of a mission.
pub fn read(dir: &MissionDir) -> Result<History, Fault> {
    Ok(history::read(&dir.journal())?)
}

/// The person at this command, as they call themselves, else as the system does.
pub fn operator(name: Option<&str>) -> Result<Signature, Fault> {
    let user = || {
        std::env::var("USER")
            .ok()
            .filter(|user| !user.trim().is_empty())
    };
    let name = name
        .map(ToOwned::to_owned)
        .or_else(user)
        .unwrap_or_else(|| "operator".into());
    Ok(door::operator(&name, Channel::Cli)?)
}

/// The same person, as who approves a plan.
pub fn approver(name: Option<&str>) -> Result<Operator, Fault> {
    let signature = operator(name)?;
    Ok(door::approver(signature.name.as_str(), signature.channel)?)
}

/// The options that every command takes.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Common {
    /// Where missions and journals are kept [default: `$XDG_STATE_HOME/backstop`]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        display_order = 900,
        env = "BACKSTOP_STATE",
        hide_env_values = true
    )]
    pub state_dir: Option<PathBuf>,
    /// How the log on standard error is written; `RUST_LOG` says how much [default: text]
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        hide_default_value = true
    )]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

impl Common {
    /// Writes the log to standard error, as much of it as `RUST_LOG` asks for; nothing without it.
    pub fn log(&self) {
        use tracing_subscriber::EnvFilter;
        // A fault of writing is not told: the terminal that it would be told on is the one that is gone.
        let filter = || EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("off"));
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter())
            .log_internal_errors(false)
            .with_writer(|| screen::Log);
        match self.log_format {
            LogFormat::Text => log.with_ansi(false).init(),
            LogFormat::Json => log.json().init(),
        }
    }
}
