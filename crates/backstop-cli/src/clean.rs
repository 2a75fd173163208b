//! `clean`: gives back what missions take up on the disk and in the repository.

use std::fmt::Write as _;

use backstop_engine::vocab::MissionId;
use backstop_runner::cleaning::{
    self, Act, CleanError, Cleaned, Kept, Records, Scope, Unheld, Wanted,
};
use backstop_runner::plans::{PlanError, Plans};
use backstop_runner::state::{MissionDir, StateError};

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
    /// The missions or stored plans, or the beginnings of their ids; of a mission that can go on, only the checkouts are
    /// removed
    #[arg(required_unless_present = "all_ended", conflicts_with = "all_ended")]
    missions: Vec<String>,
    /// Every mission that has shipped or was aborted, and every stored plan that nothing needs any more
    #[arg(long)]
    all_ended: bool,
    /// Says what would be removed and what kept, and removes nothing
    #[arg(long)]
    dry_run: bool,
    /// Removes journals, transcripts, answers and stored plans too
    #[arg(long)]
    journal: bool,
    /// Gives up refs whose commits no other ref holds, and with --journal missions that are parked; cleans missions whose
    /// journal is damaged, and removes plans that are approved and were not run
    #[arg(long, conflicts_with = "all_ended")]
    force: bool,
}

impl CleanArgs {
    const fn gone(&self) -> &'static str {
        if self.dry_run { "would go" } else { "removed" }
    }

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

/// Cleans missions and plans. What cannot be cleaned is told, and the others are cleaned all the same.
pub(crate) fn clean(place: &Place, args: &CleanArgs) -> Result<Status, Fault> {
    if args.journal && !args.dry_run {
        Plans::of(&place.home).settle()?;
    }
    let (dirs, plans) = if args.all_ended {
        let plans = Plans::of(&place.home).all()?.into_iter();
        (ended(place)?, plans.map(|(id, _)| id).collect())
    } else {
        named(place, &args.missions)?
    };
    let alone = dirs.len().saturating_add(plans.len()) == 1;
    let missions = dirs.iter().map(|dir| (dir.id(), mission(place, dir, args)));
    let plans = plans.iter().map(|id| (id, plan(place, id, args)));
    let (mut told, mut worst) = (false, Ok(Status::Done));
    for (id, cleaned) in missions.chain(plans) {
        let text = match cleaned {
            Ok(text) => text,
            Err(fault) if alone => return Err(fault),
            Err(fault) => {
                worst = Ok(fault.status);
                format!("{id}  NOT CLEANED\n  {fault}\n")
            }
        };
        told |= !text.is_empty();
        out::say(&text)?;
    }
    if told {
        return worst;
    }
    out::say("no mission has ended and no plan is left over, so there is nothing to clean\n")
}

/// What each name means: a mission, else a stored plan.
fn named(place: &Place, names: &[String]) -> Result<(Vec<MissionDir>, Vec<MissionId>), Fault> {
    let (mut dirs, mut plans) = (Vec::new(), Vec::new());
    for name in names {
        match place.home.find(name) {
            Ok(dir) => dirs.push(dir),
            Err(unknown @ StateError::Unknown { .. }) => {
                plans.push(Plans::of(&place.home).find(name)?.ok_or(unknown)?);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok((dirs, plans))
}

fn mission(place: &Place, dir: &MissionDir, args: &CleanArgs) -> Result<String, Fault> {
    let cleaned = cleaning::clean(dir, &place.repository, args.scope())?;
    Ok(told(dir, &cleaned, args))
}

/// What became of a plan; blank where it is needed and nobody named it.
fn plan(place: &Place, id: &MissionId, args: &CleanArgs) -> Result<String, Fault> {
    let wanted = match (args.all_ended, args.force) {
        (true, _) => Wanted::IfUnneeded,
        (false, false) => Wanted::ByName,
        (false, true) => Wanted::Insisted,
    };
    let cleaned = match cleaning::clean_plan(&place.home, id, wanted, args.scope()) {
        Err(PlanError::Held { .. }) if args.all_ended => return Ok(String::new()),
        cleaned => cleaned?,
    };
    let folder = cleaned.folder.display();
    let line = match &cleaned.kept {
        Some(Kept::Needed(_)) if args.all_ended => return Ok(String::new()),
        Some(Kept::Needed(why)) => format!("kept      {folder}: {why}"),
        Some(Kept::Record) => format!("kept      {folder}: a record; --journal removes it"),
        None => format!("{:<9} {folder}", args.gone()),
    };
    Ok(format!("plan {id}  {}\n  {line}\n", cleaned.now))
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
    let gone = args.gone();
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
            CleanError::Git(_)
            | CleanError::Unfinished { .. }
            | CleanError::Queued { .. }
            | CleanError::Parked { .. }
            | CleanError::NotEnded { .. } => Self::new(Status::Refused, error),
            CleanError::Io { .. } => Self::new(Status::Unexpected, error),
        }
    }
}
