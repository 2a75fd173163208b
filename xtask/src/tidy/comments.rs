//! Comments speak of the code as it is: no tickets, no dates, no work left to do.
//!
//! Words in backticks are examples and are not judged.

use crate::failure::Fault;
use crate::repo::{File, Repo};
use crate::rust::Rust;

const LEFT_TO_DO: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
/// Names that look like tickets and are not.
const STANDARDS: [&str; 9] = [
    "BLAKE", "CRC", "CVE", "FIPS", "IEEE", "ISO", "RFC", "SHA", "UTF",
];

/// What the comments of a Rust file must not hold; a test may name the incident it replays.
pub(super) fn faults(rust: &Rust<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for comment in &rust.comments {
        let is_test = rust.is_test_line(comment.line);
        let words = judged(&comment.text);
        let words = words.iter().filter(|word| !(is_test && is_incident(word)));
        let said = words.filter_map(|word| refused(word));
        faults.extend(said.map(|said| Fault::at(&rust.file.path, comment.line, said)));
    }
    faults
}

/// The same for TOML files and scripts.
pub(super) fn script_faults(repo: &Repo) -> Vec<Fault> {
    let scripts = repo.files.iter().filter(|file| is_script(file));
    scripts.flat_map(script).collect()
}

fn is_script(file: &File) -> bool {
    file.ends("toml") || file.ends("sh") || file.text.starts_with("#!")
}

fn script(file: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let whole = line.trim_start().strip_prefix('#');
        let comment = whole.or_else(|| Some(line.split_once(" #")?.1));
        let words = judged(comment.unwrap_or(""));
        let said = words.iter().filter_map(|word| refused(word));
        faults.extend(said.map(|said| Fault::at(&file.path, number, said)));
    }
    faults
}

/// The words of a comment outside backticks.
fn judged(comment: &str) -> Vec<String> {
    let prose: String = comment.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let words = prose.split(|c: char| !(c.is_alphanumeric() || "-#_".contains(c)));
    words.map(str::to_owned).collect()
}

fn refused(word: &str) -> Option<String> {
    if LEFT_TO_DO.contains(&word) {
        return Some(format!(
            "`{word}` is work left to do: do it, or leave it out"
        ));
    }
    if is_ticket(word) {
        return Some(format!(
            "`{word}` looks like a ticket: say what the code needs instead"
        ));
    }
    is_date(word).then(|| format!("`{word}` is a date: history belongs to git and docs/decisions"))
}

/// `#` and digits, or capitals, a dash and digits.
fn is_ticket(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if let Some(number) = word.strip_prefix('#') {
        return is_number(number);
    }
    let Some((project, number)) = word.split_once('-') else {
        return false;
    };
    let is_project = project.len() > 1 && project.chars().all(|c| c.is_ascii_uppercase());
    is_project && is_number(number) && !STANDARDS.contains(&project)
}

/// The name of a recorded incident: two capitals, two digits.
fn is_incident(word: &str) -> bool {
    word.len() == 5 && word.as_bytes().get(2) == Some(&b'-') && is_ticket(word)
}

/// A year of this century, a month and a day; a moment with its time is a value.
fn is_date(word: &str) -> bool {
    let pieces: Vec<&str> = word.split('-').collect();
    let is_digits =
        |text: &str, length| text.len() == length && text.chars().all(|c| c.is_ascii_digit());
    match pieces.as_slice() {
        [year, month, day] => {
            year.starts_with("20") && is_digits(year, 4) && is_digits(month, 2) && is_digits(day, 2)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::said;

    #[test]
    fn tickets_dates_and_work_left_are_refused_in_comments() {
        let text = "//! See #12.\n// TODO: more\n/// Since 2024-05-06.\nfn f() {} /* ABC-123 */\n";
        let wanted = [
            "a.rs:1: `#12` looks like a ticket: say what the code needs instead",
            "a.rs:2: `TODO` is work left to do: do it, or leave it out",
            "a.rs:3: `2024-05-06` is a date: history belongs to git and docs/decisions",
            "a.rs:4: `ABC-123` looks like a ticket: say what the code needs instead",
        ];
        assert_eq!(said(faults, "a.rs", text), wanted);
    }

    #[test]
    fn standards_moments_examples_and_strings_are_fine() {
        let text = "//! UTF-8, SHA-256, `#1`, `2024-05-06`, 2024-05-06T07:08:09Z, X-1.\nconst A: &str = \"TODO #1\";\n";
        assert_eq!(said(faults, "a.rs", text), [""; 0]);
    }

    #[test]
    fn a_test_may_name_the_incident_it_replays() {
        let text = "//! Tests.\n/// PJ-01.\nfn f() {}\n/// PJ-1 and ABC-01.\nfn g() {}\n";
        assert_eq!(said(faults, "tests/a.rs", text).len(), 2);
        assert_eq!(said(faults, "src/a.rs", text).len(), 3);
    }

    #[test]
    fn scripts_and_manifests_are_judged_too() {
        let files = [
            ("a.toml", "x = \"#1\" # FIXME\n"),
            ("run", "#!/bin/sh\n# see #4\n"),
            ("a.md", "# TODO #1"),
        ];
        let found = script_faults(&Repo::of(&files));
        let lines: Vec<(&str, Option<usize>)> =
            found.iter().map(|f| (f.place.as_str(), f.line)).collect();
        assert_eq!(lines, [("a.toml", Some(1)), ("run", Some(2))]);
    }
}
