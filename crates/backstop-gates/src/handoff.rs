//! Handoffs: artifacts from one role to the next, within one lane, delivered to one visit.
//! The content of a large one is the caller's to store; only its head and its digest are here.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use backstop_vocab::{
    Digest, GateId, HandoffId, LaneId, RoleName, Stage, Text, Timestamp, Visit, is_blank,
};
use serde::{Deserialize, Serialize};

use crate::artifact::ArtifactKind;

/// The largest payload that is carried inline, in bytes.
const INLINE: usize = 64 * 1024;
/// The head of a larger one, in bytes.
const HEAD: usize = 4 * 1024;

/// How many handoffs a role is given unless asked otherwise.
pub const DELIVERY_LIMIT: usize = 4;

/// What is handed on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Payload {
    /// All of it: at most 64 KiB.
    Inline(Text<INLINE>),
    /// A larger one, which the caller stores under its digest.
    Blob {
        /// SHA-256 of the whole text.
        digest: Digest,
        /// Its first 4 KiB, from the first character that can be seen.
        head: Text<HEAD>,
    },
}

impl Payload {
    /// `text` inline where it fits, else as a blob that the caller must store under the digest.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let inline = text
            .parse()
            .ok()
            .or_else(|| is_blank(text).then(Text::default));
        match inline {
            Some(text) => Self::Inline(text),
            None => Self::Blob {
                digest: Digest::of(text.as_bytes()),
                head: Text::clip(
                    text.trim_start_matches(|c: char| is_blank(c.encode_utf8(&mut [0; 4]))),
                ),
            },
        }
    }

    /// Whether a reader would see nothing.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Inline(text) => text.is_blank(),
            Self::Blob { head, .. } => head.is_blank(),
        }
    }
}

/// A handoff before it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandoffDraft {
    /// Its name, unique in the lane.
    pub id: HandoffId,
    /// The lane it belongs to.
    pub lane: LaneId,
    /// Who made it.
    pub from: RoleName,
    /// Who is given it.
    pub to: RoleName,
    /// What it is.
    pub kind: ArtifactKind,
    /// The content.
    pub payload: Payload,
    /// The digest of the artifact.
    pub digest: Digest,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An artifact on its way from one role to another. Not blank.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "HandoffDraft")]
pub struct Handoff {
    id: HandoffId,
    lane: LaneId,
    from: RoleName,
    to: RoleName,
    kind: ArtifactKind,
    // INVARIANT: not blank.
    payload: Payload,
    digest: Digest,
    created_at: Timestamp,
}

impl Handoff {
    /// Its name.
    #[must_use]
    pub const fn id(&self) -> &HandoffId {
        &self.id
    }

    /// The lane it belongs to.
    #[must_use]
    pub const fn lane(&self) -> &LaneId {
        &self.lane
    }

    /// Who made it.
    #[must_use]
    pub const fn from(&self) -> &RoleName {
        &self.from
    }

    /// Who is given it.
    #[must_use]
    pub const fn to(&self) -> &RoleName {
        &self.to
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> &ArtifactKind {
        &self.kind
    }

    /// The content.
    #[must_use]
    pub const fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The digest of the artifact.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// When it was made.
    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }
}

impl TryFrom<HandoffDraft> for Handoff {
    type Error = HandoffRefusal;
    fn try_from(draft: HandoffDraft) -> Result<Self, HandoffRefusal> {
        if draft.payload.is_blank() {
            return Err(HandoffRefusal::Blank { id: draft.id });
        }
        Ok(Self {
            id: draft.id,
            lane: draft.lane,
            from: draft.from,
            to: draft.to,
            kind: draft.kind,
            payload: draft.payload,
            digest: draft.digest,
            created_at: draft.created_at,
        })
    }
}

/// The visit in which a handoff was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The stage.
    pub stage: Stage,
    /// The visit of that stage.
    pub visit: Visit,
}

