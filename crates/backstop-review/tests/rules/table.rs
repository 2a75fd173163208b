//! State × step: what fits, and that a refusal changes nothing.

use backstop_review::*;
use backstop_vocab::Operator;

use crate::samples::*;

/// Where each accepted sample step leads; `-` where it is refused. Columns as in `StepKind::ALL`.
const TABLE: [[&str; 7]; 6] = [
    // begin, record, abandon, record_repair, record_red, observe, ratify
    ["reviewing", "-", "-", "-", "repairing", "ready", "-"],
    ["-", "parked", "ready", "-", "-", "reviewing", "-"],
    ["-", "-", "-", "ready", "-", "-", "-"],
    ["-", "-", "-", "-", "-", "parked", "verified"],
    ["-", "-", "-", "-", "-", "-", "-"],
    ["-", "-", "-", "-", "-", "-", "-"],
];

#[test]
fn each_state_takes_its_own_steps_and_no_other() {
    for (state, row) in every_state().into_iter().zip(TABLE) {
        for (step, wanted) in every_step().into_iter().zip(row) {
            let (from, kind) = (state.kind(), step.kind());
            assert_eq!(accepts(from, kind), wanted != "-", "{kind} at {from}");
            match state.take(step, Operator::attest) {
                Ok(next) => assert_eq!(next.kind().name(), wanted, "{kind} at {from}"),
                Err(why) => {
                    assert_eq!(wanted, "-", "{kind} at {from}");
                    let (state, step) = (from, kind);
                    assert_eq!(why, Refused::Misfit { state, step });
                }
            }
        }
    }
}

#[test]
fn the_samples_cover_every_state_and_every_step() {
    let states: Vec<_> = every_state().iter().map(Loop::kind).collect();
    let steps: Vec<_> = every_step().iter().map(Step::kind).collect();
    assert_eq!(states, StateKind::ALL);
    assert_eq!(steps, StepKind::ALL);
}

#[test]
fn a_misfit_names_the_state_the_step_and_what_fits() {
    let step = Step::Begin { at: at(0) };
    let why = Loop::from(parked())
        .take(step, Operator::attest)
        .unwrap_err();
    assert_eq!(why.code(), "misfit");
    let words = "`begin` does not fit a loop that is `parked`: `ratify` or `observe` fits";
    assert_eq!(why.to_string(), words);
}

#[test]
fn a_refused_step_gives_the_state_back_as_it_was() {
    let open = reviewing(Bounds::default());
    let late = Review {
        iteration: 2,
        ..clean()
    };
    let refused = open.clone().record(late).unwrap_err();
    assert_eq!(refused.state, open);
    let (submitted, open) = (2, 1);
    assert_eq!(refused.why, Refused::Iteration { submitted, open });
    assert!(matches!(refused.state.record(clean()), Ok(Loop::Parked(_))));
}

#[test]
fn a_replay_tells_the_refused_steps_and_goes_on() {
    let steps = [
        Step::Begin { at: at(0) },
        Step::Begin { at: at(1) },
        Step::Record(Box::new(clean())),
    ];
    let (bounds, policy) = (Bounds::default(), Policy::default());
    let (end, refused) = replay(bounds, policy, tree(0), steps, Operator::attest);
    assert_eq!(end, parked().into());
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].index, 1);
    assert_eq!(refused[0].why.code(), "misfit");
}
