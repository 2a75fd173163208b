//! Reports as one page that needs nothing else: readable in light and dark, on a telephone, on paper and by a screen reader.
//!
//! Everything that comes from outside goes through [`Safe`]; there is no script, no link outward and no image.

use std::fmt::Write as _;
use std::path::Path;

use backstop_engine::vocab::Timestamp;
use backstop_runner::clock;
use backstop_runner::view::{AttemptView, CheckView, Damaged, GateView, LandedView, Report, State};

use super::safe::{File, Safe};
use super::text::{asked, asking, named, parcel, really, used, written};
use crate::question::ways_on;

const STYLE: &str = include_str!("style.css");

/// The page.
pub(super) fn page(title: &str, at: Timestamp, reports: &[Report], damaged: &[Damaged]) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Backstop report: {0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{0}</h1>\n<p>Backstop report of <time datetime=\"{2}\">{1}</time></p>\n</header>\n",
        Safe(title),
        clock::utc(at),
        clock::utc(at).replace(' ', "T"),
    );
    contents(&mut page, reports);
    page.push_str("<main>\n");
    for one in damaged {
        let _ = writeln!(
            page,
            "<article class=\"needs\"><h2>{}</h2>\n<p>Damaged: {}</p>\n<pre>backstop journal verify {0}</pre></article>",
            Safe(&one.mission),
            Safe(&one.words)
        );
    }
    for report in reports {
        article(&mut page, report);
    }
    if reports.is_empty() && damaged.is_empty() {
        page.push_str("<p>There is no mission in this repository.</p>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn contents(page: &mut String, reports: &[Report]) {
    if reports.len() < 2 {
        return;
    }
    page.push_str("<nav aria-label=\"Missions\">\n<ol>\n");
    for report in reports {
        let status = &report.status;
        let _ = writeln!(
            page,
            "<li><a href=\"#m-{0}\">{0}</a> <span class=\"{1}\">{2}</span></li>",
            Safe(&status.mission),
            class(status.state, status.needs.is_some()),
            Safe(&status.now)
        );
    }
    page.push_str("</ol>\n</nav>\n");
}

const fn class(state: State, needs: bool) -> &'static str {
    match (needs, state) {
        (true, _) => "badge needs",
        (false, State::Shipped) => "badge done",
        (
            false,
            State::AtGate
            | State::Parked
            | State::Stopping
            | State::Queued
            | State::Working
            | State::Waiting
            | State::Aborted,
        ) => "badge",
    }
}

fn article(page: &mut String, report: &Report) {
    let status = &report.status;
    let _ = writeln!(
        page,
        "<article id=\"m-{0}\">\n<h2>{0}</h2>\n<p><span class=\"{1}\">{2}</span></p>\n<p class=\"goal\">{3}</p>",
        Safe(&status.mission),
        class(status.state, status.needs.is_some()),
        Safe(&status.now),
        Safe(&report.goal),
    );
    let _ = writeln!(
        page,
        "<p class=\"fine\">Opened {} by {}; where it is since {}.</p>",
        clock::utc(status.opened_at),
        Safe(&report.opened_by),
        clock::utc(status.since)
    );
    if let Some(plan) = &report.plan {
        let _ = writeln!(
            page,
            "<p class=\"fine\">Plan {}, {}; approved {} by {}, covering <code>{}</code>.</p>",
            Safe(&plan.id),
            Safe(written(plan)),
            clock::utc(plan.approved_at),
            Safe(&plan.approved_by),
            plan.digest
        );
    }
    for warning in &report.warnings {
        let _ = writeln!(page, "<p class=\"fine\">Note: {}</p>", Safe(warning));
    }
    wanted(page, report);
    proven(page, report);
    not_done(page, report);
    decided(page, report);
    attempts(page, report);
    reviews(page, report);
    handed_on(page, report);
    spend(page, report);
    evidence(page, report);
    page.push_str("</article>\n");
}

fn wanted(page: &mut String, report: &Report) {
    let Some(needs) = &report.status.needs else {
        return;
    };
    let _ = writeln!(
        page,
        "<section class=\"needs\">\n<h3>Wanted from you</h3>\n<p>{}</p>\n<pre>{}</pre>",
        Safe(&needs.words),
        Safe(&needs.command)
    );
    if let Some(gate) = &needs.gate {
        answers(page, gate);
    }
    page.push_str("</section>\n");
}

