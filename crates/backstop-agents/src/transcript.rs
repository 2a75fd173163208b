//! What is kept of an agent's events: its session, its spend, its last words.

use std::collections::BTreeSet;

use crate::{AgentEvent, Notice, Terminal};

/// What an agent said it used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tool calls begun.
    pub tool_calls: u64,
    /// Tokens: uncached input plus output; none when the agent does not say.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; none when the agent does not say.
    pub cost: Option<u64>,
}

/// The sum of an agent's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The session, where one was named.
    pub session: Option<String>,
    /// What was used.
    pub spent: Spent,
    /// The last thing the model wrote.
    pub message: Option<String>,
    /// The last notice of the provider.
    pub notice: Option<Notice>,
    /// The agent's last word. A failure is not taken back by a later success.
    pub terminal: Option<Terminal>,
    open: BTreeSet<String>,
}

impl Transcript {
    /// Takes one more event.
    pub fn take(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Session(id) => self.session = Some(id),
            AgentEvent::ToolOpened(id) => {
                self.spent.tool_calls = self.spent.tool_calls.saturating_add(1);
                self.open.insert(id);
            }
            AgentEvent::ToolClosed(id) => {
                self.open.remove(&id);
            }
            AgentEvent::Text(text) => self.message = Some(text),
            AgentEvent::Tokens(n) => add(&mut self.spent.tokens, n),
            AgentEvent::Cost(n) => add(&mut self.spent.cost, n),
            AgentEvent::Notice(notice) => self.notice = Some(notice),
            AgentEvent::Ended(terminal) => self.end(terminal),
        }
    }

    fn end(&mut self, terminal: Terminal) {
        let failed = matches!(self.terminal, Some(Terminal::Error(_)));
        if !(failed && terminal == Terminal::Success) {
            self.terminal = Some(terminal);
        }
    }

    /// Whether a tool call is open: silence means something else then.
    #[must_use]
    pub fn tool_open(&self) -> bool {
        !self.open.is_empty()
    }
}

fn add(sum: &mut Option<u64>, n: u64) {
    *sum = Some(sum.unwrap_or(0).saturating_add(n));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use backstop_outcome::FailCause;

    #[test]
    fn spend_adds_up_and_unreported_is_not_zero() {
        let mut transcript = Transcript::default();
        assert_eq!(transcript.spent.cost, None);
        for event in [
            AgentEvent::Cost(2),
            AgentEvent::Cost(3),
            AgentEvent::ToolOpened("a".into()),
        ] {
            transcript.take(event);
        }
        assert_eq!(transcript.spent.cost, Some(5));
        assert_eq!(transcript.spent.tokens, None);
        assert!(transcript.tool_open());
        transcript.take(AgentEvent::ToolClosed("a".into()));
        assert!(!transcript.tool_open());
    }

    #[test]
    fn a_failure_is_not_taken_back_by_a_later_success() {
        let mut transcript = Transcript::default();
        let failed = Terminal::Error(ErrorKind::Failed(FailCause::Reported));
        transcript.take(AgentEvent::Ended(failed.clone()));
        transcript.take(AgentEvent::Ended(Terminal::Success));
        assert_eq!(transcript.terminal, Some(failed));
    }
}
