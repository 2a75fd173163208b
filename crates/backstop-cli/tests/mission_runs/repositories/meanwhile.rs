//! What an operator does in the repository while a mission runs on borrowed objects, and again before the approval.

use super::begun;

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
