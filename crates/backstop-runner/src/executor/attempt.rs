//! One attempt: the workspace made ready, the agent run, its work taken, its end told from all the evidence.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use backstop_agents::{
    self as agents, Classified, CommandLine, Ending, HostFacts, SpawnFault, Support,
};
use backstop_engine::outcome::{Artifact, Interruption, Status, UnavailableCause};
use backstop_engine::vocab::{CommitId, Digest, EffectId, Phase, Text};
use backstop_engine::{ArtifactSeen, AttemptEnded, AttemptStarted, Cost, Fact, Head, Order};
use backstop_engine::{ProcessRef, Usage};
use tokio::sync::mpsc;

use super::checks::{end_left, halt_on};
use super::ear::{Ear, Told};
use super::{Halted, blocking, ready};
use crate::edge::Ground;
use crate::git::{GitError, LaneRef, Survey, Workspace, shown};
use crate::process::{self, Ended, EndedBy, Exit, Identity, Limits, Oom, Spawn, SpawnError, Stdin};
use crate::prompt;

/// How an attempt is reached while it runs.
pub(super) struct Live {
    pub(super) id: EffectId,
    pub(super) facts: mpsc::UnboundedSender<Fact>,
    pub(super) halted: Halted,
}

/// A launch that an earlier process left unanswered.
#[derive(Debug)]
pub struct Cut {
    /// The launch.
    pub id: EffectId,
    /// What was launched.
    pub order: Order,
    /// Its process, where its start is on record.
    pub process: Option<ProcessRef>,
}

/// What is known of an agent's end before its work is looked at.
struct Run {
    status: Status,
    usage: Usage,
    session: Option<String>,
    message: Option<String>,
    transcript: Option<Digest>,
    words: String,
}

/// Runs an attempt to its end.
pub(super) async fn run(ground: &Arc<Ground>, order: &Order, live: Live) -> AttemptEnded {
    let id = live.id;
    let run = match enter(ground, order, &live.halted).await {
        Ok(dir) => launch(ground, order, live, &dir).await,
        Err(words) => Run::never(
            Status::AgentUnavailable {
                cause: UnavailableCause::Configuration,
            },
            words,
        ),
    };
    end(ground, id, order, run).await
}

/// Ends what is left of a launch whose runner died, and takes its work.
pub(super) async fn end_cut(ground: &Arc<Ground>, cut: &Cut) -> AttemptEnded {
    let marker = ground.marker(&cut.order);
    if let Some(ProcessRef { pid, started }) = cut.process {
        let identity = Identity {
            pid,
            start_time: started,
        };
        process::stop_by_identity(identity, &marker, ground.grace()).await;
    }
    end_left(ground, &marker).await;
    // The setup of the workspace may have been at work still.
    end_left(ground, &ground.check_marker(Phase::FIRST)).await;
    let status = Status::Interrupted {
        by: Interruption::RunnerDied,
    };
    end(
        ground,
        cut.id,
        &cut.order,
        Run::never(status, "the runner died while it ran".into()),
    )
    .await
}

