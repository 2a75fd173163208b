//! A runner that is killed, wherever it is: after `resume` the end is that of a run without a crash, nothing that had
//! ended runs again, and nothing of a lane is left. And journals that were damaged, or torn.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use backstop_engine::GateKind;
use backstop_engine::mode::Account;

use crate::support::{Started, World, exec_run};

/// Marks each launch and each check, and holds where the test asks for it; what is held goes on for ever.
const POINT: &str = r#"
point=$1
echo "$point $BACKSTOP_ATTEMPT" >>"$E2E_SIDE/launches"
if test -e "$E2E_SIDE/hold-$point"; then
    rm "$E2E_SIDE/hold-$point"
    touch "$E2E_SIDE/at-$point"
    exec sleep 1000
fi
"#;

/// The base has no answer, the first work a wrong one, the repair the right one.
const CHECK: &str = r#"
case $(cat answer 2>/dev/null) in 41) at=validate-1;; 42) at=validate-2;; *) at=preflight;; esac
sh "$E2E_SIDE/point.sh" "$at"
test "$(cat answer)" = 42
"#;

const SCRIPT: &str = r#"
[[step]]
stage = "define"
do = [{ run = "sh $E2E_SIDE/point.sh define" }, { say = "findings" }]

[[step]]
stage = "plan"
do = [{ run = "sh $E2E_SIDE/point.sh plan" }, { say = "an outline" }]

[[step]]
stage = "code"
visit = 1
do = [
  { write = { path = "answer", text = "41" } },
  { run = "sh $E2E_SIDE/point.sh code-1" },
  { write = { path = "notes/one", text = "one" } },
]

[[step]]
stage = "code"
visit = 2
do = [
  { write = { path = "answer", text = "42" } },
  { run = "sh $E2E_SIDE/point.sh code-2" },
  { run = "git add --all && git commit --quiet --message repaired" },
]
"#;

const STORY: [&str; 7] = [
    "preflight",
    "define",
    "plan",
    "code-1",
    "validate-1",
    "code-2",
    "validate-2",
];

fn story() -> World {
    let world = World::new();
    world.write("backstop.toml", "[limits]\nstop_grace = \"200ms\"\n");
    world.commit("a short grace");
    world.leave("point.sh", POINT);
    world.leave("check.sh", CHECK);
    world.leave("script.toml", SCRIPT);
    world
}

fn open(world: &World) -> Started {
    let script = world.side("script.toml").display().to_string();
    world.start(&[
        "run",
        "find the answer",
        "--script",
        &script,
        "--check",
        "sh $E2E_SIDE/check.sh",
    ])
}

/// What must not depend on crashes: the tree, and every account but for faults and what cut attempts spent.
fn outcome(world: &World) -> (String, Vec<(Account, u64)>) {
    let mission = world.mission();
    let counted = |account: &Account| {
        !matches!(
            account,
            Account::Infra | Account::InfraTotal | Account::ActiveTime
        )
    };
    let meter = Account::ALL.into_iter().filter(counted);
    let meter = meter
        .map(|account| (account, mission.meter().total(account)))
        .collect();
    (mission.lane().head.tree.to_string(), meter)
}

/// The end of a run without a crash. The tree is the same in every repository with the same files.
fn uncrashed() -> (String, Vec<(Account, u64)>) {
    static END: std::sync::OnceLock<(String, Vec<(Account, u64)>)> = std::sync::OnceLock::new();
    END.get_or_init(|| {
        let world = story();
        open(&world).end().with(3);
        let points: Vec<String> = world
            .launches()
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        assert_eq!(points, STORY);
        outcome(&world)
    })
    .clone()
}

