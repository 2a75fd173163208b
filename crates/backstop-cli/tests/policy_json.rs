//! `backstop policy decide`, from outside: its manual, its tables against the policies, and input of every kind.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod policy_json {
    mod board;
    mod page;
    mod review;
    mod stream;
    mod tables;
}

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

/// A process that answers, with all three streams at hand.
fn start() -> Child {
    Command::new(env!("CARGO_BIN_EXE_backstop"))
        .args(["policy", "decide"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The lines of output for these bytes of input. It must end with 0 and say nothing else.
fn decide(input: Vec<u8>) -> Vec<String> {
    let mut child = start();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(str::to_owned).collect()
}

/// The answers to these questions, one each.
fn ask(questions: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = questions.iter().map(Value::to_string).collect();
    let answers = decide(lines.join("\n").into_bytes());
    assert_eq!(answers.len(), questions.len());
    let read = |line: &String| serde_json::from_str(line).unwrap();
    answers.iter().map(read).collect()
}

fn ask_one(question: &Value) -> Value {
    ask(std::slice::from_ref(question)).remove(0)
}

/// Asks each question and holds its answer to the one beside it.
fn hold(table: &[(Value, Value)]) {
    let questions: Vec<Value> = table.iter().map(|(question, _)| question.clone()).collect();
    for (answer, (question, wanted)) in ask(&questions).iter().zip(table) {
        assert_eq!(answer, &json!({ "ok": wanted }), "{question}");
    }
}

fn code(answer: &Value) -> &str {
    answer["refused"]["code"]
        .as_str()
        .unwrap_or("(not refused)")
}

/// The codes of all faults of a refused question.
fn codes(answer: &Value) -> Vec<&str> {
    let all = answer["refused"]["all"].as_array().unwrap();
    all.iter()
        .map(|fault| fault["code"].as_str().unwrap())
        .collect()
}

const ONE: &str = "git-tree:1111111111111111111111111111111111111111";
const TWO: &str = "git-tree:2222222222222222222222222222222222222222";
