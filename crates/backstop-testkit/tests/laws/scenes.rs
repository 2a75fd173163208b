//! The searches of all scenes.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use backstop_testkit::engine::{Charter, GateKind, Rule, Verb};
use backstop_testkit::{Graph, Scene, explore, scenes};

use crate::watch::Watch;

/// What a search found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: &'static str,
    pub(crate) charter: Charter,
    pub(crate) graph: Graph,
    pub(crate) rules: BTreeSet<Rule>,
    pub(crate) offered: BTreeSet<(GateKind, Verb)>,
    pub(crate) answered: BTreeSet<(GateKind, Verb)>,
    pub(crate) broken: Vec<String>,
}

fn search(scene: Scene) -> Found {
    let charter = scene.opening.charter();
    let mut watch = Watch::new(&charter);
    let graph = explore(charter.clone(), &scene.palette, &scene.uncounted, |step| {
        watch.see(step);
    });
    Found {
        name: scene.name,
        charter,
        graph,
        rules: watch.rules,
        offered: watch.offered,
        answered: watch.answered,
        broken: watch.broken,
    }
}

/// Every search, done once.
pub(crate) fn found() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    FOUND.get_or_init(|| {
        thread::scope(|scope| {
            let searches: Vec<_> = scenes()
                .into_iter()
                .map(|scene| scope.spawn(|| search(scene)))
                .collect();
            let joined = searches
                .into_iter()
                .map(|search| search.join().unwrap_or_else(|cause| resume_unwind(cause)));
            joined.collect()
        })
    })
}