/// Resumed to the ship gate, it is as if nothing had happened.
#[track_caller]
fn as_if_nothing_happened(world: &World) {
    world.backstop(&["resume"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert_eq!(outcome(world), uncrashed());
    let facts = world.facts();
    let count = |fact: &str| facts.iter().filter(|other| *other == fact).count();
    assert_eq!(
        (count("checks_ran"), count("landed"), count("preflight_ran")),
        (2, 1, 1),
        "{facts:?}"
    );
    // An attempt that was cut has a successor with the next number; none is launched twice.
    let attempts: Vec<String> = world
        .launches()
        .into_iter()
        .filter(|line| !line.ends_with(" 0"))
        .collect();
    let different: BTreeSet<&String> = attempts.iter().collect();
    assert_eq!(attempts.len(), different.len(), "{attempts:?}");
    world.nothing_runs();
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .telling(&["shipped"]);
    world.nothing_runs();
}

#[test]
fn a_runner_that_is_killed_at_any_stage_is_taken_up_where_it_was() {
    for point in STORY {
        let world = story();
        world.leave(&format!("hold-{point}"), "");
        let mut runner = open(&world);
        world.until_left(&format!("at-{point}"));
        runner.kill();
        as_if_nothing_happened(&world);
    }
}

/// The moments are spread over the run by the number of records and a share of the time that the next one takes.
#[test]
fn a_runner_that_is_killed_at_ten_moments_of_one_run_loses_nothing() {
    let world = story();
    let mut runner = open(&world);
    let mut kills = 0;
    let mut seed = 0x2545_f491_u64;
    while kills < 10 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let records = world.facts_of_all().len() + usize::try_from(seed % 3).unwrap();
        let spins = (seed >> 8) % 40;
        world.until("the moment", || {
            world.facts_of_all().len() >= records || runner.has_ended()
        });
        for _ in 0..spins {
            // Not a wait for anything: it moves the moment within the step.
            std::hint::black_box(world.facts_of_all());
        }
        if runner.has_ended() {
            break;
        }
        runner.kill();
        kills += 1;
        runner = world.start(&["resume"]);
    }
    assert!(kills >= 5, "only {kills} moments");
    drop(runner.end());
    let faults = world.used(Account::InfraTotal);
    assert!(faults <= 10, "{faults}");
    if world.gate().kind != GateKind::Ship {
        // Five faults in a row ask a person, as they should.
        world.backstop(&["gate", "grant"]).with(3);
    }
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert_eq!(outcome(&world).0, uncrashed().0);
    world.nothing_runs();
    world.backstop(&["gate", "approve"]).with(0);
}

#[test]
fn single_kills_at_pseudo_random_moments_change_nothing() {
    let mut seed = 0x9e37_79b9_u64;
    for _ in 0..10 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let (records, spins) = (usize::try_from(seed % 17).unwrap() + 1, (seed >> 8) % 60);
        let world = story();
        let mut runner = open(&world);
        world.until("the moment", || {
            world.facts_of_all().len() >= records || runner.has_ended()
        });
        for _ in 0..spins {
            std::hint::black_box(world.facts_of_all());
        }
        runner.kill();
        as_if_nothing_happened(&world);
    }
}

#[test]
fn a_runner_that_is_killed_while_it_waits_goes_on_waiting() {
    let world = World::new();
    world.write("backstop.toml", "[limits]\nshortest_limit_wait = \"1s\"\n");
    world.commit("a short limit");
    let script = world.leave(
        "script.toml",
        "[[step]]\nattempt = 1\ndo = [{ session = \"s1\" }, { run = \"echo x >>$E2E_SIDE/launches\" }, { rate_limit = { after = \"3s\" } }]\n[[step]]\ndo = [{ run = \"echo x >>$E2E_SIDE/launches\" }, { write = { path = \"work\", text = \"1\" } }]\n",
    );
    let mut runner = world.start(&[
        "run", "x", "--from", "code", "--script", &script, "--check", "true",
    ]);
    world.until("the wait", || runner.told().contains("waiting until"));
    runner.kill();
    let facts = world.facts();
    let resumed = world.start(&["resume"]);
    world.until("it is taken up", || world.facts().len() > facts.len());
    assert_eq!(world.facts()[facts.len()], "wait_ended");
    resumed.end().with(3);
    assert_eq!(world.launches().len(), 2);
    assert_eq!(world.used(Account::InfraTotal), 0);
    let waits = world.mission().meter().total(Account::QuotaWaits);
    assert_eq!(waits, 1);
}

