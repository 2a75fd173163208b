//! The laws of the engine over a million states: whole teams, and everything that can meet, meets.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a second bookkeeper looks at the facts that it books"
)]

mod held;
mod searches;
mod table;
mod watch;

use backstop_testkit::Scene;

use searches::found;

/// Facts that do not fit are tried in one state of so many: what they are does not depend on what meets.
pub(crate) const MISFITS: usize = 16;

/// The scenes that are searched here.
pub(crate) fn wanted() -> Vec<Scene> {
    backstop_testkit::wide_scenes()
}

#[test]
fn a_million_states_are_seen() {
    let states: usize = found().iter().map(|found| found.graph.states()).sum();
    println!("{states} states");
    assert!(states >= 1_000_000, "{states}");
}
