//! `status`: where the missions of this repository are, and what they need from a person.

use std::fmt::Write as _;

use backstop_engine::mode::Account;
use backstop_engine::vocab::Timestamp;
use backstop_runner::clock;
use backstop_runner::view::{self, Damaged, Missions, Spent};
use backstop_runner::words;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};
use crate::question;

/// What `status` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// One mission in detail: its id, or the beginning of it [default: all missions, the most urgent first]
    mission: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Shows one mission, or all.
pub(crate) fn status(place: &Place, args: &StatusArgs) -> Result<Status, Fault> {
    match &args.mission {
        Some(wanted) => one(place, wanted, args.json),
        None => all(place, args.json),
    }
}

fn one(place: &Place, wanted: &str, json: bool) -> Result<Status, Fault> {
    let dir = place.mission(Some(wanted))?;
    let history = place::read(&dir)?;
    let seen = view::status(&history, &dir);
    if json {
        return out::json(&seen);
    }
    let mut text = brief(&seen, clock::now());
    let _ = writeln!(text, "  mode      {}", seen.mode);
    let _ = writeln!(text, "  opened    {}", clock::utc(seen.opened_at));
    let _ = writeln!(text, "  folder    {}", dir.path().display());
    if let Some(review) = &seen.review {
        question::loop_lines(&mut text, review);
        question::route_lines(&mut text, review);
    }
    if !seen.board.is_empty() {
        let _ = writeln!(text, "\nGates between roles");
    }
    for line in &seen.board {
        let _ = writeln!(text, "  {}", question::line(line));
    }
    let _ = writeln!(text, "\nSpent");
    text.push_str(&accounts(&seen.spend));
    let _ = writeln!(
        text,
        "\nMore: backstop report {0}, backstop explain {0}, backstop logs {0}",
        seen.mission
    );
    out::say(&text)
}

/// The missions of this place.
pub(crate) fn missions(place: &Place) -> Result<Missions, Fault> {
    let mut found = Missions::default();
    for (mission, read) in place.all()? {
        match read {
            Ok((dir, history)) => {
                found.missions.push(view::status(&history, &dir));
            }
            Err(fault) => found.damaged.push(Damaged {
                mission,
                words: fault.to_string(),
            }),
        }
    }
    found.sort();
    Ok(found)
}

fn all(place: &Place, json: bool) -> Result<Status, Fault> {
    let found = missions(place)?;
    if json {
        return out::json(&found);
    }
    let now = clock::now();
    let mut blocks: Vec<String> = found.damaged.iter().map(damaged).collect();
    blocks.extend(found.missions.iter().map(|seen| brief(seen, now)));
    if blocks.is_empty() {
        return out::say(
            "there is no mission in this repository: start one with `backstop run \"…\"`\n",
        );
    }
    out::say(&blocks.join("\n"))
}

/// A mission that cannot be read.
pub(crate) fn damaged(damaged: &Damaged) -> String {
    format!(
        "{0}  DAMAGED\n  {1}\n  next      backstop journal verify {0}\n",
        damaged.mission, damaged.words
    )
}

/// A mission in a few lines.
fn brief(seen: &view::Status, now: Timestamp) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}  {}", seen.mission, seen.now);
    let _ = writeln!(text, "  goal      {}", seen.goal);
    let _ = writeln!(
        text,
        "  stage     {}, visit {}; phase {} of {}",
        seen.stage, seen.visit, seen.phase, seen.phases
    );
    if let Some(role) = seen.role {
        let _ = writeln!(text, "  turn      of the {role}");
    }
    let _ = writeln!(
        text,
        "  since     {} ({} ago)",
        clock::utc(seen.since),
        now.since(seen.since)
    );
    let _ = writeln!(text, "  spent     {}", spent(&seen.spend));
    for wait in waits(seen, now) {
        let _ = writeln!(text, "  {wait}");
    }
    if let Some(pid) = seen.driven_by {
        let _ = writeln!(text, "  driven    by process {pid}");
    }
    if let Some(needs) = &seen.needs {
        let _ = writeln!(text, "  NEEDS YOU {}", needs.words);
        let _ = writeln!(text, "            {}", needs.command);
    }
    text
}

/// What a mission waits for that no person can give.
pub(crate) fn waits(seen: &view::Status, now: Timestamp) -> Vec<String> {
    let limit = seen.limit.as_ref().map(|limit| {
        format!(
            "waits     for the account's limit until {} (in {}), which mission {} met",
            clock::utc(limit.until),
            limit.until.since(now),
            limit.mission
        )
    });
    let slot = seen
        .slot
        .map(|line| format!("waits     {}", words::line(line)));
    let wakes = seen
        .wakes_at
        .map(|wakes| format!("wakes     {} (in {})", clock::utc(wakes), wakes.since(now)));
    limit.into_iter().chain(slot).chain(wakes).collect()
}

/// The spend that matters most, in a line.
pub(crate) fn spent(spend: &[Spent]) -> String {
    let shown = [
        Account::Attempts,
        Account::PhaseFailures,
        Account::Cost,
        Account::ActiveTime,
    ];
    let of = |account: &Account| {
        let one = spend.iter().find(|one| one.account == *account)?;
        Some(format!(
            "{account} {} of {}",
            account.amount(one.used),
            account.amount(one.ceiling)
        ))
    };
    let words: Vec<String> = shown.iter().filter_map(of).collect();
    words.join(", ")
}

/// Every account, a line each.
pub(crate) fn accounts(spend: &[Spent]) -> String {
    let mut text = String::new();
    for one in spend {
        let account = one.account;
        let amount = |n| account.amount(n).to_string();
        let _ = write!(
            text,
            "  {:<20} {} of {}",
            account.to_string(),
            amount(one.used),
            amount(one.ceiling)
        );
        if one.total != one.used {
            let _ = write!(text, ", {} in all", amount(one.total));
        }
        match one.grants {
            0 => {}
            1 => text.push_str(", refilled once"),
            n => {
                let _ = write!(text, ", refilled {n} times");
            }
        }
        text.push('\n');
    }
    text
}
