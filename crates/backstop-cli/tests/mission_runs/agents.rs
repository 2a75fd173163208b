//! Real agents' words in whole missions, spoken by a stand-in program: limits that are waited out together, sessions that
//! are taken up, spend that is charged once; and recorded runs, read by `classify`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use backstop_engine::mode::Account;
use backstop_engine::{Fact, GateKind};
use serde_json::Value;

use crate::support::World;

/// Speaks as Claude Code does. It notes its arguments, meets a limit once for each session it begins, and does the work
/// when its session is taken up.
const CLAUDE: &str = r#"#!/bin/sh
case "$*" in --version) echo "2.1.332 (Claude Code)"; exit 0;; esac
cat >/dev/null
echo "$*" >>"$E2E_SIDE/launches"
echo '{"type":"system","subtype":"init","session_id":"5e55","model":"sonnet-9"}'
case "$*" in
*--json-schema*)
    printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"I looked at it.","structured_output":{"verdict":"PASS","reason":"I ran it.\nIt prints 42.","findings":[]},"session_id":"9e9e"}'
    ;;
*--resume*)
    echo 42 >work
    echo '{"type":"assistant","message":{"id":"m2","model":"sonnet-9","content":[{"type":"tool_use","id":"t1","name":"Write"}]},"session_id":"5e55"}'
    echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]},"session_id":"5e55"}'
    echo '{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.03,"usage":{"input_tokens":20,"output_tokens":2},"session_id":"5e55"}'
    ;;
*)
    end=$(( $(date +%s) + $(cat "$E2E_SIDE/pause") ))
    echo "$end" >>"$E2E_SIDE/ends"
    echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$end',"rateLimitType":"five_hour"},"session_id":"5e55"}'
    echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Limit reached","total_cost_usd":0.01,"usage":{"input_tokens":10,"output_tokens":1},"session_id":"5e55"}'
    exit 1
    ;;
esac
"#;

/// A repository whose agent is the stand-in, which meets a limit of so many seconds.
fn world(seconds: u32) -> World {
    let world = World::new();
    let program = world.leave("claude", CLAUDE);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    world.leave("pause", &seconds.to_string());
    let settings = format!(
        "agent = \"claude\"\nchecks = [\"test ! -e work || test -s work\"]\n[agents.claude]\nprogram = \"{program}\"\nargs = [\"--extra\"]\n\
         [limits]\nshortest_limit_wait = \"1s\"\n[roles]\nscout = {{ off = true }}\nplanner = {{ off = true }}\n"
    );
    world.write("backstop.toml", &settings);
    world.commit("settings");
    world
}

