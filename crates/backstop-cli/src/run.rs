//! `run`, `resume` and `stop`: opening missions, driving them, and stopping them.

use std::io::IsTerminal as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use backstop_engine::mode::Mode;
use backstop_engine::vocab::{Signature, Stage};
use backstop_engine::{Charter, Fact, Position, ShipBy};
use backstop_runner::dispatcher::AtGate;
use backstop_runner::door::{self, DoorError};
use backstop_runner::drive::{Drive, DriveError};
use backstop_runner::opening::{self, Planned, Unchecked, Wish};
use backstop_runner::plans::{Held, Plans};
use backstop_runner::process::{self, Started};
use backstop_runner::state::{MissionDir, StateError};

use crate::asking::Asking;
use crate::fault::{Fault, Status};
use crate::live::{Narrator, Reasons, Silent};
use crate::out;
use crate::place::{self, Place};
use crate::plan::{self, Meant};
use crate::question;
use crate::screen::{self, Stream};
use crate::ticker::Ticker;

/// What a new mission is opened with.
#[derive(Debug, clap::Args)]
pub struct Wanted {
    /// What is wanted, in your words
    pub goal: Option<String>,
    /// A plan of 1 to 4 phases in place of a goal: your own file (JSON, or TOML by its ending), or the id of an approved one
    #[arg(long, value_name = "FILE|ID")]
    pub plan: Option<PathBuf>,
    /// The agent of every role, as `backstop doctor` lists them [default: from backstop.toml]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The command of the `exec` agent, for a POSIX shell: the prompt comes on standard input, or in place of {prompt}
    #[arg(long, value_name = "CMD")]
    pub exec_command: Option<String>,
    /// The script of the `scripted` agent
    #[arg(long, value_name = "FILE", conflicts_with = "exec_command")]
    pub script: Option<PathBuf>,
    /// A host check, for a POSIX shell; may be repeated
    #[arg(long = "check", value_name = "CMD")]
    pub checks: Vec<String>,
    /// Opens the mission without any check; the ship gate says so
    #[arg(long, conflicts_with = "checks")]
    pub no_check: bool,
    /// auto or supervise
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The first stage: define, plan or code
    #[arg(long, value_name = "STAGE")]
    pub from: Option<Stage>,
    /// The commit to start from [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// How the work is handed over, after an approval: branch or merge
    #[arg(long, value_name = "WAY", value_parser = ship_by)]
    pub ship: Option<ShipBy>,
}

/// What `run` takes.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What the mission is opened with.
    #[command(flatten)]
    pub wanted: Wanted,
    /// Shows what the mission would be opened with, and opens nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Leaves a runner behind and returns at once
    #[arg(long, conflicts_with_all = ["wait", "exit_on_gate"])]
    pub detach: bool,
    /// How it is driven.
    #[command(flatten)]
    pub driving: Driving,
}

