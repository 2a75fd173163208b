//! How far a mission can run before a person is needed.

use backstop_engine::mode::{Account, Mode};
use backstop_engine::vocab::Stage;
use backstop_engine::{Charter, CharterDraft, OnQuestion};

/// The most facts that agents, host and clock can make of a mission, from any state, before it is at a gate, parked or
/// at its end. Records that answer nothing (a process runs, a session has a name) are not counted.
///
/// ```text
/// bound    = 1 + Σ lane                     in auto
///          = 1 + the greatest (lane − 1)    in supervise, where a person stands before each landing
/// lane     = launches + 2 × faults + 2 × limits + checks + 1
/// loops    = phase_failures; 1 in supervise, where the streak is 1, and where the phase has no checks
/// checks   = loops, or 0 where the phase has no checks
/// works    = loops + the roles that are on before Code
/// launches = works, or with `on_question = decide`: min(works × (1 + checkpoint_resumes), attempts)
/// faults   = infra_total − 1, or 0 where infra is 1
/// limits   = works × (quota_waits − 1)
/// ```
///
/// The leading 1 is the preflight, the last one of a lane its landing. A fault and a limit are each two facts: the end
/// of the attempt (or of the checks), and the end of the wait. The fault that exhausts its account opens a gate and
/// takes the place of what would have followed. A ship step and the merge of a moved base come before a shorter way:
/// their two facts replace the preflight and the first launch.
#[must_use]
pub fn bound(charter: &Charter) -> u64 {
    let fields = charter.fields();
    let lanes = fields.plan.phases().iter().map(|phase| {
        let checked = !charter.checks(phase).is_empty();
        lane(fields, loops(fields, checked), checked)
    });
    match fields.mode {
        Mode::Auto => 1 + lanes.sum::<u64>(),
        Mode::Supervise => lanes.max().unwrap_or(1),
    }
}

fn loops(fields: &CharterDraft, checked: bool) -> u64 {
    let turns = fields.mode == Mode::Auto && fields.ceilings.of(Account::Streak) > 1;
    if checked && turns {
        fields.ceilings.of(Account::PhaseFailures)
    } else {
        1
    }
}

fn lane(fields: &CharterDraft, loops: u64, checked: bool) -> u64 {
    let of = |account| fields.ceilings.of(account);
    let works = [Stage::Define, Stage::Plan]
        .into_iter()
        .filter(|stage| *stage >= fields.from && fields.roles.at(*stage).is_some())
        .fold(loops, |works, _| works + 1);
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
    let checks = if checked { loops } else { 0 };
    launches + 2 * faults + 2 * limits + checks + 1
}
