//! Public incidents of unattended runs, as far as they are about how an agent's end is read: each row of
//! `incidents.jsonl` with the status and the action that are right here. Where a row asks for another outcome,
//! `docs/decisions/0060-incidents-read-otherwise.md` says why. The other rows are listed with the test that holds them.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, also in what they share"
)]

mod incidents_elsewhere;

use std::collections::BTreeSet;

use backstop_agents::{
    EndedBy, Ending, HostFacts, SpawnFault, Stream, Transcript, Zone, classify, find,
};
use backstop_outcome::{
    Account, Action, EmptyWork, Evidence, Measurement, Post, QUOTA_FLOOR, Status, StatusKind,
    TreeChange, VisitKind, Wait, decide, quota_wait, with_evidence,
};
use backstop_vocab::{PhaseKind, Stage, Timestamp};
use incidents_elsewhere::{ALL_ROWS, ELSEWHERE};
use serde_json::Value;

const ROWS: &str = include_str!("incidents.jsonl");
const NOW: Timestamp = Timestamp::from_millis(1_796_000_000_000);

/// What an end is read as, and what is then done.
type Right = (StatusKind, Action);

const SUCCESS: Right = (StatusKind::Success, Action::Advance);
const LIMITED: Right = (StatusKind::RateLimited, Action::AutoResume);
const INTERRUPTED: Right = (StatusKind::Interrupted, Action::AutoResume);
const UNAVAILABLE: Right = (StatusKind::AgentUnavailable, Action::GateInfra);
const KILLED: Right = (StatusKind::ResourceKilled, Action::GateInfra);
const FAILED: Right = (StatusKind::Failed, Action::GateReview);
const UNKNOWN: Right = (StatusKind::Unknown, Action::GateReview);
const IDLE: Right = (StatusKind::IdleTimeout, Action::GateReview);
const OVER: Right = (StatusKind::OverBudget, Action::GateReview);
const ASKED: Right = (StatusKind::Asked, Action::GateReview);

/// How a run ended where its row does not say it in figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// As the row says; with 0 where it says nothing.
    AsTold,
    /// It left with this status, which the row leaves out.
    Left(i32),
    /// It went quiet, and the idle limit ended it.
    Quiet,
    /// The wall-clock limit ended it.
    Wall,
    /// A spent account ended it.
    Budget,
    /// Nobody saw it end.
    Unseen,
}

