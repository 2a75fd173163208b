//! The record of a loop: its bounds, what was spent, and what happened in order. It decides nothing.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use backstop_vocab::{Digest, Signature, Span, Timestamp};
use serde::Serialize;

use crate::bounds::{AbandonedSlot, Bounds, Policy};
use crate::finding::{Finding, Findings, Paths};
use crate::review::{Answer, Judged, Spend, VerifierRoute};
use crate::route::{Label, Missing, Route};
use crate::stop::{Ceiling, Stall};

/// Something that happened to a loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A review of the pin came in, whatever came of it.
    Reviewed(Box<Judged>),
    /// A submission lacked parts of its receipts.
    Incomplete {
        /// The number of its slot.
        iteration: u32,
        /// What it lacked.
        missing: Vec<Missing>,
    },
    /// A host check was red before a review.
    Red {
        /// What was red.
        findings: Findings,
    },
    /// A repair came in.
    Repaired {
        /// What it started from: the pin of then.
        from: Digest,
        /// What it left: the pin from then on.
        to: Digest,
        /// Who repaired.
        implementer: Route,
        /// What changed.
        paths: Paths,
        /// How it stalled, where it did.
        stall: Option<Stall>,
    },
    /// A person answered.
    Answered {
        /// Who.
        by: Signature,
        /// What they answered.
        answer: Answer,
    },
}

/// What one loop ran, by whom, on what, at what cost.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Receipt {
    bounds: Bounds,
    policy: Policy,
    // INVARIANT: moved by `repaired` alone.
    pin: Digest,
    // INVARIANT: every pin so far, the present one included, each once.
    pins: Vec<Digest>,
    // INVARIANT: at most the bound; the counts below never fall, but for an abandoned slot that keeps its iteration.
    iterations: u32,
    tool_calls: u64,
    elapsed_ms: Span,
    stalled_in_a_row: u32,
    red_checks: u32,
    abandoned: u32,
    // INVARIANT: never runs backwards.
    clock: Timestamp,
    // INVARIANT: every session that made something this loop judged or may judge, each once.
    implementers: Vec<Label>,
    entries: Vec<Entry>,
}

impl Receipt {
    pub(crate) fn open(bounds: Bounds, policy: Policy, pin: Digest) -> Box<Self> {
        Box::new(Self {
            bounds,
            policy,
            pin,
            pins: Vec::from([pin]),
            iterations: 0,
            tool_calls: 0,
            elapsed_ms: Span::ZERO,
            stalled_in_a_row: 0,
            red_checks: 0,
            abandoned: 0,
            clock: Timestamp::default(),
            implementers: Vec::new(),
            entries: Vec::new(),
        })
    }

    /// The bounds.
    #[must_use]
    pub const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// What the loop demands.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What the loop is about now.
    #[must_use]
    pub const fn pin(&self) -> Digest {
        self.pin
    }

    /// Iterations spent, an open slot included.
    #[must_use]
    pub const fn iterations(&self) -> u32 {
        self.iterations
    }

    /// Tool calls spent by slots.
    #[must_use]
    pub const fn tool_calls(&self) -> u64 {
        self.tool_calls
    }

    /// Time spent by slots, up to the last submission.
    #[must_use]
    pub const fn elapsed(&self) -> Span {
        self.elapsed_ms
    }

    /// Slots that crashed.
    #[must_use]
    pub const fn abandoned(&self) -> u32 {
        self.abandoned
    }

