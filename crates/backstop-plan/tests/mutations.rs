//! Any change to a valid plan gives a valid plan or a refusal with a code; never a panic, never a plan outside the rules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use backstop_plan::{Checks, Draft, MOST_PHASES, Plan, Refusals, read, schema};
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

proptest! {
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
