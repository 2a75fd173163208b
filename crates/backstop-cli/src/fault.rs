//! What went wrong, for a person, and the exit status that scripts rely on.

use std::fmt;
use std::process::ExitCode;

use backstop_engine::Refusal;
use backstop_runner::blobs::BlobError;
use backstop_runner::door::DoorError;
use backstop_runner::drive::DriveError;
use backstop_runner::git::GitError;
use backstop_runner::history::HistoryError;
use backstop_runner::journal::JournalError;
use backstop_runner::opening::OpeningError;
use backstop_runner::plans::PlanError;
use backstop_runner::proposing::ProposeError;
use backstop_runner::state::StateError;

/// How a command ends. The numbers are documented and stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done,
    /// Something that should not happen.
    Unexpected,
    /// Wrong usage, configuration or plan.
    Usage,
    /// A person is waited for.
    Waiting,
    /// Parked.
    Parked,
    /// Aborted.
    Aborted,
    /// An answer or a request that does not fit.
    Refused,
    /// State on disk is damaged.
    Damaged,
    /// The preflight failed, and nobody is there to ask.
    Preflight,
    /// Interrupted, and parked cleanly.
    Interrupted,
}

impl Status {
    /// The exit status.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Waiting => 3,
            Self::Parked => 4,
            Self::Aborted => 5,
            Self::Refused => 6,
            Self::Damaged => 7,
            Self::Preflight => 8,
            Self::Interrupted => 130,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// A fault: what happened, where, and what to do.
#[derive(Debug)]
pub struct Fault {
    /// The exit status.
    pub status: Status,
    words: String,
}

impl Fault {
    /// A fault in these words.
    pub fn new(status: Status, words: impl fmt::Display) -> Self {
        Self {
            status,
            words: words.to_string(),
        }
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_silent(&self) -> bool {
        self.words.is_empty()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        // Whoever read has seen enough, and nobody is left to tell.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(Status::Done, "");
        }
        Self::new(Status::Unexpected, error)
    }
}

impl From<OpeningError> for Fault {
    fn from(error: OpeningError) -> Self {
        let status = if matches!(error, OpeningError::Git(_)) {
            Status::Preflight
        } else {
            Status::Usage
        };
        Self::new(status, error)
    }
}

impl From<GitError> for Fault {
    fn from(error: GitError) -> Self {
        Self::new(Status::Preflight, error)
    }
}

impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        let unfit = matches!(
            error,
            StateError::Held { .. } | StateError::Unknown { .. } | StateError::Ambiguous { .. }
        );
        let status = if unfit {
            Status::Refused
        } else if matches!(error, StateError::Io { .. }) {
            Status::Unexpected
        } else {
            Status::Usage
        };
        Self::new(status, error)
    }
}

impl From<BlobError> for Fault {
    fn from(error: BlobError) -> Self {
        let status = if matches!(error, BlobError::Damaged { .. }) {
            Status::Damaged
        } else {
            Status::Unexpected
        };
        Self::new(status, error)
    }
}

impl From<DoorError> for Fault {
    fn from(error: DoorError) -> Self {
        Self::new(Status::Refused, error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::new(Status::Refused, refusal)
    }
}

const fn journal(error: &JournalError) -> Status {
    if matches!(
        error,
        JournalError::Empty(_) | JournalError::Damaged { .. } | JournalError::Event { .. }
    ) {
        return Status::Damaged;
    }
    Status::Unexpected
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        Self::new(journal(&error), error)
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        let status = if let HistoryError::Journal(error) = &error {
            journal(error)
        } else {
            Status::Damaged
        };
        Self::new(status, error)
    }
}

impl From<DriveError> for Fault {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::State(error) => error.into(),
            DriveError::Journal(error) => error.into(),
            DriveError::History(error) => error.into(),
            DriveError::Git(error) => error.into(),
            DriveError::Refused(refusal) => refusal.into(),
            DriveError::Blob(_)
            | DriveError::Settings(_)
            | DriveError::Dispatch(_)
            | DriveError::Io { .. } => Self::new(Status::Unexpected, error),
        }
    }
}

impl From<PlanError> for Fault {
    fn from(error: PlanError) -> Self {
        let status = match error {
            PlanError::State(error) => return error.into(),
            PlanError::Drive(error) => return (*error).into(),
            PlanError::Io { .. } => Status::Unexpected,
            PlanError::Damaged { .. } => Status::Damaged,
            PlanError::Unknown { .. }
            | PlanError::Ambiguous { .. }
            | PlanError::Held { .. }
            | PlanError::None { .. }
            | PlanError::OtherDigest { .. }
            | PlanError::Approved { .. }
            | PlanError::Unapproved { .. }
            | PlanError::Edited { .. }
            | PlanError::Applied { .. } => Status::Refused,
        };
        Self::new(status, error)
    }
}

impl From<ProposeError> for Fault {
    fn from(error: ProposeError) -> Self {
        match error {
            ProposeError::Opening(error) => error.into(),
            ProposeError::Plan(error) => error.into(),
            ProposeError::Drive(error) => error.into(),
            ProposeError::Subreaper(_) | ProposeError::Left(_) => {
                Self::new(Status::Unexpected, error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use backstop_runner::dispatcher::DispatchError;

    use super::*;

    #[test]
    fn an_effect_that_broke_off_is_unexpected() {
        let broken = DispatchError::Broken("a fault in git".into());
        let fault = Fault::from(DriveError::Dispatch(broken));
        assert_eq!(fault.status.code(), 1);
        assert!(fault.to_string().contains("`a fault in git`"), "{fault}");
    }
}
