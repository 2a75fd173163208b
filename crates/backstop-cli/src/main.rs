//! Backstop: leave coding agents running; the run always stops, and never on a lie.
//!
//! Reads the command line and prints. Everything else is in the libraries.
#![expect(
    unreachable_pub,
    reason = "a binary has no outside: `pub` says that another module uses it"
)]

mod asking;
mod classify;
mod clean;
mod demo;
mod doctor;
mod explain;
mod fault;
mod follow;
mod gate;
mod init;
mod journal;
mod keyboard;
mod live;
mod logs;
mod out;
mod place;
mod plan;
mod policy;
mod policy_table;
mod question;
mod queue;
mod report;
mod run;
mod screen;
mod status;
mod ticker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

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
    /// Writes a commented backstop.toml with the checks that this repository has
    Init,
    /// Looks whether everything that a mission needs is here
    Doctor(doctor::DoctorArgs),
    /// Opens a mission in this repository and drives it
    Run(Box<run::RunArgs>),
    /// Goes on with a mission that is parked, or whose process is gone
    Resume(run::ResumeArgs),
    /// Stops a mission: its agent is ended, its work kept
    Stop(run::StopArgs),
    /// Opens missions that are worked on in order, in the background
    #[command(subcommand)]
    Queue(queue::QueueCommand),
    /// Shows where the missions of this repository are, and what they need from you
    Status(status::StatusArgs),
    /// Shows and answers what waits for a person
    #[command(subcommand)]
    Gate(gate::GateCommand),
    /// Tells the story of a mission, and where its transcripts are
    Logs(logs::LogsArgs),
    /// Says why a mission moved as it did: every step with the rules that decided
    Explain(explain::ExplainArgs),
    /// Reports what is proven, what is not done, what you must decide, the spend, and the evidence
    Report(report::ReportArgs),
    /// Checks, shows and exports journals
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Removes the checkouts and refs of missions that have ended; never work that no other ref holds
    Clean(clean::CleanArgs),
    /// Proposes, shows, checks and approves mission plans
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    /// Shows the policy, and answers questions to it
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Says what a recorded run of an agent was, and which rule decided
    Classify(Box<classify::ClassifyArgs>),
    /// Prints a script that completes commands in your shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
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
    cli.common.log();
    let status = settle()
        .and_then(|()| run_command(&cli))
        .unwrap_or_else(|fault| {
            if !fault.is_silent() {
                screen::warn(&fault.to_string());
            }
            fault.status
        });
    screen::close();
    status.into()
}

/// Whoever started us may block signals or ignore the end of children, as some supervisors do.
fn settle() -> Result<(), Fault> {
    backstop_runner::process::settle_signals().map_err(|error| {
        Fault::new(
            Status::Unexpected,
            format!("signals cannot be taken: {error}"),
        )
    })
}

fn run_command(cli: &Cli) -> Result<Status, Fault> {
    let state = cli.common.state_dir.as_deref();
    match &cli.command {
        Command::Demo(args) => demo::demo(state, args),
        Command::Run(args) => run::run(&Place::here(state)?, args),
        Command::Resume(args) => run::resume(&Place::here(state)?, args),
        Command::Stop(args) => run::stop(&Place::here(state)?, args),
        Command::Queue(command) => queue::queue(&Place::here(state)?, command),
        Command::Status(args) => status::status(&Place::here(state)?, args),
        Command::Explain(args) => explain::explain(&Place::here(state)?, args),
        Command::Logs(args) => logs::logs(&Place::here(state)?, args),
        Command::Report(args) => report::report(&Place::here(state)?, args),
        Command::Journal(command) => journal::journal(&Place::here(state)?, command),
        Command::Clean(args) => clean::clean(&Place::here(state)?, args),
        Command::Plan(command) => plan::plan(state, command),
        Command::Classify(args) => classify::classify(args),
        Command::Completions { shell } => completions(*shell),
        Command::Init => init::init(),
        Command::Doctor(args) => doctor::doctor(state, args),
        Command::Gate(command) => gate::gate(&Place::here(state)?, command),
        Command::Policy(command) => policy::policy(command),
        Command::ScriptedAgent { script, session: _ } => scripted(script),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<Status, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "backstop", &mut script);
    out::raw(&script)
}

/// Plays the script, and ends with its exit status.
fn scripted(script: &std::path::Path) -> Result<Status, Fault> {
    let failed = |error| Fault::new(Status::Unexpected, error);
    let place = backstop_runner::play::Place::from_env().map_err(failed)?;
    let status = backstop_runner::play::play(script, place).map_err(failed)?;
    screen::close();
    std::process::exit(status)
}
