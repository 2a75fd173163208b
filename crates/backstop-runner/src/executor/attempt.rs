//! One attempt: the workspace made ready, the agent run, its work taken, its end told from all the evidence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use backstop_agents::{self as agents, Access, CommandLine, Features, Schema, Support};
use backstop_engine::gates::{GateKind, GateSpec};
use backstop_engine::outcome::{Status, UnavailableCause};
use backstop_engine::review::{EffectiveReasoning, RouteReceipt, RoutedBy};
use backstop_engine::vocab::{CommitId, Digest, EffectId, Text};
use backstop_engine::{AttemptEnded, AttemptStarted, Cost, Fact, Order, ProcessRef, Ruling, Usage};
use tokio::sync::mpsc;

use super::checks::{halt_on, none_left};
use super::ear::{Before, Ear};
use super::reading::{judge, not_started};
use super::ready::{self, Unready};
use super::turn::Turn;
use super::work::{self, Found};
use super::{Halted, blocking, checks};
use crate::accounts;
use crate::disk;
use crate::edge::Ground;
use crate::git::{Bench, GitError, LaneRef, Workspace};
use crate::process::{self, Identity, Limits, Spawn, Stdin};
use crate::prompt;

/// The machinery around the agent does not do, and a person has to mend it.
pub(super) const UNUSABLE: Status = Status::AgentUnavailable {
    cause: UnavailableCause::Configuration,
};

/// How an attempt is reached while it runs.
#[derive(Clone)]
pub(super) struct Live {
    pub(super) id: EffectId,
    pub(super) facts: mpsc::UnboundedSender<Fact>,
    pub(super) halted: Halted,
}

/// Whether the agent of an attempt is in the workspace.
pub(super) enum Presence {
    /// It was never let in.
    Never,
    /// It was, and all of it has ended.
    Over,
    /// Something of it is alive, whatever was done to end it.
    Still,
}

/// What is known of an agent's end before its work is looked at.
pub(super) struct Run {
    pub(super) presence: Presence,
    pub(super) status: Status,
    pub(super) usage: Usage,
    pub(super) session: Option<String>,
    /// The model that worked, where the agent named it.
    pub(super) model: Option<String>,
    pub(super) message: Option<String>,
    pub(super) transcript: Option<Digest>,
    pub(super) words: String,
}

/// What an agent is given besides its order.
pub(super) struct Given {
    pub(super) prompt: String,
    /// Where it may leave an artifact; none where nobody would look for one.
    pub(super) artifact: Option<PathBuf>,
}

/// Runs an attempt to its end, when it is the mission's turn.
pub(super) async fn run(
    ground: &Arc<Ground>,
    order: &Order,
    live: Live,
    turn: &Turn,
) -> AttemptEnded {
    let id = live.id;
    let entered = match turn.take_for(ground, order, &live.halted).await {
        Ok(()) => enter(ground, order, &live.halted).await,
        Err(unready) => Err(unready),
    };
    let run = match entered {
        Ok(dir) => in_a_session(ground, order, live, &dir).await,
        Err(Unready::Stopped) => Run::never(Status::Cancelled, Unready::Stopped.to_string()),
        Err(Unready::Failed(words)) => Run::never(UNUSABLE, words),
    };
    if let Err(error) = accounts::keep(ground, order, &run.status) {
        tracing::warn!(%error, "the limit is not kept for other missions");
    }
    end(ground, id, order, run).await
}

/// Launches in the session of the order, or in a fresh one where the agent has lost that: some forget a session in which
/// no answer was finished, and nothing would go on by itself before a person came.
async fn in_a_session(ground: &Arc<Ground>, order: &Order, live: Live, dir: &Path) -> Run {
    let run = launch(ground, order, live.clone(), (dir, given(ground, order))).await;
    let stopped = *live.halted.borrow();
    if order.session.is_none() || stopped || !run.did_not_begin() {
        return run;
    }
    tracing::warn!("the session cannot be taken up, so the attempt begins a fresh one");
    let mut fresh = order.clone();
    fresh.session = None;
    let given = given(ground, &fresh);
    launch(ground, &fresh, live, (dir, given)).await
}

