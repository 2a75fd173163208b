//! `policy decide`: the policies as JSON lines, for programs in any language. `docs/policy-json.md` is its manual.
//!
//! Deliberately absent: any rule, and any state between lines. Each line is a question of its own, answered by the
//! policy crates from what it says alone.

mod answer;
mod board;
mod line;
mod ops;
mod review;

use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::answer::{Answer, Refused};
use self::line::Line;

/// Answers each line that is not blank with exactly one line, in order, and flushes it before it reads the next.
///
/// A line that cannot be answered is refused, and the stream goes on until the input ends.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub(crate) fn decide(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(line) = line::read(&mut input, &mut buffer)? {
        let answer = match line {
            Line::Blank => continue,
            Line::Whole(text) => answer(text)?,
            Line::TooLong(refused) => serde_json::to_string(&Answer::<()>::Refused(refused))?,
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(line: &[u8]) -> serde_json::Result<String> {
    match line::op(line) {
        Ok(op) => op.answer(line),
        Err(refused) => serde_json::to_string(&Answer::<()>::Refused(refused)),
    }
}

/// A question: the fields of one op.
trait Ask: DeserializeOwned {
    /// What `ok` holds.
    type Ok: Serialize;

    /// The policy's answer.
    fn judge(self) -> Result<Self::Ok, Refused>;
}

fn judge<A: Ask>(line: &[u8]) -> serde_json::Result<String> {
    let judged = line::fields::<A>(line).and_then(A::judge);
    serde_json::to_string(&Answer::from(judged))
}

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    StageNext,
    ModeParse,
    GateReasons,
    AfterValidate,
    TransitionResetsStreak,
    Progress,
    Outcome,
    Verdict,
    Board,
    Review,
    Plan,
}

impl Op {
    const ALL: [Self; 11] = [
        Self::StageNext,
        Self::ModeParse,
        Self::GateReasons,
        Self::AfterValidate,
        Self::TransitionResetsStreak,
        Self::Progress,
        Self::Outcome,
        Self::Verdict,
        Self::Board,
        Self::Review,
        Self::Plan,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::StageNext => "stage_next",
            Self::ModeParse => "mode_parse",
            Self::GateReasons => "gate_reasons",
            Self::AfterValidate => "after_validate",
            Self::TransitionResetsStreak => "transition_resets_streak",
            Self::Progress => "progress",
            Self::Outcome => "outcome",
            Self::Verdict => "verdict",
            Self::Board => "board",
            Self::Review => "review",
            Self::Plan => "plan",
        }
    }

    fn answer(self, line: &[u8]) -> serde_json::Result<String> {
        match self {
            Self::StageNext => judge::<ops::StageNext>(line),
            Self::ModeParse => judge::<ops::ModeParse>(line),
            Self::GateReasons => judge::<ops::GateReasons>(line),
            Self::AfterValidate => judge::<ops::AfterValidate>(line),
            Self::TransitionResetsStreak => judge::<ops::TransitionResetsStreak>(line),
            Self::Progress => judge::<ops::Progress>(line),
            Self::Outcome => judge::<ops::Outcome>(line),
            Self::Verdict => judge::<ops::Verdict>(line),
            Self::Board => judge::<board::Replay>(line),
            Self::Review => judge::<review::Replay>(line),
            Self::Plan => judge::<ops::Plan>(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what was written, and how much of it there was at each flush.
    #[derive(Default)]
    struct Flushes {
        written: Vec<u8>,
        at: Vec<usize>,
    }

    impl Write for Flushes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.written.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.at.push(self.written.len());
            Ok(())
        }
    }

    #[test]
    fn each_answer_is_flushed_whole_and_alone() {
        let mut output = Flushes::default();
        decide(b"1\n\n2\n3".as_slice(), &mut output).unwrap();
        let ends = output.written.iter().zip(1..);
        let ends = ends.filter(|(byte, _)| **byte == b'\n');
        let ends: Vec<usize> = ends.map(|(_, place)| place).collect();
        assert_eq!(ends.len(), 3);
        assert_eq!(output.at, ends);
    }

    #[test]
    fn an_input_that_cannot_be_read_is_an_error() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::NotConnected.into())
            }
        }
        let ended = decide(io::BufReader::new(Broken), Vec::new());
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::NotConnected);
    }
}
