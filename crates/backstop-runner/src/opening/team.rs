//! Who plays which role, and whether they can be started as they are set.

use std::collections::BTreeMap;
use std::path::PathBuf;

use backstop_agents::SCRIPT;
use backstop_engine::mode::Ceilings;
use backstop_engine::{AgentSpec, CharterDraft, Role, Roles};

use super::{OpeningError, Wish, text};
use crate::config::{self, File, RoleTable};
use crate::play::Script;
use crate::programs;

pub(super) fn roles(file: &File, wish: &Wish, ceilings: &Ceilings) -> Result<Roles, OpeningError> {
    let on = |role| {
        let table = file.roles.on(role);
        table
            .map(|table| spec(file, wish, table, ceilings))
            .transpose()
    };
    Ok(Roles {
        scout: on(Role::Scout)?,
        planner: on(Role::Planner)?,
        implementer: spec(file, wish, &file.roles.implementer, ceilings)?,
        reviewer: on(Role::Reviewer)?,
        verifier: on(Role::Verifier)?,
        release_lead: on(Role::ReleaseLead)?,
    })
}

pub(super) fn spec(
    file: &File,
    wish: &Wish,
    role: &RoleTable,
    ceilings: &Ceilings,
) -> Result<AgentSpec, OpeningError> {
    let configured = role
        .agent
        .as_ref()
        .or(file.agent.as_ref())
        .map(|name| name.get_ref().clone());
    let implied = implied(wish)?;
    let name = wish
        .agent
        .clone()
        .or(implied)
        .or(configured)
        .ok_or(OpeningError::NoAgent)?;
    backstop_agents::known(&name).map_err(OpeningError::Agent)?;
    let assumed = file
        .agents
        .get(name.as_str())
        .and_then(|agent| agent.assumed_cost);
    let assumed_cost = assumed
        .and_then(config::Usd::micro)
        .unwrap_or_else(|| ceilings.assumed_cost());
    let model = role.model.as_ref().or(file.model.as_ref());
    let effort = role.effort.as_ref().or(file.effort.as_ref());
    Ok(AgentSpec {
        agent: text("name of an agent", &name)?,
        model: model.map(|model| text("model", model)).transpose()?,
        effort: effort.map(|effort| text("effort", effort)).transpose()?,
        assumed_cost,
    })
}

/// The agent that a flag of its own implies.
fn implied(wish: &Wish) -> Result<Option<String>, OpeningError> {
    let flags = [
        ("--exec-command", "exec", wish.exec_command.is_some()),
        ("--script", "scripted", wish.script.is_some()),
    ];
    let Some((flag, of, _)) = flags.into_iter().find(|(_, _, given)| *given) else {
        return Ok(None);
    };
    match &wish.agent {
        Some(name) if name != of => {
            let name = name.clone();
            Err(OpeningError::TwoAgents { flag, of, name })
        }
        Some(_) | None => Ok(Some(of.to_owned())),
    }
}

/// The settings are frozen now: an agent that they do not let start would wait at a gate for what no answer can give.
pub(super) fn startable(
    draft: &CharterDraft,
    options: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<(), OpeningError> {
    let roles = Role::ALL.into_iter();
    let at_work = roles.filter(|role| role.stage() >= draft.from);
    for spec in at_work.filter_map(|role| draft.roles.of(role)) {
        let name = spec.agent.as_str();
        let options = options.get(name).cloned().unwrap_or_default();
        let script = options.get(SCRIPT).map(PathBuf::from);
        programs::unset(name, options.into_iter().collect()).map_err(OpeningError::Agent)?;
        if let Some(script) = script {
            Script::read(&script).map_err(|error| OpeningError::Agent(error.to_string()))?;
        }
    }
    Ok(())
}
