//! `gate`: what waits for a person, and a person's answers.

use std::fmt::Write as _;

use backstop_engine::mode::Account;
use backstop_engine::vocab::{Digest, GateId, Note, Signature};
use backstop_engine::{Answer, Fact, Gate, Mission, Position, Verb};
use backstop_runner::drive::{Drive, DriveError};
use backstop_runner::git::Host;
use backstop_runner::state::{MissionDir, StateError};
use backstop_runner::view::{self, GateView, MovedView};
use backstop_runner::words;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};
use crate::question;
use crate::run::{self, Driving};
use crate::screen;

/// The gate commands.
#[derive(Debug, clap::Subcommand)]
pub enum GateCommand {
    /// Lists the gates that wait, of every mission
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows a gate: the reason, the checks, the spend, and the digest that an approval would cover
    Show {
        /// Which gate.
        #[command(flatten)]
        which: Which,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Lets it pass
    Approve(AnswerArgs),
    /// Sends the work back to Code, with a note; fails a gate between roles
    Reject(AnswerArgs),
    /// Tries the same again; has the role of a gate between roles work again
    Retry(AnswerArgs),
    /// Refills exhausted accounts and goes on
    Grant(AnswerArgs),
    /// Ends the mission; everything is kept
    Abort(AnswerArgs),
}

/// Which gate is meant.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The gate's id, such as g1 [default: the one that is open]
    pub gate: Option<GateId>,
    /// The mission, or the beginning of its id [default: the one whose gate this is]
    #[arg(long, value_name = "MISSION")]
    pub mission: Option<String>,
}

/// An answer.
#[derive(Debug, clap::Args)]
pub struct AnswerArgs {
    /// Which gate.
    #[command(flatten)]
    pub which: Which,
    /// The digest that the answer covers [default: what the gate is about now]
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<Digest>,
    /// Your words; kept on record, and shown to the agent where the work goes on
    #[arg(long, value_name = "TEXT")]
    pub note: Option<Note>,
    /// An account to refill; may be repeated [default: every exhausted one]
    #[arg(long = "account", value_name = "ACCOUNT")]
    pub accounts: Vec<Account>,
    /// Only records the answer; `backstop resume` goes on
    #[arg(long)]
    pub record_only: bool,
    /// How the mission is driven on.
    #[command(flatten)]
    pub driving: Driving,
}

/// Runs a gate command.
pub fn gate(place: &Place, command: &GateCommand) -> Result<Status, Fault> {
    match command {
        GateCommand::List { json } => list(place, *json),
        GateCommand::Show { which, json } => show(place, which, *json),
        GateCommand::Approve(args) => answer(place, args, Verb::Approve),
        GateCommand::Reject(args) => answer(place, args, Verb::Reject),
        GateCommand::Retry(args) => answer(place, args, Verb::Retry),
        GateCommand::Grant(args) => answer(place, args, Verb::Grant),
        GateCommand::Abort(args) => answer(place, args, Verb::Abort),
    }
}

fn waiting(place: &Place) -> Result<Vec<(MissionDir, Mission)>, Fault> {
    let mut found = Vec::new();
    for id in place.home.missions()? {
        let dir = place.home.mission(&id)?;
        match place::read(&dir) {
            Ok(history) if history.mission.gate().is_some() => found.push((dir, history.mission)),
            Ok(_) => {}
            Err(fault) => screen::warn(&format!("mission {id}: {fault}")),
        }
    }
    Ok(found)
}

fn list(place: &Place, json: bool) -> Result<Status, Fault> {
    let found = waiting(place)?;
    let gates: Vec<GateView> = found
        .iter()
        .filter_map(|(_, mission)| Some(view::gate(mission, mission.gate()?)))
        .collect();
    if json {
        return out::json(&gates);
    }
    if gates.is_empty() {
        return out::say("nothing waits for you\n");
    }
    let line = |gate: &GateView| {
        let why: Vec<&str> = gate.reasons.iter().map(|one| one.words.as_str()).collect();
        let mut text = format!(
            "{}  {}  {}  {}\n",
            gate.mission,
            gate.id,
            gate.kind,
            why.join("; ")
        );
        for holder in &gate.holders {
            let _ = writeln!(text, "  {}", question::line(holder));
        }
        text
    };
    out::say(&gates.iter().map(line).collect::<String>())
}

