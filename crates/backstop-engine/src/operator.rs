//! What an operator and the clock do to a mission outside its gates.

use backstop_mode::{Account, Mode};
use backstop_vocab::{EffectId, GateId, Signature};

use crate::flow::{open, park, proceed};
use crate::mission::{ParkCause, ParkedAt, Position};
use crate::turn::Turn;
use crate::{Effect, Refusal, Rule};

/// A wait reached its end.
pub(crate) fn wait_ended(turn: &mut Turn, effect: EffectId) -> Result<(), Refusal> {
    let Position::Waiting(id, wait, then) = turn.m.position.clone() else {
        return Err(Refusal::NotOutstanding(effect));
    };
    if id != effect {
        return Err(Refusal::NotOutstanding(effect));
    }
    if turn.m.now < wait.until {
        return Err(Refusal::NotDue(wait.until));
    }
    turn.answer(effect)?;
    turn.because(Rule::WaitEnded);
    proceed(turn, then.0);
    Ok(())
}

/// Nobody answered in time: the mission parks, and nothing is approved.
pub(crate) fn expired(turn: &mut Turn, gate: &GateId) -> Result<(), Refusal> {
    let Position::AtGate(effect, open) = turn.m.position.clone() else {
        return Err(Refusal::NoGate);
    };
    if open.id != *gate {
        return Err(Refusal::OtherGate {
            asked: gate.clone(),
            open: open.id,
        });
    }
    if turn.m.now < open.expires_at {
        return Err(Refusal::NotDue(open.expires_at));
    }
    turn.answer(effect)?;
    turn.because(Rule::Expired);
    park(turn, ParkCause::Expired, ParkedAt::Gate(open));
    Ok(())
}

/// Stops what runs; parks at once where nothing does.
pub(crate) fn stop(turn: &mut Turn, by: &Signature) -> Result<(), Refusal> {
    if turn.m.stopping.is_some() {
        return Err(Refusal::AlreadyStopping);
    }
    match turn.m.position.clone() {
        Position::Parked(..) => return Err(Refusal::AlreadyStopping),
        Position::Ended(_) => return Err(Refusal::Ended),
        Position::Busy(effect) => {
            turn.because(Rule::StopRequested);
            turn.m.stopping = Some(by.clone());
            turn.start(Effect::Halt(effect));
        }
        Position::Waiting(effect, wait, then) => {
            turn.answer(effect)?;
            turn.because(Rule::StopRequested);
            let rest = crate::mission::Next::Wait(wait, alloc::boxed::Box::new(then.0));
            park(
                turn,
                ParkCause::Stopped,
                ParkedAt::Work(crate::mission::Pending(rest)),
            );
        }
        Position::AtGate(effect, gate) => {
            turn.answer(effect)?;
            turn.because(Rule::StopRequested);
            park(turn, ParkCause::Stopped, ParkedAt::Gate(gate));
        }
    }
    Ok(())
}

/// Goes on with a parked mission: the same gate, or the same work. Refills nothing.
pub(crate) fn resumed(turn: &mut Turn) -> Result<(), Refusal> {
    let Position::Parked(_, at) = turn.m.position.clone() else {
        return Err(Refusal::NotParked);
    };
    turn.because(Rule::Resumed);
    match at {
        ParkedAt::Gate(gate) => open(turn, gate),
        ParkedAt::Work(pending) => proceed(turn, pending.0),
    }
    Ok(())
}

/// Lowers a ceiling.
pub(crate) fn tightened(turn: &mut Turn, account: Account, ceiling: u64) -> Result<(), Refusal> {
    turn.m.meter = turn.meter().tighten(account, ceiling)?;
    turn.because(Rule::Tightened);
    Ok(())
}

/// From now on a person sees every Validate.
pub(crate) fn supervised(turn: &mut Turn) -> Result<(), Refusal> {
    match turn.m.mode {
        Mode::Supervise => Err(Refusal::AlreadySupervised),
        Mode::Auto => {
            turn.m.mode = Mode::Supervise;
            turn.because(Rule::Supervised);
            Ok(())
        }
    }
}
