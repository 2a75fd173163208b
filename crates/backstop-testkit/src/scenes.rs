//! The missions that are searched and simulated: small, and different in what they let happen.

use backstop_engine::gates::{GateDraft, GateKind as Kind, OnFail, Trigger, stopship};
use backstop_engine::mode::{Account, Mode};
use backstop_engine::vocab::PhaseKind;
use backstop_engine::{GreenBase, OnQuestion, ShipBy};

use crate::moves::Outside;
use crate::{Opening, Palette};

/// A mission to be opened, and what the world may do to it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// What is special about it.
    pub name: &'static str,
    /// How it opens.
    pub opening: Opening,
    /// The moves that are made.
    pub palette: Palette,
    /// The accounts that are out of reach.
    pub uncounted: Vec<Account>,
}

/// The ceilings under which every first trouble asks a person.
const LEAST: [(Account, u64); 8] = [
    (Account::Streak, 1),
    (Account::PhaseFailures, 2),
    (Account::Infra, 1),
    (Account::InfraTotal, 1),
    (Account::QuotaWaits, 1),
    (Account::Preflight, 1),
    (Account::CheckpointResumes, 1),
    (Account::Attempts, 10),
];

/// Enough launches that no way through the other ceilings uses them up.
const LAUNCHES: (Account, u64) = (Account::Attempts, 600);

const STOPS: [Outside; 1] = [Outside::Stop];

fn attended() -> Palette {
    Palette {
        grants: 1,
        outside: STOPS.into(),
        ..Palette::default()
    }
}

fn scene(name: &'static str, opening: Opening, palette: Palette) -> Scene {
    Scene {
        name,
        opening,
        palette,
        uncounted: vec![Account::Attempts],
    }
}

fn least() -> Opening {
    let mut ceilings = LEAST;
    ceilings[7] = LAUNCHES;
    Opening::default().ceilings(&ceilings)
}

/// Ceilings under which Validate sends the work back, and every other trouble asks a person.
fn turning() -> Opening {
    let mut ceilings = LEAST;
    ceilings[0].1 = 2;
    ceilings[1].1 = 3;
    ceilings[7] = LAUNCHES;
    Opening::default().ceilings(&ceilings)
}

/// Two faults in a row before a person is asked, so that an agent that cannot run may also have spent everything.
fn effort() -> Scene {
    let mut ceilings = LEAST;
    ceilings[2].1 = 2;
    ceilings[3].1 = 2;
    ceilings[7] = LAUNCHES;
    scene(
        "effort runs out",
        Opening::default()
            .ceilings(&ceilings)
            .empty_allowed()
            .unchecked(),
        Palette {
            spends: vec![
                Account::ToolCalls,
                Account::Tokens,
                Account::Cost,
                Account::ActiveTime,
            ],
            grants: 1,
            ..Palette::default()
        },
    )
}

fn gate(id: &str, role: &str, (on, gate): (Trigger, Kind), on_fail: OnFail) -> GateDraft {
    GateDraft {
        id: id.into(),
        role: role.into(),
        on,
        gate,
        on_fail,
        blocks_role: None,
        max_retries: None,
        artifact_kind: None,
        require_explicit_verdict: true,
    }
}

/// Gates before the implementer: its base is checked, and a person lets it in.
fn before() -> Vec<GateDraft> {
    let (verify, approve) = (
        (Trigger::RoleStart, Kind::Verify),
        (Trigger::RoleStart, Kind::Approve),
    );
    vec![
        gate("base", "implementer", verify, OnFail::Retry),
        gate("go", "implementer", approve, OnFail::Escalate),
    ]
}

/// Gates after those who judge, each with another rule of failing.
fn after() -> Vec<GateDraft> {
    let (verify, review) = (
        (Trigger::RoleComplete, Kind::Verify),
        (Trigger::RoleComplete, Kind::Review),
    );
    vec![
        gate("suite", "implementer", verify, OnFail::Escalate),
        gate("opinion", "reviewer", review, OnFail::Retry),
        GateDraft {
            require_explicit_verdict: false,
            ..gate("trial", "verifier", review, OnFail::Escalate)
        },
        gate("again", "verifier", verify, OnFail::Retry),
    ]
}

/// An outline that a person approves before the tree lands, and a landing that a person starts.
fn outlined() -> Vec<GateDraft> {
    let approve = (Trigger::RoleComplete, Kind::Approve);
    let start = (Trigger::RoleStart, Kind::Approve);
    vec![
        gate("outline", "planner", approve, OnFail::Retry),
        gate("notes", "release_lead", start, OnFail::Retry),
    ]
}

/// Missions with more roles than the implementer.
fn teams() -> Vec<Scene> {
    let unattended = Palette::default();
    let calm = Palette {
        calm: true,
        ..Palette::default()
    };
    vec![
        scene("a reviewer in auto", turning().reviewer(), calm.clone()),
        scene(
            "a reviewer and a verifier without checks in supervise",
            least().mode(Mode::Supervise).unchecked().verifier(),
            unattended.clone(),
        ),
        scene(
            "a reviewer without checks, with stops and a grant",
            turning().unchecked().reviewer(),
            Palette {
                calm: true,
                ..attended()
            },
        ),
        scene("a verifier", least().verifier(), unattended.clone()),
        scene(
            "nothing ships before a person has seen it",
            least().scout().verifier().release_lead().gates(&stopship()),
            calm.clone(),
        ),
        scene(
            "gates before the implementer",
            least().gates(&before()),
            calm.clone(),
        ),
        scene(
            "gates after those who judge",
            least().verifier().gates(&after()),
            calm.clone(),
        ),
        scene(
            "an outline that is approved",
            least().planner().release_lead().gates(&outlined()),
            calm,
        ),
    ]
}

