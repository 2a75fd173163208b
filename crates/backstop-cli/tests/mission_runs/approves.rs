//! What a plan is approved for, by whom, and that one mission runs it: with a lane that wants to approve, a record that was
//! edited, and a crash at any moment.

use std::fs;

use backstop_engine::GateKind;
use backstop_engine::mode::Account;
use backstop_runner::history;
use serde_json::{Value, json};

use crate::proposes::{GOAL, PLAN, folders, proposed, record, run, shown, text, world};
use crate::support::{BACKSTOP, World, exec_run};

#[test]
fn a_plan_runs_after_an_approval_of_its_digest_and_once() {
    let (world, id, digest) = proposed();
    let other = format!("sha256:{}", "1".repeat(64));
    world.backstop(&run(&id, &[])).with(6).telling(&[
        "nobody approved",
        &format!("backstop plan approve {id} --digest {digest}"),
    ]);
    world.backstop(&run(&id, &["--dry-run"])).with(6);
    world
        .backstop(&["plan", "approve", &id, "--digest", &other])
        .with(6)
        .telling(&[&other, &digest]);
    assert_eq!(text(&shown(&world), "state"), "proposed");
    world
        .backstop(&["plan", "approve", &id, "--digest", &digest, "--by", "Ada"])
        .with(0)
        .telling(&[&format!("backstop run --plan {id}")]);
    world
        .backstop(&["plan", "approve", &id, "--by", "Eve"])
        .with(6)
        .telling(&["approved already: by Ada"]);
    let approval = shown(&world)["approval"].clone();
    assert_eq!(
        (approval["digest"].as_str(), approval["by"]["name"].as_str()),
        (Some(digest.as_str()), Some("Ada"))
    );
    world.backstop(&run(&id, &["--dry-run"])).with(0);
    assert!(world.missions().is_empty());
    // The beginning of the id is enough.
    world.backstop(&run(&id[..8], &[])).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let plan = shown(&world);
    assert_eq!(
        (text(&plan, "state"), text(&plan, "mission")),
        ("applied".into(), world.id())
    );
    let mission = world.mission();
    let charter = mission.charter().fields();
    assert_eq!(charter.goal.as_str(), GOAL);
    let edge: Value = serde_json::from_str(charter.edge.as_str()).unwrap();
    let origin = (&edge["plan"]["id"], &edge["plan"]["digest"]);
    assert_eq!(origin, (&json!(id), &json!(digest)));
    assert_eq!(edge["plan"]["approved_by"]["name"], "Ada");
    assert_eq!(edge["plan"]["author"], json!({"model": "exec"}));
    world.backstop(&run(&id, &[])).with(6).telling(&[
        "applied already",
        &world.id(),
        &format!("backstop plan approve {id}"),
    ]);
    assert_eq!(world.missions().len(), 1);
    // Another approval is of another use of the same plan.
    world.backstop(&["plan", "approve", &id]).with(0);
    let again = shown(&world);
    assert_ne!(text(&again, "id"), id);
    assert_eq!(
        (text(&again, "digest"), text(&again, "state")),
        (digest, "approved".into())
    );
    world.backstop(&run(&text(&again, "id"), &[])).with(3);
    assert_eq!(world.missions().len(), 2);
}

#[test]
fn two_runs_at_once_open_one_mission() {
    let (world, id, _) = proposed();
    world.backstop(&["plan", "approve", &id]).with(0);
    let started: Vec<_> = (0..4).map(|_| world.start(&run(&id, &[]))).collect();
    let mut codes: Vec<i32> = started.into_iter().map(|one| one.end().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [3, 6, 6, 6]);
    assert_eq!(world.missions().len(), 1);
}