    /// What happened, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What the last review or red check found.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        let found = |entry: &'_ Entry| matches!(entry, Entry::Reviewed(_) | Entry::Red { .. });
        match self.entries.iter().rfind(|entry| found(entry)) {
            Some(Entry::Reviewed(judged)) => judged.findings.as_slice(),
            Some(Entry::Red { findings }) => findings.as_slice(),
            Some(Entry::Incomplete { .. } | Entry::Repaired { .. } | Entry::Answered { .. })
            | None => &[],
        }
    }

    /// `iterations 2/3, tools 31/120, elapsed 240s/900s`.
    #[must_use]
    pub fn budget_line(&self) -> String {
        let (bounds, spent) = (&self.bounds, self.elapsed_ms.as_secs());
        format!(
            "iterations {}/{}, tools {}/{}, elapsed {spent}s/{}s",
            self.iterations,
            bounds.iterations(),
            self.tool_calls,
            bounds.tool_calls(),
            bounds.wall_clock().as_secs(),
        )
    }

    /// The routes on record as lines, each once, in the order of their first appearance.
    #[must_use]
    pub fn route_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for line in self.entries.iter().flat_map(routes).map(Route::to_string) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The bounds that leave no room for another slot.
    pub(crate) fn reached(&self) -> Vec<Ceiling> {
        named([
            (
                Ceiling::Iterations,
                self.iterations >= self.bounds.iterations(),
            ),
            (
                Ceiling::WallClockSecs,
                self.elapsed_ms >= self.bounds.wall_clock(),
            ),
            (
                Ceiling::ToolCalls,
                self.tool_calls >= self.bounds.tool_calls(),
            ),
        ])
    }

    /// The bounds that a slot went beyond.
    pub(crate) fn passed(&self) -> Vec<Ceiling> {
        named([
            (
                Ceiling::Iterations,
                self.iterations > self.bounds.iterations(),
            ),
            (
                Ceiling::WallClockSecs,
                self.elapsed_ms > self.bounds.wall_clock(),
            ),
            (
                Ceiling::ToolCalls,
                self.tool_calls > self.bounds.tool_calls(),
            ),
        ])
    }

    pub(crate) const fn is_last_iteration(&self) -> bool {
        self.iterations >= self.bounds.iterations()
    }

    pub(crate) const fn is_last_red_check(&self) -> bool {
        self.red_checks >= Bounds::MOST_RED_CHECKS
    }

    /// The agent of the last repair on record.
    pub(crate) fn last_implementer(&self) -> Option<&Route> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Repaired { implementer, .. } => Some(implementer),
            Entry::Reviewed(_)
            | Entry::Incomplete { .. }
            | Entry::Red { .. }
            | Entry::Answered { .. } => None,
        })
    }

    pub(crate) fn implemented(&self, session: &Label) -> bool {
        self.implementers.contains(session)
    }

    /// Tells the time; a moment before the last one counts as the last one.
    pub(crate) fn tick(&mut self, at: Timestamp) -> Timestamp {
        self.clock = self.clock.max(at);
        self.clock
    }

    pub(crate) fn spend_iteration(&mut self) -> u32 {
        self.iterations = self.iterations.saturating_add(1);
        self.iterations
    }

    pub(crate) fn charge(&mut self, spend: Spend, time: Span) {
        self.tool_calls = self.tool_calls.saturating_add(spend.tool_calls);
        self.elapsed_ms = self.elapsed_ms.plus(time);
    }

    /// Counts a crash. It costs one second at least, so that crashes alone use up the time.
    pub(crate) fn abandon(&mut self, spend: Spend, time: Span) {
        self.charge(spend, time.max(Span::from_secs(1)));
        self.abandoned = self.abandoned.saturating_add(1);
        match self.policy.abandoned_slot {
            AbandonedSlot::Spent => {}
            AbandonedSlot::Kept => self.iterations = self.iterations.saturating_sub(1),
        }
    }

    pub(crate) fn incomplete(&mut self, iteration: u32, missing: Vec<Missing>) {
        self.entries.push(Entry::Incomplete { iteration, missing });
    }

    pub(crate) fn reviewed(&mut self, judged: &Judged) {
        if let Some(route) = &judged.routes.implementer {
            self.remember(route);
        }
        self.entries.push(Entry::Reviewed(Box::new(judged.clone())));
    }

    pub(crate) fn red(&mut self, findings: Findings) {
        self.red_checks = self.red_checks.saturating_add(1);
        self.entries.push(Entry::Red { findings });
    }

    /// Moves the pin. Says how the repair stalled and how many did in a row, where it did.
    pub(crate) fn repaired(
        &mut self,
        to: Digest,
        implementer: Route,
        paths: Paths,
    ) -> Option<(Stall, u32)> {
        let stall = match (to == self.pin, self.pins.contains(&to)) {
            (true, _) => Some(Stall::NoProgress),
            (false, true) => Some(Stall::Oscillation),
            (false, false) => None,
        };
        if stall.is_some() {
            self.stalled_in_a_row = self.stalled_in_a_row.saturating_add(1);
        } else {
            self.stalled_in_a_row = 0;
            self.pins.push(to);
        }
        self.remember(&implementer);
        self.entries.push(Entry::Repaired {
            from: core::mem::replace(&mut self.pin, to),
            to,
            implementer,
            paths,
            stall,
        });
        stall.map(|stall| (stall, self.stalled_in_a_row))
    }

    pub(crate) fn answered(&mut self, by: Signature, answer: Answer) {
        self.entries.push(Entry::Answered { by, answer });
    }

    fn remember(&mut self, route: &Route) {
        if !self.implemented(route.session()) {
            self.implementers.push(route.session().clone());
        }
    }
}

fn named<const N: usize>(ceilings: [(Ceiling, bool); N]) -> Vec<Ceiling> {
    let over = ceilings.into_iter().filter(|(_, over)| *over);
    over.map(|(ceiling, _)| ceiling).collect()
}

fn routes(entry: &Entry) -> Vec<&Route> {
    match entry {
        Entry::Reviewed(judged) => {
            let routes = &judged.routes;
            let verifier = match &routes.verifier {
                Some(VerifierRoute::Agent(route)) => Some(route),
                Some(VerifierRoute::Host(_)) | None => None,
            };
            let (implementer, reviewer) = (routes.implementer.as_ref(), Some(&routes.reviewer));
            [implementer, reviewer, verifier]
                .into_iter()
                .flatten()
                .collect()
        }
        Entry::Repaired { implementer, .. } => Vec::from([implementer]),
        Entry::Incomplete { .. } | Entry::Red { .. } | Entry::Answered { .. } => Vec::new(),
    }
}
