//! Aider.
//!
//! It speaks free text, has no last word, and leaves with 0 whatever happened. What its program prints is told from what
//! the model wrote by the form of the lines; the line with the tokens comes only after an answer that came whole, so
//! nothing that the model wrote outlasts it.

use backstop_outcome::FailCause;

use crate::adapter::{
    About, Access, Adapter, CommandLine, Features, Invocation, Parser, Stdin, Support, given,
};
use crate::by_line::micros;
use crate::trouble::{Reported, complaint, status_in};
use crate::{AgentEvent, ErrorKind, Lines, Stream, Terminal, Tokens};

/// Its flags, whatever it is asked. Nothing is asked of a person, no page is opened or fetched, and no file of its own is
/// left in the checkout.
const FIXED: &[&str] = &[
    "--yes-always",
    "--no-check-update",
    "--no-show-release-notes",
    "--analytics-disable",
    "--no-show-model-warnings",
    "--no-pretty",
    "--no-fancy-input",
    "--no-gitignore",
    "--no-detect-urls",
    "--chat-history-file",
    "/dev/null",
    "--input-history-file",
    "/dev/null",
    "--map-tokens",
    "0",
    "--message-file",
    "/dev/stdin",
];

/// The adapter.
#[derive(Debug)]
pub(crate) struct Aider;

impl Adapter for Aider {
    fn name(&self) -> &'static str {
        "aider"
    }

    fn features(&self) -> Features {
        Features {
            resume: Support::No,
            model: Support::Yes,
            cost: Support::Yes,
            // Its last word is made of the line with the tokens.
            terminal: Support::Yes,
            edits: Support::Yes,
            names_session: Support::No,
        }
    }

    fn about(&self) -> Option<About> {
        Some(About {
            program: "aider",
            tested: "0.86.2",
            variables: &[
                "OPENAI_API_KEY",
                "ANTHROPIC_API_KEY",
                "GEMINI_API_KEY",
                "DEEPSEEK_API_KEY",
                "OPENROUTER_API_KEY",
                "AIDER_OPENAI_API_KEY",
                "AIDER_ANTHROPIC_API_KEY",
                "AIDER_API_KEY",
            ],
            logins: &[".aider.conf.yml", ".env", ".aider/oauth-keys.env"],
            gaps: &[
                "it takes up no session: every attempt begins anew",
                "it runs no command, and sees only the files that its task names",
                "it leaves with 0 whatever happened: how it ended is read from its words",
                "it says what a run cost only for models whose price it knows",
                "it does not wait for a limit longer than a minute: Backstop does",
            ],
        })
    }

    fn command(&self, invocation: &Invocation) -> Result<CommandLine, String> {
        let mut args: Vec<String> = FIXED.iter().map(|&flag| flag.to_owned()).collect();
        if invocation.access == Access::Look {
            args.extend(["--chat-mode", "ask"].map(String::from));
        }
        args.extend(given([
            ("--model", &invocation.model),
            ("--reasoning-effort", &invocation.effort),
        ]));
        Ok(CommandLine {
            program: Some(invocation.program("aider")),
            args,
            // It would open the pages that its errors name.
            env: vec![("BROWSER".into(), "true".into())],
            stdin: Stdin::Text(plain_prompt(&invocation.prompt)),
        })
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(Output::default())
    }
}

/// The prompt as a message: one that begins with a slash or an exclamation mark would be run as a command.
fn plain_prompt(prompt: &str) -> String {
    if prompt.starts_with(['/', '!']) {
        format!("\n{prompt}")
    } else {
        prompt.to_owned()
    }
}

/// How lines begin that only the program itself writes before the model was asked, or on standard error.
const COMPLAINTS: &[&str] = &["aider: error: ", "No LLM model was specified"];

/// What it prints for every file that it wrote.
const EDITED: &str = "Applied edit to ";

/// What it prints in place of an answer that holds nothing.
const EMPTY: &str = "Empty response received from LLM";

