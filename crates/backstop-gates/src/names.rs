//! The closed lists a gate is described with: when it is due, what opens it, what a failure does.
//! No behaviour here; each list carries its wire names.

use core::fmt;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $wire:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $wire,)+
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
pub(crate) use names;

names!(
    /// When a gate is due.
    Trigger {
        /// Before its role starts; it holds that role.
        RoleStart = "role_start",
        /// After its role has completed.
        RoleComplete = "role_complete",
    }
);

names!(
    /// What opens a gate.
    GateKind {
        /// Evidence of the host: commands it ran and how they ended.
        Verify = "verify",
        /// A strict verdict of the gate's role.
        Review = "review",
        /// An operator's decision.
        Approve = "approve",
    }
);

names!(
    /// What a failure does to a gate.
    OnFail {
        /// The role runs again in the same visit, at most `max_retries` times; then escalated.
        Retry = "retry",
        /// Blocked for the rest of the generation.
        Block = "block",
        /// Escalated at once: only an operator goes on.
        Escalate = "escalate",
    }
);
