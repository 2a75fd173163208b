//! How an attempt ended, from what the host knows and what the agent's program said.
//!
//! What the model wrote and what tools printed decide nothing here.

use backstop_outcome::{
    Account, Evidence, FailCause, Interruption, Post, Status, UnavailableCause, with_evidence,
};
use backstop_vocab::{Text, Timestamp};
use serde::Serialize;

use crate::{ErrorKind, Features, Reset, Support, Terminal, Transcript, Zone};

/// `SIGINT`, `SIGKILL` and `SIGTERM`, which POSIX numbers everywhere alike.
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// Why a program could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpawnFault {
    /// It is not there.
    Missing,
    /// It may not be executed.
    NotExecutable,
    /// Its working directory is not there.
    NoDirectory,
    /// Something else; a later try may work.
    Other,
}

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It never ran.
    NotStarted(SpawnFault),
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Nobody saw it end: the runner died first.
    Unseen,
}

/// Who ended the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// The agent itself, or something that is not Backstop.
    Itself,
    /// The idle limit.
    Idle,
    /// The wall-clock limit of an attempt.
    Wall,
    /// A spent account.
    Budget(Account),
    /// An operator's stop.
    Stop,
}

/// What the host knows of an attempt's end.
#[derive(Debug, Clone)]
pub struct HostFacts {
    /// How the process ended.
    pub ending: Ending,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// How many processes the kernel killed for want of memory meanwhile.
    pub oom_kills: u64,
    /// Where the host is: a clock time without a zone is taken as one of here.
    pub zone: Zone,
}

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Backstop ended it.
    EndedByHost,
    /// It came no further over a limit, a network that is lost, or a question.
    QuietAfterTrouble,
    /// It could not be started.
    NotStarted,
    /// Nobody saw it end.
    Unseen,
    /// The kernel killed it.
    KilledFromOutside,
    /// Something else ended it with a signal.
    SignalNotOurs,
    /// Its own last word.
    Terminal,
    /// Its own last word is that somebody told it to stop.
    Aborted,
    /// It claims success, and no tool that it wanted was allowed.
    DeniedTools,
    /// It claims success, and said and did nothing.
    Blank,
    /// It has no last word, and its program complained last of this.
    Trouble,
    /// It claims success, and something that the host saw contradicts it.
    Contradiction,
    /// Its exit status, as it has no last word.
    ExitStatus,
    /// It has a last word and did not say it.
    NoTerminal,
    /// It failed before it said anything.
    NothingSaid,
    /// It claims success, and what its stage needs is not there.
    Evidence,
}

/// A status, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// How the attempt ended.
    pub status: Status,
    /// Which rule decided.
    pub rule: Rule,
    /// The end of the limit rests on a supposition, such as the zone of a clock time.
    pub until_assumed: bool,
}

/// Classifies an attempt: host facts first, then the agent's last word, then what kept it from going on, then its exit
/// status, else Unknown.
#[must_use]
pub fn classify(features: Features, transcript: &Transcript, host: &HostFacts) -> Classified {
    let decided = by_host(transcript, host)
        .or_else(|| by_terminal(transcript, host))
        .or_else(|| by_trouble(transcript, host))
        .unwrap_or_else(|| by_exit(features, transcript, host));
    let Decided {
        status,
        rule,
        assumed,
    } = decided;
    Classified {
        status,
        rule,
        until_assumed: assumed,
    }
}

impl Classified {
    /// The same, held against what the host saw of the work.
    #[must_use]
    pub fn with_evidence(self, post: &Post, evidence: &Evidence) -> Self {
        let status = with_evidence(post, self.status.clone(), evidence);
        let rule = if status == self.status {
            self.rule
        } else {
            Rule::Evidence
        };
        Self {
            status,
            rule,
            ..self
        }
    }
}

struct Decided {
    status: Status,
    rule: Rule,
    assumed: bool,
}

