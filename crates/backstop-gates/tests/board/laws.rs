//! What no sequence of operations breaks, held against a small second model of the board.

use std::collections::BTreeMap;

use backstop_gates::{Board, GateDraft, GateKind, OnFail, StateKind, Trigger, Verdict};
use backstop_vocab::Digest;
use proptest::prelude::*;

use crate::common::{
    approval, attempt, board, fails, gate, green, id, kind_of, note, now, operator, red, rejection,
    role, target, tree,
};

const GATES: [&str; 6] = ["plan", "checks", "diff", "look", "suite", "go"];
const ROLES: [&str; 5] = [
    "planner",
    "implementer",
    "reviewer",
    "verifier",
    "release_lead",
];

fn lane() -> Board {
    let of = |id: &str, role: &str, kind, on_fail, blocked: &str| GateDraft {
        role: role.into(),
        blocks_role: Some(blocked.into()),
        ..gate(id, kind, on_fail)
    };
    board(&[
        of(
            "plan",
            "planner",
            GateKind::Approve,
            OnFail::Escalate,
            "implementer",
        ),
        of(
            "checks",
            "implementer",
            GateKind::Verify,
            OnFail::Block,
            "reviewer",
        ),
        of(
            "diff",
            "reviewer",
            GateKind::Review,
            OnFail::Block,
            "verifier",
        ),
        of(
            "look",
            "reviewer",
            GateKind::Review,
            OnFail::Escalate,
            "verifier",
        ),
        GateDraft {
            max_retries: Some(2),
            ..of(
                "suite",
                "verifier",
                GateKind::Verify,
                OnFail::Retry,
                "release_lead",
            )
        },
        GateDraft {
            on: Trigger::RoleStart,
            ..of(
                "go",
                "release_lead",
                GateKind::Verify,
                OnFail::Block,
                "release_lead",
            )
        },
    ])
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Run(usize),
    Start(usize),
    Complete(usize),
    Verify(usize, bool),
    Review(usize, bool),
    Approve(usize),
    Overrule(usize),
    Reject(usize),
    Retry(usize),
    Generation(usize),
    Tree(u8),
}

