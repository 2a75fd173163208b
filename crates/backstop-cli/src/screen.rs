//! What a drive prints. A thread of its own writes it, so that a terminal that takes no more, or that is gone, holds
//! nothing up: whoever drives a mission only leaves its words here.
//!
//! Deliberately absent: the results of commands that drive nothing. They print by themselves, in `out`.

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use backstop_runner::words;

use crate::ticker::Live;

/// How often the live line is drawn anew.
const BEAT: Duration = Duration::from_secs(1);

/// How long the end of the process waits for what is not written yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many bytes wait to be written at most. The ceilings bound a mission's story far below it.
const MOST: usize = 4 << 20;

/// The same for the log, which must not crowd out the story.
const MOST_LOG: usize = 256 << 10;

/// Goes back to the start of the line and clears it: the `EL` control of terminals, with 2.
const CLEAR: &str = "\r\x1b[2K";

/// The process has one terminal, so there is one of these.
static SCREEN: LazyLock<Screen> = LazyLock::new(Screen::default);

/// Where words go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Something to be written.
enum Piece {
    Words(Stream, String),
    /// A question, behind which the cursor stays.
    Prompt(String),
    /// The person ended a line, and with it the line of the prompt.
    Entered,
}

impl Piece {
    fn bytes(&self) -> usize {
        match self {
            Self::Words(_, text) | Self::Prompt(text) => text.len(),
            Self::Entered => 0,
        }
    }
}

#[derive(Default)]
struct Screen {
    sheet: Mutex<Sheet>,
    changed: Condvar,
}

/// What waits to be written.
#[derive(Default)]
struct Sheet {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// How many pieces did not fit.
    left_out: u64,
    live: Option<Live>,
    /// Whether the live line is another than the one that was written.
    moved: bool,
    /// Whether the thread is writing.
    writing: bool,
    thread: Thread,
}

#[derive(Default, PartialEq, Eq)]
enum Thread {
    #[default]
    None,
    Runs,
    /// The system gives none; nothing can be written without holding a drive up.
    Refused,
}

/// Says something to a person; what could drive a terminal is replaced.
pub(crate) fn say(stream: Stream, text: &str) {
    if text.is_empty() {
        return;
    }
    SCREEN.push(Piece::Words(stream, words::shown(text)), MOST);
}

/// Asks for a line.
pub(crate) fn prompt(text: &str) {
    SCREEN.push(Piece::Prompt(words::shown(text)), MOST);
}

/// The person ended a line.
pub(crate) fn entered() {
    SCREEN.push(Piece::Entered, MOST);
}

/// Shows this live line from now on, where there can be one.
pub(crate) fn live(line: Option<Live>) {
    SCREEN.live(line);
}

/// Says what went wrong.
pub(crate) fn warn(text: &str) {
    say(Stream::Err, &format!("backstop: {text}\n"));
}

/// Waits until everything is written, for as long as there is patience. What a terminal does not take by then is lost.
pub(crate) fn close() {
    SCREEN.close();
}

