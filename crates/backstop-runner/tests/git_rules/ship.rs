//! Landing, merging a moved base, and shipping: exactly once, exactly what was approved.

use std::fs;

use backstop_engine::vocab::CommitId;
use backstop_runner::git::{GitError, Landed, Merged, Shipped};

use crate::support::{LANE, World};

const BRANCH: &str = "refs/heads/backstop/m1/mission";

/// A landed commit on top of the base that changes `file`.
fn landed(world: &World, file: &str) -> CommitId {
    let workspace = world.workspace();
    let made = world.agent_commit(&workspace.path(), file, "made\n");
    workspace.take(LANE, "left").unwrap();
    assert_eq!(world.host().land(&made, None).unwrap(), Landed::Forward);
    made
}

/// The operator goes on on the base's branch.
fn move_base(world: &World, file: &str) -> CommitId {
    fs::write(world.op.join(file), "moved\n").unwrap();
    world.run(&world.op, &["add", file]);
    let moved = world.commit(&world.op, "moved");
    fs::remove_file(world.canary()).unwrap();
    world.watch();
    moved
}

/// The operator leaves the base's branch, so that it is checked out nowhere.
fn leave_base(world: &World) {
    world.run(&world.op, &["checkout", "-q", "-b", "elsewhere"]);
    fs::remove_file(world.canary()).unwrap();
    world.watch();
}

#[test]
fn a_lane_lands_once_and_only_where_it_was_expected() {
    let world = World::new();
    let first = landed(&world, "x");
    let host = world.host();
    assert_eq!(host.land(&first, None).unwrap(), Landed::Already);
    assert_eq!(world.kept("refs/backstop/m1/landed"), first.as_str());
    let workspace = world.workspace();
    let second = world.agent_commit(&workspace.path(), "y", "y\n");
    workspace.take(LANE, "left").unwrap();
    let refused = host.land(&second, Some(&world.base().commit)).unwrap_err();
    assert!(
        matches!(&refused, GitError::RefMoved { now: Some(now), .. } if *now == first),
        "{refused}"
    );
    assert_eq!(host.land(&second, Some(&first)).unwrap(), Landed::Forward);

    world.run(&workspace.path(), &["reset", "-q", "--hard", "HEAD~1"]);
    let other = world.agent_commit(&workspace.path(), "z", "z\n");
    workspace.take(LANE, "left").unwrap();
    let landed = host.land(&other, Some(&second)).unwrap();
    let Landed::Replaced { kept } = landed else {
        panic!("{landed:?}")
    };
    assert_eq!(world.kept(&kept), second.as_str());
    assert!(
        world
            .run(&world.op, &["for-each-ref", "refs/backstop/m1/kept"])
            .contains(second.as_str())
    );
}

#[test]
fn a_branch_is_created_once_at_the_approved_tree() {
    let world = World::new();
    let commit = landed(&world, "x");
    let (host, tree) = (world.host(), world.repository().tree(&commit).unwrap());
    let refused = host.ship_branch(&commit, &world.base().tree).unwrap_err();
    assert!(
        matches!(&refused, GitError::TreeDiffers { found, .. } if *found == tree),
        "{refused}"
    );
    assert!(!host.probe_branch(&commit).unwrap());
    world.expect("backstop/m1/mission");
    world.expect("refs");
    assert_eq!(host.ship_branch(&commit, &tree).unwrap(), Shipped::Now);
    assert!(host.probe_branch(&commit).unwrap());
    assert_eq!(host.ship_branch(&commit, &tree).unwrap(), Shipped::Already);
    assert_eq!(world.kept(BRANCH), commit.as_str());
    assert_eq!(
        host.merge_command(),
        format!(
            "git -C {} merge backstop/m1/mission",
            host.repository().root().display()
        )
    );
}

