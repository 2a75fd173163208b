//! The laws, held against every state of the scenes that a test program wants.
//!
//! The searches run once, and each test reads what they found.

use backstop_testkit::engine::{Event, Mission};
use backstop_testkit::{Graph, all_rules, bound};

use crate::searches::{Found, found};
use crate::table;

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

fn way(graph: &Graph, state: usize) -> String {
    let way = graph.way(state).into_iter();
    let facts: Vec<String> = way.map(|made| format!("{:?}", made.event.fact)).collect();
    facts.join("\n")
}

#[test]
fn no_way_without_an_operator_leads_to_shipped() {
    for Found { name, graph, .. } in found() {
        let shipped = graph.shipped_unattended().map(|state| way(graph, state));
        assert_eq!(shipped, None, "{name}");
    }
    unbroken("law 2");
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
            assert_eq!(graph.mission(state), Some(live), "{name}");
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
fn what_is_reached_is_on_the_lists() {
    let (rules, offers) = (all_rules(), table::every_offer());
    for found in found() {
        let beyond = found.rules.iter().filter(|rule| !rules.contains(rule));
        let strange = found.offered.union(&found.answered);
        let strange = strange.filter(|offer| !offers.contains(offer));
        let beyond = beyond.map(|rule| format!("{rule:?}"));
        let all: Vec<String> = beyond
            .chain(strange.map(|offer| format!("{offer:?}")))
            .collect();
        assert!(all.is_empty(), "{}: {all:?}", found.name);
    }
}
