//! How an attempt ended, from what the host knows and what the agent's program said.
//!
//! What the model wrote and what tools printed decide nothing here.

use backstop_outcome::{Account, FailCause, Interruption, Status, UnavailableCause};
use backstop_vocab::Text;

use crate::{ErrorKind, Features, Notice, Support, Terminal, Transcript};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostFacts {
    /// How the process ended.
    pub ending: Ending,
    /// Who ended it.
    pub ended_by: EndedBy,
    /// How many processes the kernel killed for want of memory meanwhile.
    pub oom_kills: u64,
}

/// Which rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Backstop ended it.
    EndedByHost,
    /// It went quiet after the provider told it to wait, or could not be reached.
    QuietAfterNotice,
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
    /// It claims success, and something that the host saw contradicts it.
    Contradiction,
    /// Its exit status, as it has no last word.
    ExitStatus,
    /// It has a last word and did not say it.
    NoTerminal,
}

/// A status, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// How the attempt ended.
    pub status: Status,
    /// Which rule decided.
    pub rule: Rule,
}

/// Classifies an attempt: host facts first, then the agent's last word, then its exit status, else Unknown.
#[must_use]
pub fn classify(features: Features, transcript: &Transcript, host: &HostFacts) -> Classified {
    let decided = by_host(transcript, host)
        .or_else(|| by_terminal(transcript, host))
        .unwrap_or_else(|| by_exit(features, host));
    let (status, rule) = decided;
    Classified { status, rule }
}

type Decided = (Status, Rule);

fn by_host(transcript: &Transcript, host: &HostFacts) -> Option<Decided> {
    match host.ended_by {
        EndedBy::Stop => Some((Status::Cancelled, Rule::EndedByHost)),
        EndedBy::Budget(account) => Some((Status::OverBudget { account }, Rule::EndedByHost)),
        EndedBy::Wall => Some((
            Status::OverBudget {
                account: Account::ActiveTime,
            },
            Rule::EndedByHost,
        )),
        EndedBy::Idle => Some(went_quiet(transcript)),
        EndedBy::Itself => by_ending(host),
    }
}

fn went_quiet(transcript: &Transcript) -> Decided {
    match transcript.notice {
        Some(Notice::Limited(until)) => (Status::RateLimited { until }, Rule::QuietAfterNotice),
        Some(Notice::Network) => (
            Status::Interrupted {
                by: Interruption::Network,
            },
            Rule::QuietAfterNotice,
        ),
        None => (Status::IdleTimeout, Rule::EndedByHost),
    }
}

