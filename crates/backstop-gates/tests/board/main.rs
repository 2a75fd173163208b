//! The board, from outside: its rules one by one, and what no sequence of operations breaks.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;
mod laws;
mod rules;
mod words;
