//! Reads gate drafts against the known roles and finds everything that is wrong with them at once.
//! No words here; those are with the faults.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use backstop_vocab::{GateId, RoleName, is_blank};

use crate::artifact::ArtifactKind;
use crate::fault::{Fault, SpecFault, SpecFaults};
use crate::names::{GateKind, OnFail, Trigger};
use crate::spec::{DEFAULT_RETRIES, GateDraft, GateSpec, MAX_RETRIES, Role};

/// The checked gates in the order of `drafts`.
pub(crate) fn read_all(drafts: &[GateDraft], roles: &[Role]) -> Result<Vec<GateSpec>, SpecFaults> {
    let waits = Waits::of(drafts);
    let mut places = BTreeMap::new();
    let (mut faults, mut gates) = (Vec::new(), Vec::new());
    for (index, draft) in drafts.iter().enumerate() {
        let mut found = Vec::new();
        gates.extend(
            Reader {
                roles,
                faults: &mut found,
            }
            .gate(draft),
        );
        found.extend(duplicate(index, draft, &mut places));
        found.extend(waits.cycle_through(draft).map(Fault::Cycle));
        faults.extend(found.into_iter().map(|fault| SpecFault {
            index,
            id: shown(&draft.id),
            fault,
        }));
    }
    SpecFaults::none_in(faults)?;
    Ok(gates)
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return String::from("(none)");
    }
    names.join(", ")
}

fn duplicate(
    index: usize,
    draft: &GateDraft,
    places: &mut BTreeMap<String, usize>,
) -> Option<Fault> {
    if is_blank(&draft.id) {
        return None;
    }
    let first = *places.entry(draft.id.to_ascii_lowercase()).or_insert(index);
    (first != index).then(|| Fault::DuplicateId {
        id: shown(&draft.id),
        first,
    })
}

/// Reads one gate. What is wrong goes to `faults` and reads as none, so a gate counts only where no fault was found.
struct Reader<'a> {
    roles: &'a [Role],
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn gate(&mut self, draft: &GateDraft) -> Option<GateSpec> {
        let id = self.id(&draft.id);
        let role = self.role("role", &draft.role);
        let blocks_role = self.blocks_role(draft);
        let max_retries = self.retries(draft);
        let artifact_kind = self.artifact_kind(draft);
        if !draft.require_explicit_verdict && draft.gate != GateKind::Review {
            self.faults.push(Fault::VerdictUnread);
        }
        Some(GateSpec {
            id: id?,
            role: role?,
            on: draft.on,
            kind: draft.gate,
            on_fail: draft.on_fail,
            blocks_role,
            max_retries: max_retries?,
            artifact_kind,
            require_explicit_verdict: draft.require_explicit_verdict,
        })
    }

    fn refuse<T>(&mut self, fault: Fault) -> Option<T> {
        self.faults.push(fault);
        None
    }

    fn id(&mut self, text: &str) -> Option<GateId> {
        if is_blank(text) {
            return self.refuse(Fault::BlankId);
        }
        text.parse()
            .ok()
            .or_else(|| self.refuse(Fault::BadId(shown(text))))
    }

    fn role(&mut self, key: &'static str, text: &str) -> Option<RoleName> {
        let name: Option<RoleName> = text.parse().ok();
        let known = name.filter(|name| self.roles.iter().any(|role| role.name == *name));
        known.or_else(|| {
            let names = self.roles.iter().map(|role| role.name.as_str());
            self.refuse(Fault::UnknownRole {
                key,
                role: shown(text),
                known: listed(names),
            })
        })
    }

    fn blocks_role(&mut self, draft: &GateDraft) -> Option<RoleName> {
        let Some(text) = &draft.blocks_role else {
            return match draft.on {
                Trigger::RoleStart => draft.role.parse().ok(),
                Trigger::RoleComplete => None,
            };
        };
        let blocked = self.role("blocks_role", text);
        let own = text.eq_ignore_ascii_case(&draft.role);
        match draft.on {
            Trigger::RoleStart if !own => self.refuse(Fault::StartBlocksOther(shown(text))),
            Trigger::RoleComplete if own => self.refuse(Fault::BlocksItself(shown(text))),
            Trigger::RoleStart | Trigger::RoleComplete => blocked,
        }
    }

    fn retries(&mut self, draft: &GateDraft) -> Option<u32> {
        match (draft.on_fail, draft.max_retries) {
            (OnFail::Retry, None) => Some(DEFAULT_RETRIES),
            (OnFail::Retry, Some(n)) if (1..=MAX_RETRIES).contains(&n) => Some(n),
            (OnFail::Retry, Some(n)) => self.refuse(Fault::RetriesOutOfRange(n)),
            (OnFail::Block | OnFail::Escalate, None) => Some(0),
            (OnFail::Block | OnFail::Escalate, Some(_)) => self.refuse(Fault::RetriesUnread),
        }
    }

    fn artifact_kind(&mut self, draft: &GateDraft) -> Option<ArtifactKind> {
        let text = draft.artifact_kind.as_ref()?;
        let Ok(kind) = text.parse::<ArtifactKind>() else {
            return self.refuse(Fault::BadArtifactKind(shown(text)));
        };
        let consumed: BTreeSet<&ArtifactKind> =
            self.roles.iter().flat_map(|role| &role.consumes).collect();
        if consumed.contains(&kind) {
            return Some(kind);
        }
        let consumed = listed(consumed.into_iter().map(ArtifactKind::as_str));
        self.refuse(Fault::UnreadArtifact {
            kind: shown(text),
            consumed,
        })
    }
}

/// Which roles wait for which to complete.
struct Waits(BTreeMap<String, BTreeSet<String>>);

impl Waits {
    fn of(drafts: &[GateDraft]) -> Self {
        let mut waits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (role, blocked) in drafts.iter().filter_map(wait) {
            waits.entry(role).or_default().insert(blocked);
        }
        Self(waits)
    }

    /// The cycle that this gate closes, as `a → b → a`.
    fn cycle_through(&self, draft: &GateDraft) -> Option<String> {
        let (role, blocked) = wait(draft)?;
        let mut path = self.path(&blocked, &role)?;
        path.insert(0, &role);
        Some(path.join(" → "))
    }

    fn path<'a>(&'a self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![vec![from]];
        while let Some(path) = open.pop() {
            let last = path.last().copied()?;
            if last == to {
                return Some(path);
            }
            for next in self.0.get(last).into_iter().flatten() {
                if seen.insert(next) {
                    let mut longer = path.clone();
                    longer.push(next);
                    open.push(longer);
                }
            }
        }
        None
    }
}

fn wait(draft: &GateDraft) -> Option<(String, String)> {
    let role = draft.role.to_ascii_lowercase();
    let blocked = draft.blocks_role.as_ref()?.to_ascii_lowercase();
    (draft.on == Trigger::RoleComplete && role != blocked).then_some((role, blocked))
}
