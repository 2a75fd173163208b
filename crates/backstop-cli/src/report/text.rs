//! A report as text.

use std::fmt::Write as _;
use std::path::Path;

use backstop_engine::mode::Account;
use backstop_engine::plan::Author;
use backstop_engine::vocab::Span;
use backstop_runner::clock;
use backstop_runner::edge::{Effort, PlanOrigin};
use backstop_runner::view::{AttemptView, CheckView, HandoffView, LandedView, Ran, Report};
use backstop_runner::words;

use crate::question;
use crate::status::accounts;

/// Behind the name of a line: no further line of foreign words begins where a line of the report does.
const INDENT: &str = "            ";

/// The report of one mission.
pub(crate) fn text(report: &Report) -> String {
    let mut text = String::new();
    head(&mut text, report);
    wanted(&mut text, report);
    proven(&mut text, report);
    not_done(&mut text, report);
    decided(&mut text, report);
    attempts(&mut text, report);
    reviews(&mut text, report);
    handed_on(&mut text, report);
    let _ = writeln!(text, "\nSpend");
    text.push_str(&accounts(&report.status.spend));
    if let Some(asked) = report.plan.as_ref().and_then(|plan| plan.asking.as_ref()) {
        let _ = writeln!(
            text,
            "  besides, asking for the plan took {}",
            asking(asked)
        );
    }
    evidence(&mut text, report);
    text
}

