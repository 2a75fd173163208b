//! What must hold of every stream of policy questions, as a plain function for tests and for fuzzers: it panics where its
//! law does not hold.

use serde_json::Value;

use super::decide::decide;

/// Each line that is not blank has one answer, in order, and the same alone: an `ok` or a refusal with its code.
pub(crate) fn questions(bytes: &[u8]) {
    let answers = answers(bytes);
    let lines = bytes.split(|byte| *byte == b'\n');
    let asked = lines.filter(|line| !line.trim_ascii().is_empty());
    let alone: Vec<String> = asked.flat_map(self::answers).collect();
    assert_eq!(answers, alone);
    for answer in &answers {
        let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
        let answer = answer.as_object().expect("an answer is an object");
        assert_eq!(answer.len(), 1, "{answer:?}");
        let refused = answer.get("refused");
        let has = |name| {
            refused
                .and_then(|refused| refused.get(name))
                .is_some_and(Value::is_string)
        };
        assert!(
            answer.contains_key("ok") || has("code") && has("message"),
            "{answer:?}"
        );
    }
}

fn answers(bytes: &[u8]) -> Vec<String> {
    let mut output = Vec::new();
    decide(bytes, &mut output).expect("nothing is in the way of bytes");
    let output = String::from_utf8(output).expect("answers are text");
    output.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    const PAGE: &str = include_str!("../../../../docs/policy-json.md");

    /// The questions of the manual.
    fn examples() -> Vec<&'static str> {
        PAGE.lines()
            .filter(|line| line.starts_with("{\"op\""))
            .collect()
    }

    #[test]
    fn the_manual_has_examples() {
        assert!(examples().len() > 10);
    }

    proptest! {
        #[test]
        fn any_question_is_answered_or_refused(
            lines in prop::collection::vec(select(examples()), 1..4),
            changes in prop::collection::vec((any::<Index>(), 0_usize..4, prop::collection::vec(any::<u8>(), 0..3)), 0..4),
        ) {
            let mut bytes = lines.join("\n").into_bytes();
            for (at, cut, put) in changes {
                let from = at.index(bytes.len() + 1);
                bytes.splice(from..bytes.len().min(from + cut), put);
            }
            questions(&bytes);
        }
    }
}
