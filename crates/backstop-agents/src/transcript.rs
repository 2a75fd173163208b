//! What is kept of an agent's events: its session, its spend, its last words.

use std::collections::BTreeSet;

use backstop_vocab::Timestamp;

use crate::{AgentEvent, ErrorKind, Terminal, Tokens, ToolEnd};

/// What an agent said it used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tool calls begun.
    pub tool_calls: u64,
    /// Tokens; none when the agent does not say.
    pub tokens: Option<Tokens>,
    /// Millionths of a US dollar; none when the agent does not say.
    pub cost: Option<u64>,
}

/// Something and when it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard<T> {
    /// What.
    pub what: T,
    /// When.
    pub at: Timestamp,
}

/// The sum of an agent's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The session, where one was named.
    pub session: Option<String>,
    /// The model that worked, where it was named.
    pub model: Option<String>,
    /// What was used.
    pub spent: Spent,
    /// The last thing the model wrote.
    pub message: Option<String>,
    /// What keeps the agent from going on, as long as nothing came after it.
    pub trouble: Option<Heard<ErrorKind>>,
    /// What the model asks a person, as long as nothing came after it.
    pub question: Option<String>,
    /// The agent's last word. A failure gives way to another failure alone.
    pub terminal: Option<Heard<Terminal>>,
    /// Files that the program says it wrote.
    pub edits: u64,
    /// Tool calls that were not allowed.
    pub denied: u64,
    /// Tool calls that ran to their end.
    pub ran: u64,
    /// Whether a single byte was heard; to be set by whoever hears the bytes.
    pub spoke: bool,
    open: BTreeSet<String>,
}

impl Transcript {
    /// Takes one more event, heard at this moment.
    pub fn take(&mut self, event: AgentEvent, at: Timestamp) {
        match event {
            AgentEvent::Session(id) => self.session = Some(id),
            AgentEvent::Model(name) => self.model = Some(name),
            AgentEvent::ToolOpened(id) => self.open(id),
            AgentEvent::ToolClosed(id, end) => self.close(&id, end),
            AgentEvent::Edited => self.edits = self.edits.saturating_add(1),
            AgentEvent::Text(text) => self.say(text),
            AgentEvent::Asks(question) => self.question = Some(question),
            AgentEvent::Used(tokens) => self.spent.tokens = Some(tokens),
            AgentEvent::Cost(n) => self.spent.cost = Some(n),
            AgentEvent::Trouble(what) => self.trouble = Some(Heard { what, at }),
            AgentEvent::Ended(what) => self.end(Heard { what, at }),
        }
    }

    fn open(&mut self, id: String) {
        self.go_on();
        if self.open.insert(id) {
            self.spent.tool_calls = self.spent.tool_calls.saturating_add(1);
        }
    }

    fn close(&mut self, id: &str, end: ToolEnd) {
        self.go_on();
        self.open.remove(id);
        let count = match end {
            ToolEnd::Ran => &mut self.ran,
            ToolEnd::Denied => &mut self.denied,
        };
        *count = count.saturating_add(1);
    }

    fn say(&mut self, text: String) {
        self.go_on();
        self.message = Some(text);
    }

    /// It is at work again: whatever kept it is over.
    fn go_on(&mut self) {
        self.trouble = None;
        self.question = None;
    }

    fn end(&mut self, heard: Heard<Terminal>) {
        let failed = |what: &Terminal| matches!(what, Terminal::Error(_) | Terminal::Aborted);
        let has_failed = self
            .terminal
            .as_ref()
            .is_some_and(|last| failed(&last.what));
        if failed(&heard.what) || !has_failed {
            self.terminal = Some(heard);
        }
    }

    /// Whether a tool call is open: silence means something else then.
    #[must_use]
    pub fn tool_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the agent said nothing and did nothing, by its own account.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let silent = self
            .message
            .as_deref()
            .is_some_and(|text| text.trim().is_empty());
        silent && self.spent.tool_calls == 0 && self.edits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstop_outcome::FailCause;

    const AT: Timestamp = Timestamp::from_millis(0);

    fn heard(events: impl IntoIterator<Item = AgentEvent>) -> Transcript {
        let mut transcript = Transcript::default();
        for event in events {
            transcript.take(event, AT);
        }
        transcript
    }

    #[test]
    fn unreported_is_not_zero_and_the_last_total_counts() {
        assert_eq!(Transcript::default().spent.cost, None);
        let used = |input| {
            AgentEvent::Used(Tokens {
                input,
                output: 1,
                cached: 5,
            })
        };
        let transcript = heard([used(2), used(3), AgentEvent::Cost(7)]);
        assert_eq!(transcript.spent.tokens.map(Tokens::charged), Some(4));
        assert_eq!(transcript.spent.cost, Some(7));
    }

    #[test]
    fn a_call_is_counted_once_however_often_it_is_announced() {
        let opened = || AgentEvent::ToolOpened("a".into());
        let mut transcript = heard([opened(), opened()]);
        assert_eq!(transcript.spent.tool_calls, 1);
        assert!(transcript.tool_open());
        transcript.take(AgentEvent::ToolClosed("a".into(), ToolEnd::Denied), AT);
        assert!(!transcript.tool_open());
        assert_eq!((transcript.ran, transcript.denied), (0, 1));
    }

    #[test]
    fn a_failure_is_taken_back_by_another_failure_alone() {
        let failed = || Terminal::Error(ErrorKind::Failed(FailCause::Reported));
        let last = |words: &[Terminal]| {
            let transcript = heard(words.iter().cloned().map(AgentEvent::Ended));
            transcript.terminal.map(|heard| heard.what)
        };
        for first in [failed(), Terminal::Aborted] {
            let words = [first.clone(), Terminal::Success];
            assert_eq!(last(&words), Some(first.clone()));
            let words = [
                first.clone(),
                Terminal::Asked("why?".into()),
                Terminal::Success,
            ];
            assert_eq!(last(&words), Some(first));
        }
        assert_eq!(last(&[Terminal::Aborted, failed()]), Some(failed()));
    }

    #[test]
    fn what_the_agent_does_next_takes_its_trouble_back() {
        let trouble = || AgentEvent::Trouble(ErrorKind::Limited(None));
        let next = [
            AgentEvent::Text("on".into()),
            AgentEvent::ToolOpened("a".into()),
            AgentEvent::ToolClosed("a".into(), ToolEnd::Ran),
        ];
        for event in next {
            assert_eq!(heard([trouble(), event]).trouble, None);
        }
        let still = [AgentEvent::Session("s".into()), AgentEvent::Cost(1)];
        for event in still {
            assert!(heard([trouble(), event]).trouble.is_some());
        }
    }
}
