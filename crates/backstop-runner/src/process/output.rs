//! The pipes of an agent: read in bounded chunks, handed to a listener, the last bytes kept.
//!
//! Deliberately absent: lines and files. A listener brings its own.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::select;
use tokio::time::sleep;

use super::ended::Captured;
use super::running::Order;

/// How much is read at once. Two of these and two tails are all the memory that an attempt's output takes.
const CHUNK: usize = 64 << 10;

/// The most that is kept of each pipe's end, whatever was asked for.
const MOST_KEPT: usize = 64 << 10;

const _: () = assert!(2 * CHUNK + 2 * MOST_KEPT <= 256 << 10);

/// Where bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pipe {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// What a listener makes of the bytes that it heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Nothing changes.
    Carry,
    /// From here on this much silence is allowed: longer while a tool call is open. None: no limit.
    AllowSilence(Option<Duration>),
    /// The terminal event: no watchdog from here on but [`Limits::linger`](super::Limits::linger).
    Done,
    /// The agent is to be stopped.
    Stop(Order),
}

/// What a listener says when the allowed silence is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// The agent is to be stopped.
    Stop,
    /// There are other signs of life: the silence begins anew.
    Wait,
}

/// Who hears an agent's output, in the order in which it comes. Called on the runtime's thread: it must not block for long.
pub trait Listen {
    /// Takes the next bytes of a pipe. Chunks end anywhere, also within a character.
    fn hear(&mut self, pipe: Pipe, bytes: &[u8]) -> Heard;

    /// The agent has been silent for as long as it may.
    fn idle(&mut self, silent: Duration) -> Idle {
        let _ = silent;
        Idle::Stop
    }
}

impl<F: FnMut(Pipe, &[u8]) -> Heard> Listen for F {
    fn hear(&mut self, pipe: Pipe, bytes: &[u8]) -> Heard {
        self(pipe, bytes)
    }
}

/// One pipe; closed at its end or when it can no longer be read.
struct Source<R> {
    pipe: Option<R>,
    chunk: Box<[u8]>,
    tail: VecDeque<u8>,
    keep: usize,
    total: u64,
}

impl<R: AsyncRead + Unpin> Source<R> {
    fn new(pipe: Option<R>, keep: usize) -> Self {
        Self {
            pipe,
            chunk: vec![0; CHUNK].into_boxed_slice(),
            tail: VecDeque::new(),
            keep: keep.min(MOST_KEPT),
            total: 0,
        }
    }

    /// The next bytes, or 0 once, at the end; never afterwards. Dropping the future loses nothing.
    async fn read(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else {
            return pending().await;
        };
        let read = pipe.read(&mut self.chunk).await.unwrap_or(0);
        if read == 0 {
            self.pipe = None;
        }
        read
    }

    fn keep(&mut self, read: usize) -> &[u8] {
        let bytes = &self.chunk[..read];
        let last = &bytes[bytes.len().saturating_sub(self.keep)..];
        let over = (self.tail.len() + last.len()).saturating_sub(self.keep);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(last);
        self.total += read as u64;
        bytes
    }

    fn captured(self) -> Captured {
        Captured {
            tail: self.tail.into(),
            total: self.total,
        }
    }
}

/// Both pipes.
pub(super) struct Output {
    stdout: Source<ChildStdout>,
    stderr: Source<ChildStderr>,
}

impl Output {
    pub(super) fn of(child: &mut Child, keep: usize) -> Self {
        Self {
            stdout: Source::new(child.stdout.take(), keep),
            stderr: Source::new(child.stderr.take(), keep),
        }
    }

    /// Whether both pipes have been read to their end.
    pub(super) fn is_closed(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Waits for the next bytes and hands them on; pending for ever when both pipes are closed.
    pub(super) async fn next(&mut self, listener: &mut impl Listen) -> Heard {
        let (pipe, read) = select! {
            read = self.stdout.read() => (Pipe::Stdout, read),
            read = self.stderr.read() => (Pipe::Stderr, read),
        };
        if read == 0 {
            return Heard::Carry;
        }
        let bytes = match pipe {
            Pipe::Stdout => self.stdout.keep(read),
            Pipe::Stderr => self.stderr.keep(read),
        };
        listener.hear(pipe, bytes)
    }

    /// Hears on while `event` is awaited. What the listener wants is too late here.
    pub(super) async fn hear_during<T>(
        &mut self,
        event: impl Future<Output = T>,
        listener: &mut impl Listen,
    ) -> T {
        tokio::pin!(event);
        loop {
            // The event comes first: a flood must not keep it from being seen.
            select! {
                biased;
                happened = &mut event => return happened,
                _ = self.next(listener) => {}
            }
        }
    }

    /// Reads on until both pipes end (true) or the time is over (false).
    pub(super) async fn drain(&mut self, most: Duration, listener: &mut impl Listen) -> bool {
        let over = sleep(most);
        tokio::pin!(over);
        while !self.is_closed() {
            select! {
                biased;
                () = &mut over => return false,
                _ = self.next(listener) => {}
            }
        }
        true
    }

    pub(super) fn captured(self) -> (Captured, Captured) {
        (self.stdout.captured(), self.stderr.captured())
    }
}

/// What is still to be written to the agent's standard input; closed when all is written.
pub(super) struct Feed {
    pipe: Option<ChildStdin>,
    text: Vec<u8>,
    written: usize,
}

impl Feed {
    pub(super) fn new(pipe: Option<ChildStdin>, text: Vec<u8>) -> Self {
        Self {
            pipe,
            text,
            written: 0,
        }
    }

    /// Writes a piece; pending for ever when there is nothing more to write. Dropping the future loses nothing.
    pub(super) async fn write(&mut self) {
        let rest = &self.text[self.written..];
        let Some(pipe) = &mut self.pipe else {
            return pending().await;
        };
        let written = if rest.is_empty() {
            0
        } else {
            pipe.write(rest).await.unwrap_or(0)
        };
        self.written += written;
        // An agent that closes its input does not want the rest: that is no fault.
        if written == 0 || self.written == self.text.len() {
            self.pipe = None;
            self.text = Vec::new();
            self.written = 0;
        }
    }
}
