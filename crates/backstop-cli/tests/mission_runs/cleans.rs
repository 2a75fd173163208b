//! What `clean` removes, keeps and refuses.

use crate::proposes::{PLAN, folders, run};
use crate::shows::at_ship_gate;
use crate::support::{World, exec_run};

fn refs(world: &World) -> String {
    world.git(&["for-each-ref", "--format=%(refname)", "refs/backstop"])
}

#[test]
fn a_shipped_mission_gives_back_everything_but_its_records_and_its_branch() {
    let world = World::new();
    at_ship_gate(&world);
    world.backstop(&["gate", "approve"]).with(0);
    let (id, dir, before) = (world.id(), world.dir(), refs(&world));
    let branch = format!("refs/heads/backstop/{id}/mission");
    let tip = world.git(&["rev-parse", &branch]);
    let dry = world
        .backstop(&["clean", "--all-ended", "--dry-run"])
        .with(0);
    dry.telling(&["would go", "workspace", "held by refs/heads/"]);
    assert!(dir.join("workspace").is_dir() && refs(&world) == before);
    world
        .backstop(&["clean", "--all-ended"])
        .with(0)
        .telling(&["removed", "--journal"]);
    for gone in ["workspace", "scratch", "git"] {
        assert!(!dir.join(gone).exists(), "{gone}");
    }
    assert_eq!(refs(&world), "");
    assert_eq!(world.git(&["rev-parse", &branch]), tip);
    let report = world.backstop(&["report", &id]).with(0).out;
    assert!(report.contains("handed over"), "{report}");
    world
        .backstop(&["clean", &id])
        .with(0)
        .telling(&["nothing is left to remove"]);
    world.backstop(&["clean", &id, "--journal"]).with(0);
    assert!(!dir.exists());
    assert_eq!(world.git(&["rev-parse", &branch]), tip);
}

#[test]
fn work_that_only_the_mission_holds_is_kept_until_it_is_given_up() {
    let world = World::new();
    at_ship_gate(&world);
    world.backstop(&["gate", "abort"]).with(5);
    let id = world.id();
    let work = world.git(&["rev-parse", &format!("refs/backstop/{id}/landed")]);
    world
        .backstop(&["clean", "--all-ended"])
        .with(0)
        .telling(&["no other ref holds it; --force gives it up", &work]);
    assert!(
        refs(&world).contains("/landed") && !refs(&world).contains("/base"),
        "{}",
        refs(&world)
    );
    world.git(&["branch", "rescued", &work]);
    world
        .backstop(&["clean", &id])
        .with(0)
        .telling(&["held by refs/heads/rescued"]);
    assert_eq!(refs(&world), "");
    world.git(&["cat-file", "-e", &work]);
}

#[test]
fn given_up_work_is_named_so_that_it_can_be_found_again() {
    let world = World::new();
    at_ship_gate(&world);
    world.backstop(&["gate", "abort"]).with(5);
    let work = world.git(&["rev-parse", &format!("refs/backstop/{}/landed", world.id())]);
    world
        .backstop(&["clean", &world.id(), "--force"])
        .with(0)
        .telling(&[&work, "nothing else holds it"]);
    assert_eq!(refs(&world), "");
}

#[test]
fn a_mission_that_can_go_on_loses_only_its_checkouts_and_goes_on() {
    let world = World::new();
    at_ship_gate(&world);
    let (dir, before) = (world.dir(), refs(&world));
    world
        .backstop(&["clean", &world.id()])
        .with(0)
        .telling(&["the mission goes on with it"]);
    assert!(!dir.join("workspace").exists());
    assert_eq!(refs(&world), before);
    world
        .backstop(&["clean", &world.id(), "--journal"])
        .with(6)
        .telling(&["has not ended"]);
    world
        .backstop(&["gate", "reject", "--note", "once more"])
        .with(3);
    world.backstop(&["gate", "approve"]).with(0);
}

#[test]
fn a_parked_mission_can_be_given_up() {
    let world = World::new();
    let agent = "cat >/dev/null; touch \"$E2E_SIDE/at\"; exec sleep 1000";
    let started = world.start(&exec_run(agent, "true", &[]));
    world.until_left("at");
    let id = world.id();
    world.backstop(&["stop", &id]).with(0);
    assert_eq!(started.end().code, 4);
    let before = refs(&world);
    assert_ne!(before, "");
    let force = format!("backstop clean {id} --journal --force");
    let abort = ["gate", "abort", "--mission", &id];
    for refused in [&abort[..], &["clean", &id, "--journal"]] {
        world.backstop(refused).with(6).telling(&[&force]);
    }
    // Without --journal it can still go on, so its refs stay.
    world.backstop(&["clean", &id, "--force"]).with(0);
    assert_eq!(refs(&world), before);
    world
        .backstop(&["clean", &id, "--journal", "--force"])
        .with(0);
    assert_eq!(refs(&world), "");
    assert!(world.missions().is_empty());
    world.nothing_runs();
}

#[test]
fn untaken_work_in_the_workspace_stops_cleaning() {
    let world = World::new();
    at_ship_gate(&world);
    world.backstop(&["gate", "approve"]).with(0);
    let file = world.dir().join("workspace/left-behind");
    std::fs::write(&file, "mine").unwrap();
    let before = refs(&world);
    for more in [&[][..], &["--journal"], &["--force"]] {
        let id = world.id();
        let args: Vec<&str> = ["clean", &id]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        world
            .backstop(&args)
            .with(6)
            .telling(&["left-behind", "nothing was removed"]);
        assert!(file.exists() && refs(&world) == before);
    }
}

