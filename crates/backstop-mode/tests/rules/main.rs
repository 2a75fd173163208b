//! The rules of the crate, each as a sentence.

mod absences;
mod accounts;
mod ceilings;
mod gating;
mod grants;
mod meter;
mod model;
mod modes;
mod progress;
mod settling;