/// How a mission is driven.
#[derive(Debug, Clone, clap::Args)]
pub struct Driving {
    /// Leaves at a gate, also on a terminal
    #[arg(long, conflicts_with = "wait")]
    pub exit_on_gate: bool,
    /// Stays at a gate until it is answered elsewhere
    #[arg(long)]
    pub wait: bool,
    /// Your name, for the record [default: $USER]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

fn ship_by(text: &str) -> Result<ShipBy, String> {
    match text {
        "branch" => Ok(ShipBy::Branch),
        "merge" => Ok(ShipBy::Merge),
        _ => Err(format!(
            "`{text}` is no way to hand work over: use branch or merge"
        )),
    }
}

impl Wanted {
    fn wish(&self, goal: Option<String>, plan: Option<Planned>) -> Wish {
        Wish {
            goal,
            plan,
            agent: self.agent.clone(),
            exec_command: self.exec_command.clone(),
            script: self.script.clone(),
            checks: self.checks.clone(),
            unchecked: if self.no_check {
                Unchecked::Wanted
            } else {
                Unchecked::Refused
            },
            mode: self.mode,
            from: self.from,
            base: self.base.clone(),
            ship: self.ship,
        }
    }
}

/// Opens a mission and drives it.
pub fn run(place: &Place, args: &RunArgs) -> Result<Status, Fault> {
    let by = place::operator(args.driving.by.as_deref())?;
    let mission = charter(place, &args.wanted, &by)?;
    if args.dry_run {
        return out::json(&mission.charter);
    }
    let drive = mission.open(place)?;
    if args.detach {
        return detach(place, drive);
    }
    drive_on(drive, &args.driving, by)
}

/// How often another id is drawn. An id is short, so that it may be typed, and so it may be taken.
const DRAWN: usize = 64;

/// A mission that could be opened.
pub struct Unopened {
    /// What it would be opened with.
    pub charter: Charter,
    wish: Wish,
    stored: Option<Held>,
}

/// What a mission would be opened with; everything that is wrong with it is refused here.
pub fn charter(place: &Place, wanted: &Wanted, by: &Signature) -> Result<Unopened, Fault> {
    let source = wanted.plan.as_deref();
    let stored = match source.map(|plan| plan::meant(place, plan)).transpose()? {
        Some(Meant::Stored(id)) => Some(Plans::of(&place.home).hold(&id)?),
        Some(Meant::File(_)) | None => None,
    };
    let (goal, planned) = match &stored {
        Some(held) => {
            let goal = held.stored().goal.to_string();
            (Some(goal), Some(held.planned()?))
        }
        None => (None, wanted.plan.clone().map(Planned::File)),
    };
    let wish = wanted.wish(wanted.goal.clone().or(goal), planned);
    let charter = drawn(place, &wish, by)?;
    Ok(Unopened {
        charter,
        wish,
        stored,
    })
}

/// A charter with an id that no mission has.
fn drawn(place: &Place, wish: &Wish, by: &Signature) -> Result<Charter, Fault> {
    let mut charter = opening::charter(&place.repository, wish, by.clone())?;
    for _ in 1..DRAWN {
        if place.home.mission(&charter.fields().mission).is_err() {
            break;
        }
        charter = opening::charter(&place.repository, wish, by.clone())?;
    }
    Ok(charter)
}

impl Unopened {
    /// Opens it.
    pub fn open(self, place: &Place) -> Result<Drive, Fault> {
        if let Some(held) = self.stored {
            return Ok(held.apply(&place.home, &place.repository, self.charter)?);
        }
        let by = self.charter.fields().opened_by.clone();
        match Drive::open(&place.home, &place.repository, self.charter) {
            // Another process drew the same one at the same time.
            Err(DriveError::State(StateError::Exists(_))) => {
                let charter = drawn(place, &self.wish, &by)?;
                Ok(Drive::open(&place.home, &place.repository, charter)?)
            }
            opened => Ok(opened?),
        }
    }
}

/// Leaves the mission to a process of its own.
fn detach(place: &Place, drive: Drive) -> Result<Status, Fault> {
    let (id, dir) = (drive.id().clone(), drive.ground().dir.path().to_owned());
    // The runner takes the lock.
    drop(drive);
    let log = dir.join("runner.log");
    leave(place, &["resume", id.as_str(), "--wait"], &log)?;
    out::say(&format!(
        "{id} runs by itself. Look with:\n  backstop status {id}\nIts runner writes to `{}`.\n",
        log.display()
    ))
}

/// Leaves a process of this program behind that writes to `log`, in a process group of its own: closing the terminal does not end it.
pub(crate) fn leave(place: &Place, args: &[&str], log: &Path) -> Result<Started, Fault> {
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log)?;
    let mut command = std::process::Command::new(own_program()?);
    if let Some(root) = place.home.path().parent() {
        command.arg("--state-dir").arg(root);
    }
    command.args(args).current_dir(place.repository.root());
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    // Where nobody waits for it, it outlives this process, which ends nothing.
    Ok(process::start(&mut command)?)
}

