//! A runner lists each child that it starts, since it ends every other.

use crate::failure::Fault;
use crate::rust::Rust;

/// Whose children are listed.
const LISTED: [&str; 2] = ["crates/backstop-runner/src/", "crates/backstop-cli/src/"];

/// Where a child is started and listed in one.
const MAY_START: [&str; 2] = [
    "crates/backstop-runner/src/process/children.rs",
    "crates/backstop-runner/src/process/spawn.rs",
];

/// The methods of a command that start it.
const STARTS: [&str; 3] = ["spawn", "output", "status"];

/// Every `.spawn()`, `.output()` and `.status()` outside those places.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    let path = &rust.file.path;
    let is_in = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
    if !is_in(&LISTED) || is_in(&MAY_START) {
        return Vec::new();
    }
    let calls = rust.tokens.windows(4).filter(|four| {
        let [dot, name, open, close] = four else {
            return false;
        };
        let is_call =
            (dot.text.as_str(), open.text.as_str(), close.text.as_str()) == (".", "(", ")");
        is_call && STARTS.contains(&name.text.as_str()) && !rust.is_test_line(name.line)
    });
    let said = "a child that is not listed is ended as an orphan: use `process::start` or `process::output`";
    calls
        .filter_map(|four| Some(Fault::at(path, four.get(1)?.line, said)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    #[test]
    fn a_command_is_started_where_its_child_is_listed() {
        let count = |path: &str, call: &str| {
            let text = format!("fn f() {{ Command::new(a).arg(b){call}; }}\n");
            said(faults, path, &text).len()
        };
        for call in [".spawn()", ".output()", ".status()"] {
            assert_eq!(count("crates/backstop-runner/src/git/call.rs", call), 1);
            assert_eq!(count("crates/backstop-cli/src/demo.rs", call), 1);
            for path in MAY_START {
                assert_eq!(count(path, call), 0);
            }
            assert_eq!(count("crates/backstop-runner/tests/a/b.rs", call), 0);
            assert_eq!(count("xtask/src/program.rs", call), 0);
        }
    }

    #[test]
    fn tasks_threads_and_tests_are_no_children() {
        let text = "fn f() { tokio::spawn(work); thread::spawn(|| ()); process::output(c); }\n\
            #[cfg(test)]\nmod tests { fn f() { Command::new(a).spawn(); } }\n";
        let found = said(faults, "crates/backstop-runner/src/a.rs", text);
        assert!(found.is_empty(), "{found:?}");
    }
}
