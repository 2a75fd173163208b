//! A draft: what a model or a person wrote, read as JSON and not yet checked. Nothing here knows what a plan may say.

use backstop_vocab::PhaseKind;
use serde_json::{Map, Value};

use crate::fence;
use crate::key::Key;
use crate::marks::Marks;
use crate::refusal::Refusals;

/// The most bytes of a text that is read.
pub const MOST_BYTES: usize = 64 * 1024;

/// Whether coding phases are checked by something other than the plan's own checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Checks {
    /// No host check is configured: each coding phase needs its own.
    #[default]
    None,
    /// The host has checks of the operator.
    Configured,
    /// An operator opens the mission without checks, on record.
    Waived,
}

/// What was written, unchecked. It becomes a [`Plan`](crate::Plan) by `TryFrom` only.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub(crate) value: Value,
    pub(crate) marks: Marks,
    pub(crate) checks: Checks,
}

/// Reads plain JSON, or prose with exactly one fence that is tagged json or starts with `{`.
///
/// A key that is named twice is kept for `Plan::try_from` to refuse, so that it is told together with all else.
///
/// # Errors
/// When there is no such object (`not_json`), more than one (`ambiguous`), or over 64 KiB (`too_large`); with line and
/// column.
pub fn read(text: &str) -> Result<Draft, Refusals> {
    let (value, body) = fence::json(text)?;
    let marks = Marks::walk(body.text, body.start);
    Ok(Draft {
        value,
        marks,
        checks: Checks::default(),
    })
}

impl Draft {
    /// A draft without a text, so that its refusals have no line and column; from a file of another format.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self {
            value,
            marks: Marks::default(),
            checks: Checks::default(),
        }
    }

    /// A draft of one phase with this kind and task.
    #[must_use]
    pub fn single(kind: PhaseKind, task: &str) -> Self {
        let mut phase = Map::new();
        phase.insert(Key::Kind.name().into(), kind.name().into());
        phase.insert(Key::Task.name().into(), task.into());
        Self::of_phases(alloc::vec![Value::Object(phase)])
    }

    pub(crate) fn of_phases(phases: alloc::vec::Vec<Value>) -> Self {
        let mut plan = Map::new();
        plan.insert(Key::Phases.name().into(), Value::Array(phases));
        Self::from_value(Value::Object(plan))
    }

    /// The draft for a mission with these host checks; none when this is not called.
    #[must_use]
    pub fn with_checks(self, checks: Checks) -> Self {
        Self { checks, ..self }
    }
}
