//! `plan approve`: the one door through which a plan becomes one that a mission may run.

use std::path::{Path, PathBuf};

use backstop_engine::vocab::{Digest, Operator};
use backstop_runner::opening;
use backstop_runner::plans::{self, Held, Plans, State, Stored};

use super::{Meant, checks, meant, show};
use crate::fault::{Fault, Status};
use crate::out;
use crate::place::{self, Place};

/// What `plan approve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The plan: its id or the beginning of it, or a file of your own (JSON, or TOML by its ending)
    #[arg(value_name = "ID|FILE")]
    plan: PathBuf,
    /// The digest that the approval covers [default: what the plan is now]
    #[arg(long, value_name = "DIGEST")]
    digest: Option<Digest>,
    /// Accepts coding phases of a file that nothing checks, as `run --no-check` does
    #[arg(long)]
    no_check: bool,
    /// Your name, for the record [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Approves a plan.
pub(super) fn approve(place: &Place, args: &ApproveArgs) -> Result<Status, Fault> {
    let by = place::approver(args.by.as_deref())?;
    let mut held = match meant(place, &args.plan)? {
        Meant::Stored(id) => of_record(place, Plans::of(&place.home).hold(&id)?)?,
        Meant::File(path) => of_file(place, &path, args, &by)?,
    };
    held.approve(&by, args.digest)?;
    let stored = held.stored();
    if args.json {
        return out::json(&show::view(stored));
    }
    out::say(&told(stored))
}

/// The plan itself, or where a mission has it already the same plan once more.
fn of_record(place: &Place, held: Held) -> Result<Held, Fault> {
    match held.stored().state {
        State::Applied(_) => Ok(Plans::of(&place.home).store(plans::again(held.stored()))?),
        State::Asking
        | State::Parked(_)
        | State::Proposed
        | State::Approved(_)
        | State::Applying(_) => Ok(held),
    }
}

/// A person's own plan, taken in.
fn of_file(place: &Place, path: &Path, args: &ApproveArgs, by: &Operator) -> Result<Held, Fault> {
    let plan = opening::read_plan(path, checks(args.no_check)?)?;
    let is = plan.digest();
    if let Some(given) = args.digest.filter(|given| *given != is) {
        let words = format!(
            "the approval is for `{given}`, and the plan in `{}` is `{is}`: look at it with `backstop plan show {0}`, and approve that digest",
            path.display()
        );
        return Err(Fault::new(Status::Refused, words));
    }
    Ok(Plans::of(&place.home).store(plans::written(plan, by))?)
}

fn told(stored: &Stored) -> String {
    let digest = stored.digest().map(|digest| digest.to_string());
    format!(
        "plan {} is approved: {}\nRun it, once, with:\n  backstop run --plan {}\n",
        stored.id,
        digest.unwrap_or_default(),
        stored.id
    )
}
