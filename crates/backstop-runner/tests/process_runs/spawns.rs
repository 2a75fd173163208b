//! Why a program could not be started, told apart.

use std::path::Path;
use std::process::Command;

use backstop_runner::process::{Exit, Spawn, SpawnError, spawn};

use crate::support::{marker, silent};

fn refused(program: &str, dir: &Path) -> SpawnError {
    let Err(error) = spawn(Spawn::new(program, dir, marker())) else {
        panic!("`{program}` was started in {}", dir.display());
    };
    error
}

/// Written by another process: an open descriptor of ours could be inherited and make the file busy.
fn script(folder: &Path, name: &str, first_line: &str, mode: &str) {
    let write =
        format!("printf '%s\\necho ran in $PWD\\n' '{first_line}' > {name} && chmod {mode} {name}");
    assert!(
        Command::new("sh")
            .args(["-c", &write])
            .current_dir(folder)
            .status()
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let _alone = crate::support::alone();
    for program in ["no-such-agent", "/no/such/agent", "./no-such-agent", ""] {
        let error = refused(program, Path::new("/"));
        assert!(
            matches!(error, SpawnError::ProgramMissing { .. }),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            format!("program `{program}` was not found: install it, or give its path")
        );
    }
}

#[tokio::test]
async fn a_missing_working_directory_is_not_a_missing_program() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for dir in [&gone, &file] {
        let error = refused("sh", dir);
        assert!(
            matches!(&error, SpawnError::Directory { path, .. } if path == dir),
            "{error:?}"
        );
        assert!(
            error.to_string().contains(&format!("`{}`", dir.display())),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_executed_is_not_a_missing_program() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "agent", "#!/bin/sh", "644");
    let error = refused("./agent", folder.path());
    assert!(
        matches!(error, SpawnError::NotExecutable { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("agent` cannot be executed"),
        "{error}"
    );
    let mut asked = Spawn::new("agent", "/", marker());
    asked.env.push(("PATH".into(), folder.path().into()));
    assert!(matches!(
        spawn(asked).err(),
        Some(SpawnError::NotExecutable { .. })
    ));
}

#[tokio::test]
async fn a_missing_interpreter_is_not_a_missing_program() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "agent", "#!/no/such/node", "755");
    let error = refused("./agent", folder.path());
    assert!(
        matches!(&error, SpawnError::InterpreterMissing { path } if path.ends_with("agent")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_command_line_that_is_too_long_says_so() {
    let _alone = crate::support::alone();
    let mut asked = Spawn::new("true", "/", marker());
    asked.args.push("x".repeat(1 << 20).into());
    let error = spawn(asked).err().unwrap();
    assert!(
        matches!(
            error,
            SpawnError::TooLong {
                bytes: 1_048_577,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_program_is_found_on_the_path_or_from_its_directory() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    script(&here, "agent", "#!/bin/sh", "755");
    let by_path = {
        let mut asked = Spawn::new("agent", &here, marker());
        asked.env.push((
            "PATH".into(),
            format!("/nowhere:{}:/bin", here.display()).into(),
        ));
        asked
    };
    for asked in [
        by_path,
        Spawn::new("./agent", &here, marker()),
        Spawn::new(here.join("agent"), &here, marker()),
    ] {
        let ended = spawn(asked).unwrap().wait(&mut silent).await;
        assert_eq!(
            (ended.exit, ended.stdout.text()),
            (Exit::Code(0), format!("ran in {}\n", here.display()))
        );
    }
}

#[tokio::test]
async fn a_program_that_was_planted_in_the_workspace_is_not_found_by_name() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "planted", "#!/bin/sh", "755");
    for path in ["", ".", "/bin::/usr/bin"] {
        let mut asked = Spawn::new("planted", folder.path(), marker());
        asked.env.push(("PATH".into(), path.into()));
        assert!(matches!(
            spawn(asked).err(),
            Some(SpawnError::ProgramMissing { .. })
        ));
    }
}
