//! Breadth-first search over all states of a mission, and the longest way through those that no operator touches.
//!
//! A graph of a million states fits into memory, as a mission is forgotten once all its moves were made: what is kept of
//! a state is how it was reached. [`Graph::mission`] walks there again.

use std::collections::{HashMap, VecDeque};

use backstop_engine::mode::Account;
use backstop_engine::{Charter, Ended, Mission, Position, Refusal, Transition};

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

/// The number of a state.
type State = u32;

#[derive(Debug)]
struct Node {
    // From where, and by which of the moves there.
    came: Option<(State, usize)>,
    rests: bool,
    shipped: bool,
    // Where its moves lead, and whether an operator made them.
    edges: Vec<(State, bool)>,
}

impl Node {
    fn new(mission: &Mission, came: Option<(State, usize)>) -> Self {
        let position = mission.position();
        Self {
            came,
            rests: matches!(
                position,
                Position::AtGate(..) | Position::Parked(..) | Position::Ended(_)
            ),
            shipped: matches!(position, Position::Ended(Ended::Shipped(_))),
            edges: Vec::new(),
        }
    }
}

/// All states that were found, each with the first way that led there.
#[derive(Debug)]
pub struct Graph {
    charter: Charter,
    palette: Palette,
    nodes: Vec<Node>,
}

/// A search under way.
struct Search<'a> {
    graph: Graph,
    uncounted: &'a [Account],
    known: HashMap<Fingerprint, State>,
    // The missions whose moves are still to be made, in the order of their states.
    next: VecDeque<Mission>,
}

/// Finds every state that a mission with this charter can be in, and shows each step to `watch`, in the order of the
/// states that they are made in.
///
/// Of the accounts in `uncounted` only whether they are exhausted tells two states apart.
///
/// # Panics
/// With more than 2³² states.
pub fn explore(
    charter: Charter,
    palette: &Palette,
    uncounted: &[Account],
    mut watch: impl FnMut(&Step<'_>),
) -> Graph {
    let opened = Mission::open(charter.clone()).mission;
    let mut search = Search {
        graph: Graph {
            charter,
            palette: palette.clone(),
            nodes: Vec::new(),
        },
        uncounted,
        known: HashMap::new(),
        next: VecDeque::new(),
    };
    search.reach(&opened, None);
    let mut from: State = 0;
    while let Some(before) = search.next.pop_front() {
        for (number, made) in moves(&before, palette).iter().enumerate() {
            let outcome = before.decide(&made.event);
            let to = outcome
                .as_ref()
                .ok()
                .map(|transition| search.edge((from, number), made, &transition.mission));
            watch(&Step {
                from: from as usize,
                before: &before,
                made,
                outcome: &outcome,
                to,
            });
        }
        from += 1;
    }
    search.graph
}

impl Search<'_> {
    fn reach(&mut self, mission: &Mission, came: Option<(State, usize)>) -> (State, bool) {
        let new = State::try_from(self.graph.nodes.len()).expect("fewer than 2^32 states");
        let mark = fingerprint(mission, self.uncounted);
        let state = *self.known.entry(mark).or_insert(new);
        if state == new {
            self.graph.nodes.push(Node::new(mission, came));
            self.next.push_back(mission.clone());
        }
        (state, state == new)
    }

    fn edge(&mut self, came: (State, usize), made: &Move, mission: &Mission) -> (usize, bool) {
        let (to, new) = self.reach(mission, Some(came));
        if let Some(node) = self.graph.nodes.get_mut(came.0 as usize)
            && !is_note(&made.event.fact)
        {
            node.edges.push((to, made.by == Actor::Operator));
        }
        (to as usize, new)
    }
}

impl Graph {
    /// How many states there are.
    #[must_use]
    pub const fn states(&self) -> usize {
        self.nodes.len()
    }

    /// The mission in this state; none where there is no such state.
    #[must_use]
    pub fn mission(&self, state: usize) -> Option<Mission> {
        self.walk(state).map(|(_, mission)| mission)
    }

    /// The moves that first led to this state, from the opening on.
    #[must_use]
    pub fn way(&self, state: usize) -> Vec<Move> {
        self.walk(state).map(|(way, _)| way).unwrap_or_default()
    }

    fn walk(&self, state: usize) -> Option<(Vec<Move>, Mission)> {
        let mut numbers = Vec::new();
        let mut node = self.nodes.get(state)?;
        while let Some((from, number)) = node.came {
            numbers.push(number);
            node = self.nodes.get(from as usize)?;
        }
        let mut mission = Mission::open(self.charter.clone()).mission;
        let mut way = Vec::new();
        for number in numbers.into_iter().rev() {
            let made = moves(&mission, &self.palette).into_iter().nth(number)?;
            mission = mission.decide(&made.event).ok()?.mission;
            way.push(made);
        }
        Some((way, mission))
    }

    /// A shipped state that is reached from the opening without an operator.
    #[must_use]
    pub fn shipped_unattended(&self) -> Option<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let (Some(node), Some(seen)) = (self.nodes.get(at), seen.get_mut(at)) else {
                continue;
            };
            if std::mem::replace(seen, true) {
                continue;
            }
            if node.shipped {
                return Some(at);
            }
            let unattended = node.edges.iter().filter(|(_, operator)| !operator);
            open.extend(unattended.map(|(to, _)| *to as usize));
        }
        None
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

    fn depth(&self, state: usize, known: &mut [Depth]) -> Result<u64, usize> {
        match known.get(state) {
            Some(Depth::Known(depth)) => return Ok(*depth),
            Some(Depth::Open) => return Err(state),
            Some(Depth::Unknown) | None => {}
        }
        let mut most = 0;
        if let Some(node) = self.nodes.get(state).filter(|node| !node.rests) {
            set(known, state, Depth::Open);
            for (to, _) in node.edges.iter().filter(|(_, operator)| !operator) {
                most = most.max(1 + self.depth(*to as usize, known)?);
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