fn head(text: &mut String, report: &Report) {
    let status = &report.status;
    let _ = writeln!(text, "Mission {}", status.mission);
    let _ = writeln!(text, "  goal      {}", words::hanging(&report.goal, INDENT));
    let _ = writeln!(
        text,
        "  opened    {} by {}",
        clock::utc(status.opened_at),
        report.opened_by
    );
    if let Some(plan) = &report.plan {
        for line in origin(plan) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(
        text,
        "  now       {}, since {}",
        status.now,
        clock::utc(status.since)
    );
    for warning in &report.warnings {
        let warning = words::hanging(warning, INDENT);
        let _ = writeln!(text, "  note      {warning}");
    }
}

/// Where a plan is from: which one it is, who wrote it, and who approved which digest.
fn origin(plan: &PlanOrigin) -> Vec<String> {
    vec![
        format!("  plan      {}, {}", plan.id, written(plan)),
        format!(
            "            approved {} by {}, covering {}",
            clock::utc(plan.approved_at),
            plan.approved_by,
            plan.digest
        ),
        format!("            look at it: backstop plan show {}", plan.id),
    ]
}

/// Who wrote a plan.
pub(super) fn written(plan: &PlanOrigin) -> String {
    match &plan.author {
        Author::Model(route) => format!("proposed by {route}, a model"),
        Author::Operator(person) => format!("written by {person}"),
    }
}

/// What it took to have a plan written; no account of the mission counts it.
pub(crate) fn asking(asked: &Effort) -> String {
    let assumed = match asked.assumed_micro_usd {
        0 => String::new(),
        assumed if assumed == asked.cost_micro_usd => " assumed".to_owned(),
        assumed => format!(" ({} assumed)", Account::Cost.amount(assumed)),
    };
    format!(
        "{}: {}, {}, {}, {}{assumed}",
        counted(asked.proposals.into(), "proposal"),
        Span::from_millis(asked.active_ms),
        counted(asked.tool_calls, "tool call"),
        tokens(
            asked.tokens,
            asked.tokens > 0 || asked.assumed_micro_usd == 0
        ),
        Account::Cost.amount(asked.cost_micro_usd)
    )
}

fn wanted(text: &mut String, report: &Report) {
    let Some(needs) = &report.status.needs else {
        return;
    };
    let _ = writeln!(text, "\nWanted from you\n  {}", needs.words);
    let Some(gate) = &needs.gate else {
        let _ = writeln!(text, "  {}", needs.command);
        return;
    };
    if let Some(digest) = gate.digest {
        let _ = writeln!(text, "  an approval covers {digest}");
    }
    let _ = writeln!(
        text,
        "  it waits until {}, then the mission parks; nothing is approved by time\n  look at it:\n    {}",
        clock::utc(gate.expires_at),
        needs.command
    );
    if let Some(moved) = &gate.moved {
        let (name, from, to) = (&moved.name, &moved.from_tree, &moved.to_tree);
        let _ = writeln!(
            text,
            "  {name} was moved during the review, from {from} to {to}"
        );
        text.push_str(&question::ways_on(moved, "  "));
    }
    for offer in &gate.answers {
        let _ = writeln!(text, "  {}:\n    {}", offer.does, offer.command);
    }
}

fn proven(text: &mut String, report: &Report) {
    let proven = &report.proven;
    let _ = writeln!(text, "\nProven");
    if let Some(place) = &proven.shipped {
        let _ = writeln!(text, "  handed over: {place}");
    }
    if let Some(merge) = &proven.merge {
        let _ = writeln!(text, "  merge it with:\n    {merge}");
    }
    for landed in &proven.landed {
        phase(text, landed);
    }
    if proven.checks_waived {
        let _ = writeln!(
            text,
            "  the mission was opened with --no-check: the host's checks prove nothing of it"
        );
    }
    if proven.landed.is_empty() {
        let _ = writeln!(text, "  nothing yet: no phase has landed");
    }
}

fn phase(text: &mut String, landed: &LandedView) {
    let _ = writeln!(
        text,
        "  {} landed as {}\n    commit {}",
        named(landed),
        landed.tree,
        landed.commit
    );
    for check in &landed.checks {
        let _ = writeln!(
            text,
            "    check `{}` {}{}",
            check.name,
            check.words,
            log(check)
        );
    }
    if landed.checks.is_empty() {
        let _ = writeln!(text, "    no check ran on it");
    }
    if let Some(by) = &landed.let_pass_by {
        let _ = writeln!(text, "    {by} let it pass at Validate");
    }
}

/// A landed phase by its number and kind.
pub(super) fn named(landed: &LandedView) -> String {
    let kind = landed.kind.map(|kind| format!(" ({kind})"));
    format!("phase {}{}", landed.phase, kind.unwrap_or_default())
}

fn log(check: &CheckView) -> String {
    check
        .log
        .as_ref()
        .map(|path| format!(", output in {}", path.display()))
        .unwrap_or_default()
}

fn not_done(text: &mut String, report: &Report) {
    let Some(left) = &report.not_done else {
        return;
    };
    let _ = writeln!(
        text,
        "\nNot done\n  it has not shipped: it is {}",
        left.words
    );
    if let Some(last) = &left.last_attempt {
        let last = words::hanging(last, INDENT);
        let _ = writeln!(text, "  the last attempt: {last}");
    }
    for phase in &left.phases {
        let _ = writeln!(
            text,
            "  phase {} ({}) has not landed: {}",
            phase.phase, phase.kind, phase.task
        );
    }
    if let Some(commit) = &left.uncleared {
        let _ = writeln!(text, "  work that nothing has cleared is kept as {commit}");
    }
}

fn decided(text: &mut String, report: &Report) {
    if report.answers.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nDecided by people");
    for answer in &report.answers {
        let covers = answer.digest.map(|digest| format!(", covering {digest}"));
        let _ = writeln!(
            text,
            "  {} gate {}: {} chose {}{}",
            clock::utc(answer.at),
            answer.gate,
            answer.by,
            answer.verb,
            covers.unwrap_or_default()
        );
        if let Some(note) = &answer.note {
            let _ = writeln!(text, "    \"{}\"", words::hanging(note.as_str(), "     "));
        }
    }
}

fn attempts(text: &mut String, report: &Report) {
    let _ = writeln!(text, "\nAttempts");
    for one in &report.attempts {
        attempt(text, one);
    }
    if report.attempts.is_empty() {
        let _ = writeln!(text, "  none was made");
    }
}

fn attempt(text: &mut String, one: &AttemptView) {
    let _ = writeln!(
        text,
        "  {}. phase {} {} visit {} attempt {}, {}: {}",
        one.number,
        one.phase,
        one.stage,
        one.visit,
        one.attempt,
        one.role,
        words::hanging(one.ended.as_deref().unwrap_or("at work"), INDENT)
    );
    if let Some(claimed) = &one.claimed {
        let claimed = words::hanging(claimed, INDENT);
        let _ = writeln!(text, "     it said: {claimed}; the host saw otherwise");
    }
    let _ = writeln!(text, "     asked for  {}", asked(one));
    if !one.unreported.is_empty() {
        let _ = writeln!(text, "     unreported {}", one.unreported.join(", "));
    }
    if one.ended.is_some() {
        let _ = writeln!(text, "     used       {}", used(one));
    }
    if let Some(ran) = one.ran.as_ref().filter(|ran| ran.is_reported()) {
        let _ = writeln!(
            text,
            "     ran on     {}",
            words::hanging(&really(ran), INDENT)
        );
    }
    if let Some(verdict) = &one.verdict {
        let _ = writeln!(text, "     verdict    {}", words::hanging(verdict, INDENT));
    }
    for finding in &one.findings {
        let _ = writeln!(text, "     finding    {}", words::hanging(finding, INDENT));
    }
    for path in &one.protected {
        let _ = writeln!(text, "     protected  {path}");
    }
    if let Some(left) = &one.artifact {
        let path = left.path.as_deref().unwrap_or(Path::new("?"));
        let _ = writeln!(text, "     artifact   {}: {}", left.words, path.display());
    }
    if let Some(path) = &one.transcript {
        let _ = writeln!(text, "     transcript {}", path.display());
    }
}

/// The agent, model and effort that were asked for.
pub(super) fn asked(one: &AttemptView) -> String {
    let model = one.model.as_deref().unwrap_or("left to the agent");
    let effort = one.effort.as_deref().unwrap_or("left to the agent");
    format!("agent {}, model {model}, effort {effort}", one.agent)
}

/// The model and effort that really ran.
pub(super) fn really(ran: &Ran) -> String {
    let Ran {
        provider,
        model,
        effort,
        routed_by,
    } = ran;
    format!("provider {provider}, model {model}, effort {effort}, chosen by {routed_by}")
}

fn reviews(text: &mut String, report: &Report) {
    if report.reviews.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nReviewed");
    for review in &report.reviews {
        let _ = writeln!(
            text,
            "  phase {}, loop {}, pinned {}",
            review.phase, review.number, review.pin
        );
        question::loop_lines(text, review);
        question::route_lines(text, review);
    }
}

fn handed_on(text: &mut String, report: &Report) {
    if let Some(path) = &report.release_notes {
        let _ = writeln!(text, "\nRelease notes\n  {}", path.display());
    }
    if report.handoffs.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nHanded on");
    for one in &report.handoffs {
        let first = words::first_line(&one.text);
        let _ = writeln!(text, "  phase {} {}: {first}", one.phase, parcel(one));
    }
}

/// What was handed on, by whom, to whom, and what became of it.
pub(super) fn parcel(one: &HandoffView) -> String {
    let visit = one.visit.map(|visit| format!(" by visit {visit}"));
    format!(
        "{} {} from the {} to the {}, {}{}",
        one.id,
        one.kind,
        one.from,
        one.to,
        one.state.name(),
        visit.unwrap_or_default()
    )
}

/// What an attempt used. What its agent does not report is neither nothing nor known.
pub(super) fn used(one: &AttemptView) -> String {
    let told = |what: &str| !one.unreported.contains(&what);
    let assumed = if told("cost") { "" } else { " assumed" };
    format!(
        "{}, {}, {}, {}{assumed}",
        Span::from_millis(one.active_ms),
        counted(one.tool_calls, "tool call"),
        tokens(one.tokens, told("tokens")),
        Account::Cost.amount(one.cost_micro_usd)
    )
}

fn tokens(count: u64, told: bool) -> String {
    if told {
        return counted(count, "token");
    }
    "tokens unreported".into()
}

fn counted(count: u64, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

fn evidence(text: &mut String, report: &Report) {
    let _ = writeln!(text, "\nEvidence\n  journal   {}", report.journal.display());
    let _ = writeln!(text, "  base      {}", report.base);
    for run in &report.checks {
        let on = run
            .tree
            .map_or_else(|| "the base".into(), |tree| tree.to_string());
        let _ = writeln!(text, "  checks    {} on {on}", clock::utc(run.at));
        for check in &run.results {
            let _ = writeln!(
                text,
                "            `{}` {}{}",
                check.name,
                check.words,
                log(check)
            );
        }
    }
}
