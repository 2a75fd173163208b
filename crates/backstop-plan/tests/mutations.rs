//! Any change to a valid plan gives a valid plan or a refusal with a code; never a panic, never a plan outside the rules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use backstop_plan::{
    Checks, Code, Draft, MOST_PHASES, Plan, Refusals, SEMANTIC_CODES, read, schema,
};
use backstop_vocab::PhaseKind;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&schema()).unwrap());

fn phase() -> impl Strategy<Value = Value> {
    let kind = select(PhaseKind::ALL.map(PhaseKind::name).to_vec());
    let text = "[a-zé\"\\\\{}`\n ]{0,20}w[a-z]{3}";
    let optional = proptest::option::of(text);
    let parts = (
        kind,
        text,
        optional.clone(),
        optional,
        proptest::option::of(any::<bool>()),
    );
    parts.prop_map(|(kind, task, done_when, check, allow_empty)| {
        let mut phase =
            Map::from_iter([("kind".into(), json!(kind)), ("task".into(), json!(task))]);
        let optional = [
            ("done_when", done_when.map(Value::from)),
            ("done_when_check", check.map(Value::from)),
            ("allow_empty", allow_empty.map(Value::from)),
        ];
        phase.extend(
            optional
                .into_iter()
                .filter_map(|(key, value)| Some((key.into(), value?))),
        );
        Value::Object(phase)
    })
}

/// A valid plan: the phases are told apart by their place.
fn valid() -> impl Strategy<Value = Value> {
    proptest::collection::vec(phase(), 1..=MOST_PHASES).prop_map(|mut phases| {
        for (i, phase) in phases.iter_mut().enumerate() {
            let task = format!("{i} {}", phase["task"].as_str().unwrap());
            phase["task"] = task.into();
        }
        json!({ "phases": phases })
    })
}

