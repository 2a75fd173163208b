//! Makes a failing run smaller: fewer steps and faults, the same law broken.

use super::{Outcome, Tape, play};

/// How many runs a shrink may take.
const RUNS: u32 = 4_000;

/// The smallest run found that breaks the same law as this one.
#[must_use]
pub fn shrink(failed: Outcome) -> Outcome {
    let Some(law) = failed.broken.as_ref().map(|broken| broken.law) else {
        return failed;
    };
    let mut left = RUNS;
    let mut best = failed;
    loop {
        let before = best.drawn.clone();
        for change in [cut as Change, drop_block, plainer] {
            best = smaller(best, law, change, &mut left);
        }
        if left == 0 || best.drawn == before {
            return best;
        }
    }
}

/// A simpler tape: at this place, over this length.
type Change = fn(&[u64], usize, usize) -> Vec<u64>;

fn cut(tape: &[u64], at: usize, _: usize) -> Vec<u64> {
    tape.iter().take(at).copied().collect()
}

fn drop_block(tape: &[u64], at: usize, length: usize) -> Vec<u64> {
    let behind = tape.iter().skip(at + length);
    tape.iter().take(at).chain(behind).copied().collect()
}

fn plainer(tape: &[u64], at: usize, length: usize) -> Vec<u64> {
    let block = at..at + length;
    let numbers = tape.iter().enumerate();
    numbers
        .map(|(n, number)| if block.contains(&n) { 0 } else { *number })
        .collect()
}

fn smaller(mut best: Outcome, law: &str, change: Change, left: &mut u32) -> Outcome {
    for length in [64, 16, 4, 1] {
        let mut at = 0;
        while at < best.drawn.len() && *left > 0 {
            let tape = change(&best.drawn, at, length);
            if tape != best.drawn {
                *left -= 1;
                let mut tried = play(Tape::kept(tape.clone()));
                if tried
                    .broken
                    .as_ref()
                    .is_some_and(|broken| broken.law == law)
                {
                    // What was drawn past the end is 0, and is drawn again without being kept.
                    tried.drawn.truncate(tape.len());
                    if tried.drawn != best.drawn {
                        best = tried;
                        continue;
                    }
                }
            }
            at += length;
        }
    }
    best
}
