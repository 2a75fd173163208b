//! What the host saw against what the agent said.

use backstop_mode::Account;
use backstop_outcome::{
    Artifact, EmptyWork, Evidence, FailCause, HostWork, Interruption, Measurement, Post, Ruling,
    Status, StatusKind, TouchedPath, TreeChange, UnavailableCause, VisitKind, with_evidence,
};
use backstop_vocab::{PhaseKind, Stage, Text, Visit};
use proptest::prelude::*;

use Measurement::{Found, Unmeasured};

const ARTIFACTS: [Measurement<Artifact>; 5] = [
    Unmeasured,
    Found(Artifact::Missing),
    Found(Artifact::Text),
    Found(Artifact::Numbers),
    Found(Artifact::Sarif { results: 2 }),
];
const TREES: [Measurement<TreeChange>; 3] = [
    Unmeasured,
    Found(TreeChange::Unchanged),
    Found(TreeChange::Changed),
];
const RULINGS: [Measurement<Ruling>; 3] =
    [Unmeasured, Found(Ruling::Missing), Found(Ruling::Strict)];
const HOST_WORKS: [Measurement<HostWork>; 3] =
    [Unmeasured, Found(HostWork::NotDone), Found(HostWork::Done)];
const VISITS: [VisitKind; 2] = [VisitKind::First, VisitKind::Later];
const EMPTIES: [EmptyWork; 2] = [EmptyWork::Refused, EmptyWork::Allowed];

fn protections() -> [Measurement<Vec<TouchedPath>>; 3] {
    [
        Unmeasured,
        Found(vec![]),
        Found(vec![Text::clip("backstop.toml")]),
    ]
}

fn failed(cause: FailCause) -> Status {
    Status::Failed { cause }
}

fn post(stage: Stage, kind: PhaseKind) -> Post {
    Post {
        stage,
        kind,
        visit: VisitKind::First,
        empty: EmptyWork::Refused,
    }
}

fn coding() -> Post {
    post(Stage::Code, PhaseKind::Coding)
}

/// Evidence of Code with nothing protected touched.
fn seen(tree: Measurement<TreeChange>, artifact: Measurement<Artifact>) -> Evidence {
    Evidence {
        tree,
        artifact,
        protected: Found(vec![]),
        ..Evidence::default()
    }
}

fn judged(post: Post, evidence: &Evidence) -> Status {
    with_evidence(&post, Status::Success, evidence)
}

#[test]
fn define_and_plan_need_their_artifact() {
    for stage in [Stage::Define, Stage::Plan] {
        for kind in PhaseKind::ALL {
            for artifact in ARTIFACTS {
                let evidence = Evidence {
                    artifact,
                    ..Evidence::default()
                };
                let wanted = match artifact {
                    Unmeasured => Status::Unknown,
                    Found(Artifact::Missing) => failed(FailCause::NoArtifact),
                    Found(Artifact::Text | Artifact::Numbers | Artifact::Sarif { .. }) => {
                        Status::Success
                    }
                };
                assert_eq!(
                    judged(post(stage, kind), &evidence),
                    wanted,
                    "{stage} {kind}"
                );
            }
        }
    }
}

#[test]
fn the_first_coding_visit_needs_another_tree() {
    let wanted = [Status::Unknown, failed(FailCause::NoWork), Status::Success];
    for (tree, wanted) in TREES.into_iter().zip(wanted) {
        assert_eq!(
            judged(coding(), &seen(tree, Unmeasured)),
            wanted,
            "{tree:?}"
        );
    }
}

#[test]
fn a_phase_that_allows_it_and_a_later_visit_may_leave_the_tree() {
    for tree in TREES {
        let allowed = Post {
            empty: EmptyWork::Allowed,
            ..coding()
        };
        assert_eq!(judged(allowed, &seen(tree, Unmeasured)), Status::Success);
        let later = Post {
            visit: VisitKind::Later,
            ..coding()
        };
        assert_eq!(judged(later, &seen(tree, Unmeasured)), Status::Success);
    }
}

