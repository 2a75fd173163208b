//! Setting up: `init`, `doctor`, plans, tables and completions.

use serde_json::Value;

use crate::support::World;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_cargo_project_gets_its_check_and_a_mission_runs_by_it() {
    let world = World::new();
    world.write(
        "Cargo.toml",
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    world.write("src/lib.rs", "");
    world.write(".gitignore", "target\n");
    world
        .backstop(&["init"])
        .with(0)
        .telling(&["backstop.toml", "cargo test"]);
    let written = std::fs::read_to_string(world.repo().join("backstop.toml")).unwrap();
    assert!(written.contains("checks = [\"cargo test\"]"), "{written}");
    let again = world.backstop(&["init"]).with(6);
    again.telling(&["is there already", "left as it is"]);
    world.commit("set up");
    let agent = "printf '#[test]\\nfn holds() {}\\n' > src/lib.rs";
    let run = [
        "run",
        "add a test",
        "--from",
        "code",
        "--exec-command",
        agent,
    ];
    world
        .backstop(&run)
        .with(3)
        .telling(&["check", "`cargo test` passed"]);
}

#[test]
fn a_python_project_gets_its_check_and_a_mission_runs_by_it() {
    let world = World::new();
    world.write(
        "tests/test_said.py",
        "import unittest\n\n\nclass Said(unittest.TestCase):\n    def test_said(self):\n        self.assertEqual(open('said').read(), 'right')\n",
    );
    world
        .backstop(&["init"])
        .with(0)
        .telling(&["python3 -m unittest discover -s tests"]);
    world.commit("set up");
    let run = [
        "run",
        "say it",
        "--from",
        "code",
        "--exec-command",
        "printf right > said",
    ];
    world
        .backstop(&run)
        .with(3)
        .telling(&["unittest discover` passed"
            .replace(" discover", "")
            .as_str()]);
}

#[test]
fn the_doctor_names_what_blocks_and_changes_nothing() {
    let world = World::new();
    world.backstop(&["init"]).with(0);
    world.commit("set up");
    let before = world.operator();
    let said = json(&world.backstop(&["doctor", "--json"]).with(8).out);
    assert_eq!(said["usable"], false);
    let blocking: Vec<&Value> = said["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["weight"] == "blocks")
        .collect();
    assert_eq!(blocking.len(), 1, "{blocking:?}");
    assert_eq!(blocking[0]["name"], "agent exec");
    assert!(crate::support::changed(&before, &world.operator()).is_empty());
    assert!(world.missions().is_empty());
    let mut file = std::fs::read_to_string(world.repo().join("backstop.toml")).unwrap();
    file = file.replace(
        "#command = \"my-agent --unattended\"",
        "command = \"sh -c true\"",
    );
    world.write("backstop.toml", &file);
    world
        .backstop(&["doctor"])
        .with(0)
        .telling(&["Backstop can work here", "agent exec", "ready"]);
    world.write(
        "backstop.toml",
        &file.replace("sh -c true", "no-such-agent-at-all"),
    );
    world
        .backstop(&["doctor"])
        .with(8)
        .telling(&["`no-such-agent-at-all` is not found"]);
    world.write("backstop.toml", "chekcs = [\"true\"]\n");
    world
        .backstop(&["doctor"])
        .with(8)
        .telling(&["did you mean `checks`?", "backstop.toml:1"]);
}

#[test]
fn the_doctor_works_where_nothing_is_there() {
    let world = World::bare();
    world
        .backstop(&["doctor"])
        .with(8)
        .telling(&["not in a usable git repository", "BLOCKS"]);
    let bare = World::bare();
    bare.git(&["init", "--quiet"]);
    bare.backstop(&["doctor"])
        .with(8)
        .telling(&["no commit yet"]);
}

#[test]
fn a_plan_is_valid_or_refused_with_every_code() {
    let world = World::new();
    world.write(
        "good.toml",
        "[[phases]]\nkind = \"research\"\ntask = \"look around\"\n",
    );
    let said = json(
        &world
            .backstop(&["plan", "validate", "good.toml", "--json"])
            .with(0)
            .out,
    );
    assert_eq!(
        (&said["valid"], &said["phases"][0]["kind"]),
        (&json("true"), &json("\"research\""))
    );
    assert!(said["digest"].as_str().unwrap().starts_with("sha256:"));
    world.write(
        "bad.json",
        r#"{"phases":[{"kind":"codng","task":"todo"},{"kind":"coding","task":"do it"}]}"#,
    );
    let codes = ["unknown_kind", "placeholder_task", "unchecked_coding"];
    world
        .backstop(&["plan", "validate", "bad.json"])
        .with(2)
        .telling(&codes);
    let said = json(
        &world
            .backstop(&["plan", "validate", "bad.json", "--json"])
            .with(2)
            .out,
    );
    assert_eq!(said["valid"], false);
    let refused: Vec<&str> = said["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.iter().all(|code| refused.contains(code)),
        "{refused:?}"
    );
    world.write(
        "bare.json",
        r#"{"phases":[{"kind":"coding","task":"do it"}]}"#,
    );
    world
        .backstop(&["plan", "validate", "bare.json"])
        .with(2)
        .telling(&["unchecked_coding"]);
    world
        .backstop(&["plan", "validate", "bare.json", "--no-check"])
        .with(0);
    world.write("backstop.toml", "checks = [\"true\"]\n");
    world.backstop(&["plan", "validate", "bare.json"]).with(0);
    let schema = json(&world.backstop(&["plan", "schema"]).with(0).out);
    assert_eq!(schema["title"], "Backstop mission plan");
}

#[test]
fn the_tables_are_those_of_the_policy() {
    let world = World::bare();
    let all = world.backstop(&["policy", "table"]).with(0).out;
    for name in [
        "stages",
        "accounts",
        "outcome",
        "when-a-stage-gates",
        "gates-answers",
    ] {
        let one = world.backstop(&["policy", "table", name]).with(0).out;
        assert!(one.starts_with("# ") && all.contains(&one), "{name}");
    }
    assert!(
        all.contains("| `idle_timeout` | every stage | `gate_review` | `silence_needs_review` |")
    );
    assert!(all.contains("| `auto` | `ship` | – | `ship_always` | no |"));
    world.backstop(&["policy", "table", "nothing"]).with(2);
}

#[test]
fn every_shell_can_complete_the_commands() {
    let world = World::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.backstop(&["completions", shell]).with(0).out;
        assert!(
            script.contains("explain") && !script.contains("scripted-agent\n"),
            "{shell}"
        );
    }
}
