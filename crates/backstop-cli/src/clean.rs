//! `clean`: gives back what missions take up on the disk and in the repository.

use std::fmt::Write as _;

use backstop_runner::cleaning::{self, Act, CleanError, Cleaned, Records, Scope, Unheld};
use backstop_runner::plans::Plans;
use backstop_runner::state::MissionDir;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::Place;

/// What `clean` takes.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct CleanArgs {
    /// The missions, or the beginnings of their ids; of one that can go on, only the checkouts are removed
    #[arg(required_unless_present = "all_ended", conflicts_with = "all_ended")]
    missions: Vec<String>,
    /// Every mission that has shipped or was aborted
    #[arg(long)]
    all_ended: bool,
    /// Says what would be removed and what kept, and removes nothing
    #[arg(long)]
    dry_run: bool,
    /// Removes journals, transcripts and answers too
    #[arg(long)]
    journal: bool,
    /// Gives up refs whose commits no other ref holds, and cleans missions whose journal is damaged
    #[arg(long, conflicts_with = "all_ended")]
    force: bool,
}

impl CleanArgs {
    const fn scope(&self) -> Scope {
        Scope {
            unheld: if self.force {
                Unheld::GivenUp
            } else {
                Unheld::Kept
            },
            records: if self.journal {
                Records::Removed
            } else {
                Records::Kept
            },
            act: if self.dry_run { Act::Said } else { Act::Done },
        }
    }
}

/// Cleans missions. One that cannot be cleaned is told, and the others are cleaned all the same.
pub(crate) fn clean(place: &Place, args: &CleanArgs) -> Result<Status, Fault> {
    if args.journal && !args.dry_run {
        Plans::of(&place.home).settle()?;
    }
    let dirs = if args.all_ended {
        ended(place)?
    } else {
        let dirs = args.missions.iter().map(|wanted| place.home.find(wanted));
        dirs.collect::<Result<_, _>>()?
    };
    if dirs.is_empty() {
        return out::say("no mission has ended, so there is nothing to clean\n");
    }
    let mut worst = Ok(Status::Done);
    for dir in &dirs {
        match cleaning::clean(dir, &place.repository, args.scope()) {
            Ok(cleaned) => drop(out::say(&told(dir, &cleaned, args))?),
            Err(error) if dirs.len() == 1 => return Err(error.into()),
            Err(error) => {
                out::say(&format!("{}  NOT CLEANED\n  {error}\n", dir.id()))?;
                worst = Ok(Fault::from(error).status);
            }
        }
    }
    worst
}

fn ended(place: &Place) -> Result<Vec<MissionDir>, Fault> {
    let all = place.all()?.into_iter();
    let read = all.filter_map(|(_, read)| read.ok());
    Ok(read
        .filter(|(_, history)| cleaning::has_ended(&history.mission))
        .map(|(dir, _)| dir)
        .collect())
}

fn told(dir: &MissionDir, cleaned: &Cleaned, args: &CleanArgs) -> String {
    let mut text = format!("{}  {}\n", dir.id(), cleaned.now);
    let gone = if args.dry_run { "would go" } else { "removed" };
    for folder in &cleaned.folders {
        let _ = writeln!(text, "  {gone:<9} {}", folder.display());
    }
    for one in &cleaned.refs {
        let held = one.elsewhere.as_ref().map_or_else(
            || "nothing else holds it".to_owned(),
            |other| format!("held by {other}"),
        );
        let _ = writeln!(text, "  {gone:<9} {} at {}; {held}", one.name, one.commit);
    }
    if cleaned.folders.is_empty() && cleaned.refs.is_empty() {
        text.push_str("  nothing is left to remove\n");
    }
    for one in &cleaned.unheld {
        let _ = writeln!(
            text,
            "  kept      {} at {}: no other ref holds it; --force gives it up",
            one.name, one.commit
        );
    }
    for one in &cleaned.needed {
        let _ = writeln!(
            text,
            "  kept      {} at {}: the mission goes on with it",
            one.name, one.commit
        );
    }
    if let Some(records) = &cleaned.records {
        let _ = writeln!(
            text,
            "  kept      {}: journal and evidence; --journal removes them",
            records.display()
        );
    }
    text
}

impl From<CleanError> for Fault {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::State(error) => error.into(),
            CleanError::History(error) => error.into(),
            CleanError::Git(_) | CleanError::Unfinished { .. } | CleanError::NotEnded { .. } => {
                Self::new(Status::Refused, error)
            }
            CleanError::Io { .. } => Self::new(Status::Unexpected, error),
        }
    }
}
