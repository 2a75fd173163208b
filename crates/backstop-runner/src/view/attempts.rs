//! Every launch of an agent: what was asked for, who really ran, and what came of it.

use std::path::PathBuf;

use backstop_engine::plan::PhaseSpec;
use backstop_engine::review::{EffectiveReasoning, Label, RouteReceipt};
use backstop_engine::vocab::{
    Attempt, CommitId, Digest, EffectId, Phase, PhaseKind, Stage, Timestamp, Visit,
};
use backstop_engine::{AttemptEnded, Cost, Fact, Order, Role, Ruling};
use serde::Serialize;

use super::artifact::{ArtifactView, artifact};
use crate::blobs::Blobs;
use crate::history::{History, Step};
use crate::words;

/// What stands for a part of a receipt that the agent does not report.
const UNREPORTED: &str = "unreported";

/// Who really ran, as far as the agent reports it; `unreported` where it does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The reasoning effort.
    pub effort: String,
    /// Who chose the model.
    pub routed_by: String,
}

impl Ran {
    /// Whether the agent reports any of it.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        let parts = [&self.provider, &self.model, &self.effort];
        parts.iter().any(|part| *part != UNREPORTED)
    }

    fn of(route: &RouteReceipt) -> Self {
        let told = |label: Option<&Label>| {
            label.map_or_else(|| UNREPORTED.to_owned(), ToString::to_string)
        };
        let effort = match &route.effective_reasoning {
            Some(EffectiveReasoning::Known(effort)) => Some(effort),
            Some(EffectiveReasoning::Unreported) | None => None,
        };
        Self {
            provider: told(route.provider.as_ref()),
            model: told(route.model.as_ref()),
            effort: told(effort),
            routed_by: route
                .routed_by
                .as_ref()
                .map_or_else(|| UNREPORTED.to_owned(), ToString::to_string),
        }
    }
}

/// One launch of an agent: what was asked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptView {
    /// The number of the launch in the mission, from 1; `logs --attempt` takes it.
    pub number: usize,
    /// When it was launched.
    pub launched_at: Timestamp,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
    /// The phase.
    pub phase: Phase,
    /// The kind of that phase.
    pub kind: Option<PhaseKind>,
    /// The stage.
    pub stage: Stage,
    /// The visit.
    pub visit: Visit,
    /// The attempt of that visit.
    pub attempt: Attempt,
    /// Who it was.
    pub role: Role,
    /// The agent asked for.
    pub agent: String,
    /// The model asked for; none left it to the agent.
    pub model: Option<String>,
    /// The effort asked for; none left it to the agent.
    pub effort: Option<String>,
    /// Who it really was, as far as the agent reports it; none while it runs.
    pub ran: Option<Ran>,
    /// What the agent did not report, so that nobody takes the request for the receipt.
    pub unreported: Vec<&'static str>,
    /// How it ended, evidence weighed; none while it runs.
    pub ended: Option<String>,
    /// How it ended as far as the agent said, where the evidence says otherwise.
    pub claimed: Option<String>,
    /// The verdict of a role that judges, or why there is none.
    pub verdict: Option<String>,
    /// What it finds open.
    pub findings: Vec<String>,
    /// Run time.
    pub active_ms: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens.
    pub tokens: u64,
    /// What was charged.
    pub cost_micro_usd: u64,
    /// Where its transcript is kept.
    pub transcript: Option<PathBuf>,
    /// The digest of the transcript.
    pub transcript_digest: Option<Digest>,
    /// What it handed over.
    pub artifact: Option<ArtifactView>,
    /// The protected paths that it changed.
    pub protected: Vec<String>,
    /// The commit that its work is kept as.
    pub commit: Option<CommitId>,
    /// The end of what it said.
    pub words: String,
}

/// Every launch, with the step that it began in.
fn launches(steps: &[Step]) -> impl Iterator<Item = (&Step, EffectId, &Order)> {
    steps.iter().flat_map(|step| {
        let launches = step.effects.iter();
        let launches = launches.filter_map(|(id, effect)| Some((*id, effect.launched()?)));
        launches.map(move |(id, order)| (step, id, order))
    })
}

