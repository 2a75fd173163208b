//! What an operator does in the repository while a mission runs on borrowed objects, and again before the approval.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{WORK, begun, picture, ships};
use crate::support::{Said, World, exec_run};

/// Two commits, so that there is something to rewrite.
const TWO: &str = "echo two >>README; git commit -q -a -m two\n";
const FORGETS: &str = "git reflog expire --expire=now --all; git gc -q --prune=now";

fn two(make: &str) -> super::Story {
    begun(&[TWO, make].concat())
}

#[test]
fn garbage_collection() {
    two("git pack-refs --all").meanwhile(FORGETS).holds();
}

#[test]
fn repacking_without_what_is_unreachable() {
    two("").meanwhile("git repack -q -a -d; git prune --expire=now; git pack-refs --all --prune; git commit-graph write --reachable; git multi-pack-index write").holds();
}

#[test]
fn an_amended_base() {
    two("").meanwhile("git commit -q --amend -m \"again $(date +%N)\"; git reflog expire --expire=now --all; git gc -q --prune=now").holds();
}

#[test]
fn a_rebase_and_a_reset() {
    two("git branch other HEAD~1; git checkout -q other; echo o >other; git add other; git commit -q -m other; git checkout -q main")
        .meanwhile("git rebase -q other; git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now")
        .holds();
}

#[test]
fn the_deletion_of_the_branch_that_it_started_from() {
    two("git checkout -q -b topic; echo t >t; git add t; git commit -q -m t")
        .meanwhile("git checkout -q main; git branch -q -D topic 2>/dev/null || true; git reflog expire --expire=now --all; git gc -q --prune=now")
        .holds();
}

#[test]
fn worktrees_and_a_stash() {
    two("").meanwhile(
        "rm -rf \"$W/beside\"; git worktree prune; git worktree add -q --detach \"$W/beside\"; echo changed >>README; git stash -q; echo u >untracked; git stash push -q -u; git worktree remove --force \"$W/beside\"",
    )
    .holds();
}

#[test]
fn a_checkout_of_another_branch_with_an_unfinished_merge() {
    two("git checkout -q -b other HEAD~1; echo other >>README; git commit -q -a -m other; git checkout -q main")
        .meanwhile("test -e .git/MERGE_HEAD || { git checkout -q other; ! git merge -q main; }")
        .holds();
}

#[test]
fn a_maintenance_run_that_packs_everything() {
    two("").meanwhile("git maintenance run --quiet --task=gc --task=commit-graph --task=pack-refs; git prune-packed -q").holds();
}

/// A world whose git is the real one behind a script, which finds its arguments in `$*` and the side folder in `$side`.
fn with_git(script: &str) -> World {
    let world = World::new();
    let script =
        format!("#!/bin/sh\nside=${{0%/bin/git}}\nPATH=${{PATH#*:}}\n{script}\nexec git \"$@\"\n");
    let git = PathBuf::from(world.leave("bin/git", &script));
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", git.parent().unwrap().display());
    world.set("PATH", &path)
}

/// Runs a mission to its ship gate.
fn works(world: &World, more: &[&str]) {
    let agent = world.leave("agent.sh", &format!("cat >/dev/null\n{}\n", super::WORKS));
    let agent = format!("sh {agent}");
    let run = exec_run(&agent, "true", more);
    world.backstop(&run).with(3).telling(&["ship gate g1"]);
}

/// Cannot store objects as often as there are files `unlucky-…`, as when `git gc` takes folders away meanwhile.
const UNLUCKY: &str = r#"
case " $* " in
*" unpack-objects "*)
    for one in "$side"/unlucky-*; do
        test -e "$one" || continue
        rm "$one"
        echo "error: unable to create temporary file: No such file or directory" >&2
        exit 128
    done
    ;;
esac
"#;

#[test]
fn objects_that_git_cannot_store_at_once_are_stored_again() {
    let world = with_git(UNLUCKY);
    for n in 1..=3 {
        world.leave(&format!("unlucky-{n}"), "");
    }
    works(&world, &[]);
    assert!(!world.side("unlucky-3").exists());
    ships(&world, WORK, &picture(&world));
}

/// An operator moves the base in the very moment before it is moved to the work.
const RACING: &str = r#"
case " $* " in
*" update-ref --no-deref "*)
    if rm "$side/race" 2>/dev/null; then (
        cd "$side/../repo"
        theirs=$(git commit-tree -p main -m theirs "main^{tree}")
        git update-ref refs/heads/main "$theirs"
    ) fi
    ;;
