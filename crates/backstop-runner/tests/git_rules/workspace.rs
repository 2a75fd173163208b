//! The workspace: whatever the agent did, its work is taken and kept.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use backstop_engine::vocab::{CommitId, PhaseKind};
use backstop_runner::git::{GitError, Host, LaneRef, Remote, Standing, Survey, Workspace};

use crate::support::{LANE, World, write};

const LANE_REF: &str = "refs/backstop/m1/1-coding";

fn survey(world: &World, workspace: &Workspace) -> Survey {
    let base = world.base().commit;
    workspace.survey(LANE, &base, &base).unwrap()
}

fn kept(world: &World) -> Vec<String> {
    let listed = world.run(
        &world.op,
        &[
            "for-each-ref",
            "--format=%(objectname)",
            "refs/backstop/m1/kept",
        ],
    );
    listed.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn a_workspace_has_the_base_and_none_of_the_operators_uncommitted_work() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "one\n");
    assert!(!at.join("staged.txt").exists() && !at.join("target").exists());
    assert_eq!(
        world.run(&at, &["branch", "--show-current"]),
        "backstop/m1/1-coding"
    );
    assert_eq!(world.run(&at, &["status", "--porcelain"]), "");
    assert_eq!(
        world.run(&at, &["rev-parse", "backstop/base"]),
        world.base().commit.as_str()
    );
    assert_eq!(world.run(&at, &["remote"]), "");
    assert_eq!(
        world.kept("refs/backstop/m1/base"),
        world.base().commit.as_str()
    );
    let found = survey(&world, &workspace);
    assert_eq!(
        (found.commits, found.is_dirty(), found.standing),
        (0, false, Standing::Lane)
    );
    assert_eq!((found.tree, found.changed), (world.base().tree, vec![]));
}

#[test]
fn an_agent_commits_as_the_operator_without_signing_hooks_or_editor() {
    let world = World::new();
    world.run(
        &world.home(),
        &[
            "config",
            "--global",
            "core.hooksPath",
            world.op.join(".git/hooks").to_str().unwrap(),
        ],
    );
    let workspace = world.workspace();
    let at = workspace.path();
    let made = world.agent_commit(&at, "made.txt", "made\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(
        (taken.head, taken.leftovers, taken.strays),
        (made.clone(), None, vec![])
    );
    let author = world.run(
        &world.op,
        &["log", "-1", "--format=%an <%ae>", made.as_str()],
    );
    assert_eq!(author, "Ada Operator <ada@example.org>");
    assert_eq!(world.kept(LANE_REF), made.as_str());
}

