//! Outputs near those that were recorded: cut, spliced, with lines swapped or told twice, with bytes that are others.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Longer lines hold lists of tools and the like, which would only take time.
const LONGEST_LINE: usize = 4 << 10;

/// The most lines of a drawn output.
const MOST_LINES: usize = 24;

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// What was recorded of the agent of this name: standard output, a NUL, standard error. None of an agent without
/// recordings.
pub(crate) fn recorded(agent: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let dir = dir.join(agent);
    if !dir.is_dir() {
        return Vec::new();
    }
    let read = |run: &Path, file: &str| fs::read(run.join(file)).unwrap_or_default();
    let both = |run: PathBuf| [read(&run, "stdout.txt"), read(&run, "stderr.txt")].join(&0);
    folders(&dir).into_iter().map(both).collect()
}

/// What the scripted agent says, for want of recordings.
const SCRIPTED: &str = r#"{"session":"s1"}
{"tool_opened":"t"}
{"tool_closed":"t"}
{"tokens":5}
{"cost":7}
{"limited":{"until":null}}
{"text":"done"}
{"rate_limited":{"until":1796000000000}}
{"asks":"which one?"}
{"failed":"reported"}
{"unavailable":"auth"}
"done"
"#;

/// The outputs to start from.
pub(crate) fn outputs(agent: &str) -> Vec<Vec<u8>> {
    let mut outputs = recorded(agent);
    if outputs.is_empty() {
        outputs.push(SCRIPTED.as_bytes().to_vec());
    }
    outputs
}

/// What an agent printed, shown as text.
#[derive(Clone)]
pub(crate) struct Output(pub(crate) Vec<u8>);

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.split_inclusive(|byte| *byte == b'\n');
        lines
            .map(String::from_utf8_lossy)
            .try_for_each(|line| write!(f, "{line:?} "))
    }
}

/// A change of an output in lines.
#[derive(Debug, Clone)]
enum Change {
    /// A byte is another.
    Byte(Index, Index, u8),
    /// A line ends here.
    Cut(Index, Index),
    /// Two lines change places.
    Swap(Index, Index),
    /// A line is told again.
    Again(Index, Index),
    /// Words are put into a line.
    Put(Index, Index, &'static str),
    /// A line end goes.
    Join(Index),
}

/// Words that mean something to some parser.
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\0",
    "{",
    "}",
    "[",
    "\"",
    "\\",
    "null",
    "\n{\n",
    "\n}\n",
    "Error: ",
    "error: 429 ",
    "[API Error: ",
    "\u{1b}[31m",
    "\nlitellm.RateLimitError: ",
    "\nTokens: 1k sent, 2 received.\n",
    "\"is_error\":true,",
    "\"type\":\"result\",",
    "Retrying in 5s",
    "try again at 3:19 AM",
    "resets 12am",
    "18446744073709551615",
    "-1e309",
];

fn change() -> impl Strategy<Value = Change> {
    let (a, b) = (any::<Index>(), any::<Index>());
    prop_oneof![
        (a.clone(), b.clone(), any::<u8>()).prop_map(|(a, b, byte)| Change::Byte(a, b, byte)),
        (a.clone(), b.clone()).prop_map(|(a, b)| Change::Cut(a, b)),
        (a.clone(), b.clone()).prop_map(|(a, b)| Change::Swap(a, b)),
        (a.clone(), b.clone()).prop_map(|(a, b)| Change::Again(a, b)),
        (a.clone(), b, select(WORDS)).prop_map(|(a, b, word)| Change::Put(a, b, word)),
        a.prop_map(Change::Join),
    ]
}

impl Change {
    fn apply(&self, lines: &mut Vec<Vec<u8>>) {
        let count = lines.len();
        match self {
            Self::Byte(line, at, byte) => {
                let line = &mut lines[line.index(count)];
                if !line.is_empty() {
                    let at = at.index(line.len());
                    line[at] = *byte;
                }
            }
            Self::Cut(line, at) => {
                let line = &mut lines[line.index(count)];
                line.truncate(at.index(line.len() + 1));
            }
            Self::Swap(one, other) => lines.swap(one.index(count), other.index(count)),
            Self::Again(line, at) => {
                let line = lines[line.index(count)].clone();
                lines.insert(at.index(count + 1), line);
            }
            Self::Put(line, at, word) => {
                let line = &mut lines[line.index(count)];
                let at = at.index(line.len() + 1);
                line.splice(at..at, word.bytes());
            }
            Self::Join(line) => {
                lines[line.index(count)].pop_if(|last| *last == b'\n');
            }
        }
    }
}

/// The beginning of one output and the end of another, with some changes.
pub(crate) fn near(agent: &'static str) -> impl Strategy<Value = Output> {
    let lines: Vec<Vec<Vec<u8>>> = outputs(agent)
        .iter()
        .map(|output| short_lines(output))
        .collect();
    let spliced = (
        select(lines.clone()),
        select(lines),
        any::<Index>(),
        any::<Index>(),
    );
    let changes = prop::collection::vec(change(), 0..5);
    (spliced, changes).prop_map(|((head, tail, to, from), changes)| {
        let to = to.index(head.len().min(MOST_LINES) + 1);
        let from = from.index(tail.len() + 1);
        let tail = tail.into_iter().skip(from).take(MOST_LINES);
        let mut lines: Vec<_> = head.into_iter().take(to).chain(tail).collect();
        if !lines.is_empty() {
            for change in &changes {
                change.apply(&mut lines);
            }
        }
        Output(lines.concat())
    })
}

fn short_lines(output: &[u8]) -> Vec<Vec<u8>> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    let short = lines.filter(|line| line.len() <= LONGEST_LINE);
    short.map(<[u8]>::to_vec).collect()
}
