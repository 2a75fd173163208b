//! The laws of the engine, held against every state that small ceilings let a mission reach.
//!
//! The searches run once, in parallel, and each test reads what they found.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a second bookkeeper looks at the facts that it books"
)]

mod reach;
mod scenes;
mod table;
mod watch;

use backstop_testkit::engine::mode::Account;
use backstop_testkit::engine::outcome::{Interruption, Status};
use backstop_testkit::engine::{Effect, Ended, Event, Mission, OnQuestion, Position};
use backstop_testkit::{Graph, Opening, Walk, bound};

use scenes::{Found, found};

fn unbroken(law: &str) {
    for found in found() {
        let broken: Vec<&String> = found
            .broken
            .iter()
            .filter(|line| line.starts_with(law))
            .collect();
        let first = broken.first();
        assert!(
            broken.is_empty(),
            "{}: {} times, first: {first:?}",
            found.name,
            broken.len()
        );
    }
}

#[test]
fn agents_and_host_alone_reach_a_gate_a_park_or_the_end_within_the_bound() {
    for Found {
        name,
        graph,
        charter,
        ..
    } in found()
    {
        let bound = bound(charter);
        let longest = graph.longest().map_err(|state| way(graph, state));
        let longest = longest.expect("no circle without an operator");
        println!(
            "{name}: {} states, longest agent-only path: {longest}, bound: {bound}",
            graph.states()
        );
        assert!(longest <= bound, "{name}");
        // Each scene is whole enough that its bound is reached, so the formula is no guess; but for gates between roles that
        // a person must open on the way.
        if charter.fields().gates.is_none() {
            assert_eq!(longest, bound, "{name}");
        }
    }
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

#[test]
fn the_figures_that_are_published_are_those_of_the_searches() {
    let page = include_str!("../../../../docs/laws.md");
    let row = |found: &Found| {
        let (states, bound) = (found.graph.states(), bound(&found.charter));
        let longest = found.graph.longest().unwrap_or(u64::MAX);
        format!("| {} | {states} | {longest} | {bound} |", found.name)
    };
    let rows: Vec<String> = found().iter().map(row).collect();
    let missing: Vec<&String> = rows.iter().filter(|row| !page.contains(*row)).collect();
    assert!(
        missing.is_empty(),
        "`docs/laws.md` must have these rows:\n{}",
        rows.join("\n")
    );
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

fn way(graph: &Graph, state: usize) -> String {
    let way = graph.way(state).into_iter();
    let facts: Vec<String> = way.map(|made| format!("{:?}", made.event.fact)).collect();
    facts.join("\n")
}

#[test]
fn no_way_without_an_operator_leads_to_shipped() {
    for Found { name, graph, .. } in found() {
        for state in graph.unattended() {
            let shipped = graph.mission(state).is_some_and(shipped);
            assert!(!shipped, "{name}: {}", way(graph, state));
        }
    }
    unbroken("law 2");
}

fn shipped(mission: &Mission) -> bool {
    matches!(mission.position(), Position::Ended(Ended::Shipped(_)))
}

#[test]
fn deciding_twice_gives_the_same_and_a_refused_fact_leaves_no_trace() {
    unbroken("law 3");
}

#[test]
fn every_prefix_of_a_journal_replays_to_the_live_mission() {
    for Found {
        name,
        graph,
        charter,
        ..
    } in found()
    {
        for state in (0..graph.states()).step_by(graph.states() / 40 + 1) {
            let facts: Vec<Event> = graph
                .way(state)
                .into_iter()
                .map(|made| made.event)
                .collect();
            let text = serde_json::to_string(&(charter, &facts)).unwrap();
            let (charter, facts): (_, Vec<Event>) = serde_json::from_str(&text).unwrap();
            let mut live = Mission::open(charter).mission;
            for (n, fact) in facts.iter().enumerate() {
                live = live.decide(fact).unwrap().mission;
                let prefix = facts.iter().take(n + 1).cloned();
                let again = Mission::replay(live.charter().clone(), prefix);
                assert_eq!(again.as_ref(), Ok(&live), "{name}");
            }
            assert_eq!(graph.mission(state), Some(&live), "{name}");
        }
    }
}

#[test]
fn what_is_outstanding_is_what_was_started_and_not_answered() {
    unbroken("law 4");
}

#[test]
fn nothing_lands_or_ships_that_was_neither_judged_clean_nor_overridden() {
    unbroken("law 5");
}

#[test]
fn nothing_begins_between_a_stop_and_the_park() {
    unbroken("stop");
}

#[test]
fn an_answer_is_used_at_most_once() {
    unbroken("once");
}

#[test]
fn faults_limits_and_failures_of_the_work_never_pay_for_each_other() {
    unbroken("law 6");
}

#[test]
fn an_answer_is_taken_exactly_when_the_gate_offers_it_with_note_and_digest_where_needed() {
    unbroken("answers");
}

#[test]
fn every_gate_offers_what_the_table_says() {
    unbroken("offers");
}

#[test]
fn every_rule_gate_and_answer_is_reached() {
    let missed = reach::missed(found());
    assert!(missed.is_empty(), "not reached:\n{}", missed.join("\n"));
}
