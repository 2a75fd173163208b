//! What a workspace holds, as the host sees it. Changes nothing but the host's own index; says nothing about what the work is worth.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::keep::{changed, raw_entries};
use super::plain::{Head, Plain, path};
use super::{CommitId, Digest, GitError, LaneRef, Workspace};

/// Where an agent left HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// On the lane's branch.
    Lane,
    /// On another branch, by its full name.
    Elsewhere(String),
    /// On no branch.
    Detached,
    /// On a branch without a commit, by its full name.
    Unborn(String),
}

/// What a workspace holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The commit that counts as the lane's: what HEAD leads to, or the last kept one where HEAD leads to none.
    pub head: CommitId,
    /// Its tree; uncommitted work is not in it.
    pub tree: Digest,
    /// Commits of `head` that the lane's base does not have.
    pub commits: u64,
    /// Where HEAD is.
    pub standing: Standing,
    /// An operation that was not finished, such as `merge` or `rebase`.
    pub unfinished: Option<&'static str>,
    /// Paths with uncommitted work, ignored ones aside; ascending.
    pub uncommitted: Vec<PathBuf>,
    /// Paths that differ from the visit's entry, committed or not; ascending.
    pub changed: Vec<PathBuf>,
    /// Folders that are repositories of their own; their files count as files of the workspace.
    pub nested: Vec<PathBuf>,
    /// Submodules whose commit differs from the lane's base: nobody else may have that commit.
    pub links: Vec<PathBuf>,
    /// Whether the agent left a stash.
    pub stashed: bool,
}

impl Survey {
    /// Whether there is uncommitted work.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        !self.uncommitted.is_empty()
    }
}

impl Workspace {
    /// What the workspace holds now. `base` is where the lane began, `entry` where the visit began. No agent may be at work.
    ///
    /// # Errors
    /// [`GitError::Damaged`] when it cannot be read as a checkout any more.
    pub fn survey(
        &self,
        lane: LaneRef,
        base: &CommitId,
        entry: &CommitId,
    ) -> Result<Survey, GitError> {
        let plain = Plain::read(&self.path())?;
        let head = self.lane_head(lane, &plain)?;
        let checkout = self.checkout();
        let found = checkout.differences(&head)?;
        let call = checkout.objects_call().args(["rev-list", "--count"]);
        let commits = call.arg(head.as_str()).arg(format!("^{base}")).parsed()?;
        let raw = changed(checkout.objects_call(), entry, &head)?;
        let committed = raw_entries(&raw).into_iter().map(|(_, name)| path(name));
        let mut all: BTreeSet<_> = committed.collect();
        all.extend(found.paths.iter().cloned());
        Ok(Survey {
            tree: self.tree_of(&head)?,
            commits,
            standing: self.standing(lane, &plain),
            unfinished: plain.unfinished,
            uncommitted: found.paths.into_iter().collect(),
            changed: all.into_iter().collect(),
            nested: found.nested,
            links: checkout.links(base, &head)?,
            stashed: plain.stashed(),
            head,
        })
    }

    fn standing(&self, lane: LaneRef, plain: &Plain) -> Standing {
        let branch = format!("refs/heads/{}", self.host().names().branch(lane));
        match &plain.head {
            Head::At(_) => Standing::Detached,
            Head::On(name) if plain.commit().is_none() => Standing::Unborn(name.clone()),
            Head::On(name) if *name == branch => Standing::Lane,
            Head::On(name) => Standing::Elsewhere(name.clone()),
        }
    }
}
