//! What an attempt leaves: its work in the workspace, its artifact, and the mark that says whether an agent was there at
//! all. How the agent itself ended is not here.

use std::io;
use std::path::{Path, PathBuf};

use backstop_engine::outcome::{Artifact, TouchedPath};
use backstop_engine::vocab::{EffectId, Text};
use backstop_engine::{ArtifactSeen, Head, Order, Role};

use crate::disk;
use crate::edge::Ground;
use crate::git::{GitError, Survey, Unpublished, Workspace, shown};

/// The most of an artifact that is read, in bytes.
const LONGEST_ARTIFACT: u64 = 1 << 20;

/// How many protected paths are named: a record has its bounds, and what an agent touches has none.
const NAMED: usize = 100;

/// What the host finds after an attempt.
pub(super) struct Found {
    pub(super) head: Option<Head>,
    pub(super) protected: Vec<TouchedPath>,
    pub(super) artifact: ArtifactSeen,
    /// What could not be looked at, and why.
    pub(super) trouble: String,
}

impl Found {
    /// Nothing was looked at.
    pub(super) const fn nothing() -> Self {
        Self {
            head: None,
            protected: Vec::new(),
            artifact: ArtifactSeen::Unmeasured,
            trouble: String::new(),
        }
    }
}

/// Where an agent may leave its artifact: a place of this attempt alone, so that an older one is never taken for it.
pub(super) fn artifact_file(ground: &Ground, order: &Order) -> PathBuf {
    let Order {
        phase,
        stage,
        visit,
        attempt,
        ..
    } = order;
    ground
        .dir
        .path()
        .join("artifacts")
        .join(format!("{phase}-{stage}-{visit}-{attempt}"))
}

/// Makes the place for an attempt's artifact empty: what is there before the agent is, others left.
///
/// # Errors
/// Words for the operator.
pub(super) fn clear_artifact(ground: &Ground, order: &Order) -> Result<(), String> {
    let path = artifact_file(ground, order);
    let cleared = match std::fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path),
        Ok(_) => std::fs::remove_file(&path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    cleared.map_err(|error| {
        let place = path.display();
        format!(
            "cannot make the place `{place}` empty for the artifact: {error}; remove it, then retry"
        )
    })
}

/// Names the launch whose agent was the last to be let into the workspace.
fn mark(ground: &Ground) -> PathBuf {
    ground.dir.path().join("entered")
}

/// Records durably that the agent of this launch may be at work from now on.
///
/// # Errors
/// Words for the operator.
pub(super) fn enter(ground: &Ground, launch: EffectId) -> Result<(), String> {
    let mark = mark(ground);
    let written = disk::replace(&mark, launch.to_string().as_bytes());
    written.map_err(|error| format!("cannot write `{}`: {error}", mark.display()))
}

/// Whether the agent of this launch may have been at work. Without the mark it was not: the mark comes first.
pub(super) fn has_entered(ground: &Ground, launch: EffectId) -> bool {
    let named = disk::read_regular(&mark(ground), 64);
    named.is_ok_and(|named| named == launch.to_string().as_bytes())
}

/// Takes what an agent left, whatever its status: nothing that it did is discarded. `message` is its final one, `kind`
/// names its work in the history of the lane.
pub(super) fn find(ground: &Ground, order: &Order, kind: &str, message: Option<&str>) -> Found {
    let mut found = Found::nothing();
    let mut trouble = Vec::new();
    let left = if only_looks(order.role) {
        looked(ground, order)
    } else {
        take(ground, order, kind)
    };
    match left {
        Ok((head, protected)) => (found.head, found.protected) = (Some(head), protected),
        Err(words) => {
            let left = "what the agent left was not taken and is in the workspace still";
            trouble.push(format!("{words}\n{left}: mend this, then retry"));
        }
    }
    match artifact(ground, order, message) {
        Ok(seen) => found.artifact = seen,
        Err(words) => trouble.push(words),
    }
    found.trouble = trouble.join("\n");
    found
}

/// Whether the role works in a checkout of its own, in which nothing counts.
pub(super) const fn only_looks(role: Role) -> bool {
    match role {
        Role::Reviewer | Role::Verifier | Role::ReleaseLead => true,
        Role::Scout | Role::Planner | Role::Implementer => false,
    }
}

