//! What the model does, turn by turn.

use super::fault::Fault;

/// What it says when all is done.
const FINAL: &str = "All done. The task is complete.";

/// What stands in `out.txt` once the work is done.
pub(crate) const WRITTEN: &str = "hello from tool";

/// The seconds after which a provider may be asked again.
const SOON: u32 = 5;
const IN_AN_HOUR: u32 = 3600;
const IN_TWO_HOURS: u32 = 7200;

/// A command that does not end. Some refuse to run one that only sleeps.
pub(crate) const FOR_EVER: &str = "tail -f /dev/null";

/// A scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scene {
    /// It writes `out.txt`, looks at it, and says that all is done.
    Works,
    /// It says this and does nothing.
    Says(&'static str),
    /// It runs this command, then says this.
    Runs(&'static str, &'static str),
    /// It calls a tool, for ever.
    Loops,
    /// It refuses in its own words.
    Declines,
    /// It is cut off by the limit of an answer.
    Overlong,
    /// Every answer breaks off like this.
    Breaks(Break),
    /// The first answer breaks off, the next says that all is done.
    BreaksOnce,
    /// Every answer is a page for people.
    Page,
    /// The provider refuses every call.
    Refuses(Fault),
    /// The provider refuses the first two calls.
    RefusesTwice(Fault),
    /// It writes `out.txt`, then the provider refuses.
    RefusesLater(Fault),
    /// It writes `out.txt`, then every answer breaks off like this.
    BreaksLater(Break),
}

/// How an answer breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// Nothing more comes.
    Stall,
    /// The connection closes.
    Reset,
    /// The stream ends without its last words.
    End,
    /// The provider tells of an error in the stream.
    Error,
}

/// Every scene by the name that recordings have, and what an attempt is that met it.
pub(crate) const SCENES: &[(&str, Scene, &str)] = &[
    ("auth_401", Scene::Refuses(Fault::Auth), "AgentUnavailable"),
    (
        "bad_request_400",
        Scene::Refuses(Fault::BadRequest),
        "Failed",
    ),
    (
        "bg_child",
        Scene::Runs("nohup sleep 333 >/dev/null 2>&1 & echo started", FINAL),
        "Success",
    ),
    (
        "billing",
        Scene::Refuses(Fault::Billing),
        "AgentUnavailable",
    ),
    ("context_too_long", Scene::Refuses(Fault::TooLong), "Failed"),
    ("cut", Scene::Breaks(Break::Reset), "Interrupted"),
    (
        "cut_after_work",
        Scene::BreaksLater(Break::Reset),
        "Interrupted",
    ),
    ("cut_eof", Scene::Breaks(Break::End), "Interrupted"),
    ("cut_once", Scene::BreaksOnce, "Success"),
    ("empty", Scene::Says(""), "NotSuccess"),
    ("err_500", Scene::Refuses(Fault::Internal), "Interrupted"),
    (
        "forbidden_403",
        Scene::Refuses(Fault::Forbidden),
        "AgentUnavailable",
    ),
    (
        "limit_after_work",
        Scene::RefusesLater(Fault::Plan(IN_TWO_HOURS)),
        "RateLimited",
    ),
    ("malformed", Scene::Page, "Interrupted"),
    ("max_tokens", Scene::Overlong, "NotSuccess"),
    ("max_turns", Scene::Loops, "Failed"),
    (
        "model_404",
        Scene::Refuses(Fault::NoModel),
        "AgentUnavailable",
    ),
    (
        "overloaded",
        Scene::Refuses(Fault::Overloaded),
        "RateLimited",
    ),
    (
        "overloaded_transient",
        Scene::RefusesTwice(Fault::Overloaded),
        "Success",
    ),
    (
        "question",
        Scene::Says(
            "Which of the two options do you want me to use? Please tell me before I continue.",
        ),
        "NotSuccess",
    ),
    (
        "rate_429_after_work",
        Scene::RefusesLater(Fault::Rate(SOON)),
        "RateLimited",
    ),
    (
        "rate_429_no_header",
        Scene::Refuses(Fault::RateUnsaid),
        "RateLimited",
    ),
    (
        "rate_429_retry_after_1h",
        Scene::Refuses(Fault::Rate(IN_AN_HOUR)),
        "RateLimited",
    ),
    (
        "rate_429_retry_after_5s",
        Scene::Refuses(Fault::Rate(SOON)),
        "RateLimited",
    ),
    (
        "rate_429_transient",
        Scene::RefusesTwice(Fault::Rate(2)),
        "Success",
    ),
    ("refusal", Scene::Declines, "NotSuccess"),
    (
        "says_rate_limit",
        Scene::Says(
            "I added handling for HTTP 429 rate limit errors: 'Rate limit reached, try again in 20s'. usage limit reached. All tests pass.",
        ),
        "Success",
    ),
    ("sigkill", Scene::Breaks(Break::Stall), "ResourceKilled"),
    (
        "sigkill_tool",
        Scene::Runs(FOR_EVER, FINAL),
        "ResourceKilled",
    ),
    ("sigterm", Scene::Breaks(Break::Stall), "Unknown"),
    ("sigterm_tool", Scene::Runs(FOR_EVER, FINAL), "Unknown"),
    ("stall", Scene::Breaks(Break::Stall), "IdleTimeout"),
    ("stream_error", Scene::Breaks(Break::Error), "RateLimited"),
    ("success_text", Scene::Says(FINAL), "Success"),
    (
        "tool_fails",
        Scene::Runs(
            "echo 'test result: FAILED. 1 passed; 2 failed' >&2; exit 1",
            "The tests fail and I could not fix them.",
        ),
        "NotSuccess",
    ),
    ("tool_success", Scene::Works, "Success"),
    (
        "usage_limit",
        Scene::Refuses(Fault::Plan(IN_TWO_HOURS)),
        "RateLimited",
    ),
];

