//! What the searches must reach, written out: a rule that nothing reaches is a rule that nothing tests.

use std::collections::BTreeSet;
use std::fmt::Debug;

use backstop_testkit::all_rules;
use backstop_testkit::engine::Rule;

use crate::searches::Found;
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
    let gates = table::every_offer();
    let mut missed = absent("rule", &all_rules(), &rules);
    missed.extend(absent("offer", &gates, &offered));
    missed.extend(absent("answer", &gates, &answered));
    missed
}

fn absent<T: Ord + Debug>(what: &str, wanted: &[T], found: &BTreeSet<T>) -> Vec<String> {
    let absent = wanted.iter().filter(|one| !found.contains(one));
    absent.map(|one| format!("{what} {one:?}")).collect()
}