pub(super) fn attempts(history: &History, blobs: &Blobs) -> Vec<AttemptView> {
    let ends: Vec<(Timestamp, &AttemptEnded, String)> = history
        .walk()
        .filter_map(|(step, mission)| {
            let Fact::AttemptEnded(ended) = &step.fact else {
                return None;
            };
            let weighed = mission.lane().last.as_ref().unwrap_or(&ended.status);
            Some((step.at, ended.as_ref(), words::status(weighed)))
        })
        .collect();
    let plan = &history.mission.charter().fields().plan;
    let view = |(index, (step, id, order)): (usize, (&Step, EffectId, &Order))| {
        let end = ends.iter().find(|(_, ended, _)| ended.effect == id);
        let mut view = launched(index.saturating_add(1), step.at, order);
        view.kind = plan.phase(order.phase).map(PhaseSpec::kind);
        if let Some((at, ended, weighed)) = end {
            fill(&mut view, ended, order, blobs);
            view.ended_at = Some(*at);
            let claimed = words::status(&ended.status);
            view.claimed = (claimed != *weighed).then_some(claimed);
            view.ended = Some(weighed.clone());
        }
        view
    };
    launches(&history.steps).enumerate().map(view).collect()
}

/// An attempt of which nothing is known but what was asked for.
fn launched(number: usize, launched_at: Timestamp, order: &Order) -> AttemptView {
    let asked = &order.agent;
    AttemptView {
        number,
        launched_at,
        ended_at: None,
        phase: order.phase,
        kind: None,
        stage: order.stage,
        visit: order.visit,
        attempt: order.attempt,
        role: order.role,
        agent: asked.agent.to_string(),
        model: asked.model.as_ref().map(ToString::to_string),
        effort: asked.effort.as_ref().map(ToString::to_string),
        ran: None,
        unreported: Vec::new(),
        ended: None,
        claimed: None,
        verdict: None,
        findings: Vec::new(),
        active_ms: 0,
        tool_calls: 0,
        tokens: 0,
        cost_micro_usd: 0,
        transcript: None,
        transcript_digest: None,
        artifact: None,
        protected: Vec::new(),
        commit: None,
        words: String::new(),
    }
}

fn fill(view: &mut AttemptView, ended: &AttemptEnded, order: &Order, blobs: &Blobs) {
    let usage = &ended.usage;
    view.active_ms = usage.active_ms;
    view.tool_calls = usage.tool_calls;
    view.tokens = usage.tokens;
    view.cost_micro_usd = match usage.cost {
        Cost::Reported(cost) => cost,
        Cost::Unreported => order.agent.assumed_cost,
        Cost::NoModelWork => 0,
    };
    view.unreported = unreported(ended);
    view.ran = Some(Ran::of(&ended.route));
    view.verdict = ended.ruling.as_ref().map(words::ruling);
    if let Some(Ruling::Verdict { findings, .. }) = &ended.ruling {
        view.findings = findings
            .as_slice()
            .iter()
            .map(|one| one.as_str().to_owned())
            .collect();
    }
    let kind = view.kind.filter(|_| order.stage == Stage::Code);
    view.artifact = artifact(&ended.artifact, kind, blobs);
    view.transcript = ended.transcript.and_then(|digest| blobs.path(&digest).ok());
    view.transcript_digest = ended.transcript;
    view.protected = ended.protected.iter().map(ToString::to_string).collect();
    view.commit = ended.head.as_ref().map(|head| head.commit.clone());
    view.words = ended.words.to_string();
}

/// What the agent leaves out, wherever a model worked.
fn unreported(ended: &AttemptEnded) -> Vec<&'static str> {
    if ended.usage.cost == Cost::NoModelWork {
        return Vec::new();
    }
    let ran = Ran::of(&ended.route);
    let told = [
        ("model", ran.model != UNREPORTED),
        ("effort", ran.effort != UNREPORTED),
        ("cost", ended.usage.cost != Cost::Unreported),
        ("tokens", ended.usage.tokens > 0),
        ("session", ended.session.is_some()),
    ];
    let missing = told.into_iter().filter(|(_, told)| !told);
    missing.map(|(what, _)| what).collect()
}
