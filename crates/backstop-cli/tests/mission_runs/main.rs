//! Whole missions, driven through the real program with real git and real processes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end at a fault"
)]

mod agents;
mod answers;
mod approves;
mod cleans;
mod crashes;
mod cuts;
mod disks;
mod evidence;
mod handing;
mod holds;
mod inputs;
mod journals;
mod limits;
mod loops;
mod many;
mod plans;
mod prompts;
mod proposes;
mod queues;
mod repositories;
mod reviews;
mod sessions;
mod sets_up;
mod ships;
mod shows;
mod slots;
mod support;
mod terminals;
