//! Repositories of other shapes and in other places.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::{Comes, WORK, begun, of, picture, ships};
use crate::support::exec_run;

#[test]
fn a_plain_one() {
    begun("").holds();
}

#[test]
fn one_whose_head_is_on_no_branch() {
    begun("git checkout -q --detach").holds();
}

#[test]
fn a_shallow_clone() {
    begun("echo two >>README; git commit -q -a -m two; git clone -q --depth=1 \"file://$W/repo\" \"$W/shallow\"")
        .at("shallow")
        .agent("git log --oneline >/dev/null; printf 'made\\n' >made.txt; git add made.txt; git commit -q -m made; printf 'left\\n' >left.txt")
        .says(&["history is shallow"])
        .holds();
}

#[test]
fn a_shallow_clone_that_is_deepened_meanwhile() {
    begun("for n in 1 2 3; do echo $n >>README; git commit -q -a -m $n; done; git clone -q --depth=2 \"file://$W/repo\" \"$W/shallow\"")
        .at("shallow")
        .meanwhile("git fetch -q --unshallow || git fetch -q --depth=9; git gc -q --prune=now")
        .holds();
}

#[test]
fn a_shallow_clone_that_is_cut_shorter_meanwhile() {
    begun("for n in 1 2 3; do echo $n >>README; git commit -q -a -m $n; done; git clone -q --depth=3 \"file://$W/repo\" \"$W/shallow\"")
        .at("shallow")
        .meanwhile("git fetch -q --depth=1; git reflog expire --expire=now --all; git gc -q --prune=now")
        .holds();
}

#[test]
fn a_sparse_checkout() {
    begun("mkdir a b; echo a >a/f; echo b >b/f; git add -A; git commit -q -m more; git sparse-checkout set --sparse-index a")
        .says(&["your checkout is sparse"])
        .holds();
}

#[test]
fn a_bare_one() {
    begun("git clone -q --bare . \"$W/bare.git\"")
        .at("bare.git")
        .says(&["the repository is bare"])
        .holds();
}

#[test]
fn a_bare_one_ships_by_merging() {
    begun("git clone -q --bare . \"$W/bare.git\"")
        .at("bare.git")
        .args(&["--ship", "merge"])
        .holds();
}

#[test]
fn a_bare_one_with_worktrees_beside_it() {
    of("git init -q -b main \"$W/seed\"; cd \"$W/seed\"; echo a >a; git add a; git commit -q -m a
        git clone -q --bare . \"$W/all/.bare\"; echo 'gitdir: ./.bare' >\"$W/all/.git\"; git -C \"$W/all\" worktree add -q work main")
    .at("all/work")
    .holds();
}

#[test]
fn a_linked_worktree_of_the_operator() {
    begun("git worktree add -q -b side \"$W/linked\"")
        .at("linked")
        .holds();
}

#[test]
fn one_with_sha_256_names() {
    of("git init -q -b main --object-format=sha256 .; echo a >a; git add a; git commit -q -m a")
        .holds();
}

#[test]
fn one_with_sha_256_names_ships_by_merging() {
    of("git init -q -b main --object-format=sha256 .; echo a >a; git add a; git commit -q -m a; git checkout -q --detach")
        .args(&["--ship", "merge", "--base", "main"])
        .holds();
}

#[test]
fn one_whose_refs_are_a_reftable() {
    of("git init -q -b main --ref-format=reftable .; echo a >a; git add a; git commit -q -m a; git checkout -q --detach")
        .args(&["--ship", "merge", "--base", "main"])
        .holds();
}

#[test]
fn one_with_a_split_index_and_an_untracked_cache() {
    begun("git update-index --split-index; git update-index --force-untracked-cache; git status >/dev/null").holds();
}

#[test]
fn one_with_an_index_of_version_4_and_a_monitor() {
    begun("hooks \"$W/side/monitor\" ''; git config core.fsmonitor \"$W/side/monitor/fsmonitor-watchman\"; git update-index --index-version 4").holds();
}

#[test]
fn one_that_borrows_from_one_that_borrows() {
    begun(
        "git clone -q --shared . \"$W/one\"; cd \"$W/one\"; echo 1 >>README; git commit -q -a -m 1
        git clone -q --shared . \"$W/two\"; cd \"$W/two\"; echo 2 >>README; git commit -q -a -m 2",
    )
    .at("two")
    .holds();
}

#[test]
fn one_at_the_end_of_a_long_chain_of_borrowing() {
    begun("from=$W/repo; for n in 1 2 3 4 5; do git clone -q --shared $from \"$W/c$n\"; from=$W/c$n; cd $from; echo $n >>README; git commit -q -a -m $n; done")
    .at("c5")
    .holds();
}

