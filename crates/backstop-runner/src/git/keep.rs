//! Brings objects into the operator's repository and moves the mission's refs there. Only refs below
//! `refs/backstop/<mission>/` are written here; a commit that a ref leaves is kept by another.

use std::collections::BTreeSet;
use std::fs::File;

use super::call::{Call, parts};
use super::checkout::Checkout;
use super::{CommitId, GitError, Holding, Host};

/// How often objects are stored in the operator's repository before a fault is told.
const TRIES: usize = 4;

/// Below this many objects they are stored one by one, as `git fetch` does, so that attempts do not pile up small packs.
const PACKED_FROM: usize = 100;

/// How a lane landed on the mission's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// It was there.
    Already,
    /// The mission's branch moved forward to it.
    Forward,
    /// The mission's branch moved to it and what it left is kept by this ref.
    Replaced {
        /// The full ref.
        kept: String,
    },
}

impl Host {
    /// The commit that a ref of this mission keeps in the operator's repository; none when there is no such ref.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn tip(&self, full_name: &str) -> Result<Option<CommitId>, GitError> {
        self.repository().tip(full_name)
    }

    /// Every ref of this mission in the operator's repository, by name.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn refs(&self) -> Result<Vec<(String, CommitId)>, GitError> {
        let call = self
            .repository()
            .call()
            .args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let listed = call.arg(self.names().root()).bytes()?;
        let listed = String::from_utf8_lossy(&listed);
        let refs = listed.lines().filter_map(|line| line.split_once(' '));
        Ok(refs
            .filter_map(|(id, name)| Some((name.to_owned(), id.parse().ok()?)))
            .collect())
    }

    /// Lands a verified lane: moves the mission's ref from `from` (none: it does not exist yet) to `lane`. Again is fine.
    ///
    /// # Errors
    /// [`GitError::RefMoved`] when the ref is neither at `from` nor at `lane`.
    pub fn land(&self, lane: &CommitId, from: Option<&CommitId>) -> Result<Landed, GitError> {
        let name = self.names().mission();
        let now = self.tip(&name)?;
        if now.as_ref() == Some(lane) {
            return Ok(Landed::Already);
        }
        if now.as_ref() != from {
            let expected = from.cloned();
            return Err(GitError::RefMoved {
                name,
                now,
                expected,
            });
        }
        let kept = self.advance(&name, lane)?;
        Ok(kept.map_or(Landed::Forward, |kept| Landed::Replaced { kept }))
    }

    /// Moves a ref of this mission to `new`. When its commit is not part of `new`, that commit has a `kept` ref after the same transaction, which is returned.
    pub(super) fn advance(&self, name: &str, new: &CommitId) -> Result<Option<String>, GitError> {
        let Some(old) = self.tip(name)? else {
            self.create(name, new)?;
            return Ok(None);
        };
        if old == *new {
            return Ok(None);
        }
        let mut moves = Moves::default();
        moves.update(name, new, &old);
        let kept = if self.is_ancestor(&old, new)? {
            None
        } else {
            Some(self.place(&old)?)
        };
        if let Some(Place::Free(kept)) = &kept {
            moves.create(kept, &old);
        }
        self.commit(moves)?;
        Ok(kept.map(Place::into_name))
    }

    /// Gives commits of their own `kept` refs. All of them are in the operator's repository.
    pub(super) fn keep_all(&self, commits: &[CommitId]) -> Result<(), GitError> {
        for commit in commits {
            if let Place::Free(name) = self.place(commit)? {
                self.create(&name, commit)?;
            }
        }
        Ok(())
    }

    pub(super) fn create(&self, name: &str, commit: &CommitId) -> Result<(), GitError> {
        let mut moves = Moves::default();
        moves.create(name, commit);
        self.commit(moves)
    }

    /// Whether git can make this ref: no other stands where a folder of its name is to be.
    ///
    /// # Errors
    /// [`GitError::InTheWay`] with the command that makes way.
    pub fn has_room(&self, wanted: &str) -> Result<(), GitError> {
        // The first folder is `refs` itself.
        for (end, _) in wanted.match_indices('/').skip(1) {
            let Some(name) = wanted.get(..end) else {
                continue;
            };
            if self.tip(name)?.is_none() {
                continue;
            }
            let command = match name.strip_prefix("refs/heads/") {
                Some(branch) => format!("git branch -m {branch} NEW-NAME"),
                None => format!("git update-ref -d {name}"),
            };
            let (name, wanted) = (name.to_owned(), wanted.to_owned());
            return Err(GitError::InTheWay {
                name,
                wanted,
                command,
            });
        }
        Ok(())
    }

    /// Whether `old` is part of the history of `new`; both are in the operator's repository.
    pub(super) fn is_ancestor(&self, old: &CommitId, new: &CommitId) -> Result<bool, GitError> {
        let call = self.call().args(["merge-base", "--is-ancestor"]);
        call.args([old.as_str(), new.as_str()]).holds()
    }

    /// Deletes every ref of this mission in the operator's repository; what each of them kept.
    ///
    /// # Errors
    /// When a ref moved meanwhile: then none is deleted.
    pub fn forget(&self) -> Result<Vec<(String, CommitId)>, GitError> {
        let refs = self.refs()?;
        let mut moves = Moves::default();
        for (name, at) in &refs {
            moves.delete(name, at);
        }
        self.commit(moves)?;
        Ok(refs)
    }

    /// Deletes these refs of this mission.
    ///
    /// # Errors
    /// When one of them moved meanwhile: then none is deleted.
    pub fn release(&self, refs: &[Holding]) -> Result<(), GitError> {
        let mut moves = Moves::default();
        for Holding { name, commit, .. } in refs {
            moves.delete(name, commit);
        }
        self.commit(moves)
    }

    /// The `kept` ref of a commit: the one that it has, or the next free one.
    fn place(&self, commit: &CommitId) -> Result<Place, GitError> {
        let (refs, prefix) = (self.refs()?, self.names().kept());
        let kept: Vec<_> = refs
            .iter()
            .filter(|(name, _)| name.starts_with(&prefix))
            .collect();
        if let Some((name, _)) = kept.iter().find(|(_, at)| at == commit) {
            return Ok(Place::Has(name.clone()));
        }
        let numbers = kept
            .iter()
            .filter_map(|(name, _)| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        Ok(Place::Free(format!(
            "{prefix}{}",
            numbers.max().unwrap_or(0).saturating_add(1)
        )))
    }

    fn commit(&self, moves: Moves) -> Result<(), GitError> {
        // A reflog would be one more file of the operator's that changes.
        let call = self.repository().call().set("core.logAllRefUpdates=false");
        call.args(["update-ref", "-z", "--stdin"])
            .input(moves.0)
            .done()
    }

    /// Brings `tips` and all they need into the operator's object store, from the host's own store and the checkout's.
    ///
    /// The objects are listed, packed, unpacked and checked for gaps by the host; no transport runs and the checkout's configuration is not read.
    pub(super) fn bring(&self, from: Option<&Checkout>, tips: &[CommitId]) -> Result<(), GitError> {
        let source = || from.map_or_else(|| self.call(), Checkout::objects_call);
        let known: BTreeSet<_> = self.refs()?.into_iter().map(|(_, at)| at).collect();
        let wanted = revisions(tips, &known);
        let listing = source()
            .args(["rev-list", "--objects", "--stdin"])
            .input(wanted.clone());
        let listed = listing.bytes()?;
        if listed.is_empty() {
            return Ok(());
        }
        self.transfer(source(), &listed)?;
        // A gap would show only when a borrowed store is gone: look in the operator's store alone.
        let check = self
            .repository()
            .call()
            .args(["rev-list", "--objects", "--quiet", "--stdin"]);
        check.input(wanted).done()
    }

    fn transfer(&self, packing: Call, listed: &[u8]) -> Result<(), GitError> {
        let pack = self.git_dir().join("outgoing.pack");
        let failed = |source| GitError::file("write", &pack, source);
        let count = listed.split_inclusive(|byte| *byte == b'\n').count();
        let bytes = packing.args(["pack-objects", "--quiet", "--delta-base-offset", "--stdout"]);
        let out = File::create(&pack).map_err(failed)?;
        bytes.input(listed.to_vec()).printing(out)?;
        let stored = || {
            let store = self.repository().call();
            let store = if count < PACKED_FROM {
                store.args(["unpack-objects", "-q"])
            } else {
                store.args(["index-pack", "--stdin"])
            };
            store.reading(File::open(&pack).map_err(failed)?)
        };
        // The operator's `git gc` removes folders of objects that it finds empty, also one that git has just made and is about
        // to write into. What was stored is stored: doing it again does no harm.
        let mut done = stored();
        for _ in 1..TRIES {
            if done.is_ok() {
                break;
            }
            done = stored();
        }
        done?;
        std::fs::remove_file(&pack).map_err(|source| GitError::file("remove", &pack, source))
    }
}

