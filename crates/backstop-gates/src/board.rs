//! The board: the state of every gate of a lane, and how roles starting, completing and running again change it.
//! Machine results are judged in `judge`, operators answer in `answer`, and `admit` asks who is let in.

use alloc::collections::{BTreeMap, BTreeSet};
use core::mem;

use backstop_vocab::{Attempt, Digest, GateId, RoleName};
use serde::{Deserialize, Serialize};

use crate::admit::Admitted;
use crate::artifact::Judged;
use crate::names::{GateKind, OnFail, Trigger};
use crate::refusal::Refusal;
use crate::spec::{GateSpec, Specs};
use crate::state::{By, State, StateKind};

/// How far the gate's role has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Run {
    /// Not started since the gate was last reset.
    #[default]
    NotYet,
    Started(Attempt),
    Completed(Attempt),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) state: State,
    pub(crate) run: Run,
    /// Times sent back in this generation; a pass in between does not refill it.
    pub(crate) retries: u32,
}

impl Entry {
    /// The state as it counts now: an opening for another digest is pending.
    pub(crate) fn effective(&self, spec: &GateSpec, judged: &Judged) -> StateKind {
        match self.state.bound_to() {
            Some(digest) if spec.subject(judged) != Some(digest) => StateKind::Pending,
            Some(_) | None => self.state.kind(),
        }
    }
}

/// A stored board that no sequence of operations makes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// A state for a gate that is not in the specs.
    #[error("the board has a state for `{0}`, which is not among its gates: start a new board")]
    UnknownGate(GateId),
    /// A state that the gate cannot have.
    #[error("gate `{0}` cannot have the stored state: start a new board")]
    Unfit(GateId),
    /// Generation 0.
    #[error("generations count from 1: start a new board")]
    Generation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBoard {
    specs: Specs,
    made_for: Digest,
    generation: u32,
    gates: BTreeMap<GateId, Entry>,
}

/// The state of every gate of one lane.
///
/// A gate without an entry is pending. Each operation gives a new board; a refused one gives none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawBoard")]
pub struct Board {
    pub(crate) specs: Specs,
    made_for: Digest,
    // INVARIANT: from 1.
    generation: u32,
    // INVARIANT: where `made_for` is the digest of `specs`, every state is one that its gate can have.
    gates: BTreeMap<GateId, Entry>,
}

impl TryFrom<RawBoard> for Board {
    type Error = BoardError;
    fn try_from(raw: RawBoard) -> Result<Self, BoardError> {
        if raw.generation == 0 {
            return Err(BoardError::Generation);
        }
        let own = raw.made_for == raw.specs.digest();
        for (id, entry) in raw.gates.iter().filter(|_| own) {
            let spec = raw.specs.gate(id);
            let spec = spec.ok_or_else(|| BoardError::UnknownGate(id.clone()))?;
            if !fits(spec, entry) {
                return Err(BoardError::Unfit(id.clone()));
            }
        }
        Ok(Self {
            specs: raw.specs,
            made_for: raw.made_for,
            generation: raw.generation,
            gates: raw.gates,
        })
    }
}

fn fits(spec: &GateSpec, entry: &Entry) -> bool {
    let state = match &entry.state {
        State::Pending | State::Waived { .. } => true,
        State::Passed { by, .. } => match by {
            By::Host => spec.kind() == GateKind::Verify,
            By::Role(role) => spec.kind() == GateKind::Review && role == spec.role(),
            By::Operator(_) => spec.kind() == GateKind::Approve,
        },
        State::Overridden { note, .. } => !note.is_blank(),
        State::Retrying { n, .. } => *n >= 1 && *n == entry.retries,
        State::Blocked { .. } => spec.on_fail() == OnFail::Block,
        State::Escalated { .. } => spec.on_fail() != OnFail::Block,
    };
    state && entry.retries <= spec.max_retries()
}

impl Board {
    /// A board on which every gate is pending.
    #[must_use]
    pub fn new(specs: Specs) -> Self {
        Self {
            made_for: specs.digest(),
            specs,
            generation: 1,
            gates: BTreeMap::new(),
        }
    }

    /// The same results under `specs`. Where those are other gates, the board holds everything.
    #[must_use]
    pub fn under(self, specs: Specs) -> Self {
        Self { specs, ..self }
    }

    /// The gates.
    #[must_use]
    pub const fn specs(&self) -> &Specs {
        &self.specs
    }