/// Makes a checkout ready for a launch: the workspace, or one in which nothing counts.
async fn enter(ground: &Arc<Ground>, order: &Order, halted: &Halted) -> Result<PathBuf, Unready> {
    if work::only_looks(order.role) {
        return enter_aside(ground, order, halted).await;
    }
    let (phase, start) = (order.phase, order.start.clone());
    let workspace = blocking(ground, move |ground| {
        let lane = ground.lane(phase).ok_or("the plan has no such phase")?;
        let workspace = workspace(ground, lane, &start).map_err(|error| error.to_string())?;
        ready::copy(ground, &workspace.path())?;
        Ok::<_, String>(workspace)
    })
    .await?;
    if !workspace.is_set_up() {
        ready::set_up(ground, &workspace.path(), halted).await?;
        workspace.set_up().map_err(|error| error.to_string())?;
    }
    if *halted.borrow() {
        return Err(Unready::Stopped);
    }
    Ok(workspace.path())
}

/// Makes the checkout ready in which nothing counts.
pub(super) async fn enter_aside(
    ground: &Arc<Ground>,
    order: &Order,
    halted: &Halted,
) -> Result<PathBuf, Unready> {
    let bench = (Bench::Roles, order.phase);
    let ready = checks::prepare(ground, bench, &order.start, halted).await;
    match ready {
        _ if *halted.borrow() => Err(Unready::Stopped),
        Ok(dir) => Ok(dir),
        Err(words) => Err(Unready::Failed(words)),
    }
}

/// The workspace on a lane at `start`. One that is damaged is set aside, whole, and made again; one whose work could not
/// be taken, such as on a full disk, is gone on in.
fn workspace(ground: &Ground, lane: LaneRef, start: &CommitId) -> Result<Workspace, GitError> {
    let host = &ground.host;
    let entered = Workspace::create(host, lane, start)
        .and_then(|workspace| workspace.enter(lane, start).map(|()| workspace));
    if matches!(entered, Err(GitError::Damaged { .. })) {
        Workspace::set_aside(host)?;
        return Workspace::create(host, lane, start);
    }
    let begun = || Ok::<_, GitError>(host.tip(&host.names().lane(lane))?.is_some());
    if matches!(entered, Err(GitError::Unkept { .. })) && begun()? {
        return Workspace::open(host);
    }
    entered
}

/// Runs an agent in `dir` to its end, whatever it is asked for.
pub(super) async fn launch(
    ground: &Arc<Ground>,
    order: &Order,
    live: Live,
    (dir, given): (&Path, Given),
) -> Run {
    let name = order.agent.agent.as_str();
    let Some(adapter) = agents::find(name) else {
        return Run::never(
            UNUSABLE,
            format!("`{name}` is not an agent that this Backstop knows"),
        );
    };
    let mut invocation = invocation(ground, adapter.features(), order, given.prompt);
    if order.role.judges() && adapter.structured() == Support::Yes {
        match verdict_schema(ground) {
            Ok(schema) => invocation.schema = Some(schema),
            Err(words) => return Run::never(UNUSABLE, words),
        }
    }
    let command = match adapter.command(&invocation) {
        Ok(command) => command,
        Err(words) => return Run::never(UNUSABLE, words),
    };
    let spool = match ground.blobs.spool() {
        Ok(spool) => spool,
        Err(error) => return Run::never(UNUSABLE, error.to_string()),
    };
    let (asked, carries) = (order.clone(), adapter.carries());
    let before = blocking(ground, move |ground| Before::of(ground, &asked, carries)).await;
    let heard_by = (adapter.parser(), before);
    let mut ear = Ear::new(ground, &live, order.allowance, heard_by, spool);
    let mut spawn = spawned(ground, order, command, dir);
    spawn.unset = adapter.unset().iter().map(OsString::from).collect();
    let artifact = given.artifact.map(OsString::from);
    spawn
        .env
        .extend(artifact.map(|artifact| ("BACKSTOP_ARTIFACT".into(), artifact)));
    match ready::git_settings(ground) {
        Ok(variable) => spawn.env.push(variable),
        Err(words) => return Run::never(UNUSABLE, words),
    }
    let (id, asked) = (live.id, order.clone());
    let entered = blocking(ground, move |ground| {
        work::clear_artifact(ground, &asked)?;
        work::enter(ground, id)
    });
    if let Err(words) = entered.await {
        return Run::never(UNUSABLE, words);
    }
    let running = match process::spawn(spawn) {
        Ok(running) => running,
        Err(error) => return not_started(adapter.features(), &error),
    };
    let Identity {
        pid,
        start_time: started,
    } = running.identity();
    let process = ProcessRef { pid, started };
    let _ = live.facts.send(Fact::AttemptStarted(AttemptStarted {
        effect: live.id,
        process,
    }));
    ear.open(invocation.fresh_session);
    let watch = halt_on(live.halted.clone(), running.stopper());
    let ended = running.wait(&mut ear).await;
    watch.abort();
    judge(adapter.features(), &ended, ear.finish()).beside(none_left(&ended.left))
}

