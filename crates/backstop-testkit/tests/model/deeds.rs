//! What can happen to a mission, without its particulars.

use backstop_testkit::engine::{Role, Verb};

/// Something that happens, without its particulars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    PreflightHeld,
    PreflightFailed,
    // Ends of an attempt that claim success. Of a role that judges the first is a pass of a tree that moved under it, the
    // next two a pass, then: a pass with findings, a pass by the author, a failure with findings and one without, no verdict.
    Worked,
    Undid,
    DidNothing,
    Doubted,
    SharedSession,
    FoundFaults,
    FoundNothing,
    Mute,
    Failed,
    Limited,
    LimitedForLong,
    Died,
    CutOff,
    Unavailable,
    Asked,
    Spent,
    Cancelled,
    Green,
    Red,
    NotRun,
    WaitEnded,
    Landed,
    LandFailed,
    Shipped,
    ShipFailed,
    BaseMoved,
    MergedNew,
    MergedSame,
    Conflict,
    Answer(Verb),
    Expired,
    Stop,
    Resume,
    Supervise,
}

impl Deed {
    pub(crate) const ALL: [Self; 40] = [
        Self::PreflightHeld,
        Self::PreflightFailed,
        Self::Worked,
        Self::Undid,
        Self::DidNothing,
        Self::Doubted,
        Self::SharedSession,
        Self::FoundFaults,
        Self::FoundNothing,
        Self::Mute,
        Self::Failed,
        Self::Limited,
        Self::LimitedForLong,
        Self::Died,
        Self::CutOff,
        Self::Unavailable,
        Self::Asked,
        Self::Spent,
        Self::Cancelled,
        Self::Green,
        Self::Red,
        Self::NotRun,
        Self::WaitEnded,
        Self::Landed,
        Self::LandFailed,
        Self::Shipped,
        Self::ShipFailed,
        Self::BaseMoved,
        Self::MergedNew,
        Self::MergedSame,
        Self::Conflict,
        Self::Answer(Verb::Approve),
        Self::Answer(Verb::Reject),
        Self::Answer(Verb::Retry),
        Self::Answer(Verb::Grant),
        Self::Answer(Verb::Abort),
        Self::Expired,
        Self::Stop,
        Self::Resume,
        Self::Supervise,
    ];

    /// How often it is chosen: what leads on, more often; what ends a way or closes a door, hardly ever.
    pub(crate) const fn weight(self, next: Option<Role>) -> usize {
        let judges = matches!(next, Some(Role::Reviewer | Role::Verifier));
        match self {
            Self::Worked if judges => 1,
            Self::DidNothing if judges => 24,
            Self::FoundFaults if judges => 12,
            Self::Mute if judges => 6,
            Self::Worked
            | Self::Green
            | Self::Landed
            | Self::PreflightHeld
            | Self::Answer(Verb::Approve | Verb::Grant) => 24,
            Self::Red | Self::WaitEnded | Self::Resume => 12,
            Self::Answer(Verb::Retry | Verb::Reject) => 8,
            Self::Undid | Self::BaseMoved | Self::MergedNew => 4,
            Self::Answer(Verb::Abort)
            | Self::Supervise
            | Self::Stop
            | Self::Expired
            | Self::Cancelled => 1,
            _ => 2,
        }
    }

    /// Whether an agent says that it has done its work.
    pub(crate) const fn claims_success(self) -> bool {
        matches!(
            self,
            Self::Worked
                | Self::Undid
                | Self::DidNothing
                | Self::Doubted
                | Self::SharedSession
                | Self::FoundFaults
                | Self::FoundNothing
                | Self::Mute
        )
    }

    pub(crate) const fn is_fault(self) -> bool {
        matches!(self, Self::Died | Self::CutOff | Self::Unavailable)
    }

    pub(crate) const fn is_limit(self) -> bool {
        matches!(self, Self::Limited | Self::LimitedForLong)
    }

    pub(crate) const fn ends_attempt(self) -> bool {
        self.claims_success()
            || self.is_fault()
            || matches!(
                self,
                Self::Failed
                    | Self::Limited
                    | Self::LimitedForLong
                    | Self::Asked
                    | Self::Spent
                    | Self::Cancelled
            )
    }

    pub(crate) const STRAIGHT: [Self; 6] = [
        Self::PreflightHeld,
        Self::Worked,
        Self::Green,
        Self::Landed,
        Self::Answer(Verb::Approve),
        Self::Shipped,
    ];

    /// A whole team under the stop-ship gates: the reviewer fails the work once, then all pass it.
    pub(crate) const TEAM: [Self; 15] = [
        Self::PreflightHeld,
        Self::DidNothing,
        Self::Answer(Verb::Approve),
        Self::Worked,
        Self::Green,
        Self::FoundFaults,
        Self::Worked,
        Self::Green,
        Self::DidNothing,
        Self::DidNothing,
        Self::Green,
        Self::Landed,
        Self::DidNothing,
        Self::Answer(Verb::Approve),
        Self::Shipped,
    ];
}