fn answers(page: &mut String, gate: &GateView) {
    if let Some(digest) = gate.digest {
        let _ = writeln!(page, "<p>An approval covers <code>{digest}</code>.</p>");
    }
    let _ = writeln!(
        page,
        "<p>It waits until {}, then the mission parks; nothing is approved by time.</p>\n<dl>",
        clock::utc(gate.expires_at)
    );
    if let Some(moved) = &gate.moved {
        let _ = write!(
            page,
            "<dt>{} was moved during the review, from {} to {}</dt>\n<dd><pre>{}</pre></dd>\n",
            Safe(&moved.name),
            moved.from_tree,
            moved.to_tree,
            Safe(ways_on(moved, ""))
        );
    }
    for offer in &gate.answers {
        let _ = writeln!(
            page,
            "<dt>{}: {}</dt>\n<dd><pre>{}</pre></dd>",
            offer.verb,
            offer.does,
            Safe(&offer.command)
        );
    }
    page.push_str("</dl>\n");
}

fn proven(page: &mut String, report: &Report) {
    let proven = &report.proven;
    page.push_str("<section>\n<h3>Proven</h3>\n");
    if let Some(place) = &proven.shipped {
        let _ = writeln!(page, "<p>Handed over: {}</p>", Safe(place));
    }
    if let Some(merge) = &proven.merge {
        let _ = writeln!(page, "<p>Merge it with</p>\n<pre>{}</pre>", Safe(merge));
    }
    if proven.checks_waived {
        page.push_str("<p>The mission was opened with <code>--no-check</code>: the host's checks prove nothing of it.</p>\n");
    }
    if proven.landed.is_empty() {
        page.push_str("<p>Nothing yet: no phase has landed.</p>\n");
    }
    for one in &proven.landed {
        landed(page, report, one);
    }
    page.push_str("</section>\n");
}

fn landed(page: &mut String, report: &Report, landed: &LandedView) {
    let _ = writeln!(
        page,
        "<p>Landed: {} as <code>{}</code>, commit <code>{}</code>.</p>",
        named(landed),
        landed.tree,
        landed.commit
    );
    checks(page, report, &landed.checks);
    if landed.checks.is_empty() {
        page.push_str("<p>No check ran on it.</p>\n");
    }
    if let Some(by) = &landed.let_pass_by {
        let _ = writeln!(page, "<p>{} let it pass at Validate.</p>", Safe(by));
    }
}

