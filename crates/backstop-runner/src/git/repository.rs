//! The operator's repository: where it is, what a name in it leads to, what is uncommitted. Its refs are moved in
//! `keep` and `ship` only; its files and index never.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::call::{Call, parts, unreadable};
use super::{CommitId, Digest, Git, GitError};

/// The operator's repository, as found.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    objects: PathBuf,
    format: String,
    bare: bool,
    shallow: bool,
}

/// Where a mission starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit.
    pub commit: CommitId,
    /// Its tree.
    pub tree: Digest,
    /// The full name of the branch (`refs/heads/…`) when the base was named by one, or by HEAD on one. Only then can a ship
    /// fast-forward it.
    pub branch: Option<String>,
}

impl Repository {
    /// The repository that `path` lies in.
    ///
    /// # Errors
    /// When there is none that git can read, or git is missing or too old.
    pub fn discover(git: &Git, path: &Path) -> Result<Self, GitError> {
        new_enough(git, path)?;
        let facts = git.at(path).arg("rev-parse");
        let facts = facts.args(["--is-inside-git-dir", "--is-bare-repository"]);
        let facts = facts.arg("--is-shallow-repository");
        let facts = facts.arg("--show-object-format").line();
        if let Err(GitError::Failed { said, .. }) = facts {
            return Err(not_a_repository(path, said));
        }
        let facts = facts?;
        let mut facts = facts.lines();
        let inside = facts.next() == Some("true");
        let bare = facts.next() == Some("true");
        if inside && !bare {
            let path = path.to_owned();
            return Err(GitError::InGitFolder { path });
        }
        let shallow = facts.next() == Some("true");
        let format = facts.next().unwrap_or_default().to_owned();
        let git_dir = located(git, path, &["--absolute-git-dir"])?;
        let common_dir = located(git, path, &["--git-common-dir"])?;
        let objects = located(git, path, &["--git-path", "objects"])?;
        let root = if bare {
            git_dir.clone()
        } else {
            located(git, path, &["--show-toplevel"])?
        };
        let git = git.clone();
        Ok(Self {
            git,
            root,
            git_dir,
            common_dir,
            objects,
            format,
            bare,
            shallow,
        })
    }

    /// The top folder of the checkout; of a bare repository, its git folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `git version` prints.
    ///
    /// # Errors
    /// When git cannot be run.
    pub fn version(&self) -> Result<String, GitError> {
        self.git.at(&self.root).arg("version").line()
    }

    /// The git folder that all worktrees share: what a lock for the whole repository is named after.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The git folder of this checkout.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// `sha1` or `sha256`.
    #[must_use]
    pub fn object_format(&self) -> &str {
        &self.format
    }

    /// Whether it has no checkout.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Whether its history is cut.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        self.shallow
    }

    /// What `name` (a branch, a tag, a commit; none means HEAD) leads to.
    ///
    /// # Errors
    /// When it leads to no commit, as on an unborn branch.
    pub fn resolve_commit(&self, name: Option<&str>) -> Result<Base, GitError> {
        let name = name.unwrap_or("HEAD");
        let commit = self.peel(&format!("{name}^{{commit}}"))?;
        let commit: CommitId = commit.ok_or_else(|| GitError::NoCommit {
            name: name.to_owned(),
        })?;
        let full = self.call().arg("rev-parse").arg("--symbolic-full-name");
        let full = full.arg("--end-of-options").arg(name).ended()?;
        let full = String::from_utf8(full.stdout).unwrap_or_default();
        let branch = full.lines().find(|line| line.starts_with("refs/heads/"));
        let tree = self.tree(&commit)?;
        Ok(Base {
            commit,
            tree,
            branch: branch.map(ToOwned::to_owned),
        })
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// When the repository does not have the commit.
    pub fn tree(&self, commit: &CommitId) -> Result<Digest, GitError> {
        let line = self
            .call()
            .args(["rev-parse", "--verify"])
            .arg(format!("{commit}^{{tree}}"));
        let line = line.line()?;
        Digest::git_tree(&line).map_err(|_| unreadable("rev-parse", line.as_bytes()))
    }

    /// Paths with uncommitted changes or not tracked, ignored ones aside: a mission does not include them. A folder that is not tracked is one path.
    ///
    /// # Errors
    /// When git cannot read the checkout.
    pub fn dirty(&self) -> Result<Vec<PathBuf>, GitError> {
        if self.bare {
            return Ok(Vec::new());
        }
        let status = self.call().arg("status").args(["--porcelain=v2", "-z"]);
        let status = status.args(["--untracked-files=normal", "--no-renames"]);
        let bytes = status.bytes()?;
        Ok(parts(&bytes).filter_map(changed_path).collect())
    }

    /// The commit a full ref name points to; none when there is no such ref.
    pub(super) fn tip(&self, full_name: &str) -> Result<Option<CommitId>, GitError> {
        self.peel(full_name)
    }

    fn peel(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let call = self
            .call()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let ended = call.arg(name).ended()?;
        let line = String::from_utf8(ended.stdout).unwrap_or_default();
        Ok(line
            .trim_end()
            .parse()
            .ok()
            .filter(|_| ended.status.success()))
    }

    /// A configured value; none when it is not set or blank.
    pub(super) fn setting(&self, name: &str) -> Result<Option<String>, GitError> {
        let ended = self.call().args(["config", "--get", name]).ended()?;
        let value = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        Ok(Some(value).filter(|value| ended.status.success() && !value.is_empty()))
    }

    /// A git command in the operator's repository, with the operator's configuration.
    pub(super) fn call(&self) -> Call {
        self.git.at(&self.root).env("GIT_DIR", &self.git_dir)
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    pub(super) fn objects(&self) -> &Path {
        &self.objects
    }
}

/// The path of one porcelain v2 entry without renames: it follows 8 words, or 10 for an unmerged one, or the `?`.
fn changed_path(entry: &[u8]) -> Option<PathBuf> {
    let words = match entry.first()? {
        b'1' => 9,
        b'u' => 11,
        b'?' => 2,
        _ => return None,
    };
    let path = entry
        .splitn(words, |byte| *byte == b' ')
        .nth(words.saturating_sub(1))?;
    Some(PathBuf::from(OsString::from_vec(path.to_vec())))
}

fn located(git: &Git, path: &Path, what: &[&str]) -> Result<PathBuf, GitError> {
    let call = git.at(path).args(["rev-parse", "--path-format=absolute"]);
    let mut bytes = call.args(what).bytes()?;
    bytes.truncate(bytes.strip_suffix(b"\n").map_or(bytes.len(), <[u8]>::len));
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

fn not_a_repository(path: &Path, said: String) -> GitError {
    let path = path.to_owned();
    if said.starts_with("fatal: ") && !said.starts_with("fatal: not a git repository") {
        let words: Vec<&str> = said.split_whitespace().skip(1).collect();
        let said = words.join(" ");
        return GitError::Refused { path, said };
    }
    GitError::NotARepository { path, said }
}

fn new_enough(git: &Git, path: &Path) -> Result<(), GitError> {
    if let Err(source) = std::fs::read_dir(path) {
        return Err(not_a_repository(path, source.to_string()));
    }
    let found = git.at(path).arg("version").line()?;
    let mut numbers = found.split(' ').nth(2).unwrap_or_default().split('.');
    let mut number = || numbers.next().and_then(|word| word.parse::<u32>().ok());
    if (number(), number()) >= (Some(2), Some(38)) {
        return Ok(());
    }
    Err(GitError::TooOld { found })
}
