//! `plan show` and `plan list`: plans for a person, and for scripts.

use std::fmt::Write as _;
use std::path::PathBuf;

use backstop_engine::mode::Account;
use backstop_engine::plan::{Author, PhaseSpec, Plan};
use backstop_engine::vocab::{Digest, Phase, Signature, Timestamp};
use backstop_runner::edge::Effort;
use backstop_runner::opening;
use backstop_runner::plans::{Approval, Plans, RefusedProposal, State, Stored};
use backstop_runner::{clock, proposing, words};
use serde::Serialize;

use super::{Meant, PhaseView, checks, meant};
use crate::fault::{Fault, Status};
use crate::out;
use crate::place::Place;
use crate::report;

/// Where the words of a line begin, behind their title.
pub(super) const INDENT: &str = "            ";

/// How wide a line gets, in characters.
const WIDTH: usize = 78;

/// What `plan show` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The plan: its id or the beginning of it, or a file [default: the newest stored one]
    #[arg(value_name = "ID|FILE")]
    plan: Option<PathBuf>,
    /// Prints the plan alone, as JSON that can be edited and approved
    #[arg(long, conflicts_with = "json")]
    bare: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What `plan list` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Shows a plan.
pub(super) fn show(place: &Place, args: &ShowArgs) -> Result<Status, Fault> {
    let plans = Plans::of(&place.home);
    let meant = args.plan.as_deref().map(|plan| meant(place, plan));
    let stored = match meant.transpose()? {
        Some(Meant::Stored(id)) => plans.read(&id)?,
        Some(Meant::File(path)) => {
            let plan = opening::read_plan(&path, checks(true)?)?;
            return of_file(place, &plan, args);
        }
        None => plans.newest()?.ok_or_else(|| {
            let words = "no plan is stored here: ask for one with `backstop plan propose \"…\"`";
            Fault::new(Status::Refused, words)
        })?,
    };
    if args.json {
        return out::json(&view(&stored));
    }
    match &stored.plan {
        Some(plan) if args.bare => out::json(plan),
        None if args.bare => {
            let words = format!("`{}` has no plan: it is {}", stored.id, stored.state.name());
            Err(Fault::new(Status::Refused, words))
        }
        Some(_) | None => out::say(&text(place, &stored)?),
    }
}

fn of_file(place: &Place, plan: &Plan, args: &ShowArgs) -> Result<Status, Fault> {
    if args.bare {
        return out::json(plan);
    }
    if args.json {
        return out::json(&super::valid(plan));
    }
    let mut text = String::from("a plan that is not stored\n");
    line(&mut text, "digest", &plan.digest().to_string());
    phases(&mut text, plan);
    ceilings(&mut text, place)?;
    out::say(&text)
}

/// Lists the stored plans.
pub(super) fn list(place: &Place, args: &ListArgs) -> Result<Status, Fault> {
    let all = Plans::of(&place.home).all()?;
    if args.json {
        let read = all.iter().filter_map(|(_, read)| read.as_ref().ok());
        let damaged = all.iter().filter_map(|(id, read)| {
            let words = read.as_ref().err()?.to_string();
            Some(DamagedView {
                id: id.to_string(),
                words,
            })
        });
        return out::json(&ListView {
            plans: read.map(view).collect(),
            damaged: damaged.collect(),
        });
    }
    if all.is_empty() {
        return out::say("no plan is stored here\n");
    }
    let line = |(id, read): &(_, Result<Stored, _>)| match read {
        Ok(stored) => format!(
            "{id}  {}  {}  {}\n",
            state(stored),
            clock::utc(stored.at),
            words::first_line(stored.goal.as_str())
        ),
        Err(error) => format!("{id}  DAMAGED  {error}\n"),
    };
    out::say(&all.iter().map(line).collect::<String>())
}

/// What `plan list --json` prints.
#[derive(Debug, Serialize)]
struct ListView {
    plans: Vec<PlanView>,
    damaged: Vec<DamagedView>,
}

#[derive(Debug, Serialize)]
struct DamagedView {
    id: String,
    words: String,
}

/// What `plan show --json` prints.
#[derive(Debug, Serialize)]
pub(super) struct PlanView {
    /// Its id.
    id: String,
    /// What is wanted.
    goal: String,
    /// `asking`, `parked`, `proposed`, `approved` or `applied`.
    state: &'static str,
    /// Why there is no plan.
    why: Option<String>,
    /// When it was asked for, or taken in.
    at: Timestamp,
    /// The way to the model that wrote it.
    model: Option<String>,
    /// The person who wrote it.
    written_by: Option<Signature>,
    /// What an approval has to name.
    digest: Option<Digest>,
    /// The approval.
    approval: Option<Approval>,
    /// Whether the approval covers what the plan is now.
    edited: bool,
    /// The mission that runs it.
    mission: Option<String>,
    /// Its phases.
    phases: Vec<PhaseView>,
    /// How many proposals were asked for.
    proposals: u8,
    /// What they took together.
    asking: Option<Effort>,
    /// Those that were refused.
    refused: Vec<RefusedProposal>,
    /// The transcript of the last one.
    transcript: Option<Digest>,
}

