//! A red check goes back to Code with its output; failures gate by their counts; grants are bounded.

use backstop_engine::GateKind;
use backstop_engine::mode::Account;

use crate::support::{World, exec_run};

/// Passes when `answer` holds 42; says what it found.
const CHECK: &str = "echo looked-at-$(cat answer 2>/dev/null); test \"$(cat answer)\" = 42";

/// An agent that keeps its prompt and writes the `n`th line of `lines` at its visit `n`.
fn agent(world: &World, script: &str) -> String {
    let keep = r#"cat >"$E2E_SIDE/prompt-$BACKSTOP_VISIT""#;
    let path = world.leave("agent.sh", &format!("{keep}\n{script}\n"));
    format!("sh {path}")
}

#[test]
fn the_output_of_a_red_check_is_in_the_next_prompt() {
    let world = World::new();
    let agent = agent(&world, "echo $((40 + BACKSTOP_VISIT)) >answer");
    world.backstop(&exec_run(&agent, CHECK, &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(!world.seen("prompt-1").contains("looked-at-41"));
    let second = world.seen("prompt-2");
    for part in [
        "looked-at-41",
        "failed with exit status 1",
        "do the work",
        CHECK,
    ] {
        assert!(second.contains(part), "{part}: {second}");
    }
    let visits = (
        world.used(Account::PhaseFailures),
        world.used(Account::Streak),
    );
    assert_eq!(visits, (1, 0), "the streak ends with the way to Ship");
}

#[test]
fn three_failures_without_progress_ask_a_person() {
    let world = World::new();
    // A commit that changes nothing is no progress.
    let agent = agent(
        &world,
        "echo 1 >answer; git commit --quiet --allow-empty --message again",
    );
    let ran = world.backstop(&exec_run(&agent, CHECK, &[])).with(3);
    ran.telling(&[
        "validate gate g1",
        "failures in a row without progress",
        "backstop gate grant g1",
    ]);
    world.at_gate(GateKind::Validate, r#"[{"policy":"streak_ceiling"}]"#);
    assert_eq!(world.used(Account::Streak), 3);
    assert_eq!(world.used(Account::Attempts), 3);
    // Refilled: one more failure does not ask at once.
    world.backstop(&["gate", "grant", "g1"]).with(3);
    world.at_gate(GateKind::Validate, r#"[{"policy":"streak_ceiling"}]"#);
    assert_eq!(world.used(Account::PhaseFailures), 6);
}

#[test]
fn ten_failures_with_progress_ask_a_person() {
    let world = World::new();
    let agent = agent(&world, "echo $BACKSTOP_VISIT >answer");
    world.backstop(&exec_run(&agent, CHECK, &[])).with(3);
    world.at_gate(GateKind::Validate, r#"[{"policy":"phase_ceiling"}]"#);
    assert_eq!(world.used(Account::PhaseFailures), 10);
    assert_eq!(world.used(Account::Streak), 1);
    // An override needs a reason, and is the person's alone.
    world
        .backstop(&["gate", "approve", "g1"])
        .with(6)
        .telling(&["note"]);
    world
        .backstop(&["gate", "approve", "g1", "--note", "good enough"])
        .with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}

#[test]
fn a_supervised_mission_asks_at_every_validate() {
    let world = World::new();
    let agent = agent(&world, "echo $((40 + BACKSTOP_VISIT)) >answer");
    let args = exec_run(&agent, CHECK, &["--mode", "supervise"]);
    world
        .backstop(&args)
        .with(3)
        .telling(&["a person sees every Validate"]);
    world.at_gate(GateKind::Validate, r#"[{"policy":"supervised"}]"#);
    world
        .backstop(&["gate", "reject", "g1", "--note", "count on"])
        .with(3);
    assert!(world.seen("prompt-2").contains("count on"));
    world.at_gate(GateKind::Validate, r#"[{"policy":"supervised"}]"#);
    world
        .backstop(&["gate", "approve", "g2"])
        .with(3)
        .telling(&["ship gate g3"]);
    world.backstop(&["gate", "approve", "g3"]).with(0);
}

#[test]
fn the_fourth_grant_is_refused() {
    let world = World::new();
    world.write("backstop.toml", "[ceilings]\nstreak = 1\n");
    world.commit("one failure is enough");
    let agent = agent(&world, "echo $BACKSTOP_VISIT >answer");
    world.backstop(&exec_run(&agent, CHECK, &[])).with(3);
    for gate in ["g1", "g2", "g3"] {
        world.backstop(&["gate", "grant", gate]).with(3);
    }
    let before = std::fs::read(world.journal()).unwrap();
    world
        .backstop(&["gate", "grant", "g4"])
        .with(6)
        .telling(&["streak", "3"]);
    assert_eq!(std::fs::read(world.journal()).unwrap(), before);
    assert_eq!(world.gate().id.as_str(), "g4");
    world.backstop(&["gate", "abort", "g4"]).with(5);
    world
        .backstop(&["gate", "abort", "g4"])
        .with(6)
        .telling(&["olga", "abort"]);
}
