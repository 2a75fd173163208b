//! Bad input, bad surroundings and signals: the right exit status, and a message that says what to do.

use std::process::{Command, Stdio};

use backstop_engine::GateKind;
use nix::sys::signal::{SigSet, SigmaskHow};
use rustix::process::Signal;

use crate::support::{BACKSTOP, Started, World, exec_run};

const AGENT: &str = "cat >/dev/null; echo 1 >work";

#[track_caller]
fn opens_nothing(world: &World, args: &[&str], code: i32, parts: &[&str]) {
    world.backstop(args).with(code).telling(parts);
    assert!(world.missions().is_empty(), "{args:?}");
}

#[test]
fn a_wrong_configuration_is_shown_in_its_place() {
    let world = World::new();
    let run = exec_run(AGENT, "true", &[]);
    for (text, parts) in [
        (
            "mode = \"auto\"\n[ship]\nbye = \"merge\"\n",
            &[
                "backstop.toml:3:1",
                "bye = \"merge\"",
                "^^^",
                "did you mean `by`?",
            ][..],
        ),
        (
            "[ceilings]\nstreek = 3\n",
            &["backstop.toml:2:1", "did you mean `streak`?"],
        ),
        (
            "[ceilings]\nstreak = 0\n",
            &["backstop.toml:2:", "streak = 0", "^"],
        ),
        (
            "[ceilings]\nstreak = -1\n",
            &["backstop.toml:2:", "positive", "^^"],
        ),
        (
            "[ceilings]\ntokens = 99999999999999\n",
            &["backstop.toml:2:", "^"],
        ),
        (
            "[ceilings]\nphase_failures = 51\n",
            &["backstop.toml:2:", "50"],
        ),
        (
            "agent = \"robot\"\n",
            &["backstop.toml:1:", "robot", "exec"],
        ),
        (
            "mode = \"manual\"\n",
            &["backstop.toml:1:", "manual", "supervise"],
        ),
        ("checks = [\n", &["backstop.toml:"]),
    ] {
        world.write("backstop.toml", text);
        opens_nothing(&world, &run, 2, parts);
    }
}

#[test]
fn an_agent_that_cannot_start_as_it_is_set_opens_nothing() {
    let world = World::new();
    let run = ["run", "x", "--check", "true", "--agent"];
    for (agent, needs) in [("exec", "--exec-command"), ("scripted", "--script")] {
        opens_nothing(&world, &[&run[..], &[agent]].concat(), 2, &[needs]);
    }
    let script = world.side("play.toml").display().to_string();
    let run = ["run", "x", "--check", "true", "--script", &script];
    opens_nothing(&world, &run, 2, &[&script, "No such file"]);
    world.leave("play.toml", "[[step]]\ndo = [{ sya = \"x\" }]\n");
    opens_nothing(&world, &run, 2, &[&script, "sya"]);
}

#[test]
fn flags_of_two_agents_open_nothing() {
    let world = World::new();
    let two = exec_run(AGENT, "true", &["--script", "play.toml"]);
    opens_nothing(&world, &two, 2, &["--script", "--exec-command"]);
    for (agent, flag) in [("codex", "--exec-command"), ("exec", "--script")] {
        let run = ["run", "x", "--check", "true", "--agent", agent, flag, "y"];
        opens_nothing(&world, &run, 2, &[flag, &format!("`--agent {agent}`")]);
    }
}

#[test]
fn a_state_folder_that_cannot_be_made_is_told() {
    let world = World::new().set("BACKSTOP_STATE", "/proc/nowhere/state");
    let said = world.backstop(&exec_run(AGENT, "true", &[]));
    assert_eq!(said.code, 1, "{said:?}");
    said.telling(&["/proc/nowhere", "--state-dir"]);
}

