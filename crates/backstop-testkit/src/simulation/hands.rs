//! The hands that do effects: they look whether an effect may begin at all, and hand it to the world.

use backstop_engine::vocab::EffectId;
use backstop_engine::{Effect, ProcessRef};
use backstop_runner::executor::Execute;

use super::world::{Here, How, World};

impl World {
    fn take(&mut self, id: EffectId, effect: &Effect, how: How) {
        self.kill("killed before an effect");
        if self.is_dead {
            return;
        }
        if self.durable < self.bytes.len() {
            self.broke(
                "durable",
                format!("{id} began before its decision was durable"),
            );
        }
        if how == How::Started && !self.known.insert(id) {
            self.broke(
                "once",
                format!("{id} was started a second time: {effect:?}"),
            );
        }
        match effect {
            Effect::Launch(_) => self.launch(id, how),
            Effect::Halt(target) => {
                self.halted.insert(*target);
            }
            Effect::Preflight
            | Effect::RunChecks(_)
            | Effect::Wait(_)
            | Effect::Land(_)
            | Effect::Ask(_)
            | Effect::Ship(_)
            | Effect::MergeBase(_) => {}
        }
        self.told.push((id, effect.clone(), how));
        self.kill("killed after an effect");
    }

    fn launch(&mut self, id: EffectId, how: How) {
        match how {
            How::Started => {
                if !self.agents.is_empty() {
                    let agents = &self.agents;
                    let seen = format!("{id} was launched beside {agents:?}");
                    self.broke("one agent", seen);
                }
                self.agents.insert(id);
            }
            // A probe ends what an earlier process left.
            How::Probed => {
                self.agents.remove(&id);
            }
        }
    }
}

impl Execute for Here {
    fn start(&mut self, id: EffectId, effect: &Effect) {
        self.world().take(id, effect, How::Started);
    }

    fn probe(&mut self, id: EffectId, effect: &Effect, _process: Option<ProcessRef>) {
        self.world().take(id, effect, How::Probed);
    }
}
