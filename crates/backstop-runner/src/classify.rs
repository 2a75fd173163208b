//! Classifies a run that was recorded elsewhere: its streams, how it ended, and what the host saw.

use backstop_agents::{
    Adapter, Classified, HostFacts, Rule, Stream, Support, Transcript, classify,
};
pub use backstop_agents::{EndedBy, Ending, Zone};
use backstop_engine::gates;
use backstop_engine::outcome::{
    Artifact, EmptyWork, Evidence, FailCause, HostWork, Measurement, Post, Ruling, Status,
    TreeChange, VisitKind,
};
use backstop_engine::vocab::{PhaseKind, Stage, Timestamp};
use serde::Serialize;

use crate::clock;

/// A run.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What it printed on standard output.
    pub out: Vec<u8>,
    /// What it printed on standard error.
    pub err: Vec<u8>,
    /// How its process ended.
    pub ending: Ending,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// The stage it worked in; without one nothing but the run itself is judged.
    pub stage: Option<Stage>,
    /// Whether the tree changed; none when nobody looked.
    pub tree: Option<TreeChange>,
    /// Whether the host checks are green; none when none ran.
    pub checks: Option<Checks>,
    /// When it ended.
    pub now: Timestamp,
    /// Where it ran.
    pub zone: Zone,
}

/// How the host checks came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// All are green.
    Green,
    /// One is red at least.
    Red,
}

/// What a run was, and why it is taken for that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Its status by name.
    pub status: &'static str,
    /// Why, where the status has causes; the account that ran out; what was asked.
    pub cause: Option<String>,
    /// When the limit ends, in RFC 3339.
    pub until: Option<String>,
    /// Whether that end rests on a supposition.
    pub until_assumed: bool,
    /// The session that can be taken up again.
    pub session: Option<String>,
    /// The tokens; null when the agent does not say.
    pub usage: Option<Usage>,
    /// What it cost in US dollars; null when the agent does not say.
    pub cost_usd: Option<f64>,
    /// Tool calls begun.
    pub tool_calls: u64,
    /// The last thing that the model wrote.
    pub final_message: Option<String>,
    /// Which rule decided.
    pub rule: Rule,
}

/// Tokens of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Read and not from a cache.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cached: u64,
}

/// Reads a run of the agent with this name.
///
/// # Errors
/// When no agent has that name; the words list those that there are.
pub fn read(agent: &str, run: &Recorded) -> Result<Reading, String> {
    let agent = backstop_agents::known(agent)?;
    let transcript = transcript(agent, run);
    let host = HostFacts {
        ending: run.ending,
        ended_by: run.ended_by,
        oom_kills: 0,
        zone: run.zone.clone(),
    };
    let claimed = classify(agent.features(), &transcript, &host);
    Ok(reading(judge(agent, run, &transcript, claimed), transcript))
}

fn transcript(agent: &dyn Adapter, run: &Recorded) -> Transcript {
    let mut parser = agent.parser();
    // Files do not tell which line came first. What a program says as it ends is on standard error, if anywhere.
    let mut heard = parser.take(Stream::Out, &run.out);
    heard.extend(parser.take(Stream::Err, &run.err));
    heard.extend(parser.finish());
    let mut transcript = Transcript::default();
    transcript.spoke = !(run.out.is_empty() && run.err.is_empty());
    for event in heard {
        transcript.take(event, run.now);
    }
    transcript
}

/// What it is taken for, given what the host saw of the work in this stage.
fn judge(
    agent: &dyn Adapter,
    run: &Recorded,
    said: &Transcript,
    claimed: Classified,
) -> Classified {
    let success = claimed.status == Status::Success;
    if success && run.checks == Some(Checks::Red) {
        let cause = FailCause::Reported;
        return Classified {
            status: Status::Failed { cause },
            rule: Rule::Evidence,
            ..claimed
        };
    }
    let Some(stage) = run.stage else {
        return claimed;
    };
    // Nobody looked at the tree: there is nothing to hold the claim against.
    if stage == Stage::Code && run.tree.is_none() {
        return claimed;
    }
    let post = Post {
        stage,
        kind: PhaseKind::Coding,
        visit: VisitKind::First,
        empty: EmptyWork::Refused,
    };
    claimed.with_evidence(&post, &evidence(agent, run, said))
}

/// The evidence that a recording has; an artifact on a disk elsewhere is taken to be there.
fn evidence(agent: &dyn Adapter, run: &Recorded, said: &Transcript) -> Evidence {
    let wrote_nothing = agent.features().edits == Support::Yes && said.edits == 0;
    let tree = if wrote_nothing {
        Some(TreeChange::Unchanged)
    } else {
        run.tree
    };
    let message = said.message.as_deref().unwrap_or_default();
    Evidence {
        tree: tree.map_or(Measurement::Unmeasured, Measurement::Found),
        artifact: Measurement::Found(Artifact::Text),
        protected: Measurement::Found(Vec::new()),
        ruling: Measurement::Found(match gates::verdict(message, None) {
            Ok(_) => Ruling::Strict,
            Err(_) => Ruling::Missing,
        }),
        host_work: Measurement::Found(HostWork::Done),
    }
}

fn reading(classified: Classified, said: Transcript) -> Reading {
    let Classified {
        status,
        rule,
        until_assumed,
    } = classified;
    let (cause, until) = cause(&status);
    Reading {
        status: status.kind().name(),
        cause,
        until: until.map(clock::rfc_3339),
        until_assumed,
        session: said.session,
        usage: said.spent.tokens.map(|tokens| Usage {
            input: tokens.input,
            output: tokens.output,
            cached: tokens.cached,
        }),
        cost_usd: said.spent.cost.map(dollars),
        tool_calls: said.spent.tool_calls,
        final_message: said.message,
        rule,
    }
}

/// What comes with a status: its cause in a word, and when a limit ends.
fn cause(status: &Status) -> (Option<String>, Option<Timestamp>) {
    match status {
        Status::Failed { cause } => (Some(cause.to_string()), None),
        Status::Interrupted { by } => (Some(by.to_string()), None),
        Status::AgentUnavailable { cause } => (Some(cause.to_string()), None),
        Status::OverBudget { account } => (Some(account.to_string()), None),
        Status::Asked { question } => (Some(question.to_string()), None),
        Status::RateLimited { until } => (None, *until),
        Status::Success
        | Status::Unknown
        | Status::Ambiguous
        | Status::ResourceKilled
        | Status::IdleTimeout
        | Status::Cancelled => (None, None),
    }
}

/// Millionths as dollars, by way of their decimal text, which is exact.
fn dollars(micros: u64) -> f64 {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.parse().unwrap_or(f64::NAN)
}