/// This program. Where an upgrade has put another in its place, it is still the one that runs.
fn own_program() -> std::io::Result<PathBuf> {
    let named = std::env::current_exe()?;
    Ok(if named.exists() {
        named
    } else {
        "/proc/self/exe".into()
    })
}

/// Drives a mission in the foreground and tells how it went.
pub fn drive_on(drive: Drive, driving: &Driving, by: Signature) -> Result<Status, Fault> {
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let stays = driving.wait || (interactive && !driving.exit_on_gate);
    let at_gate = if stays { AtGate::Stay } else { AtGate::Leave };
    let narrator = Narrator::new(Stream::Err, Reasons::Left);
    let person = (interactive && stays).then(|| by.clone());
    let host = question::host(&drive);
    let asking = Asking::new(narrator, host.clone(), person);
    let driven = runtime()?.block_on(drive.run(Ticker(asking), at_gate, by))?;
    let told = question::end(&driven.mission, Some(&host));
    screen::say(Stream::Out, &format!("\n{told}"));
    let parked = matches!(driven.mission.position(), Position::Parked(..));
    if driven.interrupted && parked {
        return Ok(Status::Interrupted);
    }
    Ok(question::status(&driven.mission))
}

/// A runtime of one thread: one loop owns a mission.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// What `resume` takes.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The mission, or the beginning of its id [default: the latest that has not ended]
    pub mission: Option<String>,
    /// How it is driven.
    #[command(flatten)]
    pub driving: Driving,
}

/// Goes on with a mission whose process is gone, or that is parked.
pub fn resume(place: &Place, args: &ResumeArgs) -> Result<Status, Fault> {
    let by = place::operator(args.driving.by.as_deref())?;
    let dir = place.mission(args.mission.as_deref())?;
    let mut drive = Drive::take_up(&dir, &place.repository)?;
    if matches!(drive.mission().position(), Position::Ended(_)) {
        out::say(&question::end(drive.mission(), None))?;
        return Ok(question::status(drive.mission()));
    }
    if matches!(drive.mission().position(), Position::Parked(..)) {
        drive.take(Fact::Resumed { by: by.clone() })?;
    }
    drive_on(drive, &args.driving, by)
}

/// What `stop` takes.
#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// The mission, or the beginning of its id
    pub mission: String,
    /// Your name, for the record [default: $USER]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

/// Stops a mission: its agent is ended, its work kept, the mission parked.
pub fn stop(place: &Place, args: &StopArgs) -> Result<Status, Fault> {
    let by = place::operator(args.by.as_deref())?;
    let dir = place.mission(Some(&args.mission))?;
    let fact = Fact::StopRequested { by: by.clone() };
    match Drive::take_up(&dir, &place.repository) {
        Ok(drive) => {
            park(drive, fact, by)?;
        }
        Err(DriveError::State(StateError::Held { .. })) => pass(&dir, &fact)?,
        Err(error) => return Err(error.into()),
    }
    let queued = if dir.is_queued() {
        dir.dequeue()?;
        " It is out of the queue."
    } else {
        ""
    };
    out::say(&format!(
        "{0} stops: its agent is ended, its work kept.{queued} Go on with:\n  backstop resume {0}\n",
        dir.id(),
    ))
}

/// Parks a mission that nobody drives: what was left running is ended and surveyed first.
pub(crate) fn park(mut drive: Drive, fact: Fact, by: Signature) -> Result<(), Fault> {
    drive.take(fact)?;
    if matches!(drive.mission().position(), Position::Parked(..)) {
        return Ok(());
    }
    runtime()?.block_on(drive.run(Silent, AtGate::Leave, by))?;
    Ok(())
}

/// Passes a fact to the process that drives the mission.
pub fn pass(dir: &MissionDir, fact: &Fact) -> Result<(), Fault> {
    let id = dir.id();
    let socket = door::found(dir.path(), id);
    runtime()?
        .block_on(door::ask(&socket, fact))
        .map_err(|error: DoorError| error.into())
}
