//! The fuzz bodies of the tests, gathered for a fuzzer. The tests run each of them too, on inputs that are drawn.
//!
//! Deliberately absent: any law. What must hold stands with the body.

#[path = "../../crates/backstop-agents/tests/bytes"]
mod of_agents {
    pub(crate) mod agent;
    pub(crate) mod carriers;
    pub(crate) mod reset;
}

#[path = "../../crates/backstop-runner/tests/bytes"]
mod of_runner {
    pub(crate) mod config;
    pub(crate) mod journal;
}

#[path = "../../crates/backstop-cli/src/policy"]
mod of_policy {
    pub(crate) mod bytes;
    pub(crate) mod decide;
}

pub use backstop_testkit::bytes::{
    facts, handoffs, payload, plan, ruling as verdict, specs_json as gates,
};

/// The output of the agent of this name.
pub fn agent(name: &str, bytes: &[u8]) {
    of_agents::agent::agent(name, bytes);
}

/// Reset times.
pub fn resets(bytes: &[u8]) {
    of_agents::reset::resets(bytes);
}

/// A configuration.
pub fn config(bytes: &[u8]) {
    of_runner::config::config(bytes);
}

/// A journal.
pub fn journal(bytes: &[u8]) {
    of_runner::journal::journal(bytes);
}

/// Policy questions.
pub fn policy_json(bytes: &[u8]) {
    of_policy::bytes::questions(bytes);
}
