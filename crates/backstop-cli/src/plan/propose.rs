//! `plan propose`: a model writes a plan, and a person is told what came of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use backstop_runner::opening::{Unchecked, Wish, listed};
use backstop_runner::plans::Stored;
use backstop_runner::proposing::{self, End, Told};
use backstop_runner::words;

use super::show;
use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};
use crate::run;
use crate::screen::{self, Stream};

/// What `plan propose` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ProposeArgs {
    /// What is wanted, in your words
    goal: String,
    /// The agent that is asked [default: the planner's, from backstop.toml]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The command of the `exec` agent, for a POSIX shell: the prompt comes on standard input, or in place of {prompt}
    #[arg(long, value_name = "CMD")]
    exec_command: Option<String>,
    /// The script of the `scripted` agent
    #[arg(long, value_name = "FILE", conflicts_with = "exec_command")]
    script: Option<PathBuf>,
    /// Accepts coding phases that nothing checks, as `run --no-check` does
    #[arg(long)]
    no_check: bool,
    /// Your name, for the record [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Asks for a plan, and tells what came of it.
pub(super) fn propose(place: &Place, args: &ProposeArgs) -> Result<Status, Fault> {
    let by = place::operator(args.by.as_deref())?;
    let wish = Wish {
        goal: Some(args.goal.clone()),
        agent: args.agent.clone(),
        exec_command: args.exec_command.clone(),
        script: args.script.clone(),
        unchecked: if args.no_check {
            Unchecked::Wanted
        } else {
            Unchecked::Refused
        },
        ..Wish::default()
    };
    let asked = proposing::propose((&place.home, &place.repository), &wish, by, tell);
    let (stored, end) = run::runtime()?.block_on(asked)?;
    screen::close();
    if args.json {
        out::json(&show::view(&stored))?;
    } else {
        out::say(&told(place, &stored, &end)?)?;
    }
    Ok(status(&end))
}

fn tell(told: &Told<'_>) {
    let words = match told {
        Told::Asked { number, agent } => format!("proposal {number}: {agent} is asked\n"),
        Told::Refused { number, refusals } => {
            format!("proposal {number} is refused:\n{}\n", listed(refusals))
        }
    };
    screen::say(Stream::Err, &words);
}

const fn status(end: &End) -> Status {
    match end {
        End::Proposed => Status::Done,
        End::Spent | End::Failed => Status::Parked,
        End::Unavailable => Status::Preflight,
        End::Interrupted => Status::Interrupted,
    }
}

fn told(place: &Place, stored: &Stored, end: &End) -> Result<String, Fault> {
    if *end == End::Proposed {
        return show::text(place, stored);
    }
    let mut text = format!("there is no plan {}\n", stored.id);
    if let Some(why) = stored.state.why() {
        let _ = writeln!(
            text,
            "  why       {}",
            words::hanging(why.as_str(), show::INDENT)
        );
    }
    show::refused(&mut text, stored);
    let again = match end {
        End::Unavailable => "Make the agent ready (`backstop doctor` looks at it), then ask again:",
        End::Proposed | End::Spent | End::Failed | End::Interrupted => {
            "Say the goal another way, ask another agent, or write the plan yourself:"
        }
    };
    let _ = write!(
        text,
        "{again}\n  backstop plan propose \"…\"\n  backstop plan approve FILE\n"
    );
    Ok(text)
}
