//! What a person and a script see of missions: status, story, reasons, reports, help and errors.

use std::fmt::Write as _;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Said, World, exec_run};

/// The first work is red, the second green.
const PLAY: &str = r#"
[[step]]
stage = "code"
visit = 1
do = [{ session = "s-1" }, { tool = "edit" }, { tokens = 1200 }, { cost = 0.25 },
      { write = { path = "said", text = "wrong\n" } }, { say = "Done." }]

[[step]]
stage = "code"
do = [{ session = "s-1" }, { tool = "edit" }, { tokens = 300 },
      { write = { path = "said", text = "right\n" } }, { say = "Now it is right." }]
"#;

const GOAL: &str = "say the <b>right</b> thing";

/// A mission at its ship gate.
pub(crate) fn at_ship_gate(world: &World) -> Said {
    let script = world.leave("play.toml", PLAY);
    let check = ["--check", "grep -q right said"];
    let mut args = vec!["run", GOAL, "--from", "code", "--script", &script];
    args.extend(check);
    world.backstop(&args).with(3)
}

/// Text without what differs from run to run: places, ids, digests, moments and lengths of time.
fn normal(world: &World, text: &str) -> String {
    let mut text = text.replace(&world.path("").display().to_string(), "ROOT/");
    if let [mission] = world.missions().as_slice() {
        let id = mission.file_name().unwrap().to_string_lossy().into_owned();
        text = text.replace(&id, "MISSION");
    }
    let words: Vec<String> = text
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .map(plain)
        .collect();
    words.concat()
}

/// A word with its end.
fn plain(word: &str) -> String {
    let end = word.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let bare = &word[..word.len() - end.len()];
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let hex = bare.len() >= 12 && bare.bytes().all(|b| b.is_ascii_hexdigit());
    let length = ["ms", "s"]
        .iter()
        .any(|unit| bare.strip_suffix(unit).is_some_and(digits));
    if hex {
        format!("HEX{end}")
    } else if length {
        format!("SPAN{end}")
    } else {
        word.to_owned()
    }
}

/// Moments are `2031-05-06 07:08:09Z`, or `07:08:09` at the beginning of a line.
fn without_moments(text: &str) -> String {
    let shape = |text: &str| -> String {
        let digit = |c: char| if c.is_ascii_digit() { '0' } else { c };
        text.chars().map(digit).collect()
    };
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let head = |n: usize| rest.get(..n).map(shape).unwrap_or_default();
        let begins = out.is_empty() || out.ends_with('\n');
        let taken = if head(20) == "0000-00-00 00:00:00Z" {
            out.push_str("MOMENT");
            20
        } else if begins && head(8) == "00:00:00" {
            out.push_str("HH:MM:SS");
            8
        } else {
            let one = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..one]);
            one
        };
        rest = &rest[taken..];
    }
    out
}