#[test]
fn a_limit_is_waited_out_to_the_second_and_the_same_session_taken_up() {
    let world = world(2);
    world.backstop(&["run", "x"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let launches = world.launches();
    assert_eq!(launches.len(), 2, "{launches:?}");
    assert!(launches[1].contains("--resume 5e55") && launches[1].ends_with("--extra"));
    let ended: u64 = world.seen("ends").trim().parse().unwrap();
    let history = world.history();
    let waited = history
        .steps
        .iter()
        .find(|step| matches!(step.fact, Fact::WaitEnded { .. }));
    let waited = waited.unwrap().at.as_millis();
    assert!(waited >= ended * 1000, "{waited} is before {ended}");
    assert_eq!(world.mission().meter().total(Account::QuotaWaits), 1);
    for account in [Account::Streak, Account::PhaseFailures, Account::InfraTotal] {
        assert_eq!(world.used(account), 0, "{account}");
    }
    // The price of a session is told as a whole each time, its tokens run by run.
    assert_eq!(world.used(Account::Cost), 30_000);
    assert_eq!(world.used(Account::Tokens), 33);
    assert_eq!(world.used(Account::ToolCalls), 1);
    world.nothing_runs();
}

#[test]
fn a_judge_that_can_be_held_to_a_schema_is() {
    let world = world(1);
    let settings = std::fs::read_to_string(world.repo().join("backstop.toml")).unwrap();
    world.write("backstop.toml", &format!("{settings}reviewer = {{}}\n"));
    world.commit("a reviewer");
    world.backstop(&["run", "x"]).with(3);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    let launches = world.launches();
    let judged = launches.iter().find(|line| line.contains("--json-schema"));
    let judged = judged.unwrap();
    assert!(
        judged.contains(backstop_engine::Ruling::SCHEMA.trim()),
        "{judged}"
    );
    assert!(
        judged.contains("--disallowedTools Edit,Write,NotebookEdit"),
        "{judged}"
    );
    let others = launches.len() - 1;
    assert_eq!(
        launches
            .iter()
            .filter(|line| !line.contains("--json-schema"))
            .count(),
        others
    );
}

#[test]
fn a_runner_that_is_killed_while_it_waits_wakes_at_the_same_moment() {
    let world = world(6);
    let mut runner = world.start(&["run", "x"]);
    world.until("the wait", || runner.told().contains("waiting until"));
    let wakes = || world.mission().deadline().unwrap();
    let before = wakes();
    runner.kill();
    assert_eq!(wakes(), before);
    let shown: Value =
        serde_json::from_str(&world.backstop(&["status", "--json"]).with(0).out).unwrap();
    assert_eq!(shown["missions"][0]["wakes_at"], before.as_millis());
    world.backstop(&["resume"]).with(3);
    assert_eq!(world.launches().len(), 2);
    assert_eq!(world.mission().meter().total(Account::QuotaWaits), 1);
}

#[test]
fn missions_of_one_account_wait_together_and_burn_no_attempt() {
    let world = world(8);
    let first = world.start(&["run", "one"]);
    world.until("the wait", || first.told().contains("waiting until"));
    let second = world.start(&["run", "two"]);
    let held = || {
        let shown = world.backstop(&["status", "--json"]).with(0).out;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let all = shown["missions"].as_array().unwrap().clone();
        all.into_iter().find(|mission| mission["limit"].is_object())
    };
    let mut seen = None;
    world.until("the second is held", || {
        seen = held();
        seen.is_some()
    });
    let seen = seen.unwrap();
    assert_eq!(seen["goal"], "two");
    assert_eq!(seen["limit"]["mission"], first_mission(&world, "one"));
    // It was let in, paid for once, and its agent is not asked before the limit ends.
    assert_eq!(world.launches().len(), 1);
    let text = world.backstop(&["status"]).with(0).out;
    assert!(
        text.contains("waits     for the account's limit until"),
        "{text}"
    );
    first.end().with(3);
    second.end().with(3);
    let ends: Vec<u64> = world
        .seen("ends")
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    assert!(
        ends[1] >= ends[0] + 8,
        "the second began at {} and the first limit ended at {}",
        ends[1] - 8,
        ends[0]
    );
}

/// The id of the mission with this goal.
fn first_mission(world: &World, goal: &str) -> String {
    let shown = world.backstop(&["status", "--json"]).with(0).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let all = shown["missions"].as_array().unwrap();
    let found = all.iter().find(|mission| mission["goal"] == goal);
    found.unwrap()["mission"].as_str().unwrap().to_owned()
}

#[test]
fn a_mission_that_is_held_by_an_account_can_be_stopped() {
    let world = world(60);
    let mut first = world.start(&["run", "one"]);
    world.until("the wait", || first.told().contains("waiting until"));
    first.kill();
    let second = world.start(&["run", "two"]);
    world.until("it is held", || {
        world.backstop(&["status"]).out.contains("account's limit")
    });
    second.signal(rustix::process::Signal::INT);
    second.end().with(130);
    assert_eq!(world.launches().len(), 1);
}

#[test]
fn the_preflight_names_the_version_and_stops_at_a_program_that_does_not_run() {
    let world = world(1);
    world.leave("claude", "#!/bin/sh\necho no node here >&2\nexit 9\n");
    let ran = world.backstop(&["run", "x"]).with(8);
    ran.telling(&["--version` fails", "no node here"]);
    let world = self::world(1);
    world.backstop(&["run", "x"]).with(3);
    let journal = std::fs::read_to_string(world.journal()).unwrap();
    assert!(journal.contains("2.1.332 (Claude Code)"), "{journal}");
}

#[test]
fn an_account_that_is_no_name_is_refused_at_its_place() {
    let world = World::new();
    world.write(
        "backstop.toml",
        "[agents.claude]\naccount = \"../../team\"\n",
    );
    world.commit("settings");
    let ran = world.backstop(&["run", "x", "--exec-command", "true", "--check", "true"]);
    ran.with(2).telling(&[
        "backstop.toml:2:11",
        "is no name of an account: use 1 to 64",
        "`../../team`",
    ]);
}

fn recording(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../backstop-agents/tests/recordings").join(name)
}

fn classify(world: &World, run: &str, more: &[&str]) -> Value {
    let (agent, _) = run.split_once('/').unwrap();
    let file = |name: &str| recording(run).join(name).display().to_string();
    let (out, err) = (file("stdout.txt"), file("stderr.txt"));
    let mut words = vec![
        "classify", "--agent", agent, "--stdout", &out, "--stderr", &err, "--json",
    ];
    words.extend(more);
    serde_json::from_str(&world.backstop(&words).with(0).out).unwrap()
}

#[test]
fn a_recorded_run_is_read_with_what_the_host_saw_of_it() {
    let world = World::bare();
    let done = classify(&world, "claude/success_text", &["--exit-code", "0"]);
    assert_eq!(done["status"], "success");
    assert_eq!(done["rule"], "terminal");
    assert_eq!(done["session"], "13480bb0-7bcf-4700-8fef-b5dc2a47b305");
    assert_eq!(
        done["usage"],
        serde_json::json!({"input": 1200, "output": 25, "cached": 300})
    );
    assert_eq!(done["cost_usd"], 0.00268);
    assert_eq!(done["final_message"], "All done. The task is complete.");
    let idle = [
        "--exit-code",
        "0",
        "--stage",
        "code",
        "--tree-changed",
        "no",
    ];
    let idle = classify(&world, "claude/success_text", &idle);
    assert_eq!(
        (&idle["status"], &idle["cause"]),
        (&"failed".into(), &"no_work".into())
    );
    assert_eq!(idle["rule"], "evidence");
    let red = ["--exit-code", "0", "--checks", "fail"];
    assert_eq!(
        classify(&world, "claude/success_text", &red)["status"],
        "failed"
    );
    let mute = ["--exit-code", "0", "--stage", "validate"];
    let mute = classify(&world, "claude/success_text", &mute);
    assert_eq!(mute["cause"], "no_verdict");
}

#[test]
fn the_end_of_a_limit_is_told_in_utc_and_as_what_it_rests_on() {
    let world = World::bare();
    let berlin = [
        "--exit-code",
        "1",
        "--now",
        "2026-11-30T00:10:00+01:00",
        "--zone",
        "Europe/Berlin",
    ];
    let limited = classify(&world, "codex/usage_limit", &berlin);
    assert_eq!(limited["status"], "rate_limited");
    assert_eq!(limited["until"], "2026-11-30T02:13:00Z");
    assert_eq!(limited["until_assumed"], true);
    let idle = ["--signal", "SIGTERM", "--ended-by", "idle"];
    let quiet = classify(&world, "aider/overloaded", &idle);
    assert_eq!(
        (&quiet["status"], &quiet["rule"]),
        (&"rate_limited".into(), &"quiet_after_trouble".into())
    );
    assert_eq!(quiet["until"], Value::Null);
}

#[test]
fn what_cannot_be_classified_says_what_to_do() {
    let world = World::bare();
    let out = world.leave("out", "");
    let call = |agent: &str, more: &[&str]| {
        let mut words = vec![
            "classify", "--agent", agent, "--stdout", &out, "--stderr", &out,
        ];
        words.extend(more);
        world.backstop(&words).with(2)
    };
    call("cursor", &["--exit-code", "0"]).telling(&["`cursor` is not an agent", "claude"]);
    call("claude", &[]).telling(&["--exit-code", "--signal"]);
    call("claude", &["--exit-code", "0", "--signal", "9"]).telling(&["cannot be used with"]);
    call("claude", &["--signal", "SIGNAL"]).telling(&["such as SIGKILL"]);
    call("claude", &["--exit-code", "0", "--zone", "Mars/Olympus"]).telling(&["Europe/Berlin"]);
    call("claude", &["--exit-code", "0", "--now", "noon"]).telling(&["RFC 3339"]);
    let missing = [
        "classify",
        "--agent",
        "claude",
        "--stdout",
        "nowhere",
        "--stderr",
        &out,
        "--exit-code",
        "0",
    ];
    world
        .backstop(&missing)
        .with(2)
        .telling(&["cannot read `nowhere`"]);
}