/// The mission whose gate is meant.
fn meant(place: &Place, which: &Which) -> Result<MissionDir, Fault> {
    if let Some(mission) = &which.mission {
        return place.mission(Some(mission));
    }
    let mut found = waiting(place)?;
    if let Some(wanted) = &which.gate {
        let has = |mission: &Mission| mission.gate().is_some_and(|gate| gate.id == *wanted);
        if found.iter().any(|(_, mission)| has(mission)) {
            found.retain(|(_, mission)| has(mission));
        }
    }
    match found.as_slice() {
        [] => place.mission(None),
        [(dir, _)] => Ok(dir.clone()),
        several => {
            let names: Vec<&str> = several.iter().map(|(dir, _)| dir.id().as_str()).collect();
            let words = format!(
                "several missions wait: name one with --mission: {}",
                names.join(", ")
            );
            Err(Fault::new(Status::Refused, words))
        }
    }
}

fn show(place: &Place, which: &Which, json: bool) -> Result<Status, Fault> {
    let dir = meant(place, which)?;
    let mission = place::read(&dir)?.mission;
    let gate = open_gate(&mission, which)?;
    if json {
        return out::json(&view::gate(&mission, gate));
    }
    let host = Host::open(&place.repository, dir.id(), dir.path(), &[])?;
    out::say(&question::show(&mission, gate, Some(&host)))
}

fn open_gate<'a>(mission: &'a Mission, which: &Which) -> Result<&'a Gate, Fault> {
    let id = &mission.charter().fields().mission;
    let refused = |words: String| Fault::new(Status::Refused, words);
    if let Some((gate, by, verb)) = which
        .gate
        .as_ref()
        .and_then(|id| mission.answers().iter().find(|(gate, ..)| gate == id))
    {
        return Err(refused(format!(
            "gate `{gate}` of {id} was answered already: {by} chose {verb}"
        )));
    }
    let open = mission.gate().ok_or_else(|| {
        let now = words::position(mission);
        let ways = if matches!(mission.position(), Position::Parked(..)) {
            format!(": go on with `backstop resume {id}`, or give it up with `backstop clean {id} --journal --force`")
        } else {
            String::new()
        };
        refused(format!("no gate of {id} is open: it is {now}{ways}"))
    })?;
    match &which.gate {
        Some(wanted) if *wanted != open.id => Err(refused(format!(
            "there is no open gate `{wanted}` in {id}; the open one is `{}`: look at it with `backstop gate show {} --mission {id}`",
            open.id, open.id
        ))),
        Some(_) | None => Ok(open),
    }
}

fn answer(place: &Place, args: &AnswerArgs, verb: Verb) -> Result<Status, Fault> {
    let by = place::operator(args.driving.by.as_deref())?;
    let dir = meant(place, &args.which)?;
    let mission = place::read(&dir)?.mission;
    let gate = open_gate(&mission, &args.which)?;
    if matches!(verb, Verb::Retry | Verb::Grant) {
        still_moved(place, &dir, (&mission, gate), args.digest)?;
    }
    let fact = Fact::Answered(Answer {
        gate: gate.id.clone(),
        digest: args.digest.or(gate.digest),
        verb,
        accounts: args.accounts.clone(),
        note: args.note.clone(),
        by: by.clone(),
    });
    match Drive::take_up(&dir, &place.repository) {
        Ok(drive) => take(drive, fact, args, by),
        Err(DriveError::State(StateError::Held { .. })) => {
            run::pass(&dir, &fact)?;
            out::say(&format!(
                "{}: {verb} is taken; the mission's runner goes on\n",
                dir.id()
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses to have the work judged again beside a branch that is moved still: the judgement would be of no use.
fn still_moved(
    place: &Place,
    dir: &MissionDir,
    (mission, gate): (&Mission, &Gate),
    digest: Option<Digest>,
) -> Result<(), Fault> {
    let moved = view::moved(mission, gate).filter(|moved| digest != Some(moved.to_tree));
    let Some(moved) = moved else {
        return Ok(());
    };
    let host = Host::open(&place.repository, dir.id(), dir.path(), &[])?;
    let now = host.tip(&moved.name)?;
    if now.as_ref() == Some(&moved.from) {
        return Ok(());
    }
    let moved = MovedView {
        put_back: moved.back_from(now.as_ref()),
        ..moved
    };
    let now = now.map_or_else(|| "gone".to_owned(), |now| format!("at {now}"));
    let words = format!(
        "the branch of the lane, {}, is {now} still, and the work that was reviewed is {}\n{}",
        moved.name,
        moved.from,
        question::ways_on(&moved, "")
    );
    Err(Fault::new(Status::Refused, words.trim_end()))
}

/// Records the answer durably, then drives the mission on.
fn take(mut drive: Drive, fact: Fact, args: &AnswerArgs, by: Signature) -> Result<Status, Fault> {
    drive.take(fact)?;
    if args.record_only {
        return out::say(&format!(
            "{}: the answer is recorded; go on with:\n  backstop resume {}\n",
            drive.id(),
            drive.id()
        ));
    }
    run::drive_on(drive, &args.driving, by)
}
