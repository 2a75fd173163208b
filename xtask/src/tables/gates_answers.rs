//! The page of a mission's gates: which answers each offers.

use backstop_engine::{Funds, GateKind, Verb};

use super::{Page, code, table};

/// Gate × answer.
pub(super) fn page() -> Page {
    let names = Verb::ALL.map(code);
    let mut head = vec!["gate"];
    head.extend(names.iter().map(String::as_str));
    let rows = GateKind::ALL.map(|kind| {
        let mut row = vec![code(kind)];
        row.extend(Verb::ALL.map(|verb| offered(kind, verb).to_owned()));
        row
    });
    Page {
        path: "gates-answers.md",
        body: format!("# What a gate offers\n\n{}", table(&head, rows)),
    }
}

fn offered(kind: GateKind, verb: Verb) -> &'static str {
    let [left, exhausted] = Funds::ALL.map(|funds| kind.offers(funds).contains(&verb));
    match (left, exhausted) {
        (true, true) => "yes",
        (true, false) => "unless an account is exhausted",
        (false, true) => "when an account is exhausted",
        (false, false) => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_account_is_granted_and_not_retried() {
        let body = page().body;
        for row in [
            "| gate | `approve` | `reject` | `retry` | `grant` | `abort` |\n",
            "| `review` | – | – | unless an account is exhausted | when an account is exhausted | yes |\n",
            "| `ceiling` | – | – | – | yes | yes |\n",
            "| `ship` | yes | yes | – | – | yes |\n",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
