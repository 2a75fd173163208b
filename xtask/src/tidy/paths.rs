//! No file names a place on someone's machine.
//!
//! Fixtures are as they were recorded and are not judged.

use crate::failure::Fault;
use crate::repo::Repo;

/// Folders of machines, in pieces so that this file does not name one.
const FOLDERS: [(&str, bool); 3] = [
    (concat!("/wo", "rk/"), false),
    (concat!("/ro", "ot/"), false),
    // A user's own folder: the name of the user follows.
    (concat!("/ho", "me/"), true),
];

/// Each such place.
pub(super) fn faults(repo: &Repo) -> Vec<Fault> {
    let judged = repo
        .files
        .iter()
        .filter(|file| !file.path.split('/').any(|piece| piece == "fixtures"));
    let lines = judged.flat_map(|file| (1..).zip(file.text.lines()).map(move |line| (file, line)));
    let said = lines.filter_map(|(file, (number, line))| {
        let folder = named(line)?;
        Some(Fault::at(
            &file.path,
            number,
            format!("`{folder}` is a place on one machine: use a relative path or `~`"),
        ))
    });
    said.collect()
}

fn named(line: &str) -> Option<&'static str> {
    let is_named = |folder: &str, needs_name: bool| {
        line.match_indices(folder).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line
                .get(at + folder.len()..)
                .and_then(|text| text.chars().next());
            let is_start = before.is_none_or(|c| !(c.is_alphanumeric() || "/._-~}>)*".contains(c)));
            is_start && (!needs_name || after.is_some_and(char::is_alphanumeric))
        })
    };
    let found = FOLDERS
        .iter()
        .find(|(folder, needs_name)| is_named(folder, *needs_name));
    found.map(|(folder, _)| *folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(folder: usize, before: &str, after: &str) -> bool {
        let line = format!("x\n{before}{}{after}", FOLDERS[folder].0);
        !faults(&Repo::of(&[("a.md", &line)])).is_empty()
    }

    #[test]
    fn a_place_on_a_machine_is_refused() {
        assert!(is_refused(0, "see `", "x"));
        assert!(is_refused(1, "", ".cargo"));
        assert!(is_refused(2, "\"", "someone/x"));
    }

    #[test]
    fn a_relative_path_an_address_and_a_pattern_are_fine() {
        assert!(!is_refused(0, "~", "x"));
        assert!(!is_refused(1, "docs", "x"));
        assert!(!is_refused(0, "https://example.org", "x"));
        assert!(!is_refused(2, "", "<name>"));
    }

    #[test]
    fn fixtures_are_as_they_were_recorded() {
        let line = format!("{}x", FOLDERS[0].0);
        assert!(faults(&Repo::of(&[("tests/fixtures/a.txt", &line)])).is_empty());
    }
}
