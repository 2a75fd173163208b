//! Random ways through a mission, held against a second model that only counts.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a model that counts names what it counts; all else is refused"
)]

mod counts;
mod deeds;
mod gates;
mod handoffs;
mod team;
mod translate;

use std::collections::BTreeSet;
use std::iter::repeat_n;

use backstop_testkit::engine::gates::Fate;
use backstop_testkit::engine::mode::{Account, Mode};
use backstop_testkit::engine::vocab::PhaseKind;
use backstop_testkit::engine::{Ended, Event, Mission, OnQuestion, Position, Role};
use backstop_testkit::{Opening, Walk};
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

use counts::{At, Counts, Scene};
use deeds::Deed;
use gates::Set;
use team::Review;

fn opening(scene: &Scene) -> Opening {
    let mut opening = Opening::default();
    for role in &scene.roles {
        opening = match role {
            Role::Scout => opening.scout(),
            Role::Planner => opening.planner(),
            Role::Implementer => opening,
            Role::Reviewer => opening.reviewer(),
            Role::Verifier => opening.verifier(),
            Role::ReleaseLead => opening.release_lead(),
        };
    }
    if let Some(gates) = scene.gates.drafts() {
        opening = opening.gates(&gates);
    }
    if scene.decide {
        opening = opening.on_question(OnQuestion::Decide);
    }
    if scene.lanes == 2 {
        opening = opening.phases(&[PhaseKind::Coding, PhaseKind::Coding]);
    }
    let mode = if scene.supervise {
        Mode::Supervise
    } else {
        Mode::Auto
    };
    opening.from(scene.from()).mode(mode)
}

/// Any team; a verifier works on what a reviewer let pass, and a gate has its role.
fn team(on: [bool; 5], gates: Set) -> BTreeSet<Role> {
    let roles = Role::ALL
        .into_iter()
        .filter(|role| *role != Role::Implementer);
    let chosen = roles.zip(on).filter(|(_, on)| *on).map(|(role, _)| role);
    let mut team: BTreeSet<Role> = chosen.chain(gates.needs().iter().copied()).collect();
    if team.contains(&Role::Verifier) {
        team.insert(Role::Reviewer);
    }
    team
}

impl ReferenceStateMachine for Counts {
    type State = Self;
    type Transition = Deed;

    fn init_state() -> BoxedStrategy<Self> {
        let gates = select(Set::ALL.to_vec());
        let scene = (any::<[bool; 3]>(), any::<[bool; 5]>(), 1..3_u32, gates);
        let scene = scene.prop_map(|([supervise, decide, late], on, lanes, gates)| Scene {
            supervise,
            decide,
            late,
            lanes,
            roles: team(on, gates),
            gates,
        });
        scene.prop_map(Counts::new).boxed()
    }

    fn transitions(state: &Self) -> BoxedStrategy<Deed> {
        let fitting: Vec<Deed> = Deed::ALL
            .into_iter()
            .filter(|deed| state.after(*deed).is_some())
            .flat_map(|deed| repeat_n(deed, deed.weight(state.role)))
            .collect();
        let any = select(Deed::ALL.to_vec());
        if fitting.is_empty() {
            return any.boxed();
        }
        prop_oneof![12 => select(fitting), 1 => any].boxed()
    }

    fn apply(state: Self, deed: &Deed) -> Self {
        state.after(*deed).unwrap_or(state)
    }
}

struct Engine;

impl StateMachineTest for Engine {
    type SystemUnderTest = (Mission, Counts);
    type Reference = Counts;

    fn init_test(counts: &Counts) -> Self::SystemUnderTest {
        let walk = Walk::open(opening(&counts.scene));
        (walk.mission, counts.clone())
    }

    fn apply(
        (mission, before): Self::SystemUnderTest,
        counts: &Counts,
        deed: Deed,
    ) -> Self::SystemUnderTest {
        let at = match deed {
            Deed::WaitEnded | Deed::Expired => mission.deadline().unwrap_or(mission.now()),
            _ => mission.now(),
        };
        let fact = translate::fact(&mission, deed);
        let event = Event { at, fact };
        let decided = mission.decide(&event);
        assert_eq!(decided, mission.decide(&event), "decided twice");
        assert_eq!(
            decided.is_ok(),
            before.after(deed).is_some(),
            "{deed:?} at {before:?}"
        );
        let mission = decided.map_or(mission, |done| done.mission);
        (mission, counts.clone())
    }

