//! Backstop: leave coding agents running; the run always stops, and never on a lie.
//!
//! Reads the command line and prints. Everything else is in the libraries.
#![expect(
    unreachable_pub,
    reason = "a binary has no outside: `pub` says that another module uses it"
)]

mod asking;
mod demo;
mod fault;
mod gate;
mod live;
mod place;
mod policy;
mod question;
mod report;
mod run;
mod ticker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;

use crate::fault::{Fault, Status};
use crate::place::{Common, Place};

/// Leave coding agents running: the run always stops, and never on a lie.
#[derive(Debug, clap::Parser)]
#[command(name = "backstop", version, about, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Shows a whole mission offline, in a scratch repository
    Demo(demo::DemoArgs),
    /// Opens a mission in this repository and drives it
    Run(Box<run::RunArgs>),
    /// Goes on with a mission that is parked, or whose process is gone
    Resume(run::ResumeArgs),
    /// Stops a mission: its agent is ended, its work kept
    Stop(run::StopArgs),
    /// Shows and answers what waits for a person
    #[command(subcommand)]
    Gate(gate::GateCommand),
    /// Answers policy questions for programs in other languages
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// The built-in agent that plays a script; started by Backstop itself
    #[command(hide = true)]
    ScriptedAgent {
        /// The script
        #[arg(long)]
        script: PathBuf,
        /// The session that is taken up
        #[arg(long)]
        session: Option<String>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run_command(&cli) {
        Ok(status) => status.into(),
        Err(fault) => {
            eprintln!("backstop: {fault}");
            fault.status.into()
        }
    }
}

fn run_command(cli: &Cli) -> Result<Status, Fault> {
    let state = cli.common.state_dir.as_deref();
    match &cli.command {
        Command::Demo(args) => demo::demo(state, args),
        Command::Run(args) => run::run(&Place::here(state)?, args),
        Command::Resume(args) => run::resume(&Place::here(state)?, args),
        Command::Stop(args) => run::stop(&Place::here(state)?, args),
        Command::Gate(command) => gate::gate(&Place::here(state)?, command),
        Command::Policy(command) => policy::policy(command),
        Command::ScriptedAgent { script, session: _ } => scripted(script),
    }
}

/// Plays the script, and ends with its exit status.
fn scripted(script: &std::path::Path) -> Result<Status, Fault> {
    let failed = |error| Fault::new(Status::Unexpected, error);
    let place = backstop_runner::play::Place::from_env().map_err(failed)?;
    let status = backstop_runner::play::play(script, place).map_err(failed)?;
    std::process::exit(status)
}
