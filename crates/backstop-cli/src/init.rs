//! `init`: writes the first `backstop.toml` of a repository.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use backstop_runner::git::{Git, Repository, shown};
use backstop_runner::{config, scaffold};

use crate::fault::{Fault, Status};
use crate::out;

/// Writes the file; one that is there stays.
pub(crate) fn init() -> Result<Status, Fault> {
    let repository = Repository::discover(&Git::new(), &std::env::current_dir()?)?;
    if repository.is_bare() {
        let words = "this repository is bare, so there is no checkout to write a file into: run this in a clone";
        return Err(Fault::new(Status::Refused, words));
    }
    let path = repository.root().join(config::FILE_NAME);
    let found = scaffold::detect(repository.root());
    let agents = scaffold::installed_agents(std::env::var_os("PATH").as_deref());
    write(&path, &scaffold::file(&found, &agents))?;
    let checks = if found.checks.is_empty() {
        "no check was found: set `checks` in it, as a coding mission needs one".to_owned()
    } else {
        format!("checks found: {}", found.checks.join(", "))
    };
    let agent = match agents.first() {
        Some(agent) => format!("the agent is {agent}, as its program is installed"),
        None => "name your agent's command there (`[agents.exec] command`)".to_owned(),
    };
    out::say(&format!(
        "wrote {}\n{checks}\n{agent}\ncommit the file, then look with:\n  backstop doctor\n",
        shown(&path)
    ))
}

fn write(path: &Path, text: &str) -> Result<(), Fault> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let place = shown(path);
        if error.kind() == ErrorKind::AlreadyExists {
            let words = format!(
                "`{place}` is there already, and was left as it is: edit it, or move it away first"
            );
            return Fault::new(Status::Refused, words);
        }
        Fault::new(
            Status::Unexpected,
            format!("cannot write `{place}`: {error}"),
        )
    })
}
