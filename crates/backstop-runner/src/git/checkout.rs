//! A checkout that agents work in, seen from the host: its files through the host's git folder and the host's index,
//! its objects as data. Says what differs from a commit; decides nothing about it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::call::{Call, parts};
use super::host::{clear, quoted, write};
use super::keep::{changed, raw_entries};
use super::plain::{is_folder, path};
use super::{CommitId, Digest, GitError, Host};

/// How deep repositories inside of repositories are entered.
const DEEPEST: usize = 8;

/// One of the two checkouts of a mission.
#[derive(Debug, Clone)]
pub(super) struct Checkout {
    pub(super) host: Host,
    /// `workspace` or `scratch`; also the name of its folder.
    name: &'static str,
}

/// What differs from a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Tracked files that changed or are gone, and files that are neither tracked nor ignored. Ascending.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Folders that are repositories of their own; their files are among the paths.
    pub(super) nested: Vec<PathBuf>,
}

impl Checkout {
    pub(super) fn new(host: &Host, name: &'static str) -> Self {
        let host = host.clone();
        Self { host, name }
    }

    /// The folder with the files.
    pub(super) fn top(&self) -> PathBuf {
        self.host.dir().join(self.name)
    }

    /// The host's index of it.
    pub(super) fn index(&self) -> PathBuf {
        self.private("index")
    }

    /// A file of the host's about this checkout.
    pub(super) fn private(&self, what: &str) -> PathBuf {
        self.host.git_dir().join(format!("{}.{what}", self.name))
    }

    /// A command of the host's with this checkout's objects, without its files.
    pub(super) fn objects_call(&self) -> Call {
        let objects = self.top().join(".git/objects");
        if !objects.exists() {
            // Git would complain of it beside whatever it has to say.
            return self.host.call();
        }
        let objects = quoted(&objects);
        let objects = std::ffi::OsStr::from_bytes(&objects);
        self.host
            .call()
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
    }

    /// A command of the host's on the files below `folder`, with the index at `index`.
    fn files_call(&self, folder: &Path, index: &Path) -> Call {
        let call = self
            .objects_call()
            .env("GIT_WORK_TREE", folder)
            .set("core.bare=false");
        call.env("GIT_INDEX_FILE", index).inside(folder)
    }

    pub(super) fn call(&self) -> Call {
        self.files_call(&self.top(), &self.index())
    }

    /// Whether the folder was made to the end. Only then has an agent been there.
    pub(super) fn is_made(&self) -> bool {
        self.private("made").exists()
    }

    /// The same where a folder that cannot be looked into is not one that was never made.
    pub(super) fn was_made(&self) -> Result<bool, GitError> {
        let made = self.private("made");
        fs::exists(&made).map_err(|source| GitError::file("look for", &made, source))
    }

