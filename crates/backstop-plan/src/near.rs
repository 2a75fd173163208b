//! The name that was probably meant: a few words that models use instead, then the smallest edit distance.

use alloc::string::String;
use alloc::vec::Vec;

/// What models write, and the key that it stands for.
const ALIASES: [(&str, &str); 26] = [
    ("steps", "phases"),
    ("stages", "phases"),
    ("tasks", "phases"),
    ("plan", "phases"),
    ("type", "kind"),
    ("category", "kind"),
    ("goal", "task"),
    ("title", "task"),
    ("name", "task"),
    ("prompt", "task"),
    ("description", "task"),
    ("instruction", "task"),
    ("instructions", "task"),
    ("objective", "task"),
    ("details", "task"),
    ("done", "done_when"),
    ("acceptance", "done_when"),
    ("acceptance_criteria", "done_when"),
    ("success_criteria", "done_when"),
    ("exit_criteria", "done_when"),
    ("definition_of_done", "done_when"),
    ("check", "done_when_check"),
    ("command", "done_when_check"),
    ("test", "done_when_check"),
    ("verify", "done_when_check"),
    ("empty_ok", "allow_empty"),
];

/// The name among `known` that `word` was probably meant to be; none when none is near.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
    let meant = alias.and_then(|(_, meant)| known.iter().find(|name| *name == meant));
    meant.copied().or_else(|| closest(&word, known))
}

/// Lower case, words joined by `_`, and no longer than any name could be.
fn plain(word: &str) -> String {
    let kept = word.trim().chars().take(32);
    kept.map(|c| if matches!(c, '-' | ' ') { '_' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let measured = known.iter().map(|name| (distance(word, name), *name));
    let near = measured.filter(|(far, name)| *far <= name.chars().count().div_ceil(3));
    near.min_by_key(|(far, _)| *far).map(|(_, name)| name)
}

/// How many single characters must be put in, left out or replaced (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut corner = i;
        let mut left = i.saturating_add(1);
        let mut next = Vec::from([left]);
        for (b, above) in other.iter().zip(row.iter().skip(1)) {
            let replaced = corner.saturating_add(usize::from(a != *b));
            let moved = left.min(*above).saturating_add(1);
            left = replaced.min(moved);
            corner = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_distance_counts_single_edits() {
        for (one, other, far) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("task", "task", 0),
        ] {
            assert_eq!(distance(one, other), far, "{one} {other}");
        }
    }

    #[test]
    fn the_nearest_name_is_found_by_alias_case_and_typing_error() {
        let known = ["kind", "task", "done_when", "done_when_check"];
        for (word, meant) in [
            ("taks", Some("task")),
            ("Task", Some("task")),
            ("goal", Some("task")),
            ("type", Some("kind")),
            ("doneWhen", Some("done_when")),
            ("done-when", Some("done_when")),
            ("check", Some("done_when_check")),
            ("steps", None),
            ("config", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), meant, "{word}");
        }
    }

    proptest! {
        #[test]
        fn the_distance_is_symmetric_and_bounded(one in ".{0,12}", other in ".{0,12}") {
            let far = distance(&one, &other);
            prop_assert_eq!(far, distance(&other, &one));
            prop_assert!(far <= one.chars().count().max(other.chars().count()));
            prop_assert_eq!(far == 0, one == other);
        }
    }
}
