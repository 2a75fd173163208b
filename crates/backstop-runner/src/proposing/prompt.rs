//! What an agent is told that is asked for a plan: the goal, how the work will be checked, what was wrong with its earlier
//! proposals, and everything that a plan may say and who reads it.

use std::fmt::Write as _;

use backstop_engine::Check;
use backstop_engine::plan::{self, Checks, Entry, KEYS, Level, MOST_PROPOSALS, Need, Reader};
use backstop_engine::vocab::PhaseKind;

use crate::opening::Asking;
use crate::plans::{RefusedProposal, Stored};
use crate::template::{Named, Template};

/// How much of the last answer is shown, in bytes.
const SHOWN: usize = 16 << 10;

/// What can be filled into the prompt of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// What is wanted.
    Goal,
    /// Which proposal it is, from 1.
    Proposal,
    /// How many there may be.
    Proposals,
    /// How coding will be checked.
    Checks,
    /// Why earlier proposals were refused, and the last one.
    Refusals,
}

impl Named for Asked {
    const ALL: &'static [Self] = &[
        Self::Goal,
        Self::Proposal,
        Self::Proposals,
        Self::Checks,
        Self::Refusals,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Proposal => "proposal",
            Self::Proposals => "proposals",
            Self::Checks => "checks",
            Self::Refusals => "refusals",
        }
    }
}

/// The prompt of the next proposal. How it will be checked and what was refused stand in it whatever the operator's text
/// leaves out, and the contract for the answer ends it.
pub(super) fn prompt(asking: &Asking, stored: &Stored, answer: &str) -> String {
    let value = |placeholder| match placeholder {
        Asked::Goal => stored.goal.as_str().trim().to_owned(),
        Asked::Proposal => stored.proposals.spent().to_string(),
        Asked::Proposals => MOST_PROPOSALS.to_string(),
        Asked::Checks => titled("How coding will be checked", &checks(asking)),
        Asked::Refusals => refused(stored, answer),
    };
    let own = asking.own.as_deref();
    let text = own.unwrap_or(include_str!("../prompts/plan_propose.md"));
    // It was looked at when it was read; what does not hold stands as it was written.
    let template = Template::parse(text).unwrap_or_else(|_| Template::plain(text));
    let mut text = template.fill(value);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for left_out in [Asked::Checks, Asked::Refusals] {
        let value = value(left_out);
        if !template.has(left_out) && !value.is_empty() {
            let _ = write!(text, "\n{value}\n");
        }
    }
    section(&mut text, "What a plan is", &shape());
    section(&mut text, "The keys, and who reads them", &keys());
    section(&mut text, "The kinds of phases", &kinds());
    section(&mut text, "The JSON schema", &plan::schema().to_string());
    section(&mut text, "What counts as an answer", DUTY);
    text
}

const DUTY: &str = "Nobody watches this run. Do not ask for permission; look around in the present folder, and change nothing: what you change \
     is thrown away. End with the plan as your final message: one JSON object alone, or one fence tagged json that holds it. Nothing \
     is repaired and nothing is guessed: everything that is wrong with a plan refuses it. A person reads the plan and approves it \
     before anything of it runs.";

/// Every refusal so far and the last answer; empty before the first.
fn refused(stored: &Stored, answer: &str) -> String {
    let mut text = String::new();
    for refused in &stored.refused {
        let title = format!("Why proposal {} was refused", refused.number);
        section(&mut text, &title, &refusals(refused));
    }
    if !stored.refused.is_empty() {
        section(&mut text, "Your last answer", &quoted(answer));
    }
    text.trim().to_owned()
}

fn titled(title: &str, body: &str) -> String {
    format!("## {title}\n{}", body.trim())
}

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "\n{}\n", titled(title, body));
}

fn shape() -> String {
    "One to four phases that run one after the other. Each is done by agents who know nothing but the goal, the task of their \
     phase and what earlier phases reported, on the work of the phases before it; it is judged, and only then the next one \
     begins. A handoff loses context at every step: use as few phases as the goal needs. One person approves what is shipped, \
     at the end."
        .into()
}

fn keys() -> String {
    KEYS.iter().map(key).collect()
}

fn key(entry: &Entry) -> String {
    let place = match entry.level {
        Level::Plan => "of the plan",
        Level::Phase => "of a phase",
    };
    let need = match entry.need {
        Need::Required => "required",
        Need::Optional => "optional",
    };
    let reader = match entry.reader {
        Reader::Engine => "the engine",
        Reader::Agents => "every agent of the phase",
        Reader::Reviewer => "the reviewer",
        Reader::Host => "the host, which runs it",
    };
    format!(
        "- `{}` {place}, {need}, {}: {}. Read by {reader}.\n",
        entry.name,
        entry.shape.words(),
        entry.meaning
    )
}

fn kinds() -> String {
    let line = |kind: &PhaseKind| format!("- `{kind}`: {}\n", evidence(*kind));
    PhaseKind::ALL.iter().map(line).collect()
}

/// What shows that a phase of this kind was done.
#[must_use]
pub const fn evidence(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Research => "finds out, and ends in a report; it may change no file",
        PhaseKind::Coding => "changes files, and has to be checked by a command that the host runs",
        PhaseKind::Benchmark => "measures, and ends in the numbers and the commands that made them",
        PhaseKind::SecurityScan => {
            "looks for weaknesses, and ends in a report; it may change no file"
        }
    }
}

fn checks(asking: &Asking) -> String {
    let configured = asking.charter.fields().checks.iter();
    match asking.checked {
        Checks::None => {
            "No check is configured: each `coding` phase needs a `done_when_check` of its own, or the plan is refused as \
             `unchecked_coding`."
                .into()
        }
        Checks::Waived => {
            "The operator wants no check; a `done_when_check` is welcome all the same.".into()
        }
        Checks::Configured => {
            let line = |check: &Check| format!("- {}: `{}`\n", check.name, check.command);
            let lines: String = configured.map(line).collect();
            format!(
                "The host runs these on every coding and benchmark phase; a `done_when_check` is run besides:\n{lines}"
            )
        }
    }
}

fn refusals(refused: &RefusedProposal) -> String {
    let mut text = String::new();
    for refusal in &refused.refusals {
        let _ = writeln!(text, "- {refusal}");
    }
    if refused.omitted > 0 {
        let _ = writeln!(text, "- and {} more", refused.omitted);
    }
    text
}

/// Text that can be taken for no fence, no section and no command line's end.
fn quoted(answer: &str) -> String {
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let answer: String = answer.chars().filter(kept).collect();
    let head = answer.get(..answer.floor_char_boundary(SHOWN));
    let head = head.unwrap_or_default();
    let mut text = String::new();
    for line in head.lines() {
        let _ = writeln!(text, "> {line}");
    }
    if head.len() < answer.len() {
        let _ = writeln!(text, "[cut here: it has {} bytes]", answer.len());
    }
    if text.is_empty() {
        text.push_str("It was blank.");
    }
    text
}
