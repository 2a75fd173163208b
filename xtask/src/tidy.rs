//! `tidy`: the habits that a compiler does not hold: sizes, names, comments, doors, children, links.
//!
//! A rule is a function from what it reads to faults; none of them changes a file.

mod attributes;
mod children;
mod comments;
mod dependencies;
mod doors;
mod layout;
mod links;
mod names;
mod paths;
mod sizes;

use crate::failure::{Failure, Fault, none};
use crate::repo::Repo;
use crate::rust::Rust;

/// The rules of a Rust file.
const OF_RUST: [fn(&Rust<'_>) -> Vec<Fault>; 6] = [
    attributes::faults,
    children::faults,
    comments::faults,
    doors::faults,
    names::faults,
    sizes::faults,
];

/// The rules of the repository.
const OF_REPO: [fn(&Repo) -> Vec<Fault>; 5] = [
    comments::script_faults,
    dependencies::faults,
    layout::faults,
    links::faults,
    paths::faults,
];

/// Applies every rule.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    none(faults(repo))
}

fn faults(repo: &Repo) -> Vec<Fault> {
    let mut faults: Vec<Fault> = OF_REPO.iter().flat_map(|rule| rule(repo)).collect();
    for file in repo.rust() {
        match Rust::parse(file) {
            Ok(rust) => faults.extend(OF_RUST.iter().flat_map(|rule| rule(&rust))),
            // A case may be broken on purpose.
            Err(_) if file.is_case() => {}
            Err(failure) => faults.push(Fault::of(&file.path, failure.to_string())),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What the rules for one file say of a text.
    pub(super) fn said(rule: fn(&Rust<'_>) -> Vec<Fault>, path: &str, text: &str) -> Vec<String> {
        let file = crate::repo::File::new(path, text);
        let rust = Rust::parse(&file).unwrap();
        rule(&rust).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn the_repository_is_tidy() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        if let Err(failure) = check(&Repo::open(here).unwrap()) {
            panic!("{failure}");
        }
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_fault_unless_it_is_a_case() {
        let broken = Repo::of(&[
            ("tests/a.rs", "//! A.\nfn"),
            ("tests/ui/b.rs", "//! B.\nfn"),
        ]);
        let places: Vec<String> = faults(&broken)
            .into_iter()
            .map(|fault| fault.place)
            .collect();
        assert_eq!(places, ["tests/a.rs"]);
    }
}