esac
"#;

#[test]
fn a_base_that_moves_in_the_moment_of_the_merge_is_merged_first() {
    let world = with_git(RACING);
    world.git(&["checkout", "--quiet", "-b", "desk"]);
    works(&world, &["--base", "main", "--ship", "merge"]);
    let base = world.git(&["rev-parse", "main"]);
    world.leave("race", "");
    let said = world.backstop(&["gate", "approve"]).with(3);
    said.telling(&["ship gate g2"]);
    let theirs = world.git(&["rev-parse", "main"]);
    assert_ne!(theirs, base);
    ships(&world, WORK, &picture(&world));
    world.git(&["merge-base", "--is-ancestor", &theirs, "main"]);
}

/// A mission at its ship gate, in a repository with a branch that the operator makes meanwhile.
fn at_the_gate(make: &str) -> World {
    let world = World::new();
    let agent = world.leave("agent.sh", &format!("cat >/dev/null\n{}\n", super::WORKS));
    world
        .backstop(&exec_run(&format!("sh {agent}"), "true", &[]))
        .with(3);
    let branch = format!("backstop/{}", world.id());
    world.git(&["branch", &make.replace("MISSION", &branch)]);
    world
}

#[test]
fn a_branch_of_the_missions_name_that_somebody_makes_is_not_moved() {
    let world = at_the_gate("MISSION/mission");
    let branch = format!("backstop/{}/mission", world.id());
    let theirs = world.git(&["rev-parse", &branch]);
    let said = world.backstop(&["gate", "approve"]).with(3);
    said.telling(&[
        "ship_failed gate g2",
        &branch,
        "rename or delete it, then ship again",
    ]);
    assert_eq!(world.git(&["rev-parse", &branch]), theirs);
    world.git(&["branch", "--quiet", "-m", &branch, "theirs"]);
    ships(&world, WORK, &picture(&world));
}

#[test]
fn a_branch_in_place_of_a_folder_of_the_missions_name_is_told_with_what_makes_way() {
    let world = at_the_gate("MISSION");
    let branch = format!("backstop/{}", world.id());
    let said = world.backstop(&["gate", "approve"]).with(3);
    let command = format!("git branch -m {branch} NEW-NAME");
    said.telling(&[
        "ship_failed gate g2",
        &format!("`refs/heads/{branch}` is in the way"),
        &command,
    ]);
    world.git(&["branch", "--quiet", "-m", &branch, "theirs"]);
    ships(&world, WORK, &picture(&world));
}

/// A lock that a git which was killed left on a ref: the file.
fn lock(world: &World, name: &str) -> PathBuf {
    let lock = world.repo().join(format!(".git/{name}.lock"));
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    lock
}

fn tells_of(lock: &Path, said: Said) {
    let named = format!("`{}` is there", lock.display());
    said.telling(&[&named, "when none is at work there, remove that file, then"]);
}

#[test]
fn a_lock_on_the_lanes_ref_is_named_and_the_work_is_taken_when_it_is_gone() {
    let world = World::new();
    let pauses = super::PAUSES;
    let agent = format!("cat >/dev/null\n{pauses}{}\n", super::WORKS);
    let agent = format!("sh {}", world.leave("agent.sh", &agent));
    let runner = world.start(&exec_run(&agent, "true", &[]));
    world.until_left("at-work");
    let lock = lock(&world, &format!("refs/backstop/{}/1-coding", world.id()));
    world.leave("go", "");
    tells_of(&lock, runner.end().with(3).telling(&["review gate g1"]));
    fs::remove_file(lock).unwrap();
    // What the first agent left is taken with what the next one adds.
    world.leave("agent.sh", "cat >/dev/null; echo more >>left.txt");
    world.backstop(&["gate", "retry"]).with(3);
    let work = [("left.txt", "100644 left\nmore\n"), WORK[1]];
    ships(&world, &work, &picture(&world));
}

#[test]
fn a_lock_on_the_branch_to_ship_is_named_and_it_ships_when_it_is_gone() {
    let world = at_the_gate("theirs");
    let branch = format!("refs/heads/backstop/{}/mission", world.id());
    let lock = lock(&world, &branch);
    let said = world.backstop(&["gate", "approve"]).with(3);
    tells_of(&lock, said.telling(&["ship_failed gate g2"]));
    fs::remove_file(lock).unwrap();
    ships(&world, WORK, &picture(&world));
}
