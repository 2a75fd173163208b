//! `queue`: missions that are opened now and worked on when it is their turn.

mod work;

use std::fmt::Write as _;

use backstop_engine::{Fact, Position};
use backstop_runner::clock;
use backstop_runner::drive::{Drive, DriveError};
use backstop_runner::opening;
use backstop_runner::queue::{Queue, Queued};
use backstop_runner::state::StateError;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};
use crate::run::{self, Wanted};
use crate::status;

/// The queue commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum QueueCommand {
    /// Opens a mission that is worked on when it is its turn, and returns at once
    Add(Box<AddArgs>),
    /// Lists what is in the queue, in order, and who works on it
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Takes a mission out of the queue that has not begun
    Remove {
        /// The mission, or the beginning of its id
        mission: String,
        /// Your name, for the record [default: $USER]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Works on the queue in the background, where nobody does: after a reboot, or when the worker was killed
    Start,
    /// Works on the queue until it is empty; started by Backstop itself
    #[command(hide = true)]
    Work,
    /// Drives one mission of the queue; started by Backstop itself
    #[command(hide = true)]
    Drive {
        /// The mission
        mission: String,
    },
}

/// What `queue add` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// What the mission is opened with.
    #[command(flatten)]
    wanted: Wanted,
    /// Your name, for the record [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Runs a queue command.
pub(crate) fn queue(place: &Place, command: &QueueCommand) -> Result<Status, Fault> {
    match command {
        QueueCommand::Add(args) => add(place, args),
        QueueCommand::List { json } => list(place, *json),
        QueueCommand::Remove { mission, by } => remove(place, mission, by.as_deref()),
        QueueCommand::Start => start(place),
        QueueCommand::Work => work::work(place),
        QueueCommand::Drive { mission } => work::drive(place, mission),
    }
}

fn read(place: &Place) -> Result<Queue, Fault> {
    let parallel = opening::parallel(place.repository.root());
    Ok(Queue::read(&place.home, parallel)?)
}

fn add(place: &Place, args: &AddArgs) -> Result<Status, Fault> {
    let by = place::operator(args.by.as_deref())?;
    let drive = run::charter(place, &args.wanted, &by)?.open(place)?;
    let id = drive.id().clone();
    drive.enqueue().map_err(|error| {
        let fault = Fault::from(error);
        let words = format!(
            "mission `{id}` is opened, but does not stand in the queue: {fault}: go on with `backstop resume {id}`"
        );
        Fault::new(fault.status, words)
    })?;
    // The worker takes the lock.
    drop(drive);
    let queue = read(place)?;
    let own = queue.missions.iter().find(|one| one.status.mission == id);
    let number = own.and_then(|one| one.place);
    let number = number.map(|number| format!(", number {number}"));
    let mut text = format!(
        "{id} stands in the queue{}. Look with:\n  backstop queue list\n",
        number.unwrap_or_default()
    );
    text.push_str(&begin(place, &queue)?);
    out::say(&text)
}

/// Leaves a worker behind where there is none; what there is to say of it.
fn begin(place: &Place, queue: &Queue) -> Result<String, Fault> {
    if let Some(pid) = queue.worker {
        return Ok(format!("Process {pid} works on the queue.\n"));
    }
    let log = place.home.path().join("queue.log");
    // One that another comes before ends at once.
    run::leave(place, &["queue", "work"], &log)?;
    Ok(format!(
        "A worker is left behind that works on the queue, and writes to `{}`.\n",
        log.display()
    ))
}

fn start(place: &Place) -> Result<Status, Fault> {
    place::operator(None)?;
    let queue = read(place)?;
    if queue.worker.is_none() && !queue.stands_still() {
        let driven = queue.missions.iter().any(|one| one.place.is_some());
        return out::say(if driven {
            "each mission of the queue that goes on has its process: nothing is to be started\n"
        } else {
            "nothing in the queue is to be worked on\n"
        });
    }
    out::say(&begin(place, &queue)?)
}

fn list(place: &Place, json: bool) -> Result<Status, Fault> {
    let queue = read(place)?;
    if json {
        return out::json(&queue);
    }
    let mut text = String::new();
    for damaged in &queue.damaged {
        text.push_str(&status::damaged(damaged));
    }
    for one in &queue.missions {
        line(&mut text, one);
    }
    if text.is_empty() {
        return out::say("the queue is empty: put a mission in with `backstop queue add \"…\"`\n");
    }
    match queue.worker {
        Some(pid) => {
            let _ = writeln!(
                text,
                "\nprocess {pid} works on the queue, at most {} at once",
                queue.parallel
            );
        }
        None if queue.stands_still() => {
            text.push_str("\nNOBODY works on the queue: go on with\n  backstop queue start\n");
        }
        None => {}
    }
    if let Err(wrong) = opening::configuration(place.repository.root()) {
        let _ = writeln!(
            text,
            "\nthe configuration is wrong, so the default of {} at once counts:\n{}",
            queue.parallel,
            Fault::from(wrong)
        );
    }
    out::say(&text)
}

fn line(text: &mut String, one: &Queued) {
    let seen = &one.status;
    let place = one
        .place
        .map_or_else(|| "-".into(), |place| place.to_string());
    let driven = match seen.driven_by {
        Some(pid) => format!("; driven by process {pid}"),
        None if one.begun && one.place.is_some() => "; no process drives it".into(),
        None => String::new(),
    };
    let _ = writeln!(text, "{place:>3}  {}  {}{}", seen.mission, seen.now, driven);
    let _ = writeln!(text, "     {}", seen.goal);
    for wait in status::waits(seen, clock::now()) {
        let _ = writeln!(text, "     {wait}");
    }
    if let Some(needs) = seen.needs.as_ref().filter(|_| one.place.is_none()) {
        let _ = writeln!(text, "     needs you: {}", needs.command);
    }
}

fn remove(place: &Place, wanted: &str, by: Option<&str>) -> Result<Status, Fault> {
    let by = place::operator(by)?;
    let dir = place.mission(Some(wanted))?;
    let id = dir.id().clone();
    let refused = |words: String| Err(Fault::new(Status::Refused, words));
    if !dir.is_queued() {
        return refused(format!(
            "mission `{id}` does not stand in the queue: `backstop queue list` shows what does"
        ));
    }
    let begun = format!(
        "mission `{id}` has begun, so it is not only taken out: stop it with `backstop stop {id}`, which keeps its work"
    );
    let drive = match Drive::take_up(&dir, &place.repository) {
        Err(DriveError::State(StateError::Held { .. })) => return refused(begun),
        drive => drive?,
    };
    let goal = drive.mission().charter().fields().goal.to_string();
    match drive.mission().position() {
        Position::Busy(_) if drive.steps().len() == 1 => {
            run::park(drive, Fact::StopRequested { by: by.clone() }, by)?;
        }
        Position::Parked(..) | Position::Ended(_) => drop(drive),
        Position::Busy(_) | Position::Waiting(..) | Position::AtGate(..) => return refused(begun),
    }
    dir.dequeue()?;
    out::say(&format!(
        "{id} is out of the queue:\n  {goal}\nNothing of it has run. Its charter stays; run it after all, or remove it, with:\n  backstop resume {id}\n  backstop clean {id} --journal\n"
    ))
}