#[test]
fn an_edited_plan_needs_a_new_approval() {
    let (world, id, digest) = proposed();
    world.backstop(&["plan", "approve", &id]).with(0);
    let record = record(&world);
    let edited = fs::read_to_string(&record)
        .unwrap()
        .replace("test -s work", "touch pwned");
    fs::write(&record, edited).unwrap();
    let plan = shown(&world);
    assert_eq!(plan["edited"], true);
    let now = text(&plan, "digest");
    assert_ne!(now, digest);
    world
        .backstop(&run(&id, &[]))
        .with(6)
        .telling(&["edited after its approval", &now]);
    world
        .backstop(&["plan", "approve", &id, "--digest", &digest])
        .with(6)
        .telling(&[&now]);
    assert!(world.missions().is_empty());
    world
        .backstop(&["plan", "approve", &id, "--digest", &now])
        .with(0);
    world.backstop(&run(&id, &["--dry-run"])).with(0);
}

#[test]
fn a_plan_of_a_persons_own_passes_the_same_door() {
    let toml =
        "[[phases]]\nkind = \"coding\"\ntask = \"write it\"\ndone_when_check = \"test -s work\"\n";
    for (name, plan) in [("plan.json", PLAN), ("plan.toml", toml)] {
        let world = World::new();
        let file = world.leave(name, plan);
        world
            .backstop(&["plan", "show", &file])
            .with(0)
            .telling(&["phase 1 of 1  coding", "test -s work"]);
        world
            .backstop(&["plan", "approve", &file])
            .with(0)
            .telling(&["backstop run --plan"]);
        let first = shown(&world);
        assert_eq!(
            (text(&first, "state"), &first["model"]),
            ("approved".into(), &Value::Null)
        );
        assert_eq!(first["written_by"]["name"], "olga");
        // The file may change: what was approved is stored.
        world.leave(name, &plan.replace("write it", "write more"));
        let given = text(&first, "digest");
        world
            .backstop(&["plan", "approve", &file, "--digest", &given])
            .with(6)
            .telling(&[&given]);
        world.backstop(&["plan", "approve", &file]).with(0);
        let second = shown(&world);
        assert_ne!(text(&first, "digest"), text(&second, "digest"));
        world.backstop(&run(&text(&first, "id"), &[])).with(3);
        assert!(
            world
                .mission()
                .charter()
                .fields()
                .plan
                .canonical()
                .contains("write it")
        );
        let wrong = world.leave(name, &plan.replace("coding", "codign"));
        world
            .backstop(&["plan", "approve", &wrong])
            .with(2)
            .telling(&["unknown_kind"]);
    }
}

#[test]
fn a_stored_plan_can_be_taken_out_edited_and_approved() {
    let (world, id, digest) = proposed();
    let bare = world.backstop(&["plan", "show", &id, "--bare"]).with(0);
    let file = world.leave("mine.json", &bare.out);
    world
        .backstop(&["plan", "approve", &file, "--digest", &digest])
        .with(0);
}

#[test]
fn a_word_that_means_a_file_and_a_plan_is_refused() {
    let (world, id, _) = proposed();
    world.write(&id, PLAN);
    world
        .backstop(&run(&id, &[]))
        .with(6)
        .telling(&[&format!("./{id}"), "whole id"]);
    world.backstop(&run(&format!("./{id}"), &[])).with(3);
}

