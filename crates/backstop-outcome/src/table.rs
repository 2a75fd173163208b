//! The table: status × stage → action, with the rule that says why. Nothing here counts or waits.

use backstop_vocab::Stage;
use serde::{Deserialize, Serialize};

use crate::StatusKind;
use crate::named::named;

named!(
    /// What policy makes of a status.
    Action, "known action",
    /// Go on.
    Advance = "advance",
    /// Wait where there is something to wait for, then launch again in the same visit.
    AutoResume = "auto_resume",
    /// Ask a person to mend the machinery.
    GateInfra = "gate_infra",
    /// Ask a person to look at the work.
    GateReview = "gate_review",
    /// Stop safely and wait for a person.
    Park = "park",
);

named!(
    /// The rule that made a decision.
    Rule, "known rule",
    /// Success anywhere but at Validate.
    SuccessAdvances = "success_advances",
    /// Success at Validate: the attempt did its part, and the visit is judged by what it found.
    VerdictDecides = "verdict_decides",
    /// A provider's limit passes by itself.
    LimitIsWaitedOut = "limit_is_waited_out",
    /// A success that broke off before it was final is looked at again, after a survey of the tree.
    UnconfirmedSuccessResumes = "unconfirmed_success_resumes",
    /// What was broken off from outside goes on.
    InterruptionResumes = "interruption_resumes",
    /// Out of memory again is likely until a person makes room.
    ResourceKillNeedsRoom = "resource_kill_needs_room",
    /// An agent that cannot run will not run by being asked again.
    UnavailableAgentNeedsRepair = "unavailable_agent_needs_repair",
    /// Work that failed is a person's to judge.
    FailureNeedsReview = "failure_needs_review",
    /// Nothing shows how it ended, so nobody may assume it.
    UnknownEndNeedsReview = "unknown_end_needs_review",
    /// The run went quiet and its extent is unknown: never resumed by itself.
    SilenceNeedsReview = "silence_needs_review",
    /// A budget is spent and only a person refills it: never resumed by itself.
    SpentBudgetNeedsReview = "spent_budget_needs_review",
    /// A question is a person's to answer.
    QuestionNeedsAnswer = "question_needs_answer",
    /// An operator's stop stands until an operator resumes.
    StopParks = "stop_parks",
);

impl Rule {
    /// The reason of the rule, in a sentence for tables and explanations.
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::SuccessAdvances => "the stage's evidence is there",
            Self::VerdictDecides => "the attempt did its part; what it found decides the visit",
            Self::LimitIsWaitedOut => "a provider's limit passes by itself",
            Self::UnconfirmedSuccessResumes => {
                "success was reported, and broke off before it was final"
            }
            Self::InterruptionResumes => "broken off from outside, not by the work",
            Self::ResourceKillNeedsRoom => {
                "out of memory again is likely until a person makes room"
            }
            Self::UnavailableAgentNeedsRepair => "an agent that cannot run needs a person's repair",
            Self::FailureNeedsReview => "work that failed is a person's to judge",
            Self::UnknownEndNeedsReview => "nothing shows how it ended, so nobody may assume it",
            Self::SilenceNeedsReview => "the run went quiet, and its extent is unknown",
            Self::SpentBudgetNeedsReview => "the budget is spent, and only a person refills it",
            Self::QuestionNeedsAnswer => "a question is a person's to answer",
            Self::StopParks => "an operator's stop stands until an operator resumes",
        }
    }
}

/// What to do, and the rule that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// Why.
    pub rule: Rule,
}

/// What policy makes of an attempt that ended so at this stage.
///
/// The action of a status is the same at every stage. At Validate the rule of a success differs: advancing there means
/// that the verdict is taken, and `backstop_mode::after_validate` says where the lane goes.
#[must_use]
pub const fn decide(stage: Stage, status: StatusKind) -> Decision {
    let rule = rule(stage, status);
    Decision {
        action: action(rule),
        rule,
    }
}

const fn rule(stage: Stage, status: StatusKind) -> Rule {
    match status {
        StatusKind::Success => success(stage),
        StatusKind::RateLimited => Rule::LimitIsWaitedOut,
        StatusKind::Ambiguous => Rule::UnconfirmedSuccessResumes,
        StatusKind::Interrupted => Rule::InterruptionResumes,
        StatusKind::ResourceKilled => Rule::ResourceKillNeedsRoom,
        StatusKind::AgentUnavailable => Rule::UnavailableAgentNeedsRepair,
        StatusKind::Failed => Rule::FailureNeedsReview,
        StatusKind::Unknown => Rule::UnknownEndNeedsReview,
        StatusKind::IdleTimeout => Rule::SilenceNeedsReview,
        StatusKind::OverBudget => Rule::SpentBudgetNeedsReview,
        StatusKind::Asked => Rule::QuestionNeedsAnswer,
        StatusKind::Cancelled => Rule::StopParks,
    }
}

const fn success(stage: Stage) -> Rule {
    match stage {
        Stage::Define | Stage::Plan | Stage::Code | Stage::Ship => Rule::SuccessAdvances,
        Stage::Validate => Rule::VerdictDecides,
    }
}

const fn action(rule: Rule) -> Action {
    match rule {
        Rule::SuccessAdvances | Rule::VerdictDecides => Action::Advance,
        Rule::LimitIsWaitedOut | Rule::UnconfirmedSuccessResumes | Rule::InterruptionResumes => {
            Action::AutoResume
        }
        Rule::ResourceKillNeedsRoom | Rule::UnavailableAgentNeedsRepair => Action::GateInfra,
        Rule::FailureNeedsReview
        | Rule::UnknownEndNeedsReview
        | Rule::SilenceNeedsReview
        | Rule::SpentBudgetNeedsReview
        | Rule::QuestionNeedsAnswer => Action::GateReview,
        Rule::StopParks => Action::Park,
    }
}

// The cells that may never change, at any stage.
const _: () = {
    let mut stages = Stage::ALL.as_slice();
    while let [stage, later @ ..] = stages {
        let mut kinds = StatusKind::ALL;
        while let [kind, others @ ..] = kinds {
            assert!(is_sacred(*kind, decide(*stage, *kind).action));
            kinds = others;
        }
        stages = later;
    }
};

const fn is_sacred(kind: StatusKind, action: Action) -> bool {
    match kind {
        StatusKind::Success => matches!(action, Action::Advance),
        StatusKind::Cancelled => matches!(action, Action::Park),
        StatusKind::IdleTimeout | StatusKind::OverBudget => matches!(action, Action::GateReview),
        StatusKind::RateLimited
        | StatusKind::Ambiguous
        | StatusKind::Interrupted
        | StatusKind::ResourceKilled
        | StatusKind::AgentUnavailable
        | StatusKind::Failed
        | StatusKind::Unknown
        | StatusKind::Asked => !matches!(action, Action::Advance),
    }
}