impl Checkout {
    /// Commits among `mentioned` that exist here and are in the history of neither `head` nor a ref of the mission, without those
    /// that others of them contain.
    pub(super) fn strays(
        &self,
        mentioned: &[CommitId],
        head: &CommitId,
    ) -> Result<Vec<CommitId>, GitError> {
        let existing = self.existing(mentioned)?;
        if existing.is_empty() {
            return Ok(existing);
        }
        let mut known: BTreeSet<_> = self.host.refs()?.into_iter().map(|(_, at)| at).collect();
        known.insert(head.clone());
        let call = self.objects_call().args(["rev-list", "--stdin"]);
        let unknown = call.input(revisions(&existing, &known)).bytes()?;
        let unknown = String::from_utf8_lossy(&unknown);
        let unknown: BTreeSet<_> = unknown.lines().collect();
        let stray: Vec<_> = existing
            .into_iter()
            .filter(|at| unknown.contains(at.as_str()))
            .collect();
        if stray.len() < 2 {
            return Ok(stray);
        }
        let tops = self.objects_call().args(["merge-base", "--independent"]);
        let tops = tops.args(stray.iter().map(CommitId::as_str)).bytes()?;
        Ok(String::from_utf8_lossy(&tops)
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect())
    }

    /// Those that are commits and present, each once.
    pub(super) fn existing(&self, commits: &[CommitId]) -> Result<Vec<CommitId>, GitError> {
        existing(self.objects_call(), commits)
    }
}

