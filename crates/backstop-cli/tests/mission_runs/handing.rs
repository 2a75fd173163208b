//! Shipping by merge: a base that nobody has checked out moves forward; one that moved is merged and judged again.

use backstop_engine::{Ended, GateKind, Position};

use crate::support::{World, exec_run};

const AGENT: &str = "cat >\"$E2E_SIDE/prompt-$BACKSTOP_VISIT\"; echo 1 >work";

/// A repository whose base, `main`, is not checked out.
fn aside() -> World {
    let world = World::new();
    world.git(&["checkout", "--quiet", "-b", "mine"]);
    world
}

/// Moves `main` by one commit, as a colleague would.
fn move_main(world: &World, file: &str, text: &str) -> String {
    let at = world.path("tmp/colleague").display().to_string();
    if !std::path::Path::new(&at).exists() {
        world.git(&["worktree", "add", "--quiet", "--detach", &at, "main"]);
    }
    std::fs::write(format!("{at}/{file}"), text).unwrap();
    let dir = std::path::Path::new(&at);
    for args in [
        &["add", "--all"][..],
        &["commit", "--quiet", "--message", "meanwhile"],
    ] {
        let (ok, words) = world.git_in(dir, args);
        assert!(ok, "{words}");
    }
    let (_, head) = world.git_in(dir, &["rev-parse", "HEAD"]);
    world.git(&["update-ref", "refs/heads/main", &head]);
    head
}

fn merging(world: &World, agent: &str, check: &str) {
    let args = exec_run(agent, check, &["--ship", "merge", "--base", "main"]);
    world.backstop(&args).with(3).telling(&["ship gate g1"]);
}

#[track_caller]
fn shipped(world: &World) {
    assert!(matches!(
        world.mission().position(),
        Position::Ended(Ended::Shipped(_))
    ));
}

#[test]
fn a_base_that_is_checked_out_nowhere_moves_forward() {
    let world = aside();
    merging(&world, AGENT, "true");
    let head = world.mission().lane().head.commit.to_string();
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .telling(&["merged into refs/heads/main"]);
    assert_eq!(world.git(&["rev-parse", "main"]), head);
    assert_eq!(world.git(&["branch", "--list", "backstop/*"]), "");
    shipped(&world);
}

