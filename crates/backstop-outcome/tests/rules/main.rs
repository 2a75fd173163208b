//! The rules of the crate, each as a sentence.

mod evidence;
mod names;
mod statuses;
mod table;
mod waits;
