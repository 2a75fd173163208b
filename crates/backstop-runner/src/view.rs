//! What is shown of missions, as values: text, `--json` and pages are made of the same ones.
//!
//! Moments are milliseconds since 1970 UTC, spans milliseconds, money millionths of a US dollar. Deliberately absent: layout, and
//! any way back: nothing is read from these.

mod artifact;
mod gate;
mod report;
mod spent;
mod status;
mod step;

pub use artifact::ArtifactView;
pub use gate::{GateView, Offer, gate, reasons};
pub use report::{
    Answered, AttemptView, CheckRunView, CheckView, LandedView, NotDone, PhaseLeft, Proven, Report,
    report,
};
pub use spent::{Spent, spent};
pub use status::{Damaged, Missions, Needs, State, Status, status};
pub use step::{Because, StepView, because, step};
