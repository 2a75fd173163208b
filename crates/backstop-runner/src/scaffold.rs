//! The first `backstop.toml` of a repository: its checks as they are found, and every key with its default.
//!
//! Deliberately absent: writing it, and running anything to find out. What a check does shows when it runs.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use backstop_agents::Adapter;
use backstop_engine::mode::{Account, Ceilings};

use crate::programs;

/// What was found in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detected {
    /// Commands that check the work.
    pub checks: Vec<String>,
    /// Commands that make a fresh checkout ready for them.
    pub setup: Vec<String>,
}

/// Looks at the files of the repository at `root`.
#[must_use]
pub fn detect(root: &Path) -> Detected {
    let mut found = Detected::default();
    let mut check = |command: &str| found.checks.push(command.to_owned());
    if has(root, "Cargo.toml") {
        check("cargo test");
    }
    if has(root, "go.mod") {
        check("go test ./...");
    }
    if let Some(command) = python(root) {
        check(command);
    }
    let package = serde_json::from_str(&text(root, "package.json")).unwrap_or_default();
    if npm_tests(&package) {
        check("npm test");
        let setup = npm_setup(root, &package);
        found.setup.extend(setup.map(ToOwned::to_owned));
    }
    // A Makefile beside one of these most often calls it.
    if found.checks.is_empty() && makes_test(root) {
        found.checks.push("make test".into());
    }
    found
}

fn has(root: &Path, name: &str) -> bool {
    root.join(name).is_file()
}

fn text(root: &Path, name: &str) -> String {
    let bytes = fs::read(root.join(name)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the package has a test of its own.
fn npm_tests(package: &serde_json::Value) -> bool {
    let test = package
        .get("scripts")
        .and_then(|scripts| scripts.get("test"));
    // What `npm init` writes is there to fail.
    test.and_then(serde_json::Value::as_str)
        .is_some_and(|test| !test.contains("no test specified"))
}

/// The command that brings the package's dependencies, where it has any.
fn npm_setup(root: &Path, package: &serde_json::Value) -> Option<&'static str> {
    let depends = ["dependencies", "devDependencies"]
        .iter()
        .any(|key| package.get(key).is_some());
    match (has(root, "package-lock.json"), depends) {
        (true, _) => Some("npm ci"),
        (false, true) => Some("npm install"),
        (false, false) => None,
    }
}

/// How many files of a folder of tests are looked at.
const LOOKED_AT: usize = 50;

fn python(root: &Path) -> Option<&'static str> {
    const PYTEST: &str = "python3 -m pytest";
    let files = [
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements-dev.txt",
        "requirements.txt",
    ];
    let named = files.iter().any(|name| text(root, name).contains("pytest"));
    if named
        || has(root, "pytest.ini")
        || has(root, "conftest.py")
        || has(root, "tests/conftest.py")
    {
        return Some(PYTEST);
    }
    let folder = ["tests", "test"]
        .into_iter()
        .find(|name| !test_files(root, name).is_empty());
    let tests = test_files(root, folder.unwrap_or("."));
    if tests.is_empty() {
        return None;
    }
    let place = folder.unwrap_or(".");
    let in_unittest = tests
        .iter()
        .any(|name| text(&root.join(place), name).contains("unittest"));
    if !in_unittest {
        return Some(PYTEST);
    }
    match folder {
        // A folder that is no package is not found from above.
        Some("tests") if !has(root, "tests/__init__.py") => {
            Some("python3 -m unittest discover -s tests")
        }
        Some("test") if !has(root, "test/__init__.py") => {
            Some("python3 -m unittest discover -s test")
        }
        _ => Some("python3 -m unittest"),
    }
}

/// The names of Python's test files in a folder.
fn test_files(root: &Path, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            let stem = name.strip_suffix(".py");
            stem.is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
        })
        .take(LOOKED_AT)
        .collect();
    names.sort();
    names
}

fn makes_test(root: &Path) -> bool {
    let files = ["GNUmakefile", "makefile", "Makefile"];
    let first = files.into_iter().find(|name| has(root, name));
    first.is_some_and(|name| {
        text(root, name).lines().any(|line| {
            let rest = line.strip_prefix("test").map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with(":="))
        })
    })
}

