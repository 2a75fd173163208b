//! What is shown of missions, as values: text, `--json` and pages are made of the same ones.
//!
//! Moments are milliseconds since 1970 UTC, spans milliseconds, money millionths of a US dollar. Deliberately absent: layout, and
//! any way back: nothing is read from these.

mod artifact;
mod attempts;
mod gate;
mod report;
mod spent;
mod status;
mod step;
mod team;

pub use artifact::ArtifactView;
pub use attempts::{AttemptView, Ran};
pub use gate::{GateView, MovedView, Offer, gate, moved, reasons};
pub use report::{
    Answered, CheckRunView, CheckView, LandedView, NotDone, PhaseLeft, Proven, Report, landed,
    report,
};
pub use spent::{Spent, spent};
pub use status::{Damaged, Missions, Needs, State, Status, status};
pub use step::{Because, StepView, because, step};
use team::reviews;
pub use team::{GateLine, HandoffState, HandoffView, ReviewView, board, handoffs, holders, review};