/// A stored plan for scripts.
pub(super) fn view(stored: &Stored) -> PlanView {
    let (model, written_by) = match &stored.author {
        Author::Model(route) => (Some(route.to_string()), None),
        Author::Operator(person) => (None, Some(person.clone())),
    };
    let phases = stored.plan.iter().flat_map(Plan::numbered);
    PlanView {
        id: stored.id.to_string(),
        goal: stored.goal.to_string(),
        state: stored.state.name(),
        why: stored.state.why().map(ToString::to_string),
        at: stored.at,
        model,
        written_by,
        digest: stored.digest(),
        approval: stored.state.approval().cloned(),
        edited: stored.is_edited(),
        mission: stored.state.mission().map(ToString::to_string),
        phases: phases.map(PhaseView::of).collect(),
        proposals: stored.proposals.spent(),
        asking: stored.asking,
        refused: stored.refused.clone(),
        transcript: stored.transcript,
    }
}

/// Where a plan stands, in a word.
fn state(stored: &Stored) -> &'static str {
    if stored.is_edited() {
        return "edited";
    }
    stored.state.name()
}

/// A stored plan for a person, and what to do with it.
pub(super) fn text(place: &Place, stored: &Stored) -> Result<String, Fault> {
    let mut text = format!("plan {}  {}\n", stored.id, state(stored));
    line(&mut text, "goal", stored.goal.as_str());
    let author = match &stored.author {
        Author::Model(route) => format!("{route}, a model"),
        Author::Operator(person) => person.to_string(),
    };
    line(&mut text, "author", &author);
    line(&mut text, "at", &clock::utc(stored.at));
    if let Some(asked) = &stored.asking {
        line(&mut text, "took", &report::asking(asked));
    }
    if let Some(why) = stored.state.why() {
        line(&mut text, "why", why.as_str());
    }
    if let Some(digest) = stored.digest() {
        line(&mut text, "digest", &digest.to_string());
    }
    if let Some(Approval { digest, by, at }) = stored.state.approval() {
        let at = clock::utc(*at);
        line(&mut text, "approved", &format!("{digest} by {by} at {at}"));
    }
    if let Some(mission) = stored.state.mission() {
        line(&mut text, "mission", mission.as_str());
    }
    refused(&mut text, stored);
    if let Some(plan) = &stored.plan {
        phases(&mut text, plan);
        ceilings(&mut text, place)?;
    }
    text.push_str(&next(stored));
    Ok(text)
}

/// The proposals that were refused, with every reason.
pub(super) fn refused(text: &mut String, stored: &Stored) {
    for proposal in &stored.refused {
        line(text, "refused", &format!("proposal {}", proposal.number));
        for refusal in &proposal.refusals {
            line(text, "", &format!("- {refusal}"));
        }
        if proposal.omitted > 0 {
            line(text, "", &format!("- and {} more", proposal.omitted));
        }
    }
}

fn phases(text: &mut String, plan: &Plan) {
    let count = plan.phases().len();
    for (number, phase) in plan.numbered() {
        phase_text(text, (number, count), phase);
    }
}

fn phase_text(text: &mut String, (number, count): (Phase, usize), phase: &PhaseSpec) {
    let kind = phase.kind();
    let _ = writeln!(text, "\nphase {number} of {count}  {kind}");
    line(text, "task", phase.task().as_str());
    line(text, "is", proposing::evidence(kind));
    if phase.allow_empty() {
        line(text, "", "it may leave the tree as it was");
    }
    if let Some(done_when) = phase.done_when() {
        line(text, "done when", done_when.as_str());
    }
    if let Some(check) = phase.done_when_check() {
        line(text, "check", check.as_str());
    }
}

/// What a mission that runs it may spend and how often it may fail, as configured now.
fn ceilings(text: &mut String, place: &Place) -> Result<(), Fault> {
    let ceilings = opening::configuration(place.repository.root())?.ceilings;
    text.push_str("\nceilings of a mission that runs it\n");
    for account in Account::ALL {
        let amount = account.amount(ceilings.of(account));
        let _ = writeln!(text, "  {:<20}{amount}", account.to_string());
    }
    Ok(())
}

fn next(stored: &Stored) -> String {
    let id = &stored.id;
    let digest = stored.digest().map(|digest| digest.to_string());
    let digest = digest.unwrap_or_default();
    match &stored.state {
        State::Approved(_) if !stored.is_edited() => {
            format!("\nRun it, once:\n  backstop run --plan {id}\n")
        }
        State::Proposed | State::Approved(_) => format!(
            "\nApprove exactly this plan, then run it, once:\n  backstop plan approve {id} --digest {digest}\n  \
             backstop run --plan {id}\nOr change it, and approve your own:\n  backstop plan show {id} --bare >plan.json\n  \
             backstop plan approve plan.json\n"
        ),
        State::Applied(application) => {
            let mission = &application.mission;
            format!("\nIt was applied. Look at its mission:\n  backstop status {mission}\n")
        }
        State::Asking | State::Parked(_) | State::Applying(_) => String::new(),
    }
}

/// A title and words, every line of which is narrow and begins behind the title.
fn line(text: &mut String, title: &str, words: &str) {
    let lines = wrapped(words, WIDTH.saturating_sub(INDENT.len()));
    let mut title = title;
    for line in lines {
        let _ = writeln!(text, "{}", format!("  {title:<10}{line}").trim_end());
        title = "";
    }
}

/// Text in lines of at most `width` characters, broken between words; a longer word has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let long = line.chars().count().saturating_add(word.chars().count());
            if !line.is_empty() && long >= width {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_to_narrow_lines_and_none_is_lost() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrapped("unbreakable-word x", 5), ["unbreakable-word", "x"]);
        assert_eq!(wrapped("", 5), Vec::<String>::new());
    }
}
