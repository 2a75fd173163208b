//! Waits for a child and what it prints, up to a limit.

use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// How a child ended, and what it printed on the pipes that it was given.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Waits for the child and what it prints; none when the limit passed first and it was stopped.
pub(crate) fn finish(child: &mut Child, limit: Duration) -> Option<io::Result<Finished>> {
    let deadline = Instant::now().checked_add(limit);
    let left = || deadline.map_or(limit, |end| end.saturating_duration_since(Instant::now()));
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let collected = collect(stdout, left()).and_then(|out| Some((out, collect(stderr, left())?)));
    let Some((stdout, stderr)) = collected else {
        // The child may have ended in this instant; then there is nothing to stop.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    Some(stdout.and_then(|stdout| {
        let (status, stderr) = (child.wait()?, stderr?);
        Ok(Finished {
            status,
            stdout,
            stderr,
        })
    }))
}

fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.read_to_end(&mut bytes).map(|_| bytes);
        // Nobody listens after the limit.
        let _ = sender.send(read);
    });
    receiver
}

fn collect(
    pipe: Option<Receiver<io::Result<Vec<u8>>>>,
    left: Duration,
) -> Option<io::Result<Vec<u8>>> {
    match pipe {
        Some(receiver) => receiver.recv_timeout(left).ok(),
        None => Some(Ok(Vec::new())),
    }
}
