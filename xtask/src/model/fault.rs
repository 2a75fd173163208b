//! What a provider says when it refuses: status, headers and body in each dialect, as their vendors document them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::dialect::Dialect;

/// Why it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Too many requests; another may come after so many seconds.
    Rate(u32),
    /// The same without a word on when.
    RateUnsaid,
    /// The plan is used up for so many seconds.
    Plan(u32),
    Overloaded,
    Auth,
    Forbidden,
    Billing,
    NoModel,
    TooLong,
    BadRequest,
    Internal,
}

/// What is sent.
pub(super) type Response = (u16, Vec<(&'static str, String)>, Value);

/// The classes of one fault: of Anthropic, type and code of `OpenAI`, and of Gemini.
type Classes = (
    &'static str,
    (&'static str, Option<&'static str>),
    &'static str,
);

/// The response that refuses.
pub(super) fn response(dialect: Dialect, fault: Fault) -> Response {
    let status = status(dialect, fault);
    if let (Dialect::Responses, Fault::Plan(seconds)) = (dialect, fault) {
        return plan_of_responses(seconds);
    }
    let message = message(dialect, fault);
    let (anthropic, (class, code), google) = classes(fault);
    let body = match dialect {
        Dialect::Messages => {
            json!({"type": "error", "error": {"type": anthropic, "message": message}, "request_id": "req_fake0001"})
        }
        Dialect::Generate => {
            let mut error = json!({"code": status, "message": message, "status": google});
            if let (Some(error), Some(details)) = (error.as_object_mut(), details(fault)) {
                error.insert("details".to_owned(), details);
            }
            json!({"error": error})
        }
        Dialect::Responses | Dialect::Chat => {
            json!({"error": {"message": message, "type": class, "param": null, "code": code}})
        }
    };
    (status, headers(dialect, fault), body)
}

fn status(dialect: Dialect, fault: Fault) -> u16 {
    match (fault, dialect) {
        (Fault::Auth, Dialect::Generate)
        | (Fault::Billing, Dialect::Messages)
        | (Fault::TooLong | Fault::BadRequest, _) => 400,
        (Fault::Auth, _) => 401,
        (Fault::Billing, Dialect::Generate) | (Fault::Forbidden, _) => 403,
        (Fault::NoModel, _) => 404,
        (Fault::Rate(_) | Fault::RateUnsaid | Fault::Plan(_) | Fault::Billing, _) => 429,
        (Fault::Internal, _) => 500,
        (Fault::Overloaded, Dialect::Messages) => 529,
        (Fault::Overloaded, _) => 503,
    }
}

fn classes(fault: Fault) -> Classes {
    let invalid = "invalid_request_error";
    match fault {
        Fault::Rate(_) | Fault::RateUnsaid => (
            "rate_limit_error",
            ("rate_limit_exceeded", Some("rate_limit_exceeded")),
            "RESOURCE_EXHAUSTED",
        ),
        Fault::Plan(_) => (
            "rate_limit_error",
            ("insufficient_quota", Some("insufficient_quota")),
            "RESOURCE_EXHAUSTED",
        ),
        Fault::Overloaded => (
            "overloaded_error",
            ("server_error", Some("server_is_overloaded")),
            "UNAVAILABLE",
        ),
        Fault::Auth => (
            "authentication_error",
            (invalid, Some("invalid_api_key")),
            "INVALID_ARGUMENT",
        ),
        Fault::Forbidden => (
            "permission_error",
            (invalid, Some("forbidden")),
            "PERMISSION_DENIED",
        ),
        Fault::Billing => (
            invalid,
            ("insufficient_quota", Some("insufficient_quota")),
            "PERMISSION_DENIED",
        ),
        Fault::NoModel => (
            "not_found_error",
            (invalid, Some("model_not_found")),
            "NOT_FOUND",
        ),
        Fault::TooLong => (
            invalid,
            (invalid, Some("context_length_exceeded")),
            "INVALID_ARGUMENT",
        ),
        Fault::BadRequest => (invalid, (invalid, None), "INVALID_ARGUMENT"),
        Fault::Internal => ("api_error", ("server_error", None), "INTERNAL"),
    }
}

fn message(dialect: Dialect, fault: Fault) -> String {
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    let [anthropic, openai, google] = match fault {
        Fault::Rate(seconds) => {
            return match dialect {
                Dialect::Messages => "This request would exceed your organization's rate limit of 50 requests per minute.".to_owned(),
                Dialect::Generate => format!("Resource has been exhausted (e.g. check quota). Please retry in {seconds}s."),
                Dialect::Responses | Dialect::Chat => format!(
                    "Rate limit reached for requests per min (RPM): Limit 60, Used 60. Please try again in {seconds}s."
                ),
            };
        }
        Fault::RateUnsaid => [
            "This request would exceed your organization's rate limit of 50 requests per minute.",
            "Rate limit reached for requests per min (RPM): Limit 60, Used 60.",
            "Resource has been exhausted (e.g. check quota).",
        ],
        Fault::Plan(_) => [
            "This request would exceed your account's rate limit. Please try again later.",
            quota,
            quota,
        ],
        Fault::Overloaded => [
            "Overloaded",
            "The server is currently overloaded with other requests.",
            "The model is overloaded. Please try again later.",
        ],
        Fault::Auth => [
            "invalid x-api-key",
            "Incorrect API key provided: sk-dummy.",
            "API key not valid. Please pass a valid API key.",
        ],
        Fault::Forbidden => ["Your account does not have access to this resource."; 3],
        Fault::Billing => [
            "Your credit balance is too low to access the API.",
            quota,
            "Billing is disabled for this project.",
        ],
        Fault::NoModel => ["model: fake-model does not exist or you do not have access to it."; 3],
        Fault::TooLong => [
            "prompt is too long: 215000 tokens > 200000 maximum",
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ],
        Fault::BadRequest => ["messages.0: bad value"; 3],
        Fault::Internal => ["Internal server error"; 3],
    };
    let message = match dialect {
        Dialect::Messages => anthropic,
        Dialect::Responses | Dialect::Chat => openai,
        Dialect::Generate => google,
    };
    message.to_owned()
}

/// What Gemini tells besides.
fn details(fault: Fault) -> Option<Value> {
    let retry = |seconds: u32| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")});
    match fault {
        Fault::Rate(seconds) => Some(json!([retry(seconds)])),
        Fault::Plan(seconds) => Some(json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
                "quotaMetric": "generate_requests_per_model_per_day", "quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "100"}]},
            retry(seconds)])),
        Fault::Auth => Some(
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]),
        ),
        Fault::RateUnsaid
        | Fault::Overloaded
        | Fault::Forbidden
        | Fault::Billing
        | Fault::NoModel
        | Fault::TooLong
        | Fault::BadRequest
        | Fault::Internal => None,
    }
}

fn headers(dialect: Dialect, fault: Fault) -> Vec<(&'static str, String)> {
    match (fault, dialect) {
        (Fault::Rate(seconds), _) => vec![("retry-after", seconds.to_string())],
        (Fault::Plan(seconds), Dialect::Messages) => vec![
            ("retry-after", seconds.to_string()),
            ("x-should-retry", "false".to_owned()),
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            (
                "anthropic-ratelimit-unified-reset",
                epoch_in(seconds).to_string(),
            ),
            (
                "anthropic-ratelimit-unified-representative-claim",
                "five_hour".to_owned(),
            ),
        ],
        (Fault::Plan(seconds), Dialect::Responses | Dialect::Chat) => {
            vec![("retry-after", seconds.to_string())]
        }
        _ => Vec::new(),
    }
}

fn plan_of_responses(seconds: u32) -> Response {
    let error = json!({"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
        "resets_at": epoch_in(seconds), "resets_in_seconds": seconds});
    let headers = vec![("x-codex-primary-used-percent", "100".to_owned())];
    (429, headers, json!({"error": error}))
}

fn epoch_in(seconds: u32) -> u64 {
    let then = SystemTime::now() + Duration::from_secs(seconds.into());
    then.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
