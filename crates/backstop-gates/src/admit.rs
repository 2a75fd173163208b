//! Asks a board: may this role start, is this lane settled, and who is waited for. Nothing changes here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::{Digest, GateId, RoleName};
use serde::Serialize;

use crate::artifact::Judged;
use crate::board::{Board, Entry, Run};
use crate::names::{GateKind, Trigger};
use crate::spec::GateSpec;
use crate::state::{Reason, State, StateKind};

/// The proof that no gate holds a role. Only [`Board::admit`] makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Admitted {
    // INVARIANT: private, without Clone, Default or Deserialize.
    role: RoleName,
    judged: Judged,
    generation: u32,
}

impl Admitted {
    /// The role that is let in.
    #[must_use]
    pub const fn role(&self) -> &RoleName {
        &self.role
    }

    /// What was current when it was let in.
    #[must_use]
    pub const fn judged(&self) -> &Judged {
        &self.judged
    }

    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }
}

/// The proof that every gate is open for what is there. Only [`Board::settle`] makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Settled {
    // INVARIANT: private, without Clone, Default or Deserialize.
    judged: Judged,
}

impl Settled {
    /// What every gate is open for.
    #[must_use]
    pub const fn judged(&self) -> &Judged {
        &self.judged
    }
}

/// Who can open a gate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// The host, with its checks.
    Host,
    /// This role, with its work or its verdict.
    Role(RoleName),
    /// A person.
    Operator,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Role(role) => write!(f, "{role}"),
            Self::Operator => f.write_str("an operator"),
        }
    }
}

/// Why a gate holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Nothing has been judged.
    Unjudged,
    /// What was judged is not what is there.
    OtherDigest {
        /// What was judged.
        judged: Digest,
        /// What is there; none when it was not measured.
        now: Option<Digest>,
    },
    /// It failed.
    Failed(Reason),
    /// The board was made for other specs.
    OtherSpecs,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unjudged => f.write_str("nothing has been judged"),
            Self::OtherDigest {
                judged,
                now: Some(now),
            } => {
                write!(f, "`{judged}` was judged and `{now}` is there now")
            }
            Self::OtherDigest { judged, now: None } => {
                write!(
                    f,
                    "`{judged}` was judged and what is there now was not measured"
                )
            }
            Self::Failed(reason) if reason.is_blank() => f.write_str("no reason was given"),
            Self::Failed(reason) => write!(f, "{reason}"),
            Self::OtherSpecs => f.write_str("the board was made for other gate specs"),
        }
    }
}

/// A gate that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The gate.
    pub gate: GateId,
    /// What opens it.
    pub kind: GateKind,
    /// Its role.
    pub role: RoleName,
    /// Its state as it counts now.
    pub state: StateKind,
    /// Why it holds.
    pub reason: Hold,
    /// Who can open it.
    pub asked: Asked,
}

/// Everything that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    role: Option<RoleName>,
    other_specs: bool,
    holders: Vec<Holder>,
}

impl Held {
    /// The role that is held; none when the lane was to be settled.
    #[must_use]
    pub const fn role(&self) -> Option<&RoleName> {
        self.role.as_ref()
    }

    /// Whether the board was made for other specs, so that even a board without gates holds.
    #[must_use]
    pub const fn is_for_other_specs(&self) -> bool {
        self.other_specs
    }

    /// Every gate that holds, sorted by id.
    #[must_use]
    pub fn holders(&self) -> &[Holder] {
        &self.holders
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.role {
            Some(role) => write!(f, "`{role}` is held")?,
            None => f.write_str("the lane is held")?,
        }
        if self.other_specs {
            return f.write_str(": the board was made for other gate specs, start a new one");
        }
        for holder in &self.holders {
            let Holder {
                gate,
                kind,
                state,
                reason,
                ..
            } = holder;
            write!(f, "; {kind} gate `{gate}` is {state}: {reason}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Held {}

/// One gate as a person is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusLine {
    /// The gate.
    pub gate: GateId,
    /// What opens it.
    pub kind: GateKind,
    /// Its role.
    pub role: RoleName,
    /// Its state as it counts now.
    pub state: StateKind,
    /// How often its role was sent back, while it is.
    pub n: Option<u32>,
    /// Why it is so: a failure's reason, or who opened it.
    pub reason: String,
    /// Who is waited for; nobody when it is open.
    pub asked: Option<Asked>,
}

impl fmt::Display for StatusLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}, {}): {}",
            self.gate, self.kind, self.role, self.state
        )?;
        if let Some(n) = self.n {
            write!(f, " {n}")?;
        }
        write!(f, ", {}", self.reason)?;
        match &self.asked {
            Some(asked) => write!(f, "; waits for {asked}"),
            None => Ok(()),
        }
    }
}

