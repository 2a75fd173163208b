//! Work is done aside, stops at the ship gate, and reaches the operator only as what they approved.

use backstop_engine::GateKind;

use crate::support::{World, changed, exec_run};

/// What an agent must be able to do on its side without the operator noticing.
const UNRULY: &str = r#"
git stash list
echo scratch >scratch.txt && git stash push --include-untracked --quiet
git checkout --quiet -b elsewhere
git config user.name "Mallory" && git config core.hooksPath /tmp
git config --global user.email m@example.invalid || true
git reset --hard --quiet HEAD
git tag agent-tag
git update-ref refs/heads/another HEAD
"#;

/// A checkout with everything that a careless tool would lose.
fn make_dirty(world: &World) {
    world.write("staged.txt", "staged\n");
    world.git(&["add", "staged.txt"]);
    world.write("stashed.txt", "stashed\n");
    world.git(&[
        "stash",
        "push",
        "--quiet",
        "--include-untracked",
        "--",
        "stashed.txt",
    ]);
    world.write("README", "changed and not staged\n");
    world.write("untracked.txt", "untracked\n");
}

#[track_caller]
fn goes_through(world: &World, fix: &str, check: &str) {
    make_dirty(world);
    let before = world.operator();
    let agent = world.leave("agent.sh", &format!("cat >/dev/null\n{UNRULY}\n{fix}\n"));
    let agent = format!("sh {agent}");
    let ran = world.backstop(&exec_run(&agent, check, &[])).with(3);
    ran.telling(&[
        "uncommitted changes are not part of the mission",
        "staged.txt",
        "covers    git-tree:",
    ]);
    assert_eq!(changed(&before, &world.operator()), [""; 0]);
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    assert!(world.used(backstop_engine::mode::Account::PhaseFailures) == 0);
    let branch = format!("backstop/{}/mission", world.id());
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .telling(&["shipped", &branch]);
    let after = world.operator();
    let new: Vec<String> = changed(&before, &after)
        .into_iter()
        .filter(|name| !name.contains("/refs/heads/backstop/") && name != "refs")
        .collect();
    assert_eq!(new, [""; 0]);
    let refs = |all: &std::collections::BTreeMap<String, Vec<u8>>| {
        String::from_utf8(all["refs"].clone())
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!(
        refs(&after),
        refs(&before) + 1,
        "one new branch and no more"
    );
    let (ok, passed) = world.git_in(&world.repo(), &["rev-parse", &format!("{branch}^{{tree}}")]);
    assert!(ok && world.mission().lane().head.tree.digits() == passed);
    world.nothing_runs();
}

#[test]
fn a_rust_project_is_mended_aside_and_ships_as_one_new_branch() {
    let world = World::new();
    world.write(
        "Cargo.toml",
        "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    world.write(".gitignore", "target/\n");
    let tests = "#[test]\nfn adds() { assert_eq!(add(2, 2), 4); }\n#[test]\nfn stands() { assert!(true); }\n";
    world.write(
        "src/lib.rs",
        &format!("pub fn add(a: i32, b: i32) -> i32 {{ a - b }}\n{tests}"),
    );
    world.write(
        "Cargo.lock",
        "version = 3\n[[package]]\nname = \"sum\"\nversion = \"0.1.0\"\n",
    );
    world.commit("a sum that is none");
    goes_through(
        &world,
        "sed -i 's/a - b/a + b/' src/lib.rs && git commit --quiet --all --message 'add'",
        "cargo test --offline --quiet --target-dir target",
    );
    let branch = format!("backstop/{}/mission", world.id());
    assert!(
        world
            .git(&["show", &format!("{branch}:src/lib.rs")])
            .contains("a + b")
    );
    assert_eq!(
        world
            .git(&["ls-tree", "-r", "--name-only", &branch])
            .lines()
            .count(),
        5
    );
}

#[test]
fn a_python_project_is_mended_aside_and_ships_as_one_new_branch() {
    let world = World::new();
    world.write("calc.py", "def double(n):\n    return n + 2\n");
    world.write("tests/__init__.py", "");
    world.write(
        "tests/test_calc.py",
        "import unittest\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(calc.double(2), 4)\n\n    def test_three(self):\n        self.assertEqual(calc.double(3), 6)\n",
    );
    world.write(".gitignore", "__pycache__/\n");
    world.commit("a double that is none");
    let python = std::process::Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    goes_through(
        &world,
        "sed -i 's/n + 2/n * 2/' calc.py",
        &format!("{} -m unittest --quiet", python.trim()),
    );
    let branch = format!("backstop/{}/mission", world.id());
    assert!(
        world
            .git(&["show", &format!("{branch}:calc.py")])
            .contains("n * 2")
    );
}