/// A writer of the log, for `tracing`: each event is one piece.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = words::shown(&String::from_utf8_lossy(bytes));
        SCREEN.push(Piece::Words(Stream::Err, text), MOST_LOG);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Screen {
    fn sheet(&self) -> MutexGuard<'_, Sheet> {
        self.sheet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, piece: Piece, most: usize) {
        let mut sheet = self.sheet();
        let bytes = sheet.bytes.saturating_add(piece.bytes());
        if bytes > most {
            sheet.left_out = sheet.left_out.saturating_add(1);
            return;
        }
        sheet.bytes = bytes;
        sheet.pieces.push_back(piece);
        self.wake(sheet);
    }

    fn live(&'static self, line: Option<Live>) {
        let mut sheet = self.sheet();
        sheet.live = line;
        sheet.moved = true;
        self.wake(sheet);
    }

    fn wake(&'static self, mut sheet: MutexGuard<'_, Sheet>) {
        if sheet.thread == Thread::None {
            let started = std::thread::Builder::new()
                .name("screen".into())
                .spawn(|| self.write(Pen::here()));
            sheet.thread = started.map_or(Thread::Refused, |_| Thread::Runs);
        }
        drop(sheet);
        self.changed.notify_all();
    }

    fn close(&self) {
        let mut sheet = self.sheet();
        sheet.moved |= sheet.live.take().is_some();
        self.changed.notify_all();
        let owed = |sheet: &mut Sheet| {
            let left = sheet.writing || sheet.moved || !sheet.pieces.is_empty();
            left && sheet.thread == Thread::Runs
        };
        drop(self.changed.wait_timeout_while(sheet, PATIENCE, owed));
    }

    /// Writes for as long as the process lives. The lock is not held while a terminal is waited for.
    fn write(&self, mut pen: Pen<impl Write, impl Write>) {
        loop {
            let mut sheet = self.next();
            sheet.writing = true;
            sheet.moved = false;
            sheet.bytes = 0;
            let pieces = std::mem::take(&mut sheet.pieces);
            let left_out = std::mem::take(&mut sheet.left_out);
            let live = sheet.live.clone();
            drop(sheet);
            pen.write(pieces, left_out, live.as_ref());
            self.sheet().writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits for something to write, or for the next beat of the live line.
    fn next(&self) -> MutexGuard<'_, Sheet> {
        let idle = |sheet: &mut Sheet| sheet.pieces.is_empty() && !sheet.moved;
        let sheet = self.sheet();
        if sheet.live.is_none() {
            let woken = self.changed.wait_while(sheet, idle);
            return woken.unwrap_or_else(PoisonError::into_inner);
        }
        let woken = self.changed.wait_timeout_while(sheet, BEAT, idle);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Writes, and knows what stands on the line of the cursor.
struct Pen<O, E> {
    out: O,
    err: E,
    /// How wide a live line may be; none where there is no line.
    columns: fn() -> Option<usize>,
    line: Line,
}

/// What stands on the line of the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    Live,
    Prompt,
}

impl Pen<std::io::Stdout, std::io::Stderr> {
    fn here() -> Self {
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let (columns, line) = (columns as _, Line::Blank);
        Self {
            out,
            err,
            columns,
            line,
        }
    }
}

/// The width of the terminal on standard error, where it is one that can draw a live line.
fn columns() -> Option<usize> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let err = std::io::stderr();
    if dumb || !err.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&err);
    let known = size.map_or(0, |size| usize::from(size.ws_col));
    Some(if known == 0 { 80 } else { known })
}

// A stream that is closed wants no more: every fault of writing is passed over, and the next piece is tried again.
impl<O: Write, E: Write> Pen<O, E> {
    fn write(&mut self, pieces: VecDeque<Piece>, left_out: u64, live: Option<&Live>) {
        for piece in pieces {
            match piece {
                Piece::Words(stream, text) => self.words(stream, &text),
                Piece::Prompt(text) => {
                    self.words(Stream::Out, &text);
                    self.line = Line::Prompt;
                }
                Piece::Entered => self.line = Line::Blank,
            }
        }
        if left_out > 0 {
            let told = format!(
                "[{left_out} lines are left out here, since nothing took them; `backstop logs` tells the story]\n"
            );
            self.words(Stream::Err, &told);
        }
        self.draw(live);
    }