impl Board {
    /// Whether `role` may start on what is there.
    ///
    /// # Errors
    /// Every gate that holds it. Pending holds; a board that was made for other specs holds every role.
    pub fn admit(&self, role: &RoleName, judged: &Judged) -> Result<Admitted, Held> {
        let blocking = |spec: &GateSpec| spec.blocks_role() == Some(role);
        self.let_pass(
            Some(role),
            |spec, entry| blocking(spec) && entry.effective(spec, judged).holds(),
            judged,
        )?;
        Ok(Admitted {
            role: role.clone(),
            judged: judged.clone(),
            generation: self.generation(),
        })
    }

    /// Whether every gate is open for what is there, as landing and shipping need it. An approval at a role's
    /// start has done its part when it let that role in: it judged the start, which the work has left behind.
    ///
    /// # Errors
    /// Every gate that holds.
    pub fn settle(&self, judged: &Judged) -> Result<Settled, Held> {
        self.let_pass(
            None,
            |spec, entry| entry.effective(spec, judged).holds() && !let_in(spec, entry),
            judged,
        )?;
        Ok(Settled {
            judged: judged.clone(),
        })
    }

    /// Every gate as a person is shown it, sorted by id.
    #[must_use]
    pub fn status(&self, judged: &Judged) -> Vec<StatusLine> {
        let line = |spec: &GateSpec| {
            let entry = self.entry(spec);
            let holder = self.holder(spec, &entry, judged);
            let holds = holder.state.holds();
            StatusLine {
                n: match entry.state {
                    State::Retrying { n, .. } => Some(n),
                    State::Pending
                    | State::Passed { .. }
                    | State::Overridden { .. }
                    | State::Waived { .. }
                    | State::Blocked { .. }
                    | State::Escalated { .. } => None,
                },
                reason: if holds {
                    holder.reason.to_string()
                } else {
                    opened(&entry.state)
                },
                asked: holds.then_some(holder.asked),
                gate: holder.gate,
                kind: holder.kind,
                role: holder.role,
                state: holder.state,
            }
        };
        self.specs.gates().iter().map(line).collect()
    }

    fn let_pass(
        &self,
        role: Option<&RoleName>,
        holds: impl Fn(&GateSpec, &Entry) -> bool,
        judged: &Judged,
    ) -> Result<(), Held> {
        let other_specs = self.own().is_err();
        let held = |spec: &GateSpec| {
            let entry = self.entry(spec);
            (other_specs || holds(spec, &entry)).then(|| self.holder(spec, &entry, judged))
        };
        let holders: Vec<Holder> = self.specs.gates().iter().filter_map(held).collect();
        if holders.is_empty() && !other_specs {
            return Ok(());
        }
        Err(Held {
            role: role.cloned(),
            other_specs,
            holders,
        })
    }

    fn holder(&self, spec: &GateSpec, entry: &Entry, judged: &Judged) -> Holder {
        let other_specs = self.own().is_err();
        let state = if other_specs {
            StateKind::Pending
        } else {
            entry.effective(spec, judged)
        };
        let reason = match (entry.state.reason(), entry.state.bound_to()) {
            _ if other_specs => Hold::OtherSpecs,
            (Some(reason), _) => Hold::Failed(reason.clone()),
            (None, Some(digest)) => Hold::OtherDigest {
                judged: digest,
                now: spec.subject(judged),
            },
            (None, None) => Hold::Unjudged,
        };
        Holder {
            gate: spec.id().clone(),
            kind: spec.kind(),
            role: spec.role().clone(),
            state,
            reason,
            asked: asked(spec, state),
        }
    }
}

/// Whether this approval at a role's start has let the role in.
fn let_in(spec: &GateSpec, entry: &Entry) -> bool {
    let start = spec.on() == Trigger::RoleStart && spec.kind() == GateKind::Approve;
    start && entry.run != Run::NotYet && !entry.state.kind().holds()
}

fn asked(spec: &GateSpec, state: StateKind) -> Asked {
    let role = || Asked::Role(spec.role().clone());
    match state {
        StateKind::Blocked | StateKind::Escalated => Asked::Operator,
        StateKind::Retrying if spec.on() == Trigger::RoleComplete => role(),
        StateKind::Pending
        | StateKind::Retrying
        | StateKind::Passed
        | StateKind::Overridden
        | StateKind::Waived => match spec.kind() {
            GateKind::Verify => Asked::Host,
            GateKind::Review => role(),
            GateKind::Approve => Asked::Operator,
        },
    }
}

fn opened(state: &State) -> String {
    match state {
        State::Passed { by, .. } => format!("by {by}"),
        State::Waived { by, note } if note.is_blank() => format!("by {by}"),
        State::Overridden { by, note, .. } | State::Waived { by, note } => {
            format!("by {by}: {note}")
        }
        State::Pending
        | State::Retrying { .. }
        | State::Blocked { .. }
        | State::Escalated { .. } => String::new(),
    }
}
