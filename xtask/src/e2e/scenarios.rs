//! What is tried with each agent, and how the mission must end.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::agents::{Agent, Installed, Limit, Retries};
use super::world::{Running, World, same, wrong};
use crate::failure::Failure;
use crate::model::{FOR_EVER, Model, Scene, WRITTEN};
use crate::program::Line;

/// One scenario.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// The scene that the model begins with.
    scene: &'static str,
    plays: fn(&Stage) -> Result<(), Failure>,
}

/// Where it is played.
#[derive(Debug)]
struct Stage {
    model: Model,
    world: World,
    agent: &'static Agent,
}

pub(super) const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "works",
        scene: "tool_success",
        plays: works,
    },
    Scenario {
        name: "rate_limit",
        scene: "rate_429_after_work",
        plays: rate_limit,
    },
    Scenario {
        name: "plan_limit",
        scene: LIMIT,
        plays: plan_limit,
    },
    Scenario {
        name: "no_login",
        scene: "auth_401",
        plays: no_login,
    },
    Scenario {
        name: "stalls",
        scene: "stall",
        plays: stalls,
    },
    Scenario {
        name: "cut_stream",
        scene: "cut_after_work",
        plays: cut_stream,
    },
    Scenario {
        name: "refusal",
        scene: "refusal",
        plays: refusal,
    },
    Scenario {
        name: "endless_loop",
        scene: "max_turns",
        plays: endless_loop,
    },
    Scenario {
        name: "killed",
        scene: "sigkill_tool",
        plays: killed,
    },
];

/// The ceiling of tool calls; only an endless loop comes near.
const TOOL_CALLS: u64 = 12;

/// The scene of a plan that is used up.
const LIMIT: &str = "usage_limit";

impl Scenario {
    /// The scene that the model begins with.
    #[cfg(test)]
    pub(super) fn begins(&self) -> Option<Scene> {
        Scene::named(self.scene)
    }

    /// Plays it to its end; nothing of it is left then.
    pub(super) fn play(&self, installed: &Installed, backstop: &Path) -> Result<(), Failure> {
        let name = match (self.scene, &installed.agent.limit) {
            (LIMIT, Limit::Told(scene, _)) => scene,
            (scene, _) => scene,
        };
        let scene = Scene::named(name).ok_or_else(|| wrong(format!("`{name}` is no scene")))?;
        let model = Model::start(scene)?;
        let agent = (installed, Retries::Few);
        let world = World::new(agent, &model.url(), backstop, &settings(installed.agent))?;
        let stage = Stage {
            model,
            world,
            agent: installed.agent,
        };
        let done = (self.plays)(&stage).and_then(|()| stage.world.nothing_runs());
        done.map_err(|failure| {
            stage.world.end_all();
            let kept = stage.world.keep();
            wrong(format!("{failure}\nits folder is kept: {}", kept.display()))
        })
    }
}

fn settings(agent: &Agent) -> String {
    let model = agent
        .model
        .map_or_else(String::new, |model| format!("model = \"{model}\"\n"));
    format!(
        "agent = \"{name}\"\n{model}checks = [\"grep -q '{WRITTEN}' out.txt\"]\n\
         [roles.scout]\noff = true\n[roles.planner]\noff = true\n\
         [agents.{name}]\nassumed_cost = 0.25\n\
         [limits]\nidle = \"{quiet}\"\nstop_grace = \"2s\"\nshortest_limit_wait = \"1s\"\n\
         [ceilings]\ntool_calls = {TOOL_CALLS}\n",
        name = agent.name,
        quiet = agent.quiet,
    )
}

/// The name of a status, with or without what belongs to it.
fn name(status: &Value) -> String {
    let of_object = || status.as_object()?.keys().next().cloned();
    status
        .as_str()
        .map(str::to_owned)
        .or_else(of_object)
        .unwrap_or_default()
}

