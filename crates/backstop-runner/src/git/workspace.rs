//! The checkout where a mission's agents work: made once, entered by one lane after the other, and taken from after each attempt.
//! Starting and stopping agents is not here; no agent may be at work during any of these calls.

use std::fs;
use std::path::PathBuf;

use super::checkout::{Checkout, Differences, remove_file};
use super::folder::Fresh;
use super::host::{clear, write};
use super::plain::Plain;
use super::{CommitId, Digest, GitError, Host, LaneRef};

/// The mission's workspace.
#[derive(Debug, Clone)]
pub struct Workspace {
    checkout: Checkout,
}

/// What taking a lane's work gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The lane's commit now; the operator's repository has it.
    pub head: CommitId,
    /// Its tree: the lane's digest.
    pub tree: Digest,
    /// The commit that the host made of uncommitted work; it is `head`.
    pub leftovers: Option<CommitId>,
    /// Commits that the attempt made or had and left out of `head`; each has a ref of the mission.
    pub strays: Vec<CommitId>,
}

impl Workspace {
    /// The workspace of `host`'s mission, made with the files of `at` on the branch of `lane` when it is missing. One that
    /// was left half made is made again: no agent has been there.
    ///
    /// # Errors
    /// [`GitError::Occupied`] when something else stands there.
    pub fn create(host: &Host, lane: LaneRef, at: &CommitId) -> Result<Self, GitError> {
        let checkout = Checkout::new(host, "workspace");
        if checkout.is_made() {
            return Self::open(host);
        }
        checkout.make(at)?;
        checkout.renew(&Fresh::on(&host.names().branch(lane), at, None, &[]))?;
        host.advance(&host.names().lane(lane), at)?;
        checkout.made()?;
        Ok(Self { checkout })
    }

    /// The workspace that was made before. Completes what a crash interrupted.
    ///
    /// # Errors
    /// [`GitError::Damaged`] when it was never made; when it cannot be told whether it was.
    pub fn open(host: &Host) -> Result<Self, GitError> {
        let workspace = Self {
            checkout: Checkout::new(host, "workspace"),
        };
        if !workspace.checkout.was_made()? {
            return Err(GitError::damaged(&workspace.path(), "it was never made"));
        }
        workspace.checkout.mend()?;
        if let Some((branch, at)) = workspace.entering() {
            workspace.move_to(&branch, &at)?;
        }
        Ok(workspace)
    }

