//! Handing verified work over in the operator's repository: a new branch, or a fast-forward of the base. Whether it may be shipped is not decided here;
//! that the commit carries the approved tree is checked.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::call::{parts, unreadable};
use super::plain::path;
use super::{CommitId, Digest, GitError, Host};

/// How a ship ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shipped {
    /// It was done by this call.
    Now,
    /// It had been done before.
    Already,
}

/// What merging a moved base gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The mission's ref now has both.
    Clean {
        /// Where it is.
        commit: CommitId,
        /// Its tree: what has to be validated again, unless it was seen before.
        tree: Digest,
    },
    /// These paths conflict; nothing was moved.
    Conflicts(Vec<PathBuf>),
}

impl Host {
    /// Creates the mission's branch in the operator's repository at `commit`. Never moves one that exists.
    ///
    /// # Errors
    /// [`GitError::TreeDiffers`] when `commit` does not have the approved tree, [`GitError::BranchTaken`] when the branch is elsewhere.
    pub fn ship_branch(&self, commit: &CommitId, approved: &Digest) -> Result<Shipped, GitError> {
        self.carries(commit, approved)?;
        let branch = self.names().ship_branch();
        let name = self.names().ship_ref();
        match self.tip(&name)? {
            Some(now) if now == *commit => return Ok(Shipped::Already),
            Some(now) => return Err(GitError::BranchTaken { branch, now }),
            None => self.has_room(&name)?,
        }
        self.swap(&name, commit, None)?;
        Ok(Shipped::Now)
    }

