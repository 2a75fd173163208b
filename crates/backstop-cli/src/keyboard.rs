//! The lines that a person types at the terminal. What they mean is not known here.

use std::io::{Stdin, stdin};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

/// Between two looks whether the terminal is this process's to read again.
const LOOK: Duration = Duration::from_millis(200);

/// Reads standard input, which is a terminal.
pub(crate) struct Keyboard<M> {
    stdin: Stdin,
    /// The beginning of a line whose end has not come, and its mark.
    begun: Vec<u8>,
    mark: Option<M>,
}

/// What a wait for the terminal came to.
enum Woke {
    Ready,
    /// The other end of the terminal is closed, so that its end of input is for good.
    HungUp,
}

impl<M> Default for Keyboard<M> {
    fn default() -> Self {
        Self {
            stdin: stdin(),
            begun: Vec::new(),
            mark: None,
        }
    }
}

/// Drops what was typed and not read yet.
pub(crate) fn forget() {
    let stdin = stdin();
    // A process in the background would be stopped for trying.
    if is_foreground(&stdin) {
        let _ = tcflush(&stdin, QueueSelector::IFlush);
    }
}

/// Whether this process may read the terminal. One that is not its controlling terminal stops nobody.
fn is_foreground(stdin: &Stdin) -> bool {
    tcgetpgrp(stdin).map_or(true, |group| group == rustix::process::getpgrp())
}

impl<M> Keyboard<M> {
    /// The next lines, and what `mark` gave when the first of them began; none when the terminal is gone.
    ///
    /// The mark is taken before the read: a line that was typed under an older mark is never given a newer one.
    pub(crate) fn read(&mut self, mark: impl Fn() -> M) -> Option<(M, Vec<String>)> {
        loop {
            let woke = self.wait()?;
            let now = mark();
            let mut bytes = [0; 4096];
            match (rustix::io::read(&self.stdin, &mut bytes), woke) {
                (Ok(n @ 1..), _) => {
                    self.begun.extend(bytes.iter().take(n));
                    let mark = self.mark.take().unwrap_or(now);
                    let lines = self.lines();
                    if !lines.is_empty() {
                        return Some((mark, lines));
                    }
                    self.mark = Some(mark);
                }
                // Ctrl-D answers nothing.
                (Ok(0), Woke::Ready) | (Err(Errno::INTR | Errno::AGAIN), _) => {}
                (Ok(0), Woke::HungUp) | (Err(_), _) => return None,
            }
        }
    }

    /// Waits until something can be read, and this process may.
    fn wait(&self) -> Option<Woke> {
        loop {
            let mut polled = [PollFd::new(&self.stdin, PollFlags::IN)];
            match poll(&mut polled, None) {
                Ok(_) if is_foreground(&self.stdin) => {
                    let [polled] = polled;
                    let hung_up = polled.revents().contains(PollFlags::HUP);
                    return Some(if hung_up { Woke::HungUp } else { Woke::Ready });
                }
                // A shell reads its own lines from the same terminal meanwhile.
                Ok(_) => std::thread::sleep(LOOK),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn lines(&mut self) -> Vec<String> {
        let whole = self.begun.iter().rposition(|byte| *byte == b'\n');
        let Some(end) = whole else {
            return Vec::new();
        };
        let rest = self.begun.split_off(end.saturating_add(1));
        let whole = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8_lossy(&whole).into_owned();
        text.lines().map(ToOwned::to_owned).collect()
    }
}
