//! Workspaces that agents prepared against the host: nothing of theirs runs, nothing outside is touched.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use backstop_runner::git::{Bench, GitError, LaneRef, Repository, Scratch, Workspace};

use crate::support::{LANE, World, script, write};

/// Settings whose value git starts as a program.
const TRAPS: [&str; 24] = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.alternateRefsCommand",
    "core.gitProxy",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "merge.evil.driver",
    "uploadpack.packObjectsHook",
    "gpg.program",
    "pager.status",
    "pager.diff",
    "interactive.diffFilter",
    "credential.helper",
    "sequence.editor",
    "remote.evil.uploadpack",
    "submodule.lib.update",
    "core.worktree",
];

/// Every way known to make git start a program, in the configuration and attributes of `at`.
fn booby_trap(world: &World, at: &Path) {
    let trap = world.folder().join("trap");
    script(
        &trap,
        &format!("echo \"$0 $*\" >> {}\ncat\n", world.canary().display()),
    );
    let trap = trap.display().to_string();
    let git = at.join(".git");
    for name in TRAPS {
        world.run(
            at,
            &[
                "config",
                "--file",
                git.join("config").to_str().unwrap(),
                name,
                &trap,
            ],
        );
    }
    let more = format!(
        "[alias]\n status = !{trap}\n read-tree = !{trap}\n[core]\n hooksPath = {0}\n[remote \"evil\"]\n url = ext::{trap}\n promisor = true\n[extensions]\n worktreeConfig = true\n partialClone = evil\n[include]\n path = evil\n",
        git.join("hooks").display()
    );
    let config = fs::read_to_string(git.join("config")).unwrap();
    write(&git.join("config"), format!("{config}{more}"));
    write(
        &git.join("config.worktree"),
        format!("[core]\n fsmonitor = {trap}\n"),
    );
    for hook in [
        "reference-transaction",
        "post-checkout",
        "post-index-change",
        "pre-commit",
        "post-commit",
        "pre-auto-gc",
        "fsmonitor-watchman",
    ] {
        script(
            &git.join("hooks").join(hook),
            &format!("echo {hook} >> {}\n", world.canary().display()),
        );
    }
    let attributes = "* filter=evil diff=evil merge=evil\n";
    write(&git.join("info/attributes"), attributes);
    write(&at.join(".gitattributes"), attributes);
    write(
        &at.join(".gitmodules"),
        format!("[submodule \"lib\"]\n path = lib\n url = ext::{trap}\n update = !{trap}\n"),
    );
}

#[test]
fn nothing_that_an_agent_configured_runs_in_the_host() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    world.agent_commit(&at, "one.txt", "1\n");
    booby_trap(&world, &at);
    for nested in ["nested", "lib"] {
        world.run(
            world.folder(),
            &["init", "-q", at.join(nested).to_str().unwrap()],
        );
        write(&at.join(nested).join("f"), "f\n");
        booby_trap(&world, &at.join(nested));
    }
    write(&at.join("a.txt"), "changed\n");
    // The traps are real: an agent's own git does run them.
    world.try_run(&at, &["add", "a.txt"]);
    let mut armed = fs::read_to_string(world.canary()).unwrap_or_default();
    world.run(
        &world.op,
        &[
            "config",
            "--file",
            at.join(".git/config").to_str().unwrap(),
            "--unset",
            "core.worktree",
        ],
    );
    world.try_run(&at, &["add", "a.txt"]);
    armed.push_str(&fs::read_to_string(world.canary()).unwrap_or_default());
    assert!(!armed.is_empty(), "no trap went off");
    fs::remove_file(world.canary()).unwrap();

    let (host, base) = (world.host(), world.base().commit);
    let found = workspace.survey(LANE, &base, &base).unwrap();
    assert!(found.is_dirty());
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(world.text(&taken.head, "a.txt"), "changed");
    host.diff_stat(&base, &taken.head).unwrap();
    host.diff(&base, &taken.head).unwrap();
    let next = LaneRef {
        phase: LANE.phase.next(),
        kind: LANE.kind,
    };
    workspace.enter(next, &taken.head).unwrap();
    let scratch = Scratch::prepare(&host, Bench::Checks, &taken.head).unwrap();
    booby_trap(&world, &scratch.path());
    Scratch::prepare(&host, Bench::Checks, &base).unwrap();
    host.land(&taken.head, None).unwrap();
    let opened = Workspace::open(&host).unwrap();
    let evil = ["config", "--local", "--get-regexp", "evil|fsmonitor|alias"];
    let found = world.try_run(&opened.path(), &evil).stdout;
    assert_eq!(String::from_utf8_lossy(&found), "core.fsmonitor false\n");
    opened.remove().unwrap();
    assert!(
        !world.canary().exists(),
        "{}",
        fs::read_to_string(world.canary()).unwrap()
    );
}

