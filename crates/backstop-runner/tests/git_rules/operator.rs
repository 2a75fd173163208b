//! The operator's repository: what is found, what is refused, what is noticed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use backstop_runner::git::{Git, GitError, Host, Notice, Repository, Unfit, Workspace};

use crate::support::{LANE, World, script, write};

#[test]
fn the_base_is_head_and_the_branch_it_is_on() {
    let world = World::new();
    let base = world.base();
    assert_eq!(base.commit, world.head(&world.op));
    assert_eq!(base.branch.as_deref(), Some("refs/heads/main"));
    assert_eq!(
        base.tree.digits(),
        world.run(&world.op, &["rev-parse", "HEAD^{tree}"])
    );
    let named = world.repository().resolve_commit(Some("HEAD~1")).unwrap();
    assert_eq!(
        named.commit.as_str(),
        world.run(&world.op, &["rev-parse", "HEAD~1"])
    );
    assert_eq!(named.branch, None);
    let branch = world.repository().resolve_commit(Some("main")).unwrap();
    assert_eq!(branch.branch.as_deref(), Some("refs/heads/main"));
}

#[test]
fn a_base_that_names_no_commit_is_refused_with_the_name() {
    let world = World::new();
    for name in ["nothing", "--all", "HEAD:a.txt", ""] {
        let refused = world.repository().resolve_commit(Some(name)).unwrap_err();
        assert!(
            matches!(&refused, GitError::NoCommit { name: said } if said == name),
            "{refused}"
        );
    }
}

#[test]
fn a_path_outside_any_repository_is_refused_with_what_to_do() {
    let world = World::empty();
    let refused = Repository::discover(&world.git(), &world.home())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("is not in a usable git repository"),
        "{refused}"
    );
    assert!(refused.contains("git init"), "{refused}");
    let gone = Repository::discover(&world.git(), &world.home().join("gone")).unwrap_err();
    assert!(matches!(gone, GitError::NotARepository { .. }), "{gone}");
}

#[test]
fn a_subfolder_leads_to_the_repository() {
    let world = World::new();
    let found = Repository::discover(&world.git(), &world.op.join("src")).unwrap();
    assert_eq!(found.root(), world.op.canonicalize().unwrap());
    assert_eq!(found.object_format(), "sha1");
    assert!(!found.is_bare() && !found.is_shallow());
}

#[test]
fn uncommitted_paths_are_listed_and_nothing_is_refreshed() {
    let world = World::new();
    let odd = OsStr::from_bytes(b"new\nline\xff");
    fs::write(world.op.join(odd), "x").unwrap();
    let global = ["config", "--global", "status.showUntrackedFiles", "no"];
    world.run(&world.home(), &global);
    world.watch();
    let mut paths = world.repository().dirty().unwrap();
    paths.sort();
    let shown: Vec<_> = paths
        .iter()
        .map(|path| backstop_runner::git::shown(path))
        .collect();
    assert_eq!(
        shown,
        [
            "a.txt",
            "new\\nline\\xff",
            "staged.txt",
            "untracked \u{e9}.txt"
        ]
    );
}

#[test]
fn a_clean_ordinary_repository_is_fit() {
    let world = World::empty();
    world.run(&world.op, &["init", "-q", "--template="]);
    world.seed();
    world.watch();
    let found = world.repository().fitness(None).unwrap();
    assert_eq!((found.unfit, found.notices), (vec![], vec![]));
}

#[test]
fn an_unborn_branch_and_a_missing_identity_are_refused_together() {
    let world = World::empty();
    fs::write(world.home().join(".gitconfig"), "").unwrap();
    world.run(&world.op, &["init", "-q"]);
    let found = world.repository().fitness(None).unwrap();
    let unborn = Unfit::NoBase {
        name: "HEAD".to_owned(),
    };
    let [name, email] = ["user.name", "user.email"].map(|missing| Unfit::NoIdentity { missing });
    assert_eq!(found.unfit, [unborn, name, email]);
    assert!(
        found.unfit[1]
            .to_string()
            .contains("git config --global user.name")
    );
}