    /// Whether the mission's branch in the operator's repository is at `commit`.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn probe_branch(&self, commit: &CommitId) -> Result<bool, GitError> {
        let name = self.names().ship_ref();
        Ok(self.tip(&name)?.as_ref() == Some(commit))
    }

    /// The command by which the operator merges the shipped branch.
    #[must_use]
    pub fn merge_command(&self) -> String {
        let repository = self.repository();
        let root = in_shell(repository.root());
        let branch = self.names().ship_branch();
        if repository.is_bare() || repository.root().join(".git").exists() {
            return format!("git -C {root} merge {branch}");
        }
        // The files lie where nothing says which repository is theirs.
        let folder = in_shell(repository.git_dir());
        format!("git --git-dir={folder} --work-tree={root} merge {branch}")
    }

    /// Moves the base's branch (`refs/heads/…`) from `base` forward to `commit`, if it is at `base` still and checked out nowhere.
    ///
    /// # Errors
    /// [`GitError::CheckedOut`] with the command to run, [`GitError::BaseMoved`], [`GitError::NotAFastForward`], [`GitError::TreeDiffers`].
    pub fn ship_merge(
        &self,
        branch: &str,
        base: &CommitId,
        commit: &CommitId,
        approved: &Digest,
    ) -> Result<Shipped, GitError> {
        self.carries(commit, approved)?;
        let branch = &self.behind(branch)?;
        if self.probe_merge(branch, commit)? {
            return Ok(Shipped::Already);
        }
        self.base_is_still(branch, base)?;
        if !self.is_ancestor(base, commit)? {
            return Err(GitError::NotAFastForward {
                commit: commit.clone(),
                base: base.clone(),
            });
        }
        if let Some(at) = self.checked_out(branch)? {
            let command = format!("git -C {} merge --ff-only {commit}", in_shell(&at));
            let branch = branch.clone();
            return Err(GitError::CheckedOut {
                branch,
                at,
                command,
            });
        }
        match self.swap(branch, commit, Some(base)) {
            // Lost a race: say where the base is rather than what git said.
            Err(error) => {
                self.base_is_still(branch, base)?;
                Err(error)
            }
            Ok(()) => Ok(Shipped::Now),
        }
    }

    /// Whether the base's branch contains `commit`.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn probe_merge(&self, branch: &str, commit: &CommitId) -> Result<bool, GitError> {
        match self.tip(branch)? {
            Some(now) => self.is_ancestor(commit, &now),
            None => Ok(false),
        }
    }

    /// Merges a base that moved into the mission's ref, without any checkout. Again is fine: a base that is contained is not merged.
    ///
    /// # Errors
    /// [`GitError::BaseRewritten`] when the base is no part of it any more. When nothing has landed yet, or the mission's ref moves meanwhile.
    pub fn merge_base(&self, moved: &CommitId) -> Result<Merged, GitError> {
        let name = self.names().mission();
        let now = self
            .tip(&name)?
            .ok_or_else(|| GitError::NoCommit { name: name.clone() })?;
        if self.is_ancestor(moved, &now)? {
            let tree = self.repository().tree(&now)?;
            return Ok(Merged::Clean { commit: now, tree });
        }
        let base = self.base()?;
        if !self.is_ancestor(&base, moved)? {
            let now = moved.clone();
            return Err(GitError::BaseRewritten { now, base });
        }
        let merge = self.call().args([
            "merge-tree",
            "--write-tree",
            "-z",
            "--name-only",
            "--no-messages",
        ]);
        let merge = merge.args([now.as_str(), moved.as_str()]);
        let ended = merge.ended()?;
        let mut printed = parts(&ended.stdout);
        let tree = printed
            .next()
            .and_then(|tree| std::str::from_utf8(tree).ok())
            .map(Digest::git_tree);
        let Some(Ok(tree)) = tree else {
            return Err(unreadable("merge-tree", &ended.stderr));
        };
        if !ended.status.success() {
            return Ok(Merged::Conflicts(printed.map(path).collect()));
        }
        let message = format!("backstop: merge the moved base {moved} into the mission");
        let call = self.call().args([
            "commit-tree",
            "-p",
            now.as_str(),
            "-p",
            moved.as_str(),
            "-F",
            "-",
        ]);
        let commit: CommitId = call
            .arg(tree.digits())
            .input(message.into_bytes())
            .parsed()?;
        self.bring(None, std::slice::from_ref(&commit))?;
        self.advance(&name, &commit)?;
        Ok(Merged::Clean { commit, tree })
    }

    fn carries(&self, commit: &CommitId, approved: &Digest) -> Result<(), GitError> {
        let found = self.repository().tree(commit)?;
        if found == *approved {
            return Ok(());
        }
        Err(GitError::TreeDiffers {
            commit: commit.clone(),
            found,
            expected: *approved,
        })
    }

    /// The branch that a name stands for: an operator may have made one an alias of another.
    fn behind(&self, branch: &str) -> Result<String, GitError> {
        let alias = self
            .repository()
            .call()
            .args(["symbolic-ref", "--quiet", branch])
            .found()?;
        let alias = String::from_utf8_lossy(&alias).trim().to_owned();
        Ok(if alias.is_empty() {
            branch.to_owned()
        } else {
            alias
        })
    }

    fn base_is_still(&self, branch: &str, base: &CommitId) -> Result<(), GitError> {
        let branch = branch.to_owned();
        match self.tip(&branch)? {
            Some(now) if now == *base => Ok(()),
            Some(now) => Err(GitError::BaseMoved { branch, now }),
            None => Err(GitError::BaseGone { branch }),
        }
    }

    /// Compare and swap of one ref of the operator's; `from` none: only if it does not exist.
    fn swap(&self, name: &str, to: &CommitId, from: Option<&CommitId>) -> Result<(), GitError> {
        let absent = "0".repeat(to.as_str().len());
        let from = from.map_or(absent.as_str(), CommitId::as_str);
        let reason = format!("backstop: ship mission {}", self.names().component());
        let call = self
            .repository()
            .call()
            .args(["update-ref", "--no-deref", "-m"]);
        call.arg(reason).args([name, to.as_str(), from]).done()
    }

    /// The checkout that has `branch`, also in the middle of a rebase of it.
    fn checked_out(&self, branch: &str) -> Result<Option<PathBuf>, GitError> {
        let listed = self
            .repository()
            .call()
            .args(["worktree", "list", "--porcelain", "-z"])
            .bytes()?;
        let mut at = None;
        for line in parts(&listed) {
            if let Some(top) = line.strip_prefix(b"worktree ") {
                at = Some(path(top));
            }
            let has = line
                .strip_prefix(b"branch ")
                .is_some_and(|name| name == branch.as_bytes());
            let detached = line == b"detached";
            if has || (detached && at.as_deref().is_some_and(|at| self.is_rebasing(at, branch))) {
                return Ok(at);
            }
        }
        Ok(None)
    }

    fn is_rebasing(&self, top: &Path, branch: &str) -> bool {
        let named = |place: &str| {
            let file = self
                .repository()
                .git()
                .at(top)
                .args(["rev-parse", "--git-path", place])
                .bytes();
            let file = file
                .ok()
                .and_then(|name| Some(path(name.strip_suffix(b"\n")?)));
            file.and_then(|file| std::fs::read_to_string(top.join(file)).ok())
        };
        let places = ["rebase-merge/head-name", "rebase-apply/head-name"];
        places
            .into_iter()
            .filter_map(named)
            .any(|name| name.trim() == branch)
    }
}

/// A path as one word of a shell.
fn in_shell(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@%".contains(byte);
    match path.to_str() {
        Some(text) if bytes.iter().all(plain) => text.to_owned(),
        Some(text) if !text.contains(char::is_control) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", super::shown(path).replace('\'', r"\'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(in_shell(Path::new("/a/b.c")), "/a/b.c");
        assert_eq!(in_shell(Path::new("/a b'c")), r"'/a b'\''c'");
        assert_eq!(in_shell(Path::new("/a\nb")), r"$'/a\nb'");
    }
}
