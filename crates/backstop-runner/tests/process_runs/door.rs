//! Who belongs to a lane, and so may not answer a gate.

use backstop_runner::process::{
    Heard, Order, carries_marker, descends_from_marked, find_survivors, spawn,
};
use std::time::Duration;

use crate::support::{runs, shell};

/// Judges the processes whose numbers are heard, while they run; then stops the agent.
fn judged(script: &str) -> Vec<(bool, bool)> {
    let mut asked = shell(script);
    asked.limits.stop_grace = Duration::from_millis(20);
    let mut text = String::new();
    let mut found = Vec::new();
    let mut ear = |_, bytes: &[u8]| {
        text.push_str(&String::from_utf8_lossy(bytes));
        if !text.ends_with(".\n") {
            return Heard::Carry;
        }
        for pid in text.split_whitespace().filter_map(|word| word.parse().ok()) {
            assert!(runs(pid));
            found.push((carries_marker(pid), descends_from_marked(pid)));
        }
        Heard::Stop(Order::Stop)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { spawn(asked).unwrap().wait(&mut ear).await });
    found
}

#[test]
fn an_agent_and_its_tools_belong_to_the_lane() {
    let _alone = crate::support::alone();
    let script = "setsid sh -c 'echo $PPID $$ .; sleep 1000'";
    assert_eq!(judged(script), [(true, true), (true, true)]);
}

#[test]
fn a_process_that_dropped_its_marker_is_known_by_its_parents() {
    let _alone = crate::support::alone();
    let script = "env -i sh -c 'env -i setsid sh -c \"echo \\$\\$ .; sleep 1000\"; :'; :";
    assert_eq!(judged(script), [(false, true)]);
}

#[test]
fn the_runner_itself_and_what_started_it_do_not() {
    let _alone = crate::support::alone();
    let own = std::process::id();
    assert!(!carries_marker(own));
    assert!(!descends_from_marked(own));
    assert!(!descends_from_marked(std::os::unix::process::parent_id()));
    assert!(find_survivors(&crate::support::marker()).is_empty());
}
