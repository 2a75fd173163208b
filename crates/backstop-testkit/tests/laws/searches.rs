//! The searches of the scenes that a test program wants.

use std::collections::BTreeSet;
use std::iter;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock};
use std::thread;

use backstop_testkit::engine::{Charter, GateKind, Rule, Verb};
use backstop_testkit::{Graph, Scene, explore};

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

/// Every search, done once: as many at a time as there are processors, the largest first.
pub(crate) fn found() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let open = Mutex::new(crate::wanted().into_iter().enumerate().collect::<Vec<_>>());
        let take = || open.lock().ok()?.pop();
        let searcher = || iter::from_fn(take).map(|(n, scene)| (n, search(scene)));
        let searchers = thread::available_parallelism().map_or(1, NonZero::get);
        let mut found: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..searchers)
                .map(|_| scope.spawn(|| searcher().collect::<Vec<_>>()))
                .collect();
            let joined = threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|cause| resume_unwind(cause)));
            joined.collect()
        });
        found.sort_by_key(|(n, _)| *n);
        found.into_iter().map(|(_, found)| found).collect()
    })
}
