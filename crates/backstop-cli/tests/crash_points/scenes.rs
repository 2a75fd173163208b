//! What is under way when the kill comes, and how a person goes on after it.

use backstop_engine::{Gate, GateKind, Position};

use crate::laws;
use crate::support::{World, exec_run};
use crate::tracer::{self, Traced};

/// Takes the lane, leaves a process behind that holds it too, and commits.
const AGENT: &str = r#"
exec 9>>"$E2E_SIDE/lane"
flock --nonblock 9 || echo "$*" >>"$E2E_SIDE/second"
echo "$1 $BACKSTOP_ATTEMPT" >>"$E2E_SIDE/launches"
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
mkdir -p log && echo "$1 $2" >"log/$1"
git add --all && git commit --quiet --message "$1"
git rev-parse HEAD >>"$E2E_SIDE/commits"
echo "$2" >answer
if test -e "$E2E_SIDE/hold-$1"; then
    mv "$E2E_SIDE/hold-$1" "$E2E_SIDE/at-$1"
    exec sleep 1000
fi
"#;

const SCRIPT: &str = r#"
[[step]]
stage = "code"
visit = 1
do = [{ session = "s1" }, { run = "sh $E2E_SIDE/agent.sh one 41" }, { say = "done" }]

[[step]]
stage = "code"
visit = 2
do = [{ run = "sh $E2E_SIDE/agent.sh two 42" }, { say = "done" }]
"#;

/// Limited at its first attempt, if that comes so far; the work is the same.
const LIMITED: &str = r#"
[[step]]
stage = "code"
attempt = 1
do = [{ session = "s1" }, { run = "sh $E2E_SIDE/agent.sh one 42" }, { rate_limit = { after = "300ms" } }]

[[step]]
stage = "code"
do = [{ run = "sh $E2E_SIDE/agent.sh one 42" }, { say = "done" }]
"#;

const SETTINGS: &str = "[limits]\nstop_grace = \"100ms\"\nshortest_limit_wait = \"200ms\"\n";

/// One command that is killed, in its world.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    /// A world at the moment before the command.
    pub(crate) build: fn() -> World,
    /// The command.
    pub(crate) command: fn(&World) -> Vec<String>,
    /// What somebody else does while it runs.
    pub(crate) beside: fn(&World),
    /// What a kill may change.
    pub(crate) moves: Moves,
    /// What the world is made of.
    pub(crate) world: Kind,
}

/// Whether the world before the command can be put back as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Files alone.
    Files,
    /// An agent lives in it.
    Alive,
}

/// What the accounts of a run with a kill may differ in from those of one without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// In faults alone.
    Faults,
    /// An attempt that was cut has a cost that nobody told, which is charged at a flat rate.
    Cost,
    /// The attempt that was to be stopped, or to be limited, may have been cut before.
    Attempts,
}

pub(crate) const RUN: Scene = Scene {
    name: "run",
    build: scripted,
    command: |world| scripted_run(world, "script.toml"),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Files,
};

pub(crate) const RUN_EXEC: Scene = Scene {
    name: "run of a command as agent",
    build: scripted,
    command: |_| owned(&exec()),
    beside: |_| {},
    moves: Moves::Cost,
    world: Kind::Files,
};

pub(crate) const LIMIT: Scene = Scene {
    name: "wait for a limit",
    build: scripted,
    command: |world| scripted_run(world, "limited.toml"),
    beside: |_| {},
    moves: Moves::Attempts,
    world: Kind::Files,
};

pub(crate) const PLAN: Scene = Scene {
    name: "run of an approved plan",
    build: || {
        let world = scripted();
        world.leave("plan.json", PLANNED);
        let planner = "cat >/dev/null; cat \"$E2E_SIDE/plan.json\"";
        let propose = ["plan", "propose", "answer", "--exec-command", planner];
        world.backstop(&propose).with(0);
        world.backstop(&["plan", "approve", &plan(&world)]).with(0);
        world
    },
    command: |world| {
        let plan = plan(world);
        let run = ["run", "--plan", &plan, "--from", "code"];
        owned(&[&run[..], &["--exec-command", WORK]].concat())
    },
    beside: |_| {},
    moves: Moves::Cost,
    world: Kind::Files,
};

pub(crate) const RESUME: Scene = Scene {
    name: "resume after a kill",
    build: || killed_in("one"),
    command: |_| owned(&["resume"]),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Alive,
};

pub(crate) const APPROVE: Scene = Scene {
    name: "approval that ships a branch",
    build: || at_ship_gate(&[]),
    command: |_| owned(&["gate", "approve"]),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Files,
};

