//! What `cargo metadata` says of the workspace: packages, what they declare, what was resolved.

use std::path::Path;

use serde::Deserialize;

use crate::failure::Failure;
use crate::program::cargo;

/// The workspace, as cargo resolves it.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// Every package of the graph.
    pub(crate) packages: Vec<Package>,
    /// The ids of our own packages.
    pub(crate) workspace_members: Vec<String>,
    /// Who uses whom, features and targets applied.
    pub(crate) resolve: Resolve,
}

/// A package.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    /// Its id in the graph.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// What its manifest declares, on all targets, optional or not.
    pub(crate) dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// The name of the package depended on.
    pub(crate) name: String,
    /// None for a normal dependency.
    pub(crate) kind: Option<Kind>,
}

/// What a dependency is for, when it is not for the package itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// For tests and examples.
    Dev,
    /// For a build script.
    Build,
}

/// The resolved graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    /// One for each package.
    pub(crate) nodes: Vec<Node>,
}

/// A package in the graph.
#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    /// The package.
    pub(crate) id: String,
    /// What it uses.
    pub(crate) deps: Vec<Edge>,
}

/// A use of one package by another.
#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    /// The package used.
    pub(crate) pkg: String,
    /// What for.
    pub(crate) dep_kinds: Vec<EdgeKind>,
}

/// One reason for a use.
#[derive(Debug, Deserialize)]
pub(crate) struct EdgeKind {
    /// None for a normal dependency.
    pub(crate) kind: Option<Kind>,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`, with more arguments.
    pub(crate) fn ask(root: &Path, more: &str) -> Result<Self, Failure> {
        let line = cargo(&format!("metadata --format-version 1 {more}"));
        let said = line.read(root)?;
        serde_json::from_str(&said).map_err(|error| Failure::unreadable(line.to_string(), error))
    }

    /// Our own packages.
    pub(crate) fn ours(&self) -> impl Iterator<Item = &Package> {
        let members = &self.workspace_members;
        self.packages
            .iter()
            .filter(|package| members.contains(&package.id))
    }

    /// The package of that id.
    pub(crate) fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }
}

#[cfg(test)]
pub(crate) mod planted {
    //! A workspace of empty crates on disk.

    use super::*;
    use std::fs;

    /// What cargo says of a workspace of these crates, each with the tables of its manifest.
    pub(crate) fn workspace(crates: &[(&str, &str)]) -> Metadata {
        let folder = tempfile::tempdir().unwrap();
        let root = "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n";
        fs::write(folder.path().join("Cargo.toml"), root).unwrap();
        for (name, tables) in crates {
            let at = folder.path().join(name);
            fs::create_dir_all(at.join("src")).unwrap();
            fs::write(at.join("src/lib.rs"), "").unwrap();
            let head = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
            fs::write(at.join("Cargo.toml"), format!("{head}{tables}")).unwrap();
        }
        Metadata::ask(folder.path(), "--offline").unwrap()
    }

    /// A table of path dependencies.
    pub(crate) fn table(kind: &str, names: &[&str]) -> String {
        let lines: Vec<String> = names
            .iter()
            .map(|name| format!("{name} = {{ path = \"../{name}\" }}\n"))
            .collect();
        format!("[{kind}]\n{}", lines.concat())
    }
}
