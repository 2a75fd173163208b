//! The wire: steps, findings, lines, and what cannot be read back.

use backstop_review::*;
use backstop_vocab::Operator;
use serde::de::DeserializeOwned;

use crate::samples::*;

const STEPS: [&str; 7] = [
    r#"{"begin":{"at":0}}"#,
    r#"{"record":{"iteration":1,"digest":"git-tree:0000000000000000000000000000000000000000",
        "spend":{"tool_calls":10},"implementer":{"agent":{"role":"implementer","provider":"p","model":"m",
        "requested_reasoning":"max","effective_reasoning":{"known":"high"},
        "routed_by":{"router":{"provider":"p","model":"m"}},"session":"i"}},
        "reviewer":{"role":"reviewer","provider":"p","model":"m","requested_reasoning":"max",
        "effective_reasoning":{"known":"high"},"routed_by":{"router":{"provider":"p","model":"m"}},"session":"r"},
        "verifier":{"host":{"command":"cargo test","exit_status":0,
        "log":"sha256:1ac35db0e9f6ab8ad08ee57a7b0d6a0a5a5d2b0ff2ecbd2da3b7aafbbe7c7d1e"}},
        "verdict":"clean","findings":[],"at":60000}}"#,
    r#"{"abandon":{"at":10000}}"#,
    r#"{"record_repair":{"from":"git-tree:0000000000000000000000000000000000000000",
        "to":"git-tree:0101010101010101010101010101010101010101",
        "implementer":{"role":"implementer","provider":"p","model":"m","requested_reasoning":"max",
        "effective_reasoning":{"known":"high"},"routed_by":{"router":{"provider":"p","model":"m"}},"session":"i"},
        "paths":["src/lib.rs"]}}"#,
    r#"{"record_red":{"findings":["red"]}}"#,
    r#"{"observe":{"digest":"git-tree:0000000000000000000000000000000000000000","at":10000}}"#,
    r#"{"ratify":{"decision":"approve","digest":"git-tree:0000000000000000000000000000000000000000",
        "by":{"name":"ada","channel":"cli"},"at":100000}}"#,
];

#[test]
fn each_step_has_its_form_on_the_wire() {
    for (text, mut step) in STEPS.into_iter().zip(every_step()) {
        if let Step::Record(review) = &mut step {
            let log = "sha256:1ac35db0e9f6ab8ad08ee57a7b0d6a0a5a5d2b0ff2ecbd2da3b7aafbbe7c7d1e";
            review.verifier = Some(Verifier::Host(HostEvidence {
                command: "cargo test".parse().unwrap(),
                exit_status: 0,
                log: log.parse().unwrap(),
            }));
        }
        assert_eq!(serde_json::from_str::<Step>(text).unwrap(), step);
    }
}

#[test]
fn unknown_keys_in_a_step_are_refused() {
    for bad in [
        r#"{"begin":{"at":0,"by":"me"}}"#,
        r#"{"begin":{}}"#,
        r#"{"start":{"at":0}}"#,
        r#"{"abandon":{"at":0,"spend":{"tools":1}}}"#,
        r#"{"record_red":{"findings":["red"],"iteration":1}}"#,
    ] {
        assert!(serde_json::from_str::<Step>(bad).is_err(), "{bad}");
    }
    let short = r#"{"role":"reviewer","modle":"m"}"#;
    assert!(serde_json::from_str::<RouteReceipt>(short).is_err());
}