    /// The folder that agents run in.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.checkout.top()
    }

    /// Moves a damaged workspace out of the way, with all that is in it, so that it can be made again. One whose folder is
    /// gone is forgotten.
    ///
    /// # Errors
    /// When the folder cannot be moved.
    pub fn set_aside(host: &Host) -> Result<(), GitError> {
        let checkout = Checkout::new(host, "workspace");
        let top = checkout.top();
        if fs::symlink_metadata(&top).is_ok() {
            let free = (1_u32..).map(|n| host.dir().join(format!("workspace.damaged-{n}")));
            let aside = free
                .into_iter()
                .find(|path| fs::symlink_metadata(path).is_err());
            let aside = aside.unwrap_or_else(|| host.dir().join("workspace.damaged"));
            fs::rename(&top, &aside).map_err(|source| GitError::file("move", &top, source))?;
        }
        checkout.remove()
    }

    /// Puts the workspace on the branch of `lane` with the files of `at`; ignored files stay. The lane's ref in the
    /// operator's repository follows; a commit that it leaves is kept.
    ///
    /// # Errors
    /// [`GitError::Unkept`] when there is work here that was not taken.
    pub fn enter(&self, lane: LaneRef, at: &CommitId) -> Result<(), GitError> {
        self.nothing_unkept()?;
        let branch = self.host().names().branch(lane);
        self.host().advance(&self.host().names().lane(lane), at)?;
        write(&self.entering_file(), format!("{branch} {at}").as_bytes())?;
        self.move_to(&branch, at)
    }

    /// Takes the lane's work: commits what is uncommitted (tracked or not, ignored files aside) on top of what HEAD leads to, brings it
    /// into the operator's repository as the lane's ref, and puts the workspace on the lane's branch there with a fresh `.git`.
    ///
    /// HEAD decides, whatever branch the agent is on: it is what the agent's files continue. The lane's earlier commit, and every commit that a
    /// branch, the stash, an unfinished merge or the log of HEAD names, is kept by a ref of its own where HEAD does not contain it. Again
    /// is fine: the same work is not committed twice.
    ///
    /// # Errors
    /// [`GitError::Damaged`] when the workspace cannot be read as a checkout any more; its files stay as they are.
    pub fn take(&self, lane: LaneRef, message: &str) -> Result<Taken, GitError> {
        self.checkout.mend()?;
        let plain = Plain::read(&self.path())?;
        let before = self.lane_head(lane, &plain)?;
        let found = self.checkout.differences(&before)?;
        let head = self.committed(lane, &before, &found, message)?;
        let named: Vec<_> = plain
            .refs
            .values()
            .chain(&plain.mentioned)
            .cloned()
            .collect();
        let strays = self.checkout.strays(&named, &head)?;
        let mut tips = strays.clone();
        tips.push(head.clone());
        self.host().bring(Some(&self.checkout), &tips)?;
        self.host().keep_all(&strays)?;
        self.host()
            .advance(&self.host().names().lane(lane), &head)?;
        let carried: Vec<_> = plain.refs.values().cloned().collect();
        let carried = self.checkout.existing(&carried)?;
        let branch = self.host().names().branch(lane);
        self.checkout
            .renew(&Fresh::on(&branch, &head, Some(&plain), &carried))?;
        let leftovers = Some(head.clone()).filter(|head| *head != before);
        Ok(Taken {
            tree: self.tree_of(&head)?,
            head,
            leftovers,
            strays,
        })
    }

    /// Whether the operator's setup commands ran here to the end.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        self.checkout.private("setup").exists()
    }

    /// Records that they did.
    ///
    /// # Errors
    /// When the mark cannot be written.
    pub fn set_up(&self) -> Result<(), GitError> {
        write(&self.checkout.private("setup"), b"")
    }

    /// Whether every work here is kept by a ref.
    ///
    /// # Errors
    /// [`GitError::Unkept`] when some is not, [`GitError::Damaged`] when that cannot be told.
    pub fn is_kept(&self) -> Result<(), GitError> {
        self.nothing_unkept()?;
        self.modules_are_kept(&self.host().base()?)
    }

    /// Removes the workspace, ignored files included.
    ///
    /// # Errors
    /// [`GitError::Unkept`] when it holds work that no ref keeps, [`GitError::Damaged`] when that cannot be told; then nothing is removed.
    pub fn remove(self) -> Result<(), GitError> {
        self.is_kept()?;
        self.checkout.remove()
    }

    pub(super) fn host(&self) -> &Host {
        &self.checkout.host
    }

    pub(super) fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// The commit that counts as the lane's: HEAD's, or on a branch without one the last that was kept.
    pub(super) fn lane_head(&self, lane: LaneRef, plain: &Plain) -> Result<CommitId, GitError> {
        let Some(head) = plain.commit() else {
            let kept = self.host().tip(&self.host().names().lane(lane))?;
            return kept.map_or_else(|| self.host().base(), Ok);
        };
        self.is_there(head)?;
        Ok(head.clone())
    }

    fn is_there(&self, head: &CommitId) -> Result<(), GitError> {
        if self
            .checkout
            .existing(std::slice::from_ref(head))?
            .is_empty()
        {
            let why = format!("HEAD names commit `{head}`, which is not there");
            return Err(GitError::damaged(&self.path(), why));
        }
        Ok(())
    }

    pub(super) fn tree_of(&self, commit: &CommitId) -> Result<Digest, GitError> {
        let call = self.checkout.objects_call().args(["rev-parse", "--verify"]);
        let line = call.arg(format!("{commit}^{{tree}}")).line()?;
        Digest::git_tree(&line).map_err(|_| super::call::unreadable("rev-parse", line.as_bytes()))
    }

    /// `before`, or a commit on top of it with what differs.
    fn committed(
        &self,
        lane: LaneRef,
        before: &CommitId,
        found: &Differences,
        message: &str,
    ) -> Result<CommitId, GitError> {
        if found.paths.is_empty() {
            return Ok(before.clone());
        }
        let tree = self.checkout.tree_with(found)?;
        if tree == self.tree_of(before)? {
            return Ok(before.clone());
        }
        if let Some(done) = self.host().tip(&self.host().names().lane(lane))?
            && self.tree_of(&done)? == tree
            && self.parents(&done)? == [before.clone()]
        {
            return Ok(done);
        }
        let call =
            self.checkout
                .objects_call()
                .args(["commit-tree", "-p", before.as_str(), "-F", "-"]);
        call.arg(tree.digits())
            .input(message.as_bytes().to_vec())
            .parsed()
    }

    fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let call = self
            .checkout
            .objects_call()
            .args(["rev-list", "--parents", "--max-count=1"]);
        let line = call.arg(commit.as_str()).line()?;
        Ok(line
            .split(' ')
            .skip(1)
            .filter_map(|id| id.parse().ok())
            .collect())
    }

    fn nothing_unkept(&self) -> Result<(), GitError> {
        self.checkout.mend()?;
        let plain = Plain::read(&self.path())?;
        let unkept = |what: String| GitError::Unkept {
            path: self.path(),
            what,
        };
        let base = self.host().base()?;
        let named: Vec<_> = plain
            .refs
            .values()
            .chain(&plain.mentioned)
            .chain(plain.commit())
            .cloned()
            .collect();
        if let Some(stray) = self.checkout.strays(&named, &base)?.first() {
            return Err(unkept(format!("commit `{stray}`")));
        }
        let head = plain.commit().unwrap_or(&base);
        self.is_there(head)?;
        let found = self.checkout.differences(head)?;
        match found.paths.first() {
            Some(path) => Err(unkept(format!(
                "`{}` and {} more",
                super::shown(path),
                found.paths.len() - 1
            ))),
            None => Ok(()),
        }
    }

    fn move_to(&self, branch: &str, at: &CommitId) -> Result<(), GitError> {
        let old = Plain::read(&self.path()).ok();
        let refs: Vec<_> = old
            .iter()
            .flat_map(|old| old.refs.values().cloned())
            .collect();
        let carried = self.checkout.existing(&refs)?;
        self.checkout.fill(at)?;
        self.checkout
            .renew(&Fresh::on(branch, at, old.as_ref(), &carried))?;
        remove_file(&self.entering_file())
    }

    /// Written before the files change and removed after, so that a crash between cannot make one lane's files look like another's work.
    fn entering_file(&self) -> PathBuf {
        self.checkout.private("entering")
    }

    fn entering(&self) -> Option<(String, CommitId)> {
        let text = fs::read_to_string(self.entering_file()).ok()?;
        let (branch, at) = text.split_once(' ')?;
        Some((branch.to_owned(), at.parse().ok()?))
    }
}

impl Checkout {
    /// Removes the folder and what the host recorded about it.
    pub(super) fn remove(&self) -> Result<(), GitError> {
        // Without this mark the rest counts as half made, so an interrupted removal is completed by making or removing again.
        remove_file(&self.private("made"))?;
        clear(&self.top())?;
        for what in ["setup", "entering", "index", "begun"] {
            remove_file(&self.private(what))?;
        }
        for what in ["worn", "fresh", "part"] {
            clear(&self.private(what))?;
        }
        Ok(())
    }
}
