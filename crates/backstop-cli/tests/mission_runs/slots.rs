//! How many missions work at once: whose turn it is, what a wait for a slot costs, and what ends it.

use backstop_engine::mode::Account;
use backstop_engine::{Effect, Fact, GateKind, Position};
use backstop_runner::clock;
use backstop_runner::history::{self, History, Step};
use rustix::process::Signal;

use crate::support::{Started, World, exec_run};

/// A repository in which so many missions may work at once.
pub(crate) fn world(parallel: u16) -> World {
    let world = World::new();
    world.write(
        "backstop.toml",
        &format!("[run]\nparallel = {parallel}\n[limits]\nstop_grace = \"1s\"\n"),
    );
    world.commit("settings");
    world
}

/// An agent that is at work until it is let go by the file of its name.
pub(crate) fn holding(name: &str) -> String {
    format!(
        "cat >/dev/null; echo {name} >>\"$E2E_SIDE/launches\"; touch \"$E2E_SIDE/at-{name}\"; while ! test -e \"$E2E_SIDE/go-{name}\"; do sleep 0.02; done; echo {name} >{name}"
    )
}

/// One that works until it is let go, and one that waits for its slot, as it has said.
fn one_works_and_one_waits(world: &World) -> (Started, Started) {
    let (a, b) = (holding("a"), holding("b"));
    let first = world.start(&exec_run(&a, "true", &[]));
    world.until_left("at-a");
    let second = world.start(&exec_run(&b, "true", &[]));
    world.until("the wait", || second.told().contains("waits for a slot"));
    (first, second)
}

/// The mission whose goal is worked on by the agent of this name.
fn of(world: &World, name: &str) -> (String, History) {
    let mut all = world.missions().into_iter().map(|dir| {
        let id = dir.file_name().unwrap().to_string_lossy().into_owned();
        (id, history::read(&dir.join("journal.jsonl")).unwrap())
    });
    let command = format!("at-{name}");
    all.find(|(_, history)| {
        let fields = history.mission.charter().fields();
        fields.edge.as_str().contains(&command)
    })
    .unwrap()
}

fn spent_nothing(history: &History) {
    for account in Account::ALL {
        assert_eq!(history.mission.meter().total(account), 0, "{account}");
    }
}

#[test]
fn a_mission_that_waits_for_a_slot_says_so_and_spends_nothing() {
    let world = world(1);
    let (first, second) = one_works_and_one_waits(&world);
    let (id, waits) = of(&world, "b");
    assert_eq!(waits.steps.len(), 1, "only the opening");
    spent_nothing(&waits);
    let status = world.backstop(&["status", &id]).with(0);
    status.telling(&[
        "waits     for a slot: as many missions work as `[run] parallel` lets; it is next",
    ]);
    let json = world.backstop(&["status", &id, "--json"]).with(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["slot"]["ahead"], 0);
    assert_eq!(json["state"], "waiting");
    world.leave("go-b", "");
    world.leave("go-a", "");
    first.end().with(3);
    second.end().with(3);
    let (_, done) = of(&world, "b");
    assert_eq!(done.mission.gate().unwrap().kind, GateKind::Ship);
    for account in [Account::Infra, Account::InfraTotal, Account::QuotaWaits] {
        assert_eq!(done.mission.meter().total(account), 0, "{account}");
    }
    assert_eq!(done.mission.meter().total(Account::Attempts), 1);
}

#[test]
fn a_stop_ends_the_wait_for_a_slot_at_once_and_parks() {
    for interrupt in [false, true] {
        let world = world(1);
        let (mut first, second) = one_works_and_one_waits(&world);
        let (id, _) = of(&world, "b");
        if interrupt {
            second.signal(Signal::INT);
            second.end().with(130);
        } else {
            world.backstop(&["stop", &id]).with(0);
            second.end().with(4);
        }
        let (_, parked) = of(&world, "b");
        assert!(matches!(parked.mission.position(), Position::Parked(..)));
        spent_nothing(&parked);
        assert!(!first.has_ended());
        // Nobody stands in line for it any more.
        world.leave("go-a", "");
        first.end().with(3);
        world.leave("go-b", "");
        world.backstop(&["resume", &id]).with(3);
        assert_eq!(world.launches(), ["a", "b"]);
    }
}