#[test]
fn remotes_are_those_that_the_operator_lists() {
    let world = World::new();
    let remote = Remote {
        name: "origin".to_owned(),
        url: "https://example.org/x.git".to_owned(),
    };
    let host = Host::open(
        &world.repository(),
        &"m1".parse().unwrap(),
        &world.state(),
        &[remote],
    )
    .unwrap();
    host.hold(&world.base()).unwrap();
    let workspace = Workspace::create(&host, LANE, &world.base().commit).unwrap();
    assert_eq!(
        world
            .run(&workspace.path(), &["remote", "-v"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn leftovers_are_committed_tracked_or_not_and_ignored_ones_are_not() {
    let world = World::new();
    fs::write(
        world.home().join(".gitconfig"),
        "[user]\nname=Ada\nemail=a@b.c\n[core]\nexcludesFile=~/ignore\n",
    )
    .unwrap();
    fs::write(world.home().join("ignore"), "*.swp\n").unwrap();
    write(&world.op.join(".git/info/exclude"), "private\n");
    world.watch();
    let workspace = world.workspace();
    let at = workspace.path();
    let odd = OsStr::from_bytes(b"new\nline \xff\"\\.txt");
    for name in [
        OsStr::new("new.txt"),
        odd,
        OsStr::new("-n"),
        OsStr::new(":(glob)*"),
        OsStr::new("deep/er/x"),
    ] {
        write(&at.join(name), "new\n");
    }
    for ignored in ["target/x", "x.swp", "private"] {
        write(&at.join(ignored), "ignored\n");
    }
    write(&at.join("a.txt"), "changed\n");
    fs::remove_file(at.join("b.txt")).unwrap();
    symlink("/etc/passwd", at.join("link")).unwrap();
    fs::set_permissions(at.join("src/lib.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = survey(&world, &workspace);
    assert_eq!(before.uncommitted.len(), 9);
    assert_eq!(before.changed, before.uncommitted);
    assert_eq!((before.commits, before.tree), (0, world.base().tree));

    let taken = workspace.take(LANE, "backstop: leftovers\n").unwrap();
    assert_eq!(taken.leftovers.as_ref(), Some(&taken.head));
    let parent = world.run(&world.op, &["rev-parse", &format!("{LANE_REF}^")]);
    assert_eq!(parent, world.base().commit.as_str());
    let listed = world.run(
        &world.op,
        &["-c", "core.quotePath=true", "ls-tree", "-r", LANE_REF],
    );
    for part in [
        "new\\nline \\377\\\"\\\\.txt",
        "\t-n",
        "\t:(glob)*",
        "deep/er/x",
        "120000",
        "100755 blob",
        "new.txt",
    ] {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    for part in ["b.txt", "target", "swp", "private"] {
        assert!(!listed.contains(part), "{part} in {listed}");
    }
    assert_eq!(world.text(&taken.head, "a.txt"), "changed");
    assert_eq!(world.run(&at, &["status", "--porcelain"]), "");
    let after = survey(&world, &workspace);
    assert_eq!(
        (after.commits, after.is_dirty(), after.tree),
        (1, false, taken.tree)
    );
    assert_eq!(after.changed.len(), 9);
}

#[test]
fn taking_again_commits_nothing_again() {
    let world = World::new();
    let workspace = world.workspace();
    write(&workspace.path().join("x"), "x\n");
    let first = workspace.take(LANE, "left").unwrap();
    let second = workspace.take(LANE, "left").unwrap();
    assert_eq!((second.head, second.leftovers), (first.head, None));
    assert!(kept(&world).is_empty());
}

#[test]
fn an_interrupted_taking_is_completed_with_the_commit_it_had_made() {
    let world = World::new();
    let workspace = world.workspace();
    let copy = world.folder().join("copy");
    write(&workspace.path().join("x"), "x\n");
    copy_folder(&workspace.path().join(".git"), &copy);
    let first = workspace.take(LANE, "left").unwrap();
    // As if the crash came after the ref moved and before the `.git` folder was replaced.
    fs::remove_dir_all(workspace.path().join(".git")).unwrap();
    fs::rename(&copy, workspace.path().join(".git")).unwrap();
    // Another message: only the commit of before has that name.
    let second = workspace.take(LANE, "left again").unwrap();
    assert_eq!(second.head, first.head);
    assert_eq!(second.leftovers, Some(first.head));
    assert!(kept(&world).is_empty());
}

#[test]
fn garbage_collection_of_the_operators_takes_nothing() {
    let world = World::new();
    let workspace = world.workspace();
    let made = world.agent_commit(&workspace.path(), "made.txt", "made\n");
    workspace.take(LANE, "left").unwrap();
    world.expect(".git/");
    world.run(&world.op, &["checkout", "-q", "-f", "--orphan", "other"]);
    world.run(&world.op, &["branch", "-q", "-D", "main"]);
    world.run(&world.op, &["stash", "clear"]);
    world.run(&world.op, &["reflog", "expire", "--expire=all", "--all"]);
    world.run(&world.op, &["gc", "-q", "--prune=now"]);
    assert_eq!(world.run(&workspace.path(), &["fsck", "--no-dangling"]), "");
    assert_eq!(world.text(&made, "made.txt"), "made");
    for part in ["a.txt", "staged", "status", "stash", "refs"] {
        world.expect(part);
    }
    let _ = fs::remove_file(world.canary());
}

#[test]
fn what_head_leads_to_is_the_lanes_work_on_another_branch() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    let first = world.agent_commit(&at, "first.txt", "1\n");
    world.run(&at, &["checkout", "-q", "-b", "feature", "HEAD~1"]);
    let second = world.agent_commit(&at, "second.txt", "2\n");
    write(&at.join("third.txt"), "3\n");
    let found = survey(&world, &workspace);
    assert_eq!(
        found.standing,
        Standing::Elsewhere("refs/heads/feature".to_owned())
    );
    assert_eq!(found.head, second);
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.kept(&format!("{LANE_REF}^")), second.as_str());
    assert!(world.names(&taken.head).contains(&"third.txt".to_owned()));
    assert_eq!(kept(&world), [first.as_str()]);
    assert_eq!(taken.strays, std::slice::from_ref(&first));
    assert_eq!(
        world.run(&at, &["branch", "--show-current"]),
        "backstop/m1/1-coding"
    );
    assert_eq!(world.run(&at, &["rev-parse", "feature"]), second.as_str());
    assert_eq!(world.run(&at, &["rev-parse", "HEAD"]), taken.head.as_str());
}

#[test]
fn a_detached_head_and_a_branch_without_commit_are_taken() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    world.run(&at, &["checkout", "-q", "--detach"]);
    let made = world.agent_commit(&at, "made.txt", "1\n");
    assert_eq!(survey(&world, &workspace).standing, Standing::Detached);
    assert_eq!(workspace.take(LANE, "left").unwrap().head, made);

    world.run(&at, &["checkout", "-q", "--orphan", "fresh"]);
    write(&at.join("more.txt"), "2\n");
    assert_eq!(
        survey(&world, &workspace).standing,
        Standing::Unborn("refs/heads/fresh".to_owned())
    );
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.kept(&format!("{LANE_REF}^")), made.as_str());
    assert_eq!(world.text(&taken.head, "more.txt"), "2");
}

#[test]
fn commits_that_were_reset_amended_or_stashed_away_are_kept() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    let earlier = world.agent_commit(&at, "earlier.txt", "1\n");
    workspace.take(LANE, "left").unwrap();
    let lost = world.agent_commit(&at, "lost.txt", "2\n");
    world.run(&at, &["reset", "-q", "--hard", "HEAD~2"]);
    let amended = world.agent_commit(&at, "x.txt", "3\n");
    world.run(&at, &["commit", "-q", "--amend", "-m", "again"]);
    write(&at.join("a.txt"), "stashed\n");
    world.run(&at, &["stash", "-q"]);
    write(&at.join("b.txt"), "stashed too\n");
    world.run(&at, &["stash", "-q"]);
    let stashes = ["stash@{0}", "stash@{1}"].map(|name| world.run(&at, &["rev-parse", name]));
    assert!(survey(&world, &workspace).stashed);
    let head = world.head(&at);
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!((&taken.head, taken.leftovers), (&head, None));
    let mut expected: Vec<_> = [&lost, &amended]
        .map(ToString::to_string)
        .into_iter()
        .chain(stashes.clone())
        .collect();
    expected.push(earlier.to_string());
    expected.retain(|commit| *commit != earlier.to_string());
    let mut found = kept(&world);
    // `lost` continues `earlier`, but the lane's ref leaves `earlier`, so that one has a ref too.
    found.retain(|commit| *commit != earlier.to_string());
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert!(
        world
            .run(&world.op, &["log", "--format=%H", "--glob=refs/backstop"])
            .contains(earlier.as_str())
    );
    // A resumed agent finds its stash again.
    assert_eq!(world.run(&at, &["stash", "list"]).lines().count(), 2);
    world.run(&at, &["stash", "pop", "-q"]);
    assert_eq!(
        fs::read_to_string(at.join("b.txt")).unwrap(),
        "stashed too\n"
    );
}

#[test]
fn an_unfinished_merge_is_taken_as_it_lies() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    world.run(&at, &["checkout", "-q", "-b", "other"]);
    let other = world.agent_commit(&at, "a.txt", "theirs\n");
    world.run(&at, &["checkout", "-q", "-"]);
    let ours = world.agent_commit(&at, "a.txt", "ours\n");
    assert!(!world.try_run(&at, &["merge", "other"]).status.success());
    assert_eq!(survey(&world, &workspace).unfinished, Some("merge"));
    let taken = workspace.take(LANE, "left").unwrap();
    assert!(world.text(&taken.head, "a.txt").contains("<<<<<<<"));
    assert_eq!(world.kept(&format!("{LANE_REF}^")), ours.as_str());
    assert_eq!(kept(&world), [other.as_str()]);
    assert_eq!(survey(&world, &workspace).unfinished, None);
    assert_eq!(world.run(&at, &["status", "--porcelain"]), "");
}

#[test]
fn an_unfinished_rebase_keeps_what_was_being_rebased() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    world.run(&at, &["branch", "onto"]);
    world.agent_commit(&at, "a.txt", "one more\n");
    let tip = world.agent_commit(&at, "c.txt", "c\n");
    world.run(&at, &["checkout", "-q", "onto"]);
    let onto = world.agent_commit(&at, "a.txt", "another\n");
    world.run(&at, &["checkout", "-q", "backstop/m1/1-coding"]);
    assert!(!world.try_run(&at, &["rebase", "onto"]).status.success());
    let found = survey(&world, &workspace);
    assert_eq!(
        (found.unfinished, found.standing),
        (Some("rebase"), Standing::Detached)
    );
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.kept(&format!("{LANE_REF}^")), onto.as_str());
    assert_eq!(taken.strays, [tip]);
}

