//! The JSON schema of a plan, made from the key registry, and what a schema cannot say.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use backstop_vocab::PhaseKind;
use serde_json::{Map, Value, json};

use crate::judge::MOST_PHASES;
use crate::key::{Entry, KEYS, Level, Need, Shape};
use crate::plan::MOST_TEXT;
use crate::refusal::Code;

/// The codes with which a value that fits the schema can still be refused. A text can also be refused before it is a
/// value: `not_json`, `ambiguous`, `too_large`, `duplicate_key`.
pub const SEMANTIC_CODES: [Code; 7] = [
    Code::BlankTask,
    Code::PlaceholderTask,
    Code::BlankCondition,
    Code::ControlCharacters,
    Code::TaskTooLong,
    Code::DuplicateTask,
    Code::UncheckedCoding,
];

/// The JSON schema (draft 2020-12) of a plan. It accepts whatever the checks accept, and more: see [`SEMANTIC_CODES`].
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(Level::Plan);
    let head = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema"),
        ("title", "Backstop mission plan"),
    ];
    for (key, value) in head {
        schema.insert(key.to_string(), value.into());
    }
    Value::Object(schema)
}

fn object(level: Level) -> Map<String, Value> {
    let entries = || KEYS.iter().filter(move |entry| entry.level == level);
    let required = entries().filter(|entry| entry.need == Need::Required);
    let required: Vec<Value> = required.map(|entry| entry.name.into()).collect();
    let properties: Map<String, Value> = entries()
        .map(|entry| (entry.name.to_string(), property(entry)))
        .collect();
    let mut object = Map::new();
    object.insert("type".to_string(), "object".into());
    object.insert("additionalProperties".to_string(), false.into());
    object.insert("required".to_string(), required.into());
    object.insert("properties".to_string(), properties.into());
    object
}

fn property(entry: &Entry) -> Value {
    let meaning = entry.meaning;
    match entry.shape {
        Shape::Phases => json!({
            "description": meaning,
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_PHASES,
            "items": object(Level::Phase),
        }),
        Shape::Kind => json!({
            "description": meaning,
            "type": "string",
            "enum": PhaseKind::ALL.map(PhaseKind::name),
        }),
        Shape::Text => json!({
            "description": meaning,
            "type": "string",
            "minLength": 1,
            "maxLength": MOST_TEXT,
            "pattern": "\\S",
        }),
        Shape::Flag => json!({ "description": meaning, "type": "boolean" }),
    }
}
