//! `report`: what is proven, what is not and why, what waits for a person, the spend, the evidence.

use std::fmt::Write as _;

use backstop_engine::mode::Account;
use backstop_engine::vocab::Span;
use backstop_engine::{Ended, Fact, Position};
use backstop_runner::history::History;
use backstop_runner::{clock, prompt, words};

/// The report of one mission, as text.
pub fn text(history: &History) -> String {
    let mission = &history.mission;
    let fields = mission.charter().fields();
    let mut text = String::new();
    let _ = writeln!(text, "Mission {}", fields.mission);
    let _ = writeln!(
        text,
        "  goal      {}",
        fields.goal.as_str().lines().next().unwrap_or_default()
    );
    let _ = writeln!(
        text,
        "  opened    {} by {}",
        clock::utc(fields.opened_at),
        fields.opened_by
    );
    let _ = writeln!(text, "  now       {}", words::position(mission));
    proven(&mut text, history);
    wanted(&mut text, history);
    attempts(&mut text, history);
    spend(&mut text, history);
    text
}

fn proven(text: &mut String, history: &History) {
    let mission = &history.mission;
    let _ = writeln!(text, "\nProven");
    for landed in mission.landed() {
        let _ = writeln!(
            text,
            "  phase {} landed as {} ({})",
            landed.phase, landed.tree, landed.commit
        );
    }
    for result in &mission.lane().checks {
        let _ = writeln!(
            text,
            "  check `{}` {}",
            result.name,
            prompt::verdict(&result.verdict)
        );
    }
    if mission.landed().is_empty() && mission.lane().checks.is_empty() {
        let _ = writeln!(text, "  nothing yet");
    }
    if !matches!(mission.position(), Position::Ended(Ended::Shipped(_))) {
        let last = mission
            .lane()
            .last
            .as_ref()
            .map_or_else(|| "no attempt was made".into(), words::status);
        let _ = writeln!(
            text,
            "\nNot done\n  it has not shipped: it is {}; the last attempt: {last}",
            words::position(mission)
        );
    }
}

fn wanted(text: &mut String, history: &History) {
    if let Some(gate) = history.mission.gate() {
        let why: Vec<String> = gate
            .reasons
            .iter()
            .map(|reason| words::reason(*reason))
            .collect();
        let _ = writeln!(
            text,
            "\nWanted from you\n  {} gate {}: {}",
            gate.kind,
            gate.id,
            why.join("; ")
        );
    }
    let answers = history.mission.answers();
    if !answers.is_empty() {
        let _ = writeln!(text, "\nDecided by people");
        for (gate, by, verb) in answers {
            let _ = writeln!(text, "  gate {gate}: {by} chose {verb}");
        }
    }
}

fn attempts(text: &mut String, history: &History) {
    let _ = writeln!(text, "\nAttempts");
    for step in &history.steps {
        if let Fact::AttemptEnded(ended) = &step.fact {
            let order = history
                .steps
                .iter()
                .flat_map(|step| &step.effects)
                .find_map(|(id, effect)| effect.launched().filter(|_| *id == ended.effect));
            let Some(order) = order else { continue };
            let took = Span::from_millis(ended.usage.active_ms);
            let _ = writeln!(
                text,
                "  {} visit {} attempt {}: {} by {} — {} ({took})",
                order.stage,
                order.visit,
                order.attempt,
                order.role,
                order.agent.agent,
                words::status(&ended.status)
            );
        }
    }
}

fn spend(text: &mut String, history: &History) {
    let meter = history.mission.meter();
    let _ = writeln!(text, "\nSpend");
    for account in Account::ALL {
        let used = account.amount(meter.total(account));
        let _ = writeln!(
            text,
            "  {:<20} {used} of {}",
            account.to_string(),
            account.amount(meter.ceiling(account))
        );
    }
}