#[test]
fn a_branch_that_exists_elsewhere_is_never_moved() {
    let world = World::new();
    let commit = landed(&world, "x");
    world.run(&world.op, &["branch", "backstop/m1/mission"]);
    fs::remove_file(world.canary()).unwrap();
    world.watch();
    let (host, tree) = (world.host(), world.repository().tree(&commit).unwrap());
    let refused = host.ship_branch(&commit, &tree).unwrap_err();
    assert!(
        matches!(&refused, GitError::BranchTaken { now, .. } if *now == world.base().commit),
        "{refused}"
    );
}

#[test]
fn a_merge_moves_the_base_forward_to_exactly_the_approved_commit() {
    let world = World::new();
    leave_base(&world);
    let commit = landed(&world, "x");
    let (host, base) = (world.host(), world.base());
    let tree = world.repository().tree(&commit).unwrap();
    assert!(!host.probe_merge("refs/heads/main", &commit).unwrap());
    world.expect("heads/main");
    world.expect("refs");
    assert_eq!(
        host.ship_merge("refs/heads/main", &base.commit, &commit, &tree)
            .unwrap(),
        Shipped::Now
    );
    assert_eq!(world.kept("refs/heads/main"), commit.as_str());
    assert!(host.probe_merge("refs/heads/main", &commit).unwrap());
    assert_eq!(
        host.ship_merge("refs/heads/main", &base.commit, &commit, &tree)
            .unwrap(),
        Shipped::Already
    );
    let reason = world.run(&world.op, &["reflog", "-1", "--format=%gs", "main"]);
    assert_eq!(reason, "backstop: ship mission m1");
}

#[test]
fn a_merge_into_a_branch_that_is_checked_out_is_refused_with_the_command() {
    let world = World::new();
    let commit = landed(&world, "x");
    let (host, base) = (world.host(), world.base());
    let tree = world.repository().tree(&commit).unwrap();
    let refused = host
        .ship_merge("refs/heads/main", &base.commit, &commit, &tree)
        .unwrap_err();
    let GitError::CheckedOut { command, at, .. } = refused else {
        panic!("{refused}")
    };
    assert_eq!(at, world.op.canonicalize().unwrap());
    assert_eq!(
        command,
        format!("git -C {} merge --ff-only {commit}", at.display())
    );
    // The command does what it says, in a clone of the operator's.
    let clone = world.folder().join("clone");
    world.run(
        world.folder(),
        &[
            "clone",
            "-q",
            world.op.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    world.run(
        &clone,
        &["fetch", "-q", "origin", "refs/backstop/m1/landed"],
    );
    world.run(&clone, &["merge", "-q", "--ff-only", commit.as_str()]);
}

#[test]
fn an_alias_of_a_branch_stands_for_that_branch() {
    let world = World::new();
    world.run(
        &world.op,
        &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
    );
    let _ = fs::remove_file(world.canary());
    world.watch();
    let commit = landed(&world, "x");
    let tree = world.repository().tree(&commit).unwrap();
    let refused = world
        .host()
        .ship_merge("refs/heads/alias", &world.base().commit, &commit, &tree)
        .unwrap_err();
    assert!(
        matches!(&refused, GitError::CheckedOut { branch, .. } if branch == "refs/heads/main"),
        "{refused}"
    );
}

#[test]
fn a_merge_into_a_branch_of_another_worktree_or_in_a_rebase_is_refused() {
    let world = World::new();
    let linked = world.folder().join("linked");
    world.run(
        &world.op,
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "side",
            linked.to_str().unwrap(),
        ],
    );
    world.commit(&linked, "side");
    let side = world.head(&linked);
    let _ = fs::remove_file(world.canary());
    world.watch();
    let host = world.host();
    let make = |words: &[&str]| world.run(&world.op, words).parse::<CommitId>().unwrap();
    let tree = world.repository().tree(&side).unwrap();
    let next = make(&[
        "-c",
        "commit.gpgSign=false",
        "commit-tree",
        "-p",
        "side",
        "-m",
        "next",
        "side^{tree}",
    ]);
    let refused = host
        .ship_merge("refs/heads/side", &side, &next, &tree)
        .unwrap_err();
    assert!(
        matches!(&refused, GitError::CheckedOut { at, .. } if *at == linked),
        "{refused}"
    );

    let paused = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "sequence.editor=echo break >",
        "rebase",
        "-q",
        "-i",
        "--root",
    ];
    world.run(&linked, &paused);
    world.watch();
    assert_eq!(world.run(&linked, &["branch", "--show-current"]), "");
    let refused = host
        .ship_merge("refs/heads/side", &side, &next, &tree)
        .unwrap_err();
    assert!(
        matches!(&refused, GitError::CheckedOut { at, .. } if *at == linked),
        "{refused}"
    );
}

