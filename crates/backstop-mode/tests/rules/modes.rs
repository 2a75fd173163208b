//! What is read as a mode.

use backstop_mode::Mode;
use proptest::prelude::*;

#[test]
fn case_and_blanks_do_not_matter_and_supervised_is_supervise() {
    let cases = [
        ("auto", Mode::Auto),
        (" AUTO\n", Mode::Auto),
        ("supervise", Mode::Supervise),
        ("Supervise", Mode::Supervise),
        ("\tSUPERVISED ", Mode::Supervise),
    ];
    for (text, mode) in cases {
        assert_eq!(text.parse(), Ok(mode), "{text:?}");
    }
}

#[test]
fn a_bad_mode_shows_the_input_and_the_accepted_names() {
    let words = "yolo".parse::<Mode>().unwrap_err().to_string();
    assert_eq!(words, "`yolo` is not a mode: use one of auto, supervise");
    for bad in ["", " ", "automatic", "supervise d", "аuto"] {
        assert!(bad.parse::<Mode>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_mode_is_written_by_its_name() {
    assert_eq!(serde_json::to_string(&Mode::Auto).unwrap(), r#""auto""#);
    assert_eq!(
        serde_json::to_string(&Mode::Supervise).unwrap(),
        r#""supervise""#
    );
    assert_eq!(Mode::Supervise.to_string(), "supervise");
}

#[test]
fn a_running_mission_goes_from_auto_to_supervise_and_never_back() {
    for from in Mode::ALL {
        for to in Mode::ALL {
            let wanted = from == Mode::Auto && to == Mode::Supervise;
            assert_eq!(from.may_become(to), wanted, "{from} to {to}");
        }
    }
}

fn near_a_mode() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        "auto",
        "supervise",
        "supervised",
        "AutO",
        "Supervised",
        ".{0,12}"
    ];
    ("[ \t\n]{0,2}", name, "[ \t\n]{0,2}").prop_map(|(before, name, after)| before + &name + &after)
}

proptest! {
    #[test]
    fn serde_reads_exactly_what_parsing_reads(text in near_a_mode()) {
        let quoted = serde_json::to_string(&text).unwrap();
        let read = serde_json::from_str::<Mode>(&quoted).ok();
        prop_assert_eq!(read, text.parse::<Mode>().ok());
    }
}
