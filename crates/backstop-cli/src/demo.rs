//! `demo`: the offline tour. A scratch repository, the scripted agent, a repaired failure, a waited-out limit, a gate.

use std::path::{Path, PathBuf};
use std::process::Command;

use backstop_engine::vocab::Signature;
use backstop_engine::{Answer, Fact, Mission, Position, Verb};
use backstop_runner::dispatcher::AtGate;
use backstop_runner::drive::Drive;
use backstop_runner::opening::{self, Wish};
use backstop_runner::process;
use backstop_runner::view;

use crate::fault::{Fault, Status};
use crate::live::{Narrator, Reasons};
use crate::place::{self, Place};
use crate::screen::{self, Stream};
use crate::{question, report, run};

/// What `demo` takes.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Plays the operator too: approves, ships, and prints the report
    #[arg(long)]
    pub approve: bool,
    /// Where the scratch repository is made [default: a new folder for temporary files]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

const SCRIPT: &str = include_str!("demo/script.toml");
const CONFIG: &str = include_str!("demo/backstop.toml");
const CHECK: &str = include_str!("demo/check.sh");
const README: &str = "# greet\n\nPrints a greeting. `sh check.sh` is its test.\n";

/// Runs the tour.
pub fn demo(state: Option<&Path>, args: &DemoArgs) -> Result<Status, Fault> {
    let dir = scratch(args.dir.as_deref())?;
    let repo = dir.join("greet");
    make(&dir, &repo)?;
    let own = dir.join("state");
    let place = Place::find(&repo, Some(state.unwrap_or(&own)))?;
    introduce(&repo);
    let by = place::operator(None)?;
    let wish = Wish {
        goal: Some("greet people by their name".into()),
        script: Some(dir.join("script.toml")),
        ..Wish::default()
    };
    let charter = opening::charter(&place.repository, &wish, by.clone())?;
    let drive = Drive::open(&place.home, &place.repository, charter)?;
    let mission = drive_to_gate(drive, &by)?;
    if args.approve && matches!(mission.position(), Position::AtGate(..)) {
        return approve(&place, &mission, &by);
    }
    leave(&place, &mission, state.is_none().then_some(own.as_path()))
}

fn scratch(wanted: Option<&Path>) -> Result<PathBuf, Fault> {
    if let Some(dir) = wanted {
        let taken = dir
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_some());
        if taken {
            let words = format!("`{}` is not empty: name a new folder", dir.display());
            return Err(Fault::new(Status::Usage, words));
        }
        std::fs::create_dir_all(dir)?;
        return Ok(std::path::absolute(dir)?);
    }
    Ok(tempfile::Builder::new()
        .prefix("backstop-demo-")
        .tempdir()?
        .keep())
}

fn make(dir: &Path, repo: &Path) -> Result<(), Fault> {
    std::fs::create_dir_all(repo)?;
    std::fs::write(dir.join("script.toml"), SCRIPT)?;
    for (name, text) in [
        ("backstop.toml", CONFIG),
        ("check.sh", CHECK),
        ("README.md", README),
    ] {
        std::fs::write(repo.join(name), text)?;
    }
    let git = |args: &[&str]| -> Result<(), Fault> {
        let mut command = Command::new("git");
        command.arg("-C").arg(repo).args(args);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        let done = process::output(&mut command).map_err(|error| {
            Fault::new(
                Status::Preflight,
                format!("`git` cannot be run ({error}): install git 2.38 or newer"),
            )
        })?;
        let words = || String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.status.success() {
            Ok(())
        } else {
            Err(Fault::new(Status::Unexpected, words()))
        }
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["config", "user.name", "Demo Operator"])?;
    git(&["config", "user.email", "operator@example.invalid"])?;
    git(&["config", "commit.gpgsign", "false"])?;
    git(&["add", "--all"])?;
    git(&[
        "commit",
        "--quiet",
        "--message",
        "greet: a program without a program",
    ])
}

fn introduce(repo: &Path) {
    let words = format!(
        "This is a real mission in a scratch repository, `{}`.\n\
         A scripted agent plays the part of a coding agent: no model, no network.\n\
         Its first work fails the host's check, and it meets a provider's limit of two seconds.\n\n",
        repo.display()
    );
    screen::say(Stream::Out, &words);
}

fn drive_to_gate(drive: Drive, by: &Signature) -> Result<Mission, Fault> {
    let narrator = Narrator::new(Stream::Out, Reasons::Told);
    let driven = run::runtime()?.block_on(drive.run(narrator, AtGate::Leave, by.clone()))?;
    Ok(driven.mission)
}

fn approve(place: &Place, mission: &Mission, by: &Signature) -> Result<Status, Fault> {
    screen::say(
        Stream::Out,
        "\nThe operator looks at the gate and approves exactly this digest.\n\n",
    );
    let dir = place.home.mission(&mission.charter().fields().mission)?;
    let mut drive = Drive::take_up(&dir, &place.repository)?;
    let Some(gate) = mission.gate() else {
        return Ok(question::status(mission));
    };
    drive.take(Fact::Answered(Answer {
        gate: gate.id.clone(),
        digest: gate.digest,
        verb: Verb::Approve,
        accounts: Vec::new(),
        note: None,
        by: by.clone(),
    }))?;
    let mission = drive_to_gate(drive, by)?;
    let history = place::read(&dir)?;
    let told = report::text(&view::report(&history, &dir));
    screen::say(Stream::Out, &format!("\n{told}"));
    Ok(question::status(&mission))
}

/// Says how to look and how to answer, with commands that work as they stand.
fn leave(place: &Place, mission: &Mission, own: Option<&Path>) -> Result<Status, Fault> {
    let host = backstop_runner::git::Host::open(
        &place.repository,
        &mission.charter().fields().mission,
        place
            .home
            .mission(&mission.charter().fields().mission)?
            .path(),
        &[],
    )?;
    let state = own.map(|own| format!("export BACKSTOP_STATE={}\n  ", own.display()));
    let words = format!(
        "\n{}\nThe commands above work there:\n  {}cd {}\n",
        question::end(mission, Some(&host)),
        state.unwrap_or_default(),
        place.repository.root().display()
    );
    screen::say(Stream::Out, &words);
    Ok(question::status(mission))
}