fn by_ending(host: &HostFacts) -> Option<Decided> {
    match host.ending {
        Ending::NotStarted(fault) => Some((not_started(fault), Rule::NotStarted)),
        Ending::Unseen => Some((
            Status::Interrupted {
                by: Interruption::RunnerDied,
            },
            Rule::Unseen,
        )),
        Ending::Signalled(SIGKILL) | Ending::Exited(137) => {
            Some((Status::ResourceKilled, Rule::KilledFromOutside))
        }
        Ending::Signalled(SIGTERM | SIGINT) => Some((Status::Unknown, Rule::SignalNotOurs)),
        Ending::Signalled(_) => Some((
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
    let clean = host.ending == Ending::Exited(0);
    Some(match transcript.terminal.as_ref()? {
        Terminal::Success if clean && host.oom_kills == 0 => (Status::Success, Rule::Terminal),
        Terminal::Success => (Status::Unknown, Rule::Contradiction),
        Terminal::Asked(question) => (
            Status::Asked {
                question: Text::clip(question),
            },
            Rule::Terminal,
        ),
        Terminal::Error(kind) => (error(*kind), Rule::Terminal),
    })
}

const fn error(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::Limited(until) => Status::RateLimited { until },
        ErrorKind::Unavailable(cause) => Status::AgentUnavailable { cause },
        ErrorKind::Interrupted(by) => Status::Interrupted { by },
        ErrorKind::Failed(cause) => Status::Failed { cause },
    }
}

/// POSIX shells say 126 for a command that may not be executed and 127 for one that is not there.
fn by_exit(features: Features, host: &HostFacts) -> Decided {
    let unavailable = |cause| (Status::AgentUnavailable { cause }, Rule::ExitStatus);
    match (features.terminal, host.ending) {
        (_, Ending::Exited(126)) => unavailable(UnavailableCause::NotExecutable),
        (_, Ending::Exited(127)) => unavailable(UnavailableCause::Missing),
        (Support::No, Ending::Exited(0)) if host.oom_kills > 0 => {
            (Status::Unknown, Rule::Contradiction)
        }
        (Support::No, Ending::Exited(0)) => (Status::Success, Rule::ExitStatus),
        (Support::Yes, Ending::Exited(0)) => (Status::Unknown, Rule::NoTerminal),
        (Support::Yes | Support::No, _) => (
            Status::Failed {
                cause: FailCause::Reported,
            },
            Rule::ExitStatus,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentEvent;

    const SAYS: Features = Features {
        resume: Support::Yes,
        model: Support::Yes,
        cost: Support::Yes,
        terminal: Support::Yes,
    };
    const SILENT: Features = Features {
        resume: Support::No,
        model: Support::Yes,
        cost: Support::No,
        terminal: Support::No,
    };

    fn host(ending: Ending, ended_by: EndedBy) -> HostFacts {
        HostFacts {
            ending,
            ended_by,
            oom_kills: 0,
        }
    }

    fn said(terminal: Terminal) -> Transcript {
        heard(AgentEvent::Ended(terminal))
    }

    fn heard(event: AgentEvent) -> Transcript {
        let mut transcript = Transcript::default();
        transcript.take(event);
        transcript
    }

    fn status(features: Features, transcript: &Transcript, facts: HostFacts) -> Status {
        classify(features, transcript, &facts).status
    }

    #[test]
    fn exit_0_without_a_last_word_is_no_success() {
        let quiet = Transcript::default();
        let exit = host(Ending::Exited(0), EndedBy::Itself);
        assert_eq!(status(SAYS, &quiet, exit), Status::Unknown);
        assert_eq!(status(SILENT, &quiet, exit), Status::Success);
    }

    #[test]
    fn an_error_outranks_exit_0_and_a_success_does_not_outrank_exit_1() {
        let error = said(Terminal::Error(ErrorKind::Limited(None)));
        let exit = |code| host(Ending::Exited(code), EndedBy::Itself);
        assert_eq!(
            status(SAYS, &error, exit(0)),
            Status::RateLimited { until: None }
        );
        assert_eq!(
            status(SAYS, &said(Terminal::Success), exit(1)),
            Status::Unknown
        );
    }

    #[test]
    fn what_the_host_did_outranks_what_the_agent_said() {
        let done = said(Terminal::Success);
        let killed = Ending::Signalled(SIGKILL);
        let budget = EndedBy::Budget(Account::Cost);
        let cases = [
            (host(killed, EndedBy::Stop), Status::Cancelled),
            (host(killed, EndedBy::Idle), Status::IdleTimeout),
            (
                host(killed, budget),
                Status::OverBudget {
                    account: Account::Cost,
                },
            ),
            (
                host(killed, EndedBy::Wall),
                Status::OverBudget {
                    account: Account::ActiveTime,
                },
            ),
            (host(killed, EndedBy::Itself), Status::ResourceKilled),
            (
                host(Ending::Exited(137), EndedBy::Itself),
                Status::ResourceKilled,
            ),
            (
                host(Ending::Signalled(SIGTERM), EndedBy::Itself),
                Status::Unknown,
            ),
        ];
        for (facts, expected) in cases {
            assert_eq!(status(SAYS, &done, facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn memory_that_ran_out_beside_a_success_is_conflicting_evidence() {
        let facts = HostFacts {
            oom_kills: 1,
            ..host(Ending::Exited(0), EndedBy::Itself)
        };
        assert_eq!(
            status(SAYS, &said(Terminal::Success), facts),
            Status::Unknown
        );
        let quiet = classify(SILENT, &Transcript::default(), &facts);
        assert_eq!(
            (quiet.status, quiet.rule),
            (Status::Unknown, Rule::Contradiction)
        );
    }

    #[test]
    fn going_quiet_after_a_limit_notice_is_the_limit() {
        let waiting = heard(AgentEvent::Notice(Notice::Limited(None)));
        let facts = host(Ending::Signalled(SIGTERM), EndedBy::Idle);
        assert_eq!(
            status(SAYS, &waiting, facts),
            Status::RateLimited { until: None }
        );
    }

    #[test]
    fn a_command_that_is_not_there_is_an_unavailable_agent() {
        let unavailable = |cause| Status::AgentUnavailable { cause };
        let cases = [
            (Ending::Exited(127), UnavailableCause::Missing),
            (Ending::Exited(126), UnavailableCause::NotExecutable),
            (
                Ending::NotStarted(SpawnFault::Missing),
                UnavailableCause::Missing,
            ),
            (
                Ending::NotStarted(SpawnFault::NoDirectory),
                UnavailableCause::Configuration,
            ),
        ];
        for (ending, cause) in cases {
            let facts = host(ending, EndedBy::Itself);
            assert_eq!(
                status(SILENT, &Transcript::default(), facts),
                unavailable(cause)
            );
        }
    }
}
