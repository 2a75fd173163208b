//! `logs`: the story of a mission, as it was told while it ran, and where the transcripts are.

use std::fmt::Write as _;

use backstop_engine::vocab::EffectId;
use backstop_engine::{Effect, Fact, Mission};
use backstop_runner::blobs::Blobs;
use backstop_runner::history::Step;
use backstop_runner::state::MissionDir;
use backstop_runner::view::{self, AttemptView};

use crate::fault::{Fault, Status};
use crate::follow::{self, Until};
use crate::live::{self, Reasons};
use crate::out;
use crate::place::{self, Place};

/// What `logs` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct LogsArgs {
    /// The mission, or the beginning of its id [default: the latest that has not ended]
    mission: Option<String>,
    /// Goes on with what happens, until the mission ends, parks, or waits for a person
    #[arg(short, long, conflicts_with_all = ["attempt", "transcript"])]
    follow: bool,
    /// Only this attempt: its number in the mission, from 1
    #[arg(long, value_name = "N")]
    attempt: Option<usize>,
    /// Prints the transcript of the last attempt, or of the one that `--attempt` names
    #[arg(long, conflicts_with = "json")]
    transcript: bool,
    /// Prints a line of JSON for each step
    #[arg(long)]
    json: bool,
}

/// Tells the story.
pub(crate) fn logs(place: &Place, args: &LogsArgs) -> Result<Status, Fault> {
    let dir = place.mission(args.mission.as_deref())?;
    if args.transcript {
        return transcript(&dir, args.attempt);
    }
    let tell = teller(args.json);
    match (args.follow, args.attempt) {
        (true, _) => follow::steps(&dir, Until::Settled, tell)?,
        (false, Some(number)) => one(&dir, number, tell)?,
        (false, None) => follow::steps(&dir, Until::Read, tell)?,
    }
    if args.json {
        return Ok(Status::Done);
    }
    out::say(&transcripts(&attempts(&dir)?, args.attempt))
}

/// Tells a step as JSON or in the narrator's lines.
fn teller(json: bool) -> impl FnMut(&Step, &Mission) -> Result<(), Fault> {
    move |step, mission| {
        if json {
            return out::json_line(&view::step(step, mission)).map(drop);
        }
        out::say(&live::told(step, mission, Reasons::Left)).map(drop)
    }
}

/// The steps of one attempt: its launch, and what it answered.
fn one(
    dir: &MissionDir,
    number: usize,
    mut tell: impl FnMut(&Step, &Mission) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let history = place::read(dir)?;
    let launches = history.steps.iter().flat_map(|step| &step.effects);
    let launches: Vec<EffectId> = launches
        .filter(|(_, effect)| matches!(effect, Effect::Launch(_)))
        .map(|(id, _)| *id)
        .collect();
    let wanted = number.checked_sub(1).and_then(|index| launches.get(index));
    let wanted = wanted.ok_or_else(|| no_attempt(dir, number, launches.len()))?;
    history
        .walk()
        .filter(|(step, _)| belongs(step, *wanted))
        .try_for_each(|(step, mission)| tell(step, &mission))
}

/// Whether a step is about this launch.
fn belongs(step: &Step, launch: EffectId) -> bool {
    match &step.fact {
        Fact::AttemptStarted(started) => started.effect == launch,
        Fact::SessionOpened(opened) => opened.effect == launch,
        Fact::AttemptEnded(ended) => ended.effect == launch,
        Fact::Opened(_)
        | Fact::PreflightRan(_)
        | Fact::ChecksRan(_)
        | Fact::WaitEnded { .. }
        | Fact::Landed { .. }
        | Fact::LandFailed { .. }
        | Fact::Shipped(_)
        | Fact::BaseMerged(_)
        | Fact::Answered(_)
        | Fact::GateExpired { .. }
        | Fact::StopRequested { .. }
        | Fact::Resumed { .. }
        | Fact::Tightened { .. }
        | Fact::Supervised { .. } => false,
    }
}

fn no_attempt(dir: &MissionDir, number: usize, made: usize) -> Fault {
    let words = format!(
        "{} has no attempt {number}: it made {made}; `backstop logs {}` lists them",
        dir.id(),
        dir.id()
    );
    Fault::new(Status::Refused, words)
}

fn attempts(dir: &MissionDir) -> Result<Vec<AttemptView>, Fault> {
    Ok(view::report(&place::read(dir)?, dir).attempts)
}

/// Where the transcripts are.
fn transcripts(attempts: &[AttemptView], wanted: Option<usize>) -> String {
    let mut text = String::from("\nTranscripts\n");
    let shown = attempts
        .iter()
        .filter(|one| wanted.is_none_or(|number| one.number == number));
    for one in shown {
        let place = match (&one.transcript, &one.ended) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(_)) => "none was kept".into(),
            (None, None) => "kept when it ends".into(),
        };
        let _ = writeln!(
            text,
            "  {:>3}  phase {} {} visit {} attempt {}, {}: {place}",
            one.number, one.phase, one.stage, one.visit, one.attempt, one.role
        );
    }
    if attempts.is_empty() {
        text.push_str("  no attempt was made\n");
    }
    text
}

/// Prints a transcript as it was kept.
fn transcript(dir: &MissionDir, wanted: Option<usize>) -> Result<Status, Fault> {
    let attempts = attempts(dir)?;
    let found = match wanted {
        Some(number) => attempts.iter().find(|one| one.number == number),
        None => attempts.iter().rev().find(|one| one.transcript.is_some()),
    };
    let number = wanted.unwrap_or(1);
    let found = found.ok_or_else(|| no_attempt(dir, number, attempts.len()))?;
    let none = || {
        let words = format!(
            "attempt {} of {} left no transcript",
            found.number,
            dir.id()
        );
        Fault::new(Status::Refused, words)
    };
    let digest = found.transcript_digest.ok_or_else(none)?;
    let bytes = Blobs::at(dir.blobs()).read(&digest)?;
    out::foreign(&bytes)
}