fn checks(page: &mut String, report: &Report, checks: &[CheckView]) {
    if checks.is_empty() {
        return;
    }
    page.push_str("<ul>\n");
    for check in checks {
        let _ = write!(
            page,
            "<li>Check <code>{}</code> {}",
            Safe(&check.name),
            Safe(&check.words)
        );
        if let Some(log) = &check.log {
            let _ = write!(page, "<br>Output {}", File::of(report, log));
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n");
}

fn not_done(page: &mut String, report: &Report) {
    let Some(left) = &report.not_done else {
        return;
    };
    let _ = writeln!(
        page,
        "<section>\n<h3>Not done</h3>\n<p>It has not shipped: it is {}.</p>",
        Safe(&left.words)
    );
    if let Some(last) = &left.last_attempt {
        let _ = writeln!(page, "<p>The last attempt: {}</p>", Safe(last));
    }
    for phase in &left.phases {
        let _ = writeln!(
            page,
            "<p>Phase {} ({}) has not landed: {}</p>",
            phase.phase,
            phase.kind,
            Safe(&phase.task)
        );
    }
    if let Some(commit) = &left.uncleared {
        let _ = writeln!(
            page,
            "<p>Work that nothing has cleared is kept as <code>{commit}</code>.</p>"
        );
    }
    page.push_str("</section>\n");
}

fn decided(page: &mut String, report: &Report) {
    if report.answers.is_empty() {
        return;
    }
    page.push_str("<section>\n<h3>Decided by people</h3>\n<ul>\n");
    for answer in &report.answers {
        let _ = write!(
            page,
            "<li>{} gate {}: {} chose <b>{}</b>",
            clock::utc(answer.at),
            Safe(&answer.gate),
            Safe(&answer.by),
            answer.verb
        );
        if let Some(note) = &answer.note {
            let _ = write!(page, "<blockquote>{}</blockquote>", Safe(note));
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n</section>\n");
}

fn attempts(page: &mut String, report: &Report) {
    page.push_str("<section>\n<h3>Attempts</h3>\n");
    if report.attempts.is_empty() {
        page.push_str("<p>None was made.</p>\n</section>\n");
        return;
    }
    page.push_str("<ol>\n");
    for one in &report.attempts {
        attempt(page, report, one);
    }
    page.push_str("</ol>\n</section>\n");
}

fn attempt(page: &mut String, report: &Report, one: &AttemptView) {
    let _ = write!(
        page,
        "<li>Phase {} {} visit {} attempt {}, {}: {}",
        one.phase,
        one.stage,
        one.visit,
        one.attempt,
        one.role,
        Safe(one.ended.as_deref().unwrap_or("at work"))
    );
    if let Some(claimed) = &one.claimed {
        let _ = write!(
            page,
            "<br>It said: {}; the host saw otherwise.",
            Safe(claimed)
        );
    }
    let _ = write!(
        page,
        "<br><span class=\"fine\">Asked for {}",
        Safe(asked(one))
    );
    if !one.unreported.is_empty() {
        let _ = write!(page, "; unreported: {}", one.unreported.join(", "));
    }
    if one.ended.is_some() {
        let _ = write!(page, "; used {}", Safe(used(one)));
    }
    page.push_str(".</span>");
    said(page, report, one);
    if let Some(path) = &one.transcript {
        let _ = write!(page, "<br>Transcript {}", File::of(report, path));
    }
    page.push_str("</li>\n");
}

/// Who really ran, and what it found.
fn said(page: &mut String, report: &Report, one: &AttemptView) {
    if let Some(ran) = one.ran.as_ref().filter(|ran| ran.is_reported()) {
        let ran = Safe(really(ran));
        let _ = write!(page, "<br><span class=\"fine\">Ran on {ran}.</span>");
    }
    if let Some(verdict) = &one.verdict {
        let _ = write!(page, "<br>Verdict: {}", Safe(verdict));
    }
    list(page, &one.findings);
    for path in &one.protected {
        let _ = write!(
            page,
            "<br>Protected, and changed: <code>{}</code>",
            Safe(path)
        );
    }
    if let Some(left) = &one.artifact {
        let path = left.path.as_deref().unwrap_or(Path::new("?"));
        let file = File::of(report, path);
        let _ = write!(page, "<br>Artifact, {} {file}", left.words);
    }
}

fn list(page: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.push_str("<ul>\n");
    for line in lines {
        let _ = writeln!(page, "<li>{}</li>", Safe(line));
    }
    page.push_str("</ul>\n");
}

fn reviews(page: &mut String, report: &Report) {
    if report.reviews.is_empty() {
        return;
    }
    page.push_str("<section>\n<h3>Reviewed</h3>\n");
    for review in &report.reviews {
        let _ = writeln!(
            page,
            "<p>Phase {}, loop {}, pinned <code>{}</code>: {}, {}.</p>",
            review.phase, review.number, review.pin, review.state, review.budget
        );
        if let Some(stopped) = &review.stopped {
            let _ = writeln!(page, "<p>It stopped: {}.</p>", Safe(stopped));
        }
        list(page, &review.routes);
        list(page, &review.findings);
    }
    page.push_str("</section>\n");
}

fn handed_on(page: &mut String, report: &Report) {
    if let Some(path) = &report.release_notes {
        let file = File::of(report, path);
        let _ = writeln!(
            page,
            "<section>\n<h3>Release notes</h3>\n<p>{file}</p>\n</section>"
        );
    }
    if report.handoffs.is_empty() {
        return;
    }
    page.push_str("<section>\n<h3>Handed on</h3>\n<ul>\n");
    for one in &report.handoffs {
        let _ = writeln!(
            page,
            "<li>Phase {} {}<blockquote>{}</blockquote></li>",
            one.phase,
            Safe(parcel(one)),
            Safe(&one.text)
        );
    }
    page.push_str("</ul>\n</section>\n");
}

fn spend(page: &mut String, report: &Report) {
    page.push_str(
        "<section>\n<h3>Spend</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Spend\">\n<table>\n<thead><tr><th scope=\"col\">Account</th>\
         <th scope=\"col\">Used</th><th scope=\"col\">Ceiling</th><th scope=\"col\">In all</th>\
         <th scope=\"col\">Refills</th></tr></thead>\n<tbody>\n",
    );
    for one in &report.status.spend {
        let amount = |n| one.account.amount(n);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            one.account,
            amount(one.used),
            amount(one.ceiling),
            amount(one.total),
            one.grants
        );
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    if let Some(asked) = report.plan.as_ref().and_then(|plan| plan.asking.as_ref()) {
        let took = Safe(asking(asked));
        let _ = writeln!(page, "<p>Besides, asking for the plan took {took}.</p>");
    }
    page.push_str("</section>\n");
}

fn evidence(page: &mut String, report: &Report) {
    let _ = writeln!(
        page,
        "<section>\n<h3>Evidence</h3>\n<p>Journal <code class=\"path\">{}</code>; the files named here are beside it.</p>\n<p>Base <code>{}</code></p>",
        Safe(report.journal.display()),
        report.base
    );
    for run in &report.checks {
        let on = run
            .tree
            .map_or_else(|| "the base".into(), |tree| tree.to_string());
        let _ = writeln!(
            page,
            "<p>Checks of {} on <code>{on}</code></p>",
            clock::utc(run.at)
        );
        checks(page, report, &run.results);
    }
    page.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_can_be_markup() {
        let damaged = [Damaged {
            mission: "m".parse().unwrap(),
            words: "<img src=x>".into(),
        }];
        let page = page("<b>", Timestamp::from_millis(0), &[], &damaged);
        assert!(!page.contains("<img") && !page.contains("<b>"), "{page}");
    }
}
