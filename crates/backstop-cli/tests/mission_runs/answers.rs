//! Who may answer, what an answer must fit, and how it reaches a runner that waits.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use backstop_engine::vocab::{Channel, OperatorName, Signature};
use backstop_engine::{Answer, Fact, GateKind, Verb};

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
# A daemon in a session of its own, without its marker, whose parents are gone.
cat >"$E2E_SIDE/daemon.sh" <<'END'
echo $$ >"$1/daemon.pid"
cd "$2"
while :; do
    "$3" gate approve g1 --record-only >>"$1/daemon.log" 2>&1 && touch "$1/daemon.won"
    sleep 0.05
done
END
(setsid $bare DISGUISE sh -c "setsid sh $E2E_SIDE/daemon.sh $E2E_SIDE $E2E_REPO $BACKSTOP_BIN </dev/null >/dev/null 2>&1 &" &)
while ! test -s "$E2E_SIDE/daemon.pid"; do sleep 0.02; done
"#;

/// What a daemon has in its environment: nothing, or a marker that is not its own.
const DISGUISES: [&str; 2] = ["", "BACKSTOP_MISSION=another BACKSTOP_LANE=9-coding"];

fn liar(disguise: &str) -> (World, String) {
    let world = World::new();
    let repo = world.repo().display().to_string();
    let agent = LIAR
        .replace("DISGUISE", disguise)
        .replace("$BACKSTOP_BIN", BACKSTOP)
        .replace("$E2E_REPO", &repo);
    let path = world.leave("agent.sh", &agent);
    (world, format!("sh {path}"))
}