/// The lane as it is now: what a role did in a checkout of its own never gets there, and what others did is seen.
fn looked(ground: &Ground, order: &Order) -> Result<(Head, Vec<TouchedPath>), String> {
    let lane = ground
        .lane(order.phase)
        .ok_or("the plan has no such phase")?;
    let say = |error: GitError| error.to_string();
    let name = ground.host.names().lane(lane);
    let tip = ground.host.tip(&name).map_err(say)?;
    let commit = tip.ok_or_else(|| {
        format!(
            "the branch of the lane is gone: put it back with `git update-ref {name} {}`, then retry",
            order.start
        )
    })?;
    let tree = ground.host.repository().tree(&commit).map_err(say)?;
    let base = &ground.charter.fields().base.commit;
    let commits = ground.host.commits(base, &commit).ok();
    let head = Head {
        commit,
        tree,
        commits,
    };
    Ok((head, Vec::new()))
}

/// What a launch left whose agent was never let in: the commit that it was to start on. What is in the workspace is the
/// work of others.
pub(super) fn untouched(ground: &Ground, order: &Order) -> Found {
    let base = &ground.charter.fields().base.commit;
    let head = |tree| Head {
        commit: order.start.clone(),
        tree,
        commits: ground.host.commits(base, &order.start).ok(),
    };
    let mut found = Found::nothing();
    found.artifact = ArtifactSeen::Blank;
    match ground.host.repository().tree(&order.start) {
        Ok(tree) => found.head = Some(head(tree)),
        Err(error) => found.trouble = error.to_string(),
    }
    found
}

fn take(ground: &Ground, order: &Order, kind: &str) -> Result<(Head, Vec<TouchedPath>), String> {
    let message = format!(
        "backstop: {kind}\n\nMission {}, phase {}, {}, visit {}, attempt {}.\n",
        ground.charter.fields().mission,
        order.phase,
        order.stage,
        order.visit,
        order.attempt
    );
    let lane = ground
        .lane(order.phase)
        .ok_or("the plan has no such phase")?;
    let say = |error: GitError| error.to_string();
    let workspace = Workspace::open(&ground.host).map_err(say)?;
    let base = &ground.charter.fields().base.commit;
    let survey = workspace.survey(lane, base, &order.entry).map_err(say)?;
    let taken = workspace.take(lane, &message).map_err(say)?;
    let commits = ground.host.commits(base, &taken.head).ok();
    let head = Head {
        commit: taken.head,
        tree: taken.tree,
        commits,
    };
    let mut protected = protected(ground, &survey);
    let unpublished = workspace.unpublished(base, &head.commit).map_err(say)?;
    protected.extend(
        unpublished
            .iter()
            .take(NAMED)
            .map(|one| nowhere_else(&workspace, one)),
    );
    Ok((head, protected))
}

/// What would be shipped, and would be lost with the workspace.
fn nowhere_else(workspace: &Workspace, one: &Unpublished) -> TouchedPath {
    let Unpublished { submodule, commit } = one;
    let place = workspace.path().join(submodule);
    Text::clip(&format!(
        "`{}`, a submodule: commit {commit} is nowhere but in the workspace; have a remote of it keep it (`git push` in `{}`), then retry",
        shown(submodule),
        shown(&place)
    ))
}

/// The protected paths that differ from the visit's entry; those that are too many to be named are counted.
fn protected(ground: &Ground, survey: &Survey) -> Vec<TouchedPath> {
    let guarded = |path: &Path| {
        ground
            .settings
            .protected
            .iter()
            .any(|rule| match rule.strip_suffix('/') {
                Some(folder) => path.starts_with(folder),
                None => path == Path::new(rule),
            })
    };
    let mut touched = survey.changed.iter().filter(|path| guarded(path));
    let named = touched.by_ref().take(NAMED);
    let mut named: Vec<TouchedPath> = named.map(|path| Text::clip(&shown(path))).collect();
    let more = touched.count();
    if more > 0 {
        named.push(Text::clip(&format!("and {more} more")));
    }
    named
}

/// The file that the agent was told of, or its final message where there is no such file; kept without secrets.
fn artifact(ground: &Ground, order: &Order, message: Option<&str>) -> Result<ArtifactSeen, String> {
    let path = artifact_file(ground, order);
    let failed = |act: &str, error: &dyn std::fmt::Display| {
        format!("the artifact `{}` cannot be {act}: {error}", path.display())
    };
    let file = match disk::read_regular(&path, LONGEST_ARTIFACT) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", &error)),
    };
    let text = file.as_deref().or(message);
    let form = Artifact::read(text);
    match (form, text) {
        (Artifact::Missing, _) | (_, None) => Ok(ArtifactSeen::Blank),
        (Artifact::Text | Artifact::Numbers | Artifact::Sarif { .. }, Some(text)) => {
            let kept = ground.blobs.put(ground.redactor.redact(text).as_bytes());
            let digest = kept.map_err(|error| failed("kept", &error))?;
            let head = Text::clip(&ground.redactor.redact(text));
            Ok(ArtifactSeen::Kept { digest, form, head })
        }
    }
}
