//! Git at the edge, through the git command line: the operator's repository, a mission's checkouts, the refs that keep
//! every commit, landing and shipping. All of it is synchronous; call it where blocking is allowed.
//!
//! Agents own what is inside a checkout, its `.git` folder included: they may write configuration, hooks, filters,
//! attributes, alternates and links there. So the host never runs git on a checkout's own `.git`. Each mission has a git
//! folder of the host's ([`Host`]), outside every checkout, and host commands run with `GIT_DIR` there, `GIT_WORK_TREE`
//! at the checkout, an index of the host's, and neither global nor system configuration; the checkout's object folder
//! is borrowed as plain data. With no driver in any configuration that is read, attributes in the tree name filters that
//! do not exist. HEAD and refs of a checkout are read as plain files. Writing back is done by replacing the
//! whole `.git` folder by a fresh one, so nothing that an agent left there outlives its attempt, but for the git folders of submodules. The alternative, to write a
//! known configuration over the agent's before each command, was left because `commondir`, `config.worktree`,
//! `info/attributes`, links inside `refs` and a running race all lead around it.
//!
//! The operator's repository receives objects, refs below `refs/backstop/<mission>/`, and at a ship one branch;
//! never a change of its index, files, stash, configuration or other refs.
//!
//! Deliberately absent: fetching and pushing over a network, `git stash`, any checkout in the operator's repository,
//! and git hooks (the host's commands run none).

mod call;
mod checkout;
mod diff;
mod error;
mod fitness;
mod folder;
mod holdings;
mod host;
mod keep;
mod names;
mod plain;
mod repository;
mod scratch;
mod ship;
mod submodules;
mod survey;
mod workspace;

pub(crate) use backstop_engine::vocab::{CommitId, Digest, MissionId, Phase, PhaseKind};

pub use call::Git;
pub use error::{GitError, shown};
pub use fitness::{Fitness, Notice, Unfit};
pub use holdings::Holding;
pub use host::{Host, Remote};
pub use keep::Landed;
pub use names::{LaneRef, Names};
pub use repository::{Base, Repository};
pub use scratch::{Bench, Scratch};
pub use ship::{Merged, Shipped};
pub use submodules::Unpublished;
pub use survey::{Standing, Survey};
pub use workspace::{Taken, Workspace};