#[test]
fn a_person_and_a_recorded_implementer_are_one_word_each() {
    let author = |text| serde_json::from_str::<Author>(text).unwrap();
    assert_eq!(author(r#""person""#), Author::Person);
    assert_eq!(author(r#""recorded""#), Author::Recorded);
    let routed = |text| serde_json::from_str::<RoutedBy>(text).unwrap();
    assert_eq!(routed(r#""fleet_member""#), RoutedBy::FleetMember);
    assert_eq!(routed(r#""session_default""#), RoutedBy::SessionDefault);
    assert_eq!(routed(r#""unreported""#), RoutedBy::Unreported);
    assert_eq!(RoutedBy::Unreported.to_string(), "unreported");
    let used = serde_json::from_str::<EffectiveReasoning>(r#""unreported""#).unwrap();
    assert_eq!(used, EffectiveReasoning::Unreported);
}

#[test]
fn the_budget_reads_as_one_line() {
    let all = Review {
        spend: Spend { tool_calls: 21 },
        ..failing()
    };
    let first = reviewing(Bounds::default()).record(all).unwrap();
    let second = first
        .take(Step::RecordRepair(repair(0, 1)), Operator::attest)
        .unwrap();
    let open = second
        .take(Step::Begin { at: at(100) }, Operator::attest)
        .unwrap();
    let review = Review {
        iteration: 2,
        digest: tree(1),
        at: at(280),
        ..clean()
    };
    let end = open
        .take(Step::Record(Box::new(review)), Operator::attest)
        .unwrap();
    assert_eq!(
        end.receipt().budget_line(),
        "iterations 2/3, tools 31/120, elapsed 240s/900s"
    );
}

#[test]
fn each_route_reads_as_one_line_once() {
    let mut review = failing();
    review.implementer = Author::Person;
    let mut verifier = receipt("verifier", "v");
    verifier.routed_by = Some(RoutedBy::FleetMember);
    verifier.effective_reasoning = Some(EffectiveReasoning::Unreported);
    review.verifier = Some(Verifier::Agent(verifier));
    let reviewed = reviewing(Bounds::default()).record(review).unwrap();
    let mut mended = repair(0, 1);
    mended.implementer.routed_by = Some(RoutedBy::SessionDefault);
    let state = reviewed
        .take(Step::RecordRepair(mended), Operator::attest)
        .unwrap();
    let open = state
        .take(Step::Begin { at: at(100) }, Operator::attest)
        .unwrap();
    let review = Review {
        iteration: 2,
        digest: tree(1),
        implementer: Author::Recorded,
        ..clean()
    };
    let end = open
        .take(Step::Record(Box::new(review)), Operator::attest)
        .unwrap();
    assert_eq!(
        end.receipt().route_lines(),
        [
            "reviewer: p/m reasoning max→high (routed by router p/m)",
            "verifier: p/m reasoning max→unreported (routed by fleet member)",
            "implementer: p/m reasoning max→high (routed by session default)",
        ]
    );
}

#[test]
fn findings_are_at_most_fifty_of_three_hundred_characters() {
    let long = "ä".repeat(301);
    assert_eq!(
        long.parse::<Finding>(),
        Err(FindingError::TooLong { length: 301 })
    );
    assert!("ä".repeat(300).parse::<Finding>().is_ok());
    assert!("😀".repeat(300).parse::<Finding>().is_ok());
    assert_eq!(Finding::clip(&long).unwrap().as_str(), "ä".repeat(300));
    assert_eq!(Finding::clip(" \n x\n").unwrap().as_str(), "x");
    for blank in ["", " \n", "\u{1b}", "\u{200b}"] {
        assert_eq!(blank.parse::<Finding>(), Err(FindingError::Blank));
        assert_eq!(Finding::clip(blank), None);
    }
    assert_eq!("a\u{1b}[0mb".parse::<Finding>().unwrap().as_str(), "a[0mb");
    let many = |n| vec!["x".parse::<Finding>().unwrap(); n];
    assert!(Findings::try_from(many(50)).is_ok());
    let words = Findings::try_from(many(51)).unwrap_err().to_string();
    assert_eq!(words, "the list has 51 entries: use at most 50");
    assert_eq!(Findings::clip(many(51)).as_slice().len(), 50);
    let json = serde_json::to_string(&many(51)).unwrap();
    assert!(serde_json::from_str::<Findings>(&json).is_err());
    assert!(serde_json::from_str::<Findings>(r#"[""]"#).is_err());
}

#[test]
fn a_stop_reads_as_a_sentence_and_has_a_code() {
    let ceilings = |passed: &[Ceiling], verdict| StopReason::Ceilings {
        passed: passed.to_vec(),
        verdict,
    };
    let two = [Ceiling::WallClockSecs, Ceiling::ToolCalls];
    let stalled = |last| StopReason::Stalled { last, in_a_row: 2 };
    let (pin, found) = (tree(0), tree(1));
    let (by, note) = (signature(), "not yet".parse().unwrap());
    let stale = format!("`{found}` is not the pinned `{pin}` and no repair explains it");
    let cases = [
        (
            ceilings(&[Ceiling::Iterations], Some(Verdict::RepairsNeeded)),
            "ceilings",
            "used up: iterations; repairs are needed",
        ),
        (
            ceilings(&two, Some(Verdict::Clean)),
            "ceilings",
            "used up: wall_clock_secs, tool_calls; the verdict was clean",
        ),
        (
            ceilings(&[Ceiling::RedChecks], None),
            "ceilings",
            "used up: red_checks",
        ),
        (StopReason::StaleInput { pin, found }, "stale_input", &stale),
        (
            stalled(Stall::NoProgress),
            "stalled",
            "the repair changed nothing; stalled in a row: 2",
        ),
        (
            stalled(Stall::Oscillation),
            "stalled",
            "the repair went back to an earlier digest; stalled in a row: 2",
        ),
        (
            StopReason::Declined { by, note },
            "declined",
            "declined by `ada`: not yet",
        ),
    ];
    for (reason, code, words) in cases {
        check_stop(&reason, code, words);
    }
}

#[test]
fn an_inconclusive_stop_says_what_is_wrong_with_the_review() {
    let (one, other) = (Party::Implementer, Party::Reviewer);
    let missing = Vec::new();
    let cases = [
        (
            Inconclusive::Incomplete { missing },
            "its receipts stayed incomplete",
        ),
        (Inconclusive::NoVerifier, "it has no evidence of a verifier"),
        (
            Inconclusive::SharedSession { one, other },
            "two of its parties were one session",
        ),
        (Inconclusive::NoVerdict, "it has no verdict"),
        (
            Inconclusive::CleanWithFindings,
            "its verdict is clean and findings are open",
        ),
        (
            Inconclusive::CleanAgainstRed,
            "its verdict is clean and the host's check is red",
        ),
        (
            Inconclusive::RepairsWithoutFindings,
            "it wants repairs and names none",
        ),
    ];
    for (why, words) in cases {
        let words = format!("the review is inconclusive: {words}");
        check_stop(&StopReason::Inconclusive(why), "inconclusive", &words);
    }
}

fn check_stop(reason: &StopReason, code: &str, words: &str) {
    assert_eq!(reason.to_string(), words);
    assert_eq!(reason.code(), code);
    let text = serde_json::to_string(reason).unwrap();
    assert!(text.starts_with(&format!("{{\"{code}\":")), "{text}");
    assert_eq!(&serde_json::from_str::<StopReason>(&text).unwrap(), reason);
}

#[test]
fn a_refusal_says_what_to_do_and_has_a_code() {
    let (given, pin) = (tree(1), tree(0));
    let not_the_pin =
        format!("the answer is for `{given}`: look at what is parked, `{pin}`, and answer for it");
    let (submitted, open) = (2, 1);
    let cases = [
        (
            Refused::Iteration { submitted, open },
            "iteration",
            "the review answers iteration `2`: answer the open one, 1",
        ),
        (
            Refused::NoFindings,
            "no_findings",
            "the red check has no findings: say what is red",
        ),
        (
            Refused::NotThePin { given, pin },
            "not_the_pin",
            &not_the_pin,
        ),
        (
            Refused::NoNote,
            "no_note",
            "the decline has no note: say why",
        ),
    ];
    for (why, code, words) in cases {
        assert_eq!(why.to_string(), words);
        assert_eq!(why.code(), code);
    }
}

#[test]
fn the_names_printed_are_the_names_on_the_wire() {
    for state in StateKind::ALL {
        assert_eq!(
            serde_json::to_string(state).unwrap(),
            format!("\"{state}\"")
        );
    }
    for step in StepKind::ALL {
        assert_eq!(serde_json::to_string(step).unwrap(), format!("\"{step}\""));
    }
    for ceiling in [
        Ceiling::Iterations,
        Ceiling::WallClockSecs,
        Ceiling::ToolCalls,
        Ceiling::RedChecks,
    ] {
        let name = ceiling.name();
        assert_eq!(
            serde_json::to_string(&ceiling).unwrap(),
            format!("\"{name}\"")
        );
    }
    for party in [Party::Implementer, Party::Reviewer, Party::Verifier] {
        let name = party.name();
        assert_eq!(
            serde_json::to_string(&party).unwrap(),
            format!("\"{name}\"")
        );
    }
    for field in [
        Field::Receipt,
        Field::Role,
        Field::Provider,
        Field::Model,
        Field::RequestedReasoning,
        Field::EffectiveReasoning,
        Field::RoutedBy,
        Field::Router,
        Field::Session,
    ] {
        let name = field.name();
        assert_eq!(
            serde_json::to_string(&field).unwrap(),
            format!("\"{name}\"")
        );
    }
    for (step, kind) in every_step().iter().zip(StepKind::ALL) {
        let text = serde_json::to_string(step).unwrap();
        assert!(text.starts_with(&format!("{{\"{kind}\":")), "{text}");
    }
    for (state, kind) in every_state().iter().zip(StateKind::ALL) {
        let text = serde_json::to_string(state).unwrap();
        assert!(text.starts_with(&format!("{{\"{kind}\":")), "{text}");
    }
}

trait Deserialises<Whether> {
    fn holds() {}
}
impl<T> Deserialises<()> for T {}
struct Yes;
impl<T: DeserializeOwned> Deserialises<Yes> for T {}

#[test]
fn no_state_is_read_back_from_a_file() {
    // Ambiguous, and so no program, for a type that implements `Deserialize`.
    <Loop as Deserialises<_>>::holds();
    <Ready as Deserialises<_>>::holds();
    <Reviewing as Deserialises<_>>::holds();
    <Parked as Deserialises<_>>::holds();
    <Verified as Deserialises<_>>::holds();
    <Receipt as Deserialises<_>>::holds();
    <Route as Deserialises<_>>::holds();
}
