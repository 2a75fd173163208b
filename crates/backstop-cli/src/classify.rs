//! `classify`: what a recorded run of an agent was, and why it is taken for that.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use backstop_engine::mode::Account;
use backstop_engine::outcome::TreeChange;
use backstop_engine::vocab::Stage;
use backstop_runner::classify::{self, Checks, EndedBy, Ending, Reading, Recorded, Zone};
use backstop_runner::clock;

use crate::fault::{Fault, Status};
use crate::out;

/// What `classify` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ClassifyArgs {
    /// The agent that ran
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// What it printed on standard output
    #[arg(long, value_name = "FILE")]
    stdout: PathBuf,
    /// What it printed on standard error
    #[arg(long, value_name = "FILE")]
    stderr: PathBuf,
    #[command(flatten)]
    ending: EndingArgs,
    /// Who ended it, where it did not end by itself: the idle limit, the limit of an attempt, a spent budget, or a person
    #[arg(long, value_name = "WHO")]
    ended_by: Option<Who>,
    /// Whether it changed the tree
    #[arg(long, value_name = "YES|NO")]
    tree_changed: Option<Answer>,
    /// How the host checks came out on its work
    #[arg(long, value_name = "HOW", default_value = "none")]
    checks: Outcome,
    /// The stage it worked in: what the stage needs is held against a claimed success
    #[arg(long, value_name = "STAGE")]
    stage: Option<Stage>,
    /// When it ended, in RFC 3339; now by default
    #[arg(long, value_name = "MOMENT")]
    now: Option<String>,
    /// The time zone of the machine that it ran on, such as Europe/Berlin or +02:00; that of this one by default
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// How its process ended.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct EndingArgs {
    /// The exit status of its process
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    exit_code: Option<i32>,
    /// The signal that ended its process, by name or number
    #[arg(long, value_name = "SIGNAL", value_parser = signal)]
    signal: Option<i32>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Who {
    Idle,
    Wall,
    Budget,
    Stop,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Answer {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Outcome {
    Pass,
    Fail,
    None,
}

/// A signal by its number, or by its name with or without `SIG`.
fn signal(text: &str) -> Result<i32, String> {
    const NAMES: [(&str, i32); 10] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("BUS", 7),
        ("FPE", 8),
        ("KILL", 9),
        ("SEGV", 11),
        ("PIPE", 13),
        ("TERM", 15),
    ];
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = NAMES.iter().find(|(name, _)| *name == bare);
    let number = named
        .map(|(_, number)| *number)
        .or_else(|| text.parse().ok());
    number
        .filter(|number| (1..=64).contains(number))
        .ok_or_else(|| "give a number from 1 to 64, or a name such as SIGKILL".to_owned())
}

/// Classifies it.
pub(crate) fn classify(args: &ClassifyArgs) -> Result<Status, Fault> {
    let run = recorded(args)?;
    let reading = classify::read(&args.agent, &run).map_err(usage)?;
    if args.json {
        return out::json(&reading);
    }
    out::say(&text(&reading))
}

fn usage(words: String) -> Fault {
    Fault::new(Status::Usage, words)
}

fn recorded(args: &ClassifyArgs) -> Result<Recorded, Fault> {
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(|error| usage(format!("cannot read `{}`: {error}", path.display())))
    };
    let now = args.now.as_deref().map(clock::parse_rfc_3339);
    let zone = args.zone.as_deref().map(|name| {
        let unknown = || format!("`{name}` is not a time zone: give a name such as Europe/Berlin, or an offset such as +02:00");
        Zone::named(name).ok_or_else(unknown)
    });
    Ok(Recorded {
        out: read(&args.stdout)?,
        err: read(&args.stderr)?,
        ending: match (args.ending.exit_code, args.ending.signal) {
            (_, Some(signal)) => Ending::Signalled(signal),
            (code, None) => Ending::Exited(code.unwrap_or_default()),
        },
        ended_by: match args.ended_by {
            Some(Who::Idle) => EndedBy::Idle,
            Some(Who::Wall) => EndedBy::Wall,
            // A recording does not tell which account it was.
            Some(Who::Budget) => EndedBy::Budget(Account::Cost),
            Some(Who::Stop) => EndedBy::Stop,
            None => EndedBy::Itself,
        },
        stage: args.stage,
        tree: args.tree_changed.map(|answer| match answer {
            Answer::Yes => TreeChange::Changed,
            Answer::No => TreeChange::Unchanged,
        }),
        checks: match args.checks {
            Outcome::Pass => Some(Checks::Green),
            Outcome::Fail => Some(Checks::Red),
            Outcome::None => None,
        },
        now: now.transpose().map_err(usage)?.unwrap_or_else(clock::now),
        zone: zone.transpose().map_err(usage)?.unwrap_or_else(clock::zone),
    })
}

/// The reading for a person: what is known, a line each.
fn text(reading: &Reading) -> String {
    let cause = reading.cause.as_ref();
    let mut text = match cause {
        Some(cause) => format!("{} ({cause})\n", reading.status),
        None => format!("{}\n", reading.status),
    };
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "  {name:<14}{value}");
        }
    };
    let assumed = if reading.until_assumed {
        " (assumed)"
    } else {
        ""
    };
    line(
        "rule",
        serde_json::to_value(reading.rule)
            .ok()
            .and_then(|rule| rule.as_str().map(str::to_owned)),
    );
    line(
        "until",
        reading
            .until
            .as_ref()
            .map(|until| format!("{until}{assumed}")),
    );
    line("session", reading.session.clone());
    line(
        "tokens",
        reading.usage.map(|usage| {
            format!(
                "{} in, {} out, {} cached",
                usage.input, usage.output, usage.cached
            )
        }),
    );
    line(
        "cost",
        reading.cost_usd.map(|cost| format!("{cost:.6} USD")),
    );
    line("tool calls", Some(reading.tool_calls.to_string()));
    line("last words", reading.final_message.clone());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_taken_by_name_and_by_number() {
        for text in ["SIGKILL", "kill", "9"] {
            assert_eq!(signal(text), Ok(9), "{text}");
        }
        for text in ["0", "65", "SIGNAL", "-9", ""] {
            assert!(signal(text).is_err(), "{text}");
        }
    }
}