pub(crate) const MERGE: Scene = Scene {
    name: "approval that merges",
    build: || at_ship_gate(&["--base", "main", "--ship", "merge"]),
    command: |_| owned(&["gate", "approve"]),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Files,
};

pub(crate) const RECORD: Scene = Scene {
    name: "answer that is only recorded",
    build: || at_ship_gate(&[]),
    command: |_| owned(&["gate", "approve", "--record-only"]),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Files,
};

pub(crate) const STOP: Scene = Scene {
    name: "stop of a mission that nobody drives",
    build: || killed_in("one"),
    command: |world| owned(&["stop", &world.id()]),
    beside: |_| {},
    moves: Moves::Faults,
    world: Kind::Alive,
};

pub(crate) const STOPPED: Scene = Scene {
    name: "runner that is stopped",
    build: || {
        let world = scripted();
        world.leave("hold-one", "");
        world
    },
    command: |world| scripted_run(world, "script.toml"),
    beside: |world| {
        world.until("the agent, or the end", || {
            world.side("at-one").exists() || world.side("over").exists()
        });
        if world.side("at-one").exists() {
            // Whether it gets through is the runner's luck.
            let _ = world.backstop(&["stop", &world.id()]);
        }
    },
    moves: Moves::Attempts,
    world: Kind::Files,
};

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

fn scripted() -> World {
    let world = World::new();
    world.write("backstop.toml", SETTINGS);
    world.commit("a short grace");
    // The base can be moved where nobody has it checked out.
    world.git(&["checkout", "--quiet", "-b", "desk"]);
    for (name, text) in [
        ("agent.sh", AGENT),
        ("script.toml", SCRIPT),
        ("limited.toml", LIMITED),
    ] {
        world.leave(name, text);
    }
    world
}

fn plan(world: &World) -> String {
    laws::plans(world)[0]["id"].as_str().unwrap().to_owned()
}

const PLANNED: &str =
    r#"{"phases":[{"kind":"coding","task":"answer","done_when_check":"grep -q 42 answer"}]}"#;

const WORK: &str = "cat >/dev/null; sh \"$E2E_SIDE/agent.sh\" one 42";

const CHECK: &str = "test ! -e answer || grep -q 42 answer";

fn scripted_run(world: &World, script: &str) -> Vec<String> {
    let script = world.side(script).display().to_string();
    owned(&[
        "run", "answer", "--from", "code", "--script", &script, "--check", CHECK,
    ])
}

fn exec<'a>() -> Vec<&'a str> {
    exec_run(WORK, CHECK, &[])
}

fn at_ship_gate(more: &[&str]) -> World {
    let world = scripted();
    let mut args = exec();
    args.extend(more);
    world.backstop(&args).with(3);
    world
}

/// A runner that was killed in the middle of its agent, which goes on for ever.
fn killed_in(point: &str) -> World {
    let world = scripted();
    world.leave(&format!("hold-{point}"), "");
    let args = scripted_run(&world, "script.toml");
    let mut runner = world.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    world.until_left(&format!("at-{point}"));
    runner.kill();
    world
}

/// Goes on as a person would, until the work is shipped. The kills so far.
#[track_caller]
pub(crate) fn go_on(world: &World, scene: &Scene, traced: &Traced, again: Option<usize>) -> usize {
    // What nobody waits for any more does not hold the next agent up.
    let _ = std::fs::remove_file(world.side("hold-one"));
    let mut kills = usize::from(traced.killed);
    if laws::never_opened(world) {
        let args = (scene.command)(world);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        world.backstop(&args).with(3);
    } else if let Some(number) = again.filter(|_| !shipped(world)) {
        kills += usize::from(tracer::run(world, &["resume"], Some(number)).killed);
    }
    let mut resumes = 0;
    while !shipped(world) && (resumes == 0 || !at_the_end(world)) {
        // A stop that was on record is done first, and parks.
        let said = world.backstop(&["resume"]);
        assert!([0, 3, 4].contains(&said.code) && resumes < 2, "{said:?}");
        resumes += 1;
    }
    laws::commits_are_kept(world);
    if !shipped(world) {
        world.backstop(&["gate", "approve"]).with(0);
    }
    kills
}

fn shipped(world: &World) -> bool {
    matches!(world.mission().position(), Position::Ended(_))
}

fn at_the_end(world: &World) -> bool {
    let mission = world.mission();
    mission.gate().map(|gate: &Gate| gate.kind) == Some(GateKind::Ship)
}
