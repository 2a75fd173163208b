//! Agent processes: how one is started, watched, stopped, and swept up behind.
//!
//! An attempt is a process group that is led by the agent and marked in its environment. It has ended when the agent's
//! pid has, whatever still holds its pipes; afterwards nothing of it is left alive, or what is left is named.
//! Linux only: `/proc`, pidfds and the child subreaper have no common form elsewhere.
//!
//! Deliberately absent: what output means (the adapters), what an ending means (the outcome policy), and secrets
//! (whoever spools redacts before the write).

mod children;
mod ended;
mod finish;
mod identity;
mod marker;
mod memory;
mod oom;
mod output;
mod running;
mod signals;
mod spawn;
mod sweep;
mod table;
mod watchdog;

pub use children::{Started, become_subreaper, output, start};
pub use ended::{Captured, Ended, EndedBy, Exit};
pub(crate) use finish::{Finished, finish};
pub use identity::{Identity, ignores_hangup};
pub use marker::{Marker, carries_marker, descends_from_marked};
pub use memory::{BoundBy, FreeMemory};
pub use oom::{Oom, oom_counter};
pub use output::{Heard, Idle, Listen, Pipe};
pub use running::{Order, Running, Stopper};
pub use signals::settle_signals;
pub use spawn::{Limits, Spawn, SpawnError, Stdin, spawn};
pub use sweep::{Swept, find_survivors, reap_orphans, stop_by_identity};
