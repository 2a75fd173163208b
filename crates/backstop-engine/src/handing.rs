//! What roles and the operator hand on, and who is given it.

use alloc::string::String;

use backstop_gates::{ArtifactKind, DELIVERY_LIMIT, Handoff, HandoffDraft, Made, Payload};
use backstop_review::Findings;
use backstop_vocab::{Digest, GateId, HandoffId, Note, RoleName, Text};

use crate::turn::Turn;
use crate::{Role, held};

/// What is handed on, before it has a name.
struct Parcel {
    from: RoleName,
    to: Role,
    kind: ArtifactKind,
    payload: Payload,
    digest: Digest,
    gate: Option<GateId>,
}

/// Hands a role's artifact to the roles that read it, behind the gate that stands before it where one does.
pub(crate) fn artifact(turn: &mut Turn, from: Role, digest: Digest, head: &Text<4096>) {
    let kind = from.artifact();
    let specs = turn.m.lane.board.specs().clone();
    let mut gates = specs
        .gates()
        .iter()
        .filter(|spec| *spec.role() == from.id());
    let gate = gates.find(|spec| spec.artifact_kind() == Some(&kind));
    for to in from.readers() {
        let parcel = Parcel {
            from: from.id(),
            to,
            kind: kind.clone(),
            payload: Payload::Blob {
                digest,
                head: head.clone(),
            },
            digest,
            gate: gate.map(|spec| spec.id().clone()),
        };
        add(turn, parcel);
    }
}

/// Hands what is to be repaired to the implementer.
pub(crate) fn repairs(turn: &mut Turn, from: Role, findings: &Findings) {
    let mut text = String::new();
    for finding in findings.as_slice() {
        text.push_str("- ");
        text.push_str(finding.as_str());
        text.push('\n');
    }
    words(turn, from.id(), Role::Implementer, "repair", &text);
}

/// Hands an operator's note to a role.
pub(crate) fn note(turn: &mut Turn, to: Role, note: &Note) {
    let operator = RoleName::clip("operator");
    words(turn, operator, to, "note", note.as_str());
}

fn words(turn: &mut Turn, from: RoleName, to: Role, kind: &str, text: &str) {
    let parcel = Parcel {
        from,
        to,
        kind: ArtifactKind::clip(kind),
        payload: Payload::of(text),
        digest: Digest::of(text.as_bytes()),
        gate: None,
    };
    add(turn, parcel);
}

/// Keeps it for its reader. A role that is off reads nothing, and nothing is made of a blank text.
fn add(turn: &mut Turn, parcel: Parcel) {
    if turn.m.charter.fields().roles.of(parcel.to).is_none() {
        return;
    }
    let lane = &mut turn.m.lane;
    let made = Made {
        stage: lane.stage,
        visit: lane.visit(),
    };
    let draft = HandoffDraft {
        id: HandoffId::numbered(lane.handoffs.all().count().saturating_add(1)),
        lane: lane.handoffs.lane().clone(),
        from: parcel.from,
        to: parcel.to.id(),
        kind: parcel.kind,
        payload: parcel.payload,
        digest: parcel.digest,
        created_at: turn.m.now,
    };
    let register = &lane.handoffs;
    let kept = Handoff::try_from(draft).and_then(|handoff| match parcel.gate {
        Some(gate) => register.promote(handoff, made, gate),
        None => register.add(handoff, made),
    });
    if let Ok(register) = kept {
        lane.handoffs = register;
    }
}

/// Gives the role what is there for it in this visit.
pub(crate) fn reserve(turn: &mut Turn, role: Role) -> alloc::vec::Vec<Handoff> {
    let lane = &mut turn.m.lane;
    let open = lane.board.open_gates(&held::at_entry(lane));
    let (register, given) = lane
        .handoffs
        .reserve(&role.id(), lane.visit(), DELIVERY_LIMIT, &open);
    lane.handoffs = register;
    given
        .iter()
        .map(|handoff| Handoff::clone(handoff))
        .collect()
}

/// The role's visit ended in success: what it was given is done with.
pub(crate) fn commit(turn: &mut Turn, role: Role) {
    let lane = &mut turn.m.lane;
    lane.handoffs = lane.handoffs.commit(&role.id(), lane.visit());
}

/// The role's visit ended otherwise: what it was given waits again.
pub(crate) fn release(turn: &mut Turn, role: Role) {
    let lane = &mut turn.m.lane;
    lane.handoffs = lane.handoffs.release(&role.id(), lane.visit());
}