/// How it begins to explain an error.
const EXPLAINED: &str = "The API provider";

/// The longest error that is put together, in bytes.
const LONGEST_ERROR: usize = 4 << 10;

/// How much of an answer is kept, in bytes.
const LONGEST_ANSWER: usize = 256 << 10;

/// Reads its output.
#[derive(Debug, Default)]
struct Output {
    out: Lines,
    err: Lines,
    place: Place,
    /// What came since the model was asked last, or since the program said what it made of an answer.
    reply: String,
    /// An error that may go on in the next line.
    error: String,
    /// Whether something is wrong since the last whole answer.
    troubled: bool,
    /// Whether a whole answer came.
    answered: bool,
}

/// Where in its output it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the model was asked.
    #[default]
    Opening,
    /// Where the model answers.
    Reply,
    /// After an answer: what was made of it, and maybe another round.
    After,
}

impl Parser for Output {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Vec<AgentEvent> {
        let mut heard = Vec::new();
        for line in self.lines(stream).all(bytes) {
            self.line(stream, &line.unwrap_or_default(), &mut heard);
        }
        heard
    }

    fn finish(&mut self) -> Vec<AgentEvent> {
        let mut heard = Vec::new();
        for stream in [Stream::Out, Stream::Err] {
            if let Some(line) = self.lines(stream).rest() {
                self.line(stream, &line, &mut heard);
            }
        }
        if self.answered && !self.troubled {
            heard.push(AgentEvent::Ended(Terminal::Success));
        }
        heard
    }
}

