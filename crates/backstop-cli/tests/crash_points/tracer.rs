//! A tracer that counts the calls of the set over all threads of one process, and kills it at one of them. The children of
//! the process are not traced and live on, as they do when a real one dies.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::calls::{self, Call};
use crate::support::{BACKSTOP, World};

/// Far longer than anything takes here: who reaches it hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// On which side of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// It has not happened.
    Before,
    /// It has happened, and the process does not know.
    After,
}

/// One moment at which the process can be killed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) side: Side,
    pub(crate) call: Call,
}

/// How a traced command ended.
#[derive(Debug)]
pub(crate) struct Traced {
    /// Every place that it came by, the one where it was killed last.
    pub(crate) places: Vec<Place>,
    /// Whether it was killed.
    pub(crate) killed: bool,
}

struct Tracer {
    leader: Pid,
    root: PathBuf,
    kill_at: Option<usize>,
    /// The calls that threads are in.
    within: HashMap<Pid, Call>,
    places: Vec<Place>,
    killed: bool,
}

/// Runs Backstop to its end, or to its death at the place with the number `kill_at`.
pub(crate) fn run(world: &World, args: &[&str], kill_at: Option<usize>) -> Traced {
    let files = tempfile::tempdir_in(world.path("tmp")).unwrap();
    let (out, err) = (files.path().join("out"), files.path().join("err"));
    // Waits until it is seen, and becomes the program then.
    let mut command = world.shell(r#"read -r go; exec "$0" "$@" </dev/null"#);
    command.arg(BACKSTOP).args(args).stdin(Stdio::piped());
    command.stdout(File::create(&out).unwrap());
    command.stderr(File::create(&err).unwrap());
    let tracer = Tracer::follow(world, command, kill_at);
    Traced {
        killed: tracer.killed,
        places: tracer.places,
    }
}

impl Tracer {
    #[expect(clippy::zombie_processes, reason = "the tracer is told of its end")]
    fn follow(world: &World, mut command: Command, kill_at: Option<usize>) -> Self {
        let mut child = command.spawn().unwrap();
        let leader = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let mut tracer = Self {
            leader,
            root: world.path(""),
            kill_at,
            within: HashMap::new(),
            places: Vec::new(),
            killed: false,
        };
        let options = Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC;
        if let Err(why) = ptrace::seize(leader, options) {
            panic!("these tests need the right to trace a child of their own (ptrace): {why}");
        }
        ptrace::interrupt(leader).unwrap();
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        let (done, is_done) = mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let timed_out = is_done.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
            if timed_out {
                let _ = kill(leader, Signal::SIGKILL);
            }
            timed_out
        });
        tracer.follow_all();
        drop(done);
        assert!(
            !watch.join().unwrap(),
            "it never ended: {:?}",
            tracer.places.last()
        );
        tracer
    }

    /// Follows all threads until the process is gone.
    fn follow_all(&mut self) {
        // Only what this very thread traces: other tests have children too.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::from_bits_retain(libc::__WNOTHREAD);
        loop {
            match waitpid(None, Some(flags)).unwrap() {
                WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)
                    if pid == self.leader =>
                {
                    return;
                }
                WaitStatus::PtraceSyscall(pid) => {
                    self.at_call(pid);
                    Self::on(pid, None);
                }
                WaitStatus::PtraceEvent(pid, _, event) => {
                    if event == libc::PTRACE_EVENT_EXEC {
                        self.within.clear();
                    }
                    Self::on(pid, None);
                }
                WaitStatus::Stopped(pid, signal) => Self::on(pid, signal),
                WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..) => {
                    self.within.remove(&pid);
                }
                WaitStatus::Continued(_) | WaitStatus::StillAlive => {}
            }
        }
    }

    /// Lets a thread go on. One that was killed meanwhile cannot, and is waited for.
    fn on(pid: Pid, signal: impl Into<Option<Signal>>) {
        let _ = ptrace::syscall(pid, signal);
    }

    fn at_call(&mut self, pid: Pid) {
        let Ok(at) = ptrace::syscall_info(pid) else {
            return;
        };
        if self.killed {
            return;
        }
        if at.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
            if let Some(call) = calls::seen(pid, &self.root) {
                self.within.insert(pid, call.clone());
                self.come_by(Side::Before, call);
            }
        } else if let Some(call) = self.within.remove(&pid) {
            self.come_by(Side::After, call);
        }
    }

    fn come_by(&mut self, side: Side, call: Call) {
        let number = self.places.len();
        self.places.push(Place { side, call });
        if self.kill_at == Some(number) {
            kill(self.leader, Signal::SIGKILL).unwrap();
            self.killed = true;
        }
    }
}
