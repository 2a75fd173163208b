//! What can happen to a mission, without its particulars.

use backstop_testkit::engine::Verb;

/// Something that happens, without its particulars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    PreflightHeld,
    PreflightFailed,
    Worked,
    DidNothing,
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
    pub(crate) const ALL: [Self; 34] = [
        Self::PreflightHeld,
        Self::PreflightFailed,
        Self::Worked,
        Self::DidNothing,
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
    pub(crate) const fn weight(self) -> usize {
        match self {
            Self::Worked | Self::DidNothing | Self::Green | Self::Red | Self::Landed => 12,
            Self::PreflightHeld | Self::Answer(Verb::Retry | Verb::Grant | Verb::Reject) => 8,
            Self::Answer(Verb::Abort) | Self::Supervise | Self::Stop => 1,
            _ => 3,
        }
    }

    pub(crate) const STRAIGHT: [Self; 6] = [
        Self::PreflightHeld,
        Self::Worked,
        Self::Green,
        Self::Landed,
        Self::Answer(Verb::Approve),
        Self::Shipped,
    ];
}
