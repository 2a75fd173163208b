//! A gate, put before a person: why it opened, what an approval would cover, and the commands that answer it.

use std::fmt::Write as _;

use backstop_engine::mode::Account;
use backstop_engine::{
    CheckResult, CheckVerdict, Ended, Fact, Gate, GateKind, MergeOutcome, Mission, ParkedAt, Point,
    PointVerdict, Position, Rule, ShipOutcome,
};
use backstop_runner::blobs::Blobs;
use backstop_runner::drive::Drive;
use backstop_runner::git::Host;
use backstop_runner::{clock, prompt, words};

use crate::fault::Status;

/// How many lines of an output are shown at a gate.
const SHOWN: usize = 6;

/// Behind the name of a line: no further line of foreign words begins where a line of the gate does.
const INDENT: &str = "            ";

/// How the end of a drive is told to a shell.
pub fn status(mission: &Mission) -> Status {
    match mission.position() {
        Position::Ended(Ended::Shipped(_)) => Status::Done,
        Position::Ended(Ended::Aborted) => Status::Aborted,
        Position::AtGate(_, gate) if gate.kind == backstop_engine::GateKind::Preflight => {
            Status::Preflight
        }
        Position::Parked(..) => Status::Parked,
        Position::AtGate(..) | Position::Busy(_) | Position::Waiting(..) => Status::Waiting,
    }
}

/// The gate in full.
pub fn show(mission: &Mission, gate: &Gate, host: Option<&Host>) -> String {
    let mut text = String::new();
    let fields = mission.charter().fields();
    let _ = writeln!(
        text,
        "{} gate {} of mission {}",
        gate.kind, gate.id, fields.mission
    );
    for reason in &gate.reasons {
        let _ = writeln!(text, "  why       {}", words::reason(*reason));
        let _ = writeln!(
            text,
            "  rule      {}",
            words::rule_name(Rule::Gated(*reason))
        );
    }
    let told = mission
        .lane()
        .last
        .as_ref()
        .filter(|_| gate.digest.is_none());
    if let Some(status) = told {
        let _ = writeln!(
            text,
            "  ended     {}",
            words::hanging(&words::status(status), INDENT)
        );
    }
    for line in host.map(|host| cause(host, gate)).unwrap_or_default() {
        let _ = writeln!(text, "  | {line}");
    }
    checks(&mut text, mission, host);
    if let Some(digest) = gate.digest {
        let _ = writeln!(text, "  covers    {digest}");
        let _ = writeln!(text, "  commit    {}", mission.lane().head.commit);
        if let Some(stat) = host.and_then(|host| {
            host.diff_stat(mission.base(), &mission.lane().head.commit)
                .ok()
        }) {
            for line in stat.lines() {
                let _ = writeln!(text, "  | {}", line.trim());
            }
        }
    }
    let _ = writeln!(text, "  spent     {}", spent(mission));
    if matches!(mission.position(), Position::AtGate(..)) {
        let _ = writeln!(
            text,
            "  waits     until {}, then the mission parks; nothing is approved by time",
            clock::utc(gate.expires_at)
        );
    }
    let _ = writeln!(
        text,
        "\nLook at it:\n  backstop gate show {} --mission {}",
        gate.id, fields.mission
    );
    let _ = writeln!(text, "Answer it:");
    for verb in &gate.offers {
        let command = words::command(fields.mission.as_str(), gate, *verb);
        let _ = writeln!(text, "  {command}\n      {}", words::offer(gate, *verb));
    }
    text
}

/// The words of the host or of the agent behind a gate, as the journal has them; a journal that cannot be read tells none.
fn cause(host: &Host, gate: &Gate) -> Vec<String> {
    let steps = backstop_runner::history::read(&host.dir().join("journal.jsonl"))
        .map_or_else(|_| Vec::new(), |history| history.steps);
    let told = steps
        .iter()
        .rev()
        .find_map(|step| said(&step.fact, gate.kind));
    told.unwrap_or_default()
}

