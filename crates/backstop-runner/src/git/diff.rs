//! Differences between commits, for people and for rules. Both commits are in the operator's repository.

use std::path::PathBuf;

use super::keep::{changed, raw_entries};
use super::plain::path;
use super::{CommitId, GitError, Host};

impl Host {
    /// The diff stat from `base` to `commit`, as git prints it, 100 columns wide.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn diff_stat(&self, base: &CommitId, commit: &CommitId) -> Result<String, GitError> {
        let call = self
            .call()
            .args(["diff", "--no-ext-diff", "--no-textconv", "--no-color"]);
        let call = call.args(["--stat=100", "--summary", base.as_str(), commit.as_str()]);
        call.bytes()
            .map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// The whole diff from `base` to `commit`, in bytes: files need not be UTF-8.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn diff(&self, base: &CommitId, commit: &CommitId) -> Result<Vec<u8>, GitError> {
        let call = self
            .call()
            .args(["diff", "--no-ext-diff", "--no-textconv", "--no-color"]);
        call.args([base.as_str(), commit.as_str()]).bytes()
    }

    /// Paths that differ between two commits; ascending. A moved file is two paths.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn changed(&self, base: &CommitId, commit: &CommitId) -> Result<Vec<PathBuf>, GitError> {
        let raw = changed(self.call(), base, commit)?;
        Ok(raw_entries(&raw)
            .into_iter()
            .map(|(_, name)| path(name))
            .collect())
    }

    /// How many commits `commit` has that `base` has not.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn commits(&self, base: &CommitId, commit: &CommitId) -> Result<u64, GitError> {
        self.call()
            .args(["rev-list", "--count", commit.as_str()])
            .arg(format!("^{base}"))
            .parsed()
    }
}
