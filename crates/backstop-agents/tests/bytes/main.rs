//! The bodies of the fuzzers on inputs that are drawn: any bytes, and bytes near what was recorded.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "tests fail by panicking, also in what they share"
)]

mod agent;
mod carriers;
mod near;
mod reset;

use backstop_agents::names;
use proptest::prelude::*;
use proptest::sample::select;

use agent::{agent, endless};
use near::{Output, near, outputs};

/// An agent and an output near one of its own.
fn printed() -> impl Strategy<Value = (&'static str, Output)> {
    let agents: Vec<&'static str> = names().collect();
    let of_each = agents
        .into_iter()
        .map(|name| near(name).prop_map(move |output| (name, output)));
    let of_each: Vec<_> = of_each.map(Strategy::boxed).collect();
    proptest::strategy::Union::new(of_each)
}

#[test]
fn what_was_recorded_keeps_the_laws() {
    for name in names() {
        for output in outputs(name) {
            agent(name, &output);
        }
    }
}

#[test]
fn an_agent_that_never_ends_an_answer_is_heard_in_little_memory() {
    names().for_each(endless);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_output_near_a_recorded_one_keeps_the_laws((name, output) in printed()) {
        agent(name, &output.0);
    }

    #[test]
    fn any_bytes_keep_the_laws(name in select(names().collect::<Vec<_>>()), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        agent(name, &bytes);
    }

    #[test]
    fn any_words_of_a_reset_keep_the_laws(words in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        reset::resets(words.as_bytes());
        reset::resets(&bytes);
    }
}