    /// Makes the folder with the files of `commit`. What an earlier call left half made is removed; what Backstop did not make is not.
    pub(super) fn make(&self, commit: &CommitId) -> Result<(), GitError> {
        let (top, begun) = (self.top(), self.private("begun"));
        if begun.exists() {
            clear(&top)?;
        } else if fs::read_dir(&top).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(GitError::Occupied { path: top });
        }
        write(&begun, b"")?;
        fs::create_dir_all(&top).map_err(|source| GitError::file("create", &top, source))?;
        remove_file(&self.index())?;
        self.fill(commit)
    }

    /// Records that the folder is complete.
    pub(super) fn made(&self) -> Result<(), GitError> {
        write(&self.private("made"), b"")
    }

    /// Makes tracked files those of `commit`, whatever they are now. Other files stay, unless in the way.
    pub(super) fn fill(&self, commit: &CommitId) -> Result<(), GitError> {
        self.unlock()?;
        self.call()
            .args(["read-tree", "--reset", "-u", commit.as_str()])
            .done()
    }

    /// Removes files that are neither tracked nor ignored, repositories of their own included.
    pub(super) fn sweep(&self) -> Result<(), GitError> {
        self.call().args(["clean", "-ffdq"]).done()
    }

    /// What differs from `commit`. Afterwards the host's index is that of `commit`.
    pub(super) fn differences(&self, commit: &CommitId) -> Result<Differences, GitError> {
        self.unlock()?;
        self.call()
            .args(["read-tree", "--reset", commit.as_str()])
            .done()?;
        // Exit status 1 says that something differs.
        self.call()
            .args(["update-index", "-q", "--refresh", "--ignore-submodules"])
            .holds()?;
        let changed = self
            .call()
            .args(["diff-files", "-z", "--raw", "--no-renames"]);
        let changed = changed.arg("--ignore-submodules=dirty").bytes()?;
        let mut found = Differences::default();
        // A link that is one still counts as it was committed: what its folder has is not the host's to tell.
        let entries = raw_entries(&changed).into_iter();
        let files = entries.filter(|(mode, _)| *mode != b"160000");
        found.paths.extend(files.map(|(_, name)| path(name)));
        let untracked = self.untracked(&self.top(), &self.index())?;
        self.expand(Path::new(""), untracked, DEEPEST, &mut found)?;
        for link in self.accidental_links(commit)? {
            // The link gives way to the files behind it.
            found.paths.insert(link.clone());
            let mut folder = link.into_os_string();
            folder.push("/");
            self.expand(Path::new(""), vec![folder.into()], DEEPEST, &mut found)?;
        }
        Ok(found)
    }

    /// Links to other repositories that `commit` has and the base has not, that no `.gitmodules` names and whose repository is here:
    /// what `git add` makes of a repository that a tool created inside the checkout.
    fn accidental_links(&self, commit: &CommitId) -> Result<Vec<PathBuf>, GitError> {
        let links = self.links(&self.host.base()?, commit)?;
        if links.is_empty() {
            return Ok(links);
        }
        let modules = self.objects_call().args(["config", "-z", "--blob"]);
        let modules = modules.arg(format!("{commit}:.gitmodules"));
        let modules = modules
            .args(["--get-regexp", r"^submodule\..*\.path$"])
            .ended()?
            .stdout;
        let registered =
            parts(&modules).filter_map(|entry| entry.splitn(2, |byte| *byte == b'\n').nth(1));
        let registered: BTreeSet<_> = registered.map(path).collect();
        let accident = |link: &PathBuf| {
            !registered.contains(link) && is_folder(&self.top().join(link).join(".git"))
        };
        Ok(links.into_iter().filter(accident).collect())
    }

    /// Links to commits of other repositories that are new or differ between two commits.
    pub(super) fn links(&self, from: &CommitId, to: &CommitId) -> Result<Vec<PathBuf>, GitError> {
        let raw = changed(self.objects_call(), from, to)?;
        let entries = raw_entries(&raw).into_iter();
        Ok(entries
            .filter(|(mode, _)| *mode == b"160000")
            .map(|(_, link)| path(link))
            .collect())
    }

    /// Writes the tree of the present files, given what differs from the index.
    pub(super) fn tree_with(&self, found: &Differences) -> Result<Digest, GitError> {
        let top = self.top();
        let zero = "0".repeat(self.hex_length());
        let (mut gone, mut present) = (Vec::new(), Vec::new());
        for path in &found.paths {
            if is_present(&top, path) {
                present.extend([path.as_os_str().as_bytes(), b"\0"].concat());
            } else {
                gone.extend(
                    [
                        format!("0 {zero}\t").as_bytes(),
                        path.as_os_str().as_bytes(),
                        b"\0",
                    ]
                    .concat(),
                );
            }
        }
        let removing = self.call().args(["update-index", "-z", "--index-info"]);
        removing.input(gone).done()?;
        let adding = self
            .call()
            .args(["update-index", "--add", "--replace", "-z", "--stdin"]);
        adding.input(present).done()?;
        let tree = self.call().arg("write-tree").line()?;
        Digest::git_tree(&tree).map_err(|_| super::call::unreadable("write-tree", tree.as_bytes()))
    }

    fn hex_length(&self) -> usize {
        if self.host.repository().object_format() == "sha256" {
            64
        } else {
            40
        }
    }

    /// Files below `folder` that are neither in the index nor ignored; a repository of its own is one entry that ends in `/`.
    fn untracked(&self, folder: &Path, index: &Path) -> Result<Vec<PathBuf>, GitError> {
        let call = self.files_call(folder, index);
        let listed = call
            .args(["ls-files", "--others", "--exclude-standard", "-z"])
            .bytes()?;
        Ok(parts(&listed).map(path).collect())
    }

    /// Adds untracked entries to what was found. Of a repository of its own its files are taken, as plain files: a link to a
    /// commit that only that folder has would keep nothing.
    fn expand(
        &self,
        below: &Path,
        entries: Vec<PathBuf>,
        depth: usize,
        found: &mut Differences,
    ) -> Result<(), GitError> {
        for entry in entries {
            if !entry.as_os_str().as_bytes().ends_with(b"/") {
                found.paths.insert(below.join(entry));
                continue;
            }
            let folder = below.join(entry.components().as_path());
            found.nested.push(folder.clone());
            if let Some(depth) = depth.checked_sub(1) {
                let inner = self.untracked(&self.top().join(&folder), &self.private("no-index"))?;
                let inner = self.without_ignored(&folder, inner)?;
                self.expand(&folder, inner, depth, found)?;
            }
        }
        Ok(())
    }

    /// Leaves out what the outer repository ignores.
    fn without_ignored(
        &self,
        folder: &Path,
        inner: Vec<PathBuf>,
    ) -> Result<Vec<PathBuf>, GitError> {
        // A name that begins with a colon would be read as a pattern.
        let asked = |entry: &PathBuf| {
            Path::new("./")
                .join(folder)
                .join(entry)
                .into_os_string()
                .into_vec()
        };
        let mut names = Vec::new();
        for entry in &inner {
            names.extend(asked(entry));
            names.push(0);
        }
        let call = self
            .call()
            .args(["check-ignore", "--no-index", "-z", "--stdin"]);
        let ignored = call.input(names).found()?;
        let ignored: BTreeSet<_> = parts(&ignored).collect();
        Ok(inner
            .into_iter()
            .filter(|entry| !ignored.contains(asked(entry).as_slice()))
            .collect())
    }

    /// Removes a lock on the host's index: only the host writes it, one process a mission, so its owner was killed.
    fn unlock(&self) -> Result<(), GitError> {
        if !is_folder(&self.top()) {
            return Err(GitError::damaged(&self.top(), "the folder is gone"));
        }
        remove_file(&self.private("index.lock"))
    }
}

/// Whether a file or link is there by real folders: through a link it would be somebody else's file.
fn is_present(top: &Path, path: &Path) -> bool {
    let own = |above: &Path| above.as_os_str().is_empty() || is_folder(&top.join(above));
    let file = fs::symlink_metadata(top.join(path));
    path.ancestors().skip(1).all(own) && file.is_ok_and(|file| file.is_file() || file.is_symlink())
}

pub(super) fn remove_file(file: &Path) -> Result<(), GitError> {
    match fs::remove_file(file) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::file("remove", file, source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
