//! `generateContent` of Gemini.

use serde_json::{Value, json};

use super::{Event, Parts, Told, items, text};

pub(super) fn results(body: &Value) -> usize {
    let users = items(body, "/contents").filter(|content| text(content, "/role") == "user");
    users.fold(0, |sum, content| {
        let ran = items(content, "/parts")
            .filter(|part| part.get("functionResponse").is_some())
            .count();
        if ran == 0 { 0 } else { sum + ran }
    })
}

fn said(told: &Told) -> Option<Value> {
    (!told.text.is_empty()).then(|| json!({"text": told.text}))
}

fn call(told: &Told) -> Option<Value> {
    let (name, arguments) = told.tool.as_ref()?;
    Some(json!({"functionCall": {"name": name, "args": arguments}}))
}

fn response(told: &Told, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let (Some(fields), Some(finish)) = (candidate.as_object_mut(), finish) {
        fields.insert("finishReason".to_owned(), finish.into());
    }
    let usage = json!({"promptTokenCount": 1200, "candidatesTokenCount": 25, "totalTokenCount": 1225, "cachedContentTokenCount": 300});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": told.model, "responseId": told.id("response")})
}

fn why(told: &Told) -> &'static str {
    told.why(["STOP", "STOP", "SAFETY", "MAX_TOKENS"])
}

pub(super) fn whole(told: &Told) -> Value {
    let parts: Vec<Value> = said(told).into_iter().chain(call(told)).collect();
    response(told, &parts, Some(why(told)))
}

pub(super) fn stream(told: &Told) -> Parts {
    let begun = said(told).map(|said| Event::plain(&response(told, &[said], None)));
    let rest: Vec<Value> = call(told).into_iter().collect();
    (
        begun.into_iter().collect(),
        vec![Event::plain(&response(told, &rest, Some(why(told))))],
    )
}

pub(super) fn broken() -> Event {
    let error = json!({"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"});
    Event::plain(&json!({"error": error}))
}
