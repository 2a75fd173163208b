//! What happened, told to a person: each step of a mission in a line or more. Why it happened is in `words`.

use backstop_engine::vocab::{Attempt, Span};
use backstop_engine::{
    AttemptEnded, Effect, Fact, Mission, Order, Point, PointVerdict, Role, Rule, ShipOutcome,
};

use crate::history::Step;
use crate::{clock, prompt, words};

/// What a step is, in lines. `mission` is what it led to.
#[must_use]
pub fn lines(step: &Step, mission: &Mission) -> Vec<String> {
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
        Fact::Landed { .. } => vec!["landed     the lane is on the mission branch".into()],
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
    lines.extend(phase(step, mission));
    lines.extend(started_effects(step));
    lines
}

/// The phase that begins, where there are several.
fn phase(step: &Step, mission: &Mission) -> Option<String> {
    let (plan, now) = (&mission.charter().fields().plan, mission.lane().phase);
    let many = plan.phases().len();
    let begins = many > 1 && step.because.contains(&Rule::LaneOpened);
    let phase = plan.phase(now).filter(|_| begins)?;
    let task = words::first_line(phase.task().as_str());
    let title = format!("phase {now}");
    Some(format!("{title:<10} of {many}, {}: {task}", phase.kind()))
}

fn preflight(points: &[Point]) -> Vec<String> {
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
    let role = lane.role.map_or("agent", Role::name);
    let attempt = lane.attempt.map_or(1, Attempt::number);
    format!(
        "{:<10} {role} at work (visit {}, attempt {attempt})",
        lane.stage.to_string(),
        lane.visit()
    )
}

fn ended_line(ended: &AttemptEnded, mission: &Mission) -> String {
    let status = mission.lane().last.as_ref().unwrap_or(&ended.status);
    let spent = Span::from_millis(ended.usage.active_ms);
    let line = format!("attempt ended: {} ({spent})", words::status(status));
    match &ended.ruling {
        Some(ruling) => format!("{line}; {}", words::ruling(ruling)),
        None => line,
    }
}

fn ship(outcome: &ShipOutcome) -> String {
    match outcome {
        ShipOutcome::Done { place } => format!("done: {place}"),
        ShipOutcome::Failed { cause } => format!("failed: {cause}"),
        ShipOutcome::BaseMoved { now } => format!("the base moved to {now}"),
    }
}

/// What a launch is given by others.
fn handed(order: &Order) -> Option<String> {
    let kinds: Vec<String> = order
        .handoffs
        .iter()
        .map(|handoff| format!("{} of the {}", handoff.kind(), handoff.from()))
        .collect();
    let stage = order.stage.to_string();
    (!kinds.is_empty()).then(|| {
        format!(
            "{stage:<10} the {} is given: {}",
            order.role,
            kinds.join(", ")
        )
    })
}

fn started_effects(step: &Step) -> impl Iterator<Item = String> + '_ {
    step.effects.iter().filter_map(|(_, effect)| match effect {
        Effect::Wait(wait) => Some(format!("waiting until {}", clock::utc(wait.until))),
        Effect::Ask(gate) => Some(format!("{} gate {} opened", gate.kind, gate.id)),
        Effect::RunChecks(_) => {
            Some("validate   the host's checks run on a checkout of their own".into())
        }
        Effect::Launch(launch) => handed(launch.order()),
        Effect::Preflight
        | Effect::Land(_)
        | Effect::Ship(_)
        | Effect::MergeBase(_)
        | Effect::Halt(_) => None,
    })
}