#[test]
fn a_wish_that_cannot_be_met_says_what_is_missing() {
    let world = World::new();
    opens_nothing(
        &world,
        &["run", "--exec-command", AGENT, "--check", "true"],
        2,
        &["nothing to do", "fix the login"],
    );
    opens_nothing(
        &world,
        &["run", "  ", "--exec-command", AGENT, "--check", "true"],
        2,
        &["nothing to do"],
    );
    opens_nothing(
        &world,
        &["run", "x", "--check", "true"],
        2,
        &["no agent is named", "--agent"],
    );
    opens_nothing(
        &world,
        &["run", "x", "--agent", "robot", "--check", "true"],
        2,
        &["`robot`", "exec", "scripted"],
    );
    opens_nothing(
        &world,
        &["run", "x", "--exec-command", AGENT],
        2,
        &["check", "--check", "--no-check"],
    );
    opens_nothing(
        &world,
        &[
            "run",
            "x",
            "--from",
            "ship",
            "--exec-command",
            AGENT,
            "--check",
            "true",
        ],
        2,
        &["ship", "code"],
    );
    opens_nothing(
        &world,
        &["run", "x", "--mode", "manual"],
        2,
        &["manual", "supervise"],
    );
    let base = exec_run(AGENT, "true", &["--base", "nowhere"]);
    opens_nothing(&world, &base, 2, &["`nowhere` names no commit"]);
    world
        .backstop(&["resume"])
        .with(6)
        .telling(&["backstop run"]);
    world
        .backstop(&["stop", "nobody"])
        .with(6)
        .telling(&["nobody"]);
    world
        .backstop(&["gate", "list"])
        .with(0)
        .telling(&["nothing waits for you"]);
}

#[test]
fn a_malformed_plan_is_refused_with_everything_that_is_wrong() {
    let world = World::new();
    for (name, text, parts) in [
        ("a.json", "{\"phases\": [", &["plan"][..]),
        (
            "b.json",
            r#"{"phases": [{"kind": "codding", "task": "x y"}, {"kind": "coding", "task": "TBD", "done_wen": "z"}]}"#,
            &["codding", "coding", "TBD", "done_when"],
        ),
        ("c.toml", "phases = [\n", &["c.toml"]),
        ("d.json", "{\"phases\": []}", &["phase"]),
    ] {
        let plan = world.leave(name, text);
        let args = [
            "run",
            "--plan",
            &plan,
            "--exec-command",
            AGENT,
            "--check",
            "true",
        ];
        opens_nothing(&world, &args, 2, parts);
    }
    let args = [
        "run",
        "--plan",
        "missing.json",
        "--exec-command",
        AGENT,
        "--check",
        "true",
    ];
    opens_nothing(&world, &args, 2, &["missing.json"]);
}

#[test]
fn a_place_that_is_no_repository_with_a_commit_and_a_name_fails_before_anything_starts() {
    let world = World::bare();
    let run = exec_run(AGENT, "true", &[]);
    opens_nothing(
        &world,
        &run,
        8,
        &["is not in a usable git repository", "git init"],
    );
    world.git(&["init", "--quiet", "--initial-branch=main"]);
    opens_nothing(&world, &run, 8, &["no commit"]);

    let world = World::new();
    std::fs::write(world.path("home/.gitconfig"), "").unwrap();
    let said = world.backstop(&run).with(8);
    said.telling(&[
        "git config --global user.name",
        "user.email",
        "backstop gate retry g1",
    ]);
    assert!(!world.facts().contains(&"attempt_started".to_owned()));
}

#[test]
fn a_missing_program_is_found_before_anything_is_spent() {
    let world = World::new();
    let run = exec_run("no-such-agent --fast", "true", &[]);
    world
        .backstop(&run)
        .with(8)
        .telling(&["`no-such-agent` is not found", "install it"]);
    let world = World::new();
    let run = exec_run(AGENT, "no-such-check", &[]);
    world
        .backstop(&run)
        .with(8)
        .telling(&["no-such-check", "not found", "127"]);
}

#[test]
fn what_the_host_saw_of_a_failure_is_told_beside_what_the_agent_said() {
    let world = World::new();
    let agent = "cat >/dev/null; echo one >work; echo oops; echo why >&2; exit 42";
    let said = world.backstop(&exec_run(agent, "true", &[])).with(3);
    said.telling(&["| oops", "| why", "| it exited with 42"]);
}

