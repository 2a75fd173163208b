//! The queue: what stands in it is worked on in order, in the background, and nothing of it is lost with its worker.

use std::path::PathBuf;

use backstop_engine::Position;
use backstop_runner::history::{self, History};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::slots::{holding, shorten_limits, world};
use crate::support::{Said, World, exec_run};

/// Puts a mission into the queue whose agent is at work until it is let go; its id.
fn add(world: &World, name: &str) -> String {
    let agent = holding(name);
    added(world, name, &["--exec-command", &agent, "--check", "true"])
}

fn added(world: &World, goal: &str, more: &[&str]) -> String {
    let args = [&["queue", "add", goal, "--from", "code"], more].concat();
    let said = world.backstop(&args).with(0);
    let id = said.out.split_whitespace().next().unwrap();
    assert!(id.starts_with(goal), "{}", said.out);
    id.to_owned()
}

fn list(world: &World) -> Value {
    let json = world.backstop(&["queue", "list", "--json"]).with(0).out;
    serde_json::from_str(&json).unwrap()
}

/// The goals in the queue, in order, with their states.
fn states(world: &World) -> Vec<(String, String)> {
    let list = list(world);
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let missions = list["missions"].as_array().unwrap().iter();
    missions
        .map(|one| (text(one, "goal"), text(one, "state")))
        .collect()
}

fn dir_of(world: &World, id: &str) -> PathBuf {
    let mut dirs = world.missions().into_iter();
    dirs.find(|dir| dir.ends_with(id)).unwrap()
}

fn history_of(world: &World, id: &str) -> History {
    history::read(&dir_of(world, id).join("journal.jsonl")).unwrap()
}

fn is_at_gate(world: &World, id: &str) -> bool {
    history_of(world, id).mission.gate().is_some()
}

