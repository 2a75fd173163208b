//! Only an answer door turns a record into an operator.

use crate::failure::Fault;
use crate::rust::Rust;

/// Where `Operator::attest` may be called, besides tests: the engine reads an answer back from the
/// journal, the runner's door and the command line's policy take one in, the testkit plays a person.
const MAY_ATTEST: [&str; 4] = [
    "crates/backstop-engine/src/",
    "crates/backstop-runner/src/door",
    "crates/backstop-cli/src/policy",
    "crates/backstop-testkit/",
];

/// Every `…::attest` outside those places; the name of a function that is passed on counts as a call.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    if MAY_ATTEST
        .iter()
        .any(|place| rust.file.path.starts_with(place))
    {
        return Vec::new();
    }
    let pairs = rust.tokens.iter().zip(rust.tokens.iter().skip(1));
    let calls = pairs.filter(|(before, token)| before.text == ":" && token.text == "attest");
    let calls = calls.filter(|(_, token)| !rust.is_test_line(token.line));
    let said = "`Operator::attest` is for the answer doors alone: take an `Operator` from one";
    calls
        .map(|(_, token)| Fault::at(&rust.file.path, token.line, said))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    const CALL: &str = "fn f() { Operator::attest(s) }\n";

    #[test]
    fn an_operator_is_made_at_the_doors_alone() {
        let count = |path: &str| said(faults, path, CALL).len();
        assert_eq!(count("crates/backstop-runner/src/door/inbox.rs"), 0);
        assert_eq!(count("crates/backstop-engine/src/answers.rs"), 0);
        assert_eq!(count("crates/backstop-mode/tests/a.rs"), 0);
        assert_eq!(count("crates/backstop-runner/src/git.rs"), 1);
        assert_eq!(count("crates/backstop-agents/src/lib.rs"), 1);
    }

    #[test]
    fn a_function_passed_on_and_a_macro_are_calls_and_tests_are_not() {
        let text = "fn f() { x.map(Operator::attest) }\nmacro_rules! m { () => { Operator::attest(s) } }\n\
            #[cfg(test)]\nmod tests { fn f() { Operator::attest(s) } }\n";
        assert_eq!(said(faults, "crates/a/src/lib.rs", text).len(), 2);
    }
}
