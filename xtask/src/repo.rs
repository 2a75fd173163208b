//! The repository as the checks see it: its root, the paths in it, and the text of each file.
//!
//! Ignored files do not exist here; files that git does not yet track do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::program::Line;

/// A text file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// From the root, with forward slashes.
    pub(crate) path: String,
    /// What it holds.
    pub(crate) text: String,
}

impl File {
    /// A file with a path and a text.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// Whether the name ends in `.` and this.
    pub(crate) fn ends(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    /// Whether it holds tests only: below `tests/`, or named `tests.rs`.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
    }

    /// Whether it is a case that a test feeds to a compiler or a parser.
    pub(crate) fn is_case(&self) -> bool {
        let inside = self.path.split_once("tests/");
        inside.is_some_and(|(_, below)| below.contains('/'))
    }
}

/// A repository: a root and what is in it.
#[derive(Debug)]
pub(crate) struct Repo {
    /// Where it is.
    pub(crate) root: PathBuf,
    /// Every path, of text and of other files.
    pub(crate) paths: BTreeSet<String>,
    /// The text files.
    pub(crate) files: Vec<File>,
}

impl Repo {
    /// The repository around `inside`, as it stands on disk.
    pub(crate) fn open(inside: &Path) -> Result<Self, Failure> {
        let top = Line::new("git", "rev-parse --show-toplevel").read(inside)?;
        let root = PathBuf::from(top.trim_end_matches('\n'));
        let listed = Line::new("git", "ls-files -co --exclude-standard -z").read(&root)?;
        let mut paths = BTreeSet::new();
        let mut files = Vec::new();
        for path in listed.split_terminator('\0') {
            // A path that git knows and the disk does not was just deleted.
            let Ok(bytes) = fs::read(root.join(path)) else {
                continue;
            };
            paths.insert(path.to_owned());
            files.extend(
                String::from_utf8(bytes)
                    .ok()
                    .map(|text| File::new(path, text)),
            );
        }
        Ok(Self { root, paths, files })
    }

    /// A text file, if it is there.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text of a file, if it is there.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.file(path).map(|file| file.text.as_str())
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.ends("rs"))
    }
}

#[cfg(test)]
impl Repo {
    /// A repository in memory.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            root: PathBuf::from("."),
            paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            files: files
                .iter()
                .map(|(path, text)| File::new(*path, *text))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_not_yet_tracked_are_seen_and_ignored_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        Line::new("git", "init --quiet").run(folder.path()).unwrap();
        fs::write(folder.path().join(".gitignore"), "/target\n").unwrap();
        fs::write(folder.path().join("new.rs"), "//! New.\n").unwrap();
        fs::write(folder.path().join("image"), [0xff, 0xfe]).unwrap();
        fs::create_dir(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("target/old.rs"), "").unwrap();

        let repo = Repo::open(folder.path()).unwrap();
        assert!(repo.paths.iter().eq([".gitignore", "image", "new.rs"]));
        assert_eq!(repo.text("new.rs"), Some("//! New.\n"));
        assert_eq!(repo.text("image"), None);
    }

    #[test]
    fn tests_and_their_cases_are_told_from_code() {
        let kind = |path: &str| (File::new(path, "").is_test(), File::new(path, "").is_case());
        assert_eq!(kind("crates/a/src/lib.rs"), (false, false));
        assert_eq!(kind("crates/a/src/b/tests.rs"), (true, false));
        assert_eq!(kind("crates/a/tests/b.rs"), (true, false));
        assert_eq!(kind("crates/a/tests/ui/b.rs"), (true, true));
    }
}
