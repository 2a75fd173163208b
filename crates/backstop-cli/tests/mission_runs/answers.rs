//! Who may answer, what an answer must fit, and how it reaches a runner that waits.

use backstop_engine::GateKind;

use crate::support::{BACKSTOP, World, exec_run};

const AGENT: &str = "cat >/dev/null; echo 1 >work";

fn at_ship_gate() -> World {
    let world = World::new();
    world.backstop(&exec_run(AGENT, "true", &[])).with(3);
    world
}

#[track_caller]
fn refused(world: &World, args: &[&str], parts: &[&str]) {
    let before = std::fs::read(world.journal()).unwrap();
    world.backstop(args).with(6).telling(parts);
    assert_eq!(std::fs::read(world.journal()).unwrap(), before, "{args:?}");
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_says_what_does() {
    let world = at_ship_gate();
    let other = format!("git-tree:{}", "1".repeat(40));
    refused(
        &world,
        &["gate", "approve", "g7"],
        &["`g7`", "g1", "backstop gate show g1"],
    );
    refused(
        &world,
        &["gate", "approve", "g1", "--digest", &other],
        &[&other, "look at it again"],
    );
    refused(
        &world,
        &["gate", "retry", "g1"],
        &["ship gate does not offer retry", "approve, reject, abort"],
    );
    refused(&world, &["gate", "reject", "g1"], &["note"]);
    refused(
        &world,
        &["gate", "approve", "g1", "--mission", "nobody"],
        &["nobody", &world.id()],
    );
    world
        .backstop(&["gate", "approve", "g1", "--by", "Ada", "--record-only"])
        .with(0);
    refused(
        &world,
        &["gate", "abort", "g1"],
        &["answered already", "Ada", "approve"],
    );
    world.backstop(&["resume"]).with(0).telling(&["shipped"]);
    refused(
        &world,
        &["gate", "approve", "g1"],
        &["answered already", "Ada"],
    );
    world
        .backstop(&["gate", "approve", "g1", "--digest", "md5:1"])
        .with(2)
        .telling(&["md5:1"]);
}

#[test]
fn a_runner_that_waits_takes_the_first_answer_through_its_door() {
    let world = World::new();
    let runner = world.start(&exec_run(AGENT, "true", &["--wait"]));
    world.until("the gate", || runner.told().contains("ship gate g1 opened"));
    // A second runner has no business here.
    world.backstop(&["resume"]).with(6).telling(&[&world.id()]);
    let stale = format!("git-tree:{}", "1".repeat(40));
    world
        .backstop(&["gate", "approve", "g1", "--digest", &stale])
        .with(6)
        .telling(&[&stale]);
    world
        .backstop(&["gate", "approve", "g1", "--by", "Ada"])
        .with(0)
        .telling(&["taken"]);
    runner.end().with(0).telling(&["shipped"]);
    world
        .backstop(&["gate", "approve", "g1"])
        .with(6)
        .telling(&["Ada chose approve"]);
}

#[test]
fn an_answer_finds_the_runner_from_any_environment() {
    let world = World::new();
    let long = world.path(&"deep/".repeat(20)).display().to_string();
    let mut command = world.command(&exec_run(AGENT, "true", &["--wait"]));
    command.env("XDG_RUNTIME_DIR", &long);
    let runner = world.begin(command);
    world.until("the gate", || runner.told().contains("ship gate g1 opened"));
    let mut answer = world.command(&["gate", "approve"]);
    answer.env_remove("XDG_RUNTIME_DIR").env("TMPDIR", &long);
    world.begin(answer).end().with(0).telling(&["taken"]);
    runner.end().with(0);
}

#[test]
fn a_gate_that_nobody_answers_parks_and_a_later_answer_counts() {
    let world = World::new();
    world.write("backstop.toml", "[gate]\nexpiry = \"1s\"\n");
    world.commit("be quick");
    let ran = world
        .backstop(&exec_run(AGENT, "true", &["--wait"]))
        .with(4);
    ran.telling(&["nobody answered in time", "backstop gate approve g1"]);
    assert_eq!(
        world.facts().last().map(String::as_str),
        Some("gate_expired")
    );
    world
        .backstop(&["gate", "list"])
        .with(0)
        .telling(&["g1", "ship"]);
    world
        .backstop(&["gate", "approve", "g1"])
        .with(0)
        .telling(&["shipped"]);
}

/// An agent that tries every way it has to answer, then goes on trying when it is over.
const LIAR: &str = r#"
cat >/dev/null
echo 1 >work
try() { "$@" >>"$E2E_SIDE/tried" 2>&1; echo "status $?" >>"$E2E_SIDE/tried"; }
answer="$BACKSTOP_BIN gate approve g1 --mission $BACKSTOP_MISSION --record-only"
bare="env -i PATH=$PATH HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR"
cd "$E2E_REPO"
try $answer
try setsid -w $answer
try $bare $answer
try $bare setsid -w $answer
try $bare BACKSTOP_MISSION= $answer
try $BACKSTOP_BIN stop $BACKSTOP_MISSION
# A daemon in a session of its own, without the marker, whose parents are gone.
cat >"$E2E_SIDE/daemon.sh" <<'END'
echo $$ >"$1/daemon.pid"
cd "$2"
while :; do
    "$3" gate approve g1 --record-only >>"$1/daemon.log" 2>&1 && touch "$1/daemon.won"
    sleep 0.05
done
END
(setsid $bare sh -c "setsid sh $E2E_SIDE/daemon.sh $E2E_SIDE $E2E_REPO $BACKSTOP_BIN </dev/null >/dev/null 2>&1 &" &)
while ! test -s "$E2E_SIDE/daemon.pid"; do sleep 0.02; done
"#;

fn liar() -> (World, String) {
    let world = World::new();
    let repo = world.repo().display().to_string();
    let agent = LIAR
        .replace("$BACKSTOP_BIN", BACKSTOP)
        .replace("$E2E_REPO", &repo);
    let path = world.leave("agent.sh", &agent);
    (world, format!("sh {path}"))
}

#[test]
fn an_agent_cannot_answer_its_own_gate() {
    let (world, agent) = liar();
    world.backstop(&exec_run(&agent, "true", &[])).with(3);
    let tried = world.seen("tried");
    assert_eq!(
        tried.matches("must come from a person").count(),
        6,
        "{tried}"
    );
    assert_eq!(tried.matches("status 6").count(), 6, "{tried}");
    world.nothing_runs();
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(
        !world.side("daemon.won").exists(),
        "{}",
        world.seen("daemon.log")
    );
    assert!(!world.facts().contains(&"answered".to_owned()));
}

#[test]
fn what_an_agent_left_behind_cannot_answer_a_runner_that_waits() {
    let (world, agent) = liar();
    let runner = world.start(&exec_run(&agent, "true", &["--wait"]));
    world.until("the gate", || runner.told().contains("ship gate g1 opened"));
    let pid = world.seen("daemon.pid");
    let daemon = format!("/proc/{}", pid.trim());
    assert!(
        !std::path::Path::new(&daemon).exists(),
        "{}",
        world.seen("daemon.log")
    );
    world
        .backstop(&["gate", "approve", "g1", "--by", "Ada"])
        .with(0);
    runner.end().with(0);
    assert!(!world.side("daemon.won").exists());
}