/// Those that are commits among the objects that `call` sees, each once.
pub(super) fn existing(call: Call, commits: &[CommitId]) -> Result<Vec<CommitId>, GitError> {
    let mut asked: Vec<_> = commits.iter().map(CommitId::as_str).collect();
    asked.sort_unstable();
    asked.dedup();
    let call = call.args(["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
    let answers = call.input(asked.join("\n").into_bytes()).bytes()?;
    let answers = String::from_utf8_lossy(&answers);
    let commits = answers
        .lines()
        .filter_map(|line| line.strip_suffix(" commit"));
    Ok(commits.filter_map(|id| id.parse().ok()).collect())
}

/// Where a commit is kept, or can be.
enum Place {
    Has(String),
    Free(String),
}

impl Place {
    fn into_name(self) -> String {
        match self {
            Self::Has(name) | Self::Free(name) => name,
        }
    }
}

/// A transaction on refs: all of it or nothing.
#[derive(Default)]
pub(super) struct Moves(Vec<u8>);

impl Moves {
    fn update(&mut self, name: &str, new: &CommitId, old: &CommitId) {
        self.0
            .extend(format!("update {name}\0{new}\0{old}\0").into_bytes());
    }

    fn create(&mut self, name: &str, new: &CommitId) {
        self.0
            .extend(format!("create {name}\0{new}\0").into_bytes());
    }

    fn delete(&mut self, name: &str, old: &CommitId) {
        self.0
            .extend(format!("delete {name}\0{old}\0").into_bytes());
    }
}

fn revisions(tips: &[CommitId], known: &BTreeSet<CommitId>) -> Vec<u8> {
    let tips = tips.iter().map(|tip| format!("{tip}\n"));
    let known = known.iter().map(|tip| format!("^{tip}\n"));
    tips.chain(known).collect::<String>().into_bytes()
}

/// Paths that differ between two commits, whatever moved.
pub(super) fn changed(call: Call, from: &CommitId, to: &CommitId) -> Result<Vec<u8>, GitError> {
    let call = call.args(["diff-tree", "-r", "-z", "--raw", "--no-renames"]);
    call.args([from.as_str(), to.as_str()]).bytes()
}

/// The entries of raw differences: the mode after, and the path.
pub(super) fn raw_entries(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
    let listed: Vec<_> = parts(raw).collect();
    let (pairs, _) = listed.as_chunks::<2>();
    let entries = pairs.iter().filter_map(|pair| {
        let [head, path] = *pair;
        Some((head.split(|byte| *byte == b' ').nth(1)?, path))
    });
    entries.collect()
}