#[test]
fn a_runner_that_is_killed_at_a_gate_leaves_the_gate() {
    let world = World::new();
    let run = exec_run("cat >/dev/null; echo 1 >work", "true", &["--wait"]);
    let mut runner = world.start(&run);
    world.until("the gate", || runner.told().contains("ship gate g1 opened"));
    runner.kill();
    let before = world.facts();
    world
        .backstop(&["resume"])
        .with(3)
        .telling(&["ship gate g1"]);
    assert_eq!(world.facts(), before);
    world.backstop(&["gate", "approve", "g1"]).with(0);
}

/// A git that stands still when it is to ship.
const GIT: &str = r#"#!/bin/sh
case "$*" in
*"ship mission"*)
    if test -e "$E2E_SIDE/hold-ship"; then
        rm "$E2E_SIDE/hold-ship"
        test "$(cat "$E2E_SIDE/when")" = after && "$REAL_GIT" "$@"
        touch "$E2E_SIDE/at-ship"
        while ! test -e "$E2E_SIDE/go-ship"; do sleep 0.05; done
        test "$(cat "$E2E_SIDE/when")" = after && exit 0
    fi
    ;;
esac
exec "$REAL_GIT" "$@"
"#;

#[test]
fn a_runner_that_is_killed_while_it_ships_ships_once() {
    for when in ["before", "after"] {
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
        let world = world
            .set("PATH", &format!("{bin}:{path}"))
            .set("REAL_GIT", &real);
        world.leave("when", when);
        world
            .backstop(&exec_run("cat >/dev/null; echo 1 >work", "true", &[]))
            .with(3);
        world.leave("hold-ship", "");
        let mut runner = world.start(&["gate", "approve"]);
        world.until_left("at-ship");
        runner.kill();
        world.backstop(&["resume"]).with(0).telling(&["shipped"]);
        // What the killed runner had under way comes too late.
        world.leave("go-ship", "");
        world.nothing_runs();
        let branch = format!("refs/heads/backstop/{}/mission", world.id());
        let head = world.mission().lane().head.commit.to_string();
        assert_eq!(world.git(&["rev-parse", &branch]), head);
        let answers = world
            .facts()
            .iter()
            .filter(|fact| *fact == "answered")
            .count();
        assert_eq!(answers, 1);
    }
}

#[test]
fn a_journal_that_was_changed_is_refused_with_the_place() {
    let world = World::new();
    world
        .backstop(&exec_run("cat >/dev/null; echo 1 >work", "true", &[]))
        .with(3);
    let whole = std::fs::read(world.journal()).unwrap();
    let starts: Vec<usize> = std::iter::once(0)
        .chain(
            whole
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(at, _)| at + 1),
        )
        .collect();
    for record in [1, 3, starts.len() - 2] {
        let mut bytes = whole.clone();
        bytes[starts[record] + 60] ^= 1;
        std::fs::write(world.journal(), &bytes).unwrap();
        let offset = starts[record].to_string();
        for args in [
            &["resume"][..],
            &["gate", "show"],
            &["gate", "approve", "--mission", &world.id()],
        ] {
            world.backstop(args).with(7).telling(&[
                "journal.jsonl",
                &format!("at byte {offset}"),
                "left as it is",
            ]);
        }
        assert_eq!(
            std::fs::read(world.journal()).unwrap(),
            bytes,
            "nothing was written"
        );
    }
}

#[test]
fn a_torn_tail_is_healed() {
    let world = World::new();
    world
        .backstop(&exec_run("cat >/dev/null; echo 1 >work", "true", &[]))
        .with(3);
    let whole = std::fs::read(world.journal()).unwrap();
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap()
        + 1;
    for cut in [whole.len() - 1, whole.len() - 7, last + 1] {
        std::fs::write(world.journal(), &whole[..cut]).unwrap();
        world.backstop(&["resume"]).with(3);
        world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    }
    // Facts that were cut away are found again: the lane is not worked on twice.
    let facts = world.facts();
    assert_eq!(
        facts
            .iter()
            .filter(|fact| *fact == "attempt_started")
            .count(),
        1,
        "{facts:?}"
    );
    world.backstop(&["gate", "approve"]).with(0);
}
