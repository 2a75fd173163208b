//! Lints are silenced where they are expected, with a reason, and nowhere else.

use crate::failure::Fault;
use crate::rust::{Rust, Token};

/// Every `allow` in an attribute, and every `expect` without a reason; in macros too.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    let tokens = &rust.tokens;
    let starts = (0..tokens.len()).filter(|at| opens(tokens, *at));
    let said = starts.flat_map(|at| judge(tokens.get(at..).unwrap_or(&[])));
    said.map(|(line, said)| Fault::at(&rust.file.path, line, said))
        .collect()
}

/// Whether the bracket at this place opens an attribute.
fn opens(tokens: &[Token], at: usize) -> bool {
    let before = |back: usize| {
        at.checked_sub(back)
            .and_then(|at| tokens.get(at))
            .map_or("", |token| &token.text)
    };
    let is_bracket = tokens.get(at).is_some_and(|token| token.text == "[");
    is_bracket && (before(1) == "#" || before(1) == "!" && before(2) == "#")
}

fn judge(tokens: &[Token]) -> Vec<(usize, &'static str)> {
    let body = body(tokens);
    let has_reason = body.iter().any(|token| token.text == "reason");
    let calls = body
        .iter()
        .zip(body.iter().skip(1))
        .filter(|(_, next)| next.text == "(");
    let judge = |word: &str| match word {
        "allow" => Some("write `#[expect(.., reason = \"..\")]`, not `allow`"),
        "expect" if !has_reason => Some("say why: `#[expect(.., reason = \"..\")]`"),
        _ => None,
    };
    calls
        .filter_map(|(token, _)| Some((token.line, judge(&token.text)?)))
        .collect()
}

/// The tokens up to the bracket that closes the first.
fn body(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return tokens.get(..at).unwrap_or(tokens);
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    #[test]
    fn an_allow_is_refused_wherever_it_hides() {
        let text = "#![allow(a)]\n#[cfg_attr(test, allow(b))]\nfn f() {}\nmacro_rules! m { () => {\n#[allow(c)] } }\n";
        let found = said(faults, "a.rs", text);
        let lines: Vec<&str> = found
            .iter()
            .filter_map(|fault| fault.split(": ").next())
            .collect();
        assert_eq!(lines, ["a.rs:1", "a.rs:2", "a.rs:5"]);
    }

    #[test]
    fn an_expect_needs_a_reason_and_a_function_named_allow_is_fine() {
        let text =
            "#[expect(a)]\nfn f() { allow(1); x[0]; }\n#[expect(b, reason = \"c\")]\nfn g() {}\n";
        assert_eq!(
            said(faults, "a.rs", text),
            ["a.rs:1: say why: `#[expect(.., reason = \"..\")]`"]
        );
    }
}
