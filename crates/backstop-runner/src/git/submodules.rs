//! Submodules of a checkout. Their git folders are the agents' and outlive each fresh `.git`, because nothing else has their commits; the
//! host reads them as data and runs nothing there. Nothing is brought out of them: a submodule has a remote of its own to be pushed to.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::call::{Call, parts};
use super::checkout::Checkout;
use super::host::quoted;
use super::keep::existing;
use super::plain::{Plain, is_folder, path};
use super::{CommitId, GitError, Workspace};

/// How deep submodules of submodules, and folders in the name of one, are entered.
const DEEPEST: usize = 8;

/// A submodule's commit that no remote of it is known to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpublished {
    /// The submodule, from the top of the checkout.
    pub submodule: PathBuf,
    /// The commit.
    pub commit: CommitId,
}

/// The git folder of a submodule.
struct Module {
    /// Its name, which is its path unless somebody renamed it.
    name: PathBuf,
    folder: PathBuf,
}

impl Workspace {
    /// The submodules whose commit in `head` differs from that in `base`, and that nobody but this workspace is known to have.
    ///
    /// # Errors
    /// When that cannot be told.
    pub fn unpublished(
        &self,
        base: &CommitId,
        head: &CommitId,
    ) -> Result<Vec<Unpublished>, GitError> {
        let checkout = self.checkout();
        let links = checkout.links(base, head)?;
        if links.is_empty() {
            return Ok(Vec::new());
        }
        let own = checkout.commits_linked(base)?;
        let modules = checkout.modules(&links);
        let mut found = Vec::new();
        for (submodule, commit) in checkout.linked(head)? {
            if !links.contains(&submodule) {
                continue;
            }
            let published = modules
                .iter()
                .map(|module| checkout.is_published(module, &commit, &own));
            if !published.collect::<Result<Vec<_>, _>>()?.contains(&true) {
                found.push(Unpublished { submodule, commit });
            }
        }
        Ok(found)
    }

    /// Whether the submodules hold no commit that would be lost with them.
    pub(super) fn modules_are_kept(&self, base: &CommitId) -> Result<(), GitError> {
        let checkout = self.checkout();
        let own = checkout.commits_linked(base)?;
        let head = Plain::read(&self.path())?;
        let head = head.commit().unwrap_or(base).clone();
        let links = checkout.links(base, &head)?;
        for module in checkout.modules(&links) {
            let Ok(plain) = Plain::of(&module.folder) else {
                continue;
            };
            let branches = plain.refs.iter().filter(|(name, _)| !is_remote(name));
            let tips = branches.map(|(_, at)| at).chain(plain.commit());
            for tip in tips {
                if !checkout.is_published(&module, tip, &own)? {
                    let path = self.path().join(&module.name);
                    let what = format!(
                        "commit `{tip}` of a submodule, which no remote of it is known to have: push it"
                    );
                    return Err(GitError::Unkept { path, what });
                }
            }
        }
        Ok(())
    }
}

impl Checkout {
    /// Carries the git folders of submodules over from the `.git` that was replaced. Again is fine.
    pub(super) fn keep_modules(&self) -> Result<(), GitError> {
        let own = self.top().join(".git");
        let (from, to) = (self.private("worn").join("modules"), own.join("modules"));
        if !is_folder(&from) || !is_folder(&own) || fs::symlink_metadata(&to).is_ok() {
            return Ok(());
        }
        fs::rename(&from, &to).map_err(|source| GitError::file("move", &from, source))
    }

    /// The submodules of a commit and where it pins them.
    fn linked(&self, commit: &CommitId) -> Result<Vec<(PathBuf, CommitId)>, GitError> {
        let call = self.objects_call().args(["ls-tree", "-r", "-z"]);
        let listed = call.arg(commit.as_str()).bytes()?;
        let links = parts(&listed).filter_map(|entry| {
            let entry = entry.strip_prefix(b"160000 commit ")?;
            let mut words = entry.splitn(2, |byte| *byte == b'\t');
            let id = std::str::from_utf8(words.next()?).ok()?;
            Some((path(words.next()?), id.parse().ok()?))
        });
        Ok(links.collect())
    }

    /// The commits of submodules that a commit names, which others have.
    fn commits_linked(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let linked = self.linked(commit)?.into_iter();
        Ok(linked.map(|(_, commit)| commit).collect())
    }

    /// The git folders of submodules: those in `.git`, and those in the folders that `links` name.
    fn modules(&self, links: &[PathBuf]) -> Vec<Module> {
        let mut found = Vec::new();
        let within = self.top().join(".git/modules");
        gather(&within, Path::new(""), DEEPEST, &mut found);
        for name in links {
            let folder = self.top().join(name).join(".git");
            if is_folder(&folder) {
                let name = name.clone();
                found.push(Module { name, folder });
            }
        }
        found
    }

    /// Whether a commit is here in the history of a branch that the submodule has from a remote, or of one that is `known`.
    fn is_published(
        &self,
        module: &Module,
        commit: &CommitId,
        known: &[CommitId],
    ) -> Result<bool, GitError> {
        let Ok(plain) = Plain::of(&module.folder) else {
            return Ok(false);
        };
        let remote = plain.refs.iter().filter(|(name, _)| is_remote(name));
        let remote = remote.map(|(_, at)| at).chain(known).cloned();
        let here = existing(self.module_call(module), std::slice::from_ref(commit))?;
        if here.is_empty() {
            return Ok(false);
        }
        let remote: Vec<_> = remote.collect();
        for at in existing(self.module_call(module), &remote)? {
            let call = self
                .module_call(module)
                .args(["merge-base", "--is-ancestor"]);
            if call.args([commit.as_str(), at.as_str()]).holds()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A command of the host's with a submodule's objects.
    fn module_call(&self, module: &Module) -> Call {
        let objects = OsString::from_vec(quoted(&module.folder.join("objects")));
        let call = self
            .host
            .call()
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects);
        call.env("GIT_SHALLOW_FILE", module.folder.join("shallow"))
    }
}

fn is_remote(name: &str) -> bool {
    name.starts_with("refs/remotes/")
}

/// Git folders below `within`, those of submodules inside them included.
fn gather(within: &Path, name: &Path, depth: usize, found: &mut Vec<Module>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let (folder, name) = (entry.path(), name.join(entry.file_name()));
        if !is_folder(&folder) {
            continue;
        }
        if is_folder(&folder.join("objects")) {
            gather(&folder.join("modules"), &name, depth, found);
            found.push(Module { name, folder });
        } else {
            gather(&folder, &name, depth, found);
        }
    }
}
