//! How far a mission can run before a person is needed.

use backstop_engine::gates::{GateKind, GateSpec, MAX_REASKS, Specs, Trigger};
use backstop_engine::mode::{Account, Mode};
use backstop_engine::vocab::Phase;
use backstop_engine::{Charter, CharterDraft, OnQuestion, Role};

/// The most facts that agents, host and clock can make of a mission, from any state, before it is at a gate, parked or
/// at its end. Records that answer nothing (a process runs, a session has a name) are not counted.
///
/// ```text
/// bound    = 1 + Σ lane + lead              in auto
///          = 1 + the greatest (lane − 1)    in supervise, where a person stands before each landing
/// lane     = launches + 2 × faults + 2 × limits + checks + 1
/// loops    = phase_failures; 1 in supervise, where the streak is 1, and where nothing judges the phase
/// runs     = for each role that is on: its visits × (1 + what its gates retry), and for a role that judges × 3, as it is
///            asked again for a verdict twice
/// launches = Σ runs, or with `on_question = decide`: Σ runs × (1 + checkpoint_resumes); never more than attempts
/// checks   = loops where the phase has checks, and for each verify gate before or after another role its runs
/// faults   = infra_total − 1, or 0 where infra is 1
/// limits   = forward × (quota_waits − 1)
/// forward  = loops + the roles that are on before Code, and 1 for the last Validate where a reviewer is on
/// lead     = 1 where a release lead is on
/// ```
///
/// The leading 1 is the preflight, the last one of a lane its landing. A fault and a limit are each two facts: the end
/// of the attempt (or of the checks), and the end of the wait. The fault that exhausts its account opens a gate and
/// takes the place of what would have followed. A ship step and the merge of a moved base come before a shorter way:
/// their two facts replace the preflight and the first launch.
#[must_use]
pub fn bound(charter: &Charter) -> u64 {
    let fields = charter.fields();
    let lanes = fields.plan.phases().iter().zip(1..).map(|(phase, number)| {
        let specs = Phase::try_from(number).map_or_else(|_| Specs::none(), |n| charter.gates(n));
        let checked = !charter.checks(phase).is_empty();
        lane(fields, &specs, checked)
    });
    match fields.mode {
        Mode::Auto => 1 + lanes.sum::<u64>() + u64::from(is_on(fields, Role::ReleaseLead)),
        Mode::Supervise => lanes.max().unwrap_or(1),
    }
}

fn is_on(fields: &CharterDraft, role: Role) -> bool {
    role.stage() >= fields.from && fields.roles.of(role).is_some()
}

fn loops(fields: &CharterDraft, checked: bool) -> u64 {
    let turns = fields.mode == Mode::Auto && fields.ceilings.of(Account::Streak) > 1;
    if (checked || is_on(fields, Role::Reviewer)) && turns {
        fields.ceilings.of(Account::PhaseFailures)
    } else {
        1
    }
}

/// How often the gates of a role that are due then send it back.
fn retries(specs: &Specs, role: Role, due: Trigger) -> u64 {
    let own = |spec: &&GateSpec| spec.role().as_str() == role.name() && spec.on() == due;
    let retried = specs.gates().iter().filter(own).map(GateSpec::max_retries);
    retried.map(u64::from).sum()
}

fn verified(specs: &Specs, role: Role, due: Trigger) -> bool {
    let own = |spec: &GateSpec| spec.role().as_str() == role.name() && spec.on() == due;
    let mut gates = specs.gates().iter();
    gates.any(|spec| own(spec) && spec.kind() == GateKind::Verify)
}

fn lane(fields: &CharterDraft, specs: &Specs, checked: bool) -> u64 {
    let of = |account| fields.ceilings.of(account);
    let loops = loops(fields, checked);
    let (mut launches, mut checks) = (0, if checked { loops } else { 0 });
    let mut forward = loops + u64::from(is_on(fields, Role::Reviewer));
    for role in Role::ALL.into_iter().filter(|role| is_on(fields, *role)) {
        let visits = match role {
            Role::Scout | Role::Planner => 1,
            Role::Implementer | Role::Reviewer | Role::Verifier => loops,
            Role::ReleaseLead => continue,
        };
        if role < Role::Implementer {
            forward += 1;
        }
        let runs = visits * (1 + retries(specs, role, Trigger::RoleComplete));
        launches += runs
            * if role.judges() {
                1 + u64::from(MAX_REASKS)
            } else {
                1
            };
        if role != Role::Implementer && verified(specs, role, Trigger::RoleComplete) {
            checks += runs;
        }
        if verified(specs, role, Trigger::RoleStart) {
            checks += visits * (1 + retries(specs, role, Trigger::RoleStart));
        }
    }
    let launches = match fields.settings.on_question {
        OnQuestion::Gate => launches,
        OnQuestion::Decide => launches * (1 + of(Account::CheckpointResumes)),
    };
    let launches = launches.min(of(Account::Attempts));
    let faults = match of(Account::Infra) {
        0 | 1 => 0,
        2.. => of(Account::InfraTotal) - 1,
    };
    let limits = forward * (of(Account::QuotaWaits) - 1);
    launches + 2 * faults + 2 * limits + checks + 1
}
