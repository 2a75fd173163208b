//! Submodules: there, filled, changed, moved, added and removed.

use super::{Comes, begun};
use backstop_engine::GateKind;

/// A repository with the submodule `lib`, whose remote can be pushed to.
const LIB: &str = "git init -q -b main --bare \"$W/side/lib.git\"; git init -q -b main \"$W/lib\"; cd \"$W/lib\"; echo l >l; git add l; git commit -q -m l; git push -q \"$W/side/lib.git\" main
    cd \"$W/repo\"; git config --global protocol.file.allow always; git submodule --quiet add \"$W/side/lib.git\" lib; git commit -q -m lib\n";
const FILLS: &str = "printf '[workspace]\\nsetup = [\"git submodule --quiet update --init\"]\\n' >backstop.toml; git add -A; git commit -q -m setup\n";

fn lib(make: &str) -> super::Story {
    begun(&[LIB, make].concat())
}

#[test]
fn one_that_stays_empty() {
    lib("")
        .says(&[
            "submodules stay empty unless `[workspace] setup` fills them",
            "`lib`",
        ])
        .holds();
}

#[test]
fn one_that_the_operator_never_filled() {
    lib("git submodule --quiet deinit -f lib").holds();
}

#[test]
fn one_that_setup_fills_is_whole_in_every_attempt_and_every_check() {
    let world = lib(FILLS)
        .agent("git status >/dev/null; git -C lib log --oneline | wc -l >>\"$E2E_SIDE/seen\"; echo x >>n; git add n; git commit -q -m n")
        .check("git -C lib rev-parse HEAD && git status && test -f n && test $(wc -l <n) = 3")
        .ships(&[("n", "100644 x\nx\nx\n")])
        .holds();
    assert_eq!(
        world.seen("seen").split_whitespace().collect::<Vec<_>>(),
        ["1"; 3]
    );
}

#[test]
fn one_that_moves_to_a_commit_of_its_remote() {
    lib(FILLS)
        .agent("cd lib; echo more >l; git commit -q -a -m more; git push -q origin HEAD:main; cd ..; git add lib; git commit -q -m lib")
        .ships(&[("lib", "160000")])
        .holds();
}

#[test]
fn one_that_lies_in_a_folder_and_moves() {
    lib("git rm -q lib; rm -rf .git/modules/lib; git submodule --quiet add \"$W/side/lib.git\" deps/lib; printf '[workspace]\\nsetup = [\"git submodule --quiet update --init\"]\\n' >backstop.toml; git add -A; git commit -q -m deps\n")
        .agent("cd deps/lib; echo more >l; git commit -q -a -m more; git push -q origin HEAD:main; cd ../..; git add deps; git commit -q -m lib")
        .ships(&[("deps/lib", "160000")])
        .holds();
}

#[test]
fn one_that_moves_beside_one_that_stays_empty() {
    lib("git init -q \"$W/other\"; cd \"$W/other\"; echo o >o; git add o; git commit -q -m o; cd \"$W/repo\"; git submodule --quiet add \"$W/other\" other; printf '[workspace]\\nsetup = [\"git submodule --quiet update --init lib\"]\\n' >backstop.toml; git add -A; git commit -q -m other\n")
        .agent("cd lib; echo more >l; git commit -q -a -m more; git push -q origin HEAD:main; cd ..; git add lib; git commit -q -m lib")
        .ships(&[("lib", "160000")])
        .holds();
}

#[test]
fn one_that_moves_to_a_commit_that_nobody_else_has() {
    let world = lib(FILLS)
        .agent("cd lib; echo more >l; git commit -q -a -m more; git rev-parse HEAD >\"$E2E_SIDE/commit\"; cd ..; git add lib; git commit -q -m lib")
        .comes(Comes::Holds(GateKind::Review), &["lib", "nowhere but in the workspace", "git push"])
        .holds();
    // It is there for the operator to push, and nothing takes it away before.
    let commit = world.seen("commit").trim().to_owned();
    let lib = world.dir().join("workspace/lib");
    let (ok, words) = world.git_in(&lib, &["cat-file", "-t", &commit]);
    assert!(ok && words == "commit", "{words}");
    world.backstop(&["gate", "abort"]).with(5);
    world
        .backstop(&["clean", &world.id()])
        .with(6)
        .telling(&[&commit, "lib"]);
    assert!(lib.join("l").exists());
    let (ok, words) = world.git_in(&lib, &["push", "--quiet", "origin", "HEAD:main"]);
    assert!(ok, "{words}");
    world.backstop(&["clean", &world.id()]).with(0);
    assert!(!lib.exists());
}

#[test]
fn one_that_is_pushed_by_the_operator_and_tried_again() {
    let world = lib(FILLS)
        .agent("test -e \"$E2E_SIDE/commit\" || { cd lib; echo more >l; git commit -q -a -m more; git rev-parse HEAD >\"$E2E_SIDE/commit\"; cd ..; git add lib; git commit -q -m lib; }")
        .comes(Comes::Holds(GateKind::Review), &[])
        .holds();
    let (ok, words) = world.git_in(
        &world.dir().join("workspace/lib"),
        &["push", "--quiet", "origin", "HEAD:main"],
    );
    assert!(ok, "{words}");
    world
        .backstop(&["gate", "retry"])
        .with(3)
        .holding(&["ship gate"]);
}

#[test]
fn one_that_the_agent_adds_from_a_remote() {
    begun("git init -q \"$W/lib\"; cd \"$W/lib\"; echo l >l; git add l; git commit -q -m l; git config --global protocol.file.allow always; git config --global url.\"$W/\".insteadOf world:")
        .agent("git submodule --quiet add world:lib lib; git commit -q -m lib")
        .ships(&[(".gitmodules", "100644 [submodule \"lib\"]\n\tpath = lib\n\turl = world:lib\n"), ("lib", "160000")])
        .holds();
}

#[test]
fn a_repository_that_the_agent_makes_inside_ships_as_its_files() {
    begun("")
        .agent("git init -q new; cd new; printf 'n\\n' >n; git add n; git commit -q -m n; cd ..; git add new 2>/dev/null; git commit -q -m new")
        .ships(&[("new/n", "100644 n\n")])
        .holds();
}

#[test]
fn one_that_the_agent_removes() {
    lib("")
        .agent("git rm -q lib; git commit -q -m gone")
        .ships(&[(".gitmodules", "100644 "), ("lib", "gone")])
        .holds();
}

#[test]
fn one_that_the_agent_deletes_without_a_commit() {
    lib("")
        .agent("rmdir lib; printf 'left\\n' >left.txt")
        .ships(&[("left.txt", "100644 left\n"), ("lib", "gone")])
        .holds();
}

#[test]
fn one_that_becomes_a_file() {
    lib("")
        .agent("rmdir lib; printf 'file\\n' >lib")
        .ships(&[("lib", "100644 file\n")])
        .holds();
}

#[test]
fn changes_inside_one_are_not_work() {
    lib(FILLS)
        .agent("echo changed >lib/l")
        .comes(Comes::Holds(GateKind::Review), &["left the tree as it was"])
        .holds();
}