#[test]
fn research_and_scans_need_a_report_and_leave_the_tree_alone() {
    for kind in [PhaseKind::Research, PhaseKind::SecurityScan] {
        for tree in TREES {
            for artifact in ARTIFACTS {
                let wanted = match (tree, artifact) {
                    (Found(TreeChange::Changed), _) => failed(FailCause::ChangedTree),
                    (_, Found(Artifact::Missing)) => failed(FailCause::NoArtifact),
                    (Unmeasured, _) | (_, Unmeasured) => Status::Unknown,
                    (Found(TreeChange::Unchanged), Found(_)) => Status::Success,
                };
                let found = judged(post(Stage::Code, kind), &seen(tree, artifact));
                assert_eq!(found, wanted, "{kind} {tree:?} {artifact:?}");
            }
        }
    }
}

#[test]
fn a_benchmark_needs_numbers_and_their_commands_and_may_change_the_tree() {
    for tree in TREES {
        for artifact in ARTIFACTS {
            let wanted = match artifact {
                Unmeasured => Status::Unknown,
                Found(Artifact::Missing | Artifact::Text | Artifact::Sarif { .. }) => {
                    failed(FailCause::NoArtifact)
                }
                Found(Artifact::Numbers) => Status::Success,
            };
            let found = judged(
                post(Stage::Code, PhaseKind::Benchmark),
                &seen(tree, artifact),
            );
            assert_eq!(found, wanted, "{tree:?} {artifact:?}");
        }
    }
}

#[test]
fn a_protected_path_outranks_every_other_fault_of_code() {
    for kind in PhaseKind::ALL {
        for visit in VISITS {
            for tree in TREES {
                for artifact in ARTIFACTS {
                    let evidence = Evidence {
                        protected: Found(vec![Text::clip("backstop.toml")]),
                        ..seen(tree, artifact)
                    };
                    let post = Post {
                        visit,
                        ..post(Stage::Code, kind)
                    };
                    assert_eq!(judged(post, &evidence), failed(FailCause::ProtectedPath));
                }
            }
        }
    }
}

#[test]
fn protected_paths_that_could_not_be_looked_at_make_unknown() {
    for visit in VISITS {
        let evidence = Evidence {
            protected: Unmeasured,
            ..seen(Found(TreeChange::Changed), Unmeasured)
        };
        let post = Post { visit, ..coding() };
        assert_eq!(judged(post, &evidence), Status::Unknown);
    }
}

#[test]
fn validate_needs_a_strict_verdict_and_every_check_run() {
    for ruling in RULINGS {
        for host_work in HOST_WORKS {
            let evidence = Evidence {
                ruling,
                host_work,
                ..Evidence::default()
            };
            let wanted = match (ruling, host_work) {
                (Found(Ruling::Missing), _) => failed(FailCause::NoVerdict),
                (Found(Ruling::Strict), Found(HostWork::Done)) => Status::Success,
                _ => Status::Unknown,
            };
            let found = judged(post(Stage::Validate, PhaseKind::Coding), &evidence);
            assert_eq!(found, wanted, "{ruling:?} {host_work:?}");
        }
    }
}

#[test]
fn ship_needs_the_hosts_own_step() {
    let wanted = [Status::Unknown, Status::Unknown, Status::Success];
    for (host_work, wanted) in HOST_WORKS.into_iter().zip(wanted) {
        let evidence = Evidence {
            host_work,
            ..Evidence::default()
        };
        assert_eq!(
            judged(post(Stage::Ship, PhaseKind::Coding), &evidence),
            wanted
        );
    }
}

