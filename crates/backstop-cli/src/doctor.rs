//! `doctor`: whether Backstop can work here, and what to do where it cannot.

use std::fmt::Write as _;
use std::path::Path;

use backstop_runner::doctor::{self, Finding, Weight};
use backstop_runner::programs::Installed;
use serde::Serialize;

use crate::fault::{Fault, Status};
use crate::out;

/// What `doctor` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What `doctor --json` prints.
#[derive(Debug, Serialize)]
struct Diagnosis {
    /// Whether a mission can be worked on here.
    usable: bool,
    /// The version of Backstop.
    version: &'static str,
    /// Everything that was looked at.
    findings: Vec<Finding>,
    /// The agents, installed or not.
    agents: Vec<Installed>,
}

/// Looks at everything.
pub(crate) fn doctor(state: Option<&Path>, args: &DoctorArgs) -> Result<Status, Fault> {
    let doctor::Diagnosis { findings, agents } = doctor::look(&std::env::current_dir()?, state);
    let usable = findings.iter().all(|one| one.weight != Weight::Blocks);
    let status = if usable {
        Status::Done
    } else {
        Status::Preflight
    };
    if args.json {
        out::json(&Diagnosis {
            usable,
            version: env!("CARGO_PKG_VERSION"),
            findings,
            agents,
        })?;
        return Ok(status);
    }
    let mut text = String::new();
    for one in &findings {
        let mark = match one.weight {
            Weight::Good => "ok    ",
            Weight::Note => "note  ",
            Weight::Blocks => "BLOCKS",
        };
        let words = one.words.replace('\n', "\n                          ");
        let _ = writeln!(text, "{mark}  {:<16}  {words}", one.name);
    }
    text.push_str(&gaps(&agents));
    text.push_str(if usable {
        "\nBackstop can work here.\n"
    } else {
        "\nBackstop cannot work here yet: see BLOCKS above.\n"
    });
    out::say(&text)?;
    Ok(status)
}

/// What is known not to work with the agents that are installed.
fn gaps(agents: &[Installed]) -> String {
    let mut text = String::new();
    for agent in agents.iter().filter(|agent| agent.version.is_some()) {
        let mut gaps: Vec<&str> = agent.gaps.to_vec();
        let can = [
            (agent.resume, "a session cannot be taken up again"),
            (
                agent.cost,
                "what it costs is not reported: `assumed_cost` is charged",
            ),
        ];
        gaps.extend(can.iter().filter(|(can, _)| !can).map(|(_, words)| *words));
        if !gaps.is_empty() {
            let _ = writeln!(text, "\nKnown of {}:", agent.name);
        }
        for gap in gaps {
            let _ = writeln!(text, "  - {gap}");
        }
    }
    text
}
