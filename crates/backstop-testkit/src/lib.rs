//! What Backstop's own tests share: charters with small ceilings, every move the world can make, and a search over
//! all states that those moves lead to.
//!
//! A story of one mission is told with [`Walk`]. For all stories at once, a test asks for a [`Mission`] with [`Opening`], for the [`moves`](mod@moves) that fit it and the [`misfits`] that do
//! not, and lets [`explore`] try them all; what must hold on the way is the test's to say. [`bound`] is the published
//! limit of what agents, host and clock can do to a mission without an operator. The feature `simulation` has the runner's
//! dispatcher drive missions in a world that is made up from a seed.
//!
//! Deliberately absent: real clocks, processes and randomness, and any opinion on what the engine should have decided.
#![expect(
    clippy::expect_used,
    reason = "what a test builds is right by construction, and stops the test where it is not"
)]

pub mod bytes;
pub mod moves;
#[cfg(feature = "simulation")]
pub mod simulation;

mod book;
mod bound;
mod ends;
mod fingerprint;
mod misfits;
mod opening;
mod rules;
mod scenes;
mod search;
mod walk;
mod world;

pub use backstop_engine as engine;
pub use book::{Book, answered, red};
pub use bound::bound;
pub use ends::{ended, ends, fails, pass, route};
pub use fingerprint::{Fingerprint, fingerprint};
pub use misfits::misfits;
pub use moves::{Actor, Move, Palette, answers, is_note, moves, replies};
pub use opening::Opening;
pub use rules::all_rules;
pub use scenes::{Scene, scenes, wide_scenes};
pub use search::{Graph, Step, explore};
pub use walk::Walk;
pub use world::{check_results, commit, fresh, note, operator, short, tree, unspent};

#[cfg(doc)]
use backstop_engine::Mission;
