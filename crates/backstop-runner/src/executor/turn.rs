//! A mission's turn to work: what starts processes or works on files begins in one of the slots of the repository.
//!
//! A slot is kept from one effect to the next, until the mission waits for a moment or a person: missions that have begun
//! end before others begin. Handing work over and ending what is left need no slot, as a person waits for them.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use backstop_engine::Order;
use tokio::sync::watch;
use tokio::time::sleep;

use super::Halted;
use super::ready::Unready;
use crate::accounts;
use crate::edge::Ground;
use crate::opening;
use crate::state::{Asked, Line, Slot, Slots, Waiter};

/// The turn of one mission.
#[derive(Debug)]
pub(super) struct Turn {
    slots: Slots,
    slot: Mutex<Option<Slot>>,
    /// How the mission stands in line, while it does.
    line: watch::Sender<Option<Line>>,
    root: PathBuf,
}

impl Turn {
    pub(super) fn new(ground: &Ground) -> Self {
        Self {
            slots: ground.dir.slots(),
            slot: Mutex::default(),
            line: watch::Sender::new(None),
            root: ground.host.repository().root().to_owned(),
        }
    }

    pub(super) fn line(&self) -> watch::Receiver<Option<Line>> {
        self.line.subscribe()
    }

    fn slot(&self) -> MutexGuard<'_, Option<Slot>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets another mission work.
    pub(super) fn give_up(&self) {
        *self.slot() = None;
    }

    /// Waits until the mission may work.
    ///
    /// # Errors
    /// When it is to stop, or the slots cannot be used.
    pub(super) async fn take(&self, ground: &Ground, halted: &Halted) -> Result<(), Unready> {
        if *halted.borrow() {
            return Err(Unready::Stopped);
        }
        if self.slot().is_some() {
            return Ok(());
        }
        let waited = self.wait(ground, halted.clone()).await;
        self.tell(None);
        waited
    }

    async fn wait(&self, ground: &Ground, mut halted: Halted) -> Result<(), Unready> {
        let mut waiter = Waiter::new(ground.charter.fields().mission.clone());
        loop {
            // Read anew each time: the number is the machine's, not the mission's, and who waits hears of a new one.
            let most = opening::parallel(&self.root);
            let asked = self.slots.ask(&mut waiter, most).map_err(|error| {
                let place = ground.dir.path().join("../../slots");
                format!(
                    "no slot can be had in `{}`: {error}: mend this, then go on",
                    place.display()
                )
            })?;
            let nap = match asked {
                Asked::Taken(slot) => {
                    *self.slot() = Some(slot);
                    return Ok(());
                }
                Asked::Wait(line, nap) => {
                    if line.is_some() {
                        self.tell(line);
                    }
                    nap
                }
            };
            tokio::select! {
                () = sleep(nap) => {}
                // Whoever could stop it is gone when this fails, and that is a stop too.
                _ = halted.wait_for(|stop| *stop) => return Err(Unready::Stopped),
            }
        }
    }

    fn tell(&self, line: Option<Line>) {
        self.line.send_if_modified(|told| {
            let moved = *told != line;
            *told = line;
            moved
        });
    }

    /// Waits until this agent may be launched: no limit of its account holds it, and there is a slot. Who waits for a limit
    /// holds no slot.
    ///
    /// # Errors
    /// When it is to stop, or the slots cannot be used.
    pub(super) async fn take_for(
        &self,
        ground: &Ground,
        order: &Order,
        halted: &Halted,
    ) -> Result<(), Unready> {
        loop {
            if accounts::holds(ground, order) {
                self.give_up();
                accounts::pass(ground, order, halted).await;
            }
            self.take(ground, halted).await?;
            if !accounts::holds(ground, order) {
                return Ok(());
            }
        }
    }
}
