//! Looks whether a mission can be worked on, before anything is spent: git, people, disk, memory, agents, checks.

use std::sync::Arc;

use backstop_agents as agents;
use backstop_engine::plan::Plan;
use backstop_engine::vocab::{EffectId, Phase, Text};
use backstop_engine::{
    CheckResult, CheckVerdict, GreenBase, Point, PointVerdict, PreflightRan, Role, ShipBy,
};

use super::ready::Unready;
use super::{Halted, blocking, checks};
use crate::edge::Ground;
use crate::git::{Bench, GitError, shown};
use crate::programs;
use crate::room::{self, Found};

/// Looks at everything, and runs the checks once on the base.
pub(super) async fn run(ground: &Arc<Ground>, id: EffectId, halted: Halted) -> PreflightRan {
    let looked = blocking(ground, |ground| {
        let mut points = vec![
            repository(ground),
            clean(ground),
            disk(ground),
            memory(ground),
        ];
        points.extend(agents_of(ground));
        points
    });
    let mut points = looked.await;
    let base_checks = base(ground, &mut points, &halted).await;
    PreflightRan {
        effect: id,
        points,
        base_checks,
    }
}

/// The preflight of a mission that did not come to it.
pub(super) fn not_run(id: EffectId, unready: &Unready) -> PreflightRan {
    PreflightRan {
        effect: id,
        points: vec![failed("turn", &unready.to_string())],
        base_checks: Vec::new(),
    }
}

fn point(name: &str, verdict: PointVerdict) -> Point {
    Point {
        name: Text::clip(name),
        verdict,
    }
}

fn held(name: &str, words: &str) -> Point {
    point(name, PointVerdict::Held(Text::clip(words)))
}

fn warned(name: &str, words: &str) -> Point {
    point(name, PointVerdict::Warned(Text::clip(words)))
}

fn failed(name: &str, words: &str) -> Point {
    point(name, PointVerdict::Failed(Text::clip(words)))
}

/// The repository as a whole, and whether its base can be kept.
fn repository(ground: &Ground) -> Point {
    let fields = ground.charter.fields();
    let fitness = match ground
        .host
        .repository()
        .fitness(Some(fields.base.commit.as_str()))
    {
        Ok(fitness) => fitness,
        Err(error) => return failed("git", &error.to_string()),
    };
    if !fitness.unfit.is_empty() {
        let words: Vec<String> = fitness.unfit.iter().map(ToString::to_string).collect();
        return failed("git", &words.join("; "));
    }
    if let Err(error) = room(ground) {
        return failed("git", &error.to_string());
    }
    // A base named by its commit is on no branch; the charter knows better.
    let notices = fitness
        .notices
        .iter()
        .filter(|notice| **notice != crate::git::Notice::Detached);
    let notices: Vec<String> = notices.map(ToString::to_string).collect();
    if notices.is_empty() {
        return held("git", &format!("base {}", fields.base.commit));
    }
    warned("git", &notices.join("; "))
}

/// Whether the mission's refs can be made, the one that it is to ship as among them.
fn room(ground: &Ground) -> Result<(), GitError> {
    let host = &ground.host;
    host.has_room(&host.names().base())?;
    match ground.charter.fields().settings.ship {
        ShipBy::Branch => host.has_room(&host.names().ship_ref()),
        ShipBy::Merge => Ok(()),
    }
}

/// What the operator has not committed is not part of the mission.
fn clean(ground: &Ground) -> Point {
    let dirty = match ground.host.repository().dirty() {
        Ok(dirty) => dirty,
        Err(error) => return failed("checkout", &error.to_string()),
    };
    if dirty.is_empty() {
        return held("checkout", "no uncommitted changes");
    }
    let names: Vec<String> = dirty
        .iter()
        .take(10)
        .map(|path| format!("`{}`", shown(path)))
        .collect();
    let more = dirty.len().saturating_sub(names.len());
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    let words = format!(
        "uncommitted changes are not part of the mission: {}{more}",
        names.join(", ")
    );
    if ground.settings.require_clean {
        return failed(
            "checkout",
            &format!("{words}; commit them, or set `require_clean = false`"),
        );
    }
    warned("checkout", &words)
}

