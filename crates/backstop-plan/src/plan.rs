//! The plan: one to four phases that passed every check, and its digest. What is refused, and why, is decided in `judge`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use backstop_vocab::{Digest, Phase, PhaseKind, Text};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::draft::{Checks, Draft, read};
use crate::judge;
use crate::key::Key;
use crate::refusal::Refusals;

/// The most bytes of a task, a condition or a check.
pub const MOST_TEXT: usize = 8192;

/// A task, a condition or a check: at most 8 KiB.
pub type PhaseText = Text<MOST_TEXT>;

/// One piece of work of a known kind.
// The fields are in the order of their names, so that what serde writes is canonical.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct PhaseSpec {
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) allow_empty: bool,
    // INVARIANT: not blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) done_when: Option<PhaseText>,
    // INVARIANT: not blank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) done_when_check: Option<PhaseText>,
    pub(crate) kind: PhaseKind,
    // INVARIANT: not blank and not a placeholder.
    pub(crate) task: PhaseText,
}

/// A phase, taken apart. Destructure it without `..`: a new key then does not compile until it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parts<'a> {
    /// What kind of work it is.
    pub kind: PhaseKind,
    /// What is to be done.
    pub task: &'a PhaseText,
    /// What the reviewer judges by.
    pub done_when: Option<&'a PhaseText>,
    /// The command of the check; what may be run is an [`Applied`](crate::Applied) plan's alone.
    pub done_when_check: Option<&'a PhaseText>,
    /// Whether a coding phase may leave the tree as it was.
    pub allow_empty: bool,
}

impl PhaseSpec {
    /// Every part of it.
    #[must_use]
    pub const fn parts(&self) -> Parts<'_> {
        let Self {
            allow_empty,
            done_when,
            done_when_check,
            kind,
            task,
        } = self;
        Parts {
            kind: *kind,
            task,
            done_when: done_when.as_ref(),
            done_when_check: done_when_check.as_ref(),
            allow_empty: *allow_empty,
        }
    }

    /// What kind of work it is.
    #[must_use]
    pub const fn kind(&self) -> PhaseKind {
        self.kind
    }

    /// What is to be done.
    #[must_use]
    pub const fn task(&self) -> &PhaseText {
        &self.task
    }

    /// What the reviewer judges by.
    #[must_use]
    pub const fn done_when(&self) -> Option<&PhaseText> {
        self.done_when.as_ref()
    }

    /// The command of the check, to be shown; what may be run is an [`Applied`](crate::Applied) plan's alone.
    #[must_use]
    pub const fn done_when_check(&self) -> Option<&PhaseText> {
        self.done_when_check.as_ref()
    }

    /// Whether a coding phase may leave the tree as it was.
    #[must_use]
    pub const fn allow_empty(&self) -> bool {
        self.allow_empty
    }

    fn value(&self) -> Value {
        let Parts {
            kind,
            task,
            done_when,
            done_when_check,
            allow_empty,
        } = self.parts();
        let text = |text: &PhaseText| Value::from(text.as_str());
        let fields = [
            (Key::AllowEmpty, allow_empty.then_some(Value::Bool(true))),
            (Key::DoneWhen, done_when.map(text)),
            (Key::DoneWhenCheck, done_when_check.map(text)),
            (Key::Kind, Some(Value::from(kind.name()))),
            (Key::Task, Some(text(task))),
        ];
        let present = fields.into_iter().filter_map(|(key, value)| {
            let value = value?;
            Some((key.name().to_string(), value))
        });
        Value::Object(present.collect())
    }
}

/// A plan without a fault: 1 to 4 phases, in their order.
///
/// Its only doors are `TryFrom<Draft>` and serde, which goes through the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Wire")]
pub struct Plan {
    // INVARIANT: 1 to MOST_PHASES, no two adjacent ones with the same kind and task.
    phases: Vec<PhaseSpec>,
}

impl Plan {
    /// Reads and checks `text` for a mission with these host checks.
    ///
    /// # Errors
    /// Every reason why the text is no plan.
    pub fn read(text: &str, checks: Checks) -> Result<Self, Refusals> {
        read(text)?.with_checks(checks).try_into()
    }

    /// A plan of one phase, for a mission with these host checks.
    ///
    /// # Errors
    /// Every reason why this is no plan.
    pub fn single(kind: PhaseKind, task: &str, checks: Checks) -> Result<Self, Refusals> {
        Draft::single(kind, task).with_checks(checks).try_into()
    }

    /// The phases, in their order.
    #[must_use]
    pub fn phases(&self) -> &[PhaseSpec] {
        &self.phases
    }

    /// The phases with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (Phase, &PhaseSpec)> {
        judge::numbers().zip(&self.phases)
    }

    /// The phase with this number.
    #[must_use]
    pub fn phase(&self, wanted: Phase) -> Option<&PhaseSpec> {
        let mut numbered = self.numbered();
        numbered.find_map(|(number, phase)| (number == wanted).then_some(phase))
    }

    /// The coding phases without a check of their own. A mission without host checks refuses a plan that has any,
    /// unless an operator waived them; a plan read back by serde was not asked that.
    pub fn unchecked(&self) -> impl Iterator<Item = Phase> {
        self.numbered().filter_map(|(number, phase)| {
            let unchecked = phase.kind == PhaseKind::Coding && phase.done_when_check.is_none();
            unchecked.then_some(number)
        })
    }

    /// The plan as JSON with sorted keys and without white space; what is left out, and a false flag, are not written.
    #[must_use]
    pub fn canonical(&self) -> String {
        let Self { phases } = self;
        let mut plan = Map::new();
        let phases = phases.iter().map(PhaseSpec::value).collect();
        plan.insert(Key::Phases.name().to_string(), Value::Array(phases));
        Value::Object(plan).to_string()
    }

    /// The SHA-256 digest of [`canonical`](Self::canonical); an approval is bound to it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

impl TryFrom<Draft> for Plan {
    type Error = Refusals;
    fn try_from(draft: Draft) -> Result<Self, Refusals> {
        judge::judge(&draft).map(|phases| Self { phases })
    }
}

/// A plan as serde reads it: it refuses unknown and repeated keys, and hands the rest to the checks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    phases: Vec<WirePhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePhase {
    #[serde(default, deserialize_with = "present")]
    allow_empty: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    done_when: Option<String>,
    #[serde(default, deserialize_with = "present")]
    done_when_check: Option<String>,
    kind: String,
    task: String,
}

/// A value that may be left out, but not be null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl WirePhase {
    fn value(self) -> Value {
        let Self {
            allow_empty,
            done_when,
            done_when_check,
            kind,
            task,
        } = self;
        let fields = [
            (Key::AllowEmpty, allow_empty.map(Value::Bool)),
            (Key::DoneWhen, done_when.map(Value::String)),
            (Key::DoneWhenCheck, done_when_check.map(Value::String)),
            (Key::Kind, Some(Value::String(kind))),
            (Key::Task, Some(Value::String(task))),
        ];
        let present = fields
            .into_iter()
            .filter_map(|(key, value)| Some((key.name().to_string(), value?)));
        Value::Object(present.collect())
    }
}

impl TryFrom<Wire> for Plan {
    type Error = Refusals;
    fn try_from(wire: Wire) -> Result<Self, Refusals> {
        let Wire { phases } = wire;
        let phases = phases.into_iter().map(WirePhase::value).collect();
        // Whether the host has checks was asked when the plan was made, and is not part of it.
        let draft = Draft::of_phases(phases).with_checks(Checks::Configured);
        draft.try_into()
    }
}