/// It meets a limit once, and works when that is over.
const LIMITED: &str = r#"
[[step]]
attempt = 1
do = [
    { run = "echo b >>$E2E_SIDE/launches; touch $E2E_SIDE/at-b; while ! test -e $E2E_SIDE/go-b; do sleep 0.02; done" },
    { rate_limit = { after = "1s" } },
]
[[step]]
do = [{ run = "echo b >>$E2E_SIDE/launches" }, { write = { path = "b", text = "b" } }]
"#;

/// Lets a limit of a second be waited for no longer.
pub(crate) fn shorten_limits(world: &World) {
    let settings = std::fs::read_to_string(world.repo().join("backstop.toml")).unwrap();
    world.write(
        "backstop.toml",
        &format!("{settings}shortest_limit_wait = \"1s\"\n"),
    );
    world.commit("a short limit");
}

/// Starts a mission that meets a short limit when it is let go the first time.
fn limited(world: &World) -> Started {
    shorten_limits(world);
    let script = world.leave("at-b.toml", LIMITED);
    world.start(&[
        "run", "b", "--from", "code", "--script", &script, "--check", "true",
    ])
}

#[test]
fn each_wait_for_a_slot_is_told_once() {
    let world = world(1);
    let (a, c) = (holding("a"), holding("c"));
    let first = world.start(&exec_run(&a, "true", &[]));
    world.until_left("at-a");
    let limited = limited(&world);
    let told = || limited.told().matches("waits for a slot").count();
    world.until("the wait", || told() == 1);
    world.leave("go-a", "");
    first.end().with(3);
    world.until_left("at-b");
    let other = world.start(&exec_run(&c, "true", &[]));
    world.until("the wait", || other.told().contains("waits for a slot"));
    world.leave("go-b", "");
    // The other works while the limit holds.
    world.until_left("at-c");
    world.until("the next wait", || told() == 2);
    world.leave("go-c", "");
    other.end().with(3);
    let said = limited.end().with(3).err;
    assert_eq!(said.matches("waits for a slot").count(), 2);
}

#[test]
fn who_waits_for_a_limit_lets_others_work_and_who_was_killed_in_line_begins_what_never_began() {
    let world = world(1);
    let mut limited = limited(&world);
    world.until_left("at-b");
    let a = holding("a");
    let other = world.start(&exec_run(&a, "true", &[]));
    world.until("the wait", || other.told().contains("waits for a slot"));
    world.leave("go-b", "");
    // The limit lifts while the other works, and the next launch is charged before it waits.
    world.until_left("at-a");
    world.until("the wait", || limited.told().contains("waits for a slot"));
    limited.kill();
    let (id, before) = of(&world, "b");
    let launched = |(_, effect)| matches!(effect, &Effect::Launch(_));
    assert!(before.mission.outstanding().any(launched));
    let charged = before.mission.meter().total(Account::Attempts);
    let mut again = world.start(&["resume", &id]);
    world.until("the wait", || again.told().contains("waits for a slot"));
    again.kill();
    let (_, after) = of(&world, "b");
    assert_eq!(
        after.steps.len(),
        before.steps.len(),
        "nothing has happened"
    );
    world.leave("go-a", "");
    other.end().with(3);
    world.backstop(&["resume", &id]).with(3);
    assert_eq!(world.launches(), ["b", "a", "b"]);
    let (_, done) = of(&world, "b");
    let ended = |step: &&Step| matches!(step.fact, Fact::AttemptEnded(_));
    assert_eq!(done.steps.iter().filter(ended).count(), 2);
    assert_eq!(done.mission.meter().total(Account::Attempts), charged);
    assert_eq!(done.mission.meter().total(Account::InfraTotal), 0);
    assert_eq!(done.mission.gate().unwrap().kind, GateKind::Ship);
    world.nothing_runs();
}

