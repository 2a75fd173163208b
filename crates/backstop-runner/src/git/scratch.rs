//! The other checkouts of a mission, one for checks and one for the roles that only look: put back to a pinned commit each
//! time. What is left there never counts, so nothing is ever taken from it; and what a role leaves there, caches included,
//! is not there when the checks run.

use std::path::PathBuf;

use super::checkout::Checkout;
use super::folder::Fresh;
use super::host::write;
use super::plain::is_folder;
use super::{CommitId, GitError, Host};

/// Who works in a scratch checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bench {
    /// The host, with its checks.
    Checks,
    /// The roles that judge the work or describe it.
    Roles,
}

impl Bench {
    const fn name(self) -> &'static str {
        match self {
            Self::Checks => "scratch",
            Self::Roles => "review",
        }
    }
}

/// A scratch checkout of the mission.
#[derive(Debug, Clone)]
pub struct Scratch {
    checkout: Checkout,
}

impl Scratch {
    /// The checkout with exactly the files of `commit`, HEAD there on no branch, untracked files removed and ignored ones kept. It is made when it is missing.
    ///
    /// # Errors
    /// [`GitError::Occupied`] when something else stands there.
    pub fn prepare(host: &Host, bench: Bench, commit: &CommitId) -> Result<Self, GitError> {
        let checkout = Checkout::new(host, bench.name());
        if checkout.is_made() && !is_folder(&checkout.top()) {
            // Somebody removed it, and with it nothing that counts.
            checkout.remove()?;
        }
        if checkout.is_made() {
            checkout.fill(commit)?;
            checkout.sweep()?;
            checkout.renew(&Fresh::at(commit))?;
        } else {
            checkout.make(commit)?;
            checkout.renew(&Fresh::at(commit))?;
            checkout.made()?;
        }
        Ok(Self { checkout })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.checkout.top()
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

    /// Removes the checkout.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn remove(self) -> Result<(), GitError> {
        self.checkout.remove()
    }
}