#[test]
fn a_missing_index_and_stale_locks_do_not_matter() {
    let world = World::new();
    let workspace = world.workspace();
    let git = workspace.path().join(".git");
    fs::remove_file(git.join("index")).unwrap();
    for lock in [
        "index.lock",
        "HEAD.lock",
        "config.lock",
        "packed-refs.lock",
        "refs/heads/backstop.lock",
    ] {
        write(&git.join(lock), "");
    }
    write(&workspace.path().join("x"), "x\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.names(&taken.head).len(), 5);
    world.agent_commit(&workspace.path(), "y", "y\n");
}

#[test]
fn a_workspace_whose_git_folder_is_gone_is_damaged_and_its_files_stay() {
    let world = World::new();
    let workspace = world.workspace();
    write(&workspace.path().join("x"), "x\n");
    let damaged = |what: &str| {
        let base = world.base().commit;
        let errors = [
            workspace.survey(LANE, &base, &base).unwrap_err(),
            workspace.take(LANE, "left").unwrap_err(),
            workspace.enter(LANE, &base).unwrap_err(),
            workspace.clone().remove().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, GitError::Damaged { .. }), "{what}: {error}");
        }
        assert_eq!(
            fs::read_to_string(workspace.path().join("x")).unwrap(),
            "x\n"
        );
    };
    let git = workspace.path().join(".git");
    fs::write(git.join("HEAD"), format!("{}\n", "ab".repeat(20))).unwrap();
    damaged("a commit that is not there");
    fs::write(git.join("HEAD"), "nonsense").unwrap();
    damaged("an unreadable HEAD");
    fs::remove_dir_all(&git).unwrap();
    damaged("no folder");
    fs::write(
        &git,
        format!("gitdir: {}\n", world.op.join(".git").display()),
    )
    .unwrap();
    damaged("a file that names the operator's folder");
    fs::remove_file(&git).unwrap();
    symlink(world.op.join(".git"), &git).unwrap();
    damaged("a link to the operator's folder");
}