    /// Which generation this is, from 1.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// The recorded state of a gate, whatever digest is current; pending where nothing is recorded.
    #[must_use]
    pub fn state(&self, gate: &GateId) -> &State {
        self.gates
            .get(gate)
            .map_or(&State::Pending, |entry| &entry.state)
    }

    /// How often a gate sent its role back in this generation.
    #[must_use]
    pub fn retries(&self, gate: &GateId) -> u32 {
        self.gates.get(gate).map_or(0, |entry| entry.retries)
    }

    /// An attempt of the admitted role starts: what it completed before is judged again.
    ///
    /// # Errors
    /// When the admission is not from this board as it is.
    pub fn started(&self, admitted: &Admitted, attempt: Attempt) -> Result<Self, Refusal> {
        let role = admitted.role();
        let current =
            admitted.generation() == self.generation && self.admit(role, admitted.judged()).is_ok();
        if !current {
            return Err(Refusal::StaleAdmission { role: role.clone() });
        }
        let mut next = self.clone();
        for spec in self.specs.gates_of(|own| own == role) {
            let entry = next.gates.entry(spec.id().clone()).or_default();
            entry.run = Run::Started(attempt);
            if spec.on() == Trigger::RoleComplete && !entry.state.kind().holds() {
                entry.state = State::Pending;
            }
        }
        Ok(next)
    }

    /// The attempt of a role ended in success: its `role_complete` gates are due, and one that sent it back is
    /// pending. An attempt that ended otherwise is no gate's business and is not recorded.
    ///
    /// # Errors
    /// When that attempt did not start.
    pub fn completed(&self, role: &RoleName, attempt: Attempt) -> Result<Self, Refusal> {
        self.own()?;
        let mut next = self.clone();
        for spec in self.specs.gates_of(|own| own == role) {
            let entry = next.gates.entry(spec.id().clone()).or_default();
            if entry.run != Run::Started(attempt) {
                let role = role.clone();
                return Err(Refusal::NotRunning { role, attempt });
            }
            entry.run = Run::Completed(attempt);
            if spec.on() == Trigger::RoleComplete && entry.state.kind() == StateKind::Retrying {
                entry.state = State::Pending;
            }
        }
        Ok(next)
    }

    /// The lane enters Code again: the gates of `from` and of every role after it become pending. Escalated ones
    /// stay so; their roles run again like the others.
    ///
    /// # Errors
    /// When the board was made for other specs.
    pub fn new_generation(&self, from: &RoleName) -> Result<Self, Refusal> {
        self.own()?;
        let mut next = self.clone();
        next.generation = self.generation.saturating_add(1);
        let roles = self.specs.roles_from(from);
        for spec in self.specs.gates_of(|role| roles.contains(role)) {
            if let Some(entry) = next.gates.get_mut(spec.id()) {
                let before = mem::take(entry);
                if before.state.kind() == StateKind::Escalated {
                    entry.state = before.state;
                }
            }
        }
        Ok(next)
    }

    /// The gates that are passed or overridden for what is there now: their handoffs may be delivered.
    #[must_use]
    pub fn open_gates(&self, judged: &Judged) -> BTreeSet<GateId> {
        let specs = self.specs.gates().iter().filter(|_| self.own().is_ok());
        specs
            .filter(|spec| {
                let state = self.entry(spec).effective(spec, judged);
                matches!(state, StateKind::Passed | StateKind::Overridden)
            })
            .map(|spec| spec.id().clone())
            .collect()
    }

    /// Refused when the results are for other gates than these.
    pub(crate) fn own(&self) -> Result<(), Refusal> {
        if self.made_for == self.specs.digest() {
            return Ok(());
        }
        Err(Refusal::OtherSpecs)
    }

    pub(crate) fn entry(&self, spec: &GateSpec) -> Entry {
        self.gates.get(spec.id()).cloned().unwrap_or_default()
    }

    pub(crate) fn at(&self, gate: &GateId) -> Result<(&GateSpec, Entry), Refusal> {
        self.own()?;
        let spec = self.specs.gate(gate);
        let spec = spec.ok_or_else(|| Refusal::UnknownGate { gate: gate.clone() })?;
        Ok((spec, self.entry(spec)))
    }

    pub(crate) fn with(&self, spec: &GateSpec, change: impl FnOnce(&mut Entry)) -> Self {
        let mut next = self.clone();
        change(next.gates.entry(spec.id().clone()).or_default());
        next
    }
}
