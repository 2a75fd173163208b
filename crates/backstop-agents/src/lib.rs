//! How Backstop speaks to a coding agent: the command line it is started with, what its output means, and how its end
//! is read.
//!
//! - [`Adapter`]: one agent; [`find`] knows them all by name.
//! - [`Parser`]: bytes in, [`AgentEvent`]s out; [`Transcript`] keeps what matters of them.
//! - [`Reset`]: when a limit ends, as the agent's program put it, and the moment that this is.
//! - [`classify`]: host facts first, then the agent's own terminal word, then the exit status, else Unknown.
//!
//! Deliberately absent: processes, files and clocks (`backstop-runner`), and what policy makes of an ending
//! (`backstop-outcome`).
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used
)]

mod adapter;
mod aider;
mod by_line;
mod classify;
mod claude;
mod claude_like;
mod codex;
mod copilot;
mod event;
mod exec;
mod gemini;
mod lines;
mod opencode;
mod qwen;
mod reset;
mod scripted;
mod transcript;
#[cfg(test)]
mod trial;
mod trouble;

pub use adapter::{
    About, Access, Adapter, CommandLine, Features, Figure, Invocation, PROGRAM, Parser, Schema,
    Stdin, Support, all, find, known, names,
};
pub use classify::{Classified, EndedBy, Ending, HostFacts, Rule, SpawnFault, classify};
pub use event::{AgentEvent, ErrorKind, Stream, Terminal, Tokens, ToolEnd};
pub use exec::EXEC_COMMAND;
pub use lines::Lines;
pub use reset::{Clock, Reset, Until, Window, Zone};
pub use scripted::{SCRIPT, Spoken};
pub use transcript::{Heard, Spent, Transcript};