/// A handoff that does not fit the register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandoffRefusal {
    /// Nothing is in it.
    #[error("handoff `{id}` is blank: hand on what was found, or nothing")]
    Blank {
        /// Its name.
        id: HandoffId,
    },
    /// It belongs elsewhere.
    #[error("handoff `{id}` belongs to lane `{lane}`, not to `{own}`: hand it on there")]
    WrongLane {
        /// Its name.
        id: HandoffId,
        /// Its lane.
        lane: LaneId,
        /// The lane of the register.
        own: LaneId,
    },
    /// Its name is taken.
    #[error("a handoff `{id}` is there already: give each a name of its own")]
    DuplicateId {
        /// The name.
        id: HandoffId,
    },
    /// A later visit has handed on the same kind to the same role.
    #[error(
        "handoff `{id}` is from visit {visit} and a later visit's is there: hand on the later one only"
    )]
    Late {
        /// Its name.
        id: HandoffId,
        /// The visit in which it was made.
        visit: Visit,
    },
}

impl HandoffRefusal {
    /// A stable name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blank { .. } => "blank",
            Self::WrongLane { .. } => "wrong_lane",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::Late { .. } => "late",
        }
    }
}

/// What has become of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Not delivered yet.
    Waiting,
    /// Delivered to this visit of its role, which has not ended.
    Reserved(Visit),
    /// Delivered to this visit, which ended in success. Final.
    Committed(Visit),
    /// Replaced by what a later visit handed on. Final.
    Superseded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Waiting,
    Reserved(Visit),
    Committed(Visit),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Record {
    handoff: Arc<Handoff>,
    made: Made,
    gate: Option<GateId>,
    kept: Kept,
}

type Route<'a> = (&'a RoleName, &'a RoleName, &'a ArtifactKind);