/// Makes the workspace ready for a launch.
async fn enter(ground: &Arc<Ground>, order: &Order, halted: &Halted) -> Result<PathBuf, String> {
    let (phase, start) = (order.phase, order.start.clone());
    let workspace = blocking(ground, move |ground| {
        let lane = ground.lane(phase).ok_or("the plan has no such phase")?;
        let workspace = workspace(ground, lane, &start).map_err(|error| error.to_string())?;
        ready::copy(ground, &workspace.path())?;
        Ok::<_, String>(workspace)
    })
    .await??;
    if !workspace.is_set_up() {
        ready::set_up(ground, &workspace.path(), halted).await?;
        workspace.set_up().map_err(|error| error.to_string())?;
    }
    Ok(workspace.path())
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

async fn launch(ground: &Arc<Ground>, order: &Order, live: Live, dir: &Path) -> Run {
    let configuration = Status::AgentUnavailable {
        cause: UnavailableCause::Configuration,
    };
    let name = order.agent.agent.as_str();
    let Some(adapter) = agents::find(name) else {
        return Run::never(
            configuration,
            format!("`{name}` is not an agent that this Backstop knows"),
        );
    };
    let command = match adapter.command(&invocation(ground, order)) {
        Ok(command) => command,
        Err(words) => return Run::never(configuration, words),
    };
    let spool = match ground.blobs.spool() {
        Ok(spool) => spool,
        Err(error) => return Run::never(configuration, error.to_string()),
    };
    let mut ear = Ear::new(ground, &live, order.allowance, adapter.parser(), spool);
    let mut spawn = spawned(ground, order, command, dir);
    match ready::git_settings(ground) {
        Ok(variable) => spawn.env.push(variable),
        Err(words) => return Run::never(configuration, words),
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
    let watch = halt_on(live.halted.clone(), running.stopper());
    let ended = running.wait(&mut ear).await;
    watch.abort();
    let told = ear.finish();
    if !ended.left.is_empty() {
        let left: Vec<String> = ended
            .left
            .iter()
            .map(|identity| identity.pid.to_string())
            .collect();
        let words = format!(
            "processes of the attempt could not be ended: {}: end them, then retry",
            left.join(", ")
        );
        return Run {
            transcript: told.digest,
            ..Run::never(configuration, words)
        };
    }
    judge(adapter.features(), &ended, told)
}

fn invocation(ground: &Ground, order: &Order) -> agents::Invocation {
    let fields = ground.charter.fields();
    let phase = fields.plan.phase(order.phase);
    let prompt = phase.map(|phase| {
        prompt::prompt(prompt::Material {
            charter: &ground.charter,
            phase,
            order,
            blobs: &ground.blobs,
        })
    });
    let options = ground.settings.agents.get(order.agent.agent.as_str());
    agents::Invocation {
        prompt: prompt.unwrap_or_default(),
        model: order.agent.model.as_ref().map(ToString::to_string),
        effort: order.agent.effort.as_ref().map(ToString::to_string),
        session: order.session.as_ref().map(ToString::to_string),
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
    spawn.args = command.args.into_iter().map(Into::into).collect();
    spawn.env = command
        .env
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    spawn
        .env
        .push(("BACKSTOP_VISIT".into(), order.visit.to_string().into()));
    spawn.env.push((
        "BACKSTOP_ARTIFACT".into(),
        artifact_file(ground, order).into(),
    ));
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

/// Where an agent may leave its artifact: a place of this attempt alone, so that an older one is never taken for it.
fn artifact_file(ground: &Ground, order: &Order) -> PathBuf {
    let Order {
        phase,
        stage,
        visit,
        attempt,
        ..
    } = order;
    ground
        .dir
        .path()
        .join("artifacts")
        .join(format!("{phase}-{stage}-{visit}-{attempt}"))
}

fn not_started(features: agents::Features, error: &SpawnError) -> Run {
    let fault = match error {
        SpawnError::ProgramMissing { .. } | SpawnError::InterpreterMissing { .. } => {
            SpawnFault::Missing
        }
        SpawnError::NotExecutable { .. } => SpawnFault::NotExecutable,
        SpawnError::Directory { .. } => SpawnFault::NoDirectory,
        SpawnError::TooLong { .. } | SpawnError::Other { .. } => SpawnFault::Other,
    };
    let host = HostFacts {
        ending: Ending::NotStarted(fault),
        ended_by: agents::EndedBy::Itself,
        oom_kills: 0,
    };
    let Classified { status, .. } =
        agents::classify(features, &agents::Transcript::default(), &host);
    Run::never(status, error.to_string())
}

fn judge(features: agents::Features, ended: &Ended, told: Told) -> Run {
    let Told {
        transcript,
        spent,
        digest,
    } = told;
    let host = HostFacts {
        ending: match (ended.ended_by, ended.exit) {
            // It said its last word and then did not leave: how it was made to leave says nothing.
            (EndedBy::Linger, _) => Ending::Exited(0),
            (_, Exit::Code(code)) => Ending::Exited(code),
            (_, Exit::Signal(signal)) => Ending::Signalled(signal),
            (_, Exit::Unreaped) => Ending::Unseen,
        },
        ended_by: match (ended.ended_by, spent) {
            (EndedBy::Itself | EndedBy::Linger, _) => agents::EndedBy::Itself,
            (EndedBy::Idle, _) => agents::EndedBy::Idle,
            (EndedBy::Budget, Some(account)) => agents::EndedBy::Budget(account),
            (EndedBy::Wall | EndedBy::Budget, _) => agents::EndedBy::Wall,
            (EndedBy::Stop, _) => agents::EndedBy::Stop,
        },
        oom_kills: match ended.oom {
            Oom::Counter(n) => n,
            Oom::No | Oom::Unmeasured => 0,
        },
    };
    let Classified { status, .. } = agents::classify(features, &transcript, &host);
    let unavailable = matches!(status, Status::AgentUnavailable { .. });
    let cost = match (transcript.spent.cost, features.cost) {
        (Some(cost), _) => Cost::Reported(cost),
        (None, Support::Yes | Support::No) if unavailable => Cost::NoModelWork,
        (None, Support::Yes | Support::No) => Cost::Unreported,
    };
    let usage = Usage {
        tool_calls: transcript.spent.tool_calls,
        tokens: transcript.spent.tokens.unwrap_or(0),
        cost,
        active_ms: u64::try_from(ended.active.as_millis()).unwrap_or(u64::MAX),
    };
    let said = transcript
        .message
        .clone()
        .filter(|text| !text.trim().is_empty());
    Run {
        status,
        usage,
        session: transcript.session,
        words: said.unwrap_or_else(|| ended.stderr.text()),
        message: transcript.message,
        transcript: digest,
    }
}

impl Run {
    /// An attempt in which no agent of ours was seen at work.
    fn never(status: Status, words: String) -> Self {
        let usage = Usage {
            tool_calls: 0,
            tokens: 0,
            cost: Cost::NoModelWork,
            active_ms: 0,
        };
        Self {
            status,
            usage,
            session: None,
            message: None,
            transcript: None,
            words,
        }
    }
}

/// What the host finds in the workspace.
struct Found {
    head: Option<Head>,
    protected: Vec<Text<1024>>,
    trouble: Option<String>,
}

/// Takes the work, whatever the status: nothing that an agent did is discarded.
async fn end(ground: &Arc<Ground>, id: EffectId, order: &Order, run: Run) -> AttemptEnded {
    let (asked, interrupted) = (
        order.clone(),
        matches!(run.status, Status::Interrupted { .. }),
    );
    let found = blocking(ground, move |ground| take(ground, &asked, interrupted)).await;
    let found = found.unwrap_or_else(Found::nothing);
    let artifact = artifact(ground, order, run.message.as_deref());
    let words = match found.trouble {
        Some(trouble) => format!("{trouble}\n{}", run.words),
        None => run.words,
    };
    AttemptEnded {
        effect: id,
        status: run.status,
        usage: run.usage,
        session: run.session.map(|session| Text::clip(&session)),
        head: found.head,
        artifact,
        protected: found.protected,
        transcript: run.transcript,
        words: ground.clean_end(&words),
    }
}

impl Found {
    fn nothing(words: String) -> Self {
        Self {
            head: None,
            protected: Vec::new(),
            trouble: Some(words),
        }
    }
}

fn take(ground: &Ground, order: &Order, interrupted: bool) -> Found {
    let what = if interrupted {
        "interrupted attempt"
    } else {
        "uncommitted work"
    };
    let message = format!(
        "backstop: {what}\n\nMission {}, phase {}, {}, visit {}, attempt {}.\n",
        ground.charter.fields().mission,
        order.phase,
        order.stage,
        order.visit,
        order.attempt
    );
    match work(ground, order, &message) {
        Ok((head, survey)) => Found {
            head: Some(head),
            protected: protected(ground, &survey),
            trouble: None,
        },
        Err(words) => Found::nothing(words),
    }
}

fn work(ground: &Ground, order: &Order, message: &str) -> Result<(Head, Survey), String> {
    let lane = ground
        .lane(order.phase)
        .ok_or("the plan has no such phase")?;
    let say = |error: crate::git::GitError| error.to_string();
    let workspace = Workspace::open(&ground.host).map_err(say)?;
    let base = &ground.charter.fields().base.commit;
    let survey = workspace.survey(lane, base, &order.entry).map_err(say)?;
    let taken = workspace.take(lane, message).map_err(say)?;
    let commits = ground.host.commits(base, &taken.head).ok();
    Ok((
        Head {
            commit: taken.head,
            tree: taken.tree,
            commits,
        },
        survey,
    ))
}

/// The protected paths that differ from the visit's entry.
fn protected(ground: &Ground, survey: &Survey) -> Vec<Text<1024>> {
    let guarded = |path: &Path| {
        ground
            .settings
            .protected
            .iter()
            .any(|rule| match rule.strip_suffix('/') {
                Some(folder) => path.starts_with(folder),
                None => path == Path::new(rule),
            })
    };
    let touched = survey.changed.iter().filter(|path| guarded(path));
    touched.map(|path| Text::clip(&shown(path))).collect()
}

/// The file that the agent was told of, else its final message; kept without secrets.
fn artifact(ground: &Ground, order: &Order, message: Option<&str>) -> ArtifactSeen {
    let file = std::fs::read(artifact_file(ground, order)).ok();
    let file = file.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = file
        .as_deref()
        .filter(|text| !text.trim().is_empty())
        .or(message);
    let form = Artifact::read(text);
    match (form, text) {
        (Artifact::Missing, _) | (_, None) => ArtifactSeen::Blank,
        (Artifact::Text | Artifact::Numbers, Some(text)) => {
            let kept = ground.blobs.put(ground.redactor.redact(text).as_bytes());
            kept.map_or(ArtifactSeen::Unmeasured, |digest| ArtifactSeen::Kept {
                digest,
                form,
            })
        }
    }
}