impl Output {
    fn lines(&mut self, stream: Stream) -> &mut Lines {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn line(&mut self, stream: Stream, line: &str, heard: &mut Vec<AgentEvent>) {
        if let Some(at) = provider_error(line) {
            self.keep(line);
            self.error.clear();
            self.in_error(line.get(at..).unwrap_or_default(), heard);
        } else if stream == Stream::Err || self.place == Place::Opening {
            self.opening(line, heard);
        } else if !self.error.is_empty() && line.starts_with("Retrying in ") {
            self.ask_again();
        } else if let Some(report) = Report::read(line) {
            self.whole_answer(&report, heard);
        } else if let Some(kind) = self.notice(line) {
            self.keep(line);
            self.troubled(kind, heard);
        } else if self.place == Place::After && made_of_it(line) {
            self.reply.clear();
            heard.extend(line.starts_with(EDITED).then_some(AgentEvent::Edited));
            heard.extend(cost(line).map(AgentEvent::Cost));
        } else {
            self.words(line, heard);
        }
    }

    /// A line before the model was asked.
    fn opening(&mut self, line: &str, heard: &mut Vec<AgentEvent>) {
        if let Some(kind) = complaint(line, COMPLAINTS) {
            self.troubled(kind, heard);
        }
        let model = ["Model: ", "Main model: "]
            .iter()
            .find_map(|begin| line.strip_prefix(begin))
            .and_then(|rest| rest.split(" with ").next());
        heard.extend(model.map(|model| AgentEvent::Model(model.to_owned())));
        if line.starts_with("Repo-map: ") {
            self.place = Place::Reply;
        }
    }

    /// It asks the model again: what came so far counts for nothing.
    fn ask_again(&mut self) {
        self.place = Place::Reply;
        self.reply.clear();
        self.error.clear();
    }

    /// The line with the tokens. Nothing received is no answer.
    fn whole_answer(&mut self, report: &Report, heard: &mut Vec<AgentEvent>) {
        heard.push(AgentEvent::Used(report.tokens));
        heard.extend(report.cost.map(AgentEvent::Cost));
        let reply = std::mem::take(&mut self.reply);
        let reply = reply.trim();
        self.error.clear();
        self.place = Place::After;
        if report.tokens.output == 0 || reply.starts_with(EMPTY) {
            return;
        }
        heard.push(AgentEvent::Text(reply.to_owned()));
        self.troubled = false;
        self.answered = true;
    }

    /// What the program says of the run itself.
    fn notice(&self, line: &str) -> Option<ErrorKind> {
        if line.contains("has hit a token limit!") {
            return Some(ErrorKind::Failed(FailCause::ContextOverflow));
        }
        let given_up =
            line.starts_with("Only ") && line.ends_with(" reflections allowed, stopping.");
        let empty = self.reply.trim().is_empty() && line.starts_with(EMPTY);
        let broken = line.starts_with("Traceback (most recent call last):");
        (given_up || empty || broken).then_some(ErrorKind::Failed(FailCause::Reported))
    }

    /// What is neither the program's nor part of an error is the model's.
    fn words(&mut self, line: &str, heard: &mut Vec<AgentEvent>) {
        let first = self.reply.trim().is_empty();
        if first && greeting(line) {
            return;
        }
        self.keep(line);
        if !self.error.is_empty() {
            self.in_error(line, heard);
        } else if first && self.place == Place::Reply && !line.trim().is_empty() {
            heard.push(AgentEvent::Text(line.to_owned()));
        }
    }

    /// Keeps a line as one that the model may have written.
    fn keep(&mut self, line: &str) {
        let room = LONGEST_ANSWER.saturating_sub(self.reply.len());
        if room == 0 {
            return;
        }
        let line = line.get(..line.floor_char_boundary(room));
        self.reply.push_str(line.unwrap_or_default());
        self.reply.push('\n');
    }

    /// One more line of an error, which is wrapped where lines are long.
    fn in_error(&mut self, line: &str, heard: &mut Vec<AgentEvent>) {
        let before = self.error.len();
        if before < LONGEST_ERROR {
            self.error.push_str(line.trim_end());
            self.error.push(' ');
            let kind = reported(&self.error);
            self.troubled(kind, heard);
        }
    }

    fn troubled(&mut self, kind: ErrorKind, heard: &mut Vec<AgentEvent>) {
        self.troubled = true;
        heard.push(AgentEvent::Trouble(kind));
    }
}

/// The line after an answer that came whole.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    /// All that the message used so far, further rounds and all.
    tokens: Tokens,
    /// What the run cost so far, in millionths of a US dollar; only for models whose price it knows.
    cost: Option<u64>,
}

impl Report {
    /// Reads `Tokens: 1.2k sent, 300 cache hit, 8 received. Cost: $0.01 message, $0.02 session.`
    fn read(line: &str) -> Option<Self> {
        let (figures, rest) = line.strip_prefix("Tokens: ")?.split_once(" received.")?;
        let (sent, figures) = figures.split_once(" sent, ")?;
        let received = figures.rsplit(", ").next()?;
        let hit = figures
            .split(", ")
            .find_map(|figure| figure.strip_suffix(" cache hit"));
        // What came from a cache is among what was sent.
        let cached = hit.and_then(count).unwrap_or(0);
        let tokens = Tokens {
            input: count(sent)?.saturating_sub(cached),
            output: count(received)?,
            cached,
        };
        Some(Self {
            tokens,
            cost: cost(rest.trim_start()),
        })
    }
}

/// A number of tokens: `600`, `1.2k` or `12k`.
fn count(figure: &str) -> Option<u64> {
    let Some(thousands) = figure.strip_suffix('k') else {
        return figure.parse().ok();
    };
    let (whole, tenths) = thousands.split_once('.').unwrap_or((thousands, "0"));
    let tenths: u64 = tenths.parse().ok().filter(|tenths| *tenths < 10)?;
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(1000)?
        .checked_add(tenths.checked_mul(100)?)
}

/// What the run cost so far: `Cost: $0.01 message, $0.02 session.`
fn cost(line: &str) -> Option<u64> {
    let (_, session) = line.strip_prefix("Cost: $")?.split_once(" message, $")?;
    let (dollars, _) = session.split_once(" session.")?;
    micros(dollars.parse().ok()?)
}