#[test]
fn one_with_replaced_and_grafted_commits() {
    begun("echo two >>README; git commit -q -a -m two; echo three >>README; git commit -q -a -m three
        git replace HEAD~1 $(git commit-tree -m instead HEAD~1^{tree}); echo $(git rev-parse HEAD) >.git/info/grafts")
    .holds();
}

#[test]
fn one_whose_base_is_replaced_by_another_commit() {
    begun("echo two >>README; git commit -q -a -m two; git replace HEAD $(git commit-tree -p HEAD~1 -m instead HEAD~1^{tree})").holds();
}

#[test]
fn one_with_an_old_broken_object() {
    begun("git config fetch.fsckObjects true; git config transfer.fsckObjects true; git config receive.fsckObjects true
        broken=$(printf 'tree %s\\nauthor A <a> 0 +0000\\ncommitter A <a@x> 99999999999 +0\\n\\nold\\n' $(git rev-parse HEAD^{tree}) | git hash-object --literally -w -t commit --stdin)
        git reset -q --hard $broken; echo more >>README; git commit -q -a -m more")
    .holds();
}

#[test]
fn one_inside_another() {
    begun("mkdir inner; git init -q -b main inner; cd inner; echo a >a; git add a; git commit -q -m a").at("repo/inner").holds();
}

#[test]
fn one_that_contains_another() {
    begun("git init -q inner; cd inner; echo a >a; git add a; git commit -q -m a").holds();
}

#[test]
fn one_that_is_a_submodule() {
    begun("git init -q \"$W/lib\"; cd \"$W/lib\"; echo l >l; git add l; git commit -q -m l; cd \"$W/repo\"
        git -c protocol.file.allow=always submodule --quiet add \"$W/lib\" lib; git commit -q -m lib")
    .at("repo/lib")
    .holds();
}

#[test]
fn one_whose_files_lie_elsewhere() {
    begun("mkdir \"$W/files\"; git config core.worktree \"$W/files\"; mv README \"$W/files\"")
        .holds();
}

#[test]
fn one_whose_git_folder_lies_elsewhere() {
    of("rm -r \"$W/repo\"; git init -q -b main --separate-git-dir \"$W/elsewhere\" \"$W/repo\"; cd \"$W/repo\"; echo a >a; git add a; git commit -q -m a").holds();
}

#[test]
fn one_that_is_reached_by_a_link() {
    begun("ln -s repo \"$W/link\"").at("link").holds();
}

#[test]
fn a_folder_below_its_top() {
    begun("mkdir -p a/b; echo x >a/b/c; git add a; git commit -q -m a")
        .at("repo/a/b")
        .holds();
}

#[test]
fn one_on_a_path_with_spaces_quotes_line_ends_and_bytes_that_are_no_text() {
    let odd = OsStr::from_bytes(b"a \"b'\n\t$(x) -\\:\xff");
    let world = begun(
        "mv \"$W/repo\" \"$W/$(printf 'a \"b'\"'\"'\\n\\t$(x) -\\\\:\\377')\"; mkdir \"$W/repo\"",
    )
    .at(odd)
    .holds();
    assert!(world.repo().ends_with(odd));
}

#[test]
fn one_that_is_an_alias_of_a_branch() {
    begun("git branch trunk; git symbolic-ref refs/heads/alias refs/heads/trunk; git checkout -q --detach")
        .args(&["--ship", "merge", "--base", "alias"])
        .meanwhile("true")
        .holds();
}

#[test]
fn variables_that_lead_git_elsewhere_are_not_followed() {
    let make = "git init -q \"$W/other\"";
    let mut story = begun(make);
    story.comes = Comes::Ships(WORK);
    let mut world = crate::support::World::bare();
    super::make(&world, &story.make);
    world.stand("repo".into());
    let other = world.path("other");
    for (name, place) in [
        ("GIT_DIR", ".git"),
        ("GIT_WORK_TREE", ""),
        ("GIT_INDEX_FILE", "index"),
    ] {
        world = world.set(name, &other.join(place).display().to_string());
    }
    let agent = world.leave(
        "agent.sh",
        &format!("cat >/dev/null\nenv >\"$E2E_SIDE/env\"\n{}\n", super::WORKS),
    );
    let before = picture(&world);
    world
        .backstop(&exec_run(&format!("sh {agent}"), "true", &[]))
        .with(3)
        .holding(&["ship gate g1"]);
    ships(&world, WORK, &before);
    assert!(!world.seen("env").contains("GIT_DIR="));
}

/// As many files as `BACKSTOP_FILES` says, such as 100000; fewer without it.
#[test]
fn one_with_very_many_files() {
    let files = std::env::var("BACKSTOP_FILES").unwrap_or_else(|_| "5000".into());
    let make = format!(
        "n=0; while [ $n -lt {files} ]; do d=d$((n / 5000))/d$((n / 100)); mkdir -p $d; for f in 0 1 2 3 4 5 6 7 8 9; do
        for g in 0 1 2 3 4 5 6 7 8 9; do echo $n $f $g >$d/f$f$g; done; done; n=$((n + 100)); done; git add -A; git commit -q -m many"
    );
    begun(&make)
        .agent("printf 'changed\\n' >d0/d7/f33; rm d0/d9/f00; printf 'left\\n' >left.txt")
        .ships(&[
            ("d0/d7/f33", "100644 changed\n"),
            ("d0/d9/f00", "gone"),
            ("left.txt", "100644 left\n"),
        ])
        .holds();
}