/// The disk of the mission and that of the repository, which gets its commits.
fn disk(ground: &Ground) -> Point {
    let repository = ground.host.repository().common_dir();
    let places = [ground.dir.path(), repository];
    found("disk", room::disks(&places, ground.settings.need.disk))
}

fn memory(ground: &Ground) -> Point {
    found("memory", room::memory(ground.settings.need.memory))
}

fn found(name: &str, found: Found) -> Point {
    match found {
        Found::Enough(words) => held(name, &words),
        Found::Unknown(words) => warned(name, &words),
        Found::Lacking(words) => failed(name, &words),
    }
}

/// Every agent that a role names, once.
fn agents_of(ground: &Ground) -> Vec<Point> {
    let roles = &ground.charter.fields().roles;
    let mut names: Vec<&str> = Role::ALL
        .into_iter()
        .filter(|role| role.stage() >= ground.charter.fields().from)
        .filter_map(|role| roles.of(role))
        .map(|spec| spec.agent.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| agent(ground, name)).collect()
}

fn agent(ground: &Ground, name: &str) -> Point {
    let title = format!("agent {name}");
    let Some(adapter) = agents::find(name) else {
        let known: Vec<&str> = agents::names().collect();
        return failed(
            &title,
            &format!("not known: use one of {}", known.join(", ")),
        );
    };
    let options = ground.settings.agents.get(name).cloned();
    let found = programs::look(adapter, options.into_iter().flatten().collect());
    match &found.problem {
        Some(words) => failed(&title, words),
        None => held(&title, &found.words()),
    }
}

/// What there is to say where no check is configured.
fn unconfigured(plan: &Plan) -> String {
    let own = plan.numbered();
    let own = own.filter(|(_, phase)| phase.done_when_check().is_some());
    let own: Vec<String> = own.map(|(number, _)| number.to_string()).collect();
    let none = "no host check is configured";
    if own.is_empty() {
        return none.into();
    }
    format!(
        "{none}; the plan brings checks for phase {}",
        own.join(", ")
    )
}

/// Runs the checks on the base. Red is told to the agent; a check that cannot run at all is no check.
async fn base(ground: &Arc<Ground>, points: &mut Vec<Point>, halted: &Halted) -> Vec<CheckResult> {
    let fields = ground.charter.fields();
    if let Err(error) = ground.host.hold(&crate::git::Base::from(&fields.base)) {
        points.push(failed("base", &error.to_string()));
        return Vec::new();
    }
    if fields.checks.is_empty() {
        points.push(warned("checks", &unconfigured(&fields.plan)));
    }
    let (phase, commit) = (Phase::FIRST, &fields.base.commit);
    let results = match checks::prepare(ground, (Bench::Checks, phase), commit, halted).await {
        Ok(dir) => checks::run_in(ground, phase, &fields.checks, &dir, halted).await,
        Err(words) => {
            points.push(failed("workspace", &words));
            return Vec::new();
        }
    };
    points.extend(
        results
            .iter()
            .map(|result| judge(result, fields.settings.green_base)),
    );
    results
}

fn judge(result: &CheckResult, green: GreenBase) -> Point {
    let name = format!("check {}", result.name);
    match (&result.verdict, green) {
        (CheckVerdict::Passed, _) => held(&name, "green on the base"),
        (CheckVerdict::NotRun { cause }, _) => failed(&name, &format!("cannot be run: {cause}")),
        (
            CheckVerdict::Failed {
                exit: exit @ (126 | 127),
            },
            _,
        ) => failed(
            &name,
            &format!(
                "its command is not found or cannot be executed (exit status {exit}): install it and look again; to name another command, abort this mission and open one with it"
            ),
        ),
        (CheckVerdict::Failed { .. } | CheckVerdict::TimedOut, GreenBase::Required) => failed(
            &name,
            "red on the base, and `require_green_base` is set: mend the base first",
        ),
        (CheckVerdict::Failed { .. } | CheckVerdict::TimedOut, GreenBase::Shown) => {
            warned(&name, "red on the base; the agent is told")
        }
    }
}
