//! Gate specs: the draft that a person writes and the checked set that a board is made for.
//! No state here; what has been judged is the board's.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;

use backstop_vocab::{Digest, GateId, RoleName};
use serde::{Deserialize, Serialize};

use crate::artifact::{ArtifactKind, Judged};
use crate::check;
use crate::fault::SpecFaults;
use crate::names::{GateKind, OnFail, Trigger};

/// The most retries a gate may ask for.
pub const MAX_RETRIES: u32 = 10;
pub(crate) const DEFAULT_RETRIES: u32 = 1;
const _: () = assert!(DEFAULT_RETRIES >= 1 && DEFAULT_RETRIES <= MAX_RETRIES);

/// A gate as it is written in a configuration. Nothing is checked yet but the keys and the closed lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateDraft {
    /// The gate's name, unique on its board.
    pub id: String,
    /// The role whose start or completion makes it due.
    pub role: String,
    /// When it is due.
    pub on: Trigger,
    /// What opens it.
    pub gate: GateKind,
    /// What a failure does.
    pub on_fail: OnFail,
    /// The role it holds; with `role_start` always its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_role: Option<String>,
    /// Retries before it is escalated: 1 to 10, 1 when absent; only with `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// The artifact its pass hands on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_kind: Option<String>,
    /// Whether a review without a verdict is asked again (true) or fails the gate (false). It never passes.
    #[serde(default = "explicit")]
    pub require_explicit_verdict: bool,
}

const fn explicit() -> bool {
    true
}

/// A role that gates may name, and the artifacts it reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Its name.
    pub name: RoleName,
    /// The kinds of artifact it is given.
    #[serde(default)]
    pub consumes: BTreeSet<ArtifactKind>,
}

/// A checked gate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
// INVARIANT: made by `Specs::load` only, so every rule of it holds.
pub struct GateSpec {
    pub(crate) id: GateId,
    pub(crate) role: RoleName,
    pub(crate) on: Trigger,
    pub(crate) kind: GateKind,
    pub(crate) on_fail: OnFail,
    pub(crate) blocks_role: Option<RoleName>,
    pub(crate) max_retries: u32,
    pub(crate) artifact_kind: Option<ArtifactKind>,
    pub(crate) require_explicit_verdict: bool,
}

impl GateSpec {
    /// The gate's name.
    #[must_use]
    pub const fn id(&self) -> &GateId {
        &self.id
    }

    /// The role whose start or completion makes it due.
    #[must_use]
    pub const fn role(&self) -> &RoleName {
        &self.role
    }

    /// When it is due.
    #[must_use]
    pub const fn on(&self) -> Trigger {
        self.on
    }

    /// What opens it.
    #[must_use]
    pub const fn kind(&self) -> GateKind {
        self.kind
    }

    /// What a failure does.
    #[must_use]
    pub const fn on_fail(&self) -> OnFail {
        self.on_fail
    }

    /// The role it holds; none for a gate that only counts at the end of the lane.
    #[must_use]
    pub const fn blocks_role(&self) -> Option<&RoleName> {
        self.blocks_role.as_ref()
    }

    /// Retries before it is escalated; 0 unless it retries.
    #[must_use]
    pub const fn max_retries(&self) -> u32 {
        self.max_retries
    }

    /// The artifact its pass hands on.
    #[must_use]
    pub const fn artifact_kind(&self) -> Option<&ArtifactKind> {
        self.artifact_kind.as_ref()
    }

    /// Whether a review without a verdict is asked again instead of failing the gate.
    #[must_use]
    pub const fn requires_explicit_verdict(&self) -> bool {
        self.require_explicit_verdict
    }

    /// The digest that this gate judges: an approval with an artifact kind judges that artifact, every other gate
    /// the tree. (A reviewer's artifact is what it wrote; what it judged is the tree.)
    #[must_use]
    pub fn subject(&self, judged: &Judged) -> Option<Digest> {
        match (self.kind, &self.artifact_kind) {
            (GateKind::Approve, Some(kind)) => judged.artifacts.get(kind).copied(),
            (GateKind::Approve, None) | (GateKind::Verify | GateKind::Review, _) => judged.tree,
        }
    }
}

