//! What a mission holds in the operator's repository and in its folder, and giving it back: checkouts, refs, the host's
//! git folder. Never work that nothing else would hold. Which missions are given back is not decided here.

use std::path::PathBuf;

use super::checkout::Checkout;
use super::plain::is_folder;
use super::{CommitId, GitError, Host, Workspace};

/// A ref of a mission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Its full name.
    pub name: String,
    /// The commit that it keeps.
    pub commit: CommitId,
    /// A ref outside the mission that keeps this commit too.
    pub elsewhere: Option<String>,
}

impl Host {
    /// The mission's refs, and who else holds their commits.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn holdings(&self) -> Result<Vec<Holding>, GitError> {
        let refs = self.refs()?.into_iter();
        refs.map(|(name, commit)| {
            let elsewhere = self.held_elsewhere(&commit)?;
            Ok(Holding {
                name,
                commit,
                elsewhere,
            })
        })
        .collect()
    }

    /// A ref outside this mission in whose history `commit` is; branches first, as git lists them.
    fn held_elsewhere(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let call = self
            .repository()
            .call()
            .args(["for-each-ref", "--format=%(refname)"]);
        let listed = call.arg(format!("--contains={commit}")).bytes()?;
        let listed = String::from_utf8_lossy(&listed);
        let root = self.names().root();
        let others = listed.lines().filter(|name| !name.starts_with(&root));
        let (heads, rest): (Vec<&str>, Vec<&str>) =
            others.partition(|name| name.starts_with("refs/heads/"));
        Ok(heads.into_iter().chain(rest).next().map(ToOwned::to_owned))
    }

    /// The folders that the host made for this mission and that are there: the two checkouts and its own git folder.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.checkouts().map(|one| one.top()).into();
        folders.push(self.git_dir());
        folders.retain(|folder| is_folder(folder));
        folders
    }

    fn checkouts(&self) -> [Checkout; 3] {
        ["workspace", "scratch", "review"].map(|name| Checkout::new(self, name))
    }

    /// Whether giving the checkouts back loses nothing.
    ///
    /// # Errors
    /// [`GitError::Unkept`] when the workspace holds work that no ref keeps; [`GitError::Damaged`] when that cannot be told;
    /// [`GitError::Occupied`] when the host did not make what stands in a checkout's place.
    pub fn may_give_back(&self) -> Result<(), GitError> {
        let checkouts = self.checkouts();
        for checkout in &checkouts {
            let ours = checkout.is_made() || checkout.private("begun").exists();
            let path = checkout.top();
            if is_folder(&path) && !ours {
                return Err(GitError::Occupied { path });
            }
        }
        let [workspace, ..] = checkouts;
        // One that was never complete has had no agent in it, and one that is gone has nothing left to lose.
        if workspace.is_made() && is_folder(&workspace.top()) {
            Workspace::open(self)?.is_kept()?;
        }
        Ok(())
    }

    /// Removes the checkouts and the host's git folder. Again is fine.
    ///
    /// # Errors
    /// As for [`Host::may_give_back`]: then nothing is removed. When a file cannot be removed.
    pub fn give_back(self) -> Result<(), GitError> {
        self.may_give_back()?;
        for checkout in self.checkouts() {
            checkout.remove()?;
        }
        self.discard()
    }
}
