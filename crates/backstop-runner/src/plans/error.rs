//! Why a plan cannot be had, approved or applied, and what to do then.

use std::path::{Path, PathBuf};

use backstop_engine::vocab::{Digest, MissionId};

use crate::drive::DriveError;
use crate::state::{Holder, StateError};

/// Why a plan cannot be had, approved or applied.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The state directory.
    #[error(transparent)]
    State(#[from] StateError),
    /// The system refused.
    #[error("cannot {act} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The record is not what was written.
    #[error("the stored plan `{}` cannot be used: {words}: restore it from a copy, or remove its folder", path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        words: String,
    },
    /// No plan has this id, or begins so.
    #[error(
        "no stored plan has the id `{wanted}` or one that begins so: `backstop plan list` shows them"
    )]
    Unknown {
        /// What was looked for.
        wanted: String,
    },
    /// Several plans begin so.
    #[error("`{wanted}` could be {}: give more of the id", candidates.join(", "))]
    Ambiguous {
        /// What was looked for.
        wanted: String,
        /// All that begin so.
        candidates: Vec<String>,
    },
    /// Another process has it.
    #[error("plan `{id}` is in the hands of {holder}: wait until it ends")]
    Held {
        /// The plan.
        id: MissionId,
        /// Who says so.
        holder: Holder,
    },
    /// There is no plan to approve or apply.
    #[error("`{id}` has no plan: {why}: ask again with `backstop plan propose`")]
    None {
        /// The id.
        id: MissionId,
        /// Why not.
        why: String,
    },
    /// The approval names another digest.
    #[error(
        "the approval is for `{given}`, and plan `{id}` is `{is}`: look at it with `backstop plan show {id}` and approve that digest"
    )]
    OtherDigest {
        /// The plan.
        id: MissionId,
        /// What was named.
        given: Digest,
        /// What it is.
        is: Digest,
    },
    /// Somebody approved it already.
    #[error(
        "plan `{id}` was approved already: by {by} at {at}; run it with `backstop run --plan {id}`"
    )]
    Approved {
        /// The plan.
        id: MissionId,
        /// Who.
        by: String,
        /// When.
        at: String,
    },
    /// Nobody approved it.
    #[error(
        "nobody approved plan `{id}`: look at it with `backstop plan show {id}`, then `backstop plan approve {id} --digest {digest}`"
    )]
    Unapproved {
        /// The plan.
        id: MissionId,
        /// What an approval has to name.
        digest: Digest,
    },
    /// It was edited after its approval.
    #[error(
        "plan `{id}` was edited after its approval, and is `{digest}` now: look at it with `backstop plan show {id}`, then `backstop plan approve {id} --digest {digest}`"
    )]
    Edited {
        /// The plan.
        id: MissionId,
        /// What an approval has to name.
        digest: Digest,
    },
    /// A mission runs it, or did.
    #[error(
        "plan `{id}` was applied already, to mission `{mission}`, and a plan is applied once: approve it again with `backstop plan approve {id}`, or propose another"
    )]
    Applied {
        /// The plan.
        id: MissionId,
        /// The mission.
        mission: MissionId,
    },
    /// The mission cannot be opened.
    #[error(transparent)]
    Drive(#[from] Box<DriveError>),
}

impl PlanError {
    pub(crate) fn io(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io {
            act,
            path: path.to_owned(),
            source,
        }
    }
}