/// What an agent of a lane is given.
fn given(ground: &Ground, order: &Order) -> Given {
    let phase = ground.charter.fields().plan.phase(order.phase);
    let prompt = phase.map(|phase| {
        prompt::prompt(prompt::Material {
            charter: &ground.charter,
            phase,
            order,
            own: ground.settings.prompts.get(&order.role).map(String::as_str),
            blobs: &ground.blobs,
        })
    });
    Given {
        prompt: prompt.unwrap_or_default(),
        artifact: Some(work::artifact_file(ground, order)),
    }
}

/// The schema of a verdict, as text and as a file that agents can read.
fn verdict_schema(ground: &Ground) -> Result<Schema, String> {
    let file = ground.dir.path().join("verdict.schema.json");
    let wrong = |error| format!("`{}` cannot be written: {error}", file.display());
    disk::swap(&file, Ruling::SCHEMA.as_bytes()).map_err(wrong)?;
    let text = Ruling::SCHEMA.trim().to_owned();
    Ok(Schema { text, file })
}

/// A name for a new session, for an agent that takes one and tells its own too late.
fn fresh_session(features: Features, order: &Order) -> Option<String> {
    let fresh = order.session.is_none() && features.names_session == Support::Yes;
    fresh.then(|| uuid::Uuid::now_v7().to_string())
}

fn invocation(
    ground: &Ground,
    features: Features,
    order: &Order,
    prompt: String,
) -> agents::Invocation {
    let options = ground.settings.agents.get(order.agent.agent.as_str());
    agents::Invocation {
        prompt,
        model: order.agent.model.as_ref().map(ToString::to_string),
        effort: order.agent.effort.as_ref().map(ToString::to_string),
        session: order.session.as_ref().map(ToString::to_string),
        fresh_session: fresh_session(features, order),
        access: if work::only_looks(order.role) {
            Access::Look
        } else {
            Access::Write
        },
        schema: None,
        options: options
            .into_iter()
            .flatten()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect(),
    }
}

fn spawned(ground: &Ground, order: &Order, command: CommandLine, dir: &Path) -> Spawn {
    let own = || std::env::current_exe().unwrap_or_else(|_| PathBuf::from("backstop"));
    let program = command.program.unwrap_or_else(own);
    let mut spawn = Spawn::new(program, dir, ground.marker(order));
    let more = ground.settings.args.get(order.agent.agent.as_str());
    let args = command
        .args
        .into_iter()
        .chain(more.into_iter().flatten().cloned());
    spawn.args = args.map(Into::into).collect();
    spawn.env = command
        .env
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    spawn
        .env
        .push(("BACKSTOP_VISIT".into(), order.visit.to_string().into()));
    spawn.stdin = match command.stdin {
        agents::Stdin::Null => Stdin::Null,
        agents::Stdin::Text(text) => Stdin::Text(text.into_bytes()),
    };
    let limits = &ground.settings.limits;
    spawn.limits = Limits {
        idle: Some(Duration::from_millis(limits.idle_ms)),
        wall: Some(Duration::from_millis(
            limits.attempt_ms.min(order.allowance.active_ms),
        )),
        stop_grace: ground.grace(),
        ..Limits::default()
    };
    spawn
}

impl Run {
    /// An attempt in which no agent of ours was seen at work.
    pub(super) fn never(status: Status, words: String) -> Self {
        let usage = Usage {
            tool_calls: 0,
            tokens: 0,
            cost: Cost::NoModelWork,
            active_ms: 0,
        };
        Self {
            presence: Presence::Never,
            status,
            usage,
            session: None,
            model: None,
            message: None,
            transcript: None,
            words,
        }
    }

