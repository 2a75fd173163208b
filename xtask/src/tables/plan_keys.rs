//! The page of a plan's keys, from the registry.

use backstop_engine::plan::{Entry, KEYS};

use super::{Page, code, table, wire};

/// Every key and who reads it.
pub(super) fn page() -> Page {
    let row = |entry: &Entry| {
        vec![
            code(entry.name),
            wire(&entry.level),
            wire(&entry.need),
            entry.shape.words().to_owned(),
            wire(&entry.reader),
            entry.meaning.to_owned(),
        ]
    };
    let head = ["key", "in the", "need", "value", "read by", "meaning"];
    Page {
        path: "plan-keys.md",
        body: format!(
            "# The keys of a plan\n\n{}",
            table(&head, KEYS.iter().map(row))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_reader() {
        let body = page().body;
        for row in [
            "| `phases` | plan | required | an array of phases | engine |",
            "| `done_when` | phase | optional | a string | reviewer |",
            "| `done_when_check` | phase | optional | a string | host |",
        ] {
            assert!(body.contains(row), "{row}{body}");
        }
    }
}
