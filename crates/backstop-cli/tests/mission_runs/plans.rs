//! Plans of several phases, workspaces that need setting up, and what the preflight says of the operator's checkout.

use backstop_engine::GateKind;

use crate::support::{World, exec_run};

const PLAN_JSON: &str = r#"{"phases": [
  {"kind": "coding", "task": "write one", "done_when_check": "test -s one"},
  {"kind": "coding", "task": "write two", "done_when_check": "test -s one && test -s two"}
]}"#;

const PLAN_TOML: &str = "[[phases]]\nkind = \"coding\"\ntask = \"write one\"\ndone_when_check = \"test -s one\"\n\n[[phases]]\nkind = \"coding\"\ntask = \"write two\"\ndone_when_check = \"test -s one && test -s two\"\n";

const AGENT: &str = "cat >\"$E2E_SIDE/prompt-$BACKSTOP_PHASE\"; ls >\"$E2E_SIDE/found-$BACKSTOP_PHASE\"; case $BACKSTOP_PHASE in 1) echo 1 >one;; 2) echo 2 >two;; esac";

#[test]
fn the_phases_of_a_plan_run_in_order_and_ship_once() {
    for (name, plan) in [("plan.json", PLAN_JSON), ("plan.toml", PLAN_TOML)] {
        let world = World::new();
        let plan = world.leave(name, plan);
        let args = [
            "run",
            "--plan",
            &plan,
            "--from",
            "code",
            "--exec-command",
            AGENT,
        ];
        world.backstop(&args).with(3);
        world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
        assert_eq!(world.seen("found-1"), "README\n");
        assert_eq!(world.seen("found-2"), "README\none\n");
        assert!(
            world.seen("prompt-2").contains("write two")
                && !world.seen("prompt-2").contains("`write one`")
        );
        let landed: Vec<u32> = world
            .mission()
            .landed()
            .iter()
            .map(|landed| landed.phase.number())
            .collect();
        assert_eq!(landed, [1, 2]);
        world.backstop(&["gate", "approve"]).with(0);
        let branch = format!("backstop/{}/mission", world.id());
        assert_eq!(
            world.git(&["ls-tree", "--name-only", &branch]),
            "README\none\ntwo"
        );
        let gates = world
            .facts()
            .iter()
            .filter(|fact| *fact == "answered")
            .count();
        assert_eq!(gates, 1);
    }
}

#[test]
fn research_that_changes_the_tree_fails() {
    let world = World::new();
    let plan = world.leave(
        "plan.json",
        r#"{"phases": [{"kind": "research", "task": "find out why"}]}"#,
    );
    let run = ["run", "--plan", &plan, "--from", "code", "--exec-command"];
    let spoils = [&run[..], &["echo because; echo 1 >work"]].concat();
    world
        .backstop(&spoils)
        .with(3)
        .telling(&["changed the tree where only a report was wanted"]);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);

    let world = World::new();
    let plan = world.leave(
        "plan.json",
        r#"{"phases": [{"kind": "research", "task": "find out why"}]}"#,
    );
    let run = [
        "run",
        "--plan",
        &plan,
        "--from",
        "code",
        "--exec-command",
        "echo because of this",
    ];
    world.backstop(&run).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}

