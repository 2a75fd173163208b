//! The ops that are one call of a policy crate each. Each is its fields, its answer and that call.

use std::fmt;

use backstop_engine::gates::{self, ArtifactKind};
use backstop_engine::mode::{self, Account, CeilingDraft, Ceilings, Measured, Meter, Mode};
use backstop_engine::outcome::{self, Decision, Status, StatusKind};
use backstop_engine::plan::{self, Checks, PhaseSpec};
use backstop_engine::vocab::{Digest, Stage};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Ask;
use super::answer::Refused;

/// `stage_next`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageNext {
    stage: Stage,
}

#[derive(Serialize)]
pub(super) struct NextStage {
    next: Option<Stage>,
}

impl Ask for StageNext {
    type Ok = NextStage;
    fn judge(self) -> Result<NextStage, Refused> {
        let next = self.stage.next();
        Ok(NextStage { next })
    }
}

/// `mode_parse`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModeParse {
    text: String,
}

#[derive(Serialize)]
pub(super) struct ParsedMode {
    mode: Mode,
}

impl Ask for ModeParse {
    type Ok = ParsedMode;
    fn judge(self) -> Result<ParsedMode, Refused> {
        let mode = self.text.parse();
        let mode = mode.map_err(|error| Refused::new("unknown_mode", &error))?;
        Ok(ParsedMode { mode })
    }
}

/// A meter that stands at these counters, which are charged already.
fn meter(
    streak: u64,
    phase_failures: u64,
    ceilings: Option<CeilingDraft>,
) -> Result<Meter, Refused> {
    let ceilings = Ceilings::try_from(ceilings.unwrap_or_default())?;
    let used = [
        (Account::Streak, streak),
        (Account::PhaseFailures, phase_failures),
    ];
    Ok(Meter::with_used(ceilings, &used))
}

/// `gate_reasons`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GateReasons {
    mode: Mode,
    stage: Stage,
    streak: u64,
    phase_failures: u64,
    ceilings: Option<CeilingDraft>,
}

#[derive(Serialize)]
pub(super) struct Gating {
    gates: bool,
    reasons: mode::Reasons,
    auto_loop: bool,
}

impl Ask for GateReasons {
    type Ok = Gating;
    fn judge(self) -> Result<Gating, Refused> {
        let meter = meter(self.streak, self.phase_failures, self.ceilings)?;
        let reasons = mode::gate_reasons(self.mode, self.stage, &meter);
        Ok(Gating {
            gates: !reasons.is_empty(),
            reasons,
            auto_loop: mode::should_auto_loop(self.mode, self.stage),
        })
    }
}

/// `after_validate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AfterValidate {
    mode: Mode,
    verdict: mode::Verdict,
    streak: u64,
    phase_failures: u64,
    ceilings: Option<CeilingDraft>,
}

#[derive(Serialize)]
pub(super) struct AfterVisit {
    next: &'static str,
    reasons: mode::Reasons,
}

impl Ask for AfterValidate {
    type Ok = AfterVisit;
    fn judge(self) -> Result<AfterVisit, Refused> {
        let meter = meter(self.streak, self.phase_failures, self.ceilings)?;
        let next = mode::after_validate(self.mode, self.verdict, &meter);
        let (next, reasons) = match next {
            mode::Next::Advance => ("advance", mode::Reasons::default()),
            mode::Next::LoopBack => ("loop_back", mode::Reasons::default()),
            mode::Next::Gate(reasons) => ("gate", reasons),
        };
        Ok(AfterVisit { next, reasons })
    }
}

/// `transition_resets_streak`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransitionResetsStreak {
    from: Stage,
    to: Stage,
}

#[derive(Serialize)]
pub(super) struct Resets {
    resets: bool,
}

impl Ask for TransitionResetsStreak {
    type Ok = Resets;
    fn judge(self) -> Result<Resets, Refused> {
        let resets = mode::transition_resets_streak(self.from, self.to);
        Ok(Resets { resets })
    }
}

/// `progress`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    earlier: Vec<Measured>,
    now: Measured,
}

#[derive(Serialize)]
pub(super) struct Progressed {
    progress: bool,
}

impl Ask for Progress {
    type Ok = Progressed;
    fn judge(self) -> Result<Progressed, Refused> {
        let progress = match mode::progress(&self.earlier, self.now) {
            mode::Progress::Made => true,
            mode::Progress::None => false,
        };
        Ok(Progressed { progress })
    }
}

/// `outcome`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    stage: Stage,
    status: Ended,
}

impl Ask for Outcome {
    type Ok = Decision;
    fn judge(self) -> Result<Decision, Refused> {
        Ok(outcome::decide(self.stage, self.status.0))
    }
}

/// A status by its name alone, or with what comes with it, which is then held to the form it has in a journal.
struct Ended(StatusKind);

impl<'de> Deserialize<'de> for Ended {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(EndedVisitor)
    }
}

struct EndedVisitor;

impl<'de> Visitor<'de> for EndedVisitor {
    type Value = Ended;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a status, or an object with that one key")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Ended, E> {
        let kind = StatusKind::ALL.iter().find(|kind| kind.name() == name);
        let names: Vec<&str> = StatusKind::ALL.iter().map(|kind| kind.name()).collect();
        let refused = || format!("`{name}` is not a status: use one of {}", names.join(", "));
        kind.copied().map(Ended).ok_or_else(|| E::custom(refused()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Ended, A::Error> {
        let status = Status::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Ended(status.kind()))
    }
}

/// `verdict`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    text: String,
    artifact_kind: Option<ArtifactKind>,
}

#[derive(Serialize)]
pub(super) struct Ruling {
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Ask for Verdict {
    type Ok = Ruling;
    fn judge(self) -> Result<Ruling, Refused> {
        let reading = gates::verdict(&self.text, self.artifact_kind.as_ref());
        let (verdict, reason) = match reading {
            Ok(gates::Verdict::Pass) => (Some("pass"), None),
            Ok(gates::Verdict::Fail { reason }) => {
                let told = (!reason.is_blank()).then(|| reason.into());
                (Some("fail"), told)
            }
            Err(why) => (None, Some(why.to_string())),
        };
        Ok(Ruling { verdict, reason })
    }
}

/// `plan`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    text: String,
    checks_configured: bool,
}

#[derive(Serialize)]
pub(super) struct ReadPlan {
    digest: Digest,
    phases: Vec<PhaseSpec>,
}

impl Ask for Plan {
    type Ok = ReadPlan;
    fn judge(self) -> Result<ReadPlan, Refused> {
        let checks = if self.checks_configured {
            Checks::Configured
        } else {
            Checks::None
        };
        let plan = plan::Plan::read(&self.text, checks)?;
        Ok(ReadPlan {
            digest: plan.digest(),
            phases: plan.phases().to_vec(),
        })
    }
}