#[test]
fn an_agent_cannot_answer_its_own_gate() {
    for disguise in DISGUISES {
        let (world, agent) = liar(disguise);
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
}

#[test]
fn what_an_agent_left_behind_cannot_answer_a_runner_that_waits() {
    for disguise in DISGUISES {
        let (world, agent) = liar(disguise);
        let runner = world.start(&exec_run(&agent, "true", &["--wait"]));
        world.until("the gate", || runner.told().contains("ship gate g1 opened"));
        let pid = world.seen("daemon.pid");
        let daemon = format!("/proc/{}", pid.trim());
        assert!(
            !Path::new(&daemon).exists(),
            "{disguise}: {}",
            world.seen("daemon.log")
        );
        world
            .backstop(&["gate", "approve", "g1", "--by", "Ada"])
            .with(0);
        runner.end().with(0);
        assert!(!world.side("daemon.won").exists());
    }
}

/// What goes to a door without asking itself whether it may: this very program, in the hands of others.
#[test]
#[ignore = "other tests start it"]
fn knocks() {
    let Some(door) = std::env::var_os("E2E_DOOR") else {
        return;
    };
    let mut stream = UnixStream::connect(door).unwrap();
    let request = std::fs::read(std::env::var_os("E2E_REQUEST").unwrap()).unwrap();
    stream.write_all(&request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    std::fs::write(std::env::var_os("E2E_ANSWER").unwrap(), answer).unwrap();
}

/// A world whose runner waits at its ship gate, the request that approves it, and a command that brings it to the door and
/// leaves what is answered in `answer`.
fn knocker(world: &World, answer: &str) -> Vec<String> {
    let gate = world.gate();
    let approval = Fact::Answered(Answer {
        gate: gate.id,
        digest: gate.digest,
        verb: Verb::Approve,
        accounts: Vec::new(),
        note: None,
        by: Signature {
            name: OperatorName::clip("Mallory"),
            channel: Channel::Cli,
        },
    });
    let request = format!("{}\n", serde_json::to_string(&approval).unwrap());
    let request = world.leave("request", &request);
    let door = std::fs::read_to_string(world.dir().join("door")).unwrap();
    let own = std::env::current_exe().unwrap().display().to_string();
    let answer = world.side(answer).display().to_string();
    let set = [
        format!("E2E_DOOR={door}"),
        format!("E2E_REQUEST={request}"),
        format!("E2E_ANSWER={answer}"),
    ];
    let rest = [
        own,
        "--exact".into(),
        "answers::knocks".into(),
        "--ignored".into(),
    ];
    ["env".to_owned(), "-i".to_owned()]
        .into_iter()
        .chain(set)
        .chain(rest)
        .collect()
}

/// An agent whose orphan, without marker and in a session of its own, tries to answer another mission's gate; it waits for
/// that, so that the orphan may live meanwhile.
const NEIGHBOUR: &str = r#"
cat >/dev/null
echo 1 >work
cat >"$E2E_SIDE/orphan.sh" <<'END'
parent() { cut -d' ' -f4 /proc/$$/stat; }
until test "$(readlink /proc/$(parent)/exe)" = "$BACKSTOP_BIN"; do sleep 0.02; done
cd OTHER/repo
"$BACKSTOP_BIN" gate approve g1 --by Mallory >>"$1/tried" 2>&1
echo "status $?" >>"$1/tried"
KNOCK >/dev/null 2>&1
: >"$1/done"
END
(env -i PATH="$PATH" HOME=OTHER/home XDG_STATE_HOME=OTHER/state XDG_RUNTIME_DIR=OTHER/run \
    BACKSTOP_BIN=BINARY setsid sh "$E2E_SIDE/orphan.sh" "$E2E_SIDE" </dev/null >/dev/null 2>&1 &)
while ! test -e "$E2E_SIDE/done"; do sleep 0.02; done
"#;

#[test]
fn an_orphan_of_one_missions_lane_cannot_answer_another_missions_gate() {
    let (world, other) = (World::new(), World::new());
    let mut waiting = other.start(&exec_run(AGENT, "true", &["--wait"]));
    other.until("the gate", || {
        waiting.told().contains("ship gate g1 opened")
    });
    let agent = NEIGHBOUR
        .replace("OTHER", &other.path("").display().to_string())
        .replace("BINARY", BACKSTOP)
        .replace("KNOCK", &knocker(&other, "refused").join(" "));
    let agent = format!("sh {}", world.leave("agent.sh", &agent));
    world.backstop(&exec_run(&agent, "true", &[])).with(3);
    let tried = world.seen("tried");
    assert!(tried.contains("must come from a person"), "{tried}");
    assert!(tried.ends_with("status 6\n"), "{tried}");
    let refused = other.seen("refused");
    assert!(refused.contains("must come from a person"), "{refused}");
    assert!(!waiting.has_ended());
    assert!(!other.facts().contains(&"answered".to_owned()));
    // The same request, from someone whom no runner started.
    let knock = knocker(&other, "taken");
    let mut command = Command::new(&knock[0]);
    let knocked = command.args(&knock[1..]).stdout(Stdio::null()).status();
    assert!(knocked.unwrap().success());
    assert_eq!(other.seen("taken"), "\"ok\"\n");
    waiting.end().with(0).telling(&["shipped"]);
}

#[test]
fn a_script_of_an_operator_may_answer_after_a_run() {
    let world = World::new();
    let script = format!(
        "{BACKSTOP} run work --from code --agent exec --exec-command '{AGENT}' --check true; {BACKSTOP} gate approve"
    );
    world
        .begin(world.shell(&script))
        .end()
        .with(0)
        .telling(&["shipped"]);
}

#[test]
fn a_shell_that_becomes_the_runner_keeps_what_it_started() {
    let world = World::new();
    let note = world.side("job").display().to_string();
    let script = format!(
        "sleep 3600 & echo $! >{note}; exec {BACKSTOP} run work --from code --agent exec --exec-command '{AGENT}' --check true"
    );
    world.begin(world.shell(&script)).end().with(3);
    let job = format!("/proc/{}", world.seen("job").trim());
    assert!(Path::new(&job).exists());
}

#[test]
fn a_runner_that_was_left_behind_is_no_lanes_though_its_launcher_is_still_there() {
    let world = World::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    // The launcher ends when it has said its words, and with a full pipe nobody lets it.
    let filling = std::thread::spawn(move || filler.write_all(&vec![0; 1 << 20]));
    let mut launcher = world.command(&exec_run(AGENT, "true", &["--detach"]));
    let mut launcher = launcher
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let told = || {
        let log = world.missions().pop().map(|dir| dir.join("runner.log"));
        log.and_then(|log| std::fs::read_to_string(log).ok())
            .unwrap_or_default()
    };
    world.until("the gate", || told().contains("ship gate g1 opened"));
    assert_eq!(launcher.try_wait().unwrap(), None);
    drop(reader);
    assert!(filling.join().unwrap().is_err());
    launcher.wait().unwrap();
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .telling(&["taken"]);
    world.nothing_runs();
}
