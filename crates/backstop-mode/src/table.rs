//! One value for each account: a struct rather than an array, so that a missing row does not compile.

use serde::Serialize;

use crate::Account;

/// One `T` for each account; on the wire a map from the account's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Table<T> {
    streak: T,
    phase_failures: T,
    infra: T,
    infra_total: T,
    quota_waits: T,
    preflight: T,
    checkpoint_resumes: T,
    attempts: T,
    tool_calls: T,
    tokens: T,
    cost: T,
    active_time: T,
}

impl<T> Table<T> {
    pub(crate) fn fill(mut value: impl FnMut(Account) -> T) -> Self {
        Self {
            streak: value(Account::Streak),
            phase_failures: value(Account::PhaseFailures),
            infra: value(Account::Infra),
            infra_total: value(Account::InfraTotal),
            quota_waits: value(Account::QuotaWaits),
            preflight: value(Account::Preflight),
            checkpoint_resumes: value(Account::CheckpointResumes),
            attempts: value(Account::Attempts),
            tool_calls: value(Account::ToolCalls),
            tokens: value(Account::Tokens),
            cost: value(Account::Cost),
            active_time: value(Account::ActiveTime),
        }
    }

    pub(crate) const fn of(&self, account: Account) -> &T {
        match account {
            Account::Streak => &self.streak,
            Account::PhaseFailures => &self.phase_failures,
            Account::Infra => &self.infra,
            Account::InfraTotal => &self.infra_total,
            Account::QuotaWaits => &self.quota_waits,
            Account::Preflight => &self.preflight,
            Account::CheckpointResumes => &self.checkpoint_resumes,
            Account::Attempts => &self.attempts,
            Account::ToolCalls => &self.tool_calls,
            Account::Tokens => &self.tokens,
            Account::Cost => &self.cost,
            Account::ActiveTime => &self.active_time,
        }
    }

    pub(crate) const fn of_mut(&mut self, account: Account) -> &mut T {
        match account {
            Account::Streak => &mut self.streak,
            Account::PhaseFailures => &mut self.phase_failures,
            Account::Infra => &mut self.infra,
            Account::InfraTotal => &mut self.infra_total,
            Account::QuotaWaits => &mut self.quota_waits,
            Account::Preflight => &mut self.preflight,
            Account::CheckpointResumes => &mut self.checkpoint_resumes,
            Account::Attempts => &mut self.attempts,
            Account::ToolCalls => &mut self.tool_calls,
            Account::Tokens => &mut self.tokens,
            Account::Cost => &mut self.cost,
            Account::ActiveTime => &mut self.active_time,
        }
    }
}

impl Table<u64> {
    pub(crate) const DEFAULT: Self = Self {
        streak: Account::Streak.default_ceiling(),
        phase_failures: Account::PhaseFailures.default_ceiling(),
        infra: Account::Infra.default_ceiling(),
        infra_total: Account::InfraTotal.default_ceiling(),
        quota_waits: Account::QuotaWaits.default_ceiling(),
        preflight: Account::Preflight.default_ceiling(),
        checkpoint_resumes: Account::CheckpointResumes.default_ceiling(),
        attempts: Account::Attempts.default_ceiling(),
        tool_calls: Account::ToolCalls.default_ceiling(),
        tokens: Account::Tokens.default_ceiling(),
        cost: Account::Cost.default_ceiling(),
        active_time: Account::ActiveTime.default_ceiling(),
    };
}