#[test]
fn a_workspace_is_set_up_once_and_given_its_files() {
    let world = World::new();
    world.write(
        "backstop.toml",
        "[workspace]\nsetup = [\"echo set-up >>.built\"]\ncopy = [\".env.test\"]\n",
    );
    world.write(".gitignore", ".env.test\n.built\n");
    world.commit("needs setting up");
    world.write(".env.test", "TOKEN=local\n");
    let check = "cat .env.test && test \"$(cat .built)\" = set-up && test -s work";
    let agent = "cat >/dev/null; cat .env.test .built >\"$E2E_SIDE/seen-$BACKSTOP_VISIT\"; test $BACKSTOP_VISIT = 1 && echo >work || echo 1 >work";
    world.backstop(&exec_run(agent, check, &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert_eq!(world.seen("seen-1"), "TOKEN=local\nset-up\n");
    let tree = world.mission().lane().head.commit.to_string();
    assert_eq!(
        world.git(&["ls-tree", "--name-only", &tree]),
        ".gitignore\nREADME\nbackstop.toml\nwork"
    );
}

#[test]
fn a_setup_that_fails_fails_the_preflight() {
    for check in [&["--check", "true"][..], &["--no-check"]] {
        let world = World::new();
        world.write(
            "backstop.toml",
            "[workspace]\nsetup = [\"echo no such package; exit 3\"]\n",
        );
        world.commit("cannot be set up");
        let mut args = vec![
            "run",
            "x",
            "--from",
            "code",
            "--exec-command",
            "echo 1 >work",
        ];
        args.extend(check);
        world.backstop(&args).with(8).telling(&[
            "setup `echo no such package; exit 3`",
            "exit status 3",
            "no such package",
        ]);
        assert!(!world.facts().contains(&"attempt_started".to_owned()));
    }
}

#[test]
fn a_file_to_copy_that_is_not_there_fails_the_preflight() {
    let world = World::new();
    world.write("backstop.toml", "[workspace]\ncopy = [\".env.test\"]\n");
    world.commit("needs a file");
    world
        .backstop(&exec_run("echo 1 >work", "true", &[]))
        .with(8)
        .telling(&[".env.test", "copy"]);
}

#[test]
fn uncommitted_changes_are_warned_of_or_refused() {
    let world = World::new();
    world.write("README", "changed\n");
    world.write("new.txt", "new\n");
    let ran = world
        .backstop(&exec_run("cat >/dev/null; cat README >work", "true", &[]))
        .with(3);
    ran.telling(&["uncommitted changes are not part of the mission: `README`, `new.txt`"]);
    let head = world.mission().lane().head.commit.to_string();
    assert_eq!(world.git(&["show", &format!("{head}:work")]), "a project");

    let world = World::new();
    world.write("backstop.toml", "[preflight]\nrequire_clean = true\n");
    world.commit("be tidy");
    world.write("new.txt", "new\n");
    let ran = world
        .backstop(&exec_run("echo 1 >work", "true", &[]))
        .with(8);
    ran.telling(&["`new.txt`", "require_clean", "backstop gate retry g1"]);
    std::fs::remove_file(world.repo().join("new.txt")).unwrap();
    world
        .backstop(&["gate", "retry", "g1"])
        .with(3)
        .telling(&["ship gate g2"]);
}

#[test]
fn a_red_base_is_told_to_the_agent_or_refused() {
    let world = World::new();
    let agent = "cat >\"$E2E_SIDE/prompt\"; echo 1 >work";
    world
        .backstop(&exec_run(agent, "echo no-work-yet; test -s work", &[]))
        .with(3);
    assert!(
        world.seen("prompt").contains("no-work-yet"),
        "{}",
        world.seen("prompt")
    );

    let world = World::new();
    world.write("backstop.toml", "[preflight]\nrequire_green_base = true\n");
    world.commit("be green");
    let ran = world
        .backstop(&exec_run(agent, "test -s work", &[]))
        .with(8);
    ran.telling(&["require_green_base", "red on the base"]);
    world
        .backstop(&["gate", "approve", "g1", "--note", "I know"])
        .with(3)
        .telling(&["ship gate g2"]);
}

#[test]
fn a_long_check_of_a_plan_is_run_to_its_end() {
    let world = World::new();
    let long = format!("{} test -e never-there", "true;".repeat(1200));
    let plan =
        format!(r#"{{"phases":[{{"kind":"coding","task":"work","done_when_check":"{long}"}}]}}"#);
    world.write("plan.json", &plan);
    let agent = "cat >/dev/null; echo 1 >work";
    world
        .backstop(&[
            "run",
            "--plan",
            "plan.json",
            "--exec-command",
            agent,
            "--from",
            "code",
        ])
        .with(3)
        .telling(&["validate gate", "`done_when_check` failed"]);
}

#[test]
fn a_merge_without_a_branch_is_refused_before_anything_starts() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "--detach"]);
    world
        .backstop(&exec_run("true", "true", &["--ship", "merge"]))
        .with(2)
        .telling(&["on no branch", "--base"]);
}

#[test]
fn a_nul_in_a_checks_output_does_not_stop_the_next_launch() {
    let world = World::new();
    let check = "printf 'a\\000b'; test -s work";
    let agent = ": {prompt}; echo 1 >work";
    world
        .backstop(&exec_run(agent, check, &[]))
        .with(3)
        .telling(&["ship gate"]);
}