#[test]
fn lfs_and_configured_filters_are_refused_and_others_are_not() {
    let world = World::empty();
    world.run(&world.op, &["init", "-q"]);
    write(
        &world.op.join("sub/.gitattributes"),
        "*.bin filter=lfs\n*.x filter=mine\n*.y filter=nobody\n",
    );
    world.seed();
    world.run(&world.op, &["config", "filter.mine.clean", "cat"]);
    world.watch();
    let found = world.repository().fitness(None).unwrap();
    let filter = |filter: &str| Unfit::Filter {
        attributes: "sub/.gitattributes".into(),
        filter: filter.to_owned(),
    };
    assert_eq!(found.unfit, [filter("lfs"), filter("mine")]);
}

#[test]
fn a_partial_clone_is_refused() {
    let world = World::new();
    let partial = world.folder().join("partial");
    let from = format!("file://{}", world.op.display());
    world.run(
        &world.op,
        &[
            "-c",
            "uploadpack.allowFilter=true",
            "config",
            "--local",
            "uploadpack.allowFilter",
            "true",
        ],
    );
    world.watch();
    world.run(
        world.folder(),
        &[
            "clone",
            "-q",
            "--filter=blob:none",
            &from,
            partial.to_str().unwrap(),
        ],
    );
    let found = Repository::discover(&world.git(), &partial)
        .unwrap()
        .fitness(None)
        .unwrap();
    assert_eq!(found.unfit, [Unfit::Partial]);
}

#[test]
fn what_works_in_an_unexpected_way_is_said_first() {
    let world = World::new();
    let link = world.head(&world.op);
    world.run(
        &world.op,
        &[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{link},lib"),
        ],
    );
    world.commit(&world.op, "submodule");
    world.run(&world.op, &["config", "core.sparseCheckout", "true"]);
    world.run(&world.op, &["checkout", "-q", "--detach"]);
    let _ = fs::remove_file(world.canary());
    world.watch();
    let repository = world.repository();
    let notices = repository.fitness(None).unwrap().notices;
    let hooks = repository.common_dir().join("hooks");
    let expected = [
        Notice::Detached,
        Notice::Submodules(vec!["lib".into()]),
        Notice::Sparse,
        Notice::Hooks(hooks),
    ];
    assert_eq!(notices, expected);
}

#[test]
fn a_configured_hooks_folder_is_noticed_even_when_it_is_missing() {
    let world = World::empty();
    world.run(&world.op, &["init", "-q", "--template="]);
    world.seed();
    world.run(&world.op, &["config", "core.hooksPath", ".husky/_"]);
    world.watch();
    assert_eq!(
        world.repository().fitness(None).unwrap().notices,
        [Notice::Hooks(".husky/_".into())]
    );
}

#[test]
fn inherited_git_variables_lead_nowhere_else() {
    // The test runs itself once more, with variables that would lead git to another repository.
    if std::env::var_os("GIT_DIR").is_none() {
        let own = std::env::current_exe().unwrap();
        let again = [
            "--exact",
            "operator::inherited_git_variables_lead_nowhere_else",
        ];
        let output = Command::new(own)
            .args(again)
            .env("GIT_DIR", "/nowhere")
            .env("GIT_INDEX_FILE", "/nowhere")
            .output();
        let output = output.unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
        return;
    }
    let found = Repository::discover(
        &Git::new(),
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")),
    );
    assert!(found.unwrap().resolve_commit(None).is_ok());
}

