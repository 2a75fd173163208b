//! What a board says of a gate that holds, and whom it names.

use backstop_gates::{Asked, GateDraft, GateKind, Hold, OnFail, StateKind, Trigger};

use crate::common::{board, gate, now, operator, rejection, role, tree};

#[test]
fn a_hold_says_why_in_words() {
    let hold = |reason: &str| Hold::Failed(reason.parse().unwrap()).to_string();
    assert_eq!(hold("it leaks"), "it leaks");
    assert_eq!(hold(" "), "no reason was given");
    let (judged, one, two) = (tree(1), tree(1), tree(2));
    let words = |now| Hold::OtherDigest { judged, now }.to_string();
    assert_eq!(
        words(Some(two)),
        format!("`{one}` was judged and `{two}` is there now")
    );
    assert_eq!(
        words(None),
        format!("`{one}` was judged and what is there now was not measured")
    );
    assert_eq!(
        Hold::OtherSpecs.to_string(),
        "the board was made for other gate specs"
    );
}

#[test]
fn a_retry_waits_for_the_role_only_where_the_role_completes() {
    let asked = |on, kind: GateKind| {
        let blocks_role = Some("reviewer".into());
        let draft = gate("g", kind, OnFail::Retry);
        let draft = match on {
            Trigger::RoleStart => GateDraft {
                on,
                blocks_role,
                ..draft
            },
            Trigger::RoleComplete => draft,
        };
        let new = board(&[draft]);
        let rejected = new.reject(&operator(), &rejection("g", "not yet"), &now(1));
        let line = rejected.unwrap().status(&now(1)).remove(0);
        assert_eq!(line.state, StateKind::Retrying);
        line.asked.unwrap()
    };
    let reviewer = Asked::Role(role("reviewer"));
    for kind in GateKind::ALL {
        assert_eq!(asked(Trigger::RoleComplete, *kind), reviewer, "{kind}");
    }
    assert_eq!(asked(Trigger::RoleStart, GateKind::Verify), Asked::Host);
    assert_eq!(asked(Trigger::RoleStart, GateKind::Review), reviewer);
    assert_eq!(
        asked(Trigger::RoleStart, GateKind::Approve),
        Asked::Operator
    );
}