#[test]
fn an_override_is_told_where_the_work_ships() {
    let world = World::new();
    let run = exec_run(AGENT, "test ! -e work", &["--mode", "supervise"]);
    world.backstop(&run).with(3).telling(&["validate gate g1"]);
    let approve = ["gate", "approve", "--note", "known flake", "--by", "Ada"];
    let said = world.backstop(&approve).with(3);
    assert!(!format!("{said:?}").contains("verified"), "{said:?}");
    said.telling(&["ship gate g2", "override  Ada let phase 1 pass at Validate"]);
}

#[test]
fn garbage_from_an_agent_decides_nothing() {
    let world = World::new();
    let agent = "cat >/dev/null; head -c 1048576 /dev/urandom; head -c 1048576 /dev/urandom >&2; echo 1 >work";
    let run = exec_run(agent, "test -s work", &[]);
    world.backstop(&run).with(3).telling(&["ship gate g1"]);
    world.backstop(&["gate", "show"]).with(0);
    world.backstop(&["gate", "approve"]).with(0);
}

#[test]
fn a_claim_without_work_is_no_success() {
    let world = World::new();
    let run = exec_run("cat >/dev/null; echo 'Done. All tests pass.'", "true", &[]);
    world
        .backstop(&run)
        .with(3)
        .telling(&["left the tree as it was", "All tests pass."]);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    let world = World::new();
    let run = exec_run("cat >/dev/null; echo no idea >&2; exit 3", "true", &[]);
    world
        .backstop(&run)
        .with(3)
        .telling(&["reported a failure", "no idea"]);
}

/// A file system of one megabyte at the state directory; none where mounting is not allowed.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(world: &World, options: &str) -> Option<Self> {
        let at = world.path("state");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&at)
            .output();
        mounted
            .is_ok_and(|done| done.status.success())
            .then_some(Self(at))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount")
            .args(["-o", &options])
            .arg(&self.0)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .args(["--lazy"])
            .arg(&self.0)
            .output();
    }
}

#[test]
fn a_full_disk_stops_the_mission_and_space_lets_it_go_on() {
    let world = World::new();
    let Some(disk) = Disk::mount(&world, "size=300m,mode=0700") else {
        println!("not run: mounting is not allowed here");
        return;
    };
    // Until the agent is told otherwise, it fills the disk of the state directory to the last byte.
    let agent = "cat >/dev/null; echo 1 >work; test -e \"$E2E_SIDE/mended\" || cat /dev/zero >>\"$XDG_STATE_HOME/ballast\"";
    let mut said = world.backstop(&exec_run(agent, "true", &[]));
    // The journal's last page has some room left: what is decided on it is written, and then nothing more.
    for _ in 0..40 {
        assert!(said.code == 1 || said.code == 3, "{said:?}");
        let full = said.code == 1;
        said.telling(&["No space left on device"]);
        world.nothing_runs();
        if full {
            break;
        }
        said = world.backstop(&["gate", "retry"]);
    }
    world
        .backstop(&["resume"])
        .with(1)
        .telling(&["No space left on device"]);
    world.nothing_runs();
    std::fs::remove_file(world.path("state/ballast")).unwrap();
    world.leave("mended", "");
    let mut said = world.backstop(&["resume"]).with(3);
    if world.gate().kind != GateKind::Ship {
        said = world.backstop(&["gate", "retry"]).with(3);
    }
    said.telling(&["ship gate"]);
    let head = world.mission().lane().head.commit.to_string();
    assert_eq!(world.git(&["show", &format!("{head}:work")]), "1");
    drop(disk);
}

