//! The worker of the queue: one process a repository, which starts a process for each mission whose turn it is, and ends when
//! nothing is left to be started and none runs. A mission at a gate is left there.
//!
//! Deliberately absent: what is next (`backstop_runner::queue`), and stopping what runs: each mission is stopped by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use backstop_engine::vocab::MissionId;
use backstop_runner::drive::{Drive, DriveError};
use backstop_runner::opening;
use backstop_runner::process::Started;
use backstop_runner::queue::{Chooser, is_due};
use backstop_runner::state::StateError;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};
use crate::run::{self, Driving};

/// Between two looks at the queue.
const BEAT: Duration = Duration::from_millis(200);

/// Works on the queue until it is empty; where another does, there is nothing to do.
pub(super) fn work(place: &Place) -> Result<Status, Fault> {
    let mut worker = Worker::default();
    while let Some(lock) = place.home.lock_queue()? {
        while worker.turn(place)? {
            std::thread::sleep(BEAT);
        }
        drop(lock);
        // Who came between the last look and the end of the lock saw a worker that was about to leave.
        if worker.is_done(place)? {
            break;
        }
    }
    Ok(Status::Done)
}

#[derive(Default)]
struct Worker {
    chooser: Chooser,
    running: BTreeMap<MissionId, Started>,
}

impl Worker {
    /// Starts what is next; whether something runs, or waits until what others drive has ended.
    fn turn(&mut self, place: &Place) -> Result<bool, Fault> {
        self.reap()?;
        let parallel = opening::parallel(place.repository.root());
        let running = &self.running;
        let is_running = |id: &MissionId| running.contains_key(id);
        let next = self.chooser.next(&place.home, parallel, is_running)?;
        for dir in next {
            let id = dir.id().clone();
            let log = dir.path().join("runner.log");
            match run::leave(place, &["queue", "drive", id.as_str()], &log) {
                Ok(started) => {
                    let pid = started.child.id();
                    note(&format!("{id}  process {pid} drives it\n"));
                    self.running.insert(id, started);
                }
                // The others are worked on all the same.
                Err(fault) => note(&format!("{id}  cannot be driven: {fault}\n")),
            }
        }
        Ok(!self.running.is_empty() || !self.is_done(place)?)
    }

    /// Whether nothing would be started, however many worked at once.
    fn is_done(&mut self, place: &Place) -> Result<bool, Fault> {
        let next = self.chooser.look(&place.home, u16::MAX, |_| false)?;
        Ok(next.is_empty())
    }

    /// Lets go of the processes that have ended. How, is in the journals of their missions.
    fn reap(&mut self) -> Result<(), Fault> {
        let mut ended = Vec::new();
        for (id, started) in &mut self.running {
            if let Some(status) = started.child.try_wait()? {
                ended.push((id.clone(), status));
            }
        }
        for (id, status) in ended {
            self.running.remove(&id);
            note(&format!("{id}  its process has ended: {status}\n"));
        }
        Ok(())
    }
}

/// A log that cannot be written holds nobody up.
fn note(text: &str) {
    drop(out::say(text));
}

/// Drives a mission of the queue until it ends, parks, or asks a person. One that somebody else took meanwhile, or took out
/// of the queue, is left alone.
pub(super) fn drive(place: &Place, mission: &str) -> Result<Status, Fault> {
    let by = place::operator(None)?;
    let dir = place.mission(Some(mission))?;
    let drive = match Drive::take_up(&dir, &place.repository) {
        Err(DriveError::State(StateError::Held { .. })) => return Ok(Status::Done),
        drive => drive?,
    };
    if !dir.is_queued() || !is_due(drive.mission()) {
        return Ok(Status::Done);
    }
    let driving = Driving {
        exit_on_gate: true,
        wait: false,
        by: None,
    };
    run::drive_on(drive, &driving, by)
}
