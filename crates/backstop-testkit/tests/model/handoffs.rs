//! What is handed on, counted: how much a launch is given, and how much is done with.

use backstop_testkit::engine::Role;
use backstop_testkit::engine::vocab::Stage;

/// The most that one visit is given.
const LIMIT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Waiting,
    Given(u32),
    Done,
}

/// A visit of a stage.
pub(crate) type Made = (Stage, u32);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Handoff {
    // Nobody is the operator. Between the same two there is only one kind.
    from: Option<Role>,
    to: Role,
    made: Made,
    gate: Option<&'static str>,
    kept: Kept,
}

/// The handoffs of a lane, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Handoffs(Vec<Handoff>);

/// Who reads what a role wrote.
pub(crate) const fn readers(role: Role) -> &'static [Role] {
    match role {
        Role::Scout => &[Role::Planner, Role::Implementer, Role::Reviewer],
        Role::Planner => &[Role::Implementer, Role::Reviewer],
        Role::Reviewer => &[Role::Verifier],
        Role::Verifier => &[Role::ReleaseLead],
        Role::Implementer | Role::ReleaseLead => &[],
    }
}

impl Handoffs {
    pub(crate) fn add(
        &mut self,
        (from, to): (Option<Role>, Role),
        made: Made,
        gate: Option<&'static str>,
    ) {
        self.0.push(Handoff {
            from,
            to,
            made,
            gate,
            kept: Kept::Waiting,
        });
    }

    /// What a later visit handed on along the same way replaces what an earlier one did.
    fn replaced(&self, n: usize) -> bool {
        let one = &self.0[n];
        let newest = self
            .0
            .iter()
            .rfind(|other| (other.from, other.to) == (one.from, one.to));
        newest.is_some_and(|newest| newest.made != one.made)
    }

    /// How much a launch of the role is given in this visit.
    pub(crate) fn give(&mut self, role: Role, visit: u32, is_open: impl Fn(&str) -> bool) -> usize {
        let own = |one: &Handoff| one.to == role && one.kept == Kept::Given(visit);
        for one in &mut self.0 {
            let stale = matches!(one.kept, Kept::Given(other) if other != visit);
            if one.to == role && stale {
                one.kept = Kept::Waiting;
            }
        }
        let mut room = LIMIT - self.0.iter().filter(|one| own(one)).count();
        let deliverable = |one: &Handoff| one.gate.is_none_or(&is_open);
        for n in (0..self.0.len()).rev() {
            let one = &self.0[n];
            let fresh = one.to == role && one.kept == Kept::Waiting && !self.replaced(n);
            if room > 0 && fresh && deliverable(one) {
                room -= 1;
                self.0[n].kept = Kept::Given(visit);
            }
        }
        let given = self.0.iter().filter(|one| own(one) && deliverable(one));
        given.count()
    }

    /// The role's visit ended well.
    pub(crate) fn commit(&mut self, role: Role, visit: u32) {
        for one in &mut self.0 {
            if one.to == role && one.kept == Kept::Given(visit) {
                one.kept = Kept::Done;
            }
        }
    }

    /// The role's visit ended otherwise.
    pub(crate) fn release(&mut self, role: Role) {
        for one in &mut self.0 {
            if one.to == role && one.kept != Kept::Done {
                one.kept = Kept::Waiting;
            }
        }
    }

    pub(crate) fn all(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn done(&self) -> usize {
        let done = self.0.iter().filter(|one| one.kept == Kept::Done);
        done.count()
    }
}