impl From<&GateSpec> for GateDraft {
    fn from(spec: &GateSpec) -> Self {
        Self {
            id: spec.id.to_string(),
            role: spec.role.to_string(),
            on: spec.on,
            gate: spec.kind,
            on_fail: spec.on_fail,
            blocks_role: spec.blocks_role.as_ref().map(ToString::to_string),
            max_retries: (spec.on_fail == OnFail::Retry).then_some(spec.max_retries),
            artifact_kind: spec.artifact_kind.as_ref().map(ToString::to_string),
            require_explicit_verdict: spec.require_explicit_verdict,
        }
    }
}

/// Gates and roles as they are written, before any check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecsDraft {
    /// The gates.
    pub gates: Vec<GateDraft>,
    /// The roles they may name, in the order in which the roles run.
    pub roles: Vec<Role>,
}

/// A checked set of gates and the roles it was checked against. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "SpecsDraft", into = "SpecsDraft")]
pub struct Specs(Arc<Checked>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    // INVARIANT: sorted by id, no id twice.
    gates: Vec<GateSpec>,
    roles: Vec<Role>,
    // INVARIANT: the digest of `gates`.
    digest: Digest,
}

impl Specs {
    /// Checks `drafts` against `roles`, which are in the order in which they run.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
    pub fn load(drafts: &[GateDraft], roles: &[Role]) -> Result<Self, SpecFaults> {
        let mut gates = check::read_all(drafts, roles)?;
        gates.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Self(Arc::new(Checked {
            digest: digest_of(&gates),
            gates,
            roles: roles.to_vec(),
        })))
    }

    /// No gates at all: nothing is held.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Checked {
            gates: Vec::new(),
            roles: Vec::new(),
            digest: digest_of(&[]),
        }))
    }

    /// The gates, sorted by id.
    #[must_use]
    pub fn gates(&self) -> &[GateSpec] {
        &self.0.gates
    }

    /// The gate of this name.
    #[must_use]
    pub fn gate(&self, id: &GateId) -> Option<&GateSpec> {
        let place = self.0.gates.binary_search_by(|gate| gate.id.cmp(id)).ok()?;
        self.0.gates.get(place)
    }

    /// The roles, in the order in which they run.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.0.roles
    }

    /// What this set of gates is: equal for equal gates in whatever order they were written.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// The gates of the roles that `wanted` picks.
    pub(crate) fn gates_of(
        &self,
        wanted: impl Fn(&RoleName) -> bool,
    ) -> impl Iterator<Item = &GateSpec> {
        self.gates().iter().filter(move |spec| wanted(spec.role()))
    }

    /// `from` and every role that runs after it; all of them when `from` is not known.
    pub(crate) fn roles_from(&self, from: &RoleName) -> BTreeSet<&RoleName> {
        let names = || self.0.roles.iter().map(|role| &role.name);
        let place = names().position(|name| name == from).unwrap_or(0);
        names().skip(place).collect()
    }
}

impl TryFrom<SpecsDraft> for Specs {
    type Error = SpecFaults;
    fn try_from(draft: SpecsDraft) -> Result<Self, SpecFaults> {
        Self::load(&draft.gates, &draft.roles)
    }
}

impl From<Specs> for SpecsDraft {
    fn from(specs: Specs) -> Self {
        Self {
            gates: specs.gates().iter().map(GateDraft::from).collect(),
            roles: specs.roles().to_vec(),
        }
    }
}

/// Lengths before values, so no two sets of gates have the same bytes.
fn digest_of(gates: &[GateSpec]) -> Digest {
    let mut bytes = String::from("backstop-gates 1\n");
    for gate in gates {
        let fields = [
            gate.id.as_str(),
            gate.role.as_str(),
            gate.on.name(),
            gate.kind.name(),
            gate.on_fail.name(),
            gate.blocks_role.as_ref().map_or("", RoleName::as_str),
            gate.artifact_kind.as_ref().map_or("", ArtifactKind::as_str),
            if gate.require_explicit_verdict {
                "explicit"
            } else {
                ""
            },
        ];
        for field in fields {
            // Writing to a string cannot fail.
            let _ = write!(bytes, "{}:{field},", field.len());
        }
        let _ = writeln!(bytes, "{}", gate.max_retries);
    }
    Digest::of(bytes.as_bytes())
}