#[test]
fn a_fresh_git_folder_has_nothing_of_the_agents() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    let clean = fs::read(at.join(".git/config")).unwrap();
    booby_trap(&world, &at);
    fs::remove_file(at.join(".gitattributes")).unwrap();
    workspace.take(LANE, "left").unwrap();
    assert_eq!(fs::read(at.join(".git/config")).unwrap(), clean);
    for gone in ["config.worktree", "info/attributes", "hooks/pre-commit"] {
        assert!(!at.join(".git").join(gone).exists(), "{gone}");
    }
    world.agent_commit(&at, "x", "x\n");
}

#[test]
fn links_inside_the_git_folder_do_not_lead_the_host_out() {
    let world = World::new();
    let workspace = world.workspace();
    let git = workspace.path().join(".git");
    let operators = world.op.join(".git");
    world.agent_commit(&workspace.path(), "x", "x\n");
    let head = world.head(&workspace.path());
    for name in ["hooks", "info", "logs"] {
        let _ = fs::remove_dir_all(git.join(name));
        symlink(operators.join(name), git.join(name)).unwrap();
    }
    fs::write(git.join("commondir"), operators.display().to_string()).unwrap();
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(taken.head, head);

    let git = workspace.path().join(".git");
    fs::remove_dir_all(git.join("refs")).unwrap();
    fs::remove_file(git.join("packed-refs")).unwrap();
    symlink(operators.join("refs"), git.join("refs")).unwrap();
    // No ref of the operator's counts as the agent's: the branch has no commit, so the lane goes on from what was kept.
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!((taken.head, taken.strays), (head, vec![]));
    assert!(!workspace.path().join(".git/refs").is_symlink());
}

#[test]
fn a_link_in_the_files_does_not_lead_the_host_out() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    fs::remove_dir_all(at.join("src")).unwrap();
    symlink(world.op.join("src"), at.join("src")).unwrap();
    symlink(world.op.join(".git"), at.join("dotgit")).unwrap();
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(
        world.names(&taken.head),
        [".gitignore", "a.txt", "b.txt", "dotgit", "src"]
    );
    // Going back puts a folder where the link is, not files behind it.
    let next = LaneRef {
        phase: LANE.phase.next(),
        kind: LANE.kind,
    };
    workspace.enter(next, &world.base().commit).unwrap();
    assert!(!at.join("src").is_symlink() && at.join("src/lib.rs").exists());
    assert!(world.op.join("src/lib.rs").exists());
}

#[test]
fn broken_objects_make_the_workspace_fail_and_not_the_operators_repository() {
    let world = World::new();
    let workspace = world.workspace();
    let at = workspace.path();
    world.agent_commit(&at, "x", "x\n");
    let blob = world.run(&at, &["rev-parse", "HEAD:x"]);
    let (folder, file) = blob.split_at(2);
    fs::remove_file(at.join(".git/objects").join(folder).join(file)).unwrap();
    fs::remove_file(at.join("x")).unwrap();
    let refused = workspace.take(LANE, "left").unwrap_err();
    assert!(matches!(refused, GitError::Failed { .. }), "{refused}");
    assert_eq!(
        world.kept("refs/backstop/m1/1-coding"),
        world.base().commit.as_str()
    );
    assert!(at.join(".git/HEAD").exists());
}

#[test]
fn a_pipe_where_a_file_is_expected_does_not_hold_the_host() {
    let world = World::new();
    let workspace = world.workspace();
    let git = workspace.path().join(".git");
    let pipe = |path: &Path| {
        let _ = fs::remove_file(path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(&git.join("packed-refs"));
    pipe(&git.join("ORIG_HEAD"));
    pipe(&workspace.path().join("pipe"));
    assert!(workspace.take(LANE, "left").unwrap().leftovers.is_none());
    pipe(&workspace.path().join("a.txt"));
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(
        world.names(&taken.head),
        [".gitignore", "b.txt", "src/lib.rs"]
    );
    pipe(&workspace.path().join(".gitignore"));
    let impatient =
        Repository::discover(&world.git().limit(Duration::from_millis(500)), &world.op).unwrap();
    let host = world.host_of(&impatient);
    let refused = Workspace::open(&host)
        .unwrap()
        .take(LANE, "left")
        .unwrap_err();
    assert!(matches!(refused, GitError::TimedOut { .. }), "{refused}");
}

#[test]
fn operators_filters_do_not_run_on_an_agents_files() {
    let world = World::new();
    let trap = world.folder().join("trap");
    script(
        &trap,
        &format!("echo ran >> {}\ncat\n", world.canary().display()),
    );
    for name in ["filter.mine.clean", "filter.mine.smudge", "core.fsmonitor"] {
        world.run(
            &world.home(),
            &["config", "--global", name, trap.to_str().unwrap()],
        );
    }
    let workspace = world.workspace();
    write(&workspace.path().join(".gitattributes"), "* filter=mine\n");
    write(&workspace.path().join("x"), "x\n");
    let taken = workspace.take(LANE, "left").unwrap();
    Scratch::prepare(&world.host(), Bench::Checks, &taken.head).unwrap();
    // What looks at the operator's own checkout afterwards is the operator's git, which does ask their monitor.
    fs::remove_file(world.home().join(".gitconfig")).unwrap();
}
