//! What the searches must reach, written out: a rule that nothing reaches is a rule that nothing tests.

use std::collections::BTreeSet;
use std::fmt::Debug;

use backstop_testkit::all_rules;
use backstop_testkit::engine::{Funds, GateKind, Rule, Verb};

use crate::scenes::Found;
use crate::table;

pub(crate) fn missed(found: &[Found]) -> Vec<String> {
    let rules: BTreeSet<Rule> = found.iter().flat_map(|f| f.rules.iter().copied()).collect();
    let offered: BTreeSet<_> = found
        .iter()
        .flat_map(|f| f.offered.iter().copied())
        .collect();
    let answered: BTreeSet<_> = found
        .iter()
        .flat_map(|f| f.answered.iter().copied())
        .collect();
    let gates: Vec<(GateKind, Verb)> = GateKind::ALL
        .into_iter()
        .flat_map(|kind| {
            let verbs = Funds::ALL
                .into_iter()
                .flat_map(move |funds| table::offers(kind, funds == Funds::Exhausted));
            verbs.map(move |verb| (kind, verb))
        })
        .collect();
    let mut missed = absent("rule", &all_rules(), &rules);
    missed.extend(absent("offer", &gates, &offered));
    missed.extend(absent("answer", &gates, &answered));
    missed.extend(beyond(&all_rules(), &rules));
    missed
}

fn absent<T: Ord + Debug>(what: &str, wanted: &[T], found: &BTreeSet<T>) -> Vec<String> {
    let absent = wanted.iter().filter(|one| !found.contains(one));
    absent.map(|one| format!("{what} {one:?}")).collect()
}

/// What was reached and is not on the list: the list is then no longer whole.
fn beyond(wanted: &[Rule], found: &BTreeSet<Rule>) -> Vec<String> {
    let beyond = found.iter().filter(|rule| !wanted.contains(rule));
    beyond
        .map(|rule| format!("reached and not listed: {rule:?}"))
        .collect()
}
