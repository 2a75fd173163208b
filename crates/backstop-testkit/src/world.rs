//! The things that facts speak of: commits, trees, words and people, the same for the same number.

use backstop_engine::vocab::{Channel, CommitId, Digest, EffectId, Note, Signature, Text};
use backstop_engine::{Check, CheckResult, CheckVerdict, Cost, Head, Usage};

/// The commit with this number.
///
/// # Panics
/// Never: the number is written as forty digits.
#[must_use]
pub fn commit(number: u64) -> CommitId {
    format!("{number:040x}")
        .parse()
        .expect("forty hexadecimal digits")
}

/// The tree with this number. The base has number 0.
///
/// # Panics
/// Never: the number is written as forty digits.
#[must_use]
pub fn tree(number: u64) -> Digest {
    Digest::git_tree(&format!("{number:040x}")).expect("forty hexadecimal digits")
}

/// A head that no earlier effect left: a new tree, with more commits than any before.
#[must_use]
pub fn fresh(effect: EffectId) -> Head {
    let number = effect.number().saturating_add(1);
    Head {
        commit: commit(number),
        tree: tree(number),
        commits: Some(number),
    }
}

/// A person.
#[must_use]
pub fn operator() -> Signature {
    Signature {
        name: short("ada"),
        channel: Channel::Cli,
    }
}

/// What a person wrote.
#[must_use]
pub fn note() -> Note {
    short("because I looked at it")
}

/// Text that fits.
#[must_use]
pub fn short<const MAX: usize>(text: &str) -> Text<MAX> {
    Text::clip(text)
}

/// An attempt that used nothing.
#[must_use]
pub const fn unspent() -> Usage {
    Usage {
        tool_calls: 0,
        tokens: 0,
        cost: Cost::NoModelWork,
        active_ms: 0,
    }
}

/// One result for each check: `verdicts` in order, and `Passed` for the rest.
#[must_use]
pub fn check_results(checks: &[Check], verdicts: &[CheckVerdict]) -> Vec<CheckResult> {
    let rest = core::iter::repeat(&CheckVerdict::Passed);
    let verdicts = verdicts.iter().chain(rest);
    let result = |(check, verdict): (&Check, &CheckVerdict)| CheckResult {
        name: check.name.clone(),
        verdict: verdict.clone(),
        log: None,
        active_ms: 0,
    };
    checks.iter().zip(verdicts).map(result).collect()
}
