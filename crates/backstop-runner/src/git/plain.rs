//! Reads an agent's `.git` folder as plain files: HEAD, refs and where HEAD has been. Runs no git, reads no configuration, follows no link.
//! Reftable storage is not read: such a folder counts as damaged.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::{CommitId, GitError};

/// The largest file that is read, in bytes; far above any packed refs or log of one attempt.
const LONGEST: u64 = 64 * 1024 * 1024;
/// How deep folders below `refs` are entered.
const DEEPEST: usize = 24;

/// Where HEAD is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// On this full ref.
    On(String),
    /// On no branch.
    At(CommitId),
}

/// What the files say; nothing of it is checked against the object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) head: Head,
    pub(super) refs: BTreeMap<String, CommitId>,
    /// Commits that HEAD, the stash or an unfinished operation name, oldest first.
    pub(super) mentioned: Vec<CommitId>,
    /// The stash's log, whole lines; needed to list a stash.
    pub(super) stash_log: String,
    /// What is unfinished: `merge`, `rebase`, …
    pub(super) unfinished: Option<&'static str>,
}

impl Plain {
    /// Reads the `.git` folder of the checkout at `top`.
    pub(super) fn read(top: &Path) -> Result<Self, GitError> {
        let folder = top.join(".git");
        if !is_folder(top) {
            return Err(GitError::damaged(top, "the folder is gone"));
        }
        if !is_folder(&folder) {
            return Err(GitError::damaged(
                top,
                "its `.git` folder is gone or is not a folder",
            ));
        }
        Self::of(&folder)
    }

    /// Reads a git folder, wherever it is.
    pub(super) fn of(folder: &Path) -> Result<Self, GitError> {
        let mut refs = packed(folder);
        loose(&folder.join("refs"), "refs", DEEPEST, &mut refs);
        let top = folder.parent().unwrap_or(folder);
        let head =
            head(folder).ok_or_else(|| GitError::damaged(top, "`.git/HEAD` cannot be read"))?;
        let mut mentioned: Vec<_> = log(folder, "logs/HEAD")
            .lines()
            .filter_map(logged)
            .collect();
        let stash_log = log(folder, "logs/refs/stash");
        mentioned.extend(stash_log.lines().filter_map(logged));
        for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "ORIG_HEAD"] {
            mentioned.extend(text(&folder.join(name)).and_then(|id| id.trim().parse().ok()));
        }
        let unfinished = unfinished(folder);
        Ok(Self {
            head,
            refs,
            mentioned,
            stash_log,
            unfinished,
        })
    }

    /// The commit that HEAD leads to; none on a branch without a commit.
    pub(super) fn commit(&self) -> Option<&CommitId> {
        match &self.head {
            Head::On(name) => self.refs.get(name),
            Head::At(commit) => Some(commit),
        }
    }

    /// Whether `git stash` was used and not undone.
    pub(super) fn stashed(&self) -> bool {
        self.refs.contains_key("refs/stash")
    }
}

/// Bytes that git printed, as a path.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Whether this is a folder itself, not a link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The text of a regular file; none for anything else, so that a pipe cannot hold the host.
fn text(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    let mut text = Vec::new();
    File::open(path)
        .ok()?
        .take(LONGEST)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn head(folder: &Path) -> Option<Head> {
    let text = text(&folder.join("HEAD"))?;
    match text.trim().strip_prefix("ref:").map(str::trim) {
        Some("refs/heads/.invalid") => None,
        Some(name) if name.starts_with("refs/") => Some(Head::On(name.to_owned())),
        Some(_) => None,
        None => text.trim().parse().ok().map(Head::At),
    }
}

fn packed(folder: &Path) -> BTreeMap<String, CommitId> {
    let text = text(&folder.join("packed-refs")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let named = lines.filter(|(_, name)| is_ref(name));
    named
        .filter_map(|(id, name)| Some((name.to_owned(), id.parse().ok()?)))
        .collect()
}

fn loose(folder: &Path, prefix: &str, depth: usize, refs: &mut BTreeMap<String, CommitId>) {
    if depth == 0 || !is_folder(folder) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let (path, name) = (entry.path(), format!("{prefix}/{name}"));
        if is_folder(&path) {
            loose(&path, &name, depth.saturating_sub(1), refs);
        } else if let Some(id) = text(&path).and_then(|id| id.trim().parse().ok())
            && is_ref(&name)
        {
            refs.insert(name, id);
        }
    }
}

/// A full ref name that git itself would take.
fn is_ref(name: &str) -> bool {
    let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let component = |part: &str| {
        let locked = Path::new(part).extension().is_some_and(|end| end == "lock");
        !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !locked
    };
    name.starts_with("refs/")
        && !name.contains(odd)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(component)
}

fn log(folder: &Path, name: &str) -> String {
    let file = folder.join(name);
    // A linked `logs` folder would lead outside.
    let linked = file
        .ancestors()
        .skip(1)
        .take_while(|above| *above != folder)
        .any(|above| !is_folder(above));
    if linked {
        String::new()
    } else {
        text(&file).unwrap_or_default()
    }
}

fn logged(line: &str) -> Option<CommitId> {
    line.split(' ').nth(1)?.parse().ok()
}

fn unfinished(folder: &Path) -> Option<&'static str> {
    let marks = [
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("BISECT_LOG", "bisect"),
    ];
    let there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    marks
        .into_iter()
        .find(|(name, _)| there(name))
        .map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_git_takes_are_refs() {
        for good in ["refs/heads/main", "refs/stash", "refs/heads/a/b.c"] {
            assert!(is_ref(good), "{good}");
        }
        for bad in [
            "HEAD",
            "refs/heads/..",
            "refs/heads/a.lock",
            "refs/heads/.a",
            "refs/heads/a b",
            "refs//a",
            "refs/a\n",
            "refs/a@{1}",
        ] {
            assert!(!is_ref(bad), "{bad:?}");
        }
    }
}
