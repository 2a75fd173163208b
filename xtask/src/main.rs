//! Repository checks and generators, run as `cargo xtask <command>`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--workspace"])
        .status();
    match tested {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