fn machine() -> impl Strategy<Value = Step> {
    let (role, gate) = (0..ROLES.len(), 0..GATES.len());
    prop_oneof![
        4 => role.clone().prop_map(Step::Run),
        1 => role.clone().prop_map(Step::Start),
        1 => role.prop_map(Step::Complete),
        4 => (gate.clone(), any::<bool>()).prop_map(|(gate, green)| Step::Verify(gate, green)),
        4 => (gate, any::<bool>()).prop_map(|(gate, pass)| Step::Review(gate, pass)),
        1 => (1_u8..4).prop_map(Step::Tree),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let gate = 0..GATES.len();
    prop_oneof![
        12 => machine(),
        3 => gate.clone().prop_map(Step::Approve),
        1 => gate.clone().prop_map(Step::Overrule),
        1 => gate.prop_map(Step::Reject),
        1 => (0..ROLES.len()).prop_map(Step::Retry),
        1 => (0..ROLES.len()).prop_map(Step::Generation),
    ]
}

/// The board after the step, and the same board where the step is refused.
fn take(board: &Board, tree: &mut u8, step: Step) -> Option<Board> {
    let there = now(*tree);
    let start = |n: usize| {
        let admitted = board.admit(&role(ROLES[n]), &there).ok()?;
        board.started(&admitted, attempt(1)).ok()
    };
    let yes = |gate: usize| approval(board, GATES[gate], &there, "seen");
    let verdict = |pass| {
        Ok(if pass {
            Verdict::Pass
        } else {
            fails("it leaks")
        })
    };
    match step {
        Step::Tree(n) => {
            *tree = n;
            None
        }
        Step::Run(n) => start(n)?.completed(&role(ROLES[n]), attempt(1)).ok(),
        Step::Start(n) => start(n),
        Step::Complete(n) => board.completed(&role(ROLES[n]), attempt(1)).ok(),
        Step::Verify(gate, ok) => {
            let check = if ok { green() } else { red() };
            board.verify(&target(GATES[gate]), &[check], &there).ok()
        }
        Step::Review(gate, pass) => board
            .review(&target(GATES[gate]), &verdict(pass), &there)
            .ok(),
        Step::Approve(gate) => board.approve(&operator(), &yes(gate), &there).ok(),
        Step::Overrule(gate) => board.overrule(&operator(), &yes(gate), &there).ok(),
        Step::Reject(gate) => board
            .reject(&operator(), &rejection(GATES[gate], "no"), &there)
            .ok(),
        Step::Retry(n) => board.retry(&operator(), &[role(ROLES[n])]).ok(),
        Step::Generation(n) => board.new_generation(&role(ROLES[n])).ok(),
    }
}

/// The second model: for each gate only the digest that it was last opened for.
#[derive(Default)]
struct Opened(BTreeMap<usize, Digest>);

impl Opened {
    /// Follows a step that was accepted.
    fn follow(&mut self, step: Step, tree: Digest) {
        match step {
            Step::Verify(gate, true)
            | Step::Review(gate, true)
            | Step::Approve(gate)
            | Step::Overrule(gate) => {
                self.0.insert(gate, tree);
            }
            Step::Verify(gate, false) | Step::Review(gate, false) | Step::Reject(gate) => {
                self.0.remove(&gate);
            }
            Step::Run(n) | Step::Start(n) => {
                self.close(|gate| ROLE_OF[gate] == n && GATES[gate] != "go");
            }
            Step::Generation(n) => self.close(|gate| ROLE_OF[gate] >= n),
            Step::Complete(_) | Step::Retry(_) | Step::Tree(_) => {}
        }
    }

    fn close(&mut self, closed: impl Fn(usize) -> bool) {
        self.0.retain(|gate, _| !closed(*gate));
    }
}

/// The role of each gate, and the role that each blocks, by place.
const ROLE_OF: [usize; 6] = [0, 1, 2, 2, 3, 4];
const BLOCKS: [usize; 6] = [1, 2, 3, 3, 4, 4];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sequence_of_machine_results_clears_blocked_or_escalated(
        before in prop::collection::vec(any_step(), 0..40),
        after in prop::collection::vec(machine(), 1..60),
    ) {
        let (mut board, mut tree) = (lane(), 1);
        for step in before {
            board = take(&board, &mut tree, step).unwrap_or(board);
        }
        let failed = |board: &Board| {
            let fixed = |gate: &&str| matches!(kind_of(board, gate), StateKind::Blocked | StateKind::Escalated);
            GATES.into_iter().filter(|gate| fixed(gate)).collect::<Vec<_>>()
        };
        let mut fixed = failed(&board);
        for step in after {
            board = take(&board, &mut tree, step).unwrap_or(board);
            let still = failed(&board);
            prop_assert!(fixed.iter().all(|gate| still.contains(gate)), "{:?}", step);
            fixed = still;
        }
    }

    #[test]
    fn a_role_is_let_in_only_past_gates_opened_for_what_is_there(
        steps in prop::collection::vec(any_step(), 0..80),
    ) {
        let (mut board, mut there, mut opened) = (lane(), 1, Opened::default());
        for step in steps {
            if let Some(next) = take(&board, &mut there, step) {
                board = next;
                opened.follow(step, tree(there));
            }
            for (n, name) in ROLES.into_iter().enumerate() {
                let blocking = (0..GATES.len()).filter(|gate| BLOCKS[*gate] == n);
                let closed: Vec<_> = blocking.filter(|gate| opened.0.get(gate) != Some(&tree(there))).map(|gate| id(GATES[gate])).collect();
                let holders = match board.admit(&role(name), &now(there)) {
                    Ok(_) => Vec::new(),
                    Err(held) => held.holders().iter().map(|holder| holder.gate.clone()).collect(),
                };
                let mut closed = closed;
                closed.sort();
                prop_assert_eq!(holders, closed, "{} after {:?}", name, step);
            }
        }
    }

    #[test]
    fn every_board_that_can_be_reached_can_be_stored(
        steps in prop::collection::vec(any_step(), 0..60),
        waived in any::<bool>(),
    ) {
        let (mut board, mut tree) = (lane(), 1);
        if waived {
            board = board.waive(&operator(), &[role("planner")], &note("")).unwrap();
        }
        for step in steps {
            board = take(&board, &mut tree, step).unwrap_or(board);
        }
        let json = serde_json::to_string(&board).unwrap();
        prop_assert_eq!(serde_json::from_str::<Board>(&json).unwrap(), board);
    }
}
