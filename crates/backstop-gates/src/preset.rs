//! Ready-made gates and the six roles of a lane. Nothing here is loaded unasked.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::names::{GateKind, OnFail, Trigger};
use crate::spec::{GateDraft, Role};

/// The six roles in the order in which they run, each with the artifacts it reads.
#[must_use]
pub fn standard_roles() -> Vec<Role> {
    let roles: [(&str, &[&str]); 6] = [
        ("scout", &[]),
        ("planner", &["findings"]),
        ("implementer", &["findings", "outline", "repair", "note"]),
        ("reviewer", &["findings", "outline"]),
        ("verifier", &["diff_review"]),
        ("release_lead", &["verify_report"]),
    ];
    let role = |(name, consumes): (&str, &[&str])| {
        Some(Role {
            name: name.parse().ok()?,
            consumes: consumes
                .iter()
                .filter_map(|kind| kind.parse().ok())
                .collect(),
        })
    };
    roles.into_iter().filter_map(role).collect()
}

/// The default board, both gates at Validate: the host checks run on what the implementer left, and the
/// reviewer's verdict. A lane without checks or without a reviewer leaves that gate out.
#[must_use]
pub fn default_board() -> Vec<GateDraft> {
    vec![
        GateDraft {
            blocks_role: Some("reviewer".to_owned()),
            ..gate("checks", "implementer", GateKind::Verify, OnFail::Block)
        },
        gate("review", "reviewer", GateKind::Review, OnFail::Block),
    ]
}

/// The stop-ship gates, opt-in: nothing is coded before a person has seen the findings, nothing is verified
/// before the diff is reviewed, nothing is released before the suite has passed.
#[must_use]
pub fn stopship() -> Vec<GateDraft> {
    vec![
        GateDraft {
            blocks_role: Some("implementer".to_owned()),
            artifact_kind: Some("findings".to_owned()),
            ..gate("scout-findings", "scout", GateKind::Approve, OnFail::Block)
        },
        GateDraft {
            blocks_role: Some("verifier".to_owned()),
            artifact_kind: Some("diff_review".to_owned()),
            ..gate("reviewer-diff", "reviewer", GateKind::Review, OnFail::Block)
        },
        GateDraft {
            blocks_role: Some("release_lead".to_owned()),
            artifact_kind: Some("verify_report".to_owned()),
            max_retries: Some(2),
            ..gate(
                "verifier-suite",
                "verifier",
                GateKind::Verify,
                OnFail::Retry,
            )
        },
    ]
}

fn gate(id: &str, role: &str, gate: GateKind, on_fail: OnFail) -> GateDraft {
    GateDraft {
        id: id.to_string(),
        role: role.to_string(),
        on: Trigger::RoleComplete,
        gate,
        on_fail,
        blocks_role: None,
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    }
}
