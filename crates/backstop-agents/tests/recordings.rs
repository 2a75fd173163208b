//! Real runs of real agent CLIs, each classified as it must be. How a recording is made is in `docs/adding-an-agent.md`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, also in what they share"
)]

use std::fs;
use std::path::{Path, PathBuf};

use backstop_agents::{
    Adapter, Classified, EndedBy, Ending, HostFacts, Stream, Support, Transcript, Zone, classify,
    find,
};
use backstop_outcome::{
    Artifact, EmptyWork, Evidence, Measurement, Post, Status, StatusKind, TreeChange, VisitKind,
    with_evidence,
};
use backstop_vocab::{PhaseKind, Stage, Timestamp};
use serde_json::Value;

/// When every recording is taken to end.
const NOW: Timestamp = Timestamp::from_millis(1_796_000_000_000);

/// Blind spots that neither the streams nor the host can tell from silence: the CLI says nothing at all while it waits.
const SILENT: &[&str] = &[
    "opencode/limit_after_work",
    "opencode/overloaded",
    "opencode/rate_429_retry_after_1h",
    "opencode/stream_error",
    "opencode/usage_limit",
    "qwen/conn_refused",
    "qwen/json_usage_limit",
    "qwen/limit_after_work",
    "qwen/overloaded",
    "qwen/rate_429_retry_after_1h",
    "qwen/rate_429_retry_after_5s",
    "qwen/usage_limit",
    "qwen/usage_limit_debug",
];

/// Agents of whose final message the recordings keep none: they speak free text, which nobody took apart.
const UNKEPT_MESSAGES: &[&str] = &["aider"];

struct Recording {
    name: String,
    agent: &'static dyn Adapter,
    out: Vec<u8>,
    err: Vec<u8>,
    result: Value,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings")
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn recordings() -> Vec<Recording> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut all = Vec::new();
    for dir in folders(&root()) {
        let agent = find(&name(&dir)).unwrap_or_else(|| panic!("no adapter for {}", dir.display()));
        for run in folders(&dir) {
            let read = |file: &str| fs::read(run.join(file)).unwrap_or_default();
            all.push(Recording {
                name: format!("{}/{}", agent.name(), name(&run)),
                agent,
                out: read("stdout.txt"),
                err: read("stderr.txt"),
                result: serde_json::from_slice(&read("result.json")).unwrap(),
            });
        }
    }
    all
}

impl Recording {
    fn text(&self, key: &str) -> &str {
        self.result[key].as_str().unwrap_or_default()
    }

    fn blind(&self) -> bool {
        self.result["blind_spot"] == true
    }

    fn ending(&self) -> Ending {
        match self.text("signal") {
            "" => Ending::Exited(
                self.result["exit_code"]
                    .as_i64()
                    .unwrap()
                    .try_into()
                    .unwrap(),
            ),
            "SIGKILL" => Ending::Signalled(9),
            "SIGTERM" => Ending::Signalled(15),
            "SIGINT" => Ending::Signalled(2),
            other => panic!("{other} is a signal without a number here"),
        }
    }

    fn ended_by(&self) -> EndedBy {
        let scenario = self.text("scenario");
        let ours = self.text("signal_sent").contains("watchdog")
            || scenario.starts_with("killpg")
            || scenario.starts_with("termpg");
        match (ours, self.text("expected_status")) {
            (true, "Failed") => EndedBy::Wall,
            (true, _) => EndedBy::Idle,
            (false, _) => EndedBy::Itself,
        }
    }

    fn tree(&self) -> TreeChange {
        let changed = self.text("repo_after").lines().any(|line| line != "init");
        if changed {
            TreeChange::Changed
        } else {
            TreeChange::Unchanged
        }
    }

    fn host(&self) -> HostFacts {
        HostFacts {
            ending: self.ending(),
            ended_by: self.ended_by(),
            oom_kills: 0,
            zone: Zone::utc(),
        }
    }

    fn transcript(&self, out: &[u8]) -> Transcript {
        let mut parser = self.agent.parser();
        let mut heard = parser.take(Stream::Out, out);
        heard.extend(parser.take(Stream::Err, &self.err));
        heard.extend(parser.finish());
        let mut transcript = Transcript::default();
        transcript.spoke = !(out.is_empty() && self.err.is_empty());
        for event in heard {
            transcript.take(event, NOW);
        }
        transcript
    }

    fn classified(&self) -> Classified {
        classify(
            self.agent.features(),
            &self.transcript(&self.out),
            &self.host(),
        )
    }

    /// The status with what the host saw where the streams alone cannot tell.
    fn status(&self) -> Status {
        let claimed = self.classified().status;
        if !self.blind() {
            return claimed;
        }
        let silent_hands =
            self.agent.features().edits == Support::Yes && self.transcript(&self.out).edits == 0;
        let tree = if silent_hands {
            TreeChange::Unchanged
        } else {
            self.tree()
        };
        let post = Post {
            stage: Stage::Code,
            kind: PhaseKind::Coding,
            visit: VisitKind::First,
            empty: EmptyWork::Refused,
        };
        let evidence = Evidence {
            tree: Measurement::Found(tree),
            artifact: Measurement::Found(Artifact::Missing),
            protected: Measurement::Found(Vec::new()),
            ..Evidence::default()
        };
        with_evidence(&post, claimed, &evidence)
    }
}

