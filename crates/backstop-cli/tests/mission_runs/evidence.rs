//! What is told of an attempt is what was seen: never what could not be read, never another's work, never a guess.

use std::os::unix::fs::PermissionsExt as _;

use backstop_engine::mode::Account;
use backstop_engine::outcome::Status;
use backstop_engine::{ArtifactSeen, AttemptEnded, Cost, Fact, GateKind, ParkCause, Position};
use rustix::process::Signal;

use crate::support::{World, exec_run};

/// Every attempt that has ended, in order.
fn ended(world: &World) -> Vec<AttemptEnded> {
    let steps = world.history().steps.into_iter();
    let ended = steps.filter_map(|step| {
        if let Fact::AttemptEnded(ended) = step.fact {
            return Some(*ended);
        }
        None
    });
    ended.collect()
}

/// A mission of an `exec` agent from Define on, to its first stop.
fn define(agent: &str) -> World {
    let world = World::new();
    let run = [
        "run",
        "find it",
        "--agent",
        "exec",
        "--exec-command",
        agent,
        "--check",
        "true",
    ];
    world.backstop(&run).with(3);
    world
}

#[test]
fn an_artifact_that_is_no_file_of_the_agents_is_neither_waited_for_nor_taken() {
    let places = [
        ("mkfifo \"$BACKSTOP_ARTIFACT\"", "it is not a regular file"),
        ("mkdir \"$BACKSTOP_ARTIFACT\"", "it is not a regular file"),
        ("ln -s /dev/zero \"$BACKSTOP_ARTIFACT\"", "it is a symlink"),
        (
            "head -c 1048577 /dev/zero >\"$BACKSTOP_ARTIFACT\"",
            "it has more than 1048576 bytes",
        ),
    ];
    for (place, why) in places {
        let world = define(&format!("cat >/dev/null; {place}; echo findings"));
        world.at_gate(GateKind::Review, r#"[{"ended":"unknown"}]"#);
        let ended = ended(&world);
        assert_eq!(ended.len(), 1, "{place}");
        assert_eq!(ended[0].artifact, ArtifactSeen::Unmeasured, "{place}");
        let words = ended[0].words.as_str();
        assert!(words.contains(why), "{place}: {words}");
    }
}

#[test]
fn an_artifact_file_is_taken_whole_and_outranks_the_final_message() {
    let agent = "cat >/dev/null; echo said; test $BACKSTOP_STAGE != define || head -c 1048576 /dev/zero | tr '\\0' x >\"$BACKSTOP_ARTIFACT\"; test $BACKSTOP_STAGE != plan || echo ' ' >\"$BACKSTOP_ARTIFACT\"";
    let world = define(agent);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    let ended = ended(&world);
    let ArtifactSeen::Kept { digest, .. } = &ended[0].artifact else {
        panic!("{:?}", ended[0].artifact);
    };
    let kept = std::fs::metadata(world.dir().join("blobs").join(digest.digits())).unwrap();
    assert_eq!(kept.len(), 1_048_576);
    assert_eq!(ended[1].artifact, ArtifactSeen::Blank);
}

/// A mission of one phase of this kind, from Code on, whose agent says what is in the file `answer`.
fn report_of(kind: &str, answer: &str, code: i32) -> (World, String) {
    let world = World::new();
    let answer = world.leave("answer", answer);
    let plan = format!(r#"{{"phases":[{{"kind":"{kind}","task":"look at it"}}]}}"#);
    let plan = world.leave("plan.json", &plan);
    let agent = format!("cat >\"$E2E_SIDE/prompt-$BACKSTOP_STAGE\"; cat '{answer}'");
    let run = [
        "run",
        "--plan",
        &plan,
        "--agent",
        "exec",
        "--exec-command",
        &agent,
        "--check",
        "true",
        "--from",
        "code",
    ];
    world.backstop(&run).with(code);
    let told = world.backstop(&["report", &world.id()]).with(0).out;
    (world, told)
}

#[test]
fn a_scan_in_sarif_is_reported_with_the_number_of_its_results() {
    let log = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan"}},"results":[{"message":{"text":"a secret"}},{"message":{"text":"another"}}]}]}"#;
    let (world, told) = report_of("security_scan", log, 3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(told.contains("SARIF with 2 results"), "{told}");
    let prompt = world.seen("prompt-code");
    assert!(prompt.contains("SARIF 2.1.0"), "{prompt}");
    let (_, told) = report_of("security_scan", "I found a secret in a.rs.", 3);
    assert!(told.contains("artifact   text"), "{told}");
}

#[test]
fn a_benchmark_without_its_machine_is_none() {
    let whole = r#"{"machine":"2 cores","commands":["cargo bench"],"numbers":{"parse_ns":17}}"#;
    let (world, told) = report_of("benchmark", whole, 3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(told.contains("artifact   numbers"), "{told}");
    let prompt = world.seen("prompt-code");
    assert!(prompt.contains(r#""machine""#), "{prompt}");
    let less = r#"{"commands":["cargo bench"],"numbers":{"parse_ns":17}}"#;
    let (world, _) = report_of("benchmark", less, 3);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
}

#[test]
fn what_an_agent_puts_in_the_place_of_gits_settings_holds_nothing_up() {
    let world = World::new();
    let agent =
        "cat >/dev/null; rm \"$GIT_CONFIG_GLOBAL\"; mkfifo \"$GIT_CONFIG_GLOBAL\"; echo 1 >work";
    let check = "test \"$(git config user.name)\" = Operator";
    world.backstop(&exec_run(agent, check, &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}

/// A git that stands still once, as soon as one attempt has ended.
const GIT: &str = r#"#!/bin/sh
if test -e "$E2E_SIDE/hold" && cat "$XDG_STATE_HOME"/backstop/*/missions/*/journal.jsonl | grep -q '"attempt_ended"'; then
    rm "$E2E_SIDE/hold"
    touch "$E2E_SIDE/held"
    while ! test -e "$E2E_SIDE/go"; do sleep 0.05; done
    exit 1
fi
exec "$REAL_GIT" "$@"
"#;

/// A world whose `git` is `GIT`.
fn held() -> World {
    let path = std::env::var("PATH").unwrap();
    let real = path
        .split(':')
        .map(|dir| format!("{dir}/git"))
        .find(|git| std::path::Path::new(git).exists())
        .unwrap();
    let world = World::new();
    let git = world.leave("bin/git", GIT);
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = world.side("bin").display().to_string();
    world.leave("hold", "");
    world
        .set("PATH", &format!("{bin}:{path}"))
        .set("REAL_GIT", &real)
}

#[test]
fn a_launch_whose_agent_never_entered_is_begun_anew_without_the_work_of_another() {
    let world = held();
    // The planner leaves a commit in the workspace that the lane goes on without.
    let agent = "cat >/dev/null; case $BACKSTOP_STAGE in plan) echo p >planned; git add planned; git commit --quiet -m planned; echo an outline;; code) echo 1 >work;; esac";
    let mut runner = world.start(&[
        "run",
        "do it",
        "--from",
        "plan",
        "--agent",
        "exec",
        "--exec-command",
        agent,
        "--check",
        "true",
    ]);
    world.until_left("held");
    runner.kill();
    world.backstop(&["resume"]).with(3);
    world.leave("go", "");
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let base = world.git(&["rev-parse", "HEAD"]);
    let ended = ended(&world);
    assert_eq!(ended.len(), 2);
    let planned = ended[0].head.as_ref().unwrap().commit.to_string();
    assert_ne!(planned, base);
    assert_eq!(ended[1].status, Status::Success);
    // Nothing of it was spent, so it is no fault and the same launch.
    assert_eq!(world.mission().meter().total(Account::InfraTotal), 0);
    assert_eq!(world.mission().meter().total(Account::Attempts), 2);
    let end = ended[1].head.as_ref().unwrap().commit.to_string();
    let names = world.git(&["ls-tree", "--name-only", &end]);
    assert_eq!(names, "README\nwork");
    world.nothing_runs();
}

#[test]
fn what_a_cut_attempt_cost_is_assumed_and_never_nothing() {
    let world = World::new();
    let agent = "cat >/dev/null; test $BACKSTOP_ATTEMPT != 1 || { echo 1 >work; touch \"$E2E_SIDE/at-work\"; exec sleep 1000; }";
    let mut runner = world.start(&exec_run(agent, "true", &[]));
    world.until_left("at-work");
    runner.kill();
    world.backstop(&["resume"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let costs: Vec<Cost> = ended(&world).iter().map(|ended| ended.usage.cost).collect();
    assert_eq!(costs, [Cost::Unreported; 2]);
    let assumed = world
        .mission()
        .charter()
        .fields()
        .roles
        .implementer
        .assumed_cost;
    assert!(assumed > 0);
    assert_eq!(world.mission().assumed_cost(), 2 * assumed);
    assert_eq!(world.used(Account::Cost), 2 * assumed);
}

#[test]
fn protected_paths_without_number_are_named_up_to_a_hundred() {
    let world = World::new();
    world.write("backstop.toml", "[review]\nprotected = [\"guarded/\"]\n");
    world.commit("guard a folder");
    // Named one by one, they would be longer than a record may be.
    let agent = "cat >/dev/null; long=$(head -c 240 /dev/zero | tr '\\0' x); dir=guarded/$long/$long/$long; mkdir -p $dir; cd $dir; seq -f \"$long%g\" 5000 | xargs touch";
    world.backstop(&exec_run(agent, "true", &[])).with(3);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    let protected = &ended(&world)[0].protected;
    assert_eq!(protected.len(), 101);
    assert!(protected[99].as_str().starts_with("guarded/"));
    assert_eq!(protected[100].as_str(), "and 4900 more");
}

#[test]
fn a_stop_during_the_setup_of_the_workspace_is_a_stop() {
    let world = World::new();
    let setup = "case $PWD in */workspace) test -e $E2E_SIDE/go || { touch $E2E_SIDE/at-setup; sleep 1000; };; esac";
    world.write(
        "backstop.toml",
        &format!("[limits]\nstop_grace = \"1s\"\n[workspace]\nsetup = [\"{setup}\"]\n"),
    );
    world.commit("a long setup");
    let run = exec_run("cat >/dev/null; echo 1 >work", "true", &[]);
    let runner = world.start(&run);
    world.until_left("at-setup");
    runner.signal(Signal::INT);
    runner.end().with(130);
    let ended = ended(&world);
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].status, Status::Cancelled);
    assert_eq!(ended[0].usage.cost, Cost::NoModelWork);
    assert_eq!(world.mission().meter().total(Account::InfraTotal), 0);
    assert!(matches!(
        world.mission().position(),
        Position::Parked(ParkCause::Stopped, _)
    ));
    world.nothing_runs();
    world.leave("go", "");
    world.backstop(&["resume"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
}