    fn check_invariants((mission, _): &Self::SystemUnderTest, counts: &Counts) {
        agree(mission, counts);
    }
}

fn agree(mission: &Mission, counts: &Counts) {
    for account in counts::COUNTED {
        let (told, counted) = (mission.meter().used(account), counts.used(account));
        assert_eq!(told, counted, "{account} at {counts:?}");
        assert_eq!(
            mission.meter().grants(account),
            counts.grants(account),
            "grants of {account}"
        );
    }
    assert_eq!(
        mission.meter().exhausted(Account::Tokens),
        counts.used(Account::Tokens) > 0
    );
    assert_eq!(mission.lane().phase.number(), counts.phase, "{counts:?}");
    assert_eq!(mission.stage(), counts.stage, "{counts:?}");
    let gate = mission.gate().map(|gate| {
        let mut offers = gate.offers.clone();
        offers.sort();
        (gate.kind, offers)
    });
    assert_eq!(gate, counts.gate(), "{counts:?}");
    assert_eq!(place(mission.position()), counts.place(), "{counts:?}");
    assert_eq!(mission.landed().len(), counts.landed.len(), "{counts:?}");
    roles_agree(mission, counts);
}

/// Who works, what they are given, what the gates between them say, and how far the review loop is.
fn roles_agree(mission: &Mission, counts: &Counts) {
    let lane = mission.lane();
    let launched = mission
        .outstanding()
        .find_map(|(_, effect)| effect.launched());
    if let Some(order) = launched {
        assert_eq!(Some(order.role), counts.role, "{counts:?}");
        assert_eq!(order.visit.number(), counts.visit(), "{counts:?}");
        assert_eq!(order.handoffs.len(), counts.given, "{counts:?}");
        assert_eq!(lane.asked_again, counts.asked, "{counts:?}");
        if let Some(iterations) = counts.review.as_ref().and_then(Review::open) {
            let told = lane.review.as_ref().map(|own| own.receipt().iterations());
            assert_eq!(told, Some(iterations), "{counts:?}");
        }
    }
    let running = lane.handoffs.all().map(|(_, fate)| fate);
    let done = running.filter(|fate| matches!(fate, Fate::Committed(_)));
    assert_eq!(done.count(), counts.handoffs.done(), "{counts:?}");
    assert_eq!(
        lane.handoffs.all().count(),
        counts.handoffs.all(),
        "{counts:?}"
    );
    assert_eq!(
        lane.board.generation(),
        counts.board.generation,
        "{counts:?}"
    );
    let lines = lane.board.status(&lane.judged());
    let states: Vec<_> = lines.into_iter().map(|line| line.state).collect();
    assert_eq!(states, counts.board.states(counts.tree), "{counts:?}");
}

const fn place(position: &Position) -> &'static str {
    match position {
        Position::Busy(_) => "busy",
        Position::Waiting(..) => "waiting",
        Position::AtGate(..) => "at a gate",
        Position::Parked(..) => "parked",
        Position::Ended(Ended::Shipped(_)) => "shipped",
        Position::Ended(Ended::Aborted) => "aborted",
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(400),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_engine_and_a_model_that_only_counts_agree_on_every_way(sequential 1..90 => Engine);
}

/// Whether all of it can be done, and ends shipped.
fn ships(scene: Scene, deeds: &[Deed]) -> bool {
    let mut deeds = deeds.iter();
    let end = deeds.try_fold(Counts::new(scene), |counts, deed| counts.after(*deed));
    end.is_some_and(|end| end.at == At::Ended { shipped: true })
}

#[test]
fn the_model_itself_ships_alone_and_with_a_team_under_the_stop_ship_gates() {
    assert!(ships(Scene::default(), &Deed::STRAIGHT));
    let gates = Set::StopShip;
    let roles = team([false; 5], gates);
    let scene = Scene {
        roles,
        gates,
        ..Scene::default()
    };
    assert!(ships(scene, &Deed::TEAM));
}
