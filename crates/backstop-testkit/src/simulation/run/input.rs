//! What comes to the dispatcher next, and from whom.

use backstop_engine::vocab::Timestamp;
use backstop_engine::{Fact, Mission};

use super::{Process, Run};

/// What comes to the dispatcher.
pub(super) enum Input {
    /// A fact of the host.
    Host(Fact),
    /// The same, but one that was delivered before.
    Again(Fact),
    /// A person asks for a decision.
    Person(Fact),
    /// A signal.
    Signal,
    /// Nothing but time.
    Due,
    /// The task of an effect panics.
    Lost,
}

impl Run {
    /// What comes next; none for something that only the clock sees.
    pub(super) fn input(&mut self, core: &Process) -> Option<Input> {
        let unrest = self.here.world().mood.unrest;
        if self.here.world().tape.once_in(unrest) {
            return self.unrest(core.mission());
        }
        let mut world = self.here.world();
        let is_due = core_is_due(core, world.now());
        if self.jobs.any_ready(&world) && !(is_due && world.tape.below(2) == 1) {
            return self.jobs.deliver(&mut world).map(Input::Host);
        }
        if is_due {
            return Some(Input::Due);
        }
        if core.mission().gate().is_some() && world.tape.below(12) != 11 {
            return self
                .person
                .answer(core.mission(), &mut world.tape)
                .map(Input::Person);
        }
        let until = core.mission().deadline();
        let until = until.map(|due| due.since(world.now()).as_millis());
        if let Some(left) = self.jobs.next(&world).into_iter().chain(until).min() {
            world.uptime += left;
        } else {
            let seen = format!("{:?}", core.mission().position());
            world.broke("never stuck", seen);
        }
        None
    }

    /// Something that nobody waits for.
    fn unrest(&mut self, mission: &Mission) -> Option<Input> {
        let mut world = self.here.world();
        match world.tape.below(9) {
            0 => Some(Input::Signal).inspect(|_| world.count("signal")),
            1 | 2 => Some(Input::Person(self.person.unasked(&mut world.tape))),
            3 => self
                .person
                .answer(mission, &mut world.tape)
                .map(Input::Person),
            4 => self.jobs.again(&mut world).map(Input::Again),
            5 => Some(Input::Lost).inspect(|_| world.count("an answer lost with its task")),
            6 => {
                world.count("the clock steps back");
                let back = *world.tape.one_of(&[1_000, 60_000, 7_200_000]);
                world.ahead = world.ahead.saturating_sub(back);
                None
            }
            7 => {
                world.count("the clock steps forward, or the machine sleeps");
                world.ahead += *world.tape.one_of(&[1_000, 600_000, 86_400_000]);
                None
            }
            _ => {
                world.count("killed at rest");
                world.is_dead = true;
                None
            }
        }
    }
}

fn core_is_due(core: &Process, now: Timestamp) -> bool {
    core.mission().deadline().is_some_and(|due| due <= now)
}