#[test]
fn a_base_that_is_checked_out_is_left_to_its_owner() {
    let world = World::new();
    merging(&world, AGENT, "true");
    let before = world.git(&["rev-parse", "main"]);
    let said = world.backstop(&["gate", "approve"]).with(3);
    let head = world.mission().lane().head.commit.to_string();
    let command = format!("git -C {} merge --ff-only {head}", world.repo().display());
    said.telling(&["ship_failed gate g2", "is checked out", &command]);
    world.at_gate(GateKind::ShipFailed, r#"["ship_failed"]"#);
    assert_eq!(world.git(&["rev-parse", "main"]), before);
    world
        .backstop(&["gate", "show"])
        .with(0)
        .telling(&[&command]);
    // The owner does it; a fresh approval finds it done.
    world.git(&["merge", "--quiet", "--ff-only", &head]);
    world.backstop(&["gate", "approve"]).with(0);
    shipped(&world);
}

#[test]
fn a_base_that_moved_voids_the_approval_and_is_judged_again() {
    let world = aside();
    let check = "echo look >>\"$E2E_SIDE/looks\"; test ! -e work || cat README work";
    merging(&world, AGENT, check);
    let looks = world.seen("looks").lines().count();
    let moved = move_main(&world, "other", "theirs\n");
    let said = world.backstop(&["gate", "approve"]).with(3);
    said.telling(&["the base moved", "ship gate g2"]);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    // What comes from the base is no work of the mission.
    let asked = world.backstop(&["gate", "show"]).with(0).out;
    assert!(asked.contains("  | work | 1 +\n"), "{asked}");
    assert!(!asked.contains("| other"), "{asked}");
    assert_eq!(
        world.seen("looks").lines().count(),
        looks + 1,
        "the merged tree is judged"
    );
    let head = world.mission().lane().head.commit.to_string();
    assert_eq!(
        world.git(&["ls-tree", "--name-only", &head]),
        "README\nother\nwork"
    );
    assert_eq!(
        world.git(&["rev-parse", "main"]),
        moved,
        "nothing shipped without a fresh approval"
    );
    world.backstop(&["gate", "approve"]).with(0);
    assert_eq!(world.git(&["rev-parse", "main"]), head);
}

#[test]
fn a_moved_base_that_makes_the_checks_red_goes_back_to_code() {
    let world = aside();
    let agent = "cat >\"$E2E_SIDE/prompt-$BACKSTOP_VISIT\"; echo 1 >work; test ! -e other || echo mine >other";
    merging(&world, agent, "! grep theirs other");
    move_main(&world, "other", "theirs\n");
    world
        .backstop(&["gate", "approve"])
        .with(3)
        .telling(&["ship gate g2"]);
    assert!(
        world.seen("prompt-2").contains("theirs"),
        "{}",
        world.seen("prompt-2")
    );
    world.backstop(&["gate", "approve"]).with(0);
    assert_eq!(world.git(&["show", "main:other"]), "mine");
}

#[test]
fn a_conflict_with_the_moved_base_is_told_to_the_agent_when_a_person_sends_it_back() {
    let world = aside();
    // Sent back, the agent merges the base that it is told of.
    let agent = "cat >\"$E2E_SIDE/prompt-$BACKSTOP_VISIT\"; base=$(grep -o 'base [0-9a-f]\\{40\\}' \"$E2E_SIDE/prompt-$BACKSTOP_VISIT\" | cut -d' ' -f2); if test -n \"$base\"; then git merge --quiet \"$base\"; echo both >work; git add work; git commit --quiet -m both; else echo 1 >work; fi";
    merging(&world, agent, "true");
    let moved = move_main(&world, "work", "theirs\n");
    let said = world.backstop(&["gate", "approve"]).with(3);
    said.telling(&["ship_failed gate g2", "`work`", &moved]);
    world.at_gate(GateKind::ShipFailed, r#"["merge_conflict"]"#);
    assert_eq!(world.git(&["rev-parse", "main"]), moved);
    world
        .backstop(&["gate", "reject", "g2", "--note", "keep both sides"])
        .with(3)
        .telling(&["ship gate g3"]);
    let prompt = world.seen("prompt-2");
    for part in ["keep both sides", "`work`", &moved] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let mut last = world.backstop(&["gate", "approve"]);
    if last.code == 3 {
        // The approval did not know the moved base yet; the tree stands, so only a fresh one is asked for.
        last = world.backstop(&["gate", "approve"]);
    }
    last.with(0);
    assert_eq!(world.git(&["show", "main:work"]), "both");
    let (ok, _) = world.git_in(
        &world.repo(),
        &["merge-base", "--is-ancestor", &moved, "main"],
    );
    assert!(ok, "their commit is in it");
}

#[test]
fn a_base_that_was_rewritten_is_not_merged_with_what_was_dropped_from_it() {
    let world = aside();
    let agent = "cat >\"$E2E_SIDE/prompt-$BACKSTOP_VISIT\"; onto=$(sed -n 's/.*rebase onto \\([0-9a-f]\\{40\\}\\)$/\\1/p' \"$E2E_SIDE/prompt-$BACKSTOP_VISIT\" | head -n 1); if test -n \"$onto\"; then git rebase --quiet --onto \"$onto\" HEAD~1; else echo 1 >work; git add work; git commit --quiet -m work; fi";
    merging(&world, agent, "true");
    let dropped = world.git(&["rev-parse", "main"]);
    let tree = world.git(&["rev-parse", "main^{tree}"]);
    let amended = world.git(&["commit-tree", "-m", "begin, amended", &tree]);
    world.git(&["update-ref", "refs/heads/main", &amended]);
    let said = world.backstop(&["gate", "approve"]).with(3);
    said.telling(&["ship_failed gate g2", "rewritten", &amended, &dropped]);
    assert_eq!(world.git(&["rev-parse", "main"]), amended);
    let note = format!("rebase onto {amended}");
    world
        .backstop(&["gate", "reject", "g2", "--note", &note])
        .with(3)
        .telling(&["ship gate g3"]);
    let mut last = world.backstop(&["gate", "approve"]);
    if last.code == 3 {
        // The approval did not know the rewritten base yet.
        last = world.backstop(&["gate", "approve"]);
    }
    last.with(0);
    assert_eq!(
        world.git(&["log", "--format=%s", "main"]),
        "work\nbegin, amended"
    );
}
