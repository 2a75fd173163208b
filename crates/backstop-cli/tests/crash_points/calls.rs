//! The system calls at which a process is killed: those that make something durable, or visible to others.
//! Left out are reads, waits for input, memory and clocks: a kill there is one at the next call of the set.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;

/// What a call is about, so that a failure can say where the kill was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) what: String,
}

/// Which argument says what it is about.
#[derive(Clone, Copy)]
enum About {
    Path(usize),
    Descriptor(usize),
    Opened { path: usize, flags: usize },
    Lock { descriptor: usize, command: usize },
    Clone { flags: usize },
    Clone3 { at: usize },
    Nothing,
}

const SET: &[(i64, &str, About)] = &[
    (libc::SYS_write, "write", About::Descriptor(0)),
    (libc::SYS_pwrite64, "pwrite64", About::Descriptor(0)),
    (libc::SYS_writev, "writev", About::Descriptor(0)),
    (libc::SYS_sendto, "sendto", About::Descriptor(0)),
    (libc::SYS_sendmsg, "sendmsg", About::Descriptor(0)),
    (
        libc::SYS_copy_file_range,
        "copy_file_range",
        About::Descriptor(2),
    ),
    (libc::SYS_sendfile, "sendfile", About::Descriptor(0)),
    (libc::SYS_fsync, "fsync", About::Descriptor(0)),
    (libc::SYS_fdatasync, "fdatasync", About::Descriptor(0)),
    (libc::SYS_ftruncate, "ftruncate", About::Descriptor(0)),
    (libc::SYS_truncate, "truncate", About::Path(0)),
    (libc::SYS_rename, "rename", About::Path(1)),
    (libc::SYS_renameat, "renameat", About::Path(3)),
    (libc::SYS_renameat2, "renameat2", About::Path(3)),
    (libc::SYS_unlink, "unlink", About::Path(0)),
    (libc::SYS_unlinkat, "unlinkat", About::Path(1)),
    (libc::SYS_rmdir, "rmdir", About::Path(0)),
    (libc::SYS_link, "link", About::Path(1)),
    (libc::SYS_linkat, "linkat", About::Path(3)),
    (libc::SYS_symlink, "symlink", About::Path(1)),
    (libc::SYS_symlinkat, "symlinkat", About::Path(2)),
    (libc::SYS_mkdir, "mkdir", About::Path(0)),
    (libc::SYS_mkdirat, "mkdirat", About::Path(1)),
    (libc::SYS_chmod, "chmod", About::Path(0)),
    (libc::SYS_fchmod, "fchmod", About::Descriptor(0)),
    (libc::SYS_fchmodat, "fchmodat", About::Path(1)),
    (libc::SYS_creat, "creat", About::Path(0)),
    (libc::SYS_open, "open", About::Opened { path: 0, flags: 1 }),
    (
        libc::SYS_openat,
        "openat",
        About::Opened { path: 1, flags: 2 },
    ),
    (libc::SYS_flock, "flock", About::Descriptor(0)),
    (
        libc::SYS_fcntl,
        "fcntl",
        About::Lock {
            descriptor: 0,
            command: 1,
        },
    ),
    (libc::SYS_clone, "clone", About::Clone { flags: 0 }),
    (libc::SYS_clone3, "clone3", About::Clone3 { at: 0 }),
    (libc::SYS_vfork, "vfork", About::Nothing),
    (libc::SYS_fork, "fork", About::Nothing),
    (libc::SYS_kill, "kill", About::Nothing),
    (
        libc::SYS_pidfd_send_signal,
        "pidfd_send_signal",
        About::Nothing,
    ),
    (libc::SYS_prctl, "prctl", About::Nothing),
    (libc::SYS_bind, "bind", About::Descriptor(0)),
    (libc::SYS_listen, "listen", About::Descriptor(0)),
    (libc::SYS_connect, "connect", About::Descriptor(0)),
    (libc::SYS_accept, "accept", About::Descriptor(0)),
    (libc::SYS_accept4, "accept4", About::Descriptor(0)),
    (libc::SYS_wait4, "wait4", About::Nothing),
    (libc::SYS_waitid, "waitid", About::Nothing),
];

/// The call that a process stands at the entry of, where it is one of the set. `world` is cut from paths.
pub(crate) fn seen(pid: Pid, world: &Path) -> Option<Call> {
    let registers = ptrace::getregs(pid).ok()?;
    let number = registers.orig_rax.cast_signed();
    let (_, name, about) = SET.iter().find(|(wanted, ..)| *wanted == number)?;
    let args = [
        registers.rdi,
        registers.rsi,
        registers.rdx,
        registers.r10,
        registers.r8,
        registers.r9,
    ];
    let what = match *about {
        About::Nothing => String::new(),
        About::Path(at) => text(pid, args[at]),
        About::Descriptor(at) => descriptor(pid, args[at])?,
        About::Opened { path, flags } => {
            let create = args[flags] & u64::from(libc::O_CREAT.cast_unsigned()) != 0;
            create.then(|| text(pid, args[path]))?
        }
        About::Lock {
            descriptor: fd,
            command,
        } => {
            let locks = [
                libc::F_SETLK,
                libc::F_SETLKW,
                libc::F_OFD_SETLK,
                libc::F_OFD_SETLKW,
            ];
            let locks = locks.map(|lock| u64::from(lock.cast_unsigned()));
            locks
                .contains(&args[command])
                .then(|| descriptor(pid, args[fd]))??
        }
        About::Clone { flags } => child(args[flags])?,
        About::Clone3 { at } => child(word(pid, args[at])?)?,
    };
    let world = world.display().to_string();
    Some(Call {
        name,
        what: what.replace(&world, ""),
    })
}

/// A thread is no child.
fn child(flags: u64) -> Option<String> {
    let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
    (flags & thread == 0).then(String::new)
}

/// A file, socket or pipe; a counter that wakes a thread is nobody else's business.
fn descriptor(pid: Pid, fd: u64) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    let shown = link.display().to_string();
    let kind = shown.split(':').next().unwrap_or_default();
    match kind {
        "anon_inode" => None,
        "pipe" | "socket" => Some(kind.to_owned()),
        _ => (!is_screen(&link)).then_some(shown),
    }
}

/// Where the command under test writes its words: what it says changes nothing.
fn is_screen(path: &Path) -> bool {
    let ends = path.ends_with("out") || path.ends_with("err");
    ends && path.components().any(|part| part.as_os_str() == "tmp")
}

fn memory(pid: Pid, at: u64, into: &mut [u8]) -> Option<usize> {
    let path = PathBuf::from(format!("/proc/{pid}/mem"));
    File::open(path).ok()?.read_at(into, at).ok()
}

fn word(pid: Pid, at: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (memory(pid, at, &mut bytes)? == 8).then(|| u64::from_ne_bytes(bytes))
}

/// The text at `at`, up to its zero.
fn text(pid: Pid, at: u64) -> String {
    let mut bytes = [0; 4096];
    // What lies behind the end of a page may not be there: a read gives what is.
    let read = memory(pid, at, &mut bytes).unwrap_or(0);
    let bytes = &bytes[..read];
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(read);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
