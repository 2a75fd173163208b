//! Whether a failure was preceded by new work.

use backstop_mode::{Baseline, Measured, Progress, progress};
use backstop_vocab::Digest;
use proptest::prelude::*;

fn at(commits: u64, tree: &str) -> Measured {
    Measured {
        commits: Some(commits),
        tree: Some(Digest::of(tree.as_bytes())),
    }
}

const UNMEASURED: Measured = Measured {
    commits: None,
    tree: None,
};

fn no_tree(commits: u64) -> Measured {
    Measured {
        commits: Some(commits),
        tree: None,
    }
}

fn no_count(tree: &str) -> Measured {
    Measured {
        commits: None,
        ..at(0, tree)
    }
}

#[test]
fn the_first_failure_begins_a_streak_measured_or_not() {
    for now in [at(1, "a"), no_tree(1), no_count("a"), UNMEASURED] {
        assert_eq!(progress(&[], now), Progress::Made);
    }
}

#[test]
fn new_commits_and_a_new_tree_are_progress() {
    assert_eq!(progress(&[at(1, "a")], at(2, "b")), Progress::Made);
    assert_eq!(
        progress(&[at(1, "a"), at(2, "b")], at(3, "c")),
        Progress::Made
    );
}

#[test]
fn an_empty_commit_a_rewind_a_rebuild_and_a_return_are_not_progress() {
    let cases: [(&str, &[Measured], Measured); 6] = [
        ("empty commit", &[at(1, "a")], at(2, "a")),
        ("nothing at all", &[at(1, "a")], at(1, "a")),
        ("amended", &[at(1, "a")], at(1, "b")),
        ("rewound", &[at(3, "a")], at(2, "b")),
        (
            "rebuilt below the highest",
            &[at(5, "a"), at(2, "b")],
            at(4, "c"),
        ),
        ("a, b, a", &[at(1, "a"), at(2, "b")], at(3, "a")),
    ];
    for (what, earlier, now) in cases {
        assert_eq!(progress(earlier, now), Progress::None, "{what}");
    }
}

#[test]
fn what_could_not_be_measured_is_not_progress() {
    for now in [no_tree(9), no_count("z"), UNMEASURED] {
        assert_eq!(progress(&[at(1, "a")], now), Progress::None);
    }
}

#[test]
fn without_a_measured_earlier_failure_nothing_is_progress() {
    for earlier in [no_tree(1), no_count("a"), UNMEASURED] {
        assert_eq!(progress(&[earlier], at(9, "z")), Progress::None);
    }
}

#[test]
fn an_unmeasured_failure_leaves_the_baseline_as_it_was() {
    let earlier = [at(2, "a"), no_tree(8), no_count("c"), UNMEASURED];
    assert_eq!(progress(&earlier, at(3, "c")), Progress::Made);
    assert_eq!(progress(&earlier, at(2, "c")), Progress::None);
    assert_eq!(progress(&earlier, at(9, "a")), Progress::None);
}

#[test]
fn a_baseline_remembers_that_there_was_an_unmeasured_failure() {
    let (baseline, first) = Baseline::new().judge(UNMEASURED);
    assert_eq!(first, Progress::Made);
    let (baseline, second) = baseline.judge(UNMEASURED);
    assert_eq!(second, Progress::None);
    let (baseline, third) = baseline.judge(at(4, "a"));
    assert_eq!(third, Progress::None);
    assert_eq!(baseline.judge(at(5, "b")).1, Progress::Made);
}

#[test]
fn measurements_are_read_with_null_for_what_is_not_known() {
    let read: Measured = serde_json::from_str(r#"{"commits":3,"tree":null}"#).unwrap();
    assert_eq!(read, no_tree(3));
    assert!(serde_json::from_str::<Measured>(r#"{"commit":3}"#).is_err());
    assert_eq!(serde_json::to_string(&Progress::Made).unwrap(), r#""made""#);
    assert_eq!(serde_json::to_string(&Progress::None).unwrap(), r#""none""#);
}

fn any_measured() -> impl Strategy<Value = Measured> {
    let tree = prop::option::of(prop::sample::select(vec!["a", "b", "c", "d"]));
    (prop::option::of(0..6u64), tree).prop_map(|(commits, tree)| Measured {
        commits,
        tree: tree.map(|name| Digest::of(name.as_bytes())),
    })
}

/// The rule told another way: the highest count and the trees seen, kept as one goes.
fn told_another_way(failures: &[Measured]) -> Vec<Progress> {
    let (mut highest, mut seen, mut any) = (None, Vec::new(), false);
    let mut judged = Vec::new();
    for failure in failures {
        let mut made = !any;
        if let (Some(commits), Some(tree)) = (failure.commits, failure.tree) {
            let higher = highest.is_some_and(|h| commits > h);
            made = made || (higher && !seen.contains(&tree));
            highest = highest.max(Some(commits));
            seen.push(tree);
        }
        any = true;
        judged.push(if made { Progress::Made } else { Progress::None });
    }
    judged
}

proptest! {
    #[test]
    fn a_baseline_judges_as_the_whole_history_does(
        failures in prop::collection::vec(any_measured(), 0..9),
    ) {
        let wanted = told_another_way(&failures);
        let mut baseline = Baseline::new();
        for (n, (failure, wanted)) in failures.iter().zip(wanted).enumerate() {
            prop_assert_eq!(progress(&failures[..n], *failure), wanted);
            let (next, judged) = baseline.judge(*failure);
            prop_assert_eq!(judged, wanted);
            baseline = next;
        }
    }

    #[test]
    fn progress_is_bounded_by_the_trees_there_are(
        failures in prop::collection::vec(any_measured(), 0..40),
    ) {
        let made = told_another_way(&failures).into_iter().filter(|p| *p == Progress::Made);
        prop_assert!(made.count() <= 4);
    }
}