    /// Whether the agent ended over its settings, a session among them, before a model had worked.
    fn did_not_begin(&self) -> bool {
        let idle = self.usage.tool_calls == 0 && self.usage.tokens == 0 && self.message.is_none();
        matches!(self.presence, Presence::Over) && self.status == UNUSABLE && idle
    }

    /// The same, given whether nothing of it is left. Where something is, no other may start beside it, and what it may
    /// change still is not looked at.
    pub(super) fn beside(mut self, none_left: Result<(), String>) -> Self {
        if let Err(words) = none_left {
            self.presence = Presence::Still;
            self.status = UNUSABLE;
            self.words = format!("{}\n{words}", self.words);
        }
        self
    }
}

/// What a role that judges said; none where it said nothing.
fn ruling(ground: &Ground, order: &Order, message: Option<&str>) -> Option<Ruling> {
    let specs = ground.charter.gates(order.phase);
    let mut gates = specs.gates().iter();
    let own = gates
        .find(|gate| gate.kind() == GateKind::Review && gate.role().as_str() == order.role.name());
    let kind = own.and_then(GateSpec::artifact_kind);
    message
        .filter(|_| order.role.judges())
        .map(|message| Ruling::read(&ground.redactor.redact(message), kind))
}

/// Who the attempt was. What the agent does not report is told as such; one that names no session had one of its own.
fn route(id: EffectId, order: &Order, run: &Run) -> RouteReceipt {
    let unreported = || Some(Text::clip("unreported"));
    let asked = |asked: Option<&str>| Some(Text::clip(asked.unwrap_or("default")));
    let agent = &order.agent;
    let own = || Text::clip(&format!("launch-{id}"));
    RouteReceipt {
        role: Some(order.role.id()),
        provider: unreported(),
        model: run.model.as_deref().map(Text::clip).or_else(unreported),
        requested_reasoning: asked(agent.effort.as_ref().map(Text::as_str)),
        effective_reasoning: Some(EffectiveReasoning::Unreported),
        // That a model was asked for says nothing of the one that answered.
        routed_by: Some(match agent.model {
            Some(_) => RoutedBy::Unreported,
            None => RoutedBy::SessionDefault,
        }),
        session: Some(run.session.as_deref().map_or_else(own, Text::clip)),
    }
}

/// Takes what it left and tells its end.
pub(super) async fn end(
    ground: &Arc<Ground>,
    id: EffectId,
    order: &Order,
    run: Run,
) -> AttemptEnded {
    let kind = if matches!(run.status, Status::Interrupted { .. }) {
        "interrupted attempt"
    } else {
        "uncommitted work"
    };
    let route = route(id, order, &run);
    let ruling = ruling(ground, order, run.message.as_deref());
    let (asked, message) = (order.clone(), run.message);
    let found = match run.presence {
        Presence::Never => blocking(ground, move |ground| work::untouched(ground, &asked)).await,
        Presence::Over => {
            let find = move |ground: &Ground| work::find(ground, &asked, kind, message.as_deref());
            blocking(ground, find).await
        }
        Presence::Still => Found::nothing(),
    };
    // The end of the words is kept: what the host has to say is not pushed out by what the agent said.
    let words = format!("{}\n{}", run.words, found.trouble);
    AttemptEnded {
        effect: id,
        status: run.status,
        usage: run.usage,
        session: run.session.map(|session| Text::clip(&session)),
        head: found.head,
        artifact: found.artifact,
        ruling,
        route,
        protected: found.protected,
        transcript: run.transcript,
        words: ground.clean_end(words.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let mut run = Run::never(Status::Success, "all done".into());
        run.usage.cost = Cost::Unreported;
        run.usage.tokens = 7;
        run
    }

    #[test]
    fn an_attempt_that_cannot_be_ended_waits_for_a_person_and_keeps_its_spend() {
        let left = [12, 7, 12].map(|pid| Identity { pid, start_time: 1 });
        let beside = run().beside(none_left(&left));
        assert_eq!(beside.status, UNUSABLE);
        assert!(matches!(beside.presence, Presence::Still));
        let words = "all done\nprocesses could not be ended: 7, 12: end them, then retry";
        assert_eq!(beside.words, words);
        assert_eq!(beside.usage, run().usage);
        let alone = run().beside(Ok(()));
        assert_eq!(alone.status, Status::Success);
        assert!(matches!(alone.presence, Presence::Never));
    }
}