/// A row: its name, the agent that reads it, the stage, how it ended, and what is right for each of its runs.
type Row = (&'static str, &'static str, Stage, End, &'static [Right]);

use End::{AsTold, Budget, Left, Quiet, Unseen, Wall};
use Stage::{Code, Validate};

/// Rows of no agent are read as `claude` says it, or as `exec` where a command without a grammar is meant; so are those
/// of `any` (exec), of `openhands` (exec) and of a wrapper around Claude Code (claude).
const JUDGED: &[Row] = &[
    ("AU-02", "claude", Code, AsTold, &[UNAVAILABLE, UNAVAILABLE]),
    ("AU-05", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("AU-06", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("AU-07", "claude", Code, AsTold, &[UNAVAILABLE, UNAVAILABLE]),
    ("AU-08", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("AU-09", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("AU-10", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("AU-11", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("CO-02", "claude", Code, Budget, &[OVER]),
    ("CS-01", "claude", Code, AsTold, &[UNKNOWN]),
    ("CS-04", "exec", Code, AsTold, &[SUCCESS]),
    ("CS-05", "claude", Code, AsTold, &[UNKNOWN, UNKNOWN]),
    ("CS-06", "claude", Code, AsTold, &[UNKNOWN]),
    ("CS-07", "claude", Code, AsTold, &[UNKNOWN]),
    ("CX-02", "claude", Code, Wall, &[OVER]),
    ("DK-01", "claude", Code, Left(1), &[UNAVAILABLE]),
    ("EX-01", "claude", Code, AsTold, &[LIMITED]),
    ("EX-02", "claude", Code, AsTold, &[FAILED]),
    ("EX-03", "aider", Code, AsTold, &[LIMITED]),
    ("EX-04", "aider", Code, AsTold, &[INTERRUPTED]),
    ("EX-08", "claude", Code, AsTold, &[LIMITED]),
    ("EX-09", "claude", Code, AsTold, &[UNKNOWN]),
    ("EX-10", "claude", Validate, AsTold, &[UNKNOWN]),
    ("EX-11", "claude", Code, AsTold, &[FAILED]),
    ("EX-12", "claude", Code, AsTold, &[SUCCESS]),
    ("FF-02", "exec", Code, AsTold, &[SUCCESS]),
    ("FS-01", "claude", Code, AsTold, &[UNKNOWN]),
    ("FS-04", "exec", Code, AsTold, &[SUCCESS]),
    ("FS-05", "claude", Code, AsTold, &[FAILED]),
    ("FS-10", "opencode", Code, AsTold, &[UNKNOWN]),
    ("HG-02", "claude", Code, AsTold, &[SUCCESS]),
    ("HG-05", "claude", Code, Quiet, &[IDLE]),
    ("HG-07", "gemini", Code, Quiet, &[IDLE]),
    ("HP-02", "claude", Code, Quiet, &[ASKED]),
    ("ID-01", "claude", Code, Quiet, &[IDLE]),
    ("ID-02", "claude", Code, Quiet, &[IDLE]),
    ("ID-04", "claude", Code, Quiet, &[IDLE]),
    ("LP-02", "claude", Code, AsTold, &[UNKNOWN]),
    ("LP-03", "claude", Code, AsTold, &[UNKNOWN]),
    ("LP-04", "claude", Code, AsTold, &[UNKNOWN]),
    ("LP-05", "opencode", Code, Wall, &[OVER]),
    ("LP-08", "exec", Code, AsTold, &[FAILED; 12]),
    ("OM-02", "claude", Code, AsTold, &[SUCCESS]),
    ("OM-03", "claude", Code, AsTold, &[KILLED; 3]),
    ("OM-04", "exec", Code, AsTold, &[UNKNOWN]),
    ("OU-01", "claude", Code, AsTold, &[SUCCESS]),
    ("OU-04", "claude", Code, AsTold, &[SUCCESS]),
    ("PE-01", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("PE-02", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("PE-03", "claude", Code, AsTold, &[UNAVAILABLE, LIMITED]),
    ("PE-04", "claude", Code, Left(1), &[LIMITED]),
    ("PE-06", "claude", Code, AsTold, &[LIMITED; 5]),
    ("PE-08", "claude", Code, AsTold, &[KILLED]),
    ("PL-01", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("PL-02", "claude", Code, AsTold, &[UNAVAILABLE]),
    ("RF-01", "claude", Code, Quiet, &[IDLE]),
    ("RF-04", "claude", Code, AsTold, &[SUCCESS]),
    ("RF-05", "claude", Code, AsTold, &[FAILED]),
    ("RF-06", "claude", Code, AsTold, &[LIMITED]),
    ("RL-01", "claude", Validate, AsTold, &[LIMITED]),
    ("RL-05", "claude", Validate, AsTold, &[LIMITED]),
    ("RL-06", "claude", Code, Quiet, &[LIMITED]),
    ("RL-07", "exec", Code, Quiet, &[IDLE]),
    ("RL-08", "opencode", Code, Quiet, &[IDLE]),
    ("RL-09", "opencode", Code, Quiet, &[LIMITED]),
    ("RL-10", "opencode", Code, Quiet, &[IDLE]),
    ("RT-01", "claude", Code, Left(1), &[LIMITED]),
    ("RT-02", "claude", Code, Left(1), &[LIMITED]),
    ("RT-04", "claude", Code, Left(1), &[LIMITED]),
    ("RT-05", "claude", Code, Left(1), &[LIMITED]),
    ("RT-06", "codex", Code, Left(1), &[LIMITED]),
    ("RT-08", "claude", Code, Left(1), &[LIMITED; 4]),
    ("RT-09", "claude", Code, Left(1), &[LIMITED]),
    ("RT-12", "codex", Code, Left(1), &[LIMITED; 2]),
    ("RT-13", "codex", Code, Left(1), &[LIMITED]),
    ("RT-17", "gemini", Code, AsTold, &[LIMITED]),
    ("RT-18", "gemini", Code, Left(1), &[LIMITED]),
    ("RT-20", "codex", Code, Left(1), &[LIMITED; 2]),
    ("ST-06", "claude", Code, Unseen, &[INTERRUPTED]),
    ("VP-09", "claude", Validate, Quiet, &[IDLE]),
];

fn rows() -> Vec<Value> {
    let lines = ROWS.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn row(id: &str) -> Value {
    let found = rows().into_iter().find(|row| row["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not in incidents.jsonl"))
}

/// The runs of a row: its cases, its sequence, or the one that it is; each with what the row says of all.
fn runs(input: &Value) -> Vec<Value> {
    let with = |run: &Value| {
        let mut whole = input.clone();
        match run {
            Value::String(words) => whole["stdout"] = words.as_str().into(),
            Value::Number(code) => whole["exit_code"] = code.clone().into(),
            Value::Object(told) => {
                for (key, value) in told {
                    whole[key] = value.clone();
                }
            }
            Value::Null | Value::Bool(_) | Value::Array(_) => panic!("{run} is no run"),
        }
        whole
    };
    let several = ["cases", "runs", "sequence", "exit_codes"];
    let several = several.iter().find_map(|key| input[key].as_array());
    let mut runs: Vec<Value> = match several {
        Some(several) => several.iter().map(with).collect(),
        None => vec![input.clone()],
    };
    runs.extend(input["also"].is_string().then(|| with(&input["also"])));
    runs
}

/// What the run wrote on standard output. What a row only describes is made up.
fn written(run: &Value) -> Vec<u8> {
    if let Some(lines) = run["bytes_hex"].as_array() {
        let hex: String = lines.iter().map(|line| line.as_str().unwrap()).collect();
        let pairs = (0..hex.len()).step_by(2);
        return pairs
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
    }
    let words = run["stdout"].as_str().unwrap_or_default();
    let long = || "x".repeat(3 << 20);
    words.replace("<70 MB of x>", &long()).into_bytes()
}

fn transcript(agent: &str, run: &Value) -> Transcript {
    let out = written(run);
    let err = run["stderr"]
        .as_str()
        .or_else(|| run["agent_stderr"].as_str());
    let err = err.unwrap_or_default();
    let mut parser = find(agent).unwrap().parser();
    let mut heard = parser.take(Stream::Out, &out);
    heard.extend(parser.take(Stream::Err, err.as_bytes()));
    heard.extend(parser.finish());
    let mut transcript = Transcript::default();
    transcript.spoke = !(out.is_empty() && err.is_empty());
    for event in heard {
        transcript.take(event, NOW);
    }
    transcript
}

fn ending(run: &Value, end: End) -> Ending {
    let fault = match run["spawn_error"].as_str() {
        Some("ENOENT") if run["cwd_exists"] == false => Some(SpawnFault::NoDirectory),
        Some("ENOENT") => Some(SpawnFault::Missing),
        Some(_) => Some(SpawnFault::Other),
        None => (run["binary_exists"] == false).then_some(SpawnFault::Missing),
    };
    let number = |key: &str| run[key].as_i64().map(|n| i32::try_from(n).unwrap());
    match (fault, end, number("exit_signal")) {
        (Some(fault), _, _) => Ending::NotStarted(fault),
        (None, Unseen, _) => Ending::Unseen,
        (None, Left(code), _) => Ending::Exited(code),
        (None, _, Some(signal)) => Ending::Signalled(signal),
        (None, _, None) => Ending::Exited(number("exit_code").unwrap_or(0)),
    }
}

fn status(agent: &str, run: &Value, end: End) -> Status {
    let out_of_memory = run["container_reason"].is_string();
    let host = HostFacts {
        ending: ending(run, end),
        ended_by: match end {
            Quiet => EndedBy::Idle,
            Wall => EndedBy::Wall,
            Budget => EndedBy::Budget(Account::Tokens),
            AsTold | Left(_) | Unseen => EndedBy::Itself,
        },
        oom_kills: u64::from(out_of_memory),
        zone: Zone::utc(),
    };
    let claimed = classify(
        find(agent).unwrap().features(),
        &transcript(agent, run),
        &host,
    );
    if run["commits_since_start"] != 0 {
        return claimed.status;
    }
    let post = Post {
        stage: Code,
        kind: PhaseKind::Coding,
        visit: VisitKind::First,
        empty: EmptyWork::Refused,
    };
    let evidence = Evidence {
        tree: Measurement::Found(TreeChange::Unchanged),
        protected: Measurement::Found(Vec::new()),
        ..Evidence::default()
    };
    with_evidence(&post, claimed.status, &evidence)
}

#[test]
fn every_incident_is_read_and_decided_as_it_must_be() {
    let mut wrong = Vec::new();
    for (id, agent, stage, end, right) in JUDGED {
        let runs = runs(&row(id)["input"]);
        assert_eq!(runs.len(), right.len(), "{id} has as many runs");
        for (n, (run, right)) in runs.iter().zip(*right).enumerate() {
            let status = status(agent, run, *end);
            let found = (status.kind(), decide(*stage, status.kind()).action);
            if found != *right {
                wrong.push(format!("{id} run {n}: {right:?}, not {status:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `ID-01`: a build is silent for long, and its tool call is open.
#[test]
fn an_open_tool_call_is_known_while_it_runs() {
    let run = row("ID-01")["input"].clone();
    assert!(transcript("claude", &run).tool_open());
}

/// `PE-06`: five attempts in a minute would all meet the same wall; the pauses outlast it.
#[test]
fn the_pauses_of_five_overloads_outlast_a_quarter_of_an_hour() {
    let runs = runs(&row("PE-06")["input"]);
    let mut now = NOW;
    for waits in 0..u64::try_from(runs.len()).unwrap() {
        let Wait::Until(then) = quota_wait(None, now, waits, 0, QUOTA_FLOOR) else {
            panic!("a limit without an end is waited out");
        };
        now = then;
    }
    let quarter = 15 * 60 * 1000;
    assert!(now.as_millis() - NOW.as_millis() >= quarter);
}

#[test]
fn every_row_is_judged_here_or_held_elsewhere_and_none_twice() {
    let copied: Vec<String> = rows()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    let judged: Vec<&str> = JUDGED.iter().map(|(id, ..)| *id).collect();
    assert_eq!(copied, judged, "the rows of the file, in its order");
    let elsewhere = ELSEWHERE.iter().flat_map(|(ids, _)| ids.split(' '));
    let all: Vec<&str> = judged.into_iter().chain(elsewhere).collect();
    let once: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(once.len(), all.len(), "no row twice");
    assert_eq!(once.len(), ALL_ROWS);
}