#[test]
fn a_base_that_moved_or_went_is_said_and_nothing_moves() {
    let world = World::new();
    let base = world.base().commit;
    let commit = landed(&world, "x");
    let tree = world.repository().tree(&commit).unwrap();
    let moved = move_base(&world, "m");
    leave_base(&world);
    let host = world.host_as_is();
    let refused = host
        .ship_merge("refs/heads/main", &base, &commit, &tree)
        .unwrap_err();
    assert!(
        matches!(&refused, GitError::BaseMoved { now, .. } if *now == moved),
        "{refused}"
    );
    let refused = host
        .ship_merge("refs/heads/gone", &base, &commit, &tree)
        .unwrap_err();
    assert!(matches!(refused, GitError::BaseGone { .. }), "{refused}");
    let refused = host
        .ship_merge("refs/heads/main", &moved, &commit, &tree)
        .unwrap_err();
    assert!(
        matches!(refused, GitError::NotAFastForward { .. }),
        "{refused}"
    );
}

#[test]
fn a_moved_base_is_merged_into_the_mission_without_a_checkout_and_once() {
    let world = World::new();
    let base = world.base().commit;
    let commit = landed(&world, "x");
    let moved = move_base(&world, "m");
    let host = world.host_as_is();
    let merged = host.merge_base(&moved).unwrap();
    let Merged::Clean {
        commit: merge,
        tree,
    } = merged.clone()
    else {
        panic!("{merged:?}")
    };
    assert_eq!(
        world.names(&merge),
        [
            ".gitignore",
            "a.txt",
            "b.txt",
            "m",
            "src/lib.rs",
            "staged.txt",
            "x"
        ]
    );
    assert_eq!(
        world.run(&world.op, &["log", "-1", "--format=%P", merge.as_str()]),
        format!("{commit} {moved}")
    );
    assert_eq!(world.kept("refs/backstop/m1/landed"), merge.as_str());
    assert_eq!(host.repository().tree(&merge).unwrap(), tree);
    assert_eq!(host.merge_base(&moved).unwrap(), merged);
    assert_eq!(host.merge_base(&base).unwrap(), merged);
    leave_base(&world);
    world.expect("heads/main");
    world.expect("refs");
    assert_eq!(
        host.ship_merge("refs/heads/main", &moved, &merge, &tree)
            .unwrap(),
        Shipped::Now
    );
}

#[test]
fn conflicts_with_a_moved_base_are_listed_and_nothing_moves() {
    let world = World::new();
    let commit = landed(&world, "a.txt");
    let moved = move_base(&world, "a.txt");
    let host = world.host_as_is();
    assert_eq!(
        host.merge_base(&moved).unwrap(),
        Merged::Conflicts(vec!["a.txt".into()])
    );
    assert_eq!(world.kept("refs/backstop/m1/landed"), commit.as_str());
}

#[test]
fn the_stat_of_a_diff_is_text_and_paths_are_whole() {
    let world = World::new();
    let base = world.base().commit;
    let commit = landed(&world, "grün.txt");
    let host = world.host();
    let stat = host.diff_stat(&base, &commit).unwrap();
    assert!(stat.contains("1 file changed, 1 insertion(+)"), "{stat}");
    assert_eq!(
        host.changed(&base, &commit).unwrap(),
        [std::path::Path::new("grün.txt")]
    );
    assert!(
        String::from_utf8(host.diff(&base, &commit).unwrap())
            .unwrap()
            .contains("+made")
    );
    assert_eq!(host.commits(&base, &commit).unwrap(), 1);
}
