//! A gate, put before a person: why it opened, what an approval would cover, and the commands that answer it.

use std::fmt::Write as _;

use backstop_engine::mode::Account;
use backstop_engine::outcome::TouchedPath;
use backstop_engine::vocab::Digest;
use backstop_engine::{
    CheckResult, CheckVerdict, Ended, Fact, Gate, GateKind, MergeOutcome, Mission, ParkedAt, Point,
    PointVerdict, Position, Role, Rule, ShipOutcome,
};
use backstop_runner::blobs::Blobs;
use backstop_runner::drive::Drive;
use backstop_runner::git::Host;
use backstop_runner::history::{self, History, HistoryError};
use backstop_runner::view::{self, GateLine, MovedView, ReviewView};
use backstop_runner::{clock, offers, prompt, words};

use crate::fault::Status;

/// How many lines of an output are shown at a gate.
const SHOWN: usize = 6;

/// How many lines are shown of what an agent left for a person to read.
const READ: usize = 12;

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
    let history = host.map(|host| history::read(&host.dir().join("journal.jsonl")));
    for line in history.iter().flat_map(|read| cause(read, gate)) {
        let _ = writeln!(text, "  | {line}");
    }
    checks(&mut text, mission, host);
    team(&mut text, mission, gate, host);
    moved(&mut text, mission, gate, host);
    let history = history.and_then(Result::ok);
    covers(&mut text, (mission, history.as_ref()), gate, host);
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
        let command = offers::command(mission, gate, *verb);
        let does = offers::offer(mission, gate, *verb);
        let _ = writeln!(text, "  {command}\n      {does}");
    }
    text
}

/// What an approval would cover.
fn covers(
    text: &mut String,
    (mission, history): (&Mission, Option<&History>),
    gate: &Gate,
    host: Option<&Host>,
) {
    let Some(digest) = gate.digest else {
        return;
    };
    let _ = writeln!(text, "  covers    {digest}");
    let head = &mission.lane().head;
    if digest != head.tree {
        return artifact(text, host, &digest);
    }
    let _ = writeln!(text, "  commit    {}", head.commit);
    if let (Some(history), Some(host)) = (history, host) {
        phases(text, history, host);
    }
    let stat = host.and_then(|host| host.diff_stat(mission.base(), &head.commit).ok());
    for line in stat.iter().flat_map(|stat| stat.lines()) {
        let _ = writeln!(text, "  | {}", line.trim());
    }
}

/// The phases that landed before: who let one pass against what Validate found, and where there are several, what the
/// checks said of each.
fn phases(text: &mut String, history: &History, host: &Host) {
    let landed = view::landed(history, &Blobs::at(host.dir().join("blobs")));
    let several = landed.len() > 1;
    for landed in landed {
        if let Some(by) = &landed.let_pass_by {
            let phase = landed.phase;
            let _ = writeln!(text, "  override  {by} let phase {phase} pass at Validate");
        }
        if !several {
            continue;
        }
        let checks: Vec<String> = landed
            .checks
            .iter()
            .map(|check| format!("`{}` {}", check.name, check.words))
            .collect();
        let checks = if checks.is_empty() {
            "no check ran on it".to_owned()
        } else {
            checks.join(", ")
        };
        let kind = landed.kind.map(|kind| kind.to_string());
        let kind = kind.unwrap_or_default();
        let _ = writeln!(
            text,
            "  phase {}   {kind}, {}: {checks}",
            landed.phase, landed.tree
        );
    }
}

/// The beginning of what an agent left to read, and where the whole is.
fn artifact(text: &mut String, host: Option<&Host>, digest: &Digest) {
    let Some(blobs) = host.map(|host| Blobs::at(host.dir().join("blobs"))) else {
        return;
    };
    let bytes = blobs.read(digest).unwrap_or_default();
    let whole = String::from_utf8_lossy(&bytes);
    for line in whole.lines().take(READ) {
        let line: String = line.chars().take(400).collect();
        let _ = writeln!(text, "  | {line}");
    }
    if let Ok(path) = blobs.path(digest) {
        let _ = writeln!(text, "  whole     {}", path.display());
    }
}