    fn words(&mut self, stream: Stream, text: &str) {
        self.clear();
        let end = if self.line == Line::Prompt { "\n" } else { "" };
        self.line = Line::Blank;
        let text = format!("{end}{text}");
        let out: &mut dyn Write = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// A prompt is not drawn over: somebody may be typing behind it.
    fn draw(&mut self, live: Option<&Live>) {
        if self.line == Line::Prompt {
            return;
        }
        let (Some(live), Some(columns)) = (live, (self.columns)()) else {
            return self.clear();
        };
        let drawn = live.line(Instant::now(), columns);
        let _ = write!(self.err, "{CLEAR}{drawn}");
        let _ = self.err.flush();
        self.line = Line::Live;
    }

    fn clear(&mut self) {
        if self.line == Line::Live {
            self.line = Line::Blank;
            let _ = self.err.write_all(CLEAR.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pen(columns: fn() -> Option<usize>) -> Pen<Vec<u8>, Vec<u8>> {
        let line = Line::Blank;
        Pen {
            out: Vec::new(),
            err: Vec::new(),
            columns,
            line,
        }
    }

    fn told(text: &str) -> VecDeque<Piece> {
        [Piece::Words(Stream::Err, text.into())].into()
    }

    #[test]
    fn the_live_line_gives_way_to_words_and_comes_back() {
        let mut pen = pen(|| Some(80));
        let live = Live::new("at work".into());
        pen.write(VecDeque::new(), 0, Some(&live));
        pen.write(told("a step\n"), 0, Some(&live));
        pen.write(VecDeque::new(), 0, None);
        let drawn = format!("{CLEAR}▸ at work · 0s");
        let whole = format!("{drawn}{CLEAR}a step\n{drawn}{CLEAR}");
        assert_eq!(String::from_utf8(pen.err).unwrap(), whole);
    }

    #[test]
    fn without_a_line_no_control_is_written() {
        let mut pen = pen(|| None);
        pen.write(told("a step\n"), 0, Some(&Live::new("at work".into())));
        assert_eq!(pen.err, b"a step\n");
    }

    #[test]
    fn words_begin_on_a_line_of_their_own_unless_the_person_ended_the_prompts() {
        let mut pen = pen(|| None);
        let prompt = || Piece::Prompt("your answer: ".into());
        let words = || Piece::Words(Stream::Out, "a step\n".into());
        pen.write([prompt(), words()].into(), 0, None);
        pen.write([prompt(), Piece::Entered, words()].into(), 0, None);
        let whole = "your answer: \na step\nyour answer: a step\n";
        assert_eq!(String::from_utf8(pen.out).unwrap(), whole);
    }

    #[test]
    fn a_prompt_is_not_drawn_over() {
        let mut pen = pen(|| Some(80));
        let live = Live::new("at work".into());
        let prompt = Piece::Prompt("your answer: ".into());
        pen.write([prompt].into(), 0, Some(&live));
        assert_eq!(pen.err, b"");
        pen.write([Piece::Entered].into(), 0, Some(&live));
        assert!(!pen.err.is_empty());
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_left_out_is_told() {
        static SCREEN: LazyLock<Screen> = LazyLock::new(|| Screen {
            sheet: Mutex::new(Sheet {
                thread: Thread::Refused,
                ..Sheet::default()
            }),
            changed: Condvar::new(),
        });
        let piece = |text: &str| Piece::Words(Stream::Err, text.into());
        for _ in 0..3 {
            SCREEN.push(piece("12345"), 12);
        }
        SCREEN.push(piece("12"), 12);
        let mut sheet = SCREEN.sheet();
        assert_eq!(
            (sheet.bytes, sheet.pieces.len(), sheet.left_out),
            (12, 3, 1)
        );
        let mut pen = pen(|| None);
        pen.write(std::mem::take(&mut sheet.pieces), sheet.left_out, None);
        let text = String::from_utf8(pen.err).unwrap();
        assert!(text.starts_with("1234512345"), "{text}");
        assert!(text.contains("1 lines are left out"), "{text}");
    }

    #[test]
    fn a_closed_stream_is_passed_over() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
        }
        let columns: fn() -> Option<usize> = || Some(80);
        let mut pen = Pen {
            out: Closed,
            err: Vec::new(),
            columns,
            line: Line::Blank,
        };
        let words = |stream| Piece::Words(stream, "a step\n".into());
        pen.write([words(Stream::Out), words(Stream::Err)].into(), 0, None);
        assert_eq!(pen.err, b"a step\n");
    }
}
