//! How far a mission can run before a person is needed.

use backstop_engine::mode::{Account, Mode};
use backstop_engine::vocab::Stage;
use backstop_engine::{Charter, OnQuestion};

/// The most facts that agents, host and clock can make of a mission, from any state, before it is at a gate, parked or
/// at its end. Records that answer nothing (a process runs, a session has a name) are not counted.
///
/// ```text
/// bound  = 2 + phases × lane
/// lane   = launches + 2 × faults + 2 × limits + checks + 1
/// works  = stages before Validate with a role, counting Code `loops` times
/// loops  = phase_failures in auto, 1 in supervise
/// launches = works, or with `on_question = decide`: min(works × (1 + checkpoint_resumes), attempts)
/// faults = infra_total − 1, or 0 where infra is 1
/// limits = works × (quota_waits − 1)
/// checks = loops
/// ```
///
/// A fault and a limit are each two facts: the end of the attempt (or of the checks), and the end of the wait. The
/// last fault of an account opens its gate and takes the place of what would have followed. `checks` are the Validate
/// visits, `1` is the landing, and `2` the preflight, or a ship step and a merge of a moved base.
#[must_use]
pub fn bound(charter: &Charter) -> u64 {
    let fields = charter.fields();
    let of = |account| fields.ceilings.of(account);
    let loops = match fields.mode {
        Mode::Auto => of(Account::PhaseFailures),
        Mode::Supervise => 1,
    };
    let before = [Stage::Define, Stage::Plan]
        .into_iter()
        .filter(|stage| *stage >= fields.from && fields.roles.at(*stage).is_some());
    let works = before.fold(loops, |works, _| works + 1);
    let launches = match fields.settings.on_question {
        OnQuestion::Gate => works,
        OnQuestion::Decide => {
            (works * (1 + of(Account::CheckpointResumes))).min(of(Account::Attempts))
        }
    };
    let faults = match of(Account::Infra) {
        0 | 1 => 0,
        2.. => of(Account::InfraTotal) - 1,
    };
    let limits = works * (of(Account::QuotaWaits) - 1);
    let lane = launches + 2 * faults + 2 * limits + loops + 1;
    let phases = fields.plan.phases().iter().fold(0, |phases, _| phases + 1);
    2 + phases * lane
}
