//! `deny`: a pinned cargo-deny over licences, sources and duplicates, installed when it is missing.
//!
//! Deliberately absent: advisories, whose database changes under a commit; deny.toml configures them for
//! whoever runs `cargo deny check advisories`.

use crate::failure::Failure;
use crate::program::{Line, cargo};
use crate::repo::Repo;
use crate::tools::Tool;

const DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// Finds or installs cargo-deny, fetches the locked crates, and checks them without a network.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    let program = DENY.ready(&repo.root)?;
    cargo("fetch --locked").run(&repo.root)?;
    let arguments = "--offline check bans licenses sources";
    Line::new(&program.to_string_lossy(), arguments).run(&repo.root)
}
