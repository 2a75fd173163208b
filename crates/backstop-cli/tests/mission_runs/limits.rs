//! Limits of time, what an agent leaves behind, and missions side by side.

use backstop_engine::GateKind;

use crate::support::{World, exec_run};

fn limited(limits: &str) -> World {
    let world = World::new();
    world.write(
        "backstop.toml",
        &format!("[limits]\nstop_grace = \"1s\"\n{limits}\n"),
    );
    world.commit("be quick");
    world
}

#[test]
fn a_hung_agent_is_ended_and_never_resumed_by_itself() {
    let world = limited("idle = \"1s\"");
    let agent = "cat >/dev/null; echo x >>\"$E2E_SIDE/launches\"; echo 1 >work; trap '' TERM; sleep 1000; sleep 1000";
    let ran = world.backstop(&exec_run(agent, "true", &[])).with(3);
    ran.telling(&["silence for too long", "backstop gate retry g1"]);
    world.at_gate(GateKind::Review, r#"[{"ended":"idle_timeout"}]"#);
    world.nothing_runs();
    assert_eq!(world.launches().len(), 1);
    // Going on does not answer the gate.
    world.backstop(&["resume"]).with(3);
    assert_eq!(world.launches().len(), 1);
    // What it did is kept.
    let head = world.mission().lane().head.commit.to_string();
    assert_eq!(world.git(&["show", &format!("{head}:work")]), "1");
}

#[test]
fn an_agent_that_talks_for_ever_is_ended_by_the_wall() {
    let world = limited("attempt = \"1s\"");
    let agent = "cat >/dev/null; while :; do echo still at work; sleep 0.05; done";
    world
        .backstop(&exec_run(agent, "true", &[]))
        .with(3)
        .telling(&["ended     ran over its limit of time"]);
    world.at_gate(GateKind::Review, r#"[{"ended":"over_budget"}]"#);
    world.nothing_runs();
}

#[test]
fn a_check_that_hangs_is_red() {
    let world = limited("check_timeout = \"1s\"");
    let check = "test ! -s work || { echo waiting; sleep 1000; }";
    let agent = "cat >>\"$E2E_SIDE/prompts\"; if test $BACKSTOP_VISIT = 1; then echo 1 >work; else : >work; fi";
    world
        .backstop(&exec_run(agent, check, &[]))
        .with(3)
        .telling(&["ran over its limit of time"]);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(world.seen("prompts").contains("ran over its limit of time"));
    world.nothing_runs();
}

#[test]
fn a_server_that_an_agent_or_a_check_leaves_is_swept() {
    let world = limited("");
    let agent = "cat >/dev/null; echo 1 >work; setsid sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & (env -i sleep 1000 &)";
    let check = "(env -i setsid sleep 1000 &) ; sleep 1000 & test -s work";
    world.backstop(&exec_run(agent, check, &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    world.nothing_runs();
}

#[test]
fn files_do_not_change_within_the_second_of_the_last_check() {
    let world = World::new();
    // As a build cache would that goes by whole seconds.
    let check = "test -e work || exit 0; now=$(stat -c %Y work); test \"$now\" != \"$(cat \"$E2E_SIDE/last\")\" || echo stale >>\"$E2E_SIDE/stale\"; date +%s >\"$E2E_SIDE/last\"; test \"$(cat work)\" = 5";
    let agent = "cat >/dev/null; echo $BACKSTOP_VISIT >work";
    world.backstop(&exec_run(agent, check, &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert_eq!(world.seen("stale"), "");
}

#[test]
fn two_missions_at_once_both_ship() {
    let world = World::new();
    // Each agent waits for the other to be at work.
    let agent = |own: &str, other: &str| {
        format!(
            "cat >/dev/null; touch \"$E2E_SIDE/{own}\"; while ! test -e \"$E2E_SIDE/{other}\"; do sleep 0.02; done; echo {own} >{own}"
        )
    };
    let (a, b) = (agent("a", "b"), agent("b", "a"));
    let first = world.start(&exec_run(&a, "test -s a", &["--wait"]));
    let second = world.start(&exec_run(&b, "test -s b", &["--wait"]));
    world.until("both gates", || {
        [&first, &second]
            .iter()
            .all(|runner| runner.told().contains("ship gate g1 opened"))
    });
    assert_eq!(
        world
            .backstop(&["gate", "list"])
            .with(0)
            .out
            .lines()
            .count(),
        2
    );
    world
        .backstop(&["gate", "approve", "g1"])
        .with(6)
        .telling(&["--mission"]);
    for dir in world.missions() {
        let id = dir.file_name().unwrap().to_string_lossy().into_owned();
        world
            .backstop(&["gate", "approve", "--mission", &id])
            .with(0);
    }
    first.end().with(0);
    second.end().with(0);
    let branches = world.git(&["for-each-ref", "--format=%(refname)", "refs/heads/backstop"]);
    let mut files: Vec<String> = branches
        .lines()
        .map(|branch| world.git(&["ls-tree", "--name-only", branch]))
        .collect();
    files.sort();
    assert_eq!(files, ["README\na", "README\nb"]);
}

#[test]
fn what_a_retry_will_do_is_said_at_the_gate() {
    let world = World::new();
    world.write(
        "backstop.toml",
        "[ceilings]\ninfra = 1\ncheckpoint_resumes = 1\n",
    );
    world.commit("be quick");
    let check = "test ! -e work || kill -9 $$";
    let agent = "cat >/dev/null; echo 1 >work";
    let ran = world.backstop(&exec_run(agent, check, &[])).with(3);
    ran.telling(&["refill what is exhausted, and run the checks again"]);
    let far = World::new();
    let play = "[[step]]\nstage = \"code\"\ndo = [{ rate_limit = { after = \"400h\" } }]\n";
    let script = far.leave("play.toml", play);
    let args = [
        "run", "work", "--from", "code", "--script", &script, "--check", "true",
    ];
    let ran = far.backstop(&args).with(3);
    ran.telling(&["make a new attempt at once, without waiting for the limit"]);
    let hung = limited("idle = \"1s\"");
    let agent = "cat >/dev/null; sleep 1000";
    let ran = hung.backstop(&exec_run(agent, "true", &[])).with(3);
    ran.telling(&["      make a new attempt; a note reaches the agent"]);
}