#[test]
fn work_that_could_not_be_taken_is_gone_on_with() {
    let world = World::new();
    let Some(disk) = Disk::mount(&world, "size=300m,mode=0700") else {
        println!("not run: mounting is not allowed here");
        return;
    };
    let agent = "cat >/dev/null; test -s work && exit 0; echo precious >work; cat /dev/zero >>\"$XDG_STATE_HOME/ballast\"";
    let said = world.backstop(&exec_run(agent, "grep precious work", &[]));
    std::fs::remove_file(world.path("state/ballast")).unwrap();
    if said.code == 1 {
        world.backstop(&["resume"]).with(3);
    }
    if world.gate().kind != GateKind::Ship {
        world.backstop(&["gate", "retry"]).with(3);
    }
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let head = world.mission().lane().head.commit.to_string();
    assert_eq!(world.git(&["show", &format!("{head}:work")]), "precious");
    drop(disk);
}

#[test]
fn a_workspace_that_an_agent_destroyed_is_made_again() {
    for harm in [
        "rm -rf \"$PWD\"",
        "rm -rf .git; echo nothing >.git",
        "mv \"$PWD\" \"$PWD.gone\"",
    ] {
        let world = World::new();
        let agent = format!(
            "cat >/dev/null; echo 1 >work; test -e \"$E2E_SIDE/harmed\" && exit 0; touch \"$E2E_SIDE/harmed\"; {harm}"
        );
        world
            .backstop(&exec_run(&agent, "test -s work", &[]))
            .with(3)
            .telling(&["workspace", "damaged"]);
        world.at_gate(GateKind::Review, r#"[{"ended":"unknown"}]"#);
        world
            .backstop(&["gate", "retry"])
            .with(3)
            .telling(&["ship gate g2"]);
        world.backstop(&["gate", "approve"]).with(0);
    }
}

#[test]
fn a_state_directory_that_cannot_be_written_is_named() {
    let world = World::new();
    let run = exec_run(AGENT, "true", &[]);
    world.write("file", "");
    let below = world.repo().join("file/state").display().to_string();
    let args = [&run[..], &["--state-dir", &below]].concat();
    world
        .backstop(&args)
        .with(1)
        .telling(&[&below, "--state-dir"]);
    let inside = world.repo().join("state").display().to_string();
    let args = [&run[..], &["--state-dir", &inside]].concat();
    world
        .backstop(&args)
        .with(2)
        .telling(&["inside the repository"]);
    let Some(disk) = Disk::mount(&world, "size=300m,mode=0700") else {
        println!("not run: mounting is not allowed here");
        return;
    };
    disk.remount("ro");
    world
        .backstop(&run)
        .with(1)
        .telling(&["Read-only file system", "state"]);
    disk.remount("rw");
    world.backstop(&run).with(3);
    disk.remount("ro");
    let gate = ["gate", "approve"];
    world
        .backstop(&gate)
        .with(1)
        .telling(&["Read-only file system"]);
    world.backstop(&["gate", "show"]).with(0);
    disk.remount("rw");
    world.backstop(&gate).with(0);
}

/// An agent that waits until it is told, and the goes on.
const WAITER: &str = "cat >/dev/null; echo 1 >work; echo x >>\"$E2E_SIDE/launches\"; while ! test -e \"$E2E_SIDE/go\"; do sleep 0.02; done";

#[test]
fn a_signal_parks_the_mission_and_resume_goes_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = World::new();
        let runner = world.start(&exec_run(WAITER, "true", &[]));
        world.until("the agent", || world.launches().len() == 1);
        runner.signal(signal);
        runner.end().with(130).telling(&[
            "parked by an operator's stop",
            &format!("backstop resume {}", world.id()),
        ]);
        world.nothing_runs();
        world.leave("go", "");
        world.backstop(&["resume"]).with(3);
        world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
        assert_eq!(world.launches().len(), 2);
        let head = world.mission().lane().head.commit.to_string();
        assert_eq!(world.git(&["show", &format!("{head}:work")]), "1");
    }
}

