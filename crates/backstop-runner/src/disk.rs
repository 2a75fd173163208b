//! How files and directories are opened and created here: no symlink followed, private, synced.
//! Not in it: what is in the files.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Options that follow no symlink, wait for no other end of a pipe and create for the owner alone.
pub(crate) fn private() -> OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options
}

/// Opens a regular file. A symlink, directory, device or pipe fails with `ErrorKind::InvalidInput`.
pub(crate) fn open_regular(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let refused = |words: &str| io::Error::new(io::ErrorKind::InvalidInput, words);
    let file = options
        .open(path)
        .map_err(|e| match Errno::from_io_error(&e) {
            Some(Errno::LOOP) => refused("it is a symlink"),
            _ => e,
        })?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(refused("it is not a regular file"))
}

/// Reads a regular file that others may have made: never waits for it, and takes at most `most` bytes of memory.
/// A longer one fails with `ErrorKind::FileTooLarge`.
pub(crate) fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(private().read(true), path)?;
    let mut bytes = Vec::new();
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= most) {
        return Ok(bytes);
    }
    let words = format!("it has more than {most} bytes");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, words))
}

/// Puts a new file in the place of a file, link, device or pipe that others may have made, durably.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        Ok(()) | Err(_) => {}
    }
    let mut file = private().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_parent(path)
}

/// Puts a new file in the place of an old one, durably: at every moment there is the whole old one or the whole new one.
pub(crate) fn swap(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    replace(&part, bytes)?;
    fs::rename(&part, path)?;
    sync_parent(path)
}

/// Makes the names in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Makes the name of `path` in its directory durable.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_dir(Path::new(".")),
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Creates one directory for the owner alone, durably. Its parent exists; it does not.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    sync_parent(path)
}

/// Creates what is missing of `path`, each directory for the owner alone and durable.
pub(crate) fn create_dirs(path: &Path) -> io::Result<()> {
    let made = match create_dir(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
            create_dirs(parent.ok_or(e)?)?;
            create_dir(path)
        }
        done => done,
    };
    match made {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done,
    }
}
