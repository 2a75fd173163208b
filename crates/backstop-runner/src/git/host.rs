//! The host's own git folder of one mission, which no checkout contains, and the mission's place in the operator's
//! repository. What moves between the two is in `keep`.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::call::Call;
use super::plain::is_folder;
use super::{Base, CommitId, Git, GitError, MissionId, Names, Repository};

/// A remote that the operator wants agents to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its address.
    pub url: String,
}

/// One mission's git: the operator's repository, the host's folder, and the names between them.
///
/// Holds no state in memory; two values for one mission are the same. One process drives a mission at a time.
#[derive(Debug, Clone)]
pub struct Host {
    repository: Repository,
    names: Names,
    dir: PathBuf,
}

/// Configuration of the operator that decides what files look like, and is safe to copy: values that name no program.
/// `core.safecrlf` is not among them: the host would then refuse to take what an agent left.
const COPIED: [&str; 4] = ["user.name", "user.email", "core.autocrlf", "core.eol"];

/// What a checkout's configuration says besides: no hooks, no monitor, no signatures, no editor and no tidying while nobody watches.
const UNATTENDED: [(&str, &str); 10] = [
    ("core.bare", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.editor", "true"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("merge.verifySignatures", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

impl Host {
    /// The git side of `mission`, whose folder is `dir`. Makes `dir/git` when it is missing; a half made one is made again.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn open(
        repository: &Repository,
        mission: &MissionId,
        dir: &Path,
        remotes: &[Remote],
    ) -> Result<Self, GitError> {
        let host = Self::at(repository, mission, dir)?;
        if !is_folder(&host.git_dir()) {
            host.make(remotes)?;
        }
        Ok(host)
    }

    /// The git side of a mission as it is found, for looking and giving back; makes nothing.
    ///
    /// # Errors
    /// When the folder's name cannot be made absolute.
    pub fn at(repository: &Repository, mission: &MissionId, dir: &Path) -> Result<Self, GitError> {
        let (repository, names) = (repository.clone(), Names::of(mission));
        let dir = std::path::absolute(dir).map_err(|source| GitError::file("find", dir, source))?;
        Ok(Self {
            repository,
            names,
            dir,
        })
    }

    /// Records the base in the operator's repository, so that nothing a workspace borrows is collected. Again is fine.
    ///
    /// # Errors
    /// When the mission id already has another base.
    pub fn hold(&self, base: &Base) -> Result<(), GitError> {
        match self.repository.tip(&self.names.base())? {
            Some(now) if now == base.commit => Ok(()),
            Some(now) => Err(GitError::MissionTaken {
                mission: self.names.component().to_owned(),
                now,
            }),
            None => self.create(&self.names.base(), &base.commit),
        }
    }

    /// The base; an error when it was never held.
    pub(super) fn base(&self) -> Result<CommitId, GitError> {
        let name = self.names.base();
        self.repository
            .tip(&name)?
            .ok_or(GitError::NoCommit { name })
    }

    /// Leaves these files out of every commit of the mission, whoever makes it; relative to the top of the checkout.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn leave_out(&self, files: &[PathBuf]) -> Result<(), GitError> {
        let list = self.git_dir().join("info/exclude");
        let mut text = fs::read(&list).unwrap_or_default();
        for file in files {
            let line = pattern(file);
            if !text.split(|byte| *byte == b'\n').any(|known| known == line) {
                text.extend(line);
                text.push(b'\n');
            }
        }
        write(&list, &text)
    }

    /// The names of the mission's refs.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The operator's repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The mission's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The host's git folder.
    pub(super) fn git_dir(&self) -> PathBuf {
        self.dir.join("git")
    }

    /// The configuration that each fresh `.git` of a checkout begins with.
    pub(super) fn checkout_config(&self) -> PathBuf {
        self.git_dir().join("checkout.config")
    }

    /// A command on the host's git folder: objects of the operator's repository and its own, no files.
    pub(super) fn call(&self) -> Call {
        bare_call(self.repository.git(), &self.git_dir()).env("GIT_SHALLOW_FILE", self.shallow())
    }

    /// Where the operator's repository says how its history is cut. Read there each time: the operator may deepen it, or cut it shorter.
    pub(super) fn shallow(&self) -> PathBuf {
        self.repository.common_dir().join("shallow")
    }

    /// Removes the host's git folder, when the checkouts are gone.
    ///
    /// # Errors
    /// [`GitError::Unkept`] when a checkout is there still.
    pub fn discard(self) -> Result<(), GitError> {
        for name in ["workspace", "scratch", "review"] {
            let path = self.dir.join(name);
            if fs::symlink_metadata(&path).is_ok() {
                let what = "a checkout of this mission".to_owned();
                return Err(GitError::Unkept { path, what });
            }
        }
        clear(&self.git_dir())
    }

    fn make(&self, remotes: &[Remote]) -> Result<(), GitError> {
        let part = self.dir.join("git.part");
        clear(&part)?;
        fs::create_dir_all(&self.dir)
            .map_err(|source| GitError::file("create", &self.dir, source))?;
        let init = self
            .repository
            .git()
            .at(&self.dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let init = init.args([
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--initial-branch=none",
        ]);
        let format = format!("--object-format={}", self.repository.object_format());
        init.env("GIT_CONFIG_NOSYSTEM", "1")
            .arg(format)
            .arg(&part)
            .done()?;
        write(&part.join("objects/info/alternates"), &self.borrowed())?;
        self.copy_private("info/exclude", &part)?;
        self.copy_private("info/attributes", &part)?;
        self.configure(&part, remotes)?;
        fs::rename(&part, self.git_dir()).map_err(|source| GitError::file("name", &part, source))
    }

    fn configure(&self, part: &Path, remotes: &[Remote]) -> Result<(), GitError> {
        let (own, checkout) = (part.join("config"), part.join("checkout.config"));
        for name in COPIED {
            if let Some(value) = self.repository.setting(name)? {
                self.set(&own, name, &value)?;
            }
        }
        let ignored = self
            .repository
            .call()
            .args(["config", "--type=path", "--get"]);
        let ignored = ignored.arg("core.excludesFile").ended()?.stdout;
        if let Some(file) = ignored.strip_suffix(b"\n").filter(|file| !file.is_empty()) {
            self.set(&own, "core.excludesFile", &String::from_utf8_lossy(file))?;
        }
        fs::copy(&own, &checkout).map_err(|source| GitError::file("copy", &own, source))?;
        for (name, value) in UNATTENDED {
            self.set(&checkout, name, value)?;
        }
        for Remote { name, url } in remotes {
            self.set(&checkout, &format!("remote.{name}.url"), url)?;
            let refs = format!("+refs/heads/*:refs/remotes/{name}/*");
            self.set(&checkout, &format!("remote.{name}.fetch"), &refs)?;
        }
        Ok(())
    }

    fn set(&self, file: &Path, name: &str, value: &str) -> Result<(), GitError> {
        let call = self
            .repository
            .git()
            .at(&self.dir)
            .args(["config", "--file"]);
        call.arg(file).args([name, value]).done()
    }

    /// The line of an alternates file that lends the operator's objects.
    pub(super) fn borrowed(&self) -> Vec<u8> {
        lending(self.repository.objects())
    }

    /// Copies a file of the operator's git folder, if it is there.
    fn copy_private(&self, name: &str, part: &Path) -> Result<(), GitError> {
        let from = self.repository.common_dir().join(name);
        match fs::read(&from) {
            Ok(bytes) => write(&part.join(name), &bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(GitError::file("read", &from, source)),
        }
    }
}

/// A command on a git folder of the host's, with that folder's configuration alone.
pub(super) fn bare_call(git: &Git, git_dir: &Path) -> Call {
    let call = git.at(git_dir).env("GIT_DIR", git_dir);
    let call = call
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    call.env("GIT_ATTR_NOSYSTEM", "1")
}

/// The line that lends the objects in a folder. Other programs that read git folders know no quotes there, and an
/// absolute path needs them for a line end alone.
fn lending(objects: &Path) -> Vec<u8> {
    let plain = objects.as_os_str().as_bytes();
    let mut line = if plain.contains(&b'\n') {
        quoted(objects)
    } else {
        plain.to_vec()
    };
    line.push(b'\n');
    line
}

/// A path as alternates take it, in C quotes: colons, line ends and leading signs lose their meaning.
pub(super) fn quoted(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\n' => out.extend(b"\\n"),
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

/// The one file as a line of an exclude list: anchored, with every sign of a pattern taken literally.
fn pattern(file: &Path) -> Vec<u8> {
    let mut line = vec![b'/'];
    for byte in file.as_os_str().as_bytes() {
        if b"\\*?[]! #".contains(byte) {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line
}

/// Writes a file of the host's and the folders above it, durably.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let failed = |source| GitError::file("write", path, source);
    if let Some(above) = path.parent() {
        fs::create_dir_all(above).map_err(failed)?;
    }
    let mut file = fs::File::create(path).map_err(failed)?;
    std::io::Write::write_all(&mut file, bytes)
        .and_then(|()| file.sync_all())
        .map_err(failed)
}

/// Removes a folder with what is in it, following no link; nothing there is fine. Folders that were made read-only, as some package caches
/// are, are opened first.
pub(super) fn clear(folder: &Path) -> Result<(), GitError> {
    let mut removed = fs::remove_dir_all(folder);
    if removed
        .as_ref()
        .is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    {
        open_up(folder);
        removed = fs::remove_dir_all(folder);
    }
    match removed {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::file("remove", folder, source))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn open_up(folder: &Path) {
    if !is_folder(folder) {
        return;
    }
    // What cannot be opened shows when it is removed.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_up(&entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_left_out_is_no_pattern() {
        assert_eq!(pattern(Path::new(".env.test")), b"/.env.test");
        assert_eq!(pattern(Path::new("a/b*[1] ")), b"/a/b\\*\\[1\\]\\ ");
    }

    #[test]
    fn a_borrowed_folder_is_quoted_where_its_name_needs_it() {
        assert_eq!(lending(Path::new("/a b:\"c")), b"/a b:\"c\n");
        assert_eq!(lending(Path::new("/a\nb")), b"\"/a\\nb\"\n");
        assert_eq!(quoted(Path::new("/a:b")), b"\"/a:b\"");
        assert_eq!(quoted(Path::new("/a\"\\\n")), b"\"/a\\\"\\\\\\n\"");
    }
}