#[test]
fn a_mission_that_the_machine_has_no_room_for_is_not_begun_and_says_what_is_missing() {
    for (key, name, had) in [
        ("min_free_disk", "disk", " MiB free at `"),
        ("min_free_memory", "memory", " MiB "),
    ] {
        let world = World::new();
        world.write("backstop.toml", &format!("[run]\n{key} = \"900 TiB\"\n"));
        world.commit("much");
        let agent = "cat >/dev/null; echo x >>\"$E2E_SIDE/launches\"";
        let ran = world.backstop(&exec_run(agent, "true", &[])).with(8);
        let lower = format!("lower `[run] {key}` for new missions");
        let parts = [name, had, "and 943718400 MiB are needed", &lower];
        ran.telling(&parts);
        world.at_gate(GateKind::Preflight, r#"["preflight_failed"]"#);
        assert!(world.launches().is_empty());
        world
            .backstop(&["doctor"])
            .with(8)
            .telling(&["943718400 MiB are needed"]);
    }
}

#[test]
fn who_waits_for_a_slot_hears_of_a_new_number() {
    let world = world(1);
    let (first, second) = one_works_and_one_waits(&world);
    world.write("backstop.toml", "[run]\nparallel = 2\n");
    world.until_left("at-b");
    world.leave("go-a", "");
    world.leave("go-b", "");
    first.end().with(3);
    second.end().with(3);
}

#[test]
fn who_waits_for_a_person_lets_others_work() {
    let world = world(1);
    world.leave("go-a", "");
    world.leave("go-b", "");
    let (a, b) = (holding("a"), holding("b"));
    let first = world.start(&exec_run(&a, "true", &["--wait"]));
    world.until("the gate", || first.told().contains("ship gate g1 opened"));
    world.start(&exec_run(&b, "true", &[])).end().with(3);
    let (id, _) = of(&world, "a");
    world.backstop(&["stop", &id]).with(0);
    first.end().with(4);
}

/// The first attempt fails a check that is at work until it is let go.
const CHECKED: &str = r#"
[[step]]
attempt = 1
do = [{ write = { path = "one", text = "1" } }]
[[step]]
do = [{ write = { path = "two", text = "2" } }]
"#;
const HELD: &str = r#"! test -e one || { touch "$E2E_SIDE/at-check"; while ! test -e "$E2E_SIDE/go-check"; do sleep 0.02; done; test -e two; }"#;

fn one_in_a_check(world: &World) -> Started {
    let script = world.leave("at-checked.toml", CHECKED);
    let args = [
        "run", "x", "--from", "code", "--script", &script, "--check", HELD,
    ];
    let checked = world.start(&args);
    world.until_left("at-check");
    checked
}

#[test]
fn who_meets_the_limit_of_another_between_attempts_gives_its_slot_up() {
    let world = world(1);
    let mut checked = one_in_a_check(&world);
    let account = world.missions()[0].join("../../accounts/scripted.json");
    let limit = |until: u64| {
        let text = serde_json::json!({ "until": until, "mission": "another" });
        std::fs::write(&account, text.to_string()).unwrap();
    };
    limit(clock::now().as_millis() + 3_600_000);
    world.leave("go-check", "");
    world.leave("go-b", "");
    let b = holding("b");
    world.start(&exec_run(&b, "true", &[])).end().with(3);
    assert!(!checked.has_ended());
    limit(1);
    checked.end().with(3);
}

#[test]
fn checks_that_are_taken_up_again_wait_for_a_slot_too() {
    let world = world(1);
    let mut checked = one_in_a_check(&world);
    let id = world.id();
    checked.kill();
    let b = holding("b");
    let other = world.start(&exec_run(&b, "true", &[]));
    world.until_left("at-b");
    let again = world.start(&["resume", &id]);
    world.until("the wait", || again.told().contains("waits for a slot"));
    world.leave("go-b", "");
    world.leave("go-check", "");
    other.end().with(3);
    again.end().with(3);
}
