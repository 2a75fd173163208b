//! `journal`: checks a mission's journal, shows its end, and prints all of it for other programs.

use std::fmt::Write as _;
use std::path::PathBuf;

use backstop_engine::Fact;
use backstop_engine::vocab::{Digest, MissionId, Timestamp};
use backstop_runner::history::{History, Step};
use backstop_runner::journal::{self, Seq, Tail, Verified};
use backstop_runner::state::MissionDir;
use backstop_runner::words;
use serde::Serialize;

use crate::fault::{Fault, Status};
use crate::follow::{self, Until};
use crate::out;
use crate::place::{self, Place};

/// The journal commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum JournalCommand {
    /// Checks every record, the chain between them, and that a mission can have written them
    Verify {
        /// The mission, or the beginning of its id [default: every mission]
        mission: Option<String>,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints the last records, a line of JSON each
    Tail {
        /// The mission, or the beginning of its id [default: the latest that has not ended]
        mission: Option<String>,
        /// Goes on with what is appended, until the mission ends, parks, or waits for a person
        #[arg(short, long)]
        follow: bool,
        /// How many records
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
        lines: usize,
    },
    /// Verifies a journal, then prints every record with the rules that fired, a line of JSON each
    Export {
        /// The mission, or the beginning of its id [default: the latest that has not ended]
        mission: Option<String>,
    },
}

/// Runs a journal command.
pub(crate) fn journal(place: &Place, command: &JournalCommand) -> Result<Status, Fault> {
    match command {
        JournalCommand::Verify { mission, json } => verify(place, mission.as_deref(), *json),
        JournalCommand::Tail {
            mission,
            follow,
            lines,
        } => {
            let until = if *follow { Until::Settled } else { Until::Read };
            tail(&place.mission(mission.as_deref())?, until, *lines)
        }
        JournalCommand::Export { mission } => export(&place.mission(mission.as_deref())?),
    }
}

/// What `journal verify --json` prints for each mission.
#[derive(Debug, Serialize)]
struct Verdict {
    /// The mission.
    mission: MissionId,
    /// Where its journal is.
    journal: PathBuf,
    /// What was found, when every record holds.
    sound: Option<Sound>,
    /// What is wrong, with the offset, when one does not.
    damage: Option<String>,
}

/// A journal in which every record holds.
#[derive(Debug, Serialize)]
struct Sound {
    /// How many whole records it has.
    records: u64,
    /// Their length in bytes.
    bytes: u64,
    /// The digest of the last of them.
    head: Digest,
    /// Bytes after the last whole record: the writer may be writing, or have died.
    unfinished_bytes: u64,
}

fn verify(place: &Place, wanted: Option<&str>, json: bool) -> Result<Status, Fault> {
    let dirs = if let Some(wanted) = wanted {
        vec![place.mission(Some(wanted))?]
    } else {
        let ids = place.home.missions()?;
        let dirs = ids.iter().map(|id| place.home.mission(id));
        dirs.collect::<Result<_, _>>()?
    };
    let verdicts: Vec<Verdict> = dirs.iter().map(judge).collect();
    let damaged = verdicts.iter().any(|one| one.damage.is_some());
    if json {
        out::json(&verdicts)?;
    } else {
        let text: String = verdicts.iter().map(told).collect();
        out::say(if text.is_empty() {
            "there is no mission in this repository, so there is no journal\n"
        } else {
            &text
        })?;
    }
    Ok(if damaged {
        Status::Damaged
    } else {
        Status::Done
    })
}

fn judge(dir: &MissionDir) -> Verdict {
    let sound = sound(dir);
    let (sound, damage) = match sound {
        Ok(sound) => (Some(sound), None),
        Err(fault) => (None, Some(fault.to_string())),
    };
    Verdict {
        mission: dir.id().clone(),
        journal: dir.journal(),
        sound,
        damage,
    }
}

fn sound(dir: &MissionDir) -> Result<Sound, Fault> {
    let Verified {
        records,
        bytes,
        head,
        tail,
    } = journal::verify(&dir.journal())?;
    // A chain that holds can still tell of what no mission does.
    place::read(dir)?;
    let unfinished_bytes = match tail {
        Tail::None => 0,
        Tail::Record { offset } => length(dir).saturating_sub(offset),
        Tail::Torn { offset: _, bytes } => bytes,
    };
    Ok(Sound {
        records,
        bytes,
        head,
        unfinished_bytes,
    })
}

fn length(dir: &MissionDir) -> u64 {
    std::fs::metadata(dir.journal()).map_or(0, |found| found.len())
}

fn told(verdict: &Verdict) -> String {
    let mut text = String::new();
    match (&verdict.sound, &verdict.damage) {
        (Some(sound), _) => {
            let _ = writeln!(
                text,
                "{}  sound: {} records, {} bytes\n  head      {}\n  journal   {}",
                verdict.mission,
                sound.records,
                sound.bytes,
                sound.head,
                verdict.journal.display()
            );
            if sound.unfinished_bytes > 0 {
                let _ = writeln!(
                    text,
                    "  note      {} bytes after the last whole record: one is being written, or a crash cut it off, which `backstop resume` mends",
                    sound.unfinished_bytes
                );
            }
        }
        (None, damage) => {
            let _ = writeln!(
                text,
                "{}  DAMAGED\n  {}",
                verdict.mission,
                damage.as_deref().unwrap_or_default()
            );
        }
    }
    text
}

/// A record, for other programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Its number.
    seq: Seq,
    /// When it was appended.
    at: Timestamp,
    /// What happened.
    event: &'a Fact,
    /// The names of the rules that fired.
    because: Vec<String>,
}

impl<'a> Line<'a> {
    fn of(step: &'a Step) -> Self {
        Self {
            seq: step.seq,
            at: step.at,
            event: &step.fact,
            because: step
                .because
                .iter()
                .map(|rule| words::rule_name(*rule))
                .collect(),
        }
    }
}

fn tail(dir: &MissionDir, until: Until, lines: usize) -> Result<Status, Fault> {
    let history = place::read(dir)?;
    let skipped = history.steps.len().saturating_sub(lines);
    for step in history.steps.iter().skip(skipped) {
        out::json_line(&Line::of(step))?;
    }
    if until == Until::Read {
        return Ok(Status::Done);
    }
    let shown = history.steps.last().map(|step| step.seq);
    follow::steps(dir, until, |step, _| {
        if Some(step.seq) > shown {
            out::json_line(&Line::of(step))?;
        }
        Ok(())
    })?;
    Ok(Status::Done)
}

/// Nothing is printed of a journal that does not hold to its end.
fn export(dir: &MissionDir) -> Result<Status, Fault> {
    journal::verify(&dir.journal())?;
    let History { steps, mission: _ } = place::read(dir)?;
    for step in &steps {
        out::json_line(&Line::of(step))?;
    }
    Ok(Status::Done)
}