impl Record {
    fn route(&self) -> Route<'_> {
        (&self.handoff.from, &self.handoff.to, &self.handoff.kind)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRecord {
    handoff: Handoff,
    made: Made,
    #[serde(default)]
    gate: Option<GateId>,
    kept: Kept,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHandoffs {
    lane: LaneId,
    records: Vec<RawRecord>,
}

/// The handoffs of one lane, in the order in which they were made.
///
/// Each operation gives a new register; a refused one gives none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawHandoffs", into = "RawHandoffs")]
pub struct Handoffs {
    lane: LaneId,
    // INVARIANT: all of this lane, no id twice; of one route none from a visit before an earlier record's.
    records: Vec<Record>,
}

impl Handoffs {
    /// A register without handoffs.
    #[must_use]
    pub const fn new(lane: LaneId) -> Self {
        Self {
            lane,
            records: Vec::new(),
        }
    }

    /// The lane.
    #[must_use]
    pub const fn lane(&self) -> &LaneId {
        &self.lane
    }

    /// Adds a handoff that no gate stands before, such as findings for a repair or an operator's note.
    ///
    /// # Errors
    /// For another lane, a name that is taken, or a visit that a later one has replaced.
    pub fn add(&self, handoff: Handoff, made: Made) -> Result<Self, HandoffRefusal> {
        self.with(handoff, made, None)
    }

    /// Adds a handoff that is deliverable while `gate` is open.
    ///
    /// # Errors
    /// As for [`Handoffs::add`].
    pub fn promote(
        &self,
        handoff: Handoff,
        made: Made,
        gate: GateId,
    ) -> Result<Self, HandoffRefusal> {
        self.with(handoff, made, Some(gate))
    }

    fn with(
        &self,
        handoff: Handoff,
        made: Made,
        gate: Option<GateId>,
    ) -> Result<Self, HandoffRefusal> {
        let id = handoff.id.clone();
        if handoff.lane != self.lane {
            let (lane, own) = (handoff.lane, self.lane.clone());
            return Err(HandoffRefusal::WrongLane { id, lane, own });
        }
        if self.records.iter().any(|record| record.handoff.id == id) {
            return Err(HandoffRefusal::DuplicateId { id });
        }
        let record = Record {
            handoff: Arc::new(handoff),
            made,
            gate,
            kept: Kept::Waiting,
        };
        let later =
            |other: &Record| other.made.stage == made.stage && other.made.visit > made.visit;
        let mut same_route = self
            .records
            .iter()
            .filter(|other| other.route() == record.route());
        if same_route.any(later) {
            let visit = made.visit;
            return Err(HandoffRefusal::Late { id, visit });
        }
        let mut next = self.clone();
        next.records.push(record);
        Ok(next)
    }

    /// What `role` is given in `visit`, newest first: what the visit was given before, and new ones up to `limit` in all.
    /// Those behind a gate only while it is among `open`. A visit that was neither committed nor released is over
    /// when the role's next one reserves, and what it held waits again.
    #[must_use]
    pub fn reserve(
        &self,
        role: &RoleName,
        visit: Visit,
        limit: usize,
        open: &BTreeSet<GateId>,
    ) -> (Self, Vec<Arc<Handoff>>) {
        let mut next = self.settled(role, |held| {
            if held == visit {
                Kept::Reserved(held)
            } else {
                Kept::Waiting
            }
        });
        let superseded = next.superseded();
        let own =
            |record: &Record| record.handoff.to == *role && record.kept == Kept::Reserved(visit);
        let deliverable =
            |record: &Record| record.gate.as_ref().is_none_or(|gate| open.contains(gate));
        let mut room =
            limit.saturating_sub(next.records.iter().filter(|record| own(record)).count());
        let mut items = Vec::new();
        for (record, superseded) in next.records.iter_mut().zip(superseded).rev() {
            let fresh = record.handoff.to == *role && record.kept == Kept::Waiting && !superseded;
            if fresh && room > 0 && deliverable(record) {
                record.kept = Kept::Reserved(visit);
                room = room.saturating_sub(1);
            }
            if own(record) && deliverable(record) {
                items.push(Arc::clone(&record.handoff));
            }
        }
        (next, items)
    }

    /// The visit ended in success: what it was given is never delivered again.
    #[must_use]
    pub fn commit(&self, role: &RoleName, visit: Visit) -> Self {
        self.settled(role, |held| {
            if held == visit {
                Kept::Committed(held)
            } else {
                Kept::Reserved(held)
            }
        })
    }

    /// The visit ended otherwise: what it was given waits again.
    #[must_use]
    pub fn release(&self, role: &RoleName, visit: Visit) -> Self {
        self.settled(role, |held| {
            if held == visit {
                Kept::Waiting
            } else {
                Kept::Reserved(held)
            }
        })
    }

    /// Every handoff, oldest first, with what has become of it.
    pub fn all(&self) -> impl Iterator<Item = (&Handoff, Fate)> {
        let records = self.records.iter().zip(self.superseded());
        records.map(|(record, superseded)| {
            let fate = match record.kept {
                Kept::Waiting if superseded => Fate::Superseded,
                Kept::Waiting => Fate::Waiting,
                Kept::Reserved(visit) => Fate::Reserved(visit),
                Kept::Committed(visit) => Fate::Committed(visit),
            };
            (&*record.handoff, fate)
        })
    }

    fn settled(&self, role: &RoleName, change: impl Fn(Visit) -> Kept) -> Self {
        let mut next = self.clone();
        for record in next
            .records
            .iter_mut()
            .filter(|record| record.handoff.to == *role)
        {
            if let Kept::Reserved(visit) = record.kept {
                record.kept = change(visit);
            }
        }
        next
    }

    /// For each record, whether a later visit has handed on the same kind along the same route.
    fn superseded(&self) -> Vec<bool> {
        let mut newest: BTreeMap<Route<'_>, Made> = BTreeMap::new();
        for record in &self.records {
            newest.insert(record.route(), record.made);
        }
        let replaced = |record: &Record| newest.get(&record.route()) != Some(&record.made);
        self.records.iter().map(replaced).collect()
    }
}

impl TryFrom<RawHandoffs> for Handoffs {
    type Error = HandoffRefusal;
    fn try_from(raw: RawHandoffs) -> Result<Self, HandoffRefusal> {
        let mut register = Self::new(raw.lane);
        for record in raw.records {
            register = register.with(record.handoff, record.made, record.gate)?;
            if let Some(last) = register.records.last_mut() {
                last.kept = record.kept;
            }
        }
        Ok(register)
    }
}

impl From<Handoffs> for RawHandoffs {
    fn from(register: Handoffs) -> Self {
        let raw = |record: Record| RawRecord {
            handoff: Arc::unwrap_or_clone(record.handoff),
            made: record.made,
            gate: record.gate,
            kept: record.kept,
        };
        Self {
            lane: register.lane,
            records: register.records.into_iter().map(raw).collect(),
        }
    }
}
