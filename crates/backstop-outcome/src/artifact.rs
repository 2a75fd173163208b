//! What an agent handed over, told by its shape alone. Whether a stage needs it is with the evidence; whether what stands
//! in it is true is for the roles that judge.

use alloc::string::String;

use backstop_vocab::is_blank;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the agent handed over: its final message, or the file it was told to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Artifact {
    /// None, or nothing that a reader would see.
    Missing,
    /// Text.
    Text,
    /// Numbers and the commands that made them.
    Numbers,
    /// A log of a scan in SARIF 2.1.0.
    Sarif {
        /// How many results all its runs have.
        results: u32,
    },
}

/// The keys of a benchmark's object.
const BENCHMARK: [&str; 3] = ["machine", "commands", "numbers"];

impl Artifact {
    /// Judges an artifact's text; `None` where there was none.
    ///
    /// One JSON object is SARIF where it has that shape, and numbers where `commands` lists commands, `numbers` holds a
    /// number and `machine` says on what; with some of these keys and not that shape it is text.
    ///
    /// Any other text counts as numbers when it has a digit and shows a command: a line that starts with `$ `, code
    /// between backticks, or a `command` by that name.
    #[must_use]
    pub fn read(text: Option<&str>) -> Self {
        let Some(text) = text.filter(|text| !is_blank(text)) else {
            return Self::Missing;
        };
        let body = text.trim();
        let object = body.starts_with('{').then(|| serde_json::from_str(body));
        if let Some(Ok(object)) = object
            && let Some(found) = of_object(&object)
        {
            return found;
        }
        if has_digit(text) && shows_command(text) {
            return Self::Numbers;
        }
        Self::Text
    }
}

/// None for an object that means to be neither.
fn of_object(object: &Map<String, Value>) -> Option<Artifact> {
    if object.contains_key("runs") {
        return Some(sarif(object).map_or(Artifact::Text, |results| Artifact::Sarif { results }));
    }
    BENCHMARK
        .iter()
        .any(|key| object.contains_key(*key))
        .then(|| match is_benchmark(object) {
            Some(true) => Artifact::Numbers,
            Some(false) | None => Artifact::Text,
        })
}

/// How many results the log has; none where it is not SARIF 2.1.0 of a tool that ran.
fn sarif(log: &Map<String, Value>) -> Option<u32> {
    if log.get("version")?.as_str()? != "2.1.0" {
        return None;
    }
    let runs = log
        .get("runs")?
        .as_array()
        .filter(|runs| !runs.is_empty())?;
    runs.iter().try_fold(0_u32, |sum, run| {
        let name = run.pointer("/tool/driver/name")?.as_str()?;
        let results = run.get("results")?.as_array()?;
        let told = |result: &Value| result.get("message").is_some_and(Value::is_object);
        let whole = !is_blank(name) && results.iter().all(told);
        whole.then(|| sum.saturating_add(u32::try_from(results.len()).unwrap_or(u32::MAX)))
    })
}

fn is_benchmark(object: &Map<String, Value>) -> Option<bool> {
    let [machine, commands, numbers] = BENCHMARK.map(|key| object.get(key));
    let is_said = |value: &Value| value.as_str().is_some_and(|text| !is_blank(text));
    let machine = machine?;
    let machine = is_said(machine) || machine.as_object().is_some_and(|told| !told.is_empty());
    let commands = commands?.as_array()?;
    let commands = !commands.is_empty() && commands.iter().all(is_said);
    Some(machine && commands && has_number(numbers?))
}

/// Whether there is a number at any depth.
fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(has_number),
        Value::Object(fields) => fields.values().any(has_number),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

fn shows_command(text: &str) -> bool {
    let prompted = |line: &str| line.trim_start().starts_with("$ ");
    text.contains('`')
        || text.lines().any(prompted)
        || text.to_ascii_lowercase().contains("command")
}
