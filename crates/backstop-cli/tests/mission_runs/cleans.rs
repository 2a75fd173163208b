//! What `clean` removes, keeps and refuses.

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
