//! Responses of `OpenAI`.

use serde_json::{Value, json};

use super::{Event, Parts, Told, items, text};
use crate::model::scene::Stop;

pub(super) fn results(body: &Value) -> usize {
    items(body, "/input").fold(0, |sum, item| match text(item, "/type") {
        "function_call_output" | "custom_tool_call_output" => sum + 1,
        "message" if text(item, "/role") == "user" => 0,
        _ => sum,
    })
}

fn usage() -> Value {
    json!({"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 300}, "output_tokens": 25,
        "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 1225})
}

fn response(told: &Told, status: &str, output: &[Value]) -> Value {
    json!({"id": told.id("resp"), "object": "response", "created_at": 1, "model": told.model, "status": status, "output": output})
}

fn message(told: &Told, status: &str) -> Value {
    let content = match (status, told.stop) {
        ("in_progress", _) => json!([]),
        (_, Stop::Refusal) => json!([{"type": "refusal", "refusal": told.text}]),
        (_, Stop::Done | Stop::Length) => {
            json!([{"type": "output_text", "text": told.text, "annotations": []}])
        }
    };
    json!({"type": "message", "id": told.id("msg"), "role": "assistant", "status": status, "content": content})
}

fn call(told: &Told) -> Option<Value> {
    let (name, arguments) = told.tool.as_ref()?;
    Some(
        json!({"type": "function_call", "id": told.id("fc"), "call_id": told.id("call"), "name": name,
        "arguments": arguments.to_string(), "status": "completed"}),
    )
}

/// The response at its end.
fn ended(told: &Told, output: &[Value]) -> Value {
    let status = if told.stop == Stop::Length {
        "incomplete"
    } else {
        "completed"
    };
    let mut response = response(told, status, output);
    if let Some(fields) = response.as_object_mut() {
        fields.insert("usage".to_owned(), usage());
        if told.stop == Stop::Length {
            fields.insert(
                "incomplete_details".to_owned(),
                json!({"reason": "max_output_tokens"}),
            );
        }
    }
    response
}

pub(super) fn whole(told: &Told) -> Value {
    let said = (!told.text.is_empty()).then(|| message(told, "completed"));
    let output: Vec<Value> = said.into_iter().chain(call(told)).collect();
    ended(told, &output)
}

pub(super) fn stream(told: &Told) -> Parts {
    let mut number = 0;
    let mut event = |name: &'static str, mut value: Value| {
        number += 1;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("type".to_owned(), name.into());
            fields.insert("sequence_number".to_owned(), number.into());
        }
        Event::named(name, &value)
    };
    let mut begun = vec![event(
        "response.created",
        json!({"response": response(told, "in_progress", &[])}),
    )];
    let mut rest = Vec::new();
    let mut index = 0;
    if !told.text.is_empty() {
        let item = message(told, "in_progress");
        begun.push(event(
            "response.output_item.added",
            json!({"output_index": 0, "item": item}),
        ));
        if told.stop != Stop::Refusal {
            let delta = json!({"item_id": told.id("msg"), "output_index": 0, "content_index": 0, "delta": told.text});
            begun.push(event("response.output_text.delta", delta));
        }
        rest.push(event(
            "response.output_item.done",
            json!({"output_index": 0, "item": message(told, "completed")}),
        ));
        index = 1;
    }
    if let Some(call) = call(told) {
        rest.push(event(
            "response.output_item.added",
            json!({"output_index": index, "item": call}),
        ));
        rest.push(event(
            "response.output_item.done",
            json!({"output_index": index, "item": call}),
        ));
    }
    let name = if told.stop == Stop::Length {
        "response.incomplete"
    } else {
        "response.completed"
    };
    rest.push(event(name, json!({"response": ended(told, &[])})));
    (begun, rest)
}

pub(super) fn broken() -> Event {
    let error = json!({"code": "server_is_overloaded", "message": "Our servers are currently overloaded. Please try again later."});
    let response =
        json!({"id": "resp_fake", "object": "response", "status": "failed", "error": error});
    Event::named(
        "response.failed",
        &json!({"type": "response.failed", "response": response}),
    )
}