/// Whether the status is what the recording demands.
fn right(expected: &str, status: &Status) -> bool {
    let kind = status.kind();
    match expected {
        "NotSuccess" => matches!(
            kind,
            StatusKind::Failed | StatusKind::Unknown | StatusKind::Asked | StatusKind::Interrupted
        ),
        "Failed" => matches!(kind, StatusKind::Failed | StatusKind::OverBudget),
        "Success" => kind == StatusKind::Success,
        "RateLimited" => kind == StatusKind::RateLimited,
        "AgentUnavailable" => kind == StatusKind::AgentUnavailable,
        "Interrupted" => kind == StatusKind::Interrupted,
        "IdleTimeout" => kind == StatusKind::IdleTimeout,
        "ResourceKilled" => kind == StatusKind::ResourceKilled,
        "Unknown" => kind == StatusKind::Unknown,
        other => panic!("{other} is no class"),
    }
}

#[test]
fn every_recording_is_classified_as_what_the_server_did() {
    let all = recordings();
    let mut wrong = Vec::new();
    for recording in &all {
        let expected = recording.text("expected_status");
        let status = recording.status();
        let silent = SILENT.contains(&recording.name.as_str());
        if right(expected, &status) == silent {
            let Classified { rule, .. } = recording.classified();
            wrong.push(format!(
                "{}: {expected}, not {status:?} ({rule:?})",
                recording.name
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}

#[test]
fn session_spend_and_final_message_are_those_that_were_recorded() {
    let mut wrong = Vec::new();
    for recording in recordings() {
        let transcript = recording.transcript(&recording.out);
        let session = recording.result["session_id"].as_str();
        if transcript.session.as_deref() != session {
            wrong.push(format!(
                "{}: session {session:?}, not {:?}",
                recording.name, transcript.session
            ));
        }
        let message = recording.result["final_message"].as_str().map(str::trim);
        let kept = !UNKEPT_MESSAGES.contains(&recording.agent.name());
        if kept
            && recording.text("expected_status") == "Success"
            && transcript.message.as_deref().map(str::trim) != message
        {
            wrong.push(format!(
                "{}: message {message:?}, not {:?}",
                recording.name, transcript.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Recording {
    /// Whether so much of its output would be taken for a success if the agent then left in peace.
    fn succeeds(&self, length: usize) -> bool {
        let host = HostFacts {
            ending: Ending::Exited(0),
            ended_by: EndedBy::Itself,
            ..self.host()
        };
        let transcript = self.transcript(&self.out[..length]);
        classify(self.agent.features(), &transcript, &host).status == Status::Success
    }

    /// Where lines begin, the end last.
    fn lines(&self) -> Vec<usize> {
        let ends = self
            .out
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n');
        let mut starts: Vec<usize> = std::iter::once(0)
            .chain(ends.map(|(at, _)| at + 1))
            .collect();
        starts.push(self.out.len());
        starts.dedup();
        starts
    }
}

/// The last word is the line without which it is none. Where the stream is cut before its end, nothing is a success: byte
/// by byte near the ends of that line, here and there within it, line by line before it.
#[test]
fn a_recording_that_is_cut_before_the_end_of_its_last_word_is_no_success() {
    let successes = recordings()
        .into_iter()
        .filter(|recording| recording.text("expected_status") == "Success");
    let mut seen = 0_usize;
    for recording in successes {
        let lines = recording.lines();
        let last = lines.iter().rposition(|start| !recording.succeeds(*start));
        let last = last.expect("nothing at all is no success");
        let word = lines[last]..lines[last + 1];
        let text = recording.out[word.clone()].trim_ascii_end().len();
        let bytes = (0..text.saturating_sub(1))
            .filter(|at| *at < 32 || text - at < 32 || at % 61 == 0)
            .map(|at| word.start + at);
        for cut in bytes.chain(lines[..last].iter().copied()) {
            assert!(!recording.succeeds(cut), "{} cut at {cut}", recording.name);
        }
        seen += 1;
    }
    assert!(seen > 0);
}

/// A run that was no success is none either when it breaks off earlier.
#[test]
fn no_part_of_a_run_that_failed_is_a_success() {
    let failures = recordings().into_iter().filter(|recording| {
        !recording.blind() && !matches!(recording.text("expected_status"), "Success" | "NotSuccess")
    });
    for recording in failures {
        let lines = recording.lines();
        let every = lines.len().div_ceil(200);
        for cut in lines.into_iter().step_by(every) {
            assert!(!recording.succeeds(cut), "{} cut at {cut}", recording.name);
        }
    }
}