/// What is said to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Reply(Reply),
    Broken(Reply, Break),
    Refused(Fault),
    Page,
}

/// What the model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) text: String,
    /// A command that it wants to be run.
    pub(super) command: Option<String>,
    pub(super) stop: Stop,
}

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    Refusal,
    Length,
}

fn said(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        command: None,
        stop: Stop::Done,
    }
}

fn says(text: &str) -> Answer {
    Answer::Reply(said(text))
}

fn runs(text: &str, command: &str) -> Answer {
    Answer::Reply(Reply {
        command: Some(command.to_owned()),
        ..said(text)
    })
}

fn stops(text: &str, stop: Stop) -> Answer {
    Answer::Reply(Reply { stop, ..said(text) })
}

/// What breaks off began with this.
const BEGUN: &str = "Let me think about that for a";

fn writes() -> Answer {
    runs(
        "Writing the file.",
        &format!("printf '{WRITTEN}\\n' > out.txt"),
    )
}

impl Scene {
    /// The scene of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = SCENES.iter().find(|(known, ..)| *known == name);
        found.map(|(_, scene, _)| *scene)
    }

    /// What is said to the `call`-th call of the scene, after `results` tools ran since the prompt.
    pub(super) fn turn(self, call: u32, results: usize) -> Answer {
        match self {
            Self::Works => match results {
                0 => writes(),
                1 => runs("Checking.", "cat out.txt && git status --short"),
                _ => says(FINAL),
            },
            Self::RefusesLater(_) | Self::BreaksLater(_) if call == 1 => writes(),
            Self::Runs(command, _) if results == 0 => runs("Running it.", command),
            Self::Runs(_, then) => says(then),
            Self::Loops => runs(&format!("Step {call}."), &format!("echo step {call}")),
            Self::Says(_)
            | Self::Declines
            | Self::Overlong
            | Self::Breaks(_)
            | Self::BreaksOnce
            | Self::Page
            | Self::Refuses(_)
            | Self::RefusesTwice(_)
            | Self::RefusesLater(_)
            | Self::BreaksLater(_) => self.without_tools(call),
        }
    }

    /// The same for an agent without tools, which edits by the text of an answer.
    pub(super) fn edit(self, call: u32) -> Answer {
        match self {
            Self::Works | Self::Runs(..) | Self::Loops => says(&format!(
                "Here is the file:\n\nout.txt\n```\n{WRITTEN}\n```\n"
            )),
            Self::RefusesLater(_) | Self::BreaksLater(_) if call == 1 => Self::Works.edit(call),
            Self::Says(_)
            | Self::Declines
            | Self::Overlong
            | Self::Breaks(_)
            | Self::BreaksOnce
            | Self::Page
            | Self::Refuses(_)
            | Self::RefusesTwice(_)
            | Self::RefusesLater(_)
            | Self::BreaksLater(_) => self.without_tools(call),
        }
    }

    fn without_tools(self, call: u32) -> Answer {
        match self {
            Self::Says(text) => says(text),
            Self::Declines => stops("I can't help with that request.", Stop::Refusal),
            Self::Overlong => stops("This answer was cut because of the token", Stop::Length),
            Self::Breaks(how) | Self::BreaksLater(how) => Answer::Broken(said(BEGUN), how),
            Self::BreaksOnce if call == 1 => Answer::Broken(said(BEGUN), Break::Reset),
            Self::Page => Answer::Page,
            Self::RefusesTwice(fault) if call <= 2 => Answer::Refused(fault),
            Self::Refuses(fault) | Self::RefusesLater(fault) => Answer::Refused(fault),
            Self::Works
            | Self::Runs(..)
            | Self::Loops
            | Self::BreaksOnce
            | Self::RefusesTwice(_) => says(FINAL),
        }
    }

    /// What is said to a side call, whose usual answer is `text`. A provider refuses those too.
    pub(super) fn aside(self, text: &str) -> Answer {
        if let Self::Refuses(fault) = self {
            return Answer::Refused(fault);
        }
        says(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_and_each_is_found() {
        assert!(SCENES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(Scene::named("tool_success"), Some(Scene::Works));
        assert_eq!(Scene::named("frob"), None);
    }

    #[test]
    fn work_is_written_looked_at_and_done() {
        let commands = [0, 1, 2].map(|results| match Scene::Works.turn(1, results) {
            Answer::Reply(reply) => reply.command.unwrap_or(reply.text),
            other @ (Answer::Broken(..) | Answer::Refused(_) | Answer::Page) => panic!("{other:?}"),
        });
        assert_eq!(
            commands,
            [
                "printf 'hello from tool\\n' > out.txt",
                "cat out.txt && git status --short",
                FINAL
            ]
        );
    }

    #[test]
    fn what_is_refused_at_first_is_answered_later() {
        let twice = Scene::RefusesTwice(Fault::Overloaded);
        assert_eq!(twice.turn(2, 0), Answer::Refused(Fault::Overloaded));
        assert_eq!(twice.turn(3, 0), says(FINAL));
        let later = Scene::RefusesLater(Fault::Auth);
        assert_eq!(later.turn(1, 0), writes());
        assert_eq!(later.turn(2, 1), Answer::Refused(Fault::Auth));
        assert_eq!(Scene::BreaksOnce.turn(2, 0), says(FINAL));
    }
}