/// The same value with the keys of each object in another order and white space everywhere.
fn respelt(value: &Value, turn: usize) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| respelt(item, turn)).collect();
            format!("[ {}\n]", items.join(" ,\t"))
        }
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| {
                    format!("{} :  {}", Value::from(key.as_str()), respelt(value, turn))
                })
                .collect();
            let by = turn % fields.len().max(1);
            fields.rotate_left(by);
            format!("{{\r\n{} }}", fields.join("\n , "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn holds(outcome: Result<Plan, Refusals>) -> Result<(), TestCaseError> {
    match outcome {
        Ok(plan) => {
            prop_assert!((1..=MOST_PHASES).contains(&plan.phases().len()));
            let written = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(&written, &plan.canonical());
            prop_assert_eq!(&serde_json::from_str::<Plan>(&written).unwrap(), &plan);
            prop_assert_eq!(&Plan::read(&written, Checks::Configured).unwrap(), &plan);
            prop_assert!(SCHEMA.is_valid(&serde_json::from_str(&written).unwrap()));
        }
        Err(refusals) => {
            prop_assert!(!refusals.all().is_empty());
            for refusal in refusals.all() {
                prop_assert!(!refusal.message.is_empty());
                let wire = serde_json::to_string(refusal).unwrap();
                prop_assert_eq!(
                    &serde_json::from_str::<backstop_plan::Refusal>(&wire).unwrap(),
                    refusal
                );
            }
        }
    }
    Ok(())
}

/// All that may be wrong with what the schema accepts; `docs/tables/plan-refusals.md` shows the same.
const ONLY_THE_CHECKS: [&str; 7] = [
    "blank_task",
    "placeholder_task",
    "blank_condition",
    "control_characters",
    "task_too_long",
    "duplicate_task",
    "unchecked_coding",
];

#[test]
fn what_only_the_checks_refuse_is_listed() {
    assert_eq!(SEMANTIC_CODES.map(Code::name), ONLY_THE_CHECKS);
}

/// Both validators judge `value`: what the checks accept the schema accepts, and what it accepts they refuse only with a
/// listed code.
fn agree(value: Value, checks: Checks) -> Result<(), TestCaseError> {
    let fits = SCHEMA.is_valid(&value);
    let told = value.to_string();
    let outcome = Plan::try_from(Draft::from_value(value).with_checks(checks));
    match &outcome {
        Ok(_) => prop_assert!(fits, "{}", told),
        Err(refusals) if fits => {
            for refusal in refusals.all() {
                let listed = ONLY_THE_CHECKS.contains(&refusal.code.name());
                prop_assert!(listed, "{}: {}", refusal, told);
            }
        }
        Err(_) => {}
    }
    holds(outcome)
}

/// What is done to one node of a plan.
#[derive(Debug, Clone)]
enum Change {
    Drop,
    Repeat,
    Rename(String),
    Replace(Value),
    Wrap(String),
    Unwrap,
    Swap(Index),
    Retext(String),
}

fn change() -> impl Strategy<Value = Change> {
    let name = select(vec![
        "phases",
        "kind",
        "task",
        "done_when",
        "done_when_check",
        "allow_empty",
        "Task",
        "type",
        "",
    ]);
    let values = vec![
        json!(null),
        json!(0),
        json!(-1.5),
        json!(true),
        json!(""),
        json!("coding"),
        json!("TBD"),
        json!("\u{1b}[0m"),
        json!("\u{feff}"),
        json!("\u{85}"),
        json!("\u{2003}"),
        json!([]),
        json!({}),
        json!("x".repeat(8193)),
        json!("\u{e9}".repeat(8000)),
        json!([[]]),
        json!({"phases": []}),
    ];
    prop_oneof![
        Just(Change::Drop),
        Just(Change::Repeat),
        name.clone().prop_map(|name| Change::Rename(name.into())),
        select(values).prop_map(Change::Replace),
        name.prop_map(|name| Change::Wrap(name.into())),
        Just(Change::Unwrap),
        any::<Index>().prop_map(Change::Swap),
        "\\PC{0,6}|[ \t\n\r\u{0}-\u{20}\u{85}\u{a0}\u{200b}-\u{200f}\u{2028}\u{feff}]{0,4}"
            .prop_map(Change::Retext),
    ]
}

/// The JSON pointers of all nodes, the root's first.
fn nodes(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                nodes(item, &format!("{at}/{i}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                nodes(item, &format!("{at}/{}", escaped(key)), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn pick(value: &Value, at: Index) -> String {
    let mut found = Vec::new();
    nodes(value, "", &mut found);
    at.get(&found).clone()
}

/// The node's parent and the last part of its pointer; none for the root.
fn parent<'a>(value: &'a mut Value, at: &str) -> Option<(&'a mut Value, String)> {
    let (above, last) = at.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    Some((value.pointer_mut(above)?, last))
}

fn change_at(value: &mut Value, at: Index, change: Change) {
    let place = pick(value, at);
    let node = value.pointer(&place).unwrap().clone();
    match change {
        Change::Drop => match parent(value, &place) {
            Some((Value::Object(fields), key)) => drop(fields.remove(&key)),
            Some((Value::Array(items), i)) => drop(items.remove(i.parse().unwrap())),
            Some(_) | None => *value = Value::Null,
        },
        Change::Repeat => match parent(value, &place) {
            Some((Value::Array(items), i)) => items.insert(i.parse().unwrap(), node),
            Some((Value::Object(fields), key)) => drop(fields.insert(format!("{key}2"), node)),
            Some(_) | None => *value = json!([node.clone(), node]),
        },
        Change::Rename(name) => {
            if let Some((Value::Object(fields), key)) = parent(value, &place) {
                fields.remove(&key);
                fields.insert(name, node);
            }
        }
        Change::Replace(other) => *value.pointer_mut(&place).unwrap() = other,
        Change::Wrap(name) if name.is_empty() => {
            *value.pointer_mut(&place).unwrap() = json!([node]);
        }
        Change::Wrap(name) => *value.pointer_mut(&place).unwrap() = json!({ name: node }),
        Change::Unwrap => {
            let inner = match &node {
                Value::Array(items) => items.first().cloned(),
                Value::Object(fields) => fields.values().next().cloned(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            *value.pointer_mut(&place).unwrap() = inner.unwrap_or_default();
        }
        Change::Swap(other) => {
            let other = pick(value, other);
            let theirs = value.pointer(&other).unwrap().clone();
            *value.pointer_mut(&place).unwrap() = theirs;
            if let Some(there) = value.pointer_mut(&other) {
                *there = node;
            }
        }
        Change::Retext(text) => {
            if let Some(Value::String(old)) = value.pointer_mut(&place) {
                *old = text;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn however_a_plan_is_rebuilt_both_validators_agree(
        value in valid(),
        changes in proptest::collection::vec((any::<Index>(), change()), 1..4),
        checks in select(vec![Checks::None, Checks::Configured, Checks::Waived]),
    ) {
        let mut value = value;
        for (at, change) in changes {
            change_at(&mut value, at, change);
        }
        let text = value.to_string();
        agree(value, checks)?;
        holds(Plan::read(&text, checks))?;
    }
}

proptest! {
    #[test]
    fn bytes_that_were_changed_are_a_plan_or_a_refusal(
        value in valid(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = value.to_string().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        holds(Plan::read(&String::from_utf8_lossy(&bytes), Checks::Configured))?;
    }

    #[test]
    fn tokens_that_were_dropped_doubled_or_swapped_are_a_plan_or_a_refusal(
        value in valid(),
        at in any::<Index>(),
        with in any::<Index>(),
        deed in 0_usize..3,
    ) {
        let text = value.to_string();
        let mut tokens: Vec<&str> = text.split_inclusive(['{', '}', '[', ']', ',', ':', '"']).collect();
        let (at, with) = (at.index(tokens.len()), with.index(tokens.len()));
        match deed {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            _ => tokens.swap(at, with),
        }
        holds(Plan::read(&tokens.concat(), Checks::Configured))?;
    }

    #[test]
    fn a_plan_that_was_cut_or_has_company_is_refused(value in valid(), other in valid(), at in any::<Index>()) {
        let text = value.to_string();
        let chars: Vec<char> = text.chars().collect();
        let cut: String = chars[..at.index(chars.len())].iter().collect();
        let more = [
            cut.clone(),
            format!("{text}{other}"),
            format!("{text}\n{other}"),
            format!("[{text}]"),
            format!("```json\n{text}\n```\n```json\n{other}\n```"),
            format!("```json\n{cut}"),
            format!("{text} and so on"),
        ];
        for text in more {
            let outcome = Plan::read(&text, Checks::Configured);
            prop_assert!(outcome.is_err(), "{}", text);
            holds(outcome)?;
        }
    }

    #[test]
    fn a_key_that_is_named_twice_is_refused_by_that_code(value in valid(), at in any::<Index>()) {
        let text = value.to_string();
        let keys: Vec<usize> = text.match_indices("\"task\":").map(|(i, _)| i).collect();
        let at = *at.get(&keys);
        let twice = format!("{}\"task\":\"again\",{}", &text[..at], &text[at..]);
        let refusals = Plan::read(&twice, Checks::Configured).unwrap_err();
        prop_assert!(refusals.has(Code::DuplicateKey), "{}", twice);
    }

    #[test]
    fn a_valid_plan_has_one_digest_however_it_is_spelt(value in valid(), turn in 0usize..6) {
        let plan = Plan::read(&value.to_string(), Checks::Configured).unwrap();
        let respelt = Plan::read(&respelt(&value, turn), Checks::Configured).unwrap();
        prop_assert_eq!(plan.digest(), respelt.digest());
        prop_assert_eq!(&plan, &respelt);
        let of_value = Draft::from_value(value.clone()).with_checks(Checks::Configured);
        prop_assert_eq!(&Plan::try_from(of_value).unwrap(), &plan);
        prop_assert!(SCHEMA.is_valid(&value));
        holds(Ok(plan))?;
    }

    #[test]
    fn a_changed_text_is_a_plan_or_a_refusal(
        value in valid(),
        at in any::<Index>(),
        put in "[{}\\[\\]\",:`a-z\\\\0-9\n]{0,4}",
        cut in 0usize..6,
    ) {
        let mut text: Vec<char> = value.to_string().chars().collect();
        let from = at.index(text.len());
        let to = (from + cut).min(text.len());
        text.splice(from..to, put.chars());
        holds(Plan::read(&text.into_iter().collect::<String>(), Checks::Configured))?;
    }

    #[test]
    fn a_changed_value_is_a_plan_or_a_refusal(
        value in valid(),
        at in any::<Index>(),
        key in select(vec!["kind", "task", "done_when", "done_when_check", "allow_empty", "goal", "\u{1b}"]),
        put in select(vec![json!(null), json!(1), json!(""), json!("TBD"), json!("a\u{7}"), json!([]), json!({"a": 1}), json!(true), json!("coding")]),
    ) {
        let mut value = value;
        let phases = value["phases"].as_array_mut().unwrap();
        let phase = at.index(phases.len());
        phases[phase][key] = put;
        let fits = SCHEMA.is_valid(&value);
        let outcome = Plan::try_from(Draft::from_value(value).with_checks(Checks::Configured));
        prop_assert!(fits || outcome.is_err());
        holds(outcome)?;
    }

    #[test]
    fn any_answer_is_a_plan_or_a_refusal_with_a_place(text in "([a-z {}\"\\[\\]:,é]|\n|```|```json\n|~~~|\"phases\"){0,40}") {
        match read(&text) {
            Ok(draft) => holds(Plan::try_from(draft))?,
            Err(refusals) => {
                let lines = u32::try_from(text.split('\n').count()).unwrap();
                for refusal in refusals.all() {
                    prop_assert!((1..=lines).contains(&refusal.line.unwrap()), "{:?}", refusal);
                    prop_assert!(refusal.column.unwrap() >= 1);
                }
            }
        }
    }

    #[test]
    fn places_point_into_the_text(text in any::<String>()) {
        holds(Plan::read(&text, Checks::None))?;
    }
}
