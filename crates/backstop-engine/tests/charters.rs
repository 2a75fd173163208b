//! What a mission can be opened with.
#![expect(clippy::unwrap_used, reason = "tests end at a fault")]

use backstop_engine::plan::{Checks, Draft, Plan};
use backstop_engine::vocab::PhaseKind;
use backstop_engine::{Charter, CharterDraft, CharterFault, Check, Checked};
use backstop_testkit::{Opening, short};

fn draft() -> CharterDraft {
    Opening::default().charter().into()
}

fn fault(draft: CharterDraft) -> Option<CharterFault> {
    Charter::try_from(draft).err()
}

#[test]
fn each_check_has_a_name_of_its_own_and_a_command() {
    let check = |name: &str, command: &str| Check {
        name: short(name),
        command: short(command),
    };
    for (checks, wanted) in [
        (vec![check("a", "true"), check("b", "true")], None),
        (
            vec![check(" ", "true")],
            Some(CharterFault::BlankCheck("name")),
        ),
        (
            vec![check("a", "\t")],
            Some(CharterFault::BlankCheck("command")),
        ),
        (
            vec![check("a", "true"), check("b", "true"), check("a", "false")],
            Some(CharterFault::DuplicateCheck("a".into())),
        ),
        // The check that a phase brings along has this name.
        (
            vec![check("done_when_check", "true")],
            Some(CharterFault::DuplicateCheck("done_when_check".into())),
        ),
    ] {
        let charter = CharterDraft { checks, ..draft() };
        assert_eq!(fault(charter), wanted);
    }
}

/// A phase for each kind; those that say so bring a check along.
fn plan(phases: &[(PhaseKind, bool)]) -> Plan {
    let spec = |(kind, checks): &(PhaseKind, bool)| {
        let check = if *checks {
            r#","done_when_check":"true""#
        } else {
            ""
        };
        format!(r#"{{"kind":"{}","task":"x"{check}}}"#, kind.name())
    };
    let phases: Vec<String> = phases.iter().map(spec).collect();
    let text = format!(r#"{{"phases":[{}]}}"#, phases.join(","));
    Plan::read(&text, Checks::Configured).unwrap()
}

#[test]
fn somebody_judges_every_coding_phase_unless_that_is_waived() {
    use PhaseKind::{Coding, Research};
    let bare = |phases: &[(PhaseKind, bool)], checked| CharterDraft {
        plan: plan(phases),
        checks: Vec::new(),
        checked,
        ..draft()
    };
    let by_host = |phases: &[(PhaseKind, bool)]| fault(bare(phases, Checked::ByHost));
    assert_eq!(
        by_host(&[(Coding, false)]),
        Some(CharterFault::Unchecked(1))
    );
    assert_eq!(
        by_host(&[(Coding, true), (Research, false), (Coding, false)]),
        Some(CharterFault::Unchecked(3))
    );
    assert_eq!(by_host(&[(Coding, true)]), None);
    assert_eq!(fault(bare(&[(Coding, false)], Checked::Waived)), None);
    let judged = CharterDraft {
        roles: {
            let charter: CharterDraft = Opening::default().reviewer().charter().into();
            charter.roles
        },
        ..bare(&[(Coding, false)], Checked::ByHost)
    };
    assert_eq!(fault(judged), None);
    let checked = CharterDraft {
        plan: Draft::single(Coding, "x")
            .with_checks(Checks::Configured)
            .try_into()
            .unwrap(),
        ..draft()
    };
    assert_eq!(fault(checked), None);
}