/// Runs Backstop as a supervisor may that has threads of its own: all signals blocked, the end of children ignored.
fn start_blocked(world: &World, args: &[&str]) -> Started {
    let plain = world.command(args);
    let environment = plain
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"trap "" CHLD; exec "$0" "$@""#, BACKSTOP])
        .args(args)
        .env_clear()
        .envs(environment)
        .current_dir(world.repo())
        .stdin(Stdio::null());
    let blocked = SigSet::all()
        .thread_swap_mask(SigmaskHow::SIG_SETMASK)
        .unwrap();
    let started = world.begin(command);
    blocked.thread_set_mask().unwrap();
    started
}

#[test]
fn signals_that_a_parent_blocked_or_ignored_change_nothing() {
    let world = World::new();
    let runner = start_blocked(&world, &exec_run(WAITER, "sleep 0.1", &[]));
    world.until("the agent", || world.launches().len() == 1);
    runner.signal(Signal::TERM);
    runner.end().with(130);
    world.nothing_runs();
    world.leave("go", "");
    start_blocked(&world, &["resume"]).end().with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}

#[test]
fn a_signal_during_the_preflight_or_a_check_parks_too() {
    // On the base there is no work yet, so the first waiting is the preflight's.
    let check = "test -s work && at=check || at=preflight; touch \"$E2E_SIDE/$at\"; while ! test -e \"$E2E_SIDE/go-$at\"; do sleep 0.02; done";
    let world = World::new();
    let runner = world.start(&exec_run(AGENT, check, &[]));
    world.until_left("preflight");
    runner.signal(Signal::INT);
    runner.end().with(130).telling(&["backstop resume"]);
    world.nothing_runs();
    assert_eq!(world.used(backstop_engine::mode::Account::Preflight), 0);
    world.leave("go-preflight", "");
    let runner = world.start(&["resume"]);
    world.until_left("check");
    runner.signal(Signal::TERM);
    runner.end().with(130);
    world.nothing_runs();
    world.leave("go-check", "");
    world
        .backstop(&["resume"])
        .with(3)
        .telling(&["ship gate g1"]);
    assert_eq!(world.used(backstop_engine::mode::Account::PhaseFailures), 0);
}

#[test]
fn a_stop_from_elsewhere_ends_the_runner() {
    let world = World::new();
    let runner = world.start(&exec_run(WAITER, "true", &[]));
    world.until("the agent", || world.launches().len() == 1);
    world
        .backstop(&["stop", &world.id()])
        .with(0)
        .telling(&["backstop resume"]);
    runner.end().with(4).telling(&["backstop resume"]);
    world.nothing_runs();
    world
        .backstop(&["stop", &world.id()])
        .with(6)
        .telling(&["parked already"]);
    world.leave("go", "");
    world.backstop(&["resume"]).with(3);
    // Nobody drives it: the command parks it itself.
    world.backstop(&["stop", &world.id()]).with(0);
    world.backstop(&["gate", "approve"]).with(0);
    world
        .backstop(&["stop", &world.id()])
        .with(6)
        .telling(&["ended"]);
    world.backstop(&["resume"]).with(0).telling(&["shipped"]);
}

#[test]
fn a_runner_goes_on_without_a_terminal_where_that_was_asked_for() {
    let world = World::new();
    let mut command = Command::new("nohup");
    let inner = world.command(&exec_run(WAITER, "true", &[]));
    command.arg(inner.get_program()).args(inner.get_args());
    command.env_clear().current_dir(world.repo());
    command.envs(
        inner
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let runner = world.begin(command);
    world.until("the agent", || world.launches().len() == 1);
    runner.signal(Signal::HUP);
    world.leave("go", "");
    runner.end().with(3);
    assert_eq!(world.launches().len(), 1);
}

#[test]
fn a_reader_that_leaves_does_not_stop_the_mission() {
    let world = World::new();
    let mut command = world.command(&exec_run(WAITER, "true", &[]));
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut runner = command.spawn().unwrap();
    drop((runner.stdout.take(), runner.stderr.take()));
    world.until("the agent", || world.launches().len() == 1);
    world.leave("go", "");
    assert_eq!(runner.wait().unwrap().code(), Some(3));
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}