const fn decided(status: Status, rule: Rule) -> Decided {
    Decided {
        status,
        rule,
        assumed: false,
    }
}

fn by_host(transcript: &Transcript, host: &HostFacts) -> Option<Decided> {
    let ours = |status| Some(decided(status, Rule::EndedByHost));
    match host.ended_by {
        EndedBy::Stop => ours(Status::Cancelled),
        EndedBy::Budget(account) => ours(Status::OverBudget { account }),
        EndedBy::Wall => Some(ran_out(transcript, host)),
        EndedBy::Idle => Some(went_quiet(transcript, host)),
        EndedBy::Itself => by_ending(host),
    }
}

/// What an agent went quiet over: a limit, the network, a question; nothing else explains silence.
fn went_quiet(transcript: &Transcript, host: &HostFacts) -> Decided {
    if let Some(question) = &transcript.question {
        return decided(asked(question), Rule::QuietAfterTrouble);
    }
    match &transcript.trouble {
        Some(trouble) if !matches!(trouble.what, ErrorKind::Failed(_) | ErrorKind::Killed) => {
            error(&trouble.what, trouble.at, host, Rule::QuietAfterTrouble)
        }
        Some(_) | None => decided(Status::IdleTimeout, Rule::EndedByHost),
    }
}

/// An agent that tried a broken connection again until its time was over is interrupted; any other used its time up.
fn ran_out(transcript: &Transcript, host: &HostFacts) -> Decided {
    match &transcript.trouble {
        Some(trouble) if matches!(trouble.what, ErrorKind::Interrupted(_)) => {
            error(&trouble.what, trouble.at, host, Rule::QuietAfterTrouble)
        }
        Some(_) | None => {
            let account = Account::ActiveTime;
            decided(Status::OverBudget { account }, Rule::EndedByHost)
        }
    }
}

fn by_ending(host: &HostFacts) -> Option<Decided> {
    match host.ending {
        Ending::NotStarted(fault) => Some(decided(not_started(fault), Rule::NotStarted)),
        Ending::Unseen => Some(decided(
            Status::Interrupted {
                by: Interruption::RunnerDied,
            },
            Rule::Unseen,
        )),
        Ending::Signalled(SIGKILL) | Ending::Exited(137) => {
            Some(decided(Status::ResourceKilled, Rule::KilledFromOutside))
        }
        // POSIX shells, and programs that handle a signal in their way, add 128 to its number.
        Ending::Signalled(SIGTERM | SIGINT) | Ending::Exited(130 | 143) => {
            Some(decided(Status::Unknown, Rule::SignalNotOurs))
        }
        Ending::Signalled(_) => Some(decided(
            Status::Failed {
                cause: FailCause::Reported,
            },
            Rule::SignalNotOurs,
        )),
        Ending::Exited(_) => None,
    }
}

const fn not_started(fault: SpawnFault) -> Status {
    let cause = match fault {
        SpawnFault::Missing => UnavailableCause::Missing,
        SpawnFault::NotExecutable => UnavailableCause::NotExecutable,
        SpawnFault::NoDirectory | SpawnFault::Other => UnavailableCause::Configuration,
    };
    Status::AgentUnavailable { cause }
}

fn by_terminal(transcript: &Transcript, host: &HostFacts) -> Option<Decided> {
    let terminal = transcript.terminal.as_ref()?;
    Some(match &terminal.what {
        Terminal::Success => success(transcript, host),
        Terminal::Asked(question) => decided(asked(question), Rule::Terminal),
        Terminal::Error(kind) => error(kind, terminal.at, host, Rule::Terminal),
        Terminal::Aborted => decided(Status::Unknown, Rule::Aborted),
    })
}

