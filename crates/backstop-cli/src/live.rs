//! What a person sees while a mission runs: a line for each thing that happens, and why.

use std::io::Write;

use backstop_engine::{Fact, Mission, PointVerdict, Rule};
use backstop_runner::clock;
use backstop_runner::dispatcher::{Observe, Request};
use backstop_runner::history::Step;
use backstop_runner::{prompt, words};
use tokio::sync::mpsc;

/// Whether the rules behind each step are told too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// Yes.
    Told,
    /// Only what happens.
    Left,
}

/// Tells each step on a stream.
pub struct Narrator<W> {
    out: W,
    reasons: Reasons,
}

impl<W: Write> Narrator<W> {
    /// Tells on `out`.
    pub const fn new(out: W, reasons: Reasons) -> Self {
        Self { out, reasons }
    }

    /// Tells one step. A stream that is closed wants no more.
    pub fn tell(&mut self, step: &Step, mission: &Mission) {
        let time = clock::utc(step.at);
        let time = time.get(11..19).unwrap_or_default();
        for line in lines(step, mission) {
            let _ = writeln!(self.out, "{time}  {line}");
        }
        if self.reasons == Reasons::Told {
            for rule in step.because.iter().filter(|rule| !is_plain(**rule)) {
                let _ = writeln!(self.out, "          because {}", words::rule(*rule));
            }
        }
        let _ = self.out.flush();
    }
}

impl<W: Write + Send> Observe for Narrator<W> {
    fn step(&mut self, step: &Step, mission: &Mission, _door: &mpsc::Sender<Request>) {
        self.tell(step, mission);
    }
}

/// Rules that only say what the line above them says.
const fn is_plain(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::Noted | Rule::Opened | Rule::Entered(_) | Rule::LaneOpened | Rule::Answered(_)
    )
}

/// What a step is, in lines.
fn lines(step: &Step, mission: &Mission) -> Vec<String> {
    let mut lines = match &step.fact {
        Fact::Opened(charter) => {
            let fields = charter.fields();
            vec![format!(
                "mission {} opened: {}",
                fields.mission,
                fields.goal.as_str().lines().next().unwrap_or_default()
            )]
        }
        Fact::PreflightRan(ran) => preflight(&ran.points),
        Fact::AttemptStarted(_) => vec![started(mission)],
        Fact::AttemptEnded(ended) => vec![ended_line(ended, mission)],
        Fact::ChecksRan(ran) => ran
            .results
            .iter()
            .map(|result| {
                format!(
                    "validate   check `{}` {}",
                    result.name,
                    prompt::verdict(&result.verdict)
                )
            })
            .collect(),
        Fact::WaitEnded { .. } => vec!["the wait is over".into()],
        Fact::Landed { .. } => vec!["landed     the verified lane is on the mission branch".into()],
        Fact::LandFailed { cause, .. } => vec![format!("landing failed: {cause}")],
        Fact::Shipped(shipped) => vec![format!("ship       {}", ship(&shipped.outcome))],
        Fact::BaseMerged(_) => vec!["the moved base met the work".into()],
        Fact::Answered(answer) => vec![format!(
            "gate {}    {} chose {}",
            answer.gate, answer.by, answer.verb
        )],
        Fact::GateExpired { gate } => vec![format!("gate {gate}    nobody answered in time")],
        Fact::StopRequested { by } => vec![format!("{by} stops the mission")],
        Fact::Resumed { by } => vec![format!("{by} goes on")],
        Fact::Tightened {
            account,
            ceiling,
            by,
        } => {
            vec![format!(
                "{by} lowers `{account}` to {}",
                account.amount(*ceiling)
            )]
        }
        Fact::Supervised { by } => vec![format!("{by} wants to see every Validate")],
        Fact::SessionOpened(_) => Vec::new(),
    };
    lines.extend(started_effects(step));
    lines
}

fn preflight(points: &[backstop_engine::Point]) -> Vec<String> {
    let mut lines = Vec::new();
    for point in points {
        match &point.verdict {
            PointVerdict::Held(_) => {}
            PointVerdict::Warned(words) => {
                lines.push(format!("preflight  note: {}: {words}", point.name));
            }
            PointVerdict::Failed(words) => {
                lines.push(format!("preflight  FAILED: {}: {words}", point.name));
            }
        }
    }
    if lines.iter().all(|line| !line.contains("FAILED")) {
        lines.push(format!(
            "preflight  {} points looked at, ready",
            points.len()
        ));
    }
    lines
}

fn started(mission: &Mission) -> String {
    let lane = mission.lane();
    let role = mission
        .charter()
        .fields()
        .roles
        .at(lane.stage)
        .map_or("agent", |(role, _)| role.name());
    let attempt = lane
        .attempt
        .map_or(1, backstop_engine::vocab::Attempt::number);
    format!(
        "{:<10} {role} at work (visit {}, attempt {attempt})",
        lane.stage.to_string(),
        lane.visit()
    )
}

fn ended_line(ended: &backstop_engine::AttemptEnded, mission: &Mission) -> String {
    let status = mission.lane().last.as_ref().unwrap_or(&ended.status);
    let spent = ended.usage.active_ms;
    format!(
        "attempt ended: {} ({})",
        words::status(status),
        backstop_engine::vocab::Span::from_millis(spent)
    )
}

fn ship(outcome: &backstop_engine::ShipOutcome) -> String {
    match outcome {
        backstop_engine::ShipOutcome::Done { place } => format!("done: {place}"),
        backstop_engine::ShipOutcome::Failed { cause } => format!("failed: {cause}"),
        backstop_engine::ShipOutcome::BaseMoved { now } => format!("the base moved to {now}"),
    }
}

fn started_effects(step: &Step) -> impl Iterator<Item = String> + '_ {
    use backstop_engine::Effect;
    step.effects.iter().filter_map(|(_, effect)| match effect {
        Effect::Wait(wait) => Some(format!("waiting until {}", clock::utc(wait.until))),
        Effect::Ask(gate) => Some(format!("{} gate {} opened", gate.kind, gate.id)),
        Effect::RunChecks(_) => {
            Some("validate   the host's checks run on a checkout of their own".into())
        }
        Effect::Preflight
        | Effect::Launch(_)
        | Effect::Land(_)
        | Effect::Ship(_)
        | Effect::MergeBase(_)
        | Effect::Halt(_) => None,
    })
}
