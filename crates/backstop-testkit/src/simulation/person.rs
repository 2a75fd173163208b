//! The operator of the simulated world: answers sometimes, not always what fits, and now and then to a gate of long ago.

use backstop_engine::mode::Account;
use backstop_engine::{Answer, Fact, Gate, Mission, Refusal, Verb};

use super::Tape;
use crate::{answers, note, operator};

/// How many answers a person gives before losing patience.
const PATIENCE: u32 = 60;

/// What of the open gates a person remembers.
#[derive(Debug, Default)]
pub(super) struct Person {
    /// Answers that were given before.
    given: Vec<Answer>,
    /// How many were given, and how many of them in a row were refused.
    said: u32,
    refused: u32,
}

/// What a person tries first where it is offered.
const LIKES: [Verb; 5] = [
    Verb::Approve,
    Verb::Retry,
    Verb::Grant,
    Verb::Reject,
    Verb::Abort,
];

impl Person {
    /// An answer to the open gate.
    pub(super) fn answer(&mut self, mission: &Mission, tape: &mut Tape) -> Option<Fact> {
        let gate = mission.gate()?;
        self.said += 1;
        let answer = match tape.below(10) {
            0..=6 => self.liked(mission, gate),
            7 => reply(mission, gate, *tape.one_of(&Verb::ALL)),
            8 => tape.one_of(&answers(mission)).clone(),
            _ if self.given.is_empty() => return None,
            _ => tape.one_of(&self.given).clone(),
        };
        self.given.push(answer.clone());
        Some(Fact::Answered(answer))
    }

    fn liked(&self, mission: &Mission, gate: &Gate) -> Answer {
        let offered: Vec<Verb> = LIKES
            .into_iter()
            .filter(|verb| gate.offers.contains(verb))
            .collect();
        let next = usize::try_from(self.refused).unwrap_or(0);
        let verb = offered.iter().cycle().nth(next).copied();
        let verb = verb.filter(|_| self.said < PATIENCE);
        reply(mission, gate, verb.unwrap_or(Verb::Abort))
    }

    /// What came of it.
    pub(super) fn hears<T>(&mut self, told: &Result<T, Refusal>) {
        self.refused = told.as_ref().map_or(self.refused + 1, |_| 0);
    }

    /// What a person does without being asked.
    pub(super) fn unasked(&self, tape: &mut Tape) -> Fact {
        let by = operator();
        match tape.below(5) {
            0 => Fact::StopRequested { by },
            1 => Fact::Supervised { by },
            2 => Fact::Resumed { by },
            3 if !self.given.is_empty() => Fact::Answered(tape.one_of(&self.given).clone()),
            _ => Fact::Tightened {
                account: *tape.one_of(&Account::ALL),
                ceiling: tape.below(4),
                by,
            },
        }
    }
}

fn reply(mission: &Mission, gate: &Gate, verb: Verb) -> Answer {
    let moved = mission.lane().moved.as_ref().map(|head| head.tree);
    Answer {
        gate: gate.id.clone(),
        digest: gate.digest.or(moved),
        verb,
        accounts: Vec::new(),
        note: Some(note()),
        by: operator(),
    }
}