#[test]
fn files_of_repositories_inside_are_taken_as_files() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    for (folder, commits) in [("app", true), ("empty", false), ("app/in/ner", true)] {
        let folder = at.join(folder);
        fs::create_dir_all(&folder).unwrap();
        world.run(&folder, &["init", "-q"]);
        write(&folder.join("main.js"), "x\n");
        write(&folder.join("target/cache"), "ignored by the outer\n");
        write(&folder.join(".gitignore"), "*.log\n");
        write(&folder.join("x.log"), "ignored by the inner\n");
        if commits {
            world.run(&folder, &["add", "."]);
            world.commit(&folder, "inner");
        }
    }
    let found = survey(&world, &workspace);
    assert_eq!(
        found.nested,
        [
            Path::new("app"),
            Path::new("app/in/ner"),
            Path::new("empty")
        ]
    );
    let taken = workspace.take(LANE, "left").unwrap();
    let names = world.names(&taken.head);
    let expected = [
        "app/.gitignore",
        "app/in/ner/.gitignore",
        "app/in/ner/main.js",
        "app/main.js",
        "empty/.gitignore",
        "empty/main.js",
    ];
    let inner: Vec<_> = names
        .iter()
        .filter(|name| name.contains('/') && !name.starts_with("src"))
        .collect();
    assert_eq!(inner, expected);
    assert!(!survey(&world, &workspace).is_dirty());
    write(&at.join("app/more.js"), "more\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert!(world.names(&taken.head).contains(&"app/more.js".to_owned()));
}

#[test]
fn a_link_to_a_repository_inside_becomes_its_files_and_a_submodule_is_reported() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    for folder in ["app", "lib"] {
        fs::create_dir_all(at.join(folder)).unwrap();
        world.run(&at.join(folder), &["init", "-q"]);
        write(&at.join(folder).join("main.js"), "x\n");
        world.run(&at.join(folder), &["add", "."]);
        world.commit(&at.join(folder), "inner");
    }
    write(
        &at.join(".gitmodules"),
        "[submodule \"lib\"]\n\tpath = lib\n\turl = https://example.org/lib\n",
    );
    world.run(&at, &["add", "-A"]);
    world.run(&at, &["commit", "-q", "-m", "links"]);
    let found = survey(&world, &workspace);
    assert_eq!(found.links, [Path::new("app"), Path::new("lib")]);
    let taken = workspace.take(LANE, "left").unwrap();
    assert!(world.names(&taken.head).contains(&"app/main.js".to_owned()));
    let found = survey(&world, &workspace);
    assert_eq!(
        (found.links, found.uncommitted),
        (vec!["lib".into()], vec![])
    );
}