/// A success that the agent claims, held against everything else that it and the host know.
fn success(transcript: &Transcript, host: &HostFacts) -> Decided {
    let clean = host.ending == Ending::Exited(0) && host.oom_kills == 0;
    if !clean {
        return decided(Status::Unknown, Rule::Contradiction);
    }
    if let Some(question) = &transcript.question {
        return decided(asked(question), Rule::Terminal);
    }
    if transcript.denied > 0 && transcript.ran == 0 && transcript.edits == 0 {
        let cause = FailCause::DeniedTools;
        return decided(Status::Failed { cause }, Rule::DeniedTools);
    }
    if transcript.is_blank() {
        return decided(Status::Unknown, Rule::Blank);
    }
    decided(Status::Success, Rule::Terminal)
}

/// What its program complained of last, where it ended without a last word.
fn by_trouble(transcript: &Transcript, host: &HostFacts) -> Option<Decided> {
    let trouble = transcript.trouble.as_ref()?;
    Some(error(&trouble.what, trouble.at, host, Rule::Trouble))
}

fn asked(question: &str) -> Status {
    Status::Asked {
        question: Text::clip(question),
    }
}

fn error(kind: &ErrorKind, heard: Timestamp, host: &HostFacts, rule: Rule) -> Decided {
    let status = match kind {
        ErrorKind::Limited(reset) => return limited(reset.as_ref(), heard, host, rule),
        ErrorKind::Unavailable(cause) => Status::AgentUnavailable { cause: *cause },
        ErrorKind::Interrupted(by) => Status::Interrupted { by: *by },
        ErrorKind::Failed(cause) => Status::Failed { cause: *cause },
        ErrorKind::Killed => Status::ResourceKilled,
    };
    decided(status, rule)
}

fn limited(reset: Option<&Reset>, heard: Timestamp, host: &HostFacts, rule: Rule) -> Decided {
    let until = reset.map(|reset| reset.resolve(heard, &host.zone));
    Decided {
        status: Status::RateLimited {
            until: until.as_ref().and_then(|until| until.at),
        },
        rule,
        assumed: until.is_some_and(|until| until.assumed),
    }
}

