//! Many missions at once: in one repository while its operator works there too, and waiting together for one account.
//!
//! The figures are small here; `BACKSTOP_MANY=16x20` (missions and rounds) and `BACKSTOP_WAITING=200` make them large. What is
//! measured is printed, and decides nothing.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use backstop_engine::{Fact, GateKind, Position};
use backstop_runner::history::{self, History};
use serde_json::{Value, json};

use crate::slots::world;
use crate::support::{Started, World, exec_run};

/// Far longer than any of so many missions takes.
fn until(many: usize, what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    let patience = Duration::from_secs(120 + 15 * u64::try_from(many).unwrap());
    while !holds() {
        assert!(begun.elapsed() < patience, "never came: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A variable of whoever runs this, else `small`.
fn figures(name: &str, small: &str) -> Vec<usize> {
    let asked = std::env::var(name).unwrap_or_else(|_| small.into());
    asked
        .split('x')
        .map(|figure| figure.parse().unwrap())
        .collect()
}

/// Every mission with its id.
fn histories(world: &World) -> Vec<(String, PathBuf, History)> {
    let read = |dir: PathBuf| {
        let id = dir.file_name().unwrap().to_string_lossy().into_owned();
        let history = history::read(&dir.join("journal.jsonl")).unwrap();
        (id, dir, history)
    };
    world.missions().into_iter().map(read).collect()
}

fn all_end(mut started: Vec<Started>, code: i32) {
    let many = started.len();
    until(many, "all ends", || {
        started.iter_mut().all(Started::has_ended)
    });
    for one in started {
        one.end().with(code);
    }
}

/// The operator commits and collects garbage until they are told to stop, and notes what went wrong.
const OPERATOR: &str = r#"
while ! test -e "$E2E_SIDE/stop"; do
    echo x >>noise
    if git add noise && git commit --quiet --message noise; then echo x >>"$E2E_SIDE/commits"; else echo commit >>"$E2E_SIDE/wrong"; fi
    git gc --quiet || echo gc >>"$E2E_SIDE/wrong"
    sleep 0.05
done 2>>"$E2E_SIDE/words"
"#;

/// One round: all missions at once, to their gates, and all approvals at once.
fn round(world: &World, many: usize, number: usize) {
    let before = histories(world).len();
    let works: Vec<(String, String)> = (0..many)
        .map(|n| {
            let name = format!("work-{number}-{n}");
            let agent = format!("cat >/dev/null; echo {name} >{name}; git add {name}; git commit --quiet -m one; echo more >>{name}");
            (name, agent)
        })
        .collect();
    let start = |(_, agent): &(String, String)| world.start(&exec_run(agent, "true", &[]));
    all_end(works.iter().map(start).collect(), 3);
    let all = histories(world);
    for (id, _, one) in &all {
        if let Some(gate) = one.mission.gate() {
            let told = one.steps.iter().filter_map(|step| {
                let Fact::AttemptEnded(ended) = &step.fact else {
                    return None;
                };
                Some(ended.words.to_string())
            });
            let told: Vec<String> = told.collect();
            assert_eq!(gate.kind, GateKind::Ship, "{id}: {told:?}");
        }
    }
    assert_eq!(all.len(), before + many);
    let gated = all
        .iter()
        .filter(|(_, _, one)| one.mission.gate().is_some());
    let approve = |id: &String| world.start(&["gate", "approve", "--mission", id]);
    let approvals: Vec<Started> = gated.map(|(id, ..)| approve(id)).collect();
    assert_eq!(approvals.len(), many);
    all_end(approvals, 0);
}

#[test]
fn many_missions_of_one_repository_ship_once_each_while_its_operator_works_there() {
    let [many, rounds] = figures("BACKSTOP_MANY", "8x2")[..] else {
        panic!("BACKSTOP_MANY is like 16x20");
    };
    let world = world(u16::try_from(many).unwrap());
    let before: usize = world.git(&["rev-list", "--count", "main"]).parse().unwrap();
    let operator = world.begin(world.shell(OPERATOR));
    for number in 1..=rounds {
        let begun = Instant::now();
        round(&world, many, number);
        let took = begun.elapsed().as_secs_f64();
        println!("round {number} of {rounds}: {many} missions shipped in {took:.1} s");
    }
    world.leave("stop", "");
    all_end(vec![operator], 0);
    world.nothing_runs();
    assert_eq!(world.seen("wrong"), "", "{}", world.seen("words"));
    let commits = world.seen("commits").lines().count();
    let after: usize = world.git(&["rev-list", "--count", "main"]).parse().unwrap();
    assert_eq!(after - before, commits);
    let sound = world.git(&["fsck", "--full", "--no-dangling"]);
    assert_eq!(sound, "");
    let mut names = Vec::new();
    for (id, _, one) in histories(&world) {
        let shipped = |step: &&history::Step| matches!(step.fact, Fact::Shipped(_));
        assert_eq!(one.steps.iter().filter(shipped).count(), 1, "{id}");
        assert!(matches!(one.mission.position(), Position::Ended(_)), "{id}");
        let branch = format!("backstop/{id}/mission");
        // The agent's own commit, and what the host committed for it.
        let base = one.mission.charter().fields().base.commit.to_string();
        let own = world.git(&["rev-list", "--count", &format!("{base}..{branch}")]);
        assert_eq!(own, "2", "{id}");
        let changed = world.git(&["diff", "--name-only", &base, &branch]);
        let text = world.git(&["show", &format!("{branch}:{changed}")]);
        assert_eq!(text, format!("{changed}\nmore"));
        names.push(changed);
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), many * rounds, "each its own work");
}

#[test]
fn an_id_that_another_mission_has_is_not_given_again() {
    let world = World::new();
    let args = [
        "run",
        "x",
        "--exec-command",
        "true",
        "--no-check",
        "--from",
        "code",
    ];
    world.backstop(&args).with(3);
    let missions = world.dir().parent().unwrap().to_owned();
    // Half of all the ids that this goal can have.
    for taken in 0..0x8000 {
        fs::create_dir_all(missions.join(format!("x-{taken:04x}"))).unwrap();
    }
    for _ in 0..8 {
        let shown = world
            .backstop(&[&args[..], &["--dry-run"]].concat())
            .with(0);
        let charter: Value = serde_json::from_str(&shown.out).unwrap();
        let id = charter["mission"].as_str().unwrap();
        assert!(!missions.join(id).exists(), "{id}");
    }
}

/// The resident memory of a process, and its share of what is shared, in KiB.
fn memory(pid: u32) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    (field("Rss:"), field("Pss:"))
}

fn list(world: &World) -> Vec<Value> {
    let out = world.backstop(&["queue", "list", "--json"]).with(0).out;
    let list: Value = serde_json::from_str(&out).unwrap();
    list["missions"].as_array().unwrap().clone()
}

/// One meets the limit of its account, far away, and is stopped; the others find it and wait.
const LIMITED: &str =
    "[[step]]\nstage = \"code\"\nattempt = 1\ndo = [{ rate_limit = { after = \"10h\" } }]\n";
const WORKS: &str = "[[step]]\ndo = [{ run = \"echo x >>$E2E_SIDE/launches\" }, { write = { path = \"work\", text = \"1\" } }]\n";

#[test]
fn many_missions_wait_together_for_one_account_and_all_wake() {
    let many = figures("BACKSTOP_WAITING", "12")[0];
    let world = world(4);
    let (limited, works) = (
        world.leave("limited.toml", LIMITED),
        world.leave("works.toml", WORKS),
    );
    let more = |script| ["--from", "code", "--script", script, "--check", "true"];
    let first = world.start(&[&["run", "x"][..], &more(&limited)].concat());
    world.until("the limit", || first.told().contains("waiting until"));
    let id = world.id();
    world.backstop(&["stop", &id]).with(0);
    first.end().with(4);
    let begun = Instant::now();
    for n in 0..many {
        let goal = format!("work {n}");
        let args = [&["queue", "add", &goal][..], &more(&works)].concat();
        world.backstop(&args).with(0);
    }
    let added = begun.elapsed().as_secs_f64();
    // One process for each, and the worker; nothing else runs.
    until(many, "all wait", || {
        let list = list(&world);
        let waits = |one: &&Value| !one["limit"].is_null() && !one["driven_by"].is_null();
        list.iter().filter(waits).count() == many && world.processes().len() == many + 1
    });
    assert!(world.launches().is_empty());
    let used: Vec<(u64, u64)> = world
        .processes()
        .iter()
        .map(|(pid, _)| memory(*pid))
        .collect();
    let most = used.iter().map(|(rss, _)| *rss).max().unwrap();
    let share: u64 = used.iter().map(|(_, pss)| *pss).sum();
    println!(
        "{many} waiting missions: added in {added:.1} s, {} processes, at most {most} KiB resident each, {share} KiB together, {} KiB for each mission",
        used.len(),
        share / u64::try_from(many).unwrap()
    );
    assert!(most < 64 << 10, "a mission that waits holds {most} KiB");
    // The provider lifts its limit.
    let accounts = world.missions()[0].join("../../accounts/scripted.json");
    let lifted = json!({ "until": 1, "mission": id });
    fs::write(accounts, lifted.to_string()).unwrap();
    let begun = Instant::now();
    until(many, "all gates", || {
        let at_gate = |(_, _, one): &&(String, PathBuf, History)| one.mission.gate().is_some();
        histories(&world).iter().filter(at_gate).count() == many
    });
    let woken = begun.elapsed().as_secs_f64();
    println!("{many} missions woke and were at their gates after {woken:.1} s");
    assert_eq!(world.launches().len(), many);
    world.nothing_runs();
}