/// From discovery to a kept lane, in a repository of another shape.
fn works(world: &World, repository: &Repository) {
    let host = world.host_of(repository);
    let base = repository.resolve_commit(None).unwrap();
    let workspace = Workspace::create(&host, LANE, &base.commit).unwrap();
    let made = world.agent_commit(&workspace.path(), "made.txt", "made\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!((&taken.head, taken.leftovers), (&made, None));
    assert_eq!(
        host.tip("refs/backstop/m1/1-coding").unwrap(),
        Some(made.clone())
    );
    assert_eq!(host.commits(&base.commit, &made).unwrap(), 1);
    assert_eq!(repository.tree(&made).unwrap(), taken.tree);
}

#[test]
fn a_repository_with_sha_256_names_works() {
    let world = World::of(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    assert_eq!(world.base().commit.as_str().len(), 64);
    works(&world, &world.repository());
    let workspace = Workspace::open(&world.host()).unwrap();
    fs::remove_file(workspace.path().join("a.txt")).unwrap();
    assert!(workspace.take(LANE, "left").unwrap().leftovers.is_some());
}

#[test]
fn a_bare_repository_works() {
    let world = World::new();
    let bare = world.folder().join("bare.git");
    world.run(
        world.folder(),
        &[
            "clone",
            "-q",
            "--bare",
            world.op.to_str().unwrap(),
            bare.to_str().unwrap(),
        ],
    );
    let repository = Repository::discover(&world.git(), &bare).unwrap();
    assert!(repository.is_bare());
    assert!(repository.dirty().unwrap().is_empty());
    assert!(
        repository
            .fitness(None)
            .unwrap()
            .notices
            .contains(&Notice::Bare)
    );
    works(&world, &repository);
}

#[test]
fn a_shallow_repository_works() {
    let world = World::new();
    let shallow = world.folder().join("shallow");
    let from = format!("file://{}", world.op.display());
    world.run(
        world.folder(),
        &["clone", "-q", "--depth=1", &from, shallow.to_str().unwrap()],
    );
    let repository = Repository::discover(&world.git(), &shallow).unwrap();
    assert!(
        repository
            .fitness(None)
            .unwrap()
            .notices
            .contains(&Notice::Shallow)
    );
    works(&world, &repository);
    let log = world.run(&world.state().join("workspace"), &["log", "--oneline"]);
    assert_eq!(log.lines().count(), 2);
}

#[test]
fn a_linked_worktree_of_the_operator_works() {
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
    let _ = fs::remove_file(world.canary());
    world.watch();
    let repository = Repository::discover(&world.git(), &linked).unwrap();
    assert_eq!(
        repository.resolve_commit(None).unwrap().branch.as_deref(),
        Some("refs/heads/side")
    );
    assert_eq!(
        repository.common_dir(),
        world.op.join(".git").canonicalize().unwrap()
    );
    works(&world, &repository);
}

#[test]
fn paths_that_are_no_text_never_lead_to_another_folder() {
    let world = World::new();
    let odd = world.folder().join(OsStr::from_bytes(b"od\xffd: \"x\"\n"));
    fs::create_dir(&odd).unwrap();
    let op = odd.join("op");
    world.run(
        world.folder(),
        &[
            OsStr::new("clone"),
            OsStr::new("-q"),
            world.op.as_os_str(),
            op.as_os_str(),
        ],
    );
    let repository = Repository::discover(&world.git(), &op).unwrap();
    let host = Host::open(&repository, &"m1".parse().unwrap(), &odd.join("state"), &[]).unwrap();
    let base = repository.resolve_commit(None).unwrap();
    host.hold(&base).unwrap();
    let workspace = Workspace::create(&host, LANE, &base.commit).unwrap();
    let made = world.agent_commit(&workspace.path(), "made.txt", "made\n");
    write(&workspace.path().join("left.txt"), "left\n");
    let taken = workspace.take(LANE, "left").unwrap();
    assert_eq!(host.commits(&made, &taken.head).unwrap(), 1);
}

#[test]
fn a_mission_id_keeps_one_base() {
    let world = World::new();
    let host = world.host();
    host.hold(&world.base()).unwrap();
    let other = world.repository().resolve_commit(Some("HEAD~1")).unwrap();
    let refused = host.hold(&other).unwrap_err();
    assert!(matches!(&refused, GitError::MissionTaken { now, .. } if *now == world.base().commit));
}

#[test]
fn a_missing_program_is_said_in_words() {
    let world = World::new();
    script(&world.folder().join("bin/git"), "echo git version 2.20.1\n");
    let old = world.git().env("PATH", world.folder().join("bin"));
    // The program is looked up in the given environment.
    let refused = Repository::discover(&old, &world.op).unwrap_err();
    assert!(matches!(refused, GitError::TooOld { .. }), "{refused}");
    let none = world.git().env("PATH", world.home());
    let refused = Repository::discover(&none, &world.op).unwrap_err();
    assert!(
        refused.to_string().contains("install git 2.38 or newer"),
        "{refused}"
    );
}
