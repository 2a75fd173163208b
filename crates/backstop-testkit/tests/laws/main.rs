//! The laws of the engine, held against every state that small ceilings let a mission reach.
//!
//! The small scenes, each for something of its own, and what all of them together must reach; `wide` has the large ones.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a second bookkeeper looks at the facts that it books"
)]

mod held;
mod reach;
mod searches;
mod table;
mod watch;

use backstop_testkit::engine::mode::Account;
use backstop_testkit::engine::outcome::{Interruption, Status};
use backstop_testkit::engine::{Effect, OnQuestion};
use backstop_testkit::{Opening, Scene, Walk, bound};

use searches::found;

/// Facts that do not fit are tried in every state.
pub(crate) const MISFITS: usize = 1;

/// The scenes that are searched here.
pub(crate) fn wanted() -> Vec<Scene> {
    backstop_testkit::scenes()
}

#[test]
fn the_bound_at_the_defaults_is_published() {
    let lane = || Opening::default().scout().planner().default_ceilings();
    let gated = bound(&lane().charter());
    let decided = bound(&lane().on_question(OnQuestion::Decide).charter());
    println!("bound of one lane at the defaults: {gated}; where questions are decided: {decided}");
    // The preflight, 12 launches, 2 × 14 faults, 2 × 12 × 23 limits, 10 checks, 1 landing.
    assert_eq!(gated, 1 + 12 + 28 + 552 + 10 + 1);
    assert_eq!(decided, gated + 12 * 3);
}

#[test]
fn an_adversary_reaches_the_bound_at_the_defaults() {
    let opening = Opening::default().scout().planner().default_ceilings();
    let bound = bound(&opening.clone().charter());
    let mut walk = Walk::begin(opening);
    while walk.mission.gate().is_none() {
        worst(&mut walk);
    }
    let facts = walk.facts.len();
    println!("one lane at the defaults: {facts} facts without an operator, bound: {bound}");
    assert_eq!(u64::try_from(facts), Ok(bound));
}

/// The answer that keeps the mission busy longest.
fn worst(walk: &mut Walk) {
    let below = |account, spare| {
        let meter = walk.mission.meter();
        meter.used(account) + spare < meter.ceiling(account)
    };
    match walk.last().1 {
        Effect::Wait(_) => walk.due(),
        Effect::Launch(_) if below(Account::QuotaWaits, 1) => {
            walk.ends(Status::RateLimited { until: None })
        }
        Effect::Launch(_) if below(Account::Infra, 1) && below(Account::InfraTotal, 1) => {
            let by = Interruption::Network;
            walk.ends(Status::Interrupted { by })
        }
        Effect::Launch(_) => walk.works(),
        Effect::RunChecks(_) if below(Account::PhaseFailures, 1) => walk.red(),
        Effect::RunChecks(_) => walk.green(),
        _ => walk.lands(),
    };
}

#[test]
fn every_rule_gate_and_answer_is_reached() {
    let missed = reach::missed(found());
    assert!(missed.is_empty(), "not reached:\n{}", missed.join("\n"));
}
