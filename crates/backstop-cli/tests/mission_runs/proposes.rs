//! Plans that a model writes: asked for, refused, shown, approved by a person, and run once.

use std::fs;
use std::path::PathBuf;

use backstop_runner::words;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Said, World};

pub(crate) const GOAL: &str = "teach the shop to greet";

pub(crate) const PLAN: &str =
    r#"{"phases":[{"kind":"coding","task":"write it","done_when_check":"test -s work"}]}"#;

/// Leaves its prompt, and answers with the file of its proposal.
const PLANNER: &str =
    "cat >\"$E2E_SIDE/prompt-$BACKSTOP_ATTEMPT\"; cat \"$E2E_SIDE/answer-$BACKSTOP_ATTEMPT\"";

/// Works at whatever it is given.
const CODER: &str = "cat >/dev/null; echo 1 >work";

/// A world whose planner answers so, one answer for each proposal.
pub(crate) fn world(answers: &[&str]) -> World {
    let world = World::new();
    answer(&world, answers);
    world
}

fn answer(world: &World, answers: &[&str]) {
    for (n, answer) in answers.iter().enumerate() {
        world.leave(&format!("answer-{}", n + 1), answer);
    }
}

fn propose(world: &World, more: &[&str]) -> Said {
    let args = ["plan", "propose", GOAL, "--exec-command", PLANNER];
    world.backstop(&[&args[..], more].concat())
}

/// The folders of the stored plans.
pub(crate) fn folders(world: &World) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for home in fs::read_dir(world.path("state/backstop"))
        .into_iter()
        .flatten()
    {
        let plans = fs::read_dir(home.unwrap().path().join("plans"));
        found.extend(
            plans
                .into_iter()
                .flatten()
                .map(|entry| entry.unwrap().path()),
        );
    }
    found
}

/// The record of the only stored plan.
#[track_caller]
pub(crate) fn record(world: &World) -> PathBuf {
    let folders = folders(world);
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders[0].join("plan.json")
}

#[track_caller]
fn json_of(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

/// The newest stored plan, as `plan show --json` prints it.
#[track_caller]
pub(crate) fn shown(world: &World) -> Value {
    json_of(&world.backstop(&["plan", "show", "--json"]).with(0))
}

#[track_caller]
pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key}: {value}"))
        .to_owned()
}

/// A world with one proposed plan; its id and digest.
pub(crate) fn proposed() -> (World, String, String) {
    let world = world(&[PLAN]);
    propose(&world, &[]).with(0);
    let plan = shown(&world);
    let (id, digest) = (text(&plan, "id"), text(&plan, "digest"));
    (world, id, digest)
}

pub(crate) fn run<'a>(plan: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = [
        "run",
        "--plan",
        plan,
        "--from",
        "code",
        "--exec-command",
        CODER,
    ];
    [&args[..], more].concat()
}

/// The prompts of all proposals.
fn prompts(world: &World) -> Vec<String> {
    let seen = (1..=4).map(|n| world.seen(&format!("prompt-{n}")));
    seen.take_while(|prompt| !prompt.is_empty()).collect()
}

#[test]
fn a_valid_plan_is_stored_and_says_how_it_is_approved_and_run() {
    let world = world(&[PLAN]);
    world.write("backstop.toml", "checks = [\"make suite\"]\n");
    world.commit("checked");
    let before = world.operator();
    let said = propose(&world, &[]).with(0);
    assert_eq!(world.operator(), before);
    world.nothing_runs();
    let plan = shown(&world);
    let (id, digest) = (text(&plan, "id"), text(&plan, "digest"));
    assert_eq!(text(&plan, "state"), "proposed");
    assert_eq!(text(&plan, "model"), "exec");
    assert_eq!(plan["proposals"], 1);
    for part in [
        format!("plan {id}  proposed"),
        format!("backstop plan approve {id} --digest {digest}"),
        format!("backstop run --plan {id}"),
        "phase 1 of 1  coding".into(),
        "check     test -s work".into(),
        "attempts            60".into(),
    ] {
        assert!(
            said.out.contains(&part),
            "`{part}` is missing:\n{}",
            said.out
        );
    }
    let prompt = &prompts(&world)[0];
    let keys = [
        "phases",
        "kind",
        "task",
        "done_when",
        "done_when_check",
        "allow_empty",
    ];
    for part in [
        GOAL,
        "make suite",
        "\"additionalProperties\":false",
        "Read by the reviewer",
    ] {
        assert!(prompt.contains(part), "`{part}` is missing:\n{prompt}");
    }
    for key in keys {
        assert!(
            prompt.contains(&format!("- `{key}` of ")),
            "{key}:\n{prompt}"
        );
    }
    // Nothing stays but the record and what the agent printed.
    assert_eq!(world.git(&["for-each-ref", "refs/backstop"]), "");
    let folder = folders(&world)[0].clone();
    assert!(!folder.join("review").exists() && !folder.join("git").exists());
    let transcript = text(&plan, "transcript").replace("sha256:", "");
    let kept = fs::read_to_string(folder.join("blobs").join(transcript)).unwrap();
    assert_eq!(kept, PLAN);
    let listed = world.backstop(&["plan", "list"]).with(0);
    assert!(
        listed.out.contains(&id) && listed.out.contains("proposed"),
        "{}",
        listed.out
    );
}

