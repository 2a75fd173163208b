//! The two answers, `ok` and `refused`, on the wire. No rule here, and no words of its own.

use backstop_engine::gates::{Held, Holder, SpecFault, SpecFaults};
use backstop_engine::mode::{Account, CeilingFault, CeilingFaults};
use backstop_engine::plan::Refusals;
use backstop_engine::review::BoundsError;
use backstop_engine::vocab::{Phase, Text};
use serde::Serialize;

/// One line of output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer<T> {
    Ok(T),
    Refused(Refused),
}

impl<T> From<Result<T, Refused>> for Answer<T> {
    fn from(judged: Result<T, Refused>) -> Self {
        match judged {
            Ok(ok) => Self::Ok(ok),
            Err(refused) => Self::Refused(refused),
        }
    }
}

/// Why there is no answer. `code` is stable; `all` is there where several faults were looked for at once.
#[derive(Debug, Serialize)]
pub(super) struct Refused {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    all: Vec<Fault>,
}

/// One of several faults, with its place where it has one.
#[derive(Debug, Default, Serialize)]
pub(super) struct Fault {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<Account>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

/// A message shows values of the asker, and those can be a whole line long.
fn shown(words: &str) -> String {
    Text::<4096>::clip(words).into()
}

impl Refused {
    pub(super) fn new(code: &'static str, message: &impl ToString) -> Self {
        Self {
            code,
            message: shown(&message.to_string()),
            all: Vec::new(),
        }
    }

    fn for_all(code: &'static str, all: Vec<Fault>) -> Self {
        let words: Vec<&str> = all.iter().map(|fault| fault.message.as_str()).collect();
        let refused = Self::new(code, &words.join("; "));
        Self { all, ..refused }
    }

    /// The same, with the step it is about; steps count from 0, as in `steps[0]`.
    pub(super) fn at_step(self, index: usize, name: &str) -> Self {
        let message = shown(&format!("`steps[{index}].{name}`: {}", self.message));
        Self { message, ..self }
    }
}

impl From<CeilingFaults> for Refused {
    fn from(faults: CeilingFaults) -> Self {
        let fault = |fault: &CeilingFault| Fault {
            code: fault.code(),
            message: fault.to_string(),
            account: Some(account(fault)),
            ..Fault::default()
        };
        Self::for_all(
            "impossible_ceilings",
            faults.as_slice().iter().map(fault).collect(),
        )
    }
}

const fn account(fault: &CeilingFault) -> Account {
    match fault {
        CeilingFault::Zero { account }
        | CeilingFault::OverHardMax { account, .. }
        | CeilingFault::Repeated { account }
        | CeilingFault::NotTighter { account, .. } => *account,
        CeilingFault::Mismatch { relation, .. } => relation.account(),
    }
}

impl From<SpecFaults> for Refused {
    fn from(faults: SpecFaults) -> Self {
        let fault = |fault: &SpecFault| Fault {
            code: fault.fault.code(),
            message: fault.fault.to_string(),
            index: Some(fault.index),
            id: Some(fault.id.clone()),
            ..Fault::default()
        };
        let message = faults.to_string();
        Self {
            all: faults.all().iter().map(fault).collect(),
            ..Self::new("impossible_specs", &message)
        }
    }
}

impl From<BoundsError> for Refused {
    fn from(error: BoundsError) -> Self {
        let faults = error.faults.iter().map(|fault| Fault {
            code: "out_of_range",
            message: fault.to_string(),
            bound: Some(fault.name),
            ..Fault::default()
        });
        Self::for_all("impossible_bounds", faults.collect())
    }
}

impl From<Refusals> for Refused {
    fn from(refusals: Refusals) -> Self {
        let faults = refusals.all().iter().map(|refusal| Fault {
            code: refusal.code.name(),
            message: refusal.message.clone(),
            phase: refusal.phase,
            key: refusal.key.clone(),
            line: refusal.line,
            column: refusal.column,
            ..Fault::default()
        });
        Self {
            all: faults.collect(),
            ..Self::new("impossible_plan", &refusals)
        }
    }
}

impl From<Held> for Refused {
    fn from(held: Held) -> Self {
        let fault = |holder: &Holder| Fault {
            code: holder.state.name(),
            message: holder.reason.to_string(),
            id: Some(holder.gate.to_string()),
            ..Fault::default()
        };
        Self {
            all: held.holders().iter().map(fault).collect(),
            ..Self::new("held", &held)
        }
    }
}