/// The agents whose programs are on the search path `path`.
#[must_use]
pub fn installed_agents(path: Option<&OsStr>) -> Vec<&'static str> {
    let has_program = |agent: &&'static dyn Adapter| {
        let about = agent.about();
        about.is_some_and(|about| programs::find(Path::new(about.program), path).is_some())
    };
    backstop_agents::all()
        .filter(has_program)
        .map(Adapter::name)
        .collect()
}

const HEAD: &str = include_str!("scaffold/head.toml");
const REST: &str = include_str!("scaffold/rest.toml");

/// The file for a repository where this was found.
#[must_use]
pub fn file(found: &Detected, agents: &[&str]) -> String {
    let mut text = HEAD.to_owned();
    match agents {
        [] => text.push_str("# No agent's program was found on this machine; `exec` starts any command.\nagent = \"exec\"\n\n"),
        [first, ..] => {
            let all = agents.join(", ");
            let _ = writeln!(text, "# Found on this machine: {all}.\nagent = \"{first}\"\n");
        }
    }
    text.push_str("# What the host runs on the work itself, each for a POSIX shell: exit status 0 is green. A coding mission needs one.\n");
    if found.checks.is_empty() {
        text.push_str("# None was found in this repository.\n#checks = [\"make test\"]\n");
    } else {
        let _ = writeln!(text, "checks = {}", list(&found.checks));
    }
    let setup = if found.setup.is_empty() {
        "#setup = [\"make deps\"]".to_owned()
    } else {
        format!("setup = {}", list(&found.setup))
    };
    text.push_str(&REST.replace("#setup = []", &setup));
    text.push_str(&ceilings());
    text
}

fn list(commands: &[String]) -> String {
    let quoted: Vec<String> = commands.iter().map(|one| format!("{one:?}")).collect();
    format!("[{}]", quoted.join(", "))
}

