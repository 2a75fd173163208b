//! `plan`: asks a model for a mission plan, shows and approves one, checks one, and prints the schema of one.

mod approve;
mod propose;
mod show;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use backstop_engine::plan::{self, Checks, PhaseSpec, Plan, Refusal};
use backstop_engine::vocab::{Digest, MissionId, Phase, PhaseKind};
use backstop_runner::git::{Git, Repository};
use backstop_runner::opening::{self, OpeningError};
use backstop_runner::plans::Plans;
use backstop_runner::words;
use serde::Serialize;

use crate::fault::{Fault, Status};
use crate::out;
use crate::place::Place;

/// The plan commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum PlanCommand {
    /// Asks an agent for a plan for a goal, and stores it for your approval
    Propose(propose::ProposeArgs),
    /// Lists the stored plans, the newest first
    List(show::ListArgs),
    /// Shows a plan: its phases, its checks, and the ceilings of a mission that runs it
    Show(show::ShowArgs),
    /// Approves exactly one plan, for one mission; takes in a plan that you wrote
    Approve(approve::ApproveArgs),
    /// Checks a plan and names everything that is wrong with it at once
    Validate {
        /// The plan: JSON, or TOML by its ending; - for standard input
        file: PathBuf,
        /// Accepts coding phases that nothing checks, as `run --no-check` does
        #[arg(long)]
        no_check: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints the JSON schema of a plan
    Schema,
}

/// Runs a plan command.
pub(crate) fn plan(state: Option<&Path>, command: &PlanCommand) -> Result<Status, Fault> {
    match command {
        PlanCommand::Propose(args) => propose::propose(&Place::here(state)?, args),
        PlanCommand::List(args) => show::list(&Place::here(state)?, args),
        PlanCommand::Show(args) => show::show(&Place::here(state)?, args),
        PlanCommand::Approve(args) => approve::approve(&Place::here(state)?, args),
        PlanCommand::Validate {
            file,
            no_check,
            json,
        } => validate(file, checks(*no_check)?, *json),
        PlanCommand::Schema => out::json(&plan::schema()),
    }
}

/// The plan that a word names.
pub(crate) enum Meant {
    /// One in the state directory.
    Stored(MissionId),
    /// A file.
    File(PathBuf),
}

/// A file where there is one, else a stored plan by its id or the beginning of it.
pub(crate) fn meant(place: &Place, word: &Path) -> Result<Meant, Fault> {
    let text = word.to_string_lossy();
    let refused = |words: String| Fault::new(Status::Refused, words);
    // An id has none of these.
    if text.contains(['/', '.']) {
        return Ok(Meant::File(word.into()));
    }
    match (Plans::of(&place.home).find(&text)?, word.exists()) {
        (Some(id), false) => Ok(Meant::Stored(id)),
        (None, true) => Ok(Meant::File(word.into())),
        (Some(id), true) => Err(refused(format!(
            "`{text}` is a file, and the beginning of the plan `{id}`: write `./{text}` for the file, or the whole id"
        ))),
        (None, false) => Err(refused(format!(
            "`{text}` is neither a file nor the id of a stored plan: `backstop plan list` shows those"
        ))),
    }
}

/// What `plan validate --json` prints.
#[derive(Debug, Serialize)]
struct Verdict {
    /// Whether a mission could be opened with it.
    valid: bool,
    /// Its digest, which an approval covers.
    digest: Option<Digest>,
    /// Its phases.
    phases: Vec<PhaseView>,
    /// Everything that is wrong with it.
    refusals: Vec<Refusal>,
    /// How many refusals are not listed.
    omitted: usize,
}

/// A phase of a valid plan.
#[derive(Debug, Serialize)]
struct PhaseView {
    /// Its number, from 1.
    phase: Phase,
    /// Its kind.
    kind: PhaseKind,
    /// Its task.
    task: String,
    /// When it is done, in words.
    done_when: Option<String>,
    /// A command that shows it.
    done_when_check: Option<String>,
}

impl PhaseView {
    fn of((phase, spec): (Phase, &PhaseSpec)) -> Self {
        Self {
            phase,
            kind: spec.kind(),
            task: spec.task().to_string(),
            done_when: spec.done_when().map(ToString::to_string),
            done_when_check: spec.done_when_check().map(ToString::to_string),
        }
    }
}

/// The checks that the repository configures count for a plan that is validated in it.
fn checks(no_check: bool) -> Result<Checks, Fault> {
    if no_check {
        return Ok(Checks::Waived);
    }
    let Ok(repository) = Repository::discover(&Git::new(), &std::env::current_dir()?) else {
        return Ok(Checks::None);
    };
    let file = opening::configuration(repository.root())?.file;
    Ok(if file.checks.is_empty() && file.check.is_empty() {
        Checks::None
    } else {
        Checks::Configured
    })
}

fn validate(file: &Path, checks: Checks, json: bool) -> Result<Status, Fault> {
    let source = if file == Path::new("-") {
        Path::new("/dev/stdin")
    } else {
        file
    };
    match opening::read_plan(source, checks) {
        Ok(plan) if json => out::json(&valid(&plan)),
        Ok(plan) => out::say(&told(&plan)),
        Err(OpeningError::Plan(refusals)) if json => {
            out::json(&Verdict {
                valid: false,
                digest: None,
                phases: Vec::new(),
                refusals: refusals.all().to_vec(),
                omitted: refusals.omitted(),
            })?;
            Ok(Status::Usage)
        }
        Err(error) => Err(error.into()),
    }
}

fn valid(plan: &Plan) -> Verdict {
    Verdict {
        valid: true,
        digest: Some(plan.digest()),
        phases: plan.numbered().map(PhaseView::of).collect(),
        refusals: Vec::new(),
        omitted: 0,
    }
}

fn told(plan: &Plan) -> String {
    let mut text = format!("the plan is valid: {}\n", plan.digest());
    for (phase, spec) in plan.numbered() {
        let _ = writeln!(
            text,
            "  {phase}. {}: {}",
            spec.kind(),
            words::first_line(spec.task().as_str())
        );
        if let Some(done_when) = spec.done_when() {
            let _ = writeln!(text, "     done when {done_when}");
        }
        if let Some(check) = spec.done_when_check() {
            let _ = writeln!(text, "     checked by {check}");
        }
    }
    text
}
