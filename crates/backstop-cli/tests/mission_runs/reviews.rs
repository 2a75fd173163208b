//! A second agent judges the work: repairs until it passes, every other end of the review loop, and what reaches whom.

use backstop_engine::mode::Account;
use backstop_engine::review::Loop;
use backstop_engine::{AttemptEnded, Ended, Fact, GateKind, Position, Ruling};

use crate::support::World;

/// Keeps its prompt as `ROLE-VISIT-ATTEMPT` and goes on with the script of its role.
const KEEP: &str = "cat >\"$E2E_SIDE/$BACKSTOP_ROLE-$BACKSTOP_VISIT-$BACKSTOP_ATTEMPT\"\n";

/// A world whose reviewer is on. `scripts` are the shell scripts of roles.
pub(crate) fn team(config: &str, scripts: &[(&str, &str)]) -> World {
    let world = World::new();
    let mut agent = KEEP.to_owned();
    agent.push_str("case $BACKSTOP_ROLE in\n");
    for (role, script) in scripts {
        agent.push_str(&format!("{role})\n{script}\n;;\n"));
    }
    agent.push_str("esac\n");
    let agent = world.leave("agent.sh", &agent);
    let text = format!("agent = \"exec\"\n{config}\n[agents.exec]\ncommand = \"sh {agent}\"\n");
    world.write("backstop.toml", &text);
    world.commit("a team");
    world
}

const CHECKED: &str = "checks = [\"true\"]\n[roles.reviewer]\n";

const SHIP: &str = r#"[{"policy":"ship_always"}]"#;

fn code(world: &World, exit: i32) -> crate::support::Said {
    world
        .backstop(&["run", "do the work", "--from", "code"])
        .with(exit)
}

/// Every attempt that has ended, in order.
pub(crate) fn ended(world: &World) -> Vec<AttemptEnded> {
    let steps = world.history().steps.into_iter();
    let ended = steps.filter_map(|step| match step.fact {
        Fact::AttemptEnded(ended) => Some(*ended),
        _ => None,
    });
    ended.collect()
}

/// Writes the number of its visit.
const COUNTS: &str = "echo $BACKSTOP_VISIT >answer; echo \"did $BACKSTOP_VISIT\"";

/// Passes what holds 3.
const WANTS_3: &str = r#"n=$(cat answer)
if test "$n" = 3; then echo PASS; else printf 'FAIL: not yet\n- fault of %s\n' "$n"; fi"#;

