//! What is submitted to a loop: reviews, repairs, a person's answer. Whether it is accepted is decided in `judge` and `states`.

use alloc::vec::Vec;

use backstop_vocab::{Digest, Note, Text, Timestamp};
use serde::{Deserialize, Serialize};

use crate::finding::{Findings, Paths};
use crate::route::{Field, Missing, Party, Route, RouteReceipt};

/// What a slot spent since it was opened or since its last submission. Its time is measured by the loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// Tool calls.
    pub tool_calls: u64,
}

/// What a reviewer says of the pinned digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is left to do.
    Clean,
    /// The findings are to be repaired.
    RepairsNeeded,
}

/// Who made what is judged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The agent with this receipt.
    Agent(RouteReceipt),
    /// The agent of the last repair on record; missing where there is none.
    Recorded,
    /// A person, who has no session.
    Person,
}

/// What the host itself saw of a check.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostEvidence {
    /// The command.
    pub command: Text<4096>,
    /// Its exit status; 0 is green.
    pub exit_status: i32,
    /// Its log.
    pub log: Digest,
}

/// The evidence of a verifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verifier {
    /// An agent verified.
    Agent(RouteReceipt),
    /// The host ran a check.
    Host(HostEvidence),
}

/// One submission of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The number of the slot it answers, from 1.
    pub iteration: u32,
    /// What was judged.
    pub digest: Digest,
    /// What it spent.
    pub spend: Spend,
    /// Who made what was judged.
    pub implementer: Author,
    /// Who judged it.
    pub reviewer: RouteReceipt,
    /// Who checked it.
    #[serde(default)]
    pub verifier: Option<Verifier>,
    /// The verdict; none where the reviewer gave none.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// What is open.
    #[serde(default)]
    pub findings: Findings,
    /// When it came in.
    pub at: Timestamp,
}

/// The evidence of a verifier, complete.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifierRoute {
    /// An agent verified.
    Agent(Route),
    /// The host ran a check.
    Host(HostEvidence),
}

/// Who took part in a judged review.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Routes {
    /// Who made what was judged; none for a person.
    pub implementer: Option<Route>,
    /// Who judged it.
    pub reviewer: Route,
    /// Who checked it.
    pub verifier: Option<VerifierRoute>,
}

/// A review whose receipts are complete and whose digest is the pin, as it is kept on record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Judged {
    /// The number of its slot.
    pub iteration: u32,
    /// What was judged.
    pub digest: Digest,
    /// What it spent.
    pub spend: Spend,
    /// Who took part.
    pub routes: Routes,
    /// The verdict, where there was one.
    pub verdict: Option<Verdict>,
    /// What was open.
    pub findings: Findings,
}

fn complete(party: Party, receipt: &RouteReceipt, missing: &mut Vec<Missing>) -> Option<Route> {
    let lacks = |field| Missing { party, field };
    let route = receipt.complete();
    route
        .map_err(|fields| missing.extend(fields.into_iter().map(lacks)))
        .ok()
}

impl Review {
    /// The receipts, complete; `last` is the implementer of the last repair on record.
    pub(crate) fn routes(&self, last: Option<&Route>) -> Result<Routes, Vec<Missing>> {
        let mut missing = Vec::new();
        let implementer = match &self.implementer {
            Author::Agent(receipt) => complete(Party::Implementer, receipt, &mut missing),
            Author::Person => None,
            Author::Recorded => last.cloned().or_else(|| {
                let (party, field) = (Party::Implementer, Field::Receipt);
                missing.push(Missing { party, field });
                None
            }),
        };
        let reviewer = complete(Party::Reviewer, &self.reviewer, &mut missing);
        let verifier = match &self.verifier {
            Some(Verifier::Agent(receipt)) => {
                complete(Party::Verifier, receipt, &mut missing).map(VerifierRoute::Agent)
            }
            Some(Verifier::Host(evidence)) => Some(VerifierRoute::Host(evidence.clone())),
            None => None,
        };
        match reviewer {
            Some(reviewer) if missing.is_empty() => Ok(Routes {
                implementer,
                reviewer,
                verifier,
            }),
            Some(_) | None => Err(missing),
        }
    }

    /// The review as it is kept on record.
    pub(crate) fn judged(self, routes: Routes) -> Judged {
        Judged {
            iteration: self.iteration,
            digest: self.digest,
            spend: self.spend,
            routes,
            verdict: self.verdict,
            findings: self.findings,
        }
    }
}

/// One repair, as the host saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repair {
    /// What the implementer started from.
    pub from: Digest,
    /// What is there now.
    pub to: Digest,
    /// Who repaired.
    pub implementer: RouteReceipt,
    /// The paths that changed.
    #[serde(default)]
    pub paths: Paths,
}

/// What a person decided of a clean verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is good.
    Approve,
    /// It is not; the note says why.
    Decline,
}

/// A person's answer to a clean verdict.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What they decided.
    pub decision: Decision,
    /// What they saw.
    pub digest: Digest,
    /// What they wrote; may not be blank on a decline.
    #[serde(default)]
    pub note: Note,
    /// When.
    pub at: Timestamp,
}
