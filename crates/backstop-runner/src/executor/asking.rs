//! Asks an agent for one answer outside any lane: in a checkout of its own, in which nothing counts. What the answer is
//! good for is not decided here.

use std::sync::Arc;

use backstop_engine::outcome::Status;
use backstop_engine::vocab::{Digest, EffectId};
use backstop_engine::{Order, Usage};
use tokio::sync::mpsc;

use super::Halted;
use super::attempt::{self, Given, Live, Run, UNUSABLE};
use super::ready::Unready;
use crate::edge::Ground;

/// How the asking ended.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How the agent ended.
    pub(crate) status: Status,
    /// What it spent.
    pub(crate) usage: Usage,
    /// Its final message, without secrets; blank where it said nothing.
    pub(crate) message: String,
    /// The whole of what it printed.
    pub(crate) transcript: Option<Digest>,
    /// What the agent or the host said at the end.
    pub(crate) words: String,
}

/// Runs an agent to its end, as an attempt of a lane is run.
pub(crate) async fn ask(
    ground: &Arc<Ground>,
    order: &Order,
    prompt: String,
    halted: Halted,
) -> Answer {
    let run = match attempt::enter_aside(ground, order, &halted).await {
        Ok(dir) => {
            // Nobody keeps a journal here, so nobody listens.
            let (facts, _) = mpsc::unbounded_channel();
            let id = EffectId::new(u64::from(order.attempt.number()));
            let given = Given {
                prompt,
                artifact: None,
            };
            attempt::launch(ground, order, Live { id, facts, halted }, (&dir, given)).await
        }
        Err(Unready::Stopped) => Run::never(Status::Cancelled, Unready::Stopped.to_string()),
        Err(Unready::Failed(words)) => Run::never(UNUSABLE, words),
    };
    let clean = |text: &str| ground.redactor.redact(text).into_owned();
    Answer {
        status: run.status,
        usage: run.usage,
        message: clean(&run.message.unwrap_or_default()),
        transcript: run.transcript,
        words: clean(&run.words),
    }
}
