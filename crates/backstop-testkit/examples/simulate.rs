//! Runs simulated worlds, prints what they covered, and makes the first one smaller that breaks a law:
//! `simulate [--seeds N] [--from SEED]`. `cargo xtask simulate` calls it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for a terminal"
)]

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use backstop_testkit::all_rules;
use backstop_testkit::simulation::{Covered, Outcome, Tape, play, shrink, simulate};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let Some((seeds, from)) = asked(&words) else {
        eprintln!("usage: simulate [--seeds N] [--from SEED]");
        return ExitCode::from(2);
    };
    let start = Instant::now();
    let mut covered = Covered::default();
    for seed in from..from.saturating_add(seeds) {
        let run = simulate(seed);
        if run.broken.is_some() {
            broken(seed, run);
            return ExitCode::FAILURE;
        }
        covered.add(run.covered);
    }
    report(&covered);
    println!("no law broken in {:.1} s", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn asked(words: &[String]) -> Option<(u64, u64)> {
    let (mut seeds, mut from) = (1_000, 0);
    for pair in words.chunks(2) {
        let [name, number] = pair else { return None };
        let number = number.parse().ok()?;
        match name.as_str() {
            "--seeds" => seeds = number,
            "--from" => from = number,
            _ => return None,
        }
    }
    Some((seeds, from))
}

fn broken(seed: u64, run: Outcome) {
    let draws = choices(&run);
    let small = shrink(run);
    let told = play(Tape::kept(small.drawn.clone()).aloud());
    for line in &told.story {
        println!("{line}");
    }
    if let Some(broken) = &small.broken {
        println!("\nbroken: {}: {}", broken.law, broken.seen);
    }
    println!(
        "seed {seed}; this is the smallest run found, with {} choices that are not the plainest instead of {draws}",
        choices(&small)
    );
    println!("repeat: cargo xtask simulate --seeds 1 --from {seed}");
}

fn choices(run: &Outcome) -> usize {
    run.drawn.iter().filter(|number| **number != 0).count()
}

fn report(covered: &Covered) {
    let Covered {
        runs,
        facts,
        processes,
        states,
        faults,
        ends,
        rules,
    } = covered;
    println!(
        "{runs} seeds: {facts} facts, {processes} processes, {} states",
        states.len()
    );
    println!("ends: {ends:?}");
    for (fault, times) in faults {
        println!("{times:>9}  {fault}");
    }
    let all = all_rules();
    let never: Vec<_> = all.iter().filter(|rule| !rules.contains(rule)).collect();
    println!(
        "rules fired: {} of {}; never: {never:?}",
        rules.len(),
        all.len()
    );
}
