//! Reads the end of an attempt: what its process, its agent's words and the host's own deeds come to.

use backstop_agents::{
    self as agents, Classified, Ending, Features, HostFacts, SpawnFault, Support, Tokens,
};
use backstop_engine::outcome::Status;
use backstop_engine::{Cost, Usage};

use super::attempt::{Presence, Run};
use super::ear::Told;
use crate::clock;
use crate::process::{Ended, EndedBy, Exit, Oom, SpawnError};

pub(super) fn not_started(features: Features, error: &SpawnError) -> Run {
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
        zone: clock::zone(),
    };
    let Classified { status, .. } =
        agents::classify(features, &agents::Transcript::default(), &host);
    Run::never(status, error.to_string())
}

/// How the process left by itself, where that was not in peace.
fn seen(ended: &Ended) -> Option<String> {
    match (ended.ended_by, ended.exit) {
        (EndedBy::Itself, Exit::Code(code)) if code != 0 => Some(format!("it exited with {code}")),
        (EndedBy::Itself, Exit::Signal(signal)) => Some(format!("signal {signal} ended it")),
        _ => None,
    }
}

pub(super) fn judge(features: Features, ended: &Ended, told: Told) -> Run {
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
        zone: clock::zone(),
    };
    let Classified {
        status,
        until_assumed,
        ..
    } = agents::classify(features, &transcript, &host);
    let unavailable = matches!(status, Status::AgentUnavailable { .. });
    let cost = match (transcript.spent.cost, features.cost) {
        (Some(cost), _) => Cost::Reported(cost),
        (None, Support::Yes | Support::No) if unavailable => Cost::NoModelWork,
        (None, Support::Yes | Support::No) => Cost::Unreported,
    };
    let usage = Usage {
        tool_calls: transcript.spent.tool_calls,
        tokens: transcript.spent.tokens.map_or(0, Tokens::charged),
        cost,
        active_ms: u64::try_from(ended.active.as_millis()).unwrap_or(u64::MAX),
    };
    let said = transcript.message.as_deref().unwrap_or_default().trim();
    let failed = status != Status::Success;
    let mut words = vec![said.to_owned()];
    // An agent without a last word of its own says what went wrong where a command does.
    if said.is_empty() || (failed && features.terminal == Support::No) {
        words.push(ended.stderr.text().trim().to_owned());
    }
    words.extend(seen(ended).filter(|_| failed));
    if until_assumed {
        words.push("the end of the limit is assumed: the agent named no zone or no date that is known here".into());
    }
    words.retain(|words| !words.is_empty());
    Run {
        presence: Presence::Over,
        status,
        usage,
        session: transcript.session,
        model: transcript.model,
        words: words.join("\n"),
        message: transcript.message,
        transcript: digest,
    }
}