/// What a fact says of a gate of this kind.
fn said(fact: &Fact, kind: GateKind) -> Option<Vec<String>> {
    let whole = |text: &str| Some(text.lines().map(ToOwned::to_owned).collect());
    match (fact, kind) {
        (Fact::PreflightRan(ran), GateKind::Preflight) => {
            Some(ran.points.iter().filter_map(failure).collect())
        }
        (Fact::AttemptEnded(ended), GateKind::Ceiling | GateKind::Infra | GateKind::Review) => {
            Some(end_of(ended.words.as_str()))
        }
        (Fact::LandFailed { cause, .. }, GateKind::Ceiling | GateKind::Infra) => {
            whole(cause.as_str())
        }
        (Fact::ChecksRan(_), GateKind::Ceiling | GateKind::Infra) => Some(Vec::new()),
        (Fact::Shipped(shipped), GateKind::ShipFailed) => match &shipped.outcome {
            ShipOutcome::Failed { cause } => whole(cause.as_str()),
            ShipOutcome::Done { .. } | ShipOutcome::BaseMoved { .. } => None,
        },
        (Fact::BaseMerged(merged), GateKind::ShipFailed) => match &merged.outcome {
            MergeOutcome::Conflict { cause } => whole(cause.as_str()),
            MergeOutcome::Merged { .. } => None,
        },
        _ => None,
    }
}

fn failure(point: &Point) -> Option<String> {
    match &point.verdict {
        PointVerdict::Failed(words) => Some(format!(
            "{}: {}",
            point.name,
            words::hanging(words.as_str(), "  |   ")
        )),
        PointVerdict::Held(_) | PointVerdict::Warned(_) => None,
    }
}

/// The last lines of a text.
fn end_of(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let end = lines.iter().skip(lines.len().saturating_sub(SHOWN));
    end.map(|line| line.chars().take(400).collect()).collect()
}

/// The end of what a red check printed.
fn printed(host: &Host, result: &CheckResult) -> Vec<String> {
    let blobs = Blobs::at(host.dir().join("blobs"));
    let log = result
        .log
        .filter(|_| result.verdict != CheckVerdict::Passed);
    let bytes = log
        .and_then(|log| blobs.read(&log).ok())
        .unwrap_or_default();
    end_of(&String::from_utf8_lossy(&bytes))
}

fn checks(text: &mut String, mission: &Mission, host: Option<&Host>) {
    if mission.charter().fields().checked == backstop_engine::Checked::Waived {
        let _ = writeln!(
            text,
            "  checks    NONE: the mission was opened with --no-check"
        );
    }
    for result in &mission.lane().checks {
        let _ = writeln!(
            text,
            "  check     `{}` {}",
            result.name,
            words::hanging(&prompt::verdict(&result.verdict), INDENT)
        );
        for line in host.map(|host| printed(host, result)).unwrap_or_default() {
            let _ = writeln!(text, "  | {line}");
        }
    }
}

/// The spend, in a line.
pub fn spent(mission: &Mission) -> String {
    let of = |account: Account| {
        let used = account.amount(mission.meter().used(account));
        let ceiling = account.amount(mission.meter().ceiling(account));
        match (account, mission.assumed_cost()) {
            (Account::Cost, assumed @ 1..) => {
                format!(
                    "{account} {used} of {ceiling} ({} assumed)",
                    account.amount(assumed)
                )
            }
            _ => format!("{account} {used} of {ceiling}"),
        }
    };
    let shown = [
        Account::Attempts,
        Account::Streak,
        Account::PhaseFailures,
        Account::Cost,
        Account::ActiveTime,
    ];
    shown.map(of).join(", ")
}

/// What there is to say when a drive lets go of a mission.
pub fn end(mission: &Mission, host: Option<&Host>) -> String {
    let id = &mission.charter().fields().mission;
    match mission.position() {
        Position::AtGate(_, gate) => show(mission, gate, host),
        Position::Parked(_, ParkedAt::Gate(gate)) => {
            let asked = show(mission, gate, host);
            format!(
                "{asked}\n{id} is {}; it can still be answered.\n",
                words::position(mission)
            )
        }
        Position::Parked(_, ParkedAt::Work(_)) => {
            format!(
                "{id} is {}. Go on with:\n  backstop resume {id}\n",
                words::position(mission)
            )
        }
        Position::Ended(Ended::Shipped(place)) => {
            let merge = host.map(|host| format!("Merge it with:\n  {}\n", host.merge_command()));
            let merge = merge.filter(|_| place.as_str().starts_with("branch "));
            format!("{id} shipped: {place}\n{}", merge.unwrap_or_default())
        }
        Position::Ended(Ended::Aborted) => format!("{id} was aborted; everything is kept.\n"),
        Position::Busy(_) | Position::Waiting(..) => {
            format!("{id}: {}\n", words::position(mission))
        }
    }
}

/// The git of a drive, before the drive is used up.
pub fn host(drive: &Drive) -> Host {
    drive.ground().host.clone()
}
