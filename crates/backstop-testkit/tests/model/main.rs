//! Random ways through a mission, held against a second model that only counts.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a model that counts names what it counts; all else is refused"
)]

mod counts;
mod deeds;
mod translate;

use std::iter::repeat_n;

use backstop_testkit::engine::mode::{Account, Mode};
use backstop_testkit::engine::vocab::PhaseKind;
use backstop_testkit::engine::{Ended, Event, Mission, OnQuestion, Position};
use backstop_testkit::{Opening, Walk};
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

use counts::{At, Counts, Scene};
use deeds::Deed;

fn opening(scene: Scene) -> Opening {
    let mut opening = Opening::default();
    if scene.scout {
        opening = opening.scout();
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
    opening.mode(mode)
}

impl ReferenceStateMachine for Counts {
    type State = Self;
    type Transition = Deed;

    fn init_state() -> BoxedStrategy<Self> {
        let scene = (any::<[bool; 3]>(), 1..3_u32);
        let scene = scene.prop_map(|([supervise, decide, scout], lanes)| Scene {
            supervise,
            decide,
            scout,
            lanes,
        });
        scene.prop_map(Counts::new).boxed()
    }

    fn transitions(state: &Self) -> BoxedStrategy<Deed> {
        let fitting: Vec<Deed> = Deed::ALL
            .into_iter()
            .filter(|deed| state.after(*deed).is_some())
            .flat_map(|deed| repeat_n(deed, deed.weight()))
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
        let walk = Walk::open(opening(counts.scene));
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
        let decided = mission.decide(&Event { at, fact });
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
        cases: 400,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_engine_and_a_model_that_only_counts_agree_on_every_way(sequential 1..90 => Engine);
}

#[test]
fn the_model_itself_ships() {
    let mut counts = Counts::new(Scene::default());
    for deed in Deed::STRAIGHT {
        counts = counts.after(deed).unwrap();
    }
    assert_eq!(counts.at, At::Ended { shipped: true });
}