/// An agent that tries every way it has to approve a plan.
const LIAR: &str = r#"
cat >/dev/null
rm -f "$E2E_SIDE/done"
echo 1 >work
try() { "$@" >>"$E2E_SIDE/tried" 2>&1; echo "status $?" >>"$E2E_SIDE/tried"; }
approve="BINARY plan approve PLAN"
bare="env -i PATH=$PATH HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR"
cd REPO
try $approve
try setsid -w $approve
try $bare $approve
try $bare setsid -w $approve
try $bare BACKSTOP_MISSION= $approve
cat >"$E2E_SIDE/orphan.sh" <<'END'
parent() { cut -d' ' -f4 /proc/$$/stat; }
until test "$(readlink /proc/$(parent)/exe)" = "BINARY"; do sleep 0.02; done
cd REPO
"BINARY" plan approve PLAN >>"$1/tried" 2>&1
echo "status $?" >>"$1/tried"
: >"$1/done"
END
(env -i PATH="$PATH" HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" \
    setsid sh "$E2E_SIDE/orphan.sh" "$E2E_SIDE" </dev/null >/dev/null 2>&1 &)
while ! test -e "$E2E_SIDE/done"; do sleep 0.02; done
"#;

#[test]
fn an_agent_cannot_approve_a_plan() {
    let (world, id, _) = proposed();
    let liar = LIAR
        .replace("BINARY", BACKSTOP)
        .replace("PLAN", &id)
        .replace("REPO", &world.repo().display().to_string());
    let agent = format!("sh {}", world.leave("agent.sh", &liar));
    let before = fs::read(record(&world)).unwrap();
    let planner = ["plan", "propose", "another", "--exec-command", &agent];
    let mission = exec_run(&agent, "true", &[]);
    // The planner says nothing, and is asked a second time.
    for (args, code, launches) in [(&mission[..], 3, 1), (&planner, 4, 2)] {
        let _ = fs::remove_file(world.side("tried"));
        world.backstop(args).with(code);
        let tried = world.seen("tried");
        let refused = tried.matches("must come from a person").count();
        assert_eq!(refused, 6 * launches, "{tried}");
        assert_eq!(tried.matches("status 6").count(), 6 * launches, "{tried}");
        let plans = folders(&world);
        let record = plans.iter().find(|folder| folder.ends_with(&id)).unwrap();
        assert_eq!(fs::read(record.join("plan.json")).unwrap(), before);
    }
}

/// Puts a record where a crash leaves it: a mission was being opened.
fn left_applying(world: &World, mission: &str) {
    let record = record(world);
    let mut stored: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    let approval = stored["state"]
        .get("approved")
        .or_else(|| stored["state"]["applied"].get("approval"))
        .cloned();
    stored["state"] =
        json!({"applying": {"approval": approval.unwrap(), "mission": mission, "at": 1}});
    fs::write(&record, stored.to_string()).unwrap();
}

#[test]
fn a_crash_while_a_plan_is_applied_leaves_it_unapplied_or_a_mission_that_exists() {
    let (world, id, _) = proposed();
    world.backstop(&["plan", "approve", &id]).with(0);
    left_applying(&world, "never-opened");
    assert_eq!(text(&shown(&world), "state"), "approved");
    // The opening is the first record: what a crash leaves in front of it is no mission.
    let begun = record(&world)
        .ancestors()
        .nth(3)
        .unwrap()
        .join("missions/never-opened");
    fs::create_dir_all(&begun).unwrap();
    assert_eq!(text(&shown(&world), "state"), "approved");
    for torn in ["", "1 cut"] {
        fs::write(begun.join("journal.jsonl"), torn).unwrap();
        assert_eq!(text(&shown(&world), "state"), "approved", "{torn}");
    }
    fs::remove_dir_all(begun).unwrap();
    world.backstop(&run(&id, &[])).with(3);
    left_applying(&world, &world.id());
    assert_eq!(text(&shown(&world), "state"), "applied");
    world
        .backstop(&run(&id, &[]))
        .with(6)
        .telling(&["applied already"]);
    // Its journal may go: that the plan was applied is on record by then.
    left_applying(&world, &world.id());
    let mission = world.id();
    world.backstop(&["gate", "abort", "g1"]).with(5);
    world
        .backstop(&["clean", &mission, "--journal", "--force"])
        .with(0);
    assert!(world.missions().is_empty());
    world
        .backstop(&run(&id, &[]))
        .with(6)
        .telling(&["applied already", &mission]);
}

#[test]
fn a_plan_whose_run_is_killed_at_any_moment_is_applied_at_most_once() {
    let (world, id, _) = proposed();
    world.backstop(&["plan", "approve", &id]).with(0);
    let opened = || {
        let journals = world
            .missions()
            .into_iter()
            .map(|dir| dir.join("journal.jsonl"));
        journals.filter(|path| history::read(path).is_ok()).count()
    };
    for moment in 0..40_u64 {
        let mut started = world.start(&run(&id, &[]));
        std::thread::sleep(std::time::Duration::from_millis(moment));
        started.kill();
        let state = text(&shown(&world), "state");
        assert_eq!(
            opened(),
            usize::from(state == "applied"),
            "{moment}: {state}"
        );
    }
    // It is applied by now, or can be.
    let last = world.backstop(&run(&id, &[])).code;
    assert!([3, 6].contains(&last), "{last}");
    assert_eq!(opened(), 1);
}

#[test]
fn a_damaged_record_is_told_and_runs_nothing() {
    let (world, id, _) = proposed();
    fs::write(record(&world), "{\"v\":1").unwrap();
    world
        .backstop(&["plan", "show", &id])
        .with(7)
        .telling(&["plan.json"]);
    world
        .backstop(&run(&id, &[]))
        .with(7)
        .telling(&["plan.json"]);
    let listed = world.backstop(&["plan", "list"]).with(0);
    assert!(listed.out.contains("DAMAGED"), "{}", listed.out);
}

/// Plays every role of a mission of four phases, and the planner before it.
const TEAM: &str = r#"
cat >"$E2E_SIDE/prompt-$BACKSTOP_MISSION-$BACKSTOP_PHASE-$BACKSTOP_ROLE"
echo "$BACKSTOP_PHASE $BACKSTOP_LANE $BACKSTOP_ROLE" >>"$E2E_SIDE/launches"
if test -n "$PLANNING"; then cat "$E2E_SIDE/answer-1"; exit; fi
case $BACKSTOP_ROLE-$BACKSTOP_LANE in
scout-*) echo "findings of phase $BACKSTOP_PHASE" ;;
planner-*) echo "1. Look at \`greet.sh\` for phase $BACKSTOP_PHASE" ;;
implementer-1-research) echo "the shop greets nobody" ;;
implementer-2-coding) echo 'echo "Hello, $1!"' >greet.sh; git add greet.sh; git commit --quiet --message greet; echo done ;;
implementer-3-benchmark) echo '{"commands":["sh greet.sh Ada"],"numbers":{"runs_per_second":412},"machine":"test"}' ;;
implementer-4-security_scan) echo '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"eyes"}},"results":[]}]}' ;;
esac
"#;

