//! One turn of a mission: a copy that is changed, what it starts, and the rules that fired.

use alloc::vec::Vec;

use backstop_mode::{Meter, Settlement};
use backstop_vocab::{EffectId, GateId, Timestamp};

use crate::mission::{Mission, Position, Transition};
use crate::{Effect, Refusal, Rule};

/// A mission in the middle of a decision. Dropped on a refusal, and with it every change.
pub(crate) struct Turn {
    pub(crate) m: Mission,
    effects: Vec<(EffectId, Effect)>,
    because: Vec<Rule>,
}

impl Turn {
    /// Begins with a copy; time never runs backwards.
    pub(crate) fn of(mission: &Mission, at: Timestamp) -> Self {
        let mut m = mission.clone();
        m.now = m.now.max(at);
        Self {
            m,
            effects: Vec::new(),
            because: Vec::new(),
        }
    }

    pub(crate) fn because(&mut self, rule: Rule) {
        self.because.push(rule);
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.m.meter
    }

    pub(crate) fn settle(&mut self, settlement: &Settlement) {
        self.m.meter = self.m.meter.settle(settlement);
    }

    /// Starts an effect under the next id.
    pub(crate) fn start(&mut self, effect: Effect) -> EffectId {
        let id = self.m.next_effect;
        self.m.next_effect = id.next();
        self.m.outstanding.insert(id, effect.clone());
        self.effects.push((id, effect));
        id
    }

    /// Starts work and makes it the mission's position.
    pub(crate) fn work(&mut self, effect: Effect) {
        let id = self.start(effect);
        self.m.position = Position::Busy(id);
    }

    /// Takes the answered effect off the books, together with a halt of it.
    pub(crate) fn answer(&mut self, id: EffectId) -> Result<Effect, Refusal> {
        let effect = self
            .m
            .outstanding
            .remove(&id)
            .ok_or(Refusal::NotOutstanding(id))?;
        self.m
            .outstanding
            .retain(|_, other| *other != Effect::Halt(id));
        Ok(effect)
    }

    pub(crate) fn next_gate(&mut self) -> GateId {
        self.m.gates = self.m.gates.saturating_add(1);
        GateId::numbered(self.m.gates)
    }

    pub(crate) fn finish(self) -> Transition {
        Transition {
            mission: self.m,
            effects: self.effects,
            because: self.because,
        }
    }
}
