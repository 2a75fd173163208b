//! Accounts of providers: all missions of a repository that use one wait together until its limit ends.
//!
//! Deliberately absent: policy. A mission's own limit is its own wait; this keeps the others from running into it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use backstop_engine::Order;
use backstop_engine::outcome::{QUOTA_HORIZON, Status};
use backstop_engine::vocab::{EffectId, MissionId, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::clock;
use crate::disk;
use crate::edge::{Ground, Settings};
use crate::executor::Halted;
use crate::history::History;

/// The operator's setting that names the account of an agent.
pub(crate) const ACCOUNT: &str = "account";

/// The longest file that is read, in bytes.
const LONGEST: u64 = 4096;

/// A limit of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// When it ends.
    pub until: Timestamp,
    /// The mission that met it.
    pub mission: MissionId,
}

/// The account of an agent: its own name, unless the operator gave another.
fn account<'a>(settings: &'a Settings, agent: &'a str) -> &'a str {
    let named = settings.agents.get(agent);
    let named = named.and_then(|options| options.get(ACCOUNT));
    named.map_or(agent, String::as_str)
}

fn file(accounts: &Path, account: &str) -> PathBuf {
    accounts.join(format!("{account}.json"))
}

/// The limit that holds an agent of a mission at this moment.
#[must_use]
pub fn limit(accounts: &Path, settings: &Settings, agent: &str, now: Timestamp) -> Option<Limit> {
    limit_of(accounts, account(settings, agent), now)
}

/// The limit of an account at this moment. What cannot be read holds nobody: the provider itself will say. An end beyond the
/// horizon is a question for a person, which the mission that meets it asks.
#[must_use]
pub fn limit_of(accounts: &Path, account: &str, now: Timestamp) -> Option<Limit> {
    let bytes = disk::read_regular(&file(accounts, account), LONGEST).ok()?;
    let limit: Limit = serde_json::from_slice(&bytes).ok()?;
    let left = limit.until.as_millis().checked_sub(now.as_millis())?;
    (left > 0 && left <= QUOTA_HORIZON.as_millis()).then_some(limit)
}

/// The limit that holds back the launch of a mission, where one does.
#[must_use]
pub fn held(history: &History, accounts: &Path, now: Timestamp) -> Option<Limit> {
    limit_of(accounts, &wanted(history)?, now)
}

/// The account of the agent that is to be launched and was not started yet.
#[must_use]
pub fn wanted(history: &History) -> Option<String> {
    let started: Vec<EffectId> = history
        .steps
        .iter()
        .filter_map(|step| Some(step.started()?.0))
        .collect();
    let settings = Settings::thaw(history.mission.charter()).ok()?;
    history
        .mission
        .outstanding()
        .filter(|(id, _)| !started.contains(id))
        .find_map(|(_, effect)| effect.launched())
        .map(|order| account(&settings, order.agent.agent.as_str()).to_owned())
}

/// Keeps the limit that an attempt met, for the others.
pub(crate) fn keep(ground: &Ground, order: &Order, status: &Status) -> io::Result<()> {
    let Status::RateLimited { until: Some(until) } = status else {
        return Ok(());
    };
    let limit = Limit {
        until: *until,
        mission: ground.charter.fields().mission.clone(),
    };
    let bytes = serde_json::to_vec(&limit).map_err(io::Error::other)?;
    let account = account(&ground.settings, order.agent.agent.as_str());
    disk::swap(&file(&ground.dir.accounts(), account), &bytes)
}

/// Whether a limit holds the agent of this order now.
pub(crate) fn holds(ground: &Ground, order: &Order) -> bool {
    let agent = order.agent.agent.as_str();
    limit(
        &ground.dir.accounts(),
        &ground.settings,
        agent,
        clock::now(),
    )
    .is_some()
}

/// Waits until no limit holds the agent of this order, or the wait is stopped.
pub(crate) async fn pass(ground: &Ground, order: &Order, halted: &Halted) {
    let agent = order.agent.agent.as_str();
    let mut halted = halted.clone();
    loop {
        let now = clock::now();
        let Some(limit) = limit(&ground.dir.accounts(), &ground.settings, agent, now) else {
            return;
        };
        let left = limit.until.as_millis().saturating_sub(now.as_millis());
        let nap = Duration::from_millis(left).min(clock::LONGEST_SLEEP);
        tracing::info!(account = account(&ground.settings, agent), %limit.mission, "waits for the end of a limit");
        tokio::select! {
            () = sleep(nap) => {}
            // Whoever could stop it is gone when this fails, and that is a stop too.
            _ = halted.wait_for(|stop| *stop) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn settings(agent: &str, name: &str) -> Settings {
        let mut settings = Settings::default();
        let options = [(ACCOUNT.to_owned(), name.to_owned())];
        settings.agents.insert(agent.to_owned(), options.into());
        settings
    }

    fn kept(until: u64) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let limit = Limit {
            until: Timestamp::from_millis(until),
            mission: "m1".parse().unwrap(),
        };
        disk::swap(
            &file(dir.path(), "team"),
            &serde_json::to_vec(&limit).unwrap(),
        )
        .unwrap();
        dir
    }

    #[test]
    fn agents_of_one_account_share_its_limit_and_others_do_not() {
        let dir = kept(1_000_001);
        let held = |agent: &str, name: &str| limit(dir.path(), &settings(agent, name), agent, NOW);
        assert_eq!(
            held("claude", "team").map(|limit| limit.mission.to_string()),
            Some("m1".into())
        );
        assert!(held("codex", "team").is_some());
        assert!(held("codex", "own").is_none());
        assert!(limit(dir.path(), &Settings::default(), "team", NOW).is_some());
    }

    #[test]
    fn a_limit_holds_until_its_end_and_not_beyond_what_is_waited_for() {
        let far = 8 * 24 * 3_600_000;
        for (until, holds) in [
            (1_000_000, false),
            (1_000_001, true),
            (1_000_000 + far, true),
            (1_000_001 + far, false),
        ] {
            let dir = kept(until);
            let found = limit(dir.path(), &settings("a", "team"), "a", NOW);
            assert_eq!(found.is_some(), holds, "{until}");
        }
    }

    #[test]
    fn what_cannot_be_read_holds_nobody() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(file(dir.path(), "a"), "{").unwrap();
        assert_eq!(limit(dir.path(), &Settings::default(), "a", NOW), None);
    }
}
