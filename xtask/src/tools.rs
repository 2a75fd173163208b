//! Programs of other people that checks use: each at one version, installed in a folder of its own when it is missing.
//!
//! Deliberately absent: what they are used for.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::program::{Line, cargo};

/// A program and its version.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// The name of the program and of its package.
    pub(crate) name: &'static str,
    /// The version that is installed.
    pub(crate) version: &'static str,
}

impl Tool {
    /// Finds the program, or installs it first.
    pub(crate) fn ready(self, root: &Path) -> Result<PathBuf, Failure> {
        self.ready_in(&folder()?, |line| line.run(root))
    }

    /// The program in that folder; `install` runs the line that puts it there.
    fn ready_in(
        self,
        folder: &Path,
        install: impl FnOnce(&Line) -> Result<(), Failure>,
    ) -> Result<PathBuf, Failure> {
        let Self { name, version } = self;
        let root = folder.join(format!("{name}-{version}"));
        let program = root
            .join("bin")
            .join(format!("{name}{}", env::consts::EXE_SUFFIX));
        if !program.is_file() {
            install(&self.installation(&root))?;
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
    fn installation(self, root: &Path) -> Line {
        cargo("install --debug --locked")
            .with(self.name)
            .with("--version")
            .with(self.version)
            .with("--root")
            .with(root.to_string_lossy())
            .without("CARGO_TARGET_DIR")
    }
}

/// The folder of tools, and of what they keep between runs.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let settings = ["BACKSTOP_TOOLS", "XDG_CACHE_HOME", "HOME"].map(env::var_os);
    let none = || Failure::Usage("no folder for tools: set `BACKSTOP_TOOLS` to one".to_owned());
    named(settings).ok_or_else(none)
}

/// The folder of tools, from `BACKSTOP_TOOLS`, `XDG_CACHE_HOME` and `HOME`; an empty one is as good as none.
fn named(settings: [Option<OsString>; 3]) -> Option<PathBuf> {
    let [tools, cache, home] =
        settings.map(|value| value.filter(|text| !text.is_empty()).map(PathBuf::from));
    let cache = || cache.or_else(|| home.map(|home| home.join(".cache")));
    tools.or_else(|| cache().map(|cache| cache.join("backstop/tools")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const DENY: Tool = Tool {
        name: "cargo-deny",
        version: "0.20.2",
    };

    fn folder_of(settings: [&str; 3]) -> Option<PathBuf> {
        named(settings.map(|value| Some(OsString::from(value))))
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
        assert_eq!(named([None, None, None]), None);
    }

    #[test]
    fn a_missing_program_is_installed_at_its_version_and_a_present_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("cargo-deny-0.20.2");
        let mut installed = String::new();
        let program = DENY.ready_in(folder.path(), |line| {
            installed = line.to_string();
            fs::create_dir_all(root.join("bin")).unwrap();
            fs::write(root.join("bin/cargo-deny"), "").unwrap();
            Ok(())
        });
        assert_eq!(program.unwrap(), root.join("bin/cargo-deny"));
        let wanted = "cargo install --debug --locked cargo-deny --version 0.20.2 --root ";
        assert_eq!(installed, format!("{wanted}{}", root.display()));
        let again = DENY.ready_in(folder.path(), |_| panic!("it is there"));
        assert!(again.is_ok());
    }

    #[test]
    fn an_installation_that_makes_no_program_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DENY.ready_in(folder.path(), |_| Ok(())).is_err());
    }
}
