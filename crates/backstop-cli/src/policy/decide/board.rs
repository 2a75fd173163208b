//! `board`: a board of gates, replayed from its steps, and whether it lets a role in. The rules are in the gates crate.

use std::collections::BTreeMap;

use backstop_engine::gates::{
    self, Approval, Board, GateDraft, GateKind, HostEvidence, Judged, Rejection, Role, Specs,
    StateKind, Target, Trigger, Verdict, prefer_structured, standard_roles,
};
use backstop_engine::vocab::{Attempt, Digest, GateId, Note, Operator, RoleName, Signature};
use serde::{Deserialize, Serialize};

use super::Ask;
use super::answer::Refused;

/// The most gates of a board. Looking for cycles takes time that grows with the square of it and more.
const MOST_GATES: usize = 256;

/// `board`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replay {
    specs: Vec<GateDraft>,
    /// The roles in the order in which they run; the six standard ones where this is left out.
    roles: Option<Vec<Role>>,
    steps: Vec<Step>,
    admit: Admit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Admit {
    role: RoleName,
    digests: Judged,
}

/// What happens to a board, as data: `{"start":{"role":"scout"}}`.
///
/// An `attempt` that is left out is the role's next one where it starts, and its last one elsewhere.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// What is there from this step on.
    Measure(Judged),
    /// A role is let in and starts.
    Start(Run),
    /// A role's attempt ends in success.
    Complete(Run),
    /// A role starts and completes, with this as its final message, which its review gate is judged on.
    Pass { gate: GateId, verdict: String },
    /// The host's checks ran.
    Verify(Ran),
    /// The role's final message is read.
    Review(Message),
    /// An operator passes a pending approve gate.
    Approve(Yes),
    /// An operator opens a gate against its failure or silence.
    Override(Yes),
    /// An operator fails a gate.
    Reject(No),
    /// An operator has roles judged again.
    Retry(Again),
    /// An operator skips roles that never started.
    Waive(Skip),
    /// The lane enters Code again.
    NewGeneration { from: RoleName },
    /// The configuration changes under the board.
    Under { specs: Vec<GateDraft> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    role: RoleName,
    attempt: Option<Attempt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ran {
    gate: GateId,
    attempt: Option<Attempt>,
    checks: Vec<HostEvidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    gate: GateId,
    attempt: Option<Attempt>,
    verdict: String,
    structured: Option<Verdict>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Yes {
    gate: GateId,
    attempt: Option<Attempt>,
    digest: Digest,
    #[serde(default)]
    note: Note,
    by: Signature,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct No {
    gate: GateId,
    note: Note,
    by: Signature,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Again {
    roles: Vec<RoleName>,
    by: Signature,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Skip {
    roles: Vec<RoleName>,
    #[serde(default)]
    note: Note,
    by: Signature,
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::Measure(_) => "measure",
            Self::Start(_) => "start",
            Self::Complete(_) => "complete",
            Self::Pass { .. } => "pass",
            Self::Verify(_) => "verify",
            Self::Review(_) => "review",
            Self::Approve(_) => "approve",
            Self::Override(_) => "override",
            Self::Reject(_) => "reject",
            Self::Retry(_) => "retry",
            Self::Waive(_) => "waive",
            Self::NewGeneration { .. } => "new_generation",
            Self::Under { .. } => "under",
        }
    }
}

#[derive(Serialize)]
pub(super) struct Let {
    admitted: bool,
    holders: Vec<Holder>,
}

#[derive(Serialize)]
struct Holder {
    id: GateId,
    kind: GateKind,
    state: StateKind,
    reason: String,
}

impl From<&gates::Holder> for Holder {
    fn from(holder: &gates::Holder) -> Self {
        Self {
            id: holder.gate.clone(),
            kind: holder.kind,
            state: holder.state,
            reason: holder.reason.to_string(),
        }
    }
}

impl Ask for Replay {
    type Ok = Let;
    fn judge(self) -> Result<Let, Refused> {
        let Admit { role, digests } = self.admit;
        let roles = self.roles.unwrap_or_else(standard_roles);
        let mut play = Play {
            board: Board::new(load(&self.specs, &roles)?),
            now: digests.clone(),
            attempts: BTreeMap::new(),
            roles,
        };
        play.known(&role)?;
        for (index, step) in self.steps.into_iter().enumerate() {
            let name = step.name();
            play.take(step)
                .map_err(|refused| refused.at_step(index, name))?;
        }
        Ok(match play.board.admit(&role, &digests) {
            Ok(_) => Let {
                admitted: true,
                holders: Vec::new(),
            },
            Err(held) => Let {
                admitted: false,
                holders: held.holders().iter().map(Holder::from).collect(),
            },
        })
    }
}

fn load(specs: &[GateDraft], roles: &[Role]) -> Result<Specs, Refused> {
    let count = specs.len();
    if count > MOST_GATES {
        let words = format!("there are {count} gates: use at most {MOST_GATES}");
        return Err(Refused::new("too_many_gates", &words));
    }
    Ok(Specs::load(specs, roles)?)
}

impl From<gates::Refusal> for Refused {
    fn from(refusal: gates::Refusal) -> Self {
        Self::new(refusal.code(), &refusal)
    }
}

/// The person whose answer the asker reports.
///
/// Who asks has the operator's own command line, and says that this person answered. The capability lives for one
/// step and reaches the board of this one line: no mission is open here, so no gate of one can be answered this way.
const fn operator(by: Signature) -> Operator {
    Operator::attest(by)
}

/// A board while its steps are taken, and what they leave to be filled in.
struct Play {
    board: Board,
    now: Judged,
    /// The last attempt of each role that started.
    attempts: BTreeMap<RoleName, Attempt>,
    roles: Vec<Role>,
}

impl Play {
    fn take(&mut self, step: Step) -> Result<(), Refused> {
        match step {
            Step::Measure(judged) => self.now = judged,
            Step::Start(run) => self.start(&run.role, run.attempt)?,
            Step::Complete(run) => self.complete(&run.role, run.attempt)?,
            Step::Pass { gate, verdict } => self.pass(gate, verdict)?,
            Step::Verify(ran) => self.verify(ran)?,
            Step::Review(message) => self.review(message)?,
            Step::Approve(yes) => self.approve(yes)?,
            Step::Override(yes) => self.overrule(yes)?,
            Step::Reject(no) => self.reject(no)?,
            Step::Retry(again) => self.retry(again)?,
            Step::Waive(skip) => self.waive(skip)?,
            Step::NewGeneration { from } => self.new_generation(&from)?,
            Step::Under { specs } => self.under(&specs)?,
        }
        Ok(())
    }

    /// A role that is not one of the known ones would be held by nothing, so a slip of the pen would let it in.
    fn known(&self, role: &RoleName) -> Result<(), Refused> {
        if self.roles.iter().any(|known| known.name == *role) {
            return Ok(());
        }
        let names: Vec<&str> = self.roles.iter().map(|known| known.name.as_str()).collect();
        let words = format!("`{role}` is not a role: use one of {}", names.join(", "));
        Err(Refused::new("unknown_role", &words))
    }

    fn last(&self, role: &RoleName) -> Option<Attempt> {
        self.attempts.get(role).copied()
    }

    fn target(&self, gate: GateId, attempt: Option<Attempt>) -> Target {
        let spec = self.board.specs().gate(&gate);
        let last = spec.and_then(|spec| self.last(spec.role()));
        let attempt = attempt.or(last).unwrap_or(Attempt::FIRST);
        Target { gate, attempt }
    }

    fn start(&mut self, role: &RoleName, attempt: Option<Attempt>) -> Result<(), Refused> {
        self.known(role)?;
        let admitted = self.board.admit(role, &self.now)?;
        let next = self.last(role).map_or(Attempt::FIRST, Attempt::next);
        let attempt = attempt.unwrap_or(next);
        self.board = self.board.started(&admitted, attempt)?;
        self.attempts.insert(role.clone(), attempt);
        Ok(())
    }

    fn complete(&mut self, role: &RoleName, attempt: Option<Attempt>) -> Result<(), Refused> {
        self.known(role)?;
        let attempt = attempt.or(self.last(role)).unwrap_or(Attempt::FIRST);
        self.board = self.board.completed(role, attempt)?;
        Ok(())
    }

    fn pass(&mut self, gate: GateId, verdict: String) -> Result<(), Refused> {
        let spec = self.board.specs().gate(&gate);
        let due = spec.filter(|spec| spec.on() == Trigger::RoleComplete);
        if let Some(role) = due.map(|spec| spec.role().clone()) {
            self.start(&role, None)?;
            self.complete(&role, None)?;
        }
        self.review(Message {
            gate,
            attempt: None,
            verdict,
            structured: None,
        })
    }

    fn verify(&mut self, ran: Ran) -> Result<(), Refused> {
        let target = self.target(ran.gate, ran.attempt);
        self.board = self.board.verify(&target, &ran.checks, &self.now)?;
        Ok(())
    }

    fn review(&mut self, message: Message) -> Result<(), Refused> {
        let target = self.target(message.gate, message.attempt);
        let spec = self.board.specs().gate(&target.gate);
        let kind = spec.and_then(|spec| spec.artifact_kind());
        let reading = prefer_structured(message.structured, &message.verdict, kind);
        self.board = self.board.review(&target, &reading, &self.now)?;
        Ok(())
    }

    fn approval(&self, yes: Yes) -> (Operator, Approval) {
        let approval = Approval {
            target: self.target(yes.gate, yes.attempt),
            digest: yes.digest,
            note: yes.note,
        };
        (operator(yes.by), approval)
    }

    fn approve(&mut self, yes: Yes) -> Result<(), Refused> {
        let (by, approval) = self.approval(yes);
        self.board = self.board.approve(&by, &approval, &self.now)?;
        Ok(())
    }

    fn overrule(&mut self, yes: Yes) -> Result<(), Refused> {
        let (by, approval) = self.approval(yes);
        self.board = self.board.overrule(&by, &approval, &self.now)?;
        Ok(())
    }

    fn reject(&mut self, no: No) -> Result<(), Refused> {
        let No { gate, note, by } = no;
        let rejection = Rejection { gate, note };
        self.board = self.board.reject(&operator(by), &rejection, &self.now)?;
        Ok(())
    }

    fn retry(&mut self, again: Again) -> Result<(), Refused> {
        again.roles.iter().try_for_each(|role| self.known(role))?;
        self.board = self.board.retry(&operator(again.by), &again.roles)?;
        Ok(())
    }

    fn waive(&mut self, skip: Skip) -> Result<(), Refused> {
        skip.roles.iter().try_for_each(|role| self.known(role))?;
        let by = operator(skip.by);
        self.board = self.board.waive(&by, &skip.roles, &skip.note)?;
        Ok(())
    }

    fn new_generation(&mut self, from: &RoleName) -> Result<(), Refused> {
        self.known(from)?;
        self.board = self.board.new_generation(from)?;
        Ok(())
    }

    fn under(&mut self, specs: &[GateDraft]) -> Result<(), Refused> {
        let specs = load(specs, &self.roles)?;
        self.board = self.board.clone().under(specs);
        Ok(())
    }
}
