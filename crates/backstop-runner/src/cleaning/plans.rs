//! Removes stored plans that nothing needs any more. They are records: a mission that runs one has it in its own journal.

use std::fs;
use std::path::PathBuf;

use backstop_engine::vocab::{MissionId, Span};

use super::{Act, Records, Scope, has_ended};
use crate::clock;
use crate::history;
use crate::plans::{PlanError, Plans, State, Stored};
use crate::state::{Home, StateError};

/// How long a plan waits for a person before it may go: 30 days.
const WAITS: Span = Span::from_millis(30 * 24 * 3_600_000);

/// Who wants a plan to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nobody in particular: it goes if nothing needs it.
    IfUnneeded,
    /// A person who named it.
    ByName,
    /// A person who named it and insists.
    Insisted,
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanedPlan {
    /// The plan.
    pub id: MissionId,
    /// Where it stands, in a word.
    pub now: &'static str,
    /// Its folder.
    pub folder: PathBuf,
    /// Why it stays; none where it goes.
    pub kept: Option<Kept>,
}

/// Why a plan stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Something needs it still.
    Needed(String),
    /// Records stay.
    Record,
}

/// Cleans one plan.
///
/// # Errors
/// When another process has it, it cannot be read, or the disk refuses.
pub fn clean_plan(
    home: &Home,
    id: &MissionId,
    wanted: Wanted,
    scope: Scope,
) -> Result<CleanedPlan, PlanError> {
    let held = Plans::of(home).hold(id)?;
    let stored = held.stored();
    let record = (scope.records == Records::Kept).then_some(Kept::Record);
    let cleaned = CleanedPlan {
        id: id.clone(),
        now: stored.state.name(),
        folder: held.dir().path().to_owned(),
        kept: need(home, stored, wanted)?.map(Kept::Needed).or(record),
    };
    if cleaned.kept.is_none() && scope.act == Act::Done {
        fs::remove_dir_all(&cleaned.folder).map_err(PlanError::io("remove", &cleaned.folder))?;
    }
    drop(held);
    Ok(cleaned)
}

/// What still needs a plan, in words.
fn need(home: &Home, stored: &Stored, wanted: Wanted) -> Result<Option<String>, PlanError> {
    let insists = wanted == Wanted::Insisted || stored.is_edited();
    Ok(match &stored.state {
        State::Parked(_) => None,
        State::Asking => Some(
            "whoever asked for it was killed; the next `backstop plan propose` puts it in order"
                .into(),
        ),
        State::Applying(application) | State::Applied(application) => {
            let mission = &application.mission;
            let over = is_over(home, mission)?;
            (!over).then(|| format!("mission {mission} runs it"))
        }
        State::Approved(_) if !insists => Some(
            "it is approved, and no mission has run it; name it with --force to remove it".into(),
        ),
        State::Approved(_) | State::Proposed => {
            let age = clock::now().since(stored.at);
            let young = wanted == Wanted::IfUnneeded && age < WAITS;
            let since = || clock::utc(stored.at);
            young.then(|| format!("it waits for a person since {}", since()))
        }
    })
}

/// Whether nothing moves a mission any more. What cannot be read may go on.
fn is_over(home: &Home, mission: &MissionId) -> Result<bool, PlanError> {
    match home.mission(mission) {
        Err(StateError::Unknown { .. }) => Ok(true),
        Err(error) => Err(error.into()),
        Ok(dir) => {
            Ok(history::read(&dir.journal()).is_ok_and(|history| has_ended(&history.mission)))
        }
    }
}
