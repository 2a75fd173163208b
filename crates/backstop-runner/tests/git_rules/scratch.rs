//! The scratch checkout: always exactly the pinned commit, and warm.

use std::fs;

use backstop_runner::git::{Bench, GitError, Scratch};

use crate::support::{LANE, World, script, write};

#[test]
fn a_scratch_checkout_is_the_pinned_commit_whatever_was_left_there() {
    let world = World::new();
    let (host, workspace) = (world.host(), world.workspace());
    let made = world.agent_commit(&workspace.path(), "made.txt", "made\n");
    workspace.take(LANE, "left").unwrap();
    let scratch = Scratch::prepare(&host, Bench::Checks, &made).unwrap();
    let at = scratch.path();
    assert_eq!(
        (world.head(&at), world.run(&at, &["status", "--porcelain"])),
        (made.clone(), String::new())
    );
    assert_eq!(
        world.run(&at, &["diff", "--name-only", "backstop/base"]),
        "made.txt"
    );

    write(&at.join("a.txt"), "changed\n");
    fs::remove_file(at.join("made.txt")).unwrap();
    write(&at.join("left/over"), "left\n");
    write(&at.join("target/cache"), "warm\n");
    world.run(&at, &["checkout", "-q", "-b", "elsewhere"]);
    world.agent_commit(&at, "committed.txt", "by a reviewer\n");
    fs::create_dir(at.join("nested")).unwrap();
    world.run(&at.join("nested"), &["init", "-q"]);
    write(&at.join(".git/index.lock"), "");
    write(&at.join("left/over"), "left\n");
    script(
        &at.join(".git/hooks/post-checkout"),
        &format!("echo x >> {}\n", world.canary().display()),
    );

    let again = Scratch::prepare(&host, Bench::Checks, &made).unwrap();
    assert_eq!(
        world.run(&again.path(), &["status", "--porcelain", "--ignored"]),
        "!! target/"
    );
    assert_eq!(world.head(&at), made);
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "one\n");
    assert!(at.join("made.txt").exists() && at.join("target/cache").exists());
    assert!(
        !at.join("left").exists()
            && !at.join("nested").exists()
            && !at.join("committed.txt").exists()
    );
    assert!(
        !world
            .run(&world.op, &["for-each-ref", "refs/backstop"])
            .contains("elsewhere")
    );

    let base = world.base().commit;
    Scratch::prepare(&host, Bench::Checks, &base).unwrap();
    assert!(!at.join("made.txt").exists() && at.join("target/cache").exists());
}

#[test]
fn an_unchanged_file_is_not_written_again() {
    let world = World::new();
    let host = world.host();
    let scratch = Scratch::prepare(&host, Bench::Checks, &world.base().commit).unwrap();
    let time = || {
        fs::metadata(scratch.path().join("src/lib.rs"))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = time();
    write(&scratch.path().join("a.txt"), "changed\n");
    Scratch::prepare(&host, Bench::Checks, &world.base().commit).unwrap();
    assert_eq!(time(), before);
}

#[test]
fn a_scratch_checkout_that_was_removed_is_made_again_and_must_be_set_up_again() {
    let world = World::new();
    let (host, base) = (world.host(), world.base().commit);
    let scratch = Scratch::prepare(&host, Bench::Checks, &base).unwrap();
    scratch.set_up().unwrap();
    fs::remove_dir_all(scratch.path().join(".git")).unwrap();
    assert!(
        Scratch::prepare(&host, Bench::Checks, &base)
            .unwrap()
            .is_set_up()
    );
    fs::remove_dir_all(scratch.path()).unwrap();
    let again = Scratch::prepare(&host, Bench::Checks, &base).unwrap();
    assert!(again.path().join("a.txt").exists() && !again.is_set_up());
    again.remove().unwrap();
    assert!(!scratch.path().exists());
}

#[test]
fn a_folder_of_somebody_else_is_not_taken_for_scratch() {
    let world = World::new();
    write(&world.state().join("scratch/precious"), "mine\n");
    let refused = Scratch::prepare(&world.host(), Bench::Checks, &world.base().commit).unwrap_err();
    assert!(matches!(refused, GitError::Occupied { .. }), "{refused}");
}
