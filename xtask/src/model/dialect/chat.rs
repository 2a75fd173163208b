//! Chat completions.

use serde_json::{Value, json};

use super::{Event, Parts, Told, items, text};

pub(super) fn results(body: &Value) -> usize {
    items(body, "/messages").fold(0, |sum, message| match text(message, "/role") {
        "tool" => sum + 1,
        "user" => 0,
        _ => sum,
    })
}

fn usage() -> Value {
    json!({"prompt_tokens": 1200, "completion_tokens": 25, "total_tokens": 1225, "prompt_tokens_details": {"cached_tokens": 300}})
}

fn why(told: &Told) -> &'static str {
    told.why(["stop", "tool_calls", "content_filter", "length"])
}

fn call(told: &Told) -> Option<Value> {
    let (name, arguments) = told.tool.as_ref()?;
    Some(
        json!({"id": told.id("call"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}),
    )
}

pub(super) fn whole(told: &Told) -> Value {
    let mut message = json!({"role": "assistant", "content": told.text});
    if let (Some(fields), Some(call)) = (message.as_object_mut(), call(told)) {
        fields.insert("tool_calls".to_owned(), json!([call]));
    }
    json!({"id": told.id("chatcmpl"), "object": "chat.completion", "created": 1, "model": told.model,
        "choices": [{"index": 0, "message": message, "finish_reason": why(told)}], "usage": usage()})
}

pub(super) fn stream(told: &Told) -> Parts {
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({"id": told.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": told.model, "choices": choices});
        if let (Some(fields), Some(usage)) = (chunk.as_object_mut(), usage) {
            fields.insert("usage".to_owned(), usage);
        }
        Event::plain(&chunk)
    };
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": finish}]),
            None,
        )
    };
    let mut begun = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    if !told.text.is_empty() {
        begun.push(delta(json!({"content": told.text}), None));
    }
    let mut rest = Vec::new();
    if let Some(mut call) = call(told) {
        if let Some(fields) = call.as_object_mut() {
            fields.insert("index".to_owned(), 0.into());
        }
        rest.push(delta(json!({"tool_calls": [call]}), None));
    }
    rest.push(delta(json!({}), Some(why(told))));
    rest.push(chunk(json!([]), Some(usage())));
    rest.push(Event {
        name: None,
        data: "[DONE]".to_owned(),
    });
    (begun, rest)
}

pub(super) fn broken() -> Event {
    Event::plain(&json!({"error": {"message": "Overloaded", "type": "server_error", "code": 503}}))
}
