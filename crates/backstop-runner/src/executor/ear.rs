//! Hears an agent while it runs: keeps its transcript without secrets, reads its events, counts its spend.

use std::time::Duration;

use backstop_agents::{AgentEvent, Figure, Parser, Spent, Stream, Tokens, Transcript};
use backstop_engine::mode::Account;
use backstop_engine::vocab::{Digest, EffectId, Text};
use backstop_engine::{Allowance, Cost, Fact, Order as LaunchOrder, SessionOpened};
use tokio::sync::mpsc;

use super::attempt::Live;
use super::recording::Recording;
use crate::blobs::Spool;
use crate::clock;
use crate::edge::Ground;
use crate::history;
use crate::process::{Heard, Listen, Order, Pipe};

/// What earlier attempts of the same session were charged, where the agent goes on counting from it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) tokens: u64,
    pub(super) cost: u64,
}

impl Before {
    /// What is on record of the session that an order takes up.
    pub(super) fn of(ground: &Ground, order: &LaunchOrder, carries: &[Figure]) -> Self {
        let mut before = Self::default();
        let Some(session) = order.session.as_ref().filter(|_| !carries.is_empty()) else {
            return before;
        };
        // A journal that cannot be read charges twice rather than not at all.
        let steps =
            history::read(&ground.dir.journal()).map_or_else(|_| Vec::new(), |found| found.steps);
        for step in steps {
            let Fact::AttemptEnded(ended) = step.fact else {
                continue;
            };
            if ended.session.as_ref() != Some(session) {
                continue;
            }
            if carries.contains(&Figure::Tokens) {
                before.tokens = before.tokens.saturating_add(ended.usage.tokens);
            }
            if let (true, Cost::Reported(cost)) =
                (carries.contains(&Figure::Cost), ended.usage.cost)
            {
                before.cost = before.cost.saturating_add(cost);
            }
        }
        before
    }
}

/// What is heard of one attempt.
pub(super) struct Ear<'a> {
    ground: &'a Ground,
    id: EffectId,
    facts: mpsc::UnboundedSender<Fact>,
    allowance: Allowance,
    parser: Box<dyn Parser>,
    recording: Recording<'a>,
    /// What the agent's figures hold of earlier attempts.
    before: Before,
    transcript: Transcript,
    /// The account that ran out, once one has.
    spent: Option<Account>,
}

/// What was heard in all.
pub(super) struct Told {
    pub(super) transcript: Transcript,
    pub(super) spent: Option<Account>,
    pub(super) digest: Option<Digest>,
}

impl<'a> Ear<'a> {
    pub(super) fn new(
        ground: &'a Ground,
        live: &Live,
        allowance: Allowance,
        (parser, before): (Box<dyn Parser>, Before),
        spool: Spool,
    ) -> Self {
        Self {
            ground,
            id: live.id,
            facts: live.facts.clone(),
            allowance,
            parser,
            recording: Recording::new(ground, spool),
            before,
            transcript: Transcript::default(),
            spent: None,
        }
    }

    /// Takes note of the name that a new session was given.
    pub(super) fn open(&mut self, session: Option<String>) {
        if let Some(session) = session {
            self.take(AgentEvent::Session(session));
        }
    }

    fn silence(&self) -> Duration {
        let limits = &self.ground.settings.limits;
        let ms = if self.transcript.tool_open() {
            limits.tool_idle_ms
        } else {
            limits.idle_ms
        };
        Duration::from_millis(ms)
    }

    fn take(&mut self, event: AgentEvent) {
        if let AgentEvent::Session(id) = &event
            && self.transcript.session.as_ref() != Some(id)
        {
            let session = Text::clip(id);
            let opened = SessionOpened {
                effect: self.id,
                session,
            };
            let _ = self.facts.send(Fact::SessionOpened(opened));
        }
        self.transcript.take(event, clock::now());
    }

    /// What this attempt alone used.
    fn spent(&self) -> Spent {
        let Spent {
            tool_calls,
            tokens,
            cost,
        } = self.transcript.spent;
        Spent {
            tool_calls,
            tokens: tokens.map(|tokens| tokens.beyond(self.before.tokens)),
            cost: cost.map(|cost| cost.saturating_sub(self.before.cost)),
        }
    }

    /// The first effort account with nothing left. An agent that has said its last word is not over any budget.
    fn over(&self) -> Option<Account> {
        if self.transcript.terminal.is_some() {
            return None;
        }
        let spent = self.spent();
        let accounts = [
            (
                Account::ToolCalls,
                spent.tool_calls,
                self.allowance.tool_calls,
            ),
            (
                Account::Tokens,
                spent.tokens.map_or(0, Tokens::charged),
                self.allowance.tokens,
            ),
            (Account::Cost, spent.cost.unwrap_or(0), self.allowance.cost),
        ];
        accounts
            .into_iter()
            .find(|(_, used, left)| used >= left)
            .map(|(account, ..)| account)
    }

    pub(super) fn finish(mut self) -> Told {
        for event in self.parser.finish() {
            self.take(event);
        }
        self.transcript.spent = self.spent();
        let digest = self.recording.finish();
        Told {
            transcript: self.transcript,
            spent: self.spent,
            digest,
        }
    }
}

impl Listen for Ear<'_> {
    fn hear(&mut self, pipe: Pipe, bytes: &[u8]) -> Heard {
        self.transcript.spoke |= !bytes.is_empty();
        self.recording.take(pipe, bytes);
        let stream = match pipe {
            Pipe::Stdout => Stream::Out,
            Pipe::Stderr => Stream::Err,
        };
        for event in self.parser.take(stream, bytes) {
            self.take(event);
        }
        self.spent = self.spent.or_else(|| self.over());
        match (self.spent, &self.transcript.terminal) {
            (Some(_), _) => Heard::Stop(Order::Budget),
            (None, Some(_)) => Heard::Done,
            (None, None) => Heard::AllowSilence(Some(self.silence())),
        }
    }
}