const FOUR: &str = r#"{"phases":[
  {"kind":"research","task":"Find out whom the shop greets."},
  {"kind":"coding","task":"Greet people by their name.","done_when":"greet.sh greets","done_when_check":"test \"$(sh greet.sh Ada)\" = \"Hello, Ada!\""},
  {"kind":"benchmark","task":"Measure how fast it greets."},
  {"kind":"security_scan","task":"Look for ways to make it run what it is given."}
]}"#;

/// The report has the plan's origin, every receipt and artifact, and all that was spent.
fn reported(world: &World, plan: &Value) {
    let report = world.backstop(&["report", &world.id(), "--json"]).with(0);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let origin = &report["plan"];
    for key in ["id", "digest"] {
        assert_eq!(origin[key], plan[key]);
    }
    assert_eq!(origin["author"], json!({"model": "exec"}));
    assert_eq!(origin["approved_by"]["name"], "olga");
    assert_eq!(origin["asking"], plan["asking"]);
    assert_eq!(origin["asking"]["proposals"], 1);
    let attempts = report["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 12);
    let form = |one: &Value| {
        let form = &one["artifact"]["form"];
        let bare = form.as_str().map(ToOwned::to_owned);
        bare.unwrap_or_else(|| form.to_string())
    };
    let forms: Vec<String> = attempts.iter().map(form).collect();
    let mut wanted = vec!["text"; 12];
    (wanted[8], wanted[11]) = ("numbers", r#"{"sarif":{"results":0}}"#);
    assert_eq!(forms, wanted);
    for one in attempts {
        for path in [&one["artifact"]["path"], &one["transcript"]] {
            assert!(fs::exists(path.as_str().unwrap()).unwrap(), "{path}");
        }
    }
    let cost = |one: &Value| one["cost_micro_usd"].as_u64().unwrap();
    let sum: u64 = attempts.iter().map(cost).sum();
    let assumed = sum / 12;
    assert!(sum > 0 && world.used(Account::Cost) == sum);
    assert_eq!(cost(&origin["asking"]), assumed);
    assert_eq!(origin["asking"]["assumed_micro_usd"], assumed);

    let text = world.backstop(&["report", &world.id()]).with(0);
    let id = plan["id"].as_str().unwrap();
    let digest = plan["digest"].as_str().unwrap();
    let numbers = text.out.matches("numbers and the commands that made them");
    assert_eq!(numbers.count(), 1, "{}", text.out);
    let asked = "besides, asking for the plan took 1 proposal: ";
    text.holding(&[
        &format!("plan      {id}, proposed by exec, a model"),
        &format!("by olga, covering {digest}"),
        "phase 2 (coding) landed as",
        asked,
        "tokens unreported",
        "assumed",
    ]);
    world
        .backstop(&["report", &world.id(), "--html"])
        .with(0)
        .holding(&[id, digest, "asking for the plan took 1 proposal: "]);
}

/// Every role of every phase had its turn, in order.
fn launched(world: &World) {
    let kinds = ["research", "coding", "benchmark", "security_scan"];
    let expected: Vec<String> = kinds
        .iter()
        .zip(1..)
        .flat_map(|(kind, n)| {
            ["scout", "planner", "implementer"].map(|role| format!("{n} {n}-{kind} {role}"))
        })
        .collect();
    assert_eq!(world.launches(), expected);
}

#[test]
fn a_plan_of_four_phases_goes_from_its_proposal_to_the_ship() {
    let world = world(&[&format!("Here it is:\n```json\n{FOUR}\n```\n")]);
    let script = world.leave("team.sh", TEAM);
    let (planner, team) = (format!("PLANNING=1 sh {script}"), format!("sh {script}"));
    world
        .backstop(&["plan", "propose", GOAL, "--exec-command", &planner])
        .with(0);
    let plan = shown(&world);
    let (id, digest) = (text(&plan, "id"), text(&plan, "digest"));
    fs::remove_file(world.side("launches")).unwrap();
    world
        .backstop(&["plan", "approve", &id, "--digest", &digest])
        .with(0);
    world
        .backstop(&["run", "--plan", &id, "--exec-command", &team])
        .with(3)
        .holding(&[
            "note: checks: no host check is configured; the plan brings checks for phase 2",
            "phase 1    of 4, research: Find out whom the shop greets.",
            "phase 3    of 4, benchmark: Measure how fast it greets.",
            "  phase 1   research, git-tree:",
            ": no check ran on it",
            "  phase 4   security_scan, git-tree:",
            ": `done_when_check` passed",
        ]);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    launched(&world);
    let mission = world.mission();
    assert_eq!(mission.charter().fields().plan.digest().to_string(), digest);
    let landed: Vec<u32> = mission
        .landed()
        .iter()
        .map(|landed| landed.phase.number())
        .collect();
    assert_eq!(landed, [1, 2, 3, 4]);
    let last = format!("prompt-{}-4-implementer", world.id());
    assert!(
        world.seen(&last).contains("the shop greets nobody"),
        "{}",
        world.seen(&last)
    );
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .telling(&["shipped"]);
    world.backstop(&["journal", "verify"]).with(0);
    reported(&world, &plan);
    let branch = format!("backstop/{}/mission", world.id());
    assert_eq!(
        world.git(&["ls-tree", "--name-only", &branch]),
        "README\ngreet.sh"
    );
    let said = world.backstop(&["plan", "show", &id]).with(0);
    assert!(
        said.out.contains("phase 4 of 4  security_scan"),
        "{}",
        said.out
    );
    assert!(
        said.out
            .contains(&format!("backstop status {}", world.id())),
        "{}",
        said.out
    );
}
