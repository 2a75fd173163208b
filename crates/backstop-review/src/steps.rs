//! The names of states and steps, and which step fits which state. What a step does is in `states`.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$each])* $variant,)*
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names!(
    /// Where a loop is.
    StateKind {
        /// A slot may be opened.
        Ready = "ready",
        /// A slot is open.
        Reviewing = "reviewing",
        /// Findings are being repaired.
        Repairing = "repairing",
        /// Clean, awaiting a person.
        Parked = "parked",
        /// Over, without success.
        Stopped = "stopped",
        /// Over, with success.
        Verified = "verified",
    }
);

names!(
    /// What may happen to a loop.
    StepKind {
        /// A slot is opened.
        Begin = "begin",
        /// A review comes in.
        Record = "record",
        /// The open slot crashed.
        Abandon = "abandon",
        /// A repair comes in.
        RecordRepair = "record_repair",
        /// A host check is red before any review of the pin.
        RecordRed = "record_red",
        /// The host looks at the digest.
        Observe = "observe",
        /// A person answers.
        Ratify = "ratify",
    }
);

/// Whether a loop in this state takes this step. A step that fits may still be refused for what it says.
#[must_use]
pub const fn accepts(state: StateKind, step: StepKind) -> bool {
    match step {
        StepKind::Begin | StepKind::RecordRed => matches!(state, StateKind::Ready),
        StepKind::Record | StepKind::Abandon => matches!(state, StateKind::Reviewing),
        StepKind::RecordRepair => matches!(state, StateKind::Repairing),
        StepKind::Observe => matches!(
            state,
            StateKind::Ready | StateKind::Reviewing | StateKind::Parked
        ),
        StepKind::Ratify => matches!(state, StateKind::Parked),
    }
}

impl StateKind {
    /// What to do instead of a step that does not fit.
    pub(crate) const fn takes(self) -> &'static str {
        match self {
            Self::Ready => "`begin`, `record_red` or `observe` fits",
            Self::Reviewing => "`record`, `abandon` or `observe` fits",
            Self::Repairing => "`record_repair` fits",
            Self::Parked => "`ratify` or `observe` fits",
            Self::Stopped | Self::Verified => "it is over, open a new one",
        }
    }
}
