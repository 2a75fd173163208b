//! The plan of a new mission: a goal of one phase, a file, or a stored plan; what it is checked by, and the id that it gives
//! the mission.

use std::path::Path;

use backstop_engine::Check;
use backstop_engine::plan::{self, Checks, Plan};
use backstop_engine::vocab::{MissionId, PhaseKind};

use super::{OpeningError, Planned, Unchecked, Wish, text};
use crate::config::File;

pub(crate) fn title(plan: &Plan) -> String {
    let first = plan
        .phases()
        .first()
        .map(|phase| phase.task().as_str())
        .unwrap_or_default();
    first.lines().next().unwrap_or_default().to_owned()
}

/// An id that says what the mission is about: up to four words of the goal, and four digits that set it apart.
pub(crate) fn name(goal: &str) -> MissionId {
    let words = goal.to_ascii_lowercase();
    let words = words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut name = words.take(4).collect::<Vec<_>>().join("-");
    name.truncate(40);
    let unique = uuid::Uuid::now_v7().simple().to_string();
    let tail = unique
        .get(unique.len().saturating_sub(4)..)
        .unwrap_or("0000");
    let name = if name.is_empty() {
        format!("mission-{tail}")
    } else {
        format!("{name}-{tail}")
    };
    MissionId::clip(&name)
}

pub(super) fn plan(wish: &Wish, checks: &[Check]) -> Result<Plan, OpeningError> {
    let checked = checked(wish.unchecked, checks);
    match (&wish.goal, &wish.plan) {
        (Some(goal), None) if goal.trim().is_empty() => Err(OpeningError::NoGoal),
        (Some(_), None) if matches!(checked, Checks::None) => Err(OpeningError::Unchecked),
        (Some(goal), None) => {
            Plan::single(PhaseKind::Coding, goal, checked).map_err(OpeningError::Plan)
        }
        (_, Some(Planned::File(path))) => read_plan(path, checked),
        (_, Some(Planned::Stored(stored))) => {
            let (plan, _) = stored.as_ref();
            // It was found valid beside the checks of its day.
            let value = serde_json::to_value(plan).unwrap_or_default();
            let draft = plan::Draft::from_value(value).with_checks(checked);
            Plan::try_from(draft).map_err(OpeningError::Plan)
        }
        (None, None) => Err(OpeningError::NoGoal),
    }
}

/// What coding phases are checked by besides the plan's own checks.
pub(super) const fn checked(unchecked: Unchecked, checks: &[Check]) -> Checks {
    match unchecked {
        Unchecked::Wanted => Checks::Waived,
        Unchecked::Refused if checks.is_empty() => Checks::None,
        Unchecked::Refused => Checks::Configured,
    }
}

/// Reads a plan, as JSON or, where its name ends so, as TOML.
///
/// # Errors
/// When the file cannot be read or is no plan.
pub fn read_plan(path: &Path, checks: Checks) -> Result<Plan, OpeningError> {
    let failed = |words: String| OpeningError::PlanFile {
        path: path.into(),
        words,
    };
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let content =
        String::from_utf8(bytes).map_err(|error| failed(format!("{error}: a plan is text")))?;
    let draft = if path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("toml"))
    {
        let value: serde_json::Value =
            toml::from_str(&content).map_err(|error| failed(error.to_string()))?;
        plan::Draft::from_value(value)
    } else {
        plan::read(&content).map_err(OpeningError::Plan)?
    };
    Plan::try_from(draft.with_checks(checks)).map_err(OpeningError::Plan)
}

/// The host checks that are configured or asked for, each with a name of its own.
pub(super) fn checks(file: &File, wish: &Wish) -> Result<Vec<Check>, OpeningError> {
    let named = file.check.iter().map(|check| {
        (
            check.name.get_ref().clone(),
            check.command.get_ref().clone(),
        )
    });
    let bare = file
        .checks
        .iter()
        .chain(&wish.checks)
        .map(|command| (short(command), command.clone()));
    let mut checks: Vec<Check> = Vec::new();
    for (name, command) in named.chain(bare) {
        let taken =
            |name: &str, checks: &[Check]| checks.iter().any(|check| check.name.as_str() == name);
        let mut unique = name.clone();
        let mut n = 2_u32;
        while taken(&unique, &checks) {
            unique = format!("{name} ({n})");
            n = n.saturating_add(1);
        }
        checks.push(Check {
            name: text("name of a check", &unique)?,
            command: text("command of a check", &command)?,
        });
    }
    Ok(checks)
}

/// The first words of a command, as the name of a check.
fn short(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().take(3).collect();
    words.join(" ").chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_the_mission_is_about() {
        let id = name("Fix the login page, please!");
        assert!(id.as_str().starts_with("fix-the-login-page-"), "{id}");
        assert!(name("…").as_str().starts_with("mission-"));
        assert!(name(&"x".repeat(500)).as_str().len() <= 64);
    }
}