fn text(value: &Value, place: &str) -> String {
    value
        .pointer(place)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

impl Stage {
    /// Runs the mission until a person is needed.
    fn run(&self) -> Result<(), Failure> {
        self.world.mission()?.end()?.with(3)
    }

    fn command(&self, words: &str, code: i32) -> Result<(), Failure> {
        let words: Vec<&str> = words.split(' ').collect();
        self.world.start(&words)?.end()?.with(code)
    }

    fn stop(&self) -> Result<(), Failure> {
        let id = text(&self.world.status()?, "/mission");
        self.command(&format!("stop {id}"), 0)
    }

    /// Demands that the attempts ended like this.
    fn ended(&self, wanted: &[&str]) -> Result<(), Failure> {
        let ends = self.world.facts("attempt_ended")?;
        let statuses: Vec<String> = ends
            .iter()
            .map(|end| name(end.pointer("/status").unwrap_or(&Value::Null)))
            .collect();
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        same("how the attempts ended", &statuses, &wanted)
    }

    /// Demands that the mission waits at a gate of this kind.
    fn gate(&self, kind: &str) -> Result<(), Failure> {
        let status = self.world.status()?;
        same("the state", &text(&status, "/state"), &"at_gate".to_owned())?;
        same(
            "the gate",
            &text(&status, "/needs/gate/kind"),
            &kind.to_owned(),
        )
    }

    /// What an account was charged.
    fn charged(&self, account: &str) -> Result<u64, Failure> {
        let status = self.world.status()?;
        let accounts = status
            .pointer("/spend")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let mut found = accounts.filter(|line| text(line, "/account") == account);
        let total = found
            .next()
            .and_then(|line| line.pointer("/total")?.as_u64());
        total.ok_or_else(|| wrong(format!("no account `{account}` in the status")))
    }

    /// Demands that the whole spend is on record.
    fn spent(&self) -> Result<(), Failure> {
        for account in ["attempts", "tool_calls", "tokens", "cost", "active_time"] {
            let told = !self.agent.untold.contains(&account);
            if told && self.charged(account)? == 0 {
                return Err(wrong(format!("nothing was charged to `{account}`")));
            }
        }
        Ok(())
    }

    /// Demands that a wait for a limit was charged as such, and as nothing else.
    fn waited(&self, account: &str) -> Result<(), Failure> {
        for (other, wanted) in [
            ("quota_waits", 0),
            ("infra_total", 0),
            ("streak", 0),
            ("phase_failures", 0),
            ("attempts", 1),
        ] {
            let wanted = if other == account { 1 } else { wanted };
            same(other, &self.charged(other)?, &wanted)?;
        }
        Ok(())
    }

    /// Demands that every attempt worked in one session.
    fn one_session(&self) -> Result<(), Failure> {
        let ends = self.world.facts("attempt_ended")?;
        let mut sessions: Vec<String> = ends.iter().map(|end| text(end, "/session")).collect();
        sessions.dedup();
        if sessions.len() == 1 && sessions != [""] {
            return Ok(());
        }
        Err(wrong(format!(
            "the attempts worked in the sessions {sessions:?}"
        )))
    }

    /// Waits until the mission is in this state.
    fn until_state(&self, running: &mut Running, state: &str) -> Result<Value, Failure> {
        let mut status = Value::Null;
        running.until(state, || {
            status = self.world.status()?;
            Ok(text(&status, "/state") == state)
        })?;
        Ok(status)
    }

    /// From a waiting mission with a model that is well again to the gate.
    fn recovers(&self) -> Result<(), Failure> {
        let mut running = self.world.mission()?;
        self.until_state(&mut running, "waiting")?;
        self.model.play(Scene::Works);
        running.end()?.with(3)?;
        self.gate("ship")?;
        self.one_session()
    }
}

/// From Code to Ship, and the operator approves.
fn works(stage: &Stage) -> Result<(), Failure> {
    stage.run()?;
    stage.gate("ship")?;
    stage.ended(&["success"])?;
    stage.spent()?;
    stage.command("gate approve", 0)?;
    same(
        "the state",
        &text(&stage.world.status()?, "/state"),
        &"shipped".to_owned(),
    )
}

/// The provider says when to come back: it is waited for, and the same session goes on. An agent that says nothing of it
/// is only seen to be silent.
fn rate_limit(stage: &Stage) -> Result<(), Failure> {
    if matches!(stage.agent.limit, Limit::Silent) {
        return stalls(stage);
    }
    stage.recovers()?;
    stage.ended(&["rate_limited", "success"])?;
    stage.waited("quota_waits")
}

/// The plan is used up for hours: the mission says until when it waits, and a person can stop it. An agent that says
/// nothing of it is only seen to be silent.
fn plan_limit(stage: &Stage) -> Result<(), Failure> {
    let Limit::Told(_, seconds) = stage.agent.limit else {
        return stalls(stage);
    };
    let mut running = stage.world.mission()?;
    let status = stage.until_state(&mut running, "waiting")?;
    let wakes = status
        .pointer("/wakes_at")
        .and_then(Value::as_u64)
        .unwrap_or_default()
        / 1000;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let wait = wakes.saturating_sub(now);
    // Some tell the end in whole minutes.
    if wait.abs_diff(seconds) > 120 {
        return Err(wrong(format!("it waits for {wait} s, not for {seconds}")));
    }
    stage.waited("quota_waits")?;
    stage.ended(&["rate_limited"])?;
    stage.world.nothing_of_the_agent_runs()?;
    stage.stop()?;
    running.end()?.with(4)
}

/// Without a login a person is needed at once.
fn no_login(stage: &Stage) -> Result<(), Failure> {
    stage.run()?;
    stage.gate("infra")?;
    let ends = stage.world.facts("attempt_ended")?;
    let causes: Vec<String> = ends
        .iter()
        .map(|end| text(end, "/status/agent_unavailable/cause"))
        .collect();
    same("why it cannot run", &causes, &vec!["auth".to_owned()])
}

/// A model that says nothing more is left after the idle limit.
fn stalls(stage: &Stage) -> Result<(), Failure> {
    stage.run()?;
    stage.gate("review")?;
    stage.ended(&["idle_timeout"])
}

/// A stream that breaks off is a fault from outside: the same session goes on after a pause.
fn cut_stream(stage: &Stage) -> Result<(), Failure> {
    let mut running = stage.world.mission()?;
    stage.until_state(&mut running, "waiting")?;
    stage.waited("infra_total")?;
    stage.ended(&["interrupted"])?;
    // The pause takes a minute; a person who resumes does not wait for it.
    stage.stop()?;
    running.end()?.with(4)?;
    stage.model.play(Scene::Works);
    stage.command("resume", 3)?;
    stage.gate("ship")?;
    stage.ended(&["interrupted", "success"])?;
    stage.one_session()
}

/// A refusal changes nothing, whatever the agent calls it.
fn refusal(stage: &Stage) -> Result<(), Failure> {
    stage.run()?;
    stage.gate("review")?;
    let status = stage.world.status()?;
    let rule = text(&status, "/needs/gate/reasons/0/rule");
    // What refuses without a word leaves nothing that shows how it ended.
    if rule.ends_with("failed") || rule.ends_with("unknown") {
        return Ok(());
    }
    Err(wrong(format!("the gate opened by the rule `{rule}`")))
}

/// A loop of tool calls ends at the ceiling.
fn endless_loop(stage: &Stage) -> Result<(), Failure> {
    stage.run()?;
    stage.gate("review")?;
    stage.ended(&["over_budget"])?;
    let calls = stage.charged("tool_calls")?;
    if !(TOOL_CALLS..=TOOL_CALLS * 4).contains(&calls) {
        return Err(wrong(format!(
            "{calls} tool calls were charged where {TOOL_CALLS} may be"
        )));
    }
    Ok(())
}

/// Whatever started the agent is killed while a tool runs: nothing of it is left.
fn killed(stage: &Stage) -> Result<(), Failure> {
    let mut running = stage.world.mission()?;
    running.until("the tool", || {
        Ok(stage
            .world
            .processes()
            .iter()
            .any(|(_, words)| words.trim_end().ends_with(FOR_EVER)))
    })?;
    let started = stage.world.facts("attempt_started")?;
    let pid = started
        .first()
        .and_then(|fact| fact.pointer("/process/pid")?.as_u64());
    let pid = pid.ok_or_else(|| wrong("no process is on record"))?;
    Line::new("sh", "-c")
        .with(format!("kill -KILL {pid}"))
        .run(Path::new("."))?;
    running.end()?.with(3)?;
    stage.gate("infra")?;
    stage.ended(&["resource_killed"])
}
