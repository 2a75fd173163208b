//! Where things are: a purpose at the top of each file, no `mod.rs`, a header on what is generated.

use crate::failure::Fault;
use crate::repo::{File, Repo};
use crate::tables;

/// What is not where it should be.
pub(super) fn faults(repo: &Repo) -> Vec<Fault> {
    let said = repo.files.iter().flat_map(|file| {
        let rules = [purpose(file), flat(file), header(file)];
        rules
            .into_iter()
            .flatten()
            .map(|said| Fault::of(&file.path, said))
    });
    said.collect()
}

fn purpose(file: &File) -> Option<&'static str> {
    let first = file.text.lines().find(|line| !line.trim().is_empty());
    let is_stated = first.is_some_and(|line| line.starts_with("//! "));
    let is_judged = file.ends("rs") && !file.is_case();
    (is_judged && !is_stated).then_some("starts without `//!` and its purpose in a sentence")
}

/// Below `tests/`, where `name.rs` would be a test of its own, `mod.rs` is the one way to share.
fn flat(file: &File) -> Option<&'static str> {
    let is_mod = file.path.ends_with("/mod.rs") && !file.is_test();
    is_mod.then_some("name it after its folder, beside the folder, not `mod.rs`")
}

fn header(file: &File) -> Option<&'static str> {
    let is_generated = file.path.starts_with(tables::FOLDER);
    let is_marked = file.text.lines().next() == Some(tables::HEADER);
    (is_generated && !is_marked)
        .then_some("generated files start with the header of their generator")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(files: &[(&str, &str)]) -> Vec<String> {
        faults(&Repo::of(files))
            .into_iter()
            .map(|fault| fault.place)
            .collect()
    }

    #[test]
    fn each_rust_file_states_its_purpose_but_for_cases() {
        let files = [
            ("src/a.rs", "\n//! A.\n"),
            ("src/b.rs", "fn f() {}"),
            ("src/c.rs", ""),
            ("tests/ui/d.rs", ""),
        ];
        assert_eq!(places(&files), ["src/b.rs", "src/c.rs"]);
    }

    #[test]
    fn a_module_is_named_after_its_folder_outside_tests() {
        assert_eq!(
            places(&[("src/a/mod.rs", "//! A."), ("tests/a/mod.rs", "//! A.")]),
            ["src/a/mod.rs"]
        );
    }

    #[test]
    fn a_generated_file_says_so() {
        let marked = format!("{}\n", tables::HEADER);
        assert_eq!(
            places(&[("docs/tables/a.md", &marked), ("docs/tables/b.md", "# B")]),
            ["docs/tables/b.md"]
        );
    }
}
