//! What an error means that an agent's own program reports: a limit, a lapsed login, a lost network, or work that failed.
//!
//! Only error fields and lines of the program itself may come here, never what a model wrote or a tool printed.

use backstop_outcome::{FailCause, Interruption, UnavailableCause};

use crate::{ErrorKind, Reset};

/// Longer words are not read to their end, in bytes.
const READ: usize = 8 << 10;

/// An error as a program reports it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reported<'a> {
    /// The HTTP status, where one is given.
    pub http: Option<u16>,
    /// A word for the class of the error, such as `rate_limit`; may be blank.
    pub class: &'a str,
    /// What it says.
    pub words: &'a str,
}

/// Marks, with a bar between them, and what each of them means.
type Row = (&'static str, Meaning);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Billing,
    Limit,
    Overflow,
    Refused,
    Auth,
    Setup,
    Network,
    Cut,
    Provider,
    TurnCap,
    Output,
}

/// Words that mean the same whatever the status; the first row that is found counts.
const ALWAYS: &[Row] = &[
    (
        "credit balance|insufficient balance|insufficient credit|out of credits|please recharge|billing_error|\
         billing is disabled|payment required|resource package|spend cap|to use codex with your chatgpt plan|budgetexceeded",
        Meaning::Billing,
    ),
    (
        "prompt is too long|prompt_too_long|context length|context_length|context window|contextoverflow|maximum context|\
         input token count|maximum number of tokens|input is too long|hit a token limit|exceeds the maximum|too many tokens",
        Meaning::Overflow,
    ),
    (
        "content filter|contentfilter|content_filter|safeguards flagged|usage policy|model_refusal|contentpolicy",
        Meaning::Refused,
    ),
    (
        "no conversation found|no rollout found|session not found|no saved session|no session|unknown option|\
         unrecognized argument|unexpected argument|unknown argument|invalid command|unknown flag|root/sudo privileges|\
         trusted directory|must specify the|enospc|no space left on device",
        Meaning::Setup,
    ),
    (
        "max session turns|maximum session turns|turnlimited|maximum number of turns",
        Meaning::TurnCap,
    ),
    ("max_output_tokens|empty response", Meaning::Output),
];

/// Words that decide where the status does not.
const WITHOUT_STATUS: &[Row] = &[
    (
        "rate limit|rate_limit|ratelimit|usage limit|usage_limit|hit your limit|session limit|weekly limit|limit reached|\
         too many requests|overloaded|at capacity|high demand|been exhausted|resource_exhausted|exhausted your|throttl|please retry in|\
         serviceunavailable",
        Meaning::Limit,
    ),
    (
        "quota exceeded|exceeded your current quota|insufficient_quota|check your plan and billing",
        Meaning::Billing,
    ),
    (
        "not logged in|/login|log in|login|does not have access|api key|api_key|authenticat|unauthorized|oauth token|\
         permission_denied|permissiondenied|credentials|refresh token|missing environment variable|set an auth method",
        Meaning::Auth,
    ),
    (
        "model_not_found|does not exist|model not found|no such model|unknown model|modelnotfound|notfounderror",
        Meaning::Setup,
    ),
    (
        "econnrefused|econnreset|enotfound|etimedout|eai_again|connection refused|connection dropped|connection error|\
         connection reset|connect timeout|unable to connect|fetch failed|network|could not resolve|failed to resolve|\
         connection failed|error sending request|timed out",
        Meaning::Network,
    ),
    (
        "stream|disconnected before completion|closed connection|connection closed|connection was closed|premature|terminated|incomplete|\
         unexpected eof|unexpected end|transport_error|decoding response body|finish reason|finish_reason|json|type validation failed|socket hang up|\
         apiconnectionerror|other side closed",
        Meaning::Cut,
    ),
    (
        "internal server error|server_error|internalservererror|bad gateway|badgateway|gateway timeout|http_5xx",
        Meaning::Provider,
    ),
];

impl Reported<'_> {
    /// What it means. What no rule knows is a failure that the agent reported.
    #[must_use]
    pub(crate) fn kind(&self) -> ErrorKind {
        let known = self.known();
        known.map_or(ErrorKind::Failed(FailCause::Reported), |meaning| {
            self.told(meaning)
        })
    }

    /// What it means, where a rule knows it.
    #[must_use]
    pub(crate) fn known_kind(&self) -> Option<ErrorKind> {
        self.known().map(|meaning| self.told(meaning))
    }

    fn known(&self) -> Option<Meaning> {
        let end = self.words.floor_char_boundary(READ);
        let words = self.words.get(..end).unwrap_or_default();
        let said = format!("{} {words}", self.class).to_lowercase();
        let found = |rows: &[Row]| {
            let has = |(marks, _): &&Row| marks.split('|').any(|mark| said.contains(mark));
            rows.iter().find(has).map(|(_, meaning)| *meaning)
        };
        let by_status = || self.http.and_then(of_status);
        found(ALWAYS)
            .or_else(by_status)
            .or_else(|| found(WITHOUT_STATUS))
    }

    fn told(&self, meaning: Meaning) -> ErrorKind {
        match meaning {
            Meaning::Limit => ErrorKind::Limited(Reset::find(self.words)),
            Meaning::Billing => ErrorKind::Unavailable(UnavailableCause::Billing),
            Meaning::Auth => ErrorKind::Unavailable(UnavailableCause::Auth),
            Meaning::Setup => ErrorKind::Unavailable(UnavailableCause::Configuration),
            Meaning::Network => ErrorKind::Interrupted(Interruption::Network),
            Meaning::Cut => ErrorKind::Interrupted(Interruption::StreamCut),
            Meaning::Provider => ErrorKind::Interrupted(Interruption::Provider),
            Meaning::Overflow => ErrorKind::Failed(FailCause::ContextOverflow),
            Meaning::Refused => ErrorKind::Failed(FailCause::Refused),
            Meaning::TurnCap => ErrorKind::Failed(FailCause::TurnCap),
            Meaning::Output => ErrorKind::Failed(FailCause::Reported),
        }
    }
}