/// Every ceiling with its default; last, as it is the longest table.
fn ceilings() -> String {
    let mut text = String::from(
        "\n# Ceilings: nothing runs past one, and only you refill it (`backstop gate grant`). There is no \"unlimited\".\n[ceilings]\n",
    );
    for account in Account::ALL {
        let n = Ceilings::DEFAULT.of(account);
        let value = match account {
            Account::Cost => format!("{}.{:02}", n / 1_000_000, n % 1_000_000 / 10_000),
            Account::ActiveTime => format!("\"{}\"", account.amount(n)),
            Account::Streak
            | Account::PhaseFailures
            | Account::Infra
            | Account::InfraTotal
            | Account::QuotaWaits
            | Account::Preflight
            | Account::CheckpointResumes
            | Account::Attempts
            | Account::ToolCalls
            | Account::Tokens => n.to_string(),
        };
        let unit = if account == Account::Cost {
            "US dollars"
        } else if account == Account::ActiveTime {
            "run time of agents and checks"
        } else {
            account.unit()
        };
        let _ = writeln!(
            text,
            "#{account} = {value}  # {unit}, at most {}",
            account.amount(account.hard_max())
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use backstop_engine::Role;

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::config::{self, File};

    fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn checks(files: &[(&str, &str)]) -> Vec<String> {
        detect(repository(files).path()).checks
    }

    #[test]
    fn the_checks_are_those_of_what_is_really_there() {
        let unittest = "import unittest\nclass T(unittest.TestCase): pass\n";
        let plain = "def test_it():\n    assert True\n";
        let npm = r#"{"scripts":{"test":"node --test"}}"#;
        let npm_init = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        for (files, wanted) in [
            (vec![], vec![]),
            (vec![("Cargo.toml", "")], vec!["cargo test"]),
            (vec![("go.mod", "")], vec!["go test ./..."]),
            (vec![("package.json", npm)], vec!["npm test"]),
            (vec![("package.json", npm_init)], vec![]),
            (vec![("package.json", "{")], vec![]),
            (vec![("Makefile", "test: all\n")], vec!["make test"]),
            (vec![("Makefile", "test := 1\ntests:\n")], vec![]),
            (
                vec![("Makefile", "test:\n"), ("Cargo.toml", "")],
                vec!["cargo test"],
            ),
            (
                vec![("pyproject.toml", "[tool.pytest.ini_options]")],
                vec!["python3 -m pytest"],
            ),
            (vec![("pyproject.toml", "[project]\nname = \"x\"")], vec![]),
            (vec![("tests/test_a.py", plain)], vec!["python3 -m pytest"]),
            (
                vec![("tests/test_a.py", unittest)],
                vec!["python3 -m unittest discover -s tests"],
            ),
            (
                vec![("tests/__init__.py", ""), ("tests/test_a.py", unittest)],
                vec!["python3 -m unittest"],
            ),
            (vec![("test_a.py", unittest)], vec!["python3 -m unittest"]),
            (
                vec![("Cargo.toml", ""), ("package.json", npm)],
                vec!["cargo test", "npm test"],
            ),
        ] {
            assert_eq!(checks(&files), wanted, "{files:?}");
        }
    }

    #[test]
    fn a_fresh_checkout_gets_the_packages_that_its_test_needs() {
        let npm = r#"{"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}"#;
        let found = detect(repository(&[("package.json", npm)]).path());
        assert_eq!(found.setup, ["npm install"]);
        let locked = [("package.json", npm), ("package-lock.json", "{}")];
        assert_eq!(detect(repository(&locked).path()).setup, ["npm ci"]);
    }

    /// The file as it is when every default is taken up.
    fn uncommented(text: &str) -> String {
        let lines = text.lines().map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '[') => rest,
            Some(_) | None => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_file_parses_as_it_is_written_and_with_every_default_taken_up() {
        let path = Path::new("backstop.toml");
        let found = Detected {
            checks: vec!["sh -c \"a\\b\"".into()],
            setup: vec!["npm ci".into()],
        };
        for (found, agents) in [
            (Detected::default(), vec![]),
            (found, vec!["claude", "codex"]),
        ] {
            let text = file(&found, &agents);
            let read = config::parse(path, &text).unwrap();
            assert_eq!(
                (read.checks, read.workspace.setup),
                (found.checks, found.setup)
            );
            let text = uncommented(&text);
            let read = config::parse(path, &text).unwrap_or_else(|error| panic!("{error}"));
            let ceilings = config::ceilings(path, &text, &read).unwrap();
            for account in Account::ALL {
                assert_eq!(
                    ceilings.of(account),
                    Ceilings::DEFAULT.of(account),
                    "{account}"
                );
            }
        }
    }

    #[test]
    fn the_file_documents_every_key() {
        let text = uncommented(&file(&Detected::default(), &[]));
        let tables = [
            ("", ""),
            ("[[check]]", "[[check]]\nname = \"a\"\ncommand = \"a\"\n"),
            ("[agents.claude]", "[agents.claude]\n"),
            ("[roles.scout]", "[roles.scout]\n"),
            ("[prompts]", "[prompts]\n"),
            ("[auto]", "[auto]\n"),
            ("[gate]", "[gate]\n"),
            ("[ship]", "[ship]\n"),
            ("[preflight]", "[preflight]\n"),
            ("[workspace]", "[workspace]\n"),
            ("[limits]", "[limits]\n"),
            ("[run]", "[run]\n"),
            ("[review]", "[review]\n"),
        ];
        for (table, begin) in tables {
            let error = toml::from_str::<File>(&format!("{begin}zz = 1\n")).unwrap_err();
            let (_, expected) = error.message().split_once(", expected").unwrap();
            for key in expected.split('`').skip(1).step_by(2) {
                let named = [
                    format!("\n{key} ="),
                    format!("\n[{key}]"),
                    format!("\n[[{key}]]"),
                    format!("\n[{key}."),
                ];
                assert!(
                    named.iter().any(|name| text.contains(name)),
                    "{table} {key}"
                );
            }
        }
        for role in Role::ALL {
            assert!(text.contains(&format!("[roles.{role}]")), "{role}");
        }
    }

    #[test]
    fn an_agent_is_installed_when_its_program_can_be_run() {
        let dir = repository(&[("claude", "#!/bin/sh\n"), ("codex", "")]);
        let program = dir.path().join("claude");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(installed_agents(Some(dir.path().as_os_str())), ["claude"]);
        assert!(installed_agents(None).is_empty());
    }
}
