//! What the edge needs to do a mission's effects: settings frozen into the charter, and the places it works in.

use std::collections::BTreeMap;
use std::time::Duration;

use backstop_engine::plan::Author;
use backstop_engine::vocab::{Digest, MissionId, Phase, Signature, Text, Timestamp};
use backstop_engine::{Charter, Order, Role};
use serde::{Deserialize, Serialize};

use crate::blobs::Blobs;
use crate::git::{Host, LaneRef};
use crate::process::Marker;
use crate::redact::Redactor;
use crate::room::Need;
use crate::state::MissionDir;

/// Settings of the edge; opaque to the engine, and frozen with the charter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Settings of each agent, by its name.
    pub agents: BTreeMap<String, BTreeMap<String, String>>,
    /// What is appended to the command line of each agent, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Vec<String>>,
    /// Commands that run once in each fresh checkout.
    pub setup: Vec<String>,
    /// Files that git does not track and that each checkout needs, relative to the repository's root.
    pub copy: Vec<String>,
    /// Paths that no agent may change; a final `/` means a folder.
    pub protected: Vec<String>,
    /// Whether uncommitted changes of the operator fail the preflight.
    pub require_clean: bool,
    /// Limits of time.
    pub limits: Limits,
    /// What must be free before it begins.
    #[serde(default, skip_serializing_if = "Need::is_default")]
    pub need: Need,
    /// What roles are told in place of the built-in prompts; templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<Role, String>,
    /// Where the plan is from; none for a goal, and for a file that the opener named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanOrigin>,
}

/// The stored plan that a mission runs, and who let it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOrigin {
    /// Its id.
    pub id: MissionId,
    /// Who wrote it.
    pub author: Author,
    /// What was approved.
    pub digest: Digest,
    /// By whom.
    pub approved_by: Signature,
    /// When.
    pub approved_at: Timestamp,
    /// What it took to have it written; none where a person wrote it, and where that is not on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<Effort>,
}

/// What the proposals of a plan took together. No mission was there to be charged with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// How many proposals there were.
    pub proposals: u8,
    /// Tool calls.
    pub tool_calls: u64,
    /// Uncached input tokens plus output tokens.
    pub tokens: u64,
    /// In millionths of a US dollar, what is assumed included.
    pub cost_micro_usd: u64,
    /// The part of it that no agent reported.
    pub assumed_micro_usd: u64,
    /// Run time in milliseconds.
    pub active_ms: u64,
}

/// Limits of time, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Silence of an agent.
    pub idle_ms: u64,
    /// Silence of an agent while a tool call is open.
    pub tool_idle_ms: u64,
    /// One attempt.
    pub attempt_ms: u64,
    /// One check.
    pub check_ms: u64,
    /// From the request to end to the kill.
    pub stop_grace_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            idle_ms: 10 * 60_000,
            tool_idle_ms: 30 * 60_000,
            attempt_ms: 2 * 3_600_000,
            check_ms: 30 * 60_000,
            stop_grace_ms: 10_000,
        }
    }
}

/// Settings that cannot be frozen or read back.
#[derive(Debug, thiserror::Error)]
#[error("the mission's settings cannot be {act}: {words}")]
pub struct SettingsError {
    act: &'static str,
    words: String,
}

impl Settings {
    /// For the charter.
    ///
    /// # Errors
    /// When they are too long.
    pub fn freeze(&self) -> Result<Text<262_144>, SettingsError> {
        let failed = |words: String| SettingsError {
            act: "frozen",
            words,
        };
        let text = serde_json::to_string(self).map_err(|error| failed(error.to_string()))?;
        text.parse().map_err(|error| failed(format!("{error}")))
    }

    /// From a charter.
    ///
    /// # Errors
    /// When they are of another version.
    pub fn thaw(charter: &Charter) -> Result<Self, SettingsError> {
        serde_json::from_str(charter.fields().edge.as_str()).map_err(|error| SettingsError {
            act: "read",
            words: error.to_string(),
        })
    }
}

/// Where a mission is worked on.
#[derive(Debug)]
pub struct Ground {
    /// Its folder.
    pub dir: MissionDir,
    /// Its git.
    pub host: Host,
    /// Its blobs.
    pub blobs: Blobs,
    /// What must never be written.
    pub redactor: Redactor,
    /// Its charter.
    pub charter: Charter,
    /// Its settings.
    pub settings: Settings,
}

impl Ground {
    /// The lane of a phase, as git names it.
    #[must_use]
    pub fn lane(&self, phase: Phase) -> Option<LaneRef> {
        let kind = self.charter.fields().plan.phase(phase)?.kind();
        Some(LaneRef { phase, kind })
    }

    /// The marker of a launch.
    #[must_use]
    pub fn marker(&self, order: &Order) -> Marker {
        Marker {
            stage: order.stage.to_string(),
            role: order.role.to_string(),
            attempt: order.attempt.to_string(),
            ..self.check_marker(order.phase)
        }
    }

    /// The marker of what the host itself runs for a phase.
    #[must_use]
    pub fn check_marker(&self, phase: Phase) -> Marker {
        Marker {
            mission: self.charter.fields().mission.to_string(),
            lane: self
                .lane(phase)
                .map(|lane| lane.to_string())
                .unwrap_or_default(),
            phase: phase.to_string(),
            stage: "validate".into(),
            role: "host".into(),
            attempt: "0".into(),
        }
    }

    /// How long a stopped process has to end by itself.
    #[must_use]
    pub fn grace(&self) -> Duration {
        Duration::from_millis(self.settings.limits.stop_grace_ms)
    }

    /// Text without secrets, cut to what fits.
    #[must_use]
    pub fn clean<const MAX: usize>(&self, text: &str) -> Text<MAX> {
        Text::clip(&self.redactor.redact(text))
    }

    /// The end of a text without secrets.
    #[must_use]
    pub fn clean_end<const MAX: usize>(&self, text: &str) -> Text<MAX> {
        let text = self.redactor.redact(text);
        let from = text.ceil_char_boundary(text.len().saturating_sub(MAX));
        Text::clip(text.get(from..).unwrap_or_default())
    }
}

impl From<&backstop_engine::Base> for crate::git::Base {
    fn from(base: &backstop_engine::Base) -> Self {
        Self {
            commit: base.commit.clone(),
            tree: base.tree,
            branch: base.branch.as_ref().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LONGEST_PROMPT;

    #[test]
    fn the_longest_prompt_of_every_role_fits() {
        // What JSON writes twice as long.
        let prompt = "\"".repeat(LONGEST_PROMPT);
        let prompts = Role::ALL.map(|role| (role, prompt.clone()));
        let settings = Settings {
            prompts: prompts.into(),
            ..Settings::default()
        };
        let frozen = settings.freeze().unwrap();
        let read: Settings = serde_json::from_str(frozen.as_str()).unwrap();
        assert_eq!(read, settings);
    }
}