/// How a line of any program begins that found its disk full, as those that run on Node print it.
const NO_SPACE: &str = "ENOSPC";

/// What a program complains of in a plain line; none where the line begins with nothing that only the program writes. What no
/// rule knows is a set-up that it refuses.
pub(crate) fn complaint(line: &str, begins: &[&str]) -> Option<ErrorKind> {
    let line = line.trim_start();
    let ours = begins.iter().any(|begin| line.starts_with(begin)) || line.starts_with(NO_SPACE);
    let reported = || Reported {
        http: status_in(line),
        class: "",
        words: line,
    };
    let unknown = ErrorKind::Unavailable(UnavailableCause::Configuration);
    ours.then(|| reported().known_kind().unwrap_or(unknown))
}

/// What an HTTP status of a model provider means; 400 and the like need words.
fn of_status(status: u16) -> Option<Meaning> {
    match status {
        429 | 503 | 529 => Some(Meaning::Limit),
        401 | 403 => Some(Meaning::Auth),
        402 => Some(Meaning::Billing),
        404 => Some(Meaning::Setup),
        500..=599 => Some(Meaning::Provider),
        _ => None,
    }
}

/// The HTTP status that words begin with or name in brackets, as `API Error: 401 …` and `(HTTP 429)` do.
pub(crate) fn status_in(words: &str) -> Option<u16> {
    let digits = |text: &str| -> Option<u16> {
        let number: String = text.chars().take_while(char::is_ascii_digit).collect();
        let status = number.parse().ok()?;
        (number.len() == 3 && (400..600).contains(&status)).then_some(status)
    };
    let places = [
        "API Error: ",
        "(HTTP ",
        "rejected (",
        "Last error: ",
        "\"code\":",
        "\"code\": ",
        "status ",
        "status: ",
    ];
    let named = places
        .iter()
        .filter_map(|place| words.split_once(place))
        .find_map(|(_, rest)| digits(rest));
    named.or_else(|| digits(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(http: Option<u16>, class: &str, words: &str) -> ErrorKind {
        Reported { http, class, words }.kind()
    }

    #[test]
    fn a_status_decides_unless_the_words_say_what_no_wait_will_mend() {
        let limited = |kind: &ErrorKind| matches!(kind, ErrorKind::Limited(_));
        assert!(limited(&kind(
            Some(429),
            "",
            "You exceeded your current quota, please check your plan and billing details."
        )));
        assert!(limited(&kind(Some(529), "overloaded", "Overloaded")));
        let billing = ErrorKind::Unavailable(UnavailableCause::Billing);
        assert_eq!(
            kind(
                Some(429),
                "",
                "Insufficient balance or no resource package. Please recharge."
            ),
            billing
        );
        assert_eq!(
            kind(
                Some(400),
                "",
                "Your credit balance is too low to access the API."
            ),
            billing
        );
        assert_eq!(
            kind(
                None,
                "",
                "Quota exceeded. Check your plan and billing details."
            ),
            billing
        );
        assert_eq!(
            kind(Some(401), "", "x"),
            ErrorKind::Unavailable(UnavailableCause::Auth)
        );
        assert_eq!(
            kind(Some(500), "", "x"),
            ErrorKind::Interrupted(Interruption::Provider)
        );
    }

    #[test]
    fn what_nobody_knows_is_a_reported_failure() {
        assert_eq!(
            kind(Some(400), "", "messages: at least one is needed"),
            ErrorKind::Failed(FailCause::Reported)
        );
        assert_eq!(Reported::default().known_kind(), None);
    }

    #[test]
    fn a_status_is_read_only_where_programs_write_one() {
        let cases = [
            ("API Error: 529 Overloaded", Some(529)),
            ("API Error: Request rejected (429) · no", Some(429)),
            ("429 You exceeded", Some(429)),
            (
                "Failed; retried 5 times (14.22 seconds) Last error: 500 Internal",
                Some(500),
            ),
            ("used 429 tokens", None),
            ("4290 things", None),
            ("200 fine", None),
        ];
        for (words, status) in cases {
            assert_eq!(status_in(words), status, "{words}");
        }
    }
}