/// A gate between roles, in a line.
pub fn line(line: &GateLine) -> String {
    let GateLine {
        gate,
        kind,
        role,
        state,
        reason,
        ..
    } = line;
    let reason = words::hanging(reason, INDENT);
    let opens = line.opens.as_ref();
    let opens = opens.map(|opens| format!("; opens with {opens}"));
    format!(
        "{gate} ({kind}, {role}) is {state}: {reason}{}",
        opens.unwrap_or_default()
    )
}

/// What the roles made of each other's work, where the gate is about it.
fn team(text: &mut String, mission: &Mission, gate: &Gate, host: Option<&Host>) {
    for holder in view::holders(mission, gate) {
        let _ = writeln!(text, "  holds     {}", line(&holder));
    }
    if matches!(gate.kind, GateKind::Ship | GateKind::ShipFailed)
        && let Some(notes) = mission.lane().artifacts.get(&Role::ReleaseLead)
    {
        let _ = writeln!(text, "  notes     of the release lead");
        artifact(text, host, notes);
    }
    let judged = matches!(
        gate.kind,
        GateKind::Review | GateKind::Held | GateKind::Validate | GateKind::Ship
    );
    if let Some(review) = view::review(mission.lane()).filter(|_| judged) {
        loop_lines(text, &review);
    }
}

/// What became of the lane's branch during the review, and both ways to go on.
fn moved(text: &mut String, mission: &Mission, gate: &Gate, host: Option<&Host>) {
    let Some(moved) = view::moved(mission, gate) else {
        return;
    };
    let _ = writeln!(text, "  moved     {} during the review", moved.name);
    let _ = writeln!(text, "  from      {} ({})", moved.from_tree, moved.from);
    let _ = writeln!(text, "  to        {} ({})", moved.to_tree, moved.to);
    let stat = host.and_then(|host| host.diff_stat(&moved.from, &moved.to).ok());
    for line in stat.iter().flat_map(|stat| stat.lines()) {
        let _ = writeln!(text, "  | {}", line.trim());
    }
    text.push_str(&ways_on(&moved, "  "));
}

/// Both ways to go on from a branch that was moved.
pub fn ways_on(moved: &MovedView, indent: &str) -> String {
    let MovedView {
        put_back,
        keep,
        take,
        to,
        ..
    } = moved;
    format!(
        "{indent}either    put it back (`git branch NAME {to}` keeps what it was moved to), and have the work judged again:\n\
         {indent}            {put_back}\n{indent}            {keep}\n\
         {indent}or        take what it was moved to for the work; it is checked and reviewed like any other:\n\
         {indent}            {take}\n"
    )
}

/// Who took part in a review loop.
pub fn route_lines(text: &mut String, review: &ReviewView) {
    for route in &review.routes {
        let _ = writeln!(text, "  route     {}", words::hanging(route, INDENT));
    }
}

/// How the review loop stands.
pub fn loop_lines(text: &mut String, review: &ReviewView) {
    let _ = writeln!(text, "  review    {}, {}", review.state, review.budget);
    if let Some(stopped) = &review.stopped {
        let _ = writeln!(text, "  stopped   {}", words::hanging(stopped, INDENT));
    }
    for finding in review.findings.iter().take(SHOWN) {
        let _ = writeln!(text, "  finding   {}", words::hanging(finding, INDENT));
    }
    let more = review.findings.len().saturating_sub(SHOWN);
    if more > 0 {
        let _ = writeln!(text, "            and {more} more");
    }
}

/// The words of the host or of the agent behind a gate, as the journal has them; a journal that cannot be read tells none.
fn cause(read: &Result<History, HistoryError>, gate: &Gate) -> Vec<String> {
    let history = match read {
        Ok(history) => history,
        Err(error) => return vec![error.to_string()],
    };
    let steps = history.steps.iter();
    let told = steps.rev().find_map(|step| said(&step.fact, gate.kind));
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
            Some([touched(&ended.protected), end_of(ended.words.as_str())].concat())
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

/// The first of the protected paths that an attempt changed.
fn touched(paths: &[TouchedPath]) -> Vec<String> {
    let named = paths.iter().take(SHOWN);
    let named = named.map(|path| format!("protected: {path}"));
    let more = paths.len().saturating_sub(SHOWN);
    let more =
        (more > 0).then(|| format!("protected: and {more} more; `backstop report` names them"));
    named.chain(more).collect()
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