#[test]
fn a_file_and_a_folder_may_change_places() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    fs::remove_file(at.join("a.txt")).unwrap();
    write(&at.join("a.txt/inner"), "folder\n");
    fs::remove_dir_all(at.join("src")).unwrap();
    write(&at.join("src"), "file\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(
        world.names(&taken.head),
        [".gitignore", "a.txt/inner", "b.txt", "src"]
    );
}

#[test]
fn an_empty_commit_counts_and_leaves_the_tree() {
    let world = World::new();
    let workspace = world.workspace();
    world.run(
        &workspace.path(),
        &["commit", "-q", "--allow-empty", "-m", "nothing"],
    );
    let found = survey(&world, &workspace);
    assert_eq!(
        (found.commits, found.tree, found.is_dirty()),
        (1, world.base().tree, false)
    );
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!((taken.leftovers, taken.tree), (None, world.base().tree));
}

#[test]
fn a_change_that_keeps_size_and_time_is_still_seen() {
    let world = World::new();
    let workspace = world.workspace();
    let file = workspace.path().join("a.txt");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "eno\n").unwrap();
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(before)
        .unwrap();
    world.run(
        &workspace.path(),
        &["update-index", "--assume-unchanged", "a.txt", "b.txt"],
    );
    fs::write(workspace.path().join("b.txt"), "tow\n").unwrap();
    assert_eq!(
        survey(&world, &workspace).uncommitted,
        [Path::new("a.txt"), Path::new("b.txt")]
    );
}

#[test]
fn many_objects_arrive_as_one_pack() {
    let world = World::new();
    let workspace = world.workspace();
    for n in 0..150 {
        write(
            &workspace.path().join(format!("many/{n}")),
            format!("{n}\n"),
        );
    }
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.names(&taken.head).len(), 154);
    assert_eq!(
        world.run(&world.op, &["fsck", "--no-dangling", "--connectivity-only"]),
        ""
    );
}

#[test]
fn the_next_lane_starts_on_its_own_branch_with_ignored_files_kept() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    write(&at.join("target/cache"), "warm\n");
    write(&at.join("x"), "x\n");
    let next = LaneRef {
        phase: LANE.phase.next(),
        kind: PhaseKind::Research,
    };
    let refused = workspace.enter(next, &world.base().commit).unwrap_err();
    assert!(matches!(refused, GitError::Unkept { .. }), "{refused}");
    let taken = workspace.take(LANE, "left").unwrap();
    world.agent_commit(&at, "y", "y\n");
    let refused = workspace.enter(next, &taken.head).unwrap_err();
    assert!(matches!(refused, GitError::Unkept { .. }), "{refused}");
    let second = workspace.take(LANE, "left").unwrap();
    workspace.enter(next, &taken.head).unwrap();
    assert_eq!(
        world.run(&at, &["branch", "--show-current"]),
        "backstop/m1/2-research"
    );
    assert_eq!(world.head(&at), taken.head);
    assert!(at.join("x").exists() && !at.join("y").exists() && at.join("target/cache").exists());
    assert_eq!(world.run(&at, &["status", "--porcelain"]), "");
    assert_eq!(world.kept(LANE_REF), second.head.as_str());
    assert_eq!(
        world.kept("refs/backstop/m1/2-research"),
        taken.head.as_str()
    );
}

#[test]
fn a_crash_between_two_lanes_is_completed_when_opened() {
    let world = World::new();
    let workspace = world.workspace();
    let first = world.agent_commit(&workspace.path(), "x", "x\n");
    workspace.take(LANE, "left").unwrap();
    let base = world.base().commit;
    // The mark was written, the files were not changed yet, or only some.
    write(
        &world.state().join("git/workspace.entering"),
        format!("backstop/m1/2-coding {base}"),
    );
    fs::remove_file(workspace.path().join("x")).unwrap();
    let opened = Workspace::open(&world.host()).unwrap();
    assert_eq!(world.head(&opened.path()), base);
    assert_eq!(
        world.run(&opened.path(), &["status", "--porcelain", "--branch"]),
        "## backstop/m1/2-coding"
    );
    assert_eq!(
        world.run(&opened.path(), &["rev-parse", "backstop/m1/1-coding"]),
        first.as_str()
    );
    assert!(!world.state().join("git/workspace.entering").exists());
}

