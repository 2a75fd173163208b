//! The page of a plan's refusals: each code with a text that draws it, and the words of the refusal.

use backstop_engine::plan::{Checks, Code, MOST_BYTES, MOST_TEXT, Plan, SEMANTIC_CODES};

use super::{Page, code, table};

/// The longest example that is shown, in characters.
const SHOWN: usize = 90;

/// Every code.
pub(super) fn page() -> Page {
    let rows = Code::ALL.map(|refused| {
        let text = example(refused);
        vec![
            code(refused),
            shown(&text),
            words(refused, &text),
            schema(refused).to_owned(),
        ]
    });
    Page {
        path: "plan-refusals.md",
        body: format!(
            "# Why a plan is refused\n\nA text that is refused before it is a value has no answer from the schema. What the schema \
             accepts is refused only with the codes that say so.\n\n{}",
            table(
                &["code", "for example", "what is said", "`plan schema`"],
                rows
            )
        ),
    }
}

/// What the printed schema says of what is refused with this code.
fn schema(refused: Code) -> &'static str {
    let unread = [
        Code::NotJson,
        Code::Ambiguous,
        Code::TooLarge,
        Code::DuplicateKey,
    ];
    if unread.contains(&refused) {
        "–"
    } else if SEMANTIC_CODES.contains(&refused) {
        "can accept it"
    } else {
        "refuses it"
    }
}

/// A text that is refused with this code.
fn example(refused: Code) -> String {
    let phase = |rest: &str| format!(r#"{{"phases":[{{"kind":"research",{rest}}}]}}"#);
    let twice = r#"{"kind":"research","task":"read it"}"#;
    match refused {
        Code::NotJson => "I would start with the tests.".to_owned(),
        Code::Ambiguous => "```json\n{}\n```\nor\n```json\n{}\n```".to_owned(),
        Code::TooLarge => format!("{}{}", phase(r#""task":"read it""#), " ".repeat(MOST_BYTES)),
        Code::DuplicateKey => phase(r#""task":"read it","task":"write it""#),
        Code::Empty => r#"{"phases":[]}"#.to_owned(),
        Code::TooMany => {
            let phases: Vec<String> = (1..=5)
                .map(|n| format!(r#"{{"kind":"research","task":"part {n}"}}"#))
                .collect();
            format!(r#"{{"phases":[{}]}}"#, phases.join(","))
        }
        Code::UnknownKind => r#"{"phases":[{"kind":"codin","task":"fix it"}]}"#.to_owned(),
        Code::UnknownKey => phase(r#""task":"read it","goal":"know it""#),
        Code::WrongType => phase(r#""task":7"#),
        Code::BlankTask => phase(r#""task":" ""#),
        Code::PlaceholderTask => phase(r#""task":"TBD""#),
        Code::BlankCondition => phase(r#""task":"read it","done_when":"""#),
        Code::ControlCharacters => phase(r#""task":"read it\u0007""#),
        Code::TaskTooLong => phase(&format!(r#""task":"{}""#, "x".repeat(MOST_TEXT + 1))),
        Code::DuplicateTask => format!(r#"{{"phases":[{twice},{twice}]}}"#),
        Code::UncheckedCoding => r#"{"phases":[{"kind":"coding","task":"fix it"}]}"#.to_owned(),
    }
}

fn shown(text: &str) -> String {
    let line = text.replace('\n', "⏎");
    let cut: String = line.chars().take(SHOWN).collect();
    let more = if cut.len() < line.len() { " …" } else { "" };
    code(format!("{}{more}", cut.trim_end()))
}

fn words(refused: Code, text: &str) -> String {
    let refusals = Plan::read(text, Checks::None).err();
    let found = refusals.and_then(|all| {
        let mut said = all.all().iter().filter(|refusal| refusal.code == refused);
        Some(said.next()?.message.clone())
    });
    found.unwrap_or_else(|| "?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_is_refused_with_its_code_and_no_other() {
        for refused in Code::ALL {
            let refusals = Plan::read(&example(refused), Checks::None).unwrap_err();
            let codes: Vec<Code> = refusals.all().iter().map(|refusal| refusal.code).collect();
            assert_eq!(codes, [refused]);
        }
    }

    #[test]
    fn an_example_stays_on_its_line() {
        // The title, the paragraph below it, each with a blank line, and the head of the table.
        assert_eq!(page().body.lines().count(), 6 + Code::ALL.len());
    }
}
