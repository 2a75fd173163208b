//! `deny`: a pinned cargo-deny over licences, sources and duplicates, installed when it is missing.
//!
//! Deliberately absent: advisories, whose database changes under a commit; deny.toml configures them for
//! whoever runs `cargo deny check advisories`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::program::{Line, cargo};
use crate::repo::Repo;

const VERSION: &str = "0.20.2";

/// Finds or installs cargo-deny, fetches the locked crates, and checks them without a network.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    let settings = ["BACKSTOP_TOOLS", "XDG_CACHE_HOME", "HOME"].map(env::var_os);
    let folder = tools(settings)?;
    let program = ready(&folder, |line| line.run(&repo.root))?;
    cargo("fetch --locked").run(&repo.root)?;
    let arguments = "--offline check bans licenses sources";
    Line::new(&program.to_string_lossy(), arguments).run(&repo.root)
}

/// The folder of tools, from `BACKSTOP_TOOLS`, `XDG_CACHE_HOME` and `HOME`; an empty one is as good as none.
pub(crate) fn tools(settings: [Option<OsString>; 3]) -> Result<PathBuf, Failure> {
    let [tools, cache, home] =
        settings.map(|value| value.filter(|text| !text.is_empty()).map(PathBuf::from));
    let cache = || cache.or_else(|| home.map(|home| home.join(".cache")));
    let folder = tools.or_else(|| cache().map(|cache| cache.join("backstop/tools")));
    folder.ok_or_else(|| {
        Failure::Usage("no folder for tools: set `BACKSTOP_TOOLS` to one".to_owned())
    })
}

/// The program in that folder; `install` runs the line that puts it there.
fn ready(
    folder: &Path,
    install: impl FnOnce(&Line) -> Result<(), Failure>,
) -> Result<PathBuf, Failure> {
    let root = folder.join(format!("cargo-deny-{VERSION}"));
    let program = root
        .join("bin")
        .join(format!("cargo-deny{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        install(&installation(&root))?;
    }
    if !program.is_file() {
        return Err(Failure::unreadable(
            format!("`{}`", program.display()),
            "the installation did not make it",
        ));
    }
    Ok(program)
}

/// Its own target folder is left to cargo: what it builds is of no use to the workspace.
fn installation(root: &Path) -> Line {
    cargo("install --debug --locked cargo-deny --version")
        .with(VERSION)
        .with("--root")
        .with(root.to_string_lossy())
        .without("CARGO_TARGET_DIR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folder_of(settings: [&str; 3]) -> Option<PathBuf> {
        tools(settings.map(|value| Some(OsString::from(value)))).ok()
    }

    #[test]
    fn the_folder_of_tools_is_the_named_one_then_the_cache_then_home() {
        assert_eq!(folder_of(["/t", "/c", "/h"]), Some("/t".into()));
        assert_eq!(
            folder_of(["", "/c", "/h"]),
            Some("/c/backstop/tools".into())
        );
        assert_eq!(
            folder_of(["", "", "/h"]),
            Some("/h/.cache/backstop/tools".into())
        );
        assert!(tools([None, None, None]).is_err());
    }

    #[test]
    fn a_missing_program_is_installed_at_its_version_and_a_present_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("cargo-deny-0.20.2");
        let mut installed = String::new();
        let program = ready(folder.path(), |line| {
            installed = line.to_string();
            fs::create_dir_all(root.join("bin")).unwrap();
            fs::write(root.join("bin/cargo-deny"), "").unwrap();
            Ok(())
        });
        assert_eq!(program.unwrap(), root.join("bin/cargo-deny"));
        let wanted = "cargo install --debug --locked cargo-deny --version 0.20.2 --root ";
        assert_eq!(installed, format!("{wanted}{}", root.display()));
        assert!(ready(folder.path(), |_| panic!("it is there")).is_ok());
    }

    #[test]
    fn an_installation_that_makes_no_program_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        assert!(ready(folder.path(), |_| Ok(())).is_err());
    }
}