fn kill(pid: &Value) {
    let pid = i32::try_from(pid.as_i64().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// The worker, and whoever drives a mission.
fn kill_all(world: &World) {
    let list = list(world);
    kill(&list["worker"]);
    for one in list["missions"].as_array().unwrap() {
        if !one["driven_by"].is_null() {
            kill(&one["driven_by"]);
        }
    }
    world.until("the end of the worker", || {
        crate::queues::list(world)["worker"].is_null()
    });
}

#[test]
fn the_queue_is_worked_on_in_order_and_left_at_gates() {
    let world = world(1);
    // Their order is not that of their names.
    let ids = ["b", "c", "a"].map(|name| add(&world, name));
    world.until_left("at-b");
    let expected = [("b", "working"), ("c", "queued"), ("a", "queued")];
    world.until("all but the first wait", || {
        states(&world) == expected.map(|(goal, state)| (goal.to_owned(), state.to_owned()))
    });
    let said = world.backstop(&["queue", "list"]).with(0);
    said.telling(&[
        &format!("  1  {}  ", ids[0]),
        "; driven by process ",
        &format!("  3  {}  in the queue; nothing of it has run", ids[2]),
        "works on the queue, at most 1 at once",
    ]);
    let status = world.backstop(&["status", &ids[2]]).with(0);
    status.telling(&["in the queue; nothing of it has run"]);
    // Who names none means one that has begun.
    world.backstop(&["logs"]).with(0).holding(&[&ids[0]]);
    for name in ["a", "c", "b"] {
        world.leave(&format!("go-{name}"), "");
    }
    world.until("all gates", || ids.iter().all(|id| is_at_gate(&world, id)));
    world.nothing_runs();
    assert_eq!(world.launches(), ["b", "c", "a"]);
    let said = world.backstop(&["queue", "list"]).with(0);
    said.telling(&[&format!(
        "needs you: backstop gate show g1 --mission {}",
        ids[0]
    )]);
    for id in &ids {
        let approved = world.backstop(&["gate", "approve", "--mission", id]);
        approved.with(0).telling(&["shipped"]);
    }
    world
        .backstop(&["queue", "list"])
        .with(0)
        .telling(&["the queue is empty"]);
    world
        .backstop(&["queue", "start"])
        .with(0)
        .telling(&["nothing in the queue is to be worked on"]);
}

#[test]
fn nothing_is_lost_with_the_worker() {
    let world = world(1);
    let ids = ["a", "b"].map(|name| add(&world, name));
    world.until_left("at-a");
    kill_all(&world);
    let said = world.backstop(&["queue", "list"]).with(0);
    said.telling(&[
        "NOBODY works on the queue",
        "backstop queue start",
        "at work: code; no process drives it",
        &format!("  2  {}", ids[1]),
    ]);
    // One that has begun is not taken out, though nobody drives it.
    let parts = ["has begun"];
    refused(world.backstop(&["queue", "remove", &ids[0]]), &parts);
    let status = world.backstop(&["status", &ids[1]]).with(0);
    status.telling(&[
        "NEEDS YOU nobody works on the queue",
        "backstop queue start",
    ]);
    world.leave("go-a", "");
    world.leave("go-b", "");
    world.leave("go-c", "");
    // Whoever adds one more leaves a worker behind for all.
    let third = add(&world, "c");
    world.until("all gates", || {
        ids.iter().chain([&third]).all(|id| is_at_gate(&world, id))
    });
    world.nothing_runs();
    let mut launches = world.launches();
    launches.dedup();
    assert_eq!(launches, ["a", "b", "c"]);
}

#[test]
fn a_queue_that_stands_still_is_started_and_a_crash_hurts_one_mission() {
    let world = world(1);
    let ids = ["a", "b"].map(|name| add(&world, name));
    world.until_left("at-a");
    // The process that drives the first one dies; the worker goes on with it, and then with the second.
    kill(&list(&world)["missions"][0]["driven_by"]);
    world.until("it is taken up", || world.launches() == ["a", "a"]);
    kill_all(&world);
    world.leave("go-a", "");
    world.leave("go-b", "");
    world
        .backstop(&["queue", "start"])
        .with(0)
        .telling(&["A worker is left behind"]);
    world.until("all gates", || ids.iter().all(|id| is_at_gate(&world, id)));
    world.nothing_runs();
}

#[track_caller]
fn refused(said: Said, parts: &[&str]) {
    said.with(6).telling(parts);
}

#[test]
fn what_has_not_begun_is_removed_and_what_has_is_stopped() {
    let world = world(1);
    let [first, second, third] = ["a", "b", "c"].map(|name| add(&world, name));
    world.until_left("at-a");
    let parts = ["has begun", &format!("backstop stop {first}")];
    refused(world.backstop(&["queue", "remove", &first]), &parts);
    let parts = [
        "stands in the queue",
        &format!("backstop queue remove {second}"),
    ];
    refused(world.backstop(&["clean", &second]), &parts);
    let removed = world.backstop(&["queue", "remove", &second]).with(0);
    removed.telling(&[
        "is out of the queue:\n  b\n",
        &format!("backstop resume {second}"),
    ]);
    refused(
        world.backstop(&["queue", "remove", &second]),
        &["does not stand in the queue"],
    );
    let stopped = world.backstop(&["stop", &third]).with(0);
    stopped.telling(&[
        "It is out of the queue.",
        &format!("backstop resume {third}"),
    ]);
    for id in [&second, &third] {
        let parked = history_of(&world, id).mission;
        assert!(matches!(parked.position(), Position::Parked(..)), "{id}");
    }
    let stopped = world.backstop(&["stop", &first]).with(0);
    stopped.telling(&["It is out of the queue."]);
    assert!(states(&world).is_empty());
    world.nothing_runs();
    // Nothing of it has run, so its record may go; the first has work on record.
    world.backstop(&["clean", &second, "--journal"]).with(0);
    assert_eq!(world.missions().len(), 2);
    refused(
        world.backstop(&["clean", &first, "--journal"]),
        &["can go on"],
    );
    world.leave("go-c", "");
    world.backstop(&["resume", &third]).with(3);
    assert_eq!(world.launches(), ["a", "c"]);
}

#[test]
fn the_base_of_a_mission_in_the_queue_outlives_the_branch_it_was_on() {
    let world = world(1);
    let first = add(&world, "a");
    world.until_left("at-a");
    world.write("README", "another project\n");
    let base = world.commit("to be rewritten");
    let second = add(&world, "b");
    world.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.git(&["gc", "--quiet", "--prune=now"]);
    world.leave("go-a", "");
    world.leave("go-b", "");
    world.until("both gates", || {
        [&first, &second].iter().all(|id| is_at_gate(&world, id))
    });
    world.nothing_runs();
    let charter = history_of(&world, &second).mission.charter().clone();
    assert_eq!(charter.fields().base.commit.to_string(), base);
    world
        .backstop(&["gate", "approve", "--mission", &second])
        .with(0);
    let shipped = format!("backstop/{second}/mission");
    assert_eq!(world.git(&["rev-parse", &format!("{shipped}~1")]), base);
}

/// Puts a mission into the queue whose first attempt meets a limit for so long; its id.
fn limited(world: &World, after: &str) -> String {
    shorten_limits(world);
    let launched = r#"{ run = "echo a >>$E2E_SIDE/launches" }"#;
    let first =
        format!("attempt = 1\ndo = [{launched}, {{ rate_limit = {{ after = \"{after}\" }} }}]");
    let later = format!("do = [{launched}, {{ write = {{ path = \"a\", text = \"a\" }} }}]");
    let script = format!("[[step]]\n{first}\n[[step]]\n{later}\n");
    let script = world.leave("play.toml", &script);
    added(world, "a", &["--script", &script, "--check", "true"])
}

#[test]
fn who_waits_for_a_limit_is_driven_beside_as_many_as_may_work() {
    let world = world(1);
    let limited = limited(&world, "1h");
    let other = add(&world, "b");
    world.until_left("at-b");
    let driver = list(&world)["missions"][0]["driven_by"].clone();
    kill(&driver);
    world.until("somebody drives it", || {
        let now = list(&world)["missions"][0]["driven_by"].clone();
        !now.is_null() && now != driver
    });
    assert!(!is_at_gate(&world, &other));
    world.backstop(&["stop", &limited]).with(0);
    world.leave("go-b", "");
    world.until("the gate", || is_at_gate(&world, &other));
    world.nothing_runs();
}

#[test]
fn who_waits_for_a_limit_does_not_hold_up_the_queue() {
    let world = world(1);
    let limited = limited(&world, "4s");
    world.leave("go-b", "");
    let other = add(&world, "b");
    world.until("both gates", || {
        [&limited, &other].iter().all(|id| is_at_gate(&world, id))
    });
    assert_eq!(world.launches(), ["a", "b", "a"]);
    world.nothing_runs();
}

#[test]
fn no_more_missions_work_at_once_than_the_operator_wants() {
    let world = world(2);
    // The first two wait for each other, so that two do work at once.
    let agent = "cat >/dev/null; echo + >>\"$E2E_SIDE/marks\"; while test \"$(grep -c + \"$E2E_SIDE/marks\")\" -lt 2; do sleep 0.02; done; sleep 0.05; echo 1 >work; echo - >>\"$E2E_SIDE/marks\"";
    let ids: Vec<String> = ["a", "b", "c", "d", "e", "f"]
        .into_iter()
        .map(|goal| added(&world, goal, &["--exec-command", agent, "--check", "true"]))
        .collect();
    world.until("all gates", || ids.iter().all(|id| is_at_gate(&world, id)));
    world.nothing_runs();
    let (mut now, mut most) = (0, 0);
    for mark in world.seen("marks").lines() {
        now += if mark == "+" { 1 } else { -1 };
        most = most.max(now);
    }
    assert_eq!((now, most), (0, 2), "{}", world.seen("marks"));
}

#[test]
fn what_cannot_be_opened_is_refused_when_it_is_added() {
    let world = world(1);
    let said = world.backstop(&[
        "queue",
        "add",
        "x",
        "--agent",
        "exec",
        "--exec-command",
        "true",
    ]);
    said.with(2).telling(&["no command would check this work"]);
    world.write("backstop.toml", "[run]\nparallel = 0\n");
    let said = world.backstop(&["queue", "add", "x", "--exec-command", "true", "--no-check"]);
    said.with(2)
        .telling(&["backstop.toml:2:12", "from 1 to 64"]);
    assert!(world.missions().is_empty());
    world.nothing_runs();
}

/// How often the worker has started a process for a mission.
fn driven(world: &World, id: &str) -> usize {
    let log = world.missions()[0].join("../../queue.log");
    let log = std::fs::read_to_string(log).unwrap();
    let ours = |line: &&str| line.starts_with(id) && line.ends_with("drives it");
    log.lines().filter(ours).count()
}

#[test]
fn a_mission_that_nothing_comes_of_is_started_once() {
    let world = world(1);
    let [first, second] = ["a", "b"].map(|name| add(&world, name));
    world.until_left("at-a");
    let blobs = dir_of(&world, &second).join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::write(&blobs, "no folder").unwrap();
    world.leave("go-a", "");
    world.leave("go-b", "");
    world.until("the gate", || is_at_gate(&world, &first));
    world.until("the end of the worker", || list(&world)["worker"].is_null());
    assert_eq!(driven(&world, &second), 1);
    std::fs::remove_file(&blobs).unwrap();
    std::fs::create_dir(&blobs).unwrap();
    world.backstop(&["queue", "start"]).with(0);
    world.until("the gate", || is_at_gate(&world, &second));
    world.nothing_runs();
}

#[test]
fn what_somebody_else_drives_is_left_to_them() {
    let world = world(1);
    let ids = ["a", "b"].map(|name| add(&world, name));
    world.until_left("at-a");
    kill(&list(&world)["worker"]);
    world.until("the end of the worker", || list(&world)["worker"].is_null());
    let said = world.backstop(&["queue", "list"]).with(0);
    said.telling(&["NOBODY works on the queue"]);
    world.backstop(&["queue", "start"]).with(0);
    world.until("the worker", || !list(&world)["worker"].is_null());
    world.write("backstop.toml", "[run]\nparalel = 1\n");
    let said = world.backstop(&["queue", "list"]).with(0);
    said.telling(&["the configuration is wrong", "did you mean `parallel`"]);
    world.git(&["checkout", "--quiet", "backstop.toml"]);
    world.leave("go-a", "");
    world.leave("go-b", "");
    world.until("both gates", || ids.iter().all(|id| is_at_gate(&world, id)));
    world.nothing_runs();
    assert_eq!(ids.map(|id| driven(&world, &id)), [1, 1]);
}

#[test]
fn what_does_not_stand_in_the_queue_is_not_driven_by_it() {
    let world = world(1);
    let agent = holding("a");
    let mut runner = world.start(&exec_run(&agent, "true", &[]));
    world.until_left("at-a");
    runner.kill();
    let id = world.id();
    world.backstop(&["queue", "drive", &id]).with(0);
    assert_eq!(world.launches(), ["a"]);
    world.leave("go-a", "");
    world.backstop(&["resume", &id]).with(3);
}