/// A person who stops, asks to see every Validate and gives a grant.
fn meddled() -> Palette {
    Palette {
        grants: 1,
        outside: vec![Outside::Stop, Outside::Supervise],
        ..Palette::default()
    }
}

/// Faults and limits in the midst of repairs.
fn troubled() -> Opening {
    turning().ceilings(&[
        (Account::Streak, 2),
        (Account::PhaseFailures, 3),
        (Account::Infra, 2),
        (Account::InfraTotal, 2),
        (Account::QuotaWaits, 2),
        (Account::Preflight, 1),
        LAUNCHES,
    ])
}

/// Every role is on.
fn whole(opening: Opening) -> Opening {
    opening.scout().planner().verifier().release_lead()
}

/// Large missions, in which everything that can meet, meets: a million states in all, the largest last.
#[must_use]
pub fn wide_scenes() -> Vec<Scene> {
    let mut scenes = wide();
    for scene in &mut scenes {
        // In what shapes answers are given the small missions hold.
        scene.palette.apt = true;
    }
    scenes
}

fn wide() -> Vec<Scene> {
    let calm = |palette: Palette| Palette {
        calm: true,
        ..palette
    };
    let stopped = Palette {
        outside: STOPS.into(),
        ..Palette::default()
    };
    let watched = || Palette {
        grants: 0,
        ..meddled()
    };
    vec![
        scene(
            "a whole team in auto, with stops",
            whole(turning()).gates(&stopship()),
            calm(stopped.clone()),
        ),
        scene(
            "a whole team in supervise, with stops",
            whole(least()).mode(Mode::Supervise).gates(&stopship()),
            calm(stopped),
        ),
        scene(
            "judges between gates, with every end",
            least().verifier().gates(&stopship()),
            Palette::default(),
        ),
        scene(
            "a whole team with faults, limits and every end",
            whole(troubled()),
            Palette::default(),
        ),
        scene(
            "a whole team that a person meddles with",
            whole(least()).gates(&stopship()),
            calm(meddled()),
        ),
        scene(
            "a reviewer with faults, limits and stops",
            troubled().reviewer(),
            watched(),
        ),
        scene(
            "one lane with higher ceilings and stops",
            Opening::default()
                .ceilings(&[
                    (Account::Streak, 3),
                    (Account::PhaseFailures, 4),
                    (Account::Infra, 3),
                    (Account::InfraTotal, 5),
                    (Account::QuotaWaits, 3),
                    (Account::CheckpointResumes, 2),
                    LAUNCHES,
                ])
                .on_question(OnQuestion::Decide),
            watched(),
        ),
        scene(
            "a reviewer and a merge that a person meddles with",
            turning().reviewer().ship(ShipBy::Merge),
            meddled(),
        ),
    ]
}

/// Ceilings that come down on what is spent already.
fn tightened() -> Scene {
    scene(
        "tightened while it runs",
        least().ceilings(&[
            (Account::Infra, 2),
            (Account::InfraTotal, 2),
            (Account::QuotaWaits, 2),
            (Account::Streak, 1),
            (Account::PhaseFailures, 2),
            LAUNCHES,
        ]),
        Palette {
            tightens: vec![(Account::Infra, 1), (Account::QuotaWaits, 1)],
            ..Palette::default()
        },
    )
}

/// Missions with no role but the implementer, and their kin.
fn plain() -> Vec<Scene> {
    let small = || Opening::default().ceilings(&[LAUNCHES]);
    let unattended = Palette::default();
    vec![
        scene(
            "one lane in auto",
            small().on_question(OnQuestion::Decide),
            unattended.clone(),
        ),
        scene(
            "one lane in supervise",
            small().mode(Mode::Supervise).ship(ShipBy::Merge),
            unattended.clone(),
        ),
        scene("one lane with stops and a grant", least(), attended()),
        scene(
            "two lanes with a scout",
            least()
                .scout()
                .phases(&[PhaseKind::Research, PhaseKind::Coding]),
            Palette {
                outside: vec![Outside::Supervise],
                ..unattended.clone()
            },
        ),
        scene(
            "two lanes with a planner and no checks",
            least()
                .planner()
                .unchecked()
                .phases(&[PhaseKind::Benchmark, PhaseKind::SecurityScan]),
            unattended.clone(),
        ),
        scene(
            "work that may be empty",
            least().empty_allowed(),
            unattended.clone(),
        ),
        scene(
            "a base that must be green",
            least().green_base(GreenBase::Required),
            unattended.clone(),
        ),
        effort(),
        Scene {
            uncounted: Vec::new(),
            ..scene(
                "launches run out",
                Opening::default()
                    .ceilings(&LEAST)
                    .on_question(OnQuestion::Decide),
                Palette::default(),
            )
        },
        tightened(),
    ]
}

/// Small missions, each for something of its own.
#[must_use]
pub fn scenes() -> Vec<Scene> {
    plain().into_iter().chain(teams()).collect()
}