/// Where in a line an error of the provider begins, as the library words it that asks: `litellm.<Kind>Error: …`. It may
/// stand right behind what the model wrote, since that has no line end yet.
fn provider_error(line: &str) -> Option<usize> {
    let named = |(at, begin): (usize, &str)| {
        let rest = line.get(at.saturating_add(begin.len())..)?;
        let (kind, _) = rest.split_once(':')?;
        let known = kind.ends_with("Error") || kind == "Timeout";
        (known && kind.chars().all(|c| c.is_ascii_alphabetic())).then_some(at)
    };
    line.match_indices("litellm.").find_map(named)
}

/// What an error of the provider means. Its kind is a word among its words; what the program explains behind them is the
/// same for many errors.
fn reported(error: &str) -> ErrorKind {
    let error = error.split(EXPLAINED).next().unwrap_or_default();
    Reported {
        http: status_in(error),
        class: "",
        words: error,
    }
    .kind()
}

/// Whether the program says here what it made of an answer.
fn made_of_it(line: &str) -> bool {
    [EDITED, "Commit ", "Cost: $"]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// Whether the program says here what it begins with.
fn greeting(line: &str) -> bool {
    line.starts_with("Restored previous conversation")
        || line.starts_with("https://aider.chat/")
        || (line.starts_with("Added ") && line.contains(" to the chat"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstop_outcome::{Interruption, UnavailableCause};

    fn asked(access: Access, prompt: &str) -> CommandLine {
        let invocation = Invocation {
            prompt: prompt.into(),
            model: Some("openai/m".into()),
            effort: Some("high".into()),
            session: Some("s1".into()),
            fresh_session: None,
            access,
            schema: None,
            options: Vec::new(),
        };
        Aider.command(&invocation).unwrap()
    }

    const LAUNCHED: &[&str] = &[
        "--yes-always",
        "--no-check-update",
        "--no-show-release-notes",
        "--analytics-disable",
        "--no-show-model-warnings",
        "--no-pretty",
        "--no-fancy-input",
        "--no-gitignore",
        "--no-detect-urls",
        "--chat-history-file",
        "/dev/null",
        "--input-history-file",
        "/dev/null",
        "--map-tokens",
        "0",
        "--message-file",
        "/dev/stdin",
    ];

    #[test]
    fn every_launch_is_a_first_one_and_leaves_no_file_of_its_own() {
        let line = asked(Access::Write, "fix it");
        let chosen = ["--model", "openai/m", "--reasoning-effort", "high"];
        assert_eq!(line.args, [LAUNCHED, &chosen].concat());
        assert_eq!(line.program, Some("aider".into()));
        assert_eq!(line.env, [("BROWSER".to_owned(), "true".to_owned())]);
        assert_eq!(line.stdin, Stdin::Text("fix it".into()));
    }

    #[test]
    fn who_only_looks_is_asked_and_edits_nothing() {
        let line = asked(Access::Look, "look");
        let looks = ["--chat-mode", "ask"];
        let chosen = ["--model", "openai/m", "--reasoning-effort", "high"];
        assert_eq!(line.args, [LAUNCHED, &looks, &chosen].concat());
    }

    #[test]
    fn a_prompt_is_never_a_command() {
        for prompt in ["/run rm -rf .", "!rm -rf ."] {
            let line = asked(Access::Write, prompt);
            assert_eq!(line.stdin, Stdin::Text(format!("\n{prompt}")));
        }
    }

    const BANNER: &str = "Aider v0.86.2\nModel: openai/m with whole edit format\nGit repo: .git with 1 files\nRepo-map: disabled\n\n\nhttps://aider.chat/HISTORY.html#release-notes\n\n";

    fn said(words: &str) -> Vec<AgentEvent> {
        let mut parser = Aider.parser();
        let mut heard = parser.take(Stream::Out, format!("{BANNER}{words}").as_bytes());
        heard.extend(parser.finish());
        assert_eq!(heard.remove(0), AgentEvent::Model("openai/m".into()));
        heard
    }

    fn text(words: &str) -> AgentEvent {
        AgentEvent::Text(words.into())
    }

    fn used(input: u64, output: u64, cached: u64) -> AgentEvent {
        AgentEvent::Used(Tokens {
            input,
            output,
            cached,
        })
    }

    const SUCCESS: AgentEvent = AgentEvent::Ended(Terminal::Success);

    #[test]
    fn an_answer_that_came_whole_is_the_final_message_and_the_success() {
        let heard = said(
            "I write\n\n{\n  \"a\": 1\n}\n\nTokens: 1.2k sent, 200 cache hit, 12k received. Cost: $0.01 message, $0.02 session.\n\nf\nApplied edit to f\nCommit 1234567 Write f\n",
        );
        let expected = [
            text("I write"),
            used(1000, 12_000, 200),
            AgentEvent::Cost(20_000),
            text("I write\n\n{\n  \"a\": 1\n}"),
            AgentEvent::Edited,
            SUCCESS,
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn a_further_round_has_totals_and_a_message_of_its_own() {
        let heard = said(
            "One\nTokens: 10 sent, 2 received.\nApplied edit to f\nCommit 1234567 One\nTwo\nTokens: 20 sent, 4 received.\nCost: $0.1 message, $0.3 session.\n",
        );
        let expected = [
            text("One"),
            used(10, 2, 0),
            text("One"),
            AgentEvent::Edited,
            used(20, 4, 0),
            text("Two"),
            AgentEvent::Cost(300_000),
            SUCCESS,
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn an_error_is_read_over_its_wrapped_lines_and_behind_what_the_model_wrote() {
        let cut = AgentEvent::Trouble(ErrorKind::Interrupted(Interruption::StreamCut));
        let heard = said(
            "Let melitellm.APIConnectionError: APIConnectionError: OpenAIException - peer closed \nconnection (incomplete chunked read)\nRetrying in 0.2 seconds...\nLet me go on\n",
        );
        assert_eq!(heard, [cut.clone(), cut, text("Let me go on")]);
        let provider = AgentEvent::Trouble(ErrorKind::Interrupted(Interruption::Provider));
        let heard = said(
            "litellm.InternalServerError: InternalServerError: OpenAIException - Internal \nserver error\nThe API provider's servers are down or overloaded.\nRetrying in 0.2 seconds...\n",
        );
        assert_eq!(heard.last(), Some(&provider));
        let billing = ErrorKind::Unavailable(UnavailableCause::Billing);
        let heard = said(
            "litellm.APIError: APIError: OpenrouterException - {\"error\":{\"message\":\"Insufficient \ncredits\",\"code\":402}}\n",
        );
        assert_eq!(heard.last(), Some(&AgentEvent::Trouble(billing)));
    }

    #[test]
    fn kinds_of_errors_mean_what_their_names_say() {
        let cases = [
            (
                "AuthenticationError",
                ErrorKind::Unavailable(UnavailableCause::Auth),
            ),
            (
                "PermissionDeniedError",
                ErrorKind::Unavailable(UnavailableCause::Auth),
            ),
            (
                "NotFoundError",
                ErrorKind::Unavailable(UnavailableCause::Configuration),
            ),
            (
                "BudgetExceededError",
                ErrorKind::Unavailable(UnavailableCause::Billing),
            ),
            ("RateLimitError", ErrorKind::Limited(None)),
            ("RouterRateLimitError", ErrorKind::Limited(None)),
            ("ServiceUnavailableError", ErrorKind::Limited(None)),
            (
                "InternalServerError",
                ErrorKind::Interrupted(Interruption::Provider),
            ),
            (
                "BadGatewayError",
                ErrorKind::Interrupted(Interruption::Provider),
            ),
            (
                "APIConnectionError",
                ErrorKind::Interrupted(Interruption::StreamCut),
            ),
            ("BadRequestError", ErrorKind::Failed(FailCause::Reported)),
            (
                "ContentPolicyViolationError",
                ErrorKind::Failed(FailCause::Refused),
            ),
        ];
        for (kind, meaning) in cases {
            let line = format!("litellm.{kind}: {kind}: OpenAIException - x\n");
            assert_eq!(said(&line), [AgentEvent::Trouble(meaning)], "{kind}");
        }
        let lost = AgentEvent::Trouble(ErrorKind::Interrupted(Interruption::Network));
        let line = "litellm.Timeout: Timeout: OpenAIException - Request timed out.\n";
        assert_eq!(said(line), [lost]);
    }

    #[test]
    fn what_the_model_writes_of_errors_and_edits_is_taken_back_by_its_whole_answer() {
        let heard = said(
            "It prints\nlitellm.RateLimitError: slow down\nApplied edit to f\nModel m has hit a token limit!\nTokens: 9 sent, 9 received.\n",
        );
        assert_eq!(heard.last(), Some(&SUCCESS));
        assert!(!heard.contains(&AgentEvent::Edited));
        let whole = "It prints\nlitellm.RateLimitError: slow down\nApplied edit to f\nModel m has hit a token limit!";
        assert!(heard.contains(&text(whole)));
    }

    #[test]
    fn nothing_received_and_rounds_given_up_are_no_success() {
        let failed = || AgentEvent::Trouble(ErrorKind::Failed(FailCause::Reported));
        let empty = "Empty response received from LLM. Check your provider account?\n\n";
        for received in ["0", "25"] {
            let heard = said(&format!("{empty}Tokens: 600 sent, {received} received.\n"));
            assert_eq!(heard[0], failed());
            assert!(!heard.contains(&SUCCESS), "{received}");
        }
        let heard = said("x\nTokens: 1 sent, 1 received.\nOnly 3 reflections allowed, stopping.\n");
        assert_eq!(heard.last(), Some(&failed()));
        let overflow = AgentEvent::Trouble(ErrorKind::Failed(FailCause::ContextOverflow));
        let heard =
            said("Tokens: 600 sent, 0 received.\n\n\nModel openai/m has hit a token limit!\n");
        assert_eq!(heard, [used(600, 0, 0), overflow]);
    }

    #[test]
    fn what_keeps_it_from_starting_is_read_before_the_model_is_asked_and_not_later() {
        let auth = ErrorKind::Unavailable(UnavailableCause::Auth);
        let setup = ErrorKind::Unavailable(UnavailableCause::Configuration);
        let no_key = "No LLM model was specified and no API keys were provided.\n";
        let no_flag = "usage: aider [-h]\naider: error: unrecognized arguments: --no-such-flag\n";
        let cases = [(Stream::Out, no_key, auth), (Stream::Err, no_flag, setup)];
        for (stream, line, kind) in cases {
            let mut parser = Aider.parser();
            let heard = parser.take(stream, line.as_bytes());
            assert_eq!(heard, [AgentEvent::Trouble(kind)]);
            assert_eq!(parser.finish(), []);
        }
        assert_eq!(said(no_key), [text(no_key.trim_end())]);
    }

    #[test]
    fn figures_are_read_whole_or_not_at_all() {
        let cases = [
            ("600", Some(600)),
            ("1.2k", Some(1200)),
            ("12k", Some(12_000)),
            ("1.25k", None),
            ("k", None),
            ("-1", None),
        ];
        for (figure, read) in cases {
            assert_eq!(count(figure), read, "{figure}");
        }
        assert_eq!(Report::read("Tokens: many sent, 8 received."), None);
        assert_eq!(Report::read("Tokens: 600 sent, 8 received"), None);
    }
}