#[test]
fn a_mission_that_is_driven_or_in_the_middle_of_its_work_is_refused() {
    let world = World::new();
    let agent = "touch \"$E2E_SIDE/there\"; exec sleep 600";
    let run = exec_run(agent, "true", &[]);
    let mut running = world.start(&run);
    world.until_left("there");
    let id = world.id();
    world
        .backstop(&["clean", &id])
        .with(6)
        .telling(&["is driven by"]);
    running.kill();
    world
        .backstop(&["clean", &id])
        .with(6)
        .telling(&["in the middle of its work", &format!("backstop stop {id}")]);
    world
        .backstop(&["clean", "--all-ended"])
        .with(0)
        .telling(&["no mission has ended"]);
    assert!(world.dir().join("workspace").is_dir());
}

#[test]
fn a_damaged_mission_is_cleaned_only_by_force() {
    let world = World::new();
    at_ship_gate(&world);
    let id = world.id();
    let journal = std::fs::read_to_string(world.journal()).unwrap();
    std::fs::write(world.journal(), journal.replacen("right", "wrong", 1)).unwrap();
    world.backstop(&["clean", &id, "--journal"]).with(7);
    assert!(world.dir().is_dir());
    world
        .backstop(&["clean", &id, "--journal", "--force"])
        .with(0);
    assert!(world.missions().is_empty());
    world.backstop(&["clean"]).with(2);
    world.backstop(&["clean", &id, "--all-ended"]).with(2);
}

/// What `plan list` shows of the stored plans: the goal of each.
fn plans(world: &World) -> Vec<String> {
    let listed = world.backstop(&["plan", "list", "--json"]).with(0);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    let plans = listed["plans"].as_array().unwrap().iter();
    let mut goals: Vec<String> = plans
        .map(|plan| plan["goal"].as_str().unwrap().to_owned())
        .collect();
    goals.sort();
    goals
}

/// Asks for a plan; its id.
fn propose(world: &World, goal: &str, answer: &str) -> String {
    let agent = format!("cat >/dev/null; echo '{answer}'");
    let args = ["plan", "propose", goal, "--json", "--exec-command", &agent];
    let said = world.backstop(&args);
    let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    plan["id"].as_str().unwrap().to_owned()
}

#[test]
fn plans_that_nothing_needs_go_with_the_records_and_no_other() {
    let world = World::new();
    let applied = propose(&world, "applied", PLAN);
    world.backstop(&["plan", "approve", &applied]).with(0);
    world.backstop(&run(&applied, &[])).with(3);
    propose(&world, "parked", "no");
    let old = propose(&world, "old", PLAN);
    propose(&world, "young", PLAN);
    let approved = propose(&world, "approved", PLAN);
    world.backstop(&["plan", "approve", &approved]).with(0);
    for aged in [&old, &approved] {
        let folders = folders(&world);
        let folder = folders
            .iter()
            .find(|folder| folder.ends_with(aged))
            .unwrap();
        let record = std::fs::read_to_string(folder.join("plan.json")).unwrap();
        let mut record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let at = record["at"].as_u64().unwrap() - 31 * 24 * 3_600_000;
        record["at"] = at.into();
        std::fs::write(folder.join("plan.json"), record.to_string()).unwrap();
    }
    let clean = |more: &[&str]| {
        let all = [&["clean", "--all-ended"][..], more].concat();
        world.backstop(&all).with(0)
    };
    // Records stay unless they are asked for, and so does the plan of a mission that has not ended.
    clean(&[]).telling(&[
        "plan old-",
        "plan parked-",
        "a record; --journal removes it",
    ]);
    clean(&["--journal", "--dry-run"]).telling(&["would go"]);
    assert_eq!(plans(&world).len(), 5);
    clean(&["--journal"]).telling(&["plan old-", "plan parked-", "removed"]);
    assert_eq!(plans(&world), ["applied", "approved", "young"]);
    world.backstop(&["gate", "abort"]).with(5);
    clean(&["--journal"]);
    assert_eq!(plans(&world), ["approved", "young"]);
    assert!(world.missions().is_empty());
    clean(&["--journal"]).telling(&["there is nothing to clean"]);
}

#[test]
fn a_plan_that_is_approved_goes_only_when_a_person_names_it_and_insists() {
    let world = World::new();
    let waits = propose(&world, "waits", PLAN);
    world
        .backstop(&["clean", &waits])
        .with(0)
        .telling(&["a record; --journal removes it"]);
    world.backstop(&["clean", &waits, "--journal"]).with(0);
    assert!(plans(&world).is_empty());
    let approved = propose(&world, "approved", PLAN);
    world.backstop(&["plan", "approve", &approved]).with(0);
    world
        .backstop(&["clean", &approved, "--journal"])
        .with(0)
        .telling(&["no mission has run it", "--force"]);
    assert_eq!(plans(&world), ["approved"]);
    let args = ["clean", "appr", "--journal", "--force"];
    world.backstop(&args).with(0).telling(&["removed"]);
    assert!(plans(&world).is_empty());
    world.backstop(&["clean", "nobody"]).with(6);
}
