//! The policy commands.
//!
//! Deliberately absent: any rule. `decide` answers questions, the tables are generated.

#[cfg(test)]
mod bytes;
mod decide;

use std::io;

use crate::fault::{Fault, Status};
use crate::policy_table;

/// The policy commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PolicyCommand {
    /// Answers policy questions: one JSON object a line in, one out
    Decide,
    /// Prints the tables that decide, as Markdown
    Table {
        /// One table [default: all]
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(policy_table::names()))]
        name: Option<String>,
    },
}

/// Runs a policy command.
pub(crate) fn policy(command: &PolicyCommand) -> Result<Status, Fault> {
    match command {
        PolicyCommand::Decide => serve(),
        PolicyCommand::Table { name } => policy_table::table(name.as_deref()),
    }
}

fn serve() -> Result<Status, Fault> {
    match decide::decide(io::stdin().lock(), io::stdout().lock()) {
        // Who asked has gone: there is nobody left to answer.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Status::Done),
        ended => Ok(ended.map(|()| Status::Done)?),
    }
}
