//! Replaces the `.git` folder of a checkout by a fresh one of the host's making. What agents left in the old one (configuration, hooks,
//! locks, unfinished merges, links) goes with it; their branches, stash and commits are carried over, and so are the git folders of submodules.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::host::{clear, write};
use super::plain::{Head, Plain, is_folder};
use super::{CommitId, GitError};

/// What a fresh `.git` says.
pub(super) struct Fresh {
    pub(super) head: Head,
    /// Full names; every commit is in the operator's repository.
    pub(super) refs: Vec<(String, CommitId)>,
    pub(super) stash_log: String,
}

impl Fresh {
    /// A folder whose HEAD is on no branch.
    pub(super) fn at(commit: &CommitId) -> Self {
        let head = Head::At(commit.clone());
        Self {
            head,
            refs: Vec::new(),
            stash_log: String::new(),
        }
    }

    /// What the old folder said, with HEAD on `branch` at `commit`. `keeps` says which commits exist.
    pub(super) fn on(
        branch: &str,
        commit: &CommitId,
        old: Option<&Plain>,
        keeps: &[CommitId],
    ) -> Self {
        let name = format!("refs/heads/{branch}");
        let old_refs = old.into_iter().flat_map(|old| &old.refs);
        let clash = |other: &str| {
            other.starts_with(&format!("{name}/")) || name.starts_with(&format!("{other}/"))
        };
        let carried =
            old_refs.filter(|(other, at)| **other != name && keeps.contains(at) && !clash(other));
        let mut refs: Vec<_> = carried
            .map(|(name, at)| (name.clone(), at.clone()))
            .collect();
        refs.push((name.clone(), commit.clone()));
        let stash_log = old.filter(|old| {
            old.refs
                .get("refs/stash")
                .is_some_and(|at| keeps.contains(at))
        });
        let stash_log = stash_log
            .map(|old| old.stash_log.clone())
            .unwrap_or_default();
        Self {
            head: Head::On(name),
            refs,
            stash_log,
        }
    }
}

impl Checkout {
    /// Puts a fresh `.git` in place. The one before stays in the mission's folder as `git/<name>.worn` until the next time.
    /// After a crash in the middle, `mend` completes it.
    pub(super) fn renew(&self, fresh: &Fresh) -> Result<(), GitError> {
        self.mend()?;
        self.build(fresh)?;
        let (own, worn) = (self.top().join(".git"), self.private("worn"));
        aside(&worn);
        match fs::rename(&own, &worn) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(GitError::file("move", &own, source));
            }
            Ok(()) | Err(_) => {}
        }
        self.place()
    }

    /// Completes a replacement that was interrupted between its two renames; removes one that was not ready.
    pub(super) fn mend(&self) -> Result<(), GitError> {
        let (fresh, own) = (self.private("fresh"), self.top().join(".git"));
        let missing = fs::symlink_metadata(&own).is_err();
        if is_folder(&fresh) && missing && is_folder(&self.top()) {
            return self.place();
        }
        clear(&fresh)?;
        self.keep_modules()
    }

    fn place(&self) -> Result<(), GitError> {
        let (fresh, own) = (self.private("fresh"), self.top().join(".git"));
        fs::rename(&fresh, &own).map_err(|source| GitError::file("move", &fresh, source))?;
        self.keep_modules()
    }

    fn build(&self, fresh: &Fresh) -> Result<(), GitError> {
        let (part, ready) = (self.private("part"), self.private("fresh"));
        clear(&part)?;
        let host = self.host.git_dir();
        for folder in ["refs/heads", "refs/tags", "objects/pack", "hooks"] {
            let folder = part.join(folder);
            fs::create_dir_all(&folder)
                .map_err(|source| GitError::file("create", &folder, source))?;
        }
        write(&part.join("objects/info/alternates"), &self.host.borrowed())?;
        write(&part.join("HEAD"), head_line(&fresh.head).as_bytes())?;
        write(
            &part.join("packed-refs"),
            packed(&fresh.refs, &self.host.base()?).as_bytes(),
        )?;
        if !fresh.stash_log.is_empty() {
            write(&part.join("logs/refs/stash"), fresh.stash_log.as_bytes())?;
        }
        copy(&self.host.checkout_config(), &part.join("config"))?;
        copy(&self.index(), &part.join("index"))?;
        for name in ["info/exclude", "info/attributes"] {
            if host.join(name).is_file() {
                copy(&host.join(name), &part.join(name))?;
            }
        }
        if self.host.shallow().is_file() {
            copy(&self.host.shallow(), &part.join("shallow"))?;
        }
        fs::rename(&part, &ready).map_err(|source| GitError::file("move", &part, source))
    }
}

fn head_line(head: &Head) -> String {
    match head {
        Head::On(name) => format!("ref: {name}\n"),
        Head::At(commit) => format!("{commit}\n"),
    }
}

/// The refs, and `backstop/base` for the mission's base.
fn packed(refs: &[(String, CommitId)], base: &CommitId) -> String {
    let mut text = String::new();
    for (name, at) in refs
        .iter()
        .filter(|(name, _)| !name.starts_with("refs/backstop/"))
    {
        let _ = writeln!(text, "{at} {name}");
    }
    let _ = writeln!(text, "{base} refs/backstop/base");
    text
}

fn copy(from: &Path, to: &Path) -> Result<(), GitError> {
    let bytes = fs::read(from).map_err(|source| GitError::file("read", from, source))?;
    write(to, &bytes)
}

/// Makes way for the next old folder. What an agent made impossible to remove is renamed, never an error.
fn aside(worn: &Path) {
    if fs::remove_dir_all(worn).is_ok() || fs::symlink_metadata(worn).is_err() {
        return;
    }
    let free = (1..u32::MAX).map(|n| worn.with_extension(format!("worn.{n}")));
    if let Some(free) = free
        .into_iter()
        .find(|path: &PathBuf| fs::symlink_metadata(path).is_err())
    {
        // A rename that fails shows at the next one, which is checked.
        let _ = fs::rename(worn, free);
    }
}
