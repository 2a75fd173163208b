//! `report`: for each mission what is proven, what is not and why, what waits for a person, the spend, the evidence.

mod html;
mod safe;
mod text;

use backstop_engine::vocab::MissionId;
use backstop_runner::clock;
use backstop_runner::view::{self, Damaged, Report};
use serde::Serialize;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};

pub(crate) use text::{asking, text};

/// What `report` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The mission, or the beginning of its id [default: every mission, the most urgent first]
    mission: Option<String>,
    /// Prints JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Prints one page that needs nothing else, for a browser: `backstop report --html > report.html`
    #[arg(long)]
    html: bool,
}

/// Every report of a repository.
#[derive(Debug, Default, Serialize)]
struct Reports {
    /// Those whose journals can be read, the most urgent first.
    reports: Vec<Report>,
    /// Those whose journals cannot.
    damaged: Vec<Damaged>,
}

/// Reports on one mission, or on all.
pub(crate) fn report(place: &Place, args: &ReportArgs) -> Result<Status, Fault> {
    let found = match &args.mission {
        Some(wanted) => one(place, wanted)?,
        None => all(place)?,
    };
    if args.html {
        let title = title(place, &found);
        return out::foreign(
            html::page(&title, clock::now(), &found.reports, &found.damaged).as_bytes(),
        );
    }
    if args.json {
        return match (&args.mission, found.reports.first()) {
            (Some(_), Some(report)) => out::json(report),
            _ => out::json(&found),
        };
    }
    out::say(&all_text(&found))
}

fn one(place: &Place, wanted: &str) -> Result<Reports, Fault> {
    let dir = place.mission(Some(wanted))?;
    let history = place::read(&dir)?;
    Ok(Reports {
        reports: vec![view::report(&history, &dir)],
        damaged: Vec::new(),
    })
}

fn all(place: &Place) -> Result<Reports, Fault> {
    let mut found = Reports::default();
    for (mission, read) in place.all()? {
        match read {
            Ok((dir, history)) => found.reports.push(view::report(&history, &dir)),
            Err(fault) => found.damaged.push(Damaged {
                mission,
                words: fault.to_string(),
            }),
        }
    }
    found.reports.sort_by_key(|report| report.status.urgency());
    Ok(found)
}

fn title(place: &Place, found: &Reports) -> String {
    let name = place.repository.root().file_name();
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let only = found.reports.first().filter(|_| found.reports.len() == 1);
    let only = only.map(|report| MissionId::to_string(&report.status.mission));
    only.or(name).unwrap_or_else(|| "missions".into())
}

fn all_text(found: &Reports) -> String {
    if found.reports.is_empty() && found.damaged.is_empty() {
        return "there is no mission in this repository: start one with `backstop run \"…\"`\n"
            .into();
    }
    let damaged = found.damaged.iter().map(crate::status::damaged);
    let reports = found.reports.iter().map(text);
    let blocks: Vec<String> = damaged.chain(reports).collect();
    blocks.join(&format!("\n{}\n\n", "─".repeat(72)))
}
