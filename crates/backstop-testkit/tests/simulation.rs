//! Some runs of the dispatcher in a simulated world; `cargo xtask simulate` makes more of them.

use backstop_testkit::simulation::{Tape, play, simulate};

/// A few seconds' worth.
const SEEDS: u64 = 400;

#[test]
fn no_law_is_broken_in_any_of_some_hundred_worlds() {
    for seed in 0..SEEDS {
        let broken = simulate(seed).broken;
        assert_eq!(
            broken, None,
            "seed {seed}: `cargo xtask simulate --seeds 1 --from {seed}`"
        );
    }
}

#[test]
fn a_seed_is_one_run() {
    for seed in 0..20 {
        let [one, other] = [(); 2].map(|()| play(Tape::of(seed).aloud()));
        assert_eq!(one.story, other.story);
        assert_eq!(one.drawn, other.drawn);
        // What was drawn is the whole of what a seed decides.
        assert_eq!(play(Tape::kept(one.drawn).aloud()).story, one.story);
    }
}

#[test]
fn the_plainest_world_ships_without_a_fault() {
    let run = play(Tape::kept(Vec::new()));
    assert_eq!(run.broken, None);
    assert_eq!(run.covered.ends.get("shipped"), Some(&1));
    assert!(run.covered.faults.is_empty(), "{:?}", run.covered.faults);
}
