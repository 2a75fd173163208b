//! Breadth-first search over all states of a mission, and the longest way through those that no operator touches.

use std::collections::HashMap;

use backstop_engine::mode::Account;
use backstop_engine::{Charter, Mission, Position, Refusal, Transition};

use crate::fingerprint::{Fingerprint, fingerprint};
use crate::moves::{Actor, Move, Palette, is_note, moves};

/// What a move did to a state.
#[derive(Debug)]
pub struct Step<'a> {
    /// The number of the state it was made in.
    pub from: usize,
    /// That state.
    pub before: &'a Mission,
    /// The move.
    pub made: &'a Move,
    /// What it did.
    pub outcome: &'a Result<Transition, Refusal>,
    /// The number of the state it led to, and whether that one was not known before; none where it was refused.
    pub to: Option<(usize, bool)>,
}

#[derive(Debug)]
struct Node {
    mission: Mission,
    came: Option<(usize, Move)>,
    edges: Vec<(usize, Actor)>,
}

/// All states that were found, each with the first way that led there.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
}

/// Finds every state that a mission with this charter can be in, and shows each step to `watch`.
///
/// Of the accounts in `uncounted` only whether they are exhausted tells two states apart.
pub fn explore(
    charter: Charter,
    palette: &Palette,
    uncounted: &[Account],
    mut watch: impl FnMut(&Step<'_>),
) -> Graph {
    let opened = Mission::open(charter).mission;
    let mut known: HashMap<Fingerprint, usize> = HashMap::new();
    known.insert(fingerprint(&opened, uncounted), 0);
    let mut graph = Graph {
        nodes: vec![Node {
            mission: opened,
            came: None,
            edges: Vec::new(),
        }],
    };
    let mut from = 0;
    while let Some(node) = graph.nodes.get(from) {
        let before = node.mission.clone();
        for made in moves(&before, palette) {
            let outcome = before.decide(&made.event);
            let to = outcome.as_ref().ok().map(|transition| {
                graph.reach(&mut known, from, &made, (&transition.mission, uncounted))
            });
            let (before, made, outcome) = (&before, &made, &outcome);
            watch(&Step {
                from,
                before,
                made,
                outcome,
                to,
            });
        }
        from += 1;
    }
    graph
}

impl Graph {
    fn reach(
        &mut self,
        known: &mut HashMap<Fingerprint, usize>,
        from: usize,
        made: &Move,
        (mission, uncounted): (&Mission, &[Account]),
    ) -> (usize, bool) {
        let next = self.nodes.len();
        let to = *known.entry(fingerprint(mission, uncounted)).or_insert(next);
        if to == next {
            self.nodes.push(Node {
                mission: mission.clone(),
                came: Some((from, made.clone())),
                edges: Vec::new(),
            });
        }
        if let Some(node) = self.nodes.get_mut(from)
            && !is_note(&made.event.fact)
        {
            node.edges.push((to, made.by));
        }
        (to, to == next)
    }

    /// How many states there are.
    #[must_use]
    pub const fn states(&self) -> usize {
        self.nodes.len()
    }

    /// The mission in this state.
    #[must_use]
    pub fn mission(&self, state: usize) -> Option<&Mission> {
        self.nodes.get(state).map(|node| &node.mission)
    }

    /// The moves that first led to this state, from the opening on.
    #[must_use]
    pub fn way(&self, state: usize) -> Vec<Move> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some((from, made)) = self.nodes.get(at).and_then(|node| node.came.as_ref()) {
            way.push(made.clone());
            at = *from;
        }
        way.reverse();
        way
    }

    /// The states that are reached from the opening without an operator.
    #[must_use]
    pub fn unattended(&self) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut found = vec![0];
        let mut next = 0;
        while let Some(at) = found.get(next).copied() {
            let edges = self.nodes.get(at).map_or(&[][..], |node| &node.edges);
            for (to, by) in edges {
                if *by != Actor::Operator
                    && let Some(new @ false) = seen.get_mut(*to)
                {
                    *new = true;
                    found.push(*to);
                }
            }
            next += 1;
        }
        found
    }

    /// The most moves of agents, host and clock, from any state, until a gate, a park or the end.
    ///
    /// # Errors
    /// A state that lies on a circle: agents, host and clock alone would run for ever.
    pub fn longest(&self) -> Result<u64, usize> {
        let mut longest = vec![Depth::Unknown; self.nodes.len()];
        (0..self.nodes.len()).try_fold(0, |most, state| {
            Ok(most.max(self.depth(state, &mut longest)?))
        })
    }

    fn rests(&self, state: usize) -> bool {
        self.nodes.get(state).is_none_or(|node| {
            matches!(
                node.mission.position(),
                Position::AtGate(..) | Position::Parked(..) | Position::Ended(_)
            )
        })
    }

    fn depth(&self, state: usize, known: &mut [Depth]) -> Result<u64, usize> {
        match known.get(state) {
            Some(Depth::Known(depth)) => return Ok(*depth),
            Some(Depth::Open) => return Err(state),
            Some(Depth::Unknown) | None => {}
        }
        let mut most = 0;
        if !self.rests(state) {
            set(known, state, Depth::Open);
            let edges = self.nodes.get(state).map_or(&[][..], |node| &node.edges);
            for (to, _) in edges.iter().filter(|(_, by)| *by != Actor::Operator) {
                most = most.max(1 + self.depth(*to, known)?);
            }
        }
        set(known, state, Depth::Known(most));
        Ok(most)
    }
}

#[derive(Debug, Clone, Copy)]
enum Depth {
    Unknown,
    Open,
    Known(u64),
}

fn set(known: &mut [Depth], state: usize, depth: Depth) {
    if let Some(slot) = known.get_mut(state) {
        *slot = depth;
    }
}
