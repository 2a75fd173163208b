//! The manual: every example on it is run.

use std::collections::BTreeSet;

use backstop_engine::review::StepKind;
use serde_json::Value;

use crate::decide;

const PAGE: &str = include_str!("../../../../docs/policy-json.md");

const OPS: [&str; 11] = [
    "stage_next",
    "mode_parse",
    "gate_reasons",
    "after_validate",
    "transition_resets_streak",
    "progress",
    "outcome",
    "verdict",
    "board",
    "review",
    "plan",
];

const BOARD_STEPS: [&str; 13] = [
    "measure",
    "start",
    "complete",
    "pass",
    "verify",
    "review",
    "approve",
    "override",
    "reject",
    "retry",
    "waive",
    "new_generation",
    "under",
];

/// The lines of all `json` fences: a question, its answer, and so on.
fn examples() -> Vec<(&'static str, &'static str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in PAGE.lines() {
        match line {
            "```json" => fenced = true,
            "```" => fenced = false,
            line if fenced => lines.push(line),
            _ => {}
        }
    }
    assert!(!fenced && lines.len() % 2 == 0);
    lines.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

#[test]
fn every_answer_on_the_page_is_the_answer() {
    let examples = examples();
    assert!(examples.len() > 60);
    let questions: Vec<&str> = examples.iter().map(|(question, _)| *question).collect();
    let answers = decide(questions.join("\n").into_bytes());
    assert_eq!(answers.len(), examples.len());
    for (answer, (question, shown)) in answers.iter().zip(&examples) {
        assert_eq!(answer, shown, "{question}");
    }
}

/// The names of the steps that the questions of an op take.
fn shown_steps(op: &str) -> BTreeSet<String> {
    let answered = examples()
        .into_iter()
        .filter(|(_, answer)| answer.starts_with("{\"ok\""));
    let questions = answered.filter_map(|(line, _)| serde_json::from_str::<Value>(line).ok());
    let questions = questions.filter(|question| question["op"] == op);
    let steps = questions.flat_map(|question| question["steps"].as_array().cloned().unwrap());
    steps
        .filter_map(|step| step.as_object()?.keys().next().cloned())
        .collect()
}

#[test]
fn the_page_shows_every_op_and_every_step_at_work() {
    for op in OPS {
        let asked = format!("{{\"op\":\"{op}\",");
        let shown = |(question, answer): &(&str, &str)| {
            question.starts_with(&asked) && answer.starts_with("{\"ok\":")
        };
        assert!(examples().iter().any(shown), "{op}");
        assert!(PAGE.contains(&format!("## `{op}`\n")), "{op}");
    }
    let board: BTreeSet<String> = BOARD_STEPS.map(str::to_owned).into();
    assert_eq!(shown_steps("board"), board);
    let review = StepKind::ALL.iter().map(|step| step.name().to_owned());
    assert_eq!(shown_steps("review"), review.collect());
}

#[test]
fn the_lists_of_ops_and_steps_here_are_those_of_the_program() {
    let unknown = decide(b"{\"op\":\"\"}".to_vec()).remove(0);
    assert!(unknown.contains(&OPS.join(", ")), "{unknown}");
    let step = "{\"op\":\"board\",\"specs\":[],\"steps\":[{\"\":{}}],\"admit\":null}";
    let unknown = decide(step.into()).remove(0);
    let names = BOARD_STEPS.map(|step| format!("`{step}`")).join(", ");
    assert!(unknown.contains(&names), "{unknown}");
}