#[test]
fn a_crash_between_two_renames_is_completed_when_opened() {
    let world = World::new();
    let workspace = world.workspace();
    let git = workspace.path().join(".git");
    fs::rename(&git, world.state().join("git/workspace.fresh")).unwrap();
    let opened = Workspace::open(&world.host()).unwrap();
    assert_eq!(world.head(&opened.path()), world.base().commit);
    // With nothing ready, a missing folder is damage.
    fs::remove_dir_all(&git).unwrap();
    let opened = Workspace::open(&world.host()).unwrap();
    assert!(matches!(
        opened.take(LANE, "left"),
        Err(GitError::Damaged { .. })
    ));
}

#[test]
fn a_half_made_workspace_is_made_again_and_a_foreign_folder_is_left_alone() {
    let world = World::new();
    let (host, base) = (world.host(), world.base().commit);
    write(&world.state().join("workspace/precious"), "mine\n");
    let refused = Workspace::create(&host, LANE, &base).unwrap_err();
    assert!(matches!(refused, GitError::Occupied { .. }), "{refused}");
    assert!(world.state().join("workspace/precious").exists());
    assert!(matches!(
        Workspace::open(&host),
        Err(GitError::Damaged { .. })
    ));

    write(&world.state().join("git/workspace.begun"), "");
    let workspace = Workspace::create(&host, LANE, &base).unwrap();
    assert!(!workspace.path().join("precious").exists());
    assert_eq!(world.run(&workspace.path(), &["status", "--porcelain"]), "");
    // Made once: what agents did since stays.
    write(&workspace.path().join("work"), "work\n");
    Workspace::create(&host, LANE, &base).unwrap();
    assert!(workspace.path().join("work").exists());
}

#[test]
fn setup_is_recorded_once_for_each_fresh_workspace() {
    let world = World::new();
    let workspace = world.workspace();
    assert!(!workspace.is_set_up());
    workspace.set_up().unwrap();
    assert!(world.workspace().is_set_up());
    workspace.remove().unwrap();
    assert!(!world.workspace().is_set_up());
}

#[test]
fn a_workspace_is_removed_only_when_refs_keep_all_of_it() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    write(&at.join("x"), "x\n");
    let refused = workspace.clone().remove().unwrap_err();
    assert!(refused.to_string().contains("`x` and 0 more"), "{refused}");
    let taken = workspace.take(LANE, "left").unwrap();
    write(&at.join("target/mod/file"), "read-only cache\n");
    fs::set_permissions(at.join("target/mod"), fs::Permissions::from_mode(0o555)).unwrap();
    workspace.remove().unwrap();
    assert!(!at.exists());
    assert_eq!(world.kept(LANE_REF), taken.head.as_str());
    let forgotten: Vec<_> = world
        .host()
        .forget()
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        forgotten,
        ["refs/backstop/m1/1-coding", "refs/backstop/m1/base"]
    );
    assert_eq!(world.run(&world.op, &["for-each-ref", "refs/backstop"]), "");
    let scratch = world.state().join("scratch/x");
    write(&scratch, "x");
    let refused = world.host_as_is().discard().unwrap_err();
    assert!(matches!(refused, GitError::Unkept { .. }), "{refused}");
    fs::remove_dir_all(world.state().join("scratch")).unwrap();
    world.host_as_is().discard().unwrap();
    assert_eq!(fs::read_dir(world.state()).unwrap().count(), 0);
}

#[test]
fn two_missions_of_one_repository_do_not_meet() {
    let world = World::new();
    let first = world.workspace();
    let (other_id, dir) = ("m2".parse().unwrap(), world.folder().join("state/m2"));
    let other = Host::open(&world.repository(), &other_id, &dir, &[]).unwrap();
    other.hold(&world.base()).unwrap();
    let second = Workspace::create(&other, LANE, &world.base().commit).unwrap();
    let one: CommitId = world.agent_commit(&first.path(), "one", "1\n");
    let two = world.agent_commit(&second.path(), "two", "2\n");
    second.take(LANE, "left").unwrap();
    first.take(LANE, "left").unwrap();
    other.forget().unwrap();
    assert_eq!(world.kept(LANE_REF), one.as_str());
    assert!(!world.names(&one).contains(&"two".to_owned()));
    assert_ne!(one, two);
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry
            .map(|entry| (entry.path(), entry.file_name()))
            .unwrap();
        if path.is_dir() {
            copy_folder(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
