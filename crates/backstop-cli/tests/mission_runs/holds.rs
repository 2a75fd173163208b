//! Gates between roles: who is held, what a person sees of it, and what each answer does.

use backstop_engine::GateKind;
use backstop_engine::mode::Account;
use serde_json::Value;

use crate::reviews::{ended, team};
use crate::support::World;

const SHIP: &str = r#"[{"policy":"ship_always"}]"#;

const STOPSHIP: &str = "preset = \"stopship\"\nchecks = [\"sh $E2E_SIDE/check.sh\"]\n[roles.reviewer]\n[roles.verifier]\n[roles.release_lead]\n";

/// What each role says in a team of five.
const TEAM: [(&str, &str); 6] = [
    ("scout", "echo \"findings of visit $BACKSTOP_VISIT\""),
    ("planner", "echo an outline"),
    ("implementer", "echo $BACKSTOP_VISIT >answer"),
    (
        "reviewer",
        "printf 'PASS\\n\\nI read the diff.\\nIt is right.\\n'",
    ),
    ("verifier", "printf 'PASS\\n\\nI ran it.\\n'"),
    ("release_lead", "echo 'what a user gains'"),
];

/// A stopship mission, held before its implementer. The check is red in the runs that `red` lists; the first is on the
/// base.
fn stopship(red: &str) -> World {
    let world = team(STOPSHIP, &TEAM);
    let check = format!(
        "echo run >>$E2E_SIDE/checks; case $(wc -l <$E2E_SIDE/checks) in {red}) exit 1;; esac"
    );
    world.leave("check.sh", &check);
    world.backstop(&["run", "do the work"]).with(3);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    world
}

