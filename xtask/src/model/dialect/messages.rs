//! Messages of Anthropic.

use serde_json::{Value, json};

use super::{Event, Parts, Told, items, text};

pub(super) fn results(body: &Value) -> usize {
    let users = items(body, "/messages").filter(|message| text(message, "/role") == "user");
    users.fold(0, |sum, message| {
        let ran = items(message, "/content")
            .filter(|part| text(part, "/type") == "tool_result")
            .count();
        // What begins with a tag is the program's, not a prompt.
        let aside = text(message, "/content").starts_with('<');
        match (ran, aside) {
            (0, false) => 0,
            _ => sum + ran,
        }
    })
}

fn usage(written: u32) -> Value {
    json!({"input_tokens": 1200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 300, "output_tokens": written})
}

fn why(told: &Told) -> &'static str {
    told.why(["end_turn", "tool_use", "refusal", "max_tokens"])
}

fn message(told: &Told, content: &[Value], stop: Option<&str>, written: u32) -> Value {
    json!({"id": told.id("msg"), "type": "message", "role": "assistant", "model": told.model, "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": usage(written)})
}

pub(super) fn whole(told: &Told) -> Value {
    let said = (!told.text.is_empty()).then(|| json!({"type": "text", "text": told.text}));
    let call = told.tool.as_ref().map(|(name, input)| json!({"type": "tool_use", "id": told.id("toolu"), "name": name, "input": input}));
    let content: Vec<Value> = said.into_iter().chain(call).collect();
    message(told, &content, Some(why(told)), 25)
}

pub(super) fn stream(told: &Told) -> Parts {
    let event = |name: &'static str, mut value: Value| {
        if let Some(fields) = value.as_object_mut() {
            fields.insert("type".to_owned(), name.into());
        }
        Event::named(name, &value)
    };
    let mut begun = vec![event(
        "message_start",
        json!({"message": message(told, &[], None, 1)}),
    )];
    let mut rest = Vec::new();
    let mut index = 0;
    if !told.text.is_empty() {
        begun.push(event(
            "content_block_start",
            json!({"index": 0, "content_block": {"type": "text", "text": ""}}),
        ));
        begun.push(event(
            "content_block_delta",
            json!({"index": 0, "delta": {"type": "text_delta", "text": told.text}}),
        ));
        rest.push(event("content_block_stop", json!({"index": 0})));
        index = 1;
    }
    if let Some((name, input)) = &told.tool {
        let block = json!({"type": "tool_use", "id": told.id("toolu"), "name": name, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
        rest.push(event(
            "content_block_start",
            json!({"index": index, "content_block": block}),
        ));
        rest.push(event(
            "content_block_delta",
            json!({"index": index, "delta": delta}),
        ));
        rest.push(event("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"stop_reason": why(told), "stop_sequence": null});
    rest.push(event(
        "message_delta",
        json!({"delta": delta, "usage": {"output_tokens": 25}}),
    ));
    rest.push(event("message_stop", json!({})));
    (begun, rest)
}

pub(super) fn broken() -> Event {
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    Event::named("error", &json!({"type": "error", "error": error}))
}