#[track_caller]
fn snapshot(name: &str, world: &World, text: &str) {
    insta::assert_snapshot!(name, without_moments(&normal(world, text)));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_mission_at_a_gate_is_shown_with_what_it_needs() {
    let world = World::new();
    at_ship_gate(&world);
    let id = world.id();
    snapshot("status", &world, &world.backstop(&["status"]).with(0).out);
    snapshot(
        "status_one",
        &world,
        &world.backstop(&["status", &id]).with(0).out,
    );
    let all = json(&world.backstop(&["status", "--json"]).with(0).out);
    let one = json(&world.backstop(&["status", &id, "--json"]).with(0).out);
    assert_eq!(all["missions"][0], one);
    assert_eq!(all["damaged"], json("[]"));
    assert_eq!(one["state"], "at_gate");
    assert_eq!(one["stage"], "ship");
    assert_eq!(one["driven_by"], Value::Null);
    let needs = &one["needs"];
    assert_eq!(needs["gate"]["reasons"][0]["rule"], "ship_always");
    let offers: Vec<&str> = ["approve", "reject", "abort"].into();
    assert_eq!(needs["gate"]["offers"], serde_json::json!(offers));
    let gates = json(&world.backstop(&["gate", "list", "--json"]).with(0).out);
    assert_eq!(gates[0], needs["gate"]);
    let shown = json(&world.backstop(&["gate", "show", "--json"]).with(0).out);
    assert_eq!(shown, needs["gate"]);
}

#[test]
fn a_mission_that_is_driven_is_shown_with_its_driver_and_one_that_is_not_wants_a_resume() {
    let world = World::new();
    let agent = "touch \"$E2E_SIDE/there\"; exec sleep 600";
    let run = exec_run(agent, "true", &[]);
    let mut running = world.start(&run);
    world.until_left("there");
    let seen = json(
        &world
            .backstop(&["status", &world.id(), "--json"])
            .with(0)
            .out,
    );
    assert_eq!(seen["state"], "working");
    assert!(seen["driven_by"].is_u64(), "{seen}");
    assert_eq!(seen["needs"], Value::Null);
    running.kill();
    let seen = json(
        &world
            .backstop(&["status", &world.id(), "--json"])
            .with(0)
            .out,
    );
    assert_eq!(seen["driven_by"], Value::Null);
    let command = format!("backstop resume {}", world.id());
    assert_eq!(seen["needs"]["command"], command.as_str());
}

#[test]
fn a_look_never_stands_in_the_way_of_a_process_that_wants_the_lock() {
    let world = World::new();
    at_ship_gate(&world);
    let file = std::fs::File::open(world.dir().join("lock")).unwrap();
    // Whoever held this lock, even shared, would see a look fail or wait.
    file.try_lock().unwrap();
    world.backstop(&["status"]).with(0);
    world.backstop(&["report"]).with(0);
}

#[test]
fn every_step_is_explained_by_the_name_of_its_rule() {
    let world = World::new();
    at_ship_gate(&world);
    let said = world.backstop(&["explain"]).with(0);
    snapshot("explain", &world, &said.out);
    let steps = json(&world.backstop(&["explain", "--json"]).with(0).out);
    let steps = steps.as_array().unwrap();
    assert_eq!(steps.len(), world.history().steps.len());
    for step in steps {
        let because = step["because"].as_array().unwrap();
        assert!(!because.is_empty(), "{step}");
        assert!(because.iter().all(|one| one["rule"].is_string()), "{step}");
    }
    let last = json(&world.backstop(&["explain", "--last", "--json"]).with(0).out);
    assert_eq!(
        last.as_array().unwrap().as_slice(),
        &steps[steps.len() - 1..]
    );
}

#[test]
fn a_report_says_what_is_proven_wanted_spent_and_decided() {
    let world = World::new();
    at_ship_gate(&world);
    snapshot(
        "report_at_gate",
        &world,
        &world.backstop(&["report"]).with(0).out,
    );
    let note = "say it <i>louder</i>";
    world.backstop(&["gate", "reject", "--note", note]).with(3);
    world.backstop(&["gate", "approve"]).with(0);
    let id = world.id();
    snapshot(
        "report_shipped",
        &world,
        &world.backstop(&["report", &id]).with(0).out,
    );
    let report = json(&world.backstop(&["report", &id, "--json"]).with(0).out);
    assert_eq!(report["not_done"], Value::Null);
    assert_eq!(report["answers"][0]["note"], note);
    assert_eq!(report["attempts"][0]["tokens"], 1200);
    assert_eq!(report["attempts"][0]["cost_micro_usd"], 250_000);
    assert_eq!(
        report["proven"]["landed"][0]["checks"][0]["verdict"],
        "passed"
    );
    for path in [
        &report["journal"],
        &report["attempts"][0]["transcript"],
        &report["checks"][0]["results"][0]["log"],
    ] {
        assert!(
            std::path::Path::new(path.as_str().unwrap()).is_file(),
            "{path}"
        );
    }
    let all = json(&world.backstop(&["report", "--json"]).with(0).out);
    assert_eq!(all["reports"][0], report);
}

#[test]
fn the_page_holds_no_markup_of_anybody_else_and_needs_nothing_from_outside() {
    let world = World::new();
    at_ship_gate(&world);
    let page = world.backstop(&["report", "--html"]).with(0).out;
    assert!(page.starts_with("<!doctype html>"));
    assert!(
        page.contains("say the &lt;b&gt;right&lt;/b&gt; thing"),
        "{page}"
    );
    for outside in [
        "<b>right", "<script", "http://", "https://", "src=", "@import",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    for needed in [
        "<html lang=\"en\">",
        "name=\"viewport\"",
        "color-scheme",
        "prefers-color-scheme: dark",
        "<main>",
        "scope=\"col\"",
    ] {
        assert!(page.contains(needed), "{needed}");
    }
}

#[test]
fn reports_and_missions_begin_with_the_most_urgent() {
    let world = World::new();
    at_ship_gate(&world);
    let first = world.id();
    world.backstop(&["gate", "approve"]).with(0);
    let script = world.side("play.toml").display().to_string();
    let run = [
        "run", "again", "--from", "code", "--script", &script, "--check", "true",
    ];
    world.backstop(&run).with(3);
    let seen = json(&world.backstop(&["status", "--json"]).with(0).out);
    assert_eq!(seen["missions"][0]["state"], "at_gate");
    assert_eq!(seen["missions"][1]["mission"], first.as_str());
    let page = world.backstop(&["report"]).with(0).out;
    assert!(page.find("Mission again").unwrap() < page.find(&format!("Mission {first}")).unwrap());
}

#[test]
fn logs_tell_the_story_that_was_told_while_it_ran() {
    let world = World::new();
    let told = at_ship_gate(&world);
    let logs = world.backstop(&["logs"]).with(0).out;
    let (story, transcripts) = logs.split_once("\nTranscripts\n").unwrap();
    assert_eq!(story, told.err);
    assert_eq!(transcripts.lines().count(), 2);
    let second = world.backstop(&["logs", "--attempt", "2"]).with(0).out;
    assert!(
        second.contains("(visit 2, attempt 1)") && !second.contains("(visit 1,"),
        "{second}"
    );
    let last = world.backstop(&["logs", "--transcript"]).with(0).out;
    assert!(last.contains("Now it is right."), "{last}");
    let first = world
        .backstop(&["logs", "--transcript", "--attempt", "1"])
        .with(0)
        .out;
    assert!(
        first.contains("Done.") && !first.contains("right"),
        "{first}"
    );
    world
        .backstop(&["logs", "--attempt", "3"])
        .with(6)
        .telling(&["has no attempt 3: it made 2"]);
    let lines = world.backstop(&["logs", "--json"]).with(0).out;
    assert_eq!(lines.lines().count(), world.history().steps.len());
    assert!(lines.lines().all(|line| json(line)["fact"].is_string()));
}

#[test]
fn followed_logs_end_when_the_mission_comes_to_rest() {
    let world = World::new();
    let agent = "touch \"$E2E_SIDE/there\"; exec sleep 600";
    let run = exec_run(agent, "true", &[]);
    let running = world.start(&run);
    world.until_left("there");
    let follow = world.start(&["logs", "--follow"]);
    let tail = world.start(&["journal", "tail", "--follow", "-n", "1"]);
    running.signal(Signal::INT);
    running.end().with(130);
    let told = follow.end().with(0).out;
    assert!(
        told.contains("implementer at work") && told.contains("stops the mission"),
        "{told}"
    );
    let tail = tail.end().with(0).out;
    let seqs: Vec<u64> = tail
        .lines()
        .map(|line| json(line)["seq"].as_u64().unwrap())
        .collect();
    let last = world.history().steps.len() as u64 - 1;
    assert!(seqs.is_sorted() && seqs.last() == Some(&last), "{seqs:?}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() {
    let world = World::new();
    at_ship_gate(&world);
    for args in [
        &["status"][..],
        &["explain"],
        &["report", "--html"],
        &["logs"],
        &["journal", "export"],
        &["gate", "list"],
        &["policy", "table"],
    ] {
        let mut command = world.command(args);
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let done = command
            .stdout(write)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            (done.status.code(), said.as_ref()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}

#[test]
fn help_reads_well() {
    let world = World::bare();
    let commands: [&[&str]; 17] = [
        &[],
        &["init"],
        &["doctor"],
        &["status"],
        &["logs"],
        &["explain"],
        &["report"],
        &["journal"],
        &["journal", "verify"],
        &["journal", "tail"],
        &["journal", "export"],
        &["clean"],
        &["plan"],
        &["plan", "validate"],
        &["policy"],
        &["policy", "table"],
        &["completions"],
    ];
    let mut all = String::new();
    for command in commands {
        let args: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
        let said = world.backstop(&args).with(0);
        let _ = write!(all, "$ backstop {}\n{}\n", args.join(" "), said.out);
    }
    snapshot("help", &world, &all);
}

#[test]
fn errors_say_what_happened_where_and_what_to_do() {
    let world = World::new();
    let mut all = String::new();
    let mut note = |world: &World, args: &[&str], code: i32| {
        let said = world.backstop(args).with(code).telling(&[]);
        assert_eq!(said.out, "", "{args:?}");
        let _ = write!(
            all,
            "$ backstop {}\n{}exit status {code}\n\n",
            args.join(" "),
            said.err
        );
    };
    for (args, code) in [
        (&["explain"][..], 6),
        (&["status", "nobody"], 6),
        (&["logs", "nobody"], 6),
        (&["plan", "validate", "missing.json"], 2),
        (&["clean", "nobody"], 6),
    ] {
        note(&world, args, code);
    }
    at_ship_gate(&world);
    let id = world.id();
    for (args, code) in [
        (&["logs", "--attempt", "9"][..], 6),
        (&["clean", &id, "--journal"], 6),
        (&["status", "nobody"], 6),
    ] {
        note(&world, args, code);
    }
    let journal = std::fs::read_to_string(world.journal()).unwrap();
    std::fs::write(world.journal(), journal.replacen("right", "wrong", 1)).unwrap();
    for args in [
        &["status", &id][..],
        &["explain", &id],
        &["report", &id],
        &["journal", "export", &id],
        &["clean", &id],
    ] {
        note(&world, args, 7);
    }
    snapshot("errors", &world, &all);
    let outside = World::bare();
    let said = outside.backstop(&["status"]).with(8);
    snapshot("error_outside", &outside, &said.err);
}