fn roles(world: &World) -> Vec<String> {
    let attempts = ended(world).into_iter();
    let roles = attempts.map(|ended| ended.route.role.unwrap().to_string());
    roles.collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn findings_are_held_until_a_person_approves_them() {
    let world = stopship("none");
    assert_eq!(roles(&world), ["scout", "planner"]);
    let line = "scout-findings (approve, scout) is pending: nothing has been judged; opens with your approval";
    world.backstop(&["gate", "list"]).with(0).telling(&[line]);
    world.backstop(&["gate", "show"]).with(0).telling(&[
        line,
        "| findings of visit 1",
        "open `scout-findings`",
    ]);
    let gate = json(&world.backstop(&["gate", "show", "--json"]).with(0).out);
    assert_eq!(gate["holders"][0]["gate"], "scout-findings");
    assert_eq!(gate["holders"][0]["state"], "pending");
    assert_eq!(
        gate["digest"].as_str().unwrap().split(':').next(),
        Some("sha256")
    );
    assert!(!world.seen("implementer-1-1").contains("findings"));
}

#[test]
fn once_its_findings_are_approved_a_team_works_to_the_ship_gate_each_role_given_what_it_reads() {
    let world = stopship("none");
    world.backstop(&["gate", "approve"]).with(3);
    world
        .backstop(&["gate", "show"])
        .with(0)
        .telling(&["notes     of the release lead", "| what a user gains"]);
    world.at_gate(GateKind::Ship, SHIP);
    let all = [
        "scout",
        "planner",
        "implementer",
        "reviewer",
        "verifier",
        "release_lead",
    ];
    assert_eq!(roles(&world), all);
    for (prompt, part) in [
        (
            "implementer-1-1",
            "## From the scout: findings\n> findings of visit 1",
        ),
        (
            "implementer-1-1",
            "## From the planner: outline\n> an outline",
        ),
        ("verifier-1-2", "## From the reviewer: diff_review\n> PASS"),
        (
            "release_lead-1-1",
            "## From the verifier: verify_report\n> PASS",
        ),
    ] {
        assert!(
            world.seen(prompt).contains(part),
            "{prompt}: {}",
            world.seen(prompt)
        );
    }
    // On the base, in the visit, and after the verifier.
    assert_eq!(world.seen("checks").lines().count(), 3);
    let report = json(
        &world
            .backstop(&["report", &world.id(), "--json"])
            .with(0)
            .out,
    );
    let notes = report["release_notes"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "what a user gains");
    // What nobody had approved yet was not given to the planner.
    assert!(!world.seen("planner-1-1").contains("findings of visit 1"));
    for handoff in report["handoffs"].as_array().unwrap() {
        let given = handoff["to"] != "planner";
        let state = if given { "committed" } else { "waiting" };
        assert_eq!(handoff["state"], state, "{handoff}");
    }
    for line in report["status"]["board"].as_array().unwrap() {
        assert_eq!(line["state"], "passed", "{line}");
    }
    world.backstop(&["gate", "approve"]).with(0);
}

#[test]
fn findings_that_are_sent_back_are_made_again() {
    let world = stopship("none");
    let first = world.gate().digest;
    world
        .backstop(&["gate", "retry", "--note", "look deeper"])
        .with(3);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    assert_ne!(world.gate().digest, first);
    assert_eq!(roles(&world).last().unwrap(), "planner");
    let again = world.seen("scout-2-1");
    assert!(
        again.contains("## The operator says\nlook deeper"),
        "{again}"
    );
    // The approval of what was shown first is no longer taken.
    let stale = first.unwrap().to_string();
    world
        .backstop(&["gate", "approve", "--digest", &stale])
        .with(6);
    world.backstop(&["gate", "approve"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
    assert!(!world.seen("implementer-1-1").contains("look deeper"));
    let report = json(
        &world
            .backstop(&["report", &world.id(), "--json"])
            .with(0)
            .out,
    );
    let handoffs = report["handoffs"].as_array().unwrap().iter();
    let findings = handoffs.filter(|one| one["kind"] == "findings" && one["to"] == "implementer");
    let states: Vec<(&Value, &Value)> = findings.map(|one| (&one["state"], &one["text"])).collect();
    let wanted = [
        (json("\"superseded\""), json("\"findings of visit 1\"")),
        (json("\"committed\""), json("\"findings of visit 2\"")),
    ];
    assert!(states.into_iter().eq(wanted.iter().map(|(a, b)| (a, b))));
}

#[test]
fn rejected_findings_are_blocked_and_open_only_by_an_override_with_a_note() {
    let world = stopship("none");
    world
        .backstop(&["gate", "reject"])
        .with(6)
        .telling(&["note"]);
    world
        .backstop(&["gate", "reject", "--note", "not our repository"])
        .with(3)
        .telling(&[
            "scout-findings (approve, scout) is blocked: rejected by olga",
            "not our repository",
        ]);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    assert_eq!(roles(&world), ["scout", "planner"]);
    world
        .backstop(&["gate", "approve"])
        .with(6)
        .telling(&["note"]);
    world
        .backstop(&["gate", "approve", "--note", "it is after all"])
        .with(3);
    world.at_gate(GateKind::Ship, SHIP);
    let status = world.backstop(&["status", &world.id()]).with(0);
    status.telling(&[
        "scout-findings (approve, scout) is overridden: by olga",
        "it is after all",
    ]);
}

#[test]
fn a_red_suite_sends_the_verifier_back_twice() {
    // The third and fourth run are after the verifier.
    let world = stopship("3|4");
    world.backstop(&["gate", "approve"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
    let verifiers = roles(&world)
        .iter()
        .filter(|role| *role == "verifier")
        .count();
    assert_eq!(verifiers, 3);
    assert_eq!(world.seen("checks").lines().count(), 5);
    assert_eq!(world.used(Account::PhaseFailures), 0);
}

#[test]
fn a_third_red_suite_is_a_persons() {
    let world = stopship("3|4|5");
    world.backstop(&["gate", "approve"]).with(3);
    world.backstop(&["gate", "show"]).with(0).telling(&[
        "verifier-suite (verify, verifier) is escalated",
        "your override with a note",
    ]);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    assert!(!roles(&world).contains(&"release_lead".to_owned()));
    // The verifier works again, and so do the checks: green now.
    let before = world.seen("checks").lines().count();
    world.backstop(&["gate", "retry"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
    assert!(world.seen("checks").lines().count() > before);
    let verifiers = roles(&world)
        .iter()
        .filter(|role| *role == "verifier")
        .count();
    assert_eq!(verifiers, 4);
}

#[test]
fn an_escalated_suite_that_a_person_overrides_ships_on_record() {
    let world = stopship("3|4|5");
    world.backstop(&["gate", "approve"]).with(3);
    world
        .backstop(&["gate", "approve"])
        .with(6)
        .telling(&["note"]);
    world
        .backstop(&["gate", "approve", "--note", "the suite is broken"])
        .with(3);
    world.at_gate(GateKind::Ship, SHIP);
    let status = world.backstop(&["status", &world.id()]).with(0);
    status.telling(&[
        "verifier-suite (verify, verifier) is overridden: by olga",
        "the suite is broken",
    ]);
    world.backstop(&["gate", "approve"]).with(0);
}

/// One gate before the implementer starts.
fn gated(gate: &str, check: &str) -> World {
    let config = format!("checks = [\"{check}\"]\n[roles.reviewer]\n[[gates]]\n{gate}");
    team(&config, &TEAM)
}

#[test]
fn an_approval_at_the_start_of_a_role_lets_it_in() {
    let gate = "id = \"go\"\nrole = \"implementer\"\non = \"role_start\"\ngate = \"approve\"\non_fail = \"block\"\n";
    let world = gated(gate, "true");
    world
        .backstop(&["run", "do the work", "--from", "code"])
        .with(3)
        .telling(&["go (approve, implementer) is pending", "open `go`"]);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    assert_eq!(roles(&world), [""; 0]);
    world.backstop(&["gate", "approve"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
    assert_eq!(roles(&world), ["implementer", "reviewer"]);
}

#[test]
fn checks_at_the_start_of_a_role_let_it_in_only_when_they_are_green() {
    let gate = "id = \"green\"\nrole = \"implementer\"\non = \"role_start\"\ngate = \"verify\"\non_fail = \"block\"\n";
    let world = gated(gate, "test -e $E2E_SIDE/green");
    world
        .backstop(&["run", "do the work", "--from", "code"])
        .with(3)
        .telling(&["green (verify, implementer) is blocked"]);
    world.at_gate(GateKind::Held, r#"["held"]"#);
    assert_eq!(roles(&world), [""; 0]);
    world.leave("green", "");
    world.backstop(&["gate", "retry"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
    assert_eq!(roles(&world), ["implementer", "reviewer"]);
}

#[test]
fn what_was_approved_before_a_way_back_to_code_is_asked_again() {
    let gate = "id = \"seen\"\nrole = \"implementer\"\non = \"role_complete\"\ngate = \"approve\"\non_fail = \"block\"\nblocks_role = \"reviewer\"\n";
    let config = format!("checks = [\"true\"]\n[roles.reviewer]\n[[gates]]\n{gate}");
    let reviewer = "test $(cat answer) = 2 && echo PASS || printf 'FAIL: one\\n- it is one\\n'";
    let world = team(
        &config,
        &[("implementer", TEAM[2].1), ("reviewer", reviewer)],
    );
    let said = world
        .backstop(&["run", "do the work", "--from", "code"])
        .with(3);
    said.telling(&["seen (approve, implementer) is pending"]);
    let first = world.at_gate(GateKind::Held, r#"["held"]"#);
    world.backstop(&["gate", "approve"]).with(3);
    let second = world.at_gate(GateKind::Held, r#"["held"]"#);
    assert_ne!(first.digest, second.digest);
    assert_eq!(roles(&world), ["implementer", "reviewer", "implementer"]);
    world.backstop(&["gate", "approve"]).with(3);
    world.at_gate(GateKind::Ship, SHIP);
}

#[test]
fn every_fault_of_the_gates_is_told_with_its_place() {
    let gates = "[[gates]]\nid = \"a\"\nrole = \"tester\"\non = \"role_complete\"\ngate = \"verify\"\non_fail = \"block\"\nmax_retries = 2\n[[gates]]\nid = \"a\"\nrole = \"reviewer\"\non = \"role_complete\"\ngate = \"review\"\non_fail = \"block\"\ncolour = \"red\"\n";
    let world = World::new();
    world.write("backstop.toml", gates);
    world.commit("faulty gates");
    let run = ["run", "x", "--exec-command", "true", "--check", "true"];
    world.backstop(&run).with(2).telling(&[
        "backstop.toml:3:8",
        "unknown role `tester`",
        "backstop.toml:7:15",
        "`max_retries` is read only with",
        "backstop.toml:9:6",
        "the id `a` is taken",
        "backstop.toml:14:1",
        "unknown field `colour`",
    ]);
    assert!(world.missions().is_empty());
}

#[test]
fn every_gate_that_nothing_could_open_is_told_with_its_place() {
    let gate = "[[gates]]\nid = \"early\"\nrole = \"implementer\"\non = \"role_complete\"\ngate = \"review\"\non_fail = \"block\"\n";
    let world = World::new();
    world.write("backstop.toml", &format!("preset = \"stopship\"\n{gate}"));
    world.commit("nobody reviews");
    let run = ["run", "x", "--exec-command", "true", "--check", "true"];
    world.backstop(&run).with(2).telling(&[
        "backstop.toml:1:10",
        "gate `reviewer-diff` waits for role `reviewer`, which is off",
        "gate `verifier-suite` waits for role `verifier`, which is off",
        "backstop.toml:3:6",
        "review gate `early` asks for a verdict that its role does not give",
    ]);
    assert!(world.missions().is_empty());
}

#[test]
fn an_artifact_that_is_too_long_for_a_prompt_is_cut_with_a_mark_and_the_place_of_the_whole() {
    let scout = "echo 'the beginning'; head -c 30000 /dev/zero | tr '\\0' x; echo; echo 'the end'";
    let reviewer = "base=$(grep -o 'git diff [0-9a-f]* HEAD' \"$E2E_SIDE/reviewer-1-1\"); $base --stat >\"$E2E_SIDE/diff\"; echo PASS";
    let config = "checks = [\"true\"]\n[roles.reviewer]\n";
    let scripts = [("scout", scout), TEAM[1], TEAM[2], ("reviewer", reviewer)];
    let world = team(config, &scripts);
    world.backstop(&["run", "do the work"]).with(3);
    for prompt in ["planner-1-1", "implementer-1-1", "reviewer-1-1"] {
        let seen = world.seen(prompt);
        assert!(
            seen.contains("findings\n> the beginning\n> xxx"),
            "{prompt}: {}",
            seen.chars().take(1200).collect::<String>()
        );
        assert!(!seen.contains("the end"), "{prompt}");
        let (_, place) = seen.split_once("\n[cut here; the whole is in `").unwrap();
        let place = place.split('`').next().unwrap();
        let whole = std::fs::read_to_string(place).unwrap();
        assert!(whole.ends_with("the end"), "{prompt}");
    }
    // The reviewer sees all that changed.
    assert!(
        world.seen("diff").contains("answer | 1 +"),
        "{}",
        world.seen("diff")
    );
}
