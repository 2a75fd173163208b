//! What can go wrong with git, in the operator's words. No recovery here: callers gate on it.

use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{CommitId, Digest};

/// A git operation that did not happen. Nothing is half done that a second call would not complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The git program could not be started.
    #[error("`git` could not be started in `{}` ({source}): install git 2.38 or newer, or check the folder", shown(.at))]
    Start {
        /// The folder it was to run in.
        at: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Git is too old for what is asked of it.
    #[error("git `{found}` is too old: install git 2.38 or newer")]
    TooOld {
        /// What `git version` printed.
        found: String,
    },
    /// Git ended with an error.
    #[error("`git {command}` failed in `{}` ({status}): {said}", shown(.at))]
    Failed {
        /// The command and its first words.
        command: String,
        /// The folder it ran in.
        at: PathBuf,
        /// How it ended.
        status: String,
        /// What it wrote to stderr, trimmed.
        said: String,
    },
    /// Git found a lock file: of a git that is at work, or of one that was killed.
    #[error(
        "`{path}` is there, so a git is at work or was killed: when none is at work there, remove that file, then try again"
    )]
    Locked {
        /// The file, as git names it.
        path: String,
    },
    /// Git did not end within the limit and was stopped.
    #[error("`git {command}` in `{}` did not end in {seconds} s and was stopped: look for a special file (a pipe) or a slow disk there", shown(.at))]
    TimedOut {
        /// The command and its first words.
        command: String,
        /// The folder it ran in.
        at: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// Git printed what this version of Backstop does not understand.
    #[error(
        "`git {command}` printed `{found}`: run `backstop doctor`, this git may not be supported"
    )]
    Unreadable {
        /// The command.
        command: String,
        /// What it printed, cut.
        found: String,
    },
    /// A file of the host's own could not be read or written.
    #[error("cannot {doing} `{}`: {source}", shown(.path))]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path does not lie in a git repository that can be read.
    #[error("`{}` is not in a usable git repository ({said}): run this inside one, or `git init` there", shown(.path))]
    NotARepository {
        /// The path.
        path: PathBuf,
        /// What git said.
        said: String,
    },
    /// Git finds the repository and does not read it: another owner, an unknown format.
    #[error("git refuses the repository of `{}`: {said}; do what it asks, then run this again", shown(.path))]
    Refused {
        /// The path.
        path: PathBuf,
        /// What git said, on one line.
        said: String,
    },
    /// The path lies in the git folder of a repository, which is no place to work in.
    #[error("`{}` lies in a git folder: run this in the checkout", shown(.path))]
    InGitFolder {
        /// The path.
        path: PathBuf,
    },
    /// A ref of the operator's stands where a folder of the mission's refs is to be.
    #[error(
        "`{name}` is in the way of `{wanted}`: give it another name (`{command}`), then try again"
    )]
    InTheWay {
        /// The full ref.
        name: String,
        /// The full ref that cannot be made beside it.
        wanted: String,
        /// What makes way.
        command: String,
    },
    /// A name that does not lead to a commit.
    #[error("{}", no_commit(.name))]
    NoCommit {
        /// The name.
        name: String,
    },
    /// A checkout can no longer be read as one. Its files are left as they are.
    #[error("the workspace `{}` is damaged: {why}; its files are untouched: look at them, then retry, which makes it anew and keeps them beside it as `workspace.damaged-1`, or abort", shown(.path))]
    Damaged {
        /// The checkout.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A folder that Backstop did not make stands where a checkout is wanted.
    #[error("`{}` exists and was not made by this mission: move it away", shown(.path))]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// A checkout holds work that no ref keeps.
    #[error("`{}` holds work that no ref keeps ({what}): take it first, nothing was removed", shown(.path))]
    Unkept {
        /// The checkout.
        path: PathBuf,
        /// What would be lost.
        what: String,
    },
    /// Another run with the same mission id keeps another base.
    #[error(
        "mission `{mission}` already has the base `{now}` in this repository: use another mission id, or clean that mission"
    )]
    MissionTaken {
        /// The mission.
        mission: String,
        /// The base it has.
        now: CommitId,
    },
    /// A ref is not where it was expected, so it was not moved.
    #[error("`{name}` is at `{}`, not at `{}`: someone else moved it", absent(.now.as_ref()), absent(.expected.as_ref()))]
    RefMoved {
        /// The ref.
        name: String,
        /// Where it is; none when it does not exist.
        now: Option<CommitId>,
        /// Where it should have been.
        expected: Option<CommitId>,
    },
    /// A commit does not carry the tree that was approved.
    #[error(
        "commit `{commit}` has the tree `{found}`, not the approved `{expected}`: ask again for what is there now"
    )]
    TreeDiffers {
        /// The commit.
        commit: CommitId,
        /// Its tree.
        found: Digest,
        /// The approved tree.
        expected: Digest,
    },
    /// The ship branch exists with other content.
    #[error("branch `{branch}` exists at `{now}`: rename or delete it, then ship again")]
    BranchTaken {
        /// The branch.
        branch: String,
        /// Where it is.
        now: CommitId,
    },
    /// The base branch is checked out, so only its owner may move it.
    #[error("`{branch}` is checked out in `{}`: run `{command}` there yourself", shown(.at))]
    CheckedOut {
        /// The full ref.
        branch: String,
        /// The checkout that has it.
        at: PathBuf,
        /// The command that ships.
        command: String,
    },
    /// The base moved since the mission began; its approval is void.
    #[error(
        "`{branch}` moved to `{now}` since this was judged: merge it into the mission and validate again"
    )]
    BaseMoved {
        /// The full ref.
        branch: String,
        /// Where it is now.
        now: CommitId,
    },
    /// The base was rewritten since the mission began: merging would bring back what was dropped from it.
    #[error(
        "`{now}` does not contain the mission's base `{base}`, so its history was rewritten and a merge would bring the old one back: reject with a note that asks for a rebase onto `{now}`, or abort"
    )]
    BaseRewritten {
        /// Where the base's branch is now.
        now: CommitId,
        /// The base.
        base: CommitId,
    },
    /// The base ref was deleted.
    #[error("`{branch}` does not exist any more: create it again, or ship as a branch")]
    BaseGone {
        /// The full ref.
        branch: String,
    },
    /// What is to be shipped does not continue the base.
    #[error(
        "commit `{commit}` does not descend from `{base}`: it cannot be a fast-forward, merge the base into the mission first"
    )]
    NotAFastForward {
        /// What was to be shipped.
        commit: CommitId,
        /// The base.
        base: CommitId,
    },
}

impl GitError {
    pub(super) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::File {
            doing,
            path,
            source,
        }
    }

    pub(super) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        let (path, why) = (path.to_owned(), why.into());
        Self::Damaged { path, why }
    }
}

fn no_commit(name: &str) -> String {
    if name == "HEAD" {
        return "`HEAD` has no commit yet: make a first commit, or name another base".to_owned();
    }
    format!(
        "`{name}` names no commit: give a branch, a tag or a commit of this repository that exists"
    )
}

fn absent(commit: Option<&CommitId>) -> &str {
    commit.map_or("(absent)", CommitId::as_str)
}

/// A path as a person can read it: bytes that are not UTF-8, control characters and characters that reorder text are escaped.
#[must_use]
pub fn shown(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            match c {
                '\\' => out.push_str("\\\\"),
                c if c.is_control() || reorders => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_path_that_is_no_text_is_shown_escaped() {
        let odd = Path::new(OsStr::from_bytes(b"a\nb\xff\\\xe2\x80\xae.rs"));
        assert_eq!(shown(odd), "a\\nb\\xff\\\\\\u{202e}.rs");
        assert_eq!(shown(Path::new("grün/x y")), "grün/x y");
    }
}
