//! Everything that is wrong with `[[gates]]` at once, each fault with its place in the file.

use std::ops::Range;

use backstop_engine::gates::{self, Fault, GateDraft, SpecFault, Specs};
use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::told;

/// A fault, and where it is.
pub(super) type Placed = (Range<usize>, String);

/// A gate as it stands in the file.
struct Written<'a> {
    whole: Range<usize>,
    table: DeTable<'a>,
}

impl Written<'_> {
    /// The place of a key's value; of the whole gate where it has no such key.
    fn place(&self, key: &str) -> Range<usize> {
        let value = self.table.iter().find(|(name, _)| name.get_ref() == key);
        value.map_or_else(|| self.whole.clone(), |(_, value)| value.span())
    }

    /// The gate, without the keys that are none; each of those is a fault.
    fn read(&self, faults: &mut Vec<Placed>) -> Option<GateDraft> {
        let mut table = self.table.clone();
        loop {
            let value = Spanned::new(self.whole.clone(), DeValue::Table(table.clone()));
            let error: toml::de::Error = match GateDraft::deserialize(value.into_deserializer()) {
                Ok(draft) => return Some(draft),
                Err(error) => error,
            };
            let span = error.span().unwrap_or_else(|| self.whole.clone());
            let unknown = table.iter().find(|(name, _)| name.span() == span);
            let unknown = unknown.map(|(name, _)| name.clone());
            faults.push((span, told(error.message())));
            table.remove(&unknown?);
        }
    }
}

/// Every fault of the gates in `text`; none where it is no TOML, or has no gates.
pub(super) fn faults(text: &str) -> Vec<Placed> {
    let Ok(file) = DeTable::parse(text) else {
        return Vec::new();
    };
    let file = file.get_ref();
    let written = written(file);
    let (preset, ready) = preset(file);
    let mut faults = Vec::new();
    let mut kept = Vec::new();
    for gate in &written {
        kept.extend(gate.read(&mut faults).map(|draft| (gate, draft)));
    }
    let own = kept.iter().map(|(_, draft)| draft.clone());
    let all: Vec<GateDraft> = ready.iter().cloned().chain(own).collect();
    if let Err(found) = Specs::load(&all, &gates::standard_roles()) {
        faults.extend(found.all().iter().map(|fault| {
            let own = fault.index.checked_sub(ready.len());
            let gate = own.and_then(|index| kept.get(index));
            let span = gate.map_or_else(|| preset.clone(), |(gate, _)| gate.place(key(fault)));
            (span, fault.fault.to_string())
        }));
    }
    faults.sort_by_key(|(span, _)| span.start);
    faults
}

fn written<'a>(file: &DeTable<'a>) -> Vec<Written<'a>> {
    let gates = file
        .get("gates")
        .and_then(|gates| gates.get_ref().as_array());
    let tables = gates.into_iter().flatten().filter_map(|gate| {
        let table = gate.get_ref().as_table()?.clone();
        let whole = gate.span();
        Some(Written { whole, table })
    });
    tables.collect()
}

/// The ready-made gates that the file asks for, and where.
fn preset(file: &DeTable<'_>) -> (Range<usize>, Vec<GateDraft>) {
    let Some(value) = file.get("preset") else {
        return (0..0, Vec::new());
    };
    let ready = match value.get_ref().as_str() {
        Some("stopship") => gates::stopship(),
        Some(_) | None => Vec::new(),
    };
    (value.span(), ready)
}

/// The place of a gate, or of the ready-made set that it is of; none where the file has neither.
pub(super) fn place(text: &str, id: &str) -> Option<Range<usize>> {
    let file = DeTable::parse(text).ok()?;
    let file = file.get_ref();
    let named = |gate: &Written<'_>| {
        let own = gate.table.get("id").and_then(|id| id.get_ref().as_str());
        own.is_some_and(|own| own.eq_ignore_ascii_case(id))
    };
    let written = written(file);
    let own = written.iter().find(|gate| named(gate));
    let (preset, ready) = preset(file);
    own.map(|gate| gate.place("id"))
        .or_else(|| ready.iter().any(|gate| gate.id == id).then_some(preset))
}

/// The key whose value is at fault.
fn key(fault: &SpecFault) -> &'static str {
    match &fault.fault {
        Fault::BlankId | Fault::BadId(_) | Fault::DuplicateId { .. } => "id",
        Fault::UnknownRole { key, .. } => key,
        Fault::BlocksItself(_) | Fault::Cycle(_) | Fault::StartBlocksOther(_) => "blocks_role",
        Fault::RetriesUnread | Fault::RetriesOutOfRange(_) => "max_retries",
        Fault::VerdictUnread => "require_explicit_verdict",
        Fault::BadArtifactKind(_) | Fault::UnreadArtifact { .. } => "artifact_kind",
    }
}