/// POSIX shells say 126 for a command that may not be executed and 127 for one that is not there.
fn by_exit(features: Features, transcript: &Transcript, host: &HostFacts) -> Decided {
    let unavailable = |cause, rule| decided(Status::AgentUnavailable { cause }, rule);
    match (features.terminal, host.ending) {
        (_, Ending::Exited(126)) => unavailable(UnavailableCause::NotExecutable, Rule::ExitStatus),
        (_, Ending::Exited(127)) => unavailable(UnavailableCause::Missing, Rule::ExitStatus),
        (Support::No, Ending::Exited(0)) if host.oom_kills > 0 => {
            decided(Status::Unknown, Rule::Contradiction)
        }
        (Support::No, Ending::Exited(0)) => decided(Status::Success, Rule::ExitStatus),
        (Support::No, _) => decided(
            Status::Failed {
                cause: FailCause::Reported,
            },
            Rule::ExitStatus,
        ),
        // It went before it said a byte: nobody but its set-up is to blame.
        (Support::Yes, Ending::Exited(code)) if code != 0 && !transcript.spoke => {
            unavailable(UnavailableCause::Configuration, Rule::NothingSaid)
        }
        (Support::Yes, _) => decided(Status::Unknown, Rule::NoTerminal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentEvent, ToolEnd};

    const AT: Timestamp = Timestamp::from_millis(0);

    fn features(terminal: Support) -> Features {
        Features {
            resume: Support::Yes,
            names_session: Support::No,
            model: Support::Yes,
            cost: Support::Yes,
            terminal,
            edits: Support::No,
        }
    }

    fn host(ending: Ending, ended_by: EndedBy, oom_kills: u64) -> HostFacts {
        HostFacts {
            ending,
            ended_by,
            oom_kills,
            zone: Zone::utc(),
        }
    }

    fn heard(events: impl IntoIterator<Item = AgentEvent>) -> Transcript {
        let mut transcript = Transcript::default();
        for event in events {
            transcript.take(event, AT);
        }
        transcript
    }

    fn said(terminal: Terminal) -> Transcript {
        heard([AgentEvent::Ended(terminal)])
    }

    fn decided(terminal: Support, heard: &Transcript, host: &HostFacts) -> (Status, Rule) {
        let Classified { status, rule, .. } = classify(features(terminal), heard, host);
        (status, rule)
    }

    /// What an agent with a last word comes to when it exits by itself.
    fn exited(heard: &Transcript, code: i32) -> (Status, Rule) {
        let host = host(Ending::Exited(code), EndedBy::Itself, 0);
        decided(Support::Yes, heard, &host)
    }

    #[test]
    fn exit_0_without_a_last_word_is_a_success_only_for_an_agent_that_has_none() {
        let quiet = Transcript::default();
        let exit = host(Ending::Exited(0), EndedBy::Itself, 0);
        assert_eq!(exited(&quiet, 0), (Status::Unknown, Rule::NoTerminal));
        let silent = decided(Support::No, &quiet, &exit);
        assert_eq!(silent, (Status::Success, Rule::ExitStatus));
    }

    #[test]
    fn an_error_outranks_exit_0_and_a_success_does_not_outrank_exit_1() {
        let error = said(Terminal::Error(ErrorKind::Limited(None)));
        let limited = Status::RateLimited { until: None };
        assert_eq!(exited(&error, 0), (limited, Rule::Terminal));
        let conflict = (Status::Unknown, Rule::Contradiction);
        assert_eq!(exited(&said(Terminal::Success), 1), conflict);
        let aborted = (Status::Unknown, Rule::Aborted);
        assert_eq!(exited(&said(Terminal::Aborted), 0), aborted);
    }

    #[test]
    fn what_the_host_did_outranks_what_the_agent_said() {
        let over = |account| Status::OverBudget { account };
        let killed = Ending::Signalled(SIGKILL);
        let cases = [
            (killed, EndedBy::Stop, Status::Cancelled),
            (killed, EndedBy::Idle, Status::IdleTimeout),
            (killed, EndedBy::Budget(Account::Cost), over(Account::Cost)),
            (killed, EndedBy::Wall, over(Account::ActiveTime)),
            (killed, EndedBy::Itself, Status::ResourceKilled),
            (Ending::Exited(137), EndedBy::Itself, Status::ResourceKilled),
            (Ending::Exited(143), EndedBy::Itself, Status::Unknown),
            (Ending::Signalled(SIGTERM), EndedBy::Itself, Status::Unknown),
        ];
        let done = said(Terminal::Success);
        for (ending, ended_by, expected) in cases {
            let (status, _) = decided(Support::Yes, &done, &host(ending, ended_by, 0));
            assert_eq!(status, expected, "{ending:?} {ended_by:?}");
        }
    }

    #[test]
    fn memory_that_ran_out_beside_a_success_is_conflicting_evidence() {
        let facts = host(Ending::Exited(0), EndedBy::Itself, 1);
        let conflict = (Status::Unknown, Rule::Contradiction);
        let done = said(Terminal::Success);
        assert_eq!(decided(Support::Yes, &done, &facts), conflict);
        let quiet = Transcript::default();
        assert_eq!(decided(Support::No, &quiet, &facts), conflict);
    }

    #[test]
    fn going_quiet_over_a_limit_or_a_question_is_not_idleness() {
        let idle = host(Ending::Signalled(SIGTERM), EndedBy::Idle, 0);
        let limit = || AgentEvent::Trouble(ErrorKind::Limited(None));
        let failed = ErrorKind::Failed(FailCause::Reported);
        let asks = || AgentEvent::Asks("which one?".into());
        let question = Text::clip("which one?");
        let cases = [
            (vec![limit()], Status::RateLimited { until: None }),
            (
                vec![limit(), AgentEvent::Text("on".into())],
                Status::IdleTimeout,
            ),
            (vec![AgentEvent::Trouble(failed)], Status::IdleTimeout),
            (vec![asks()], Status::Asked { question }),
        ];
        for (events, expected) in cases {
            let (status, _) = decided(Support::Yes, &heard(events.clone()), &idle);
            assert_eq!(status, expected, "{events:?}");
        }
    }

    #[test]
    fn time_that_ran_out_over_a_broken_connection_is_an_interruption() {
        let wall = host(Ending::Signalled(SIGTERM), EndedBy::Wall, 0);
        let trouble = |kind| AgentEvent::Trouble(kind);
        let by = Interruption::StreamCut;
        let cut = || trouble(ErrorKind::Interrupted(by));
        let over = Status::OverBudget {
            account: Account::ActiveTime,
        };
        let cases = [
            (vec![cut(), cut()], Status::Interrupted { by }),
            (vec![cut(), AgentEvent::Text("on".into())], over.clone()),
            (vec![trouble(ErrorKind::Limited(None))], over),
        ];
        for (events, expected) in cases {
            let (status, _) = decided(Support::Yes, &heard(events.clone()), &wall);
            assert_eq!(status, expected, "{events:?}");
        }
    }

    #[test]
    fn a_claimed_success_that_did_and_said_nothing_is_none() {
        let ended = || AgentEvent::Ended(Terminal::Success);
        let blank = heard([AgentEvent::Text(" ".into()), ended()]);
        assert_eq!(exited(&blank, 0), (Status::Unknown, Rule::Blank));
        let closed = |end| AgentEvent::ToolClosed("a".into(), end);
        let denied = Status::Failed {
            cause: FailCause::DeniedTools,
        };
        let all_denied = heard([closed(ToolEnd::Denied), ended()]);
        assert_eq!(exited(&all_denied, 0), (denied, Rule::DeniedTools));
        let one_ran = heard([closed(ToolEnd::Denied), closed(ToolEnd::Ran), ended()]);
        assert_eq!(exited(&one_ran, 0), (Status::Success, Rule::Terminal));
        let asks = heard([AgentEvent::Asks("which?".into()), ended()]);
        assert!(matches!(exited(&asks, 0).0, Status::Asked { .. }));
    }

    #[test]
    fn a_last_complaint_stands_where_no_last_word_came_and_gives_way_to_one() {
        let limit = || AgentEvent::Trouble(ErrorKind::Limited(None));
        let limited = Status::RateLimited { until: None };
        for code in [0, 1] {
            let found = exited(&heard([limit()]), code);
            assert_eq!(found, (limited.clone(), Rule::Trouble));
        }
        let recovered = heard([limit(), AgentEvent::Ended(Terminal::Success)]);
        assert_eq!(exited(&recovered, 0), (Status::Success, Rule::Terminal));
    }

    #[test]
    fn an_agent_that_failed_before_it_said_a_byte_is_unavailable() {
        let cause = UnavailableCause::Configuration;
        let silent = exited(&Transcript::default(), 1);
        assert_eq!(
            silent,
            (Status::AgentUnavailable { cause }, Rule::NothingSaid)
        );
        let mut spoke = Transcript::default();
        spoke.spoke = true;
        assert_eq!(exited(&spoke, 1), (Status::Unknown, Rule::NoTerminal));
    }

    #[test]
    fn a_command_that_is_not_there_is_an_unavailable_agent() {
        let missing = Ending::NotStarted(SpawnFault::Missing);
        let no_directory = Ending::NotStarted(SpawnFault::NoDirectory);
        let cases = [
            (Ending::Exited(127), UnavailableCause::Missing),
            (Ending::Exited(126), UnavailableCause::NotExecutable),
            (missing, UnavailableCause::Missing),
            (no_directory, UnavailableCause::Configuration),
        ];
        for (ending, cause) in cases {
            let facts = host(ending, EndedBy::Itself, 0);
            let (status, _) = decided(Support::No, &Transcript::default(), &facts);
            assert_eq!(status, Status::AgentUnavailable { cause });
        }
    }
}