#[test]
fn without_any_evidence_no_claim_is_a_success() {
    for stage in Stage::ALL {
        for kind in PhaseKind::ALL {
            for visit in VISITS {
                for empty in EMPTIES {
                    let post = Post {
                        stage,
                        kind,
                        visit,
                        empty,
                    };
                    assert_eq!(
                        judged(post, &Evidence::default()),
                        Status::Unknown,
                        "{post:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_blank_artifact_is_none() {
    let missing = ["", " \n\t", "\u{200b}\u{feff}", "\u{1b}"];
    assert_eq!(Artifact::read(None), Artifact::Missing);
    for text in missing {
        assert_eq!(Artifact::read(Some(text)), Artifact::Missing, "{text:?}");
    }
    assert_eq!(Artifact::read(Some(".")), Artifact::Text);
}

#[test]
fn numbers_count_with_the_commands_that_made_them() {
    let numbers = [
        "$ cargo bench\nparse 12 ns",
        "    $ make bench\n3.5 ms",
        "`hyperfine ls` says 4 ms",
        "```sh\ncargo bench\n```\n17 ns",
        r#"{"command": "cargo bench", "ns": 17}"#,
        "Commands: cargo bench. Result: 8",
    ];
    for text in numbers {
        assert_eq!(Artifact::read(Some(text)), Artifact::Numbers, "{text}");
    }
    for text in [
        "it is much faster",
        "17 ns",
        "`cargo bench` is faster",
        "costs $ 5",
    ] {
        assert_eq!(Artifact::read(Some(text)), Artifact::Text, "{text}");
    }
}

const BENCHMARK: &str =
    r#"{"machine":"2 cores","commands":["cargo bench"],"numbers":{"parse":{"ns":17}}}"#;

#[test]
fn an_object_of_a_benchmark_needs_its_machine_its_commands_and_a_number() {
    let read = |text: &str| Artifact::read(Some(text));
    assert_eq!(read(BENCHMARK), Artifact::Numbers);
    assert_eq!(read(&format!("\n {BENCHMARK}\r\n")), Artifact::Numbers);
    for (part, other) in [
        ("\"2 cores\"", r#"{"cpu":"x","cores":2}"#),
        (r#"{"parse":{"ns":17}}"#, "[1.5]"),
        (r#""numbers""#, r#""note":"`x`","numbers""#),
    ] {
        assert_eq!(
            read(&BENCHMARK.replace(part, other)),
            Artifact::Numbers,
            "{other}"
        );
    }
    for (part, other) in [
        ("\"2 cores\"", "\" \""),
        ("\"2 cores\"", "{}"),
        ("\"2 cores\"", "2"),
        (r#""machine":"2 cores","#, ""),
        (r#""commands":["cargo bench"],"#, ""),
        (r#"["cargo bench"]"#, "[]"),
        (r#"["cargo bench"]"#, r#"["`cargo bench`",7]"#),
        (r#"["cargo bench"]"#, r#""cargo bench""#),
        ("17", "\"17\""),
        (r#"{"parse":{"ns":17}}"#, "{}"),
        (r#","numbers":{"parse":{"ns":17}}"#, r#","note":"17""#),
    ] {
        let text = BENCHMARK.replace(part, other);
        assert_ne!(text, BENCHMARK, "{part}");
        assert_eq!(read(&text), Artifact::Text, "{text}");
    }
}

const SARIF: &str = r#"{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[
    {"tool":{"driver":{"name":"scan"}},"results":[{"message":{"text":"a secret"}},{"message":{"text":"another"}}]},
    {"tool":{"driver":{"name":"audit"}},"results":[{"ruleId":"R1","message":{"id":"default"}}]}]}"#;

#[test]
fn a_log_in_sarif_is_told_with_its_number_of_results() {
    let read = |text: &str| Artifact::read(Some(text));
    assert_eq!(read(SARIF), Artifact::Sarif { results: 3 });
    let clean = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan"}},"results":[]}]}"#;
    assert_eq!(read(clean), Artifact::Sarif { results: 0 });
    for (part, other) in [
        ("\"2.1.0\"", "\"2.0.0\""),
        ("\"2.1.0\"", "2.1"),
        ("\"scan\"", "\" \""),
        ("\"driver\"", "\"chauffeur\""),
        ("\"results\":[]", "\"results\":null"),
        ("\"results\":[]", "\"results\":[\"found `$ command` 1\"]"),
        ("\"results\":[]", "\"results\":[{\"message\":\"found\"}]"),
        (",\"results\":[]", ""),
        (
            r#"[{"tool":{"driver":{"name":"scan"}},"results":[]}]"#,
            "[]",
        ),
        (
            r#"[{"tool":{"driver":{"name":"scan"}},"results":[]}]"#,
            "{}",
        ),
    ] {
        let text = clean.replace(part, other);
        assert_ne!(text, clean, "{part}");
        assert_eq!(read(&text), Artifact::Text, "{text}");
    }
    let wire = serde_json::to_string(&read(SARIF)).unwrap();
    assert_eq!(wire, r#"{"sarif":{"results":3}}"#);
}

#[test]
fn the_first_visit_is_the_first() {
    assert_eq!(VisitKind::of(Visit::FIRST), VisitKind::First);
    assert_eq!(VisitKind::of(Visit::FIRST.next()), VisitKind::Later);
}

#[test]
fn evidence_is_read_with_what_is_left_out_as_unmeasured() {
    let read: Evidence = serde_json::from_str(
        r#"{"tree":{"found":"changed"},"artifact":"unmeasured","protected":{"found":[]}}"#,
    )
    .unwrap();
    assert_eq!(read, seen(Found(TreeChange::Changed), Unmeasured));
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Evidence>(&json).unwrap(), read);
    assert!(serde_json::from_str::<Evidence>(r#"{"trees":"unmeasured"}"#).is_err());
}

fn any_status() -> impl Strategy<Value = Status> {
    prop_oneof![
        4 => Just(Status::Success),
        1 => prop::sample::select(FailCause::ALL).prop_map(failed),
        1 => Just(Status::Unknown),
        1 => Just(Status::RateLimited { until: None }),
        1 => Just(Status::Ambiguous),
        1 => prop::sample::select(Interruption::ALL).prop_map(|by| Status::Interrupted { by }),
        1 => Just(Status::ResourceKilled),
        1 => prop::sample::select(UnavailableCause::ALL)
            .prop_map(|cause| Status::AgentUnavailable { cause }),
        1 => Just(Status::IdleTimeout),
        1 => prop::sample::select(Account::ALL.as_slice())
            .prop_map(|account| Status::OverBudget { account }),
        1 => Just(Status::Asked { question: Text::clip("?") }),
        1 => Just(Status::Cancelled),
    ]
}

fn any_evidence() -> impl Strategy<Value = Evidence> {
    let pick = prop::sample::select::<Measurement<TreeChange>>;
    (
        pick(TREES.to_vec()),
        prop::sample::select(ARTIFACTS.to_vec()),
        prop::sample::select(protections().to_vec()),
        prop::sample::select(RULINGS.to_vec()),
        prop::sample::select(HOST_WORKS.to_vec()),
    )
        .prop_map(|(tree, artifact, protected, ruling, host_work)| Evidence {
            tree,
            artifact,
            protected,
            ruling,
            host_work,
        })
}

fn any_post() -> impl Strategy<Value = Post> {
    (
        prop::sample::select(Stage::ALL.to_vec()),
        prop::sample::select(PhaseKind::ALL.to_vec()),
        prop::sample::select(VISITS.to_vec()),
        prop::sample::select(EMPTIES.to_vec()),
    )
        .prop_map(|(stage, kind, visit, empty)| Post {
            stage,
            kind,
            visit,
            empty,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn evidence_never_makes_a_success(
        post in any_post(), claimed in any_status(), evidence in any_evidence(),
    ) {
        let found = with_evidence(&post, claimed.clone(), &evidence);
        let downgraded = matches!(
            found.kind(),
            StatusKind::Success | StatusKind::Failed | StatusKind::Unknown
        );
        prop_assert!(found == claimed || (claimed == Status::Success && downgraded));
    }

    #[test]
    fn what_is_not_measured_never_helps(post in any_post(), evidence in any_evidence()) {
        let blinded = [
            Evidence { tree: Unmeasured, ..evidence.clone() },
            Evidence { artifact: Unmeasured, ..evidence.clone() },
            Evidence { protected: Unmeasured, ..evidence.clone() },
            Evidence { ruling: Unmeasured, ..evidence.clone() },
            Evidence { host_work: Unmeasured, ..evidence.clone() },
        ];
        if with_evidence(&post, Status::Success, &evidence) != Status::Success {
            for less in blinded {
                prop_assert_ne!(with_evidence(&post, Status::Success, &less), Status::Success);
            }
        }
    }

    #[test]
    fn reading_an_artifact_never_panics(
        text in ".{0,80}",
        at in any::<prop::sample::Index>(),
        put in "[{}\\[\\]\",:a-z0-9]{0,3}",
    ) {
        let _ = Artifact::read(Some(&text));
        for object in [BENCHMARK, SARIF] {
            let mut chars: Vec<char> = object.chars().collect();
            let from = at.index(chars.len());
            chars.splice(from..=from, put.chars());
            let _ = Artifact::read(Some(&chars.into_iter().collect::<String>()));
        }
    }
}
