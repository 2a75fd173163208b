//! Reads a journal step by step, and where wanted waits for more until the mission comes to rest.
//!
//! Takes no lock and asks nothing of the process that drives the mission: it looks at the file.

use std::time::Duration;

use backstop_engine::{Fact, Mission, Position};
use backstop_runner::history::{Folding, HistoryError, Step};
use backstop_runner::journal::{self, Reader};
use backstop_runner::state::MissionDir;

use crate::fault::Fault;

/// Between two looks at the file.
const LOOK: Duration = Duration::from_millis(200);

/// How far to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// To the end of what is there.
    Read,
    /// Until the mission ends, parks, waits for a person, or is driven by nobody.
    Settled,
}

/// Hands every step with the mission it led to over to `each`.
pub(crate) fn steps(
    dir: &MissionDir,
    until: Until,
    mut each: impl FnMut(&Step, &Mission) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = journal::read::<Fact>(&dir.journal()).map_err(HistoryError::from)?;
    let mut folding = Folding::default();
    loop {
        // Looked at before reading: what the driver wrote before it left is then read below.
        let driven = dir.holder().is_some();
        drain(&mut reader, &mut folding, &mut each)?;
        let rests = match folding.latest() {
            None => true,
            Some((_, mission)) => rests(mission),
        };
        if until == Until::Read || rests || !driven {
            break;
        }
        std::thread::sleep(LOOK);
    }
    // What holds no step is no journal of a mission.
    folding.finish(&dir.journal())?;
    Ok(())
}

fn drain(
    reader: &mut Reader<Fact>,
    folding: &mut Folding,
    each: &mut impl FnMut(&Step, &Mission) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for record in reader.by_ref() {
        folding.take(record.map_err(HistoryError::from)?)?;
        if let Some((step, mission)) = folding.latest() {
            each(step, mission)?;
        }
    }
    Ok(())
}

/// Whether nothing moves the mission but a person.
fn rests(mission: &Mission) -> bool {
    match mission.position() {
        Position::AtGate(..) | Position::Parked(..) | Position::Ended(_) => true,
        Position::Busy(_) | Position::Waiting(..) => false,
    }
}
