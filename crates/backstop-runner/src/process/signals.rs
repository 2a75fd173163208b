//! What a parent may have left behind in this process: blocked signals, and an ignored SIGCHLD. Both survive `exec`.
//!
//! Deliberately absent: SIGHUP. Whoever ignores it for us (`nohup`) means it.

use std::io;

use nix::sys::signal::{SigSet, SigmaskHow};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Takes back what the parent left: from here on no signal is blocked, and the system keeps the status of children until
/// they are waited for. To be called before the first thread starts, since threads inherit what is blocked.
///
/// # Errors
/// The system refuses.
pub fn settle_signals() -> io::Result<()> {
    SigSet::empty().thread_set_mask()?;
    let runtime = Builder::new_current_thread().enable_io().build()?;
    // The handler stays for the life of the process, as tokio says; what is executed later starts with the default.
    runtime.block_on(async { signal(SignalKind::child()).map(drop) })
}

/// Does it while no signal is blocked in this thread: a child inherits that.
pub(super) fn with_none_blocked<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let blocked = SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let started = start();
    blocked.thread_set_mask()?;
    started
}
