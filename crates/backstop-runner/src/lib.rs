//! Drives missions: journal, git, processes, answers, and the loop that owns a mission.
//!
//! Deliberately absent: policy. Every decision is taken by `backstop-engine`.

pub mod config;