#[test]
fn the_planner_is_the_one_that_the_settings_name_and_it_works_where_nothing_counts() {
    let world = World::new();
    let script = format!(
        "[[step]]\nstage = \"plan\"\ndo = [{{ write = {{ path = \"README\", text = \"mine\" }} }}, {{ say = '{PLAN}' }}]\n"
    );
    world.leave("play.toml", &script);
    let script = world.side("play.toml").display().to_string();
    world.write(
        "backstop.toml",
        &format!("agent = \"exec\"\n[agents.exec]\ncommand = \"false\"\n[agents.scripted]\nscript = \"{script}\"\n[roles.planner]\nagent = \"scripted\"\nmodel = \"tiny\"\noff = true\n"),
    );
    world.commit("a planner of its own");
    let before = world.operator();
    world.backstop(&["plan", "propose", GOAL]).with(0);
    assert_eq!(world.operator(), before);
    assert_eq!(text(&shown(&world), "model"), "scripted/tiny");
}

#[test]
fn every_refusal_goes_back_to_the_model_at_once() {
    let first = r#"{"phases":[{"kind":"review","task":"TBD","why":1}],"goal":"x"}"#;
    let second = "I cannot.";
    let world = world(&[first, second, PLAN]);
    let said = propose(&world, &[]).with(0);
    let prompts = prompts(&world);
    assert_eq!(prompts.len(), 3);
    let of_first = [
        "unknown_kind: phase 1",
        "unknown_key: phase 1: `why`",
        "unknown_key: `goal`",
        "placeholder_task: phase 1",
    ];
    for part in of_first {
        for prompt in &prompts[1..] {
            assert!(prompt.contains(part), "`{part}` is missing:\n{prompt}");
        }
        assert!(
            said.err.contains(part),
            "`{part}` is missing:\n{}",
            said.err
        );
        assert!(!prompts[0].contains(part));
    }
    assert!(prompts[1].contains(&format!("> {first}\n")));
    assert!(prompts[2].contains("Why proposal 2 was refused\n- not_json"));
    assert!(prompts[2].contains("> I cannot.\n"));
    let plan = shown(&world);
    assert_eq!(
        (text(&plan, "state").as_str(), &plan["proposals"]),
        ("proposed", &json!(3))
    );
    let counts: Vec<usize> = plan["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["refusals"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [4, 1]);
}

#[test]
fn three_refused_proposals_park_with_every_refusal() {
    let world = world(&[
        "no",
        r#"{"phases":[]}"#,
        r#"{"phases":[{"kind":"Coding","task":"a"}]}"#,
        PLAN,
    ]);
    let said = propose(&world, &[]).with(4);
    assert_eq!(prompts(&world).len(), 3);
    for part in [
        "not_json",
        "empty",
        "unknown_kind",
        "proposal 3",
        "every proposal was refused",
        "backstop plan propose",
    ] {
        assert!(
            said.out.contains(part),
            "`{part}` is missing:\n{}",
            said.out
        );
    }
    let plan = shown(&world);
    assert_eq!(
        (text(&plan, "state").as_str(), &plan["digest"]),
        ("parked", &Value::Null)
    );
    let id = text(&plan, "id");
    world
        .backstop(&["plan", "approve", &id])
        .with(6)
        .telling(&["has no plan", "every proposal was refused"]);
    world
        .backstop(&run(&id, &[]))
        .with(6)
        .telling(&["has no plan", "backstop plan propose"]);
    assert!(world.missions().is_empty());
}

#[test]
fn an_answer_that_comes_again_is_not_asked_for_a_third_time() {
    let world = world(&["no", "no", PLAN]);
    propose(&world, &[])
        .with(4)
        .telling(&["the same answer came again", "not_json"]);
    assert_eq!(prompts(&world).len(), 2);
}

/// Answers as models give them, and the codes that refuse them; none where one is a plan. Those of public incidents carry
/// their number.
fn answers() -> Vec<(&'static str, String, Vec<&'static str>)> {
    let fence = |body: &str| format!("```json\n{body}\n```");
    let coding = r#"{"phases":[{"kind":"coding","task":"x"}]}"#;
    let five = [r#"{"kind":"coding","task":"a"}"#; 5].join(",");
    let of = |phases: &str| format!("{{\"phases\":[{phases}]}}");
    let twice = format!("One:\n{}\nor two:\n{}\n", fence(coding), fence(coding));
    vec![
        ("PJ-01 fence", fence(coding), vec![]),
        ("PJ-01 prose around a fence", format!("Here is the plan:\n{}\nDone.", fence(coding)), vec![]),
        ("PJ-01 another fence first", format!("```bash\nls\n```\n{coding}"), vec!["not_json"]),
        ("another fence beside", format!("```bash\nls\n```\n{}", fence(coding)), vec![]),
        ("two candidates", twice, vec!["ambiguous"]),
        ("huge", of(&format!(r#"{{"kind":"coding","task":"{}"}}"#, "x".repeat(70_000))), vec!["too_large"]),
        ("a long task", of(&format!(r#"{{"kind":"coding","task":"{}"}}"#, "x".repeat(9_000))), vec!["task_too_long"]),
        ("PJ-03 trailing comma", of(r#"{"kind":"coding","task":"x",},"#), vec!["not_json"]),
        ("PJ-03 braces in prose", format!("for {{project}}: {coding}"), vec!["not_json"]),
        ("PJ-04 cut off", "```json\n{\n  \"reasoning\": \"Complex chat backend with 13 features decomposed into 5 layers".into(), vec!["not_json"]),
        ("PJ-04 null", r#"{"phases":null}"#.into(), vec!["wrong_type"]),
        ("PJ-04 nothing in it", "{}".into(), vec!["empty"]),
        ("PJ-04 a list", "[]".into(), vec!["wrong_type"]),
        ("blank", " \n".into(), vec!["not_json"]),
        ("PS-01", of(r#"{"kind":"review","task":"look"},{"kind":"coding","task":"x"}"#), vec!["unknown_kind"]),
        ("PS-02", of(r#"{"kind":"coding","task":"x","type":"agent","config":{"goal":"y"}}"#), vec!["unknown_key", "unknown_key"]),
        ("PS-05 no phases", of(""), vec!["empty"]),
        ("PS-05 a blank task", of(r#"{"kind":"coding","task":"   "}"#), vec!["blank_task"]),
        ("PS-05 five", of(&five), vec!["too_many", "duplicate_task", "duplicate_task", "duplicate_task", "duplicate_task"]),
        ("PS-05 case", of(r#"{"kind":"Coding","task":"a"}"#), vec!["unknown_kind"]),
        ("PS-05 a blank behind", of(r#"{"kind":"coding ","task":"a"}"#), vec!["unknown_kind"]),
        ("PS-05 no width", of("{\"kind\":\"coding\",\"task\":\"\u{200b}\"}"), vec!["blank_task"]),
        ("a key twice", of(r#"{"kind":"coding","kind":"coding","task":"a"}"#), vec!["duplicate_key"]),
    ]
}

#[test]
fn answers_as_models_give_them_are_plans_or_refused_with_their_codes() {
    let good = r#"{"phases":[{"kind":"research","task":"find out"}]}"#;
    let world = World::new();
    world.write("backstop.toml", "checks = [\"true\"]\n");
    world.commit("checked");
    for (name, text, codes) in answers() {
        answer(&world, &[&text, good]);
        let plan = json_of(&propose(&world, &["--json"]).with(0));
        let refused = plan["refused"].as_array().unwrap();
        let refused: Vec<&str> = refused
            .iter()
            .flat_map(|one| one["refusals"].as_array().unwrap())
            .map(|refusal| refusal["code"].as_str().unwrap())
            .collect();
        assert_eq!(refused, codes, "{name}");
        let kind = plan["phases"][0]["kind"].as_str().unwrap();
        assert_eq!(
            kind,
            if codes.is_empty() {
                "coding"
            } else {
                "research"
            },
            "{name}"
        );
    }
}

#[test]
fn coding_that_nothing_checks_is_refused_unless_a_check_is_configured_or_waived() {
    let bare = r#"{"phases":[{"kind":"coding","task":"x"}]}"#;
    let world = world(&[bare, PLAN]);
    propose(&world, &[]).with(0);
    let prompts = prompts(&world);
    assert!(
        prompts[0].contains("No check is configured"),
        "{}",
        prompts[0]
    );
    assert!(
        prompts[1].contains("unchecked_coding: phase 1"),
        "{}",
        prompts[1]
    );
    answer(&world, &[bare]);
    propose(&world, &["--no-check"]).with(0);
    // It was valid beside a waiver; a mission that waives nothing asks again.
    let id = text(&shown(&world), "id");
    world.backstop(&["plan", "approve", &id]).with(0);
    world
        .backstop(&run(&id, &[]))
        .with(2)
        .telling(&["unchecked_coding"]);
    world
        .backstop(&run(&id, &["--check", "test -s work"]))
        .with(3);
}

#[test]
fn an_agent_that_does_not_answer_parks_and_says_why() {
    for (agent, code, parts) in [
        (
            "cat >/dev/null; echo oh no >&2; exit 3",
            4,
            &["failed", "oh no"][..],
        ),
        (
            "no-such-agent",
            8,
            &["its program is not there", "backstop doctor"],
        ),
        ("kill -9 $$", 4, &["killed for want of memory"]),
        ("exec sleep 3600", 4, &["silence for too long"]),
    ] {
        let world = World::new();
        world.write(
            "backstop.toml",
            "[limits]\nidle = \"1s\"\nstop_grace = \"1s\"\n",
        );
        world.commit("no patience");
        let args = ["plan", "propose", GOAL, "--exec-command", agent];
        world.backstop(&args).with(code).telling(parts);
        world.nothing_runs();
        let plan = shown(&world);
        assert_eq!(
            (text(&plan, "state").as_str(), &plan["proposals"]),
            ("parked", &json!(1))
        );
        assert!(
            plan["transcript"].is_string() || agent == "no-such-agent",
            "{plan}"
        );
        assert_eq!(world.git(&["for-each-ref", "refs/backstop"]), "");
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_starts() {
    let world = World::new();
    world
        .backstop(&["plan", "propose", GOAL])
        .with(2)
        .telling(&["no agent is named"]);
    world
        .backstop(&["plan", "propose", " ", "--exec-command", "true"])
        .with(2)
        .telling(&["nothing to do"]);
    world
        .backstop(&["plan", "propose", GOAL, "--agent", "nobody"])
        .with(2)
        .telling(&["`nobody`", "exec"]);
    world
        .backstop(&["plan", "show"])
        .with(6)
        .telling(&["no plan is stored", "backstop plan propose"]);
    world
        .backstop(&["plan", "list"])
        .with(0)
        .telling(&["no plan is stored"]);
    world
        .backstop(&["plan", "approve", "nothing"])
        .with(6)
        .telling(&["`nothing`", "backstop plan list"]);
    assert!(folders(&world).is_empty());
}

#[test]
fn the_budgets_hold_for_all_proposals_together() {
    let world = World::new();
    let call = |n: usize| "{ tool = \"read\" }, ".repeat(n);
    let script = format!(
        "[[step]]\nattempt = 1\ndo = [{}{{ say = \"no\" }}]\n[[step]]\ndo = [{}\"hang\"]\n",
        call(5),
        call(4)
    );
    let script = world.leave("play.toml", &script);
    world.write(
        "backstop.toml",
        "[ceilings]\ntool_calls = 8\n[limits]\nidle = \"9s\"\n",
    );
    world.commit("few calls");
    let args = ["plan", "propose", GOAL, "--script", &script];
    let said = world.backstop(&args).with(4);
    said.telling(&["over its budget of `tool_calls`"]);
    assert_eq!(shown(&world)["proposals"], 2);
}

#[test]
fn an_end_without_an_answer_is_told_as_what_it_was() {
    for (ending, code, words) in [
        ("{ fail = \"refused\" }", 4, "the model refused"),
        ("{ ask = \"which one?\" }", 4, "which one?"),
        (
            "{ rate_limit = { after = \"1h\" } }",
            4,
            "limited by the provider until",
        ),
        ("{ interrupt = \"network\" }", 4, "the network was lost"),
        ("{ unavailable = \"auth\" }", 8, "it is not logged in"),
        ("{ exit = 0 }", 4, "unknown"),
    ] {
        let world = World::new();
        let script = format!("[[step]]\ndo = [{ending}]\n");
        let script = world.leave("play.toml", &script);
        let args = ["plan", "propose", GOAL, "--script", &script];
        world.backstop(&args).with(code).telling(&[words]);
        assert_eq!(shown(&world)["proposals"], 1, "{ending}");
    }
}

#[test]
fn a_secret_is_neither_stored_nor_sent_back() {
    let secret = "hunter2-hunter2-hunter2";
    let plan = PLAN.replace("write it", &format!("log in with {secret}"));
    let world = world(&[&format!("no: {secret}"), &plan]).set("DEPLOY_TOKEN", secret);
    propose(&world, &[]).with(0);
    assert!(!prompts(&world)[1].contains(secret));
    for folder in folders(&world) {
        let blobs = fs::read_dir(folder.join("blobs"))
            .unwrap()
            .map(|blob| blob.unwrap().path());
        for file in blobs.chain([folder.join("plan.json")]) {
            assert!(
                !fs::read_to_string(&file).unwrap().contains(secret),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn a_proposal_that_is_interrupted_leaves_nothing_running() {
    let world = World::new();
    let agent = "sleep 3600 & : >\"$E2E_SIDE/here\"; wait";
    let args = ["plan", "propose", GOAL, "--exec-command", agent];
    let started = world.start(&args);
    world.until_left("here");
    started.signal(Signal::INT);
    started.end().with(130).telling(&["stopped by an operator"]);
    world.nothing_runs();
    assert_eq!(text(&shown(&world), "state"), "parked");
}

#[test]
fn what_a_killed_proposal_left_behind_ends_with_the_next_one() {
    let world = world(&[PLAN]);
    let agent = "sleep 3600 & : >\"$E2E_SIDE/here\"; wait";
    let mut started = world.start(&["plan", "propose", "first", "--exec-command", agent]);
    world.until_left("here");
    // It is asked for still, and another one is asked for beside it.
    propose(&world, &[]).with(0);
    assert!(!started.has_ended());
    started.kill();
    assert!(!world.processes().is_empty());
    propose(&world, &[]).with(0);
    world.nothing_runs();
    let all = json_of(&world.backstop(&["plan", "list", "--json"]).with(0));
    let first = all["plans"]
        .as_array()
        .unwrap()
        .iter()
        .find(|plan| plan["goal"] == "first");
    assert_eq!(text(first.unwrap(), "state"), "parked");
    assert!(text(first.unwrap(), "why").contains("was killed"));
    assert_eq!(world.git(&["for-each-ref", "refs/backstop"]), "");
}

#[test]
fn foreign_text_drives_no_terminal() {
    let key = "{\"phases\":[{\"kind\":\"coding\",\"task\":\"x\",\"a\u{202e}b\":1}]}";
    let world = world(&[key]);
    let agent = r"printf 'red \342\200\256\033[2J it' >&2; exit 3";
    let agent = format!("{PLANNER} || {{ {agent}; }}");
    let said = world.backstop(&["plan", "propose", GOAL, "--exec-command", &agent]);
    let said = said.with(4);
    let looks = [
        &["plan", "show"][..],
        &["plan", "show", "--json"],
        &["plan", "list"],
    ];
    let looks = looks.map(|args| world.backstop(args).with(0).out);
    assert!(said.out.contains("red") && looks[0].contains("unknown_key"));
    for told in looks.iter().chain([&said.out, &said.err]) {
        assert!(told.chars().all(words::is_harmless), "{told:?}");
    }
}
