//! Drives missions: journal, git, processes, answers, and the loop that owns a mission.
//!
//! Deliberately absent: policy. Every decision is taken by `backstop-engine`.

pub mod accounts;
pub mod blobs;
pub mod classify;
pub mod cleaning;
pub mod clock;
pub mod config;
mod disk;
pub mod dispatcher;
pub mod doctor;
pub mod door;
pub mod drive;
pub mod edge;
pub mod executor;
pub mod git;
pub mod history;
pub mod journal;
pub mod ledger;
pub mod offers;
pub mod opening;
pub mod plans;
pub mod play;
pub mod process;
pub mod programs;
pub mod prompt;
pub mod proposing;
pub mod queue;
pub mod redact;
pub mod room;
pub mod scaffold;
pub mod state;
pub mod story;
pub mod template;
pub mod view;
pub mod words;
