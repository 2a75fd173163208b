//! What is being done in the simulated world, and how and when it answers.

use std::collections::VecDeque;

use backstop_engine::outcome::{Interruption, Status};
use backstop_engine::vocab::EffectId;
use backstop_engine::{AttemptEnded, Effect, Fact, Mission, ShipOutcome};

use super::world::{How, World};
use crate::{Palette, ended, fresh, is_note, replies};

/// One effect that is being done: what it will tell, each with the uptime from which on it does.
#[derive(Debug)]
struct Job {
    id: EffectId,
    tells: VecDeque<(u64, Fact)>,
}

#[derive(Debug, Default)]
pub(super) struct Jobs {
    running: Vec<Job>,
    /// What was told and taken.
    told: Vec<Fact>,
}

impl Jobs {
    /// A process that is gone hears of nothing any more.
    pub(super) fn clear(&mut self) {
        self.running.clear();
    }

    /// Takes up what the present process was told to do.
    pub(super) fn plan(&mut self, world: &mut World, mission: &Mission, palette: &Palette) {
        for (id, effect, how) in std::mem::take(&mut world.told) {
            match (&effect, how) {
                (Effect::Halt(target), _) => self.halt(world, mission, *target),
                (Effect::Wait(_) | Effect::Ask(_), _) => {}
                (Effect::Launch(_), How::Probed) => self.survey(world, mission, id),
                (Effect::Launch(_), How::Started) => self.launch(world, mission, (id, palette)),
                (
                    Effect::Preflight
                    | Effect::RunChecks(_)
                    | Effect::Land(_)
                    | Effect::Ship(_)
                    | Effect::MergeBase(_),
                    _,
                ) => {
                    let fact = choose(world, mission, (id, palette));
                    let fact = fact.map(|fact| once(world, id, fact));
                    let due = world.uptime + *world.tape.one_of(&[0, 1_000, 600_000]);
                    self.add(id, fact.map(|fact| (due, fact)));
                }
            }
        }
    }

    fn add(&mut self, id: EffectId, tells: impl IntoIterator<Item = (u64, Fact)>) {
        self.running.push(Job {
            id,
            tells: tells.into_iter().collect(),
        });
    }

    fn launch(
        &mut self,
        world: &mut World,
        mission: &Mission,
        (id, palette): (EffectId, &Palette),
    ) {
        let notes = replies(mission, palette, id).into_iter().filter(is_note);
        let mut tells: Vec<_> = notes.map(|note| (world.uptime, note)).collect();
        tells.truncate(2 - world.tape.index(3));
        let hangs = world.tape.once_in(world.mood.trouble.saturating_mul(4));
        if hangs {
            world.count("an agent hangs");
            let end = ended(mission, id, Status::IdleTimeout);
            tells.push((world.uptime + 1_800_000, Fact::AttemptEnded(Box::new(end))));
        } else {
            let due = world.uptime + *world.tape.one_of(&[0, 1_000, 60_000, 7_200_000]);
            let end = choose(world, mission, (id, palette));
            tells.extend(end.map(|end| (due, end)));
        }
        self.add(id, tells);
    }

    /// What is found of an agent whose process is gone.
    fn survey(&mut self, world: &mut World, mission: &Mission, id: EffectId) {
        let status = Status::Interrupted {
            by: Interruption::RunnerDied,
        };
        let mut end: AttemptEnded = ended(mission, id, status);
        if world.tape.below(2) == 1 {
            end.head = Some(fresh(id));
        }
        let due = world.uptime + *world.tape.one_of(&[0, 10_000]);
        self.add(id, [(due, Fact::AttemptEnded(Box::new(end)))]);
    }

    /// What can be stopped ends soon; an agent that was about to end anyway may still say how.
    fn halt(&mut self, world: &mut World, mission: &Mission, target: EffectId) {
        let Some(job) = self.running.iter_mut().find(|job| job.id == target) else {
            return;
        };
        let soon = world.uptime + *world.tape.one_of(&[0, 10_000]);
        let stopped = world.tape.below(4) != 3;
        for (due, fact) in &mut job.tells {
            *due = soon.min(*due);
            if stopped && matches!(fact, Fact::AttemptEnded(_)) {
                *fact = Fact::AttemptEnded(Box::new(ended(mission, target, Status::Cancelled)));
            }
        }
    }

    /// Whether something can be told now.
    pub(super) fn any_ready(&self, world: &World) -> bool {
        self.next(world) == Some(0)
    }

    /// How long it is until something can be told.
    pub(super) fn next(&self, world: &World) -> Option<u64> {
        let fronts = self.running.iter().filter_map(|job| job.tells.front());
        fronts
            .map(|(due, _)| due.saturating_sub(world.uptime))
            .min()
    }

    /// Tells one of the things that can be told now.
    pub(super) fn deliver(&mut self, world: &mut World) -> Option<Fact> {
        let is_ready = |job: &Job| {
            job.tells
                .front()
                .is_some_and(|(due, _)| *due <= world.uptime)
        };
        let numbered = self.running.iter().enumerate();
        let ready: Vec<usize> = numbered
            .filter(|(_, job)| is_ready(job))
            .map(|(n, _)| n)
            .collect();
        let job = self.running.get_mut(*world.tape.one_of(&ready))?;
        let (_, fact) = job.tells.pop_front()?;
        if job.tells.is_empty() {
            world.agents.remove(&job.id);
        }
        Some(fact)
    }

    /// This was taken: it can be told again, which must come to nothing.
    pub(super) fn took(&mut self, fact: &Fact) {
        self.told.push(fact.clone());
    }

    /// Something that was told before: just now, or long ago.
    pub(super) fn again(&self, world: &mut World) -> Option<Fact> {
        if world.tape.below(2) == 0 {
            world.count("an answer told twice");
            return self.told.last().cloned();
        }
        world.count("a late answer");
        (!self.told.is_empty()).then(|| world.tape.one_of(&self.told).clone())
    }
}

/// How an effect goes: well, or in any way in which it can go.
fn choose(
    world: &mut World,
    mission: &Mission,
    (id, palette): (EffectId, &Palette),
) -> Option<Fact> {
    let trouble = world.mood.trouble;
    if world.tape.once_in(trouble) {
        let all = replies(mission, palette, id);
        let all: Vec<Fact> = all.into_iter().filter(|fact| !is_note(fact)).collect();
        return (!all.is_empty()).then(|| world.tape.one_of(&all).clone());
    }
    let calm = Palette {
        calm: true,
        ..Palette::default()
    };
    let well = replies(mission, &calm, id).into_iter();
    well.into_iter().find(|fact| !is_note(fact))
}

/// A shipment goes through once: done again, it says so again.
fn once(world: &mut World, id: EffectId, fact: Fact) -> Fact {
    let Fact::Shipped(mut shipped) = fact else {
        return fact;
    };
    let done = matches!(shipped.outcome, ShipOutcome::Done { .. });
    if world.shipped.contains(&id) && !done {
        shipped.outcome = ShipOutcome::Done {
            place: crate::short("refs/heads/backstop/m-1"),
        };
    } else if done && world.shipped.insert(id) && world.shipped.len() > 1 {
        let seen = format!("{:?} all went through", world.shipped);
        world.broke("ship once", seen);
    }
    Fact::Shipped(shipped)
}