#[test]
fn a_fault_that_is_found_twice_is_repaired_twice_and_shipped_once() {
    // The first launch of the second visit fails, and a person has it done again.
    let implementer = format!("test $BACKSTOP_VISIT-$BACKSTOP_ATTEMPT != 2-1 || exit 1\n{COUNTS}");
    let world = team(
        CHECKED,
        &[("implementer", &implementer), ("reviewer", WANTS_3)],
    );
    code(&world, 3);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    world.backstop(&["gate", "retry"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);

    let mission = world.mission();
    let Some(Loop::Verified(verified)) = &mission.lane().review else {
        panic!("{:?}", mission.lane().review);
    };
    let receipt = verified.receipt();
    assert_eq!(receipt.iterations(), 3);
    assert_eq!(receipt.pin(), mission.lane().head.tree);
    let trees: Vec<_> = ended(&world)
        .iter()
        .filter(|ended| ended.ruling.is_some())
        .map(|ended| ended.head.as_ref().unwrap().tree)
        .collect();
    assert_eq!(trees.len(), 3);
    assert!(
        trees[0] != trees[1] && trees[1] != trees[2],
        "the pin moves"
    );

    // What was found reaches each attempt of the visit that repairs it, and no later visit.
    let has = |prompt: &str, n: u32| world.seen(prompt).contains(&format!("- fault of {n}\n"));
    let seen = |prompt: &str| [has(prompt, 1), has(prompt, 2)];
    assert_eq!(seen("implementer-1-1"), [false, false]);
    assert_eq!(seen("implementer-2-1"), [true, false]);
    assert_eq!(seen("implementer-2-2"), [true, false]);
    assert_eq!(seen("implementer-3-1"), [false, true]);
    assert!(
        world
            .seen("implementer-2-1")
            .contains("## What the reviewer wants repaired")
    );
    let used = [Account::PhaseFailures, Account::Streak].map(|account| world.used(account));
    assert_eq!(used, [2, 0]);

    world.backstop(&["gate", "approve"]).with(0);
    let branch = format!("backstop/{}/mission", world.id());
    assert_eq!(world.git(&["show", &format!("{branch}:answer")]), "3");
    let shipped = world
        .facts()
        .iter()
        .filter(|fact| *fact == "shipped")
        .count();
    assert_eq!(shipped, 1);
    world.backstop(&["journal", "verify"]).with(0);
    world.nothing_runs();
}

#[track_caller]
fn nothing_shipped(world: &World) {
    assert!(!matches!(
        world.mission().position(),
        Position::Ended(Ended::Shipped(_))
    ));
    assert_eq!(world.git(&["branch", "--list", "backstop/*"]), "");
    assert!(!world.facts().contains(&"landed".to_owned()));
}

#[test]
fn a_reviewer_that_never_passes_ends_at_the_ceiling() {
    let reviewer = "printf 'FAIL: never\\n- still wrong\\n'";
    let config = format!("{CHECKED}[ceilings]\nphase_failures = 4\n");
    let world = team(&config, &[("implementer", COUNTS), ("reviewer", reviewer)]);
    code(&world, 3).telling(&[
        "validate gate g1",
        "`phase_failures` is exhausted",
        "still wrong",
    ]);
    world.at_gate(GateKind::Validate, r#"[{"policy":"phase_ceiling"}]"#);
    assert_eq!(world.used(Account::PhaseFailures), 4);
    nothing_shipped(&world);
}

#[test]
fn repairs_that_change_nothing_end_the_loop() {
    let reviewer = "printf 'FAIL: no\\n- still wrong\\n'";
    let world = team(
        CHECKED,
        &[("implementer", "echo 1 >answer"), ("reviewer", reviewer)],
    );
    code(&world, 3);
    world.at_gate(GateKind::Validate, r#"[{"policy":"streak_ceiling"}]"#);
    nothing_shipped(&world);
}

#[test]
fn repairs_that_go_back_and_forth_end_the_loop() {
    let reviewer = "printf 'FAIL: no\\n- still wrong\\n'";
    let implementer = "echo $((BACKSTOP_VISIT % 2)) >answer";
    let config = format!("{CHECKED}[ceilings]\nstreak = 2\n");
    let world = team(
        &config,
        &[("implementer", implementer), ("reviewer", reviewer)],
    );
    code(&world, 3);
    world.backstop(&["explain"]).with(0);
    nothing_shipped(&world);
}

#[test]
fn a_push_from_outside_during_the_review_is_stale_input() {
    let reviewer =
        "touch $E2E_SIDE/reviewing; while ! test -e $E2E_SIDE/go; do sleep 0.02; done; echo PASS";
    let world = team(CHECKED, &[("implementer", COUNTS), ("reviewer", reviewer)]);
    let run = world.start(&["run", "do the work", "--from", "code"]);
    world.until_left("reviewing");
    let lane = format!("refs/backstop/{}/1-coding", world.id());
    let tree = world.git(&["rev-parse", "HEAD^{tree}"]);
    let pushed = world.git(&["commit-tree", &tree, "-p", &lane, "-m", "pushed"]);
    world.git(&["update-ref", &lane, &pushed]);
    world.leave("go", "");
    run.end()
        .with(3)
        .telling(&["review gate g1", "the tree changed"]);
    world.at_gate(GateKind::Review, r#"[{"reviewed":"stale_input"}]"#);
    nothing_shipped(&world);
}

#[test]
fn a_verdict_that_contradicts_its_findings_establishes_nothing() {
    let reviewer =
        r#"echo '{"verdict":"PASS","findings":[{"path":"answer","summary":"it is wrong"}]}'"#;
    let world = team(CHECKED, &[("implementer", COUNTS), ("reviewer", reviewer)]);
    code(&world, 3).telling(&["review gate g1", "it is wrong"]);
    world.at_gate(GateKind::Review, r#"[{"reviewed":"inconclusive"}]"#);
    assert_eq!(world.used(Account::PhaseFailures), 0);
    nothing_shipped(&world);
}

#[test]
fn a_protected_path_is_never_reviewed() {
    let world = team(
        CHECKED,
        &[
            ("implementer", "echo x >>backstop.toml"),
            ("reviewer", "echo PASS"),
        ],
    );
    code(&world, 3).telling(&["it changed a protected path"]);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    assert_eq!(ended(&world).len(), 1);
}

#[test]
fn a_missing_verdict_is_asked_for_twice_and_then_put_to_a_person() {
    let world = team(
        CHECKED,
        &[("implementer", COUNTS), ("reviewer", "echo LGTM")],
    );
    code(&world, 3).telling(&["no strict verdict was given"]);
    world.at_gate(GateKind::Review, r#"[{"ended":"failed"}]"#);
    let ended = ended(&world);
    let none = |ended: &&AttemptEnded| matches!(ended.ruling, Some(Ruling::None(_)));
    assert_eq!(ended.iter().filter(none).count(), 3);
    assert!(
        !world
            .seen("reviewer-1-1")
            .contains("Your last answer has no verdict")
    );
    for again in ["reviewer-1-2", "reviewer-1-3"] {
        assert!(
            world
                .seen(again)
                .contains("## Your last answer has no verdict"),
            "{again}"
        );
    }
    let accounts = [Account::PhaseFailures, Account::Streak, Account::Infra];
    assert_eq!(accounts.map(|account| world.used(account)), [0; 3]);
    assert_eq!(world.used(Account::Attempts), 4);
    nothing_shipped(&world);
}
