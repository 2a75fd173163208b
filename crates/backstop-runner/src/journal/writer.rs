//! Appends records, one write each. Not in it: reading, mending, and the lock, which the caller holds.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use backstop_engine::vocab::{Digest, Timestamp};
use serde::Serialize;

use super::format::{self, Link};
use super::{Durability, JournalError, Medium, Seq};
use crate::disk;

/// What the line buffer keeps between appends, in bytes.
const KEPT: usize = 64 << 10;

/// Creates the journal of a new mission, durably and empty. Its first record is what opens the mission.
///
/// # Errors
/// When there is anything at `path`, or the disk refuses.
pub fn create(path: &Path) -> Result<Writer, JournalError> {
    let created = disk::private().append(true).create_new(true).open(path);
    let file = created.map_err(|e| {
        if e.kind() == io::ErrorKind::AlreadyExists {
            return JournalError::Exists(path.to_owned());
        }
        JournalError::io("create", path)(e)
    })?;
    file.sync_all()
        .and_then(|()| disk::sync_parent(path))
        .map_err(JournalError::io("create", path))?;
    Ok(begin(file, path))
}

/// The writer of a new journal on a medium that is durably empty.
#[must_use]
pub fn begin<M: Medium>(medium: M, path: &Path) -> Writer<M> {
    Writer::behind(medium, path.to_owned(), Link::START)
}

/// The one writer of a journal. After a failed write or sync it takes nothing more.
#[derive(Debug)]
pub struct Writer<M = File> {
    medium: M,
    path: PathBuf,
    link: Link,
    line: Vec<u8>,
    // INVARIANT: false only when every record of the journal is durable.
    riding: bool,
    // INVARIANT: the words of the first failed write or sync; once set, nothing is written.
    poisoned: Option<String>,
}

impl<M: Medium> Writer<M> {
    /// The writer that goes on behind `link`; everything on the medium is durable.
    pub(super) const fn behind(medium: M, path: PathBuf, link: Link) -> Self {
        Self {
            medium,
            path,
            link,
            line: Vec::new(),
            riding: false,
            poisoned: None,
        }
    }

    /// Appends one record, in one write, and syncs it with all that rode before it when asked to.
    ///
    /// # Errors
    /// When the event cannot be written as JSON: nothing was written, and the writer goes on. When the disk
    /// refuses: what of the record is there is not known, and every later append is refused.
    pub fn append(
        &mut self,
        at: Timestamp,
        event: &impl Serialize,
        durability: Durability,
    ) -> Result<Seq, JournalError> {
        self.refuse_if_poisoned()?;
        format::encode(&mut self.line, &self.link, at, event)?;
        let next = self.link.after(&self.line);
        self.line.push(b'\n');
        self.riding = true;
        let written = self.medium.write_all(&self.line);
        self.line.shrink_to(KEPT);
        written.map_err(|e| self.poison("append to", e))?;
        match durability {
            Durability::Sync => self.sync()?,
            Durability::Ride => {}
        }
        let seq = self.link.seq();
        self.link = next;
        Ok(seq)
    }

    /// Makes everything that rode durable; nothing to do when nothing did.
    ///
    /// # Errors
    /// When the disk refuses, now or before.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.refuse_if_poisoned()?;
        if self.riding {
            let synced = self.medium.sync_data();
            synced.map_err(|e| self.poison("sync", e))?;
            self.riding = false;
        }
        Ok(())
    }

    /// The number of the next record, which is the count of those before it.
    #[must_use]
    pub const fn next(&self) -> Seq {
        self.link.seq()
    }

    /// The digest of the last record; all zeroes before the first.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.link.head()
    }

    /// Where the journal is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn refuse_if_poisoned(&self) -> Result<(), JournalError> {
        match &self.poisoned {
            None => Ok(()),
            Some(cause) => Err(JournalError::Poisoned {
                path: self.path.clone(),
                cause: cause.clone(),
            }),
        }
    }

    fn poison(&mut self, act: &'static str, source: io::Error) -> JournalError {
        self.poisoned = Some(source.to_string());
        JournalError::io(act, &self.path)(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use std::collections::BTreeMap;

    fn over(device: &str) -> Writer {
        let file = File::options().append(true).open(device).unwrap();
        Writer::behind(file, device.into(), Link::START)
    }

    fn append(writer: &mut Writer, durability: Durability) -> Result<Seq, JournalError> {
        writer.append(Timestamp::from_millis(1), &"event", durability)
    }

    #[test]
    fn a_failed_write_poisons_the_writer_with_its_cause() {
        let mut writer = over("/dev/full");
        let first = append(&mut writer, Durability::Ride).unwrap_err();
        assert!(first.to_string().contains("free some space"), "{first}");
        for later in [
            append(&mut writer, Durability::Ride).map(drop),
            writer.sync(),
        ] {
            let later = later.unwrap_err();
            assert!(matches!(later, JournalError::Poisoned { .. }), "{later}");
            assert!(
                later.to_string().contains("No space left on device"),
                "{later}"
            );
        }
        assert_eq!(writer.next(), Seq(0));
    }

    #[test]
    fn a_failed_sync_poisons_the_writer_though_the_write_went_well() {
        // The device takes every write and has nothing to sync.
        let mut writer = over("/dev/null");
        append(&mut writer, Durability::Ride).unwrap();
        let first = append(&mut writer, Durability::Sync).unwrap_err();
        assert!(
            matches!(first, JournalError::Io { act: "sync", .. }),
            "{first}"
        );
        let later = append(&mut writer, Durability::Ride).unwrap_err();
        assert!(matches!(later, JournalError::Poisoned { .. }), "{later}");
    }

    #[test]
    fn an_event_that_is_not_one_line_of_json_is_refused_and_poisons_nothing() {
        let mut writer = over("/dev/null");
        let many_lines = RawValue::from_string("{\n}".to_owned()).unwrap();
        let too_long = "x".repeat(format::LONGEST);
        let no_key = BTreeMap::from([((1, 2), 3)]);
        let refused = [
            writer.append(Timestamp::default(), &many_lines, Durability::Ride),
            writer.append(Timestamp::default(), &too_long, Durability::Ride),
            writer.append(Timestamp::default(), &no_key, Durability::Ride),
        ];
        for refused in refused {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, JournalError::Unwritable(_)), "{refused}");
        }
        append(&mut writer, Durability::Ride).unwrap();
    }
}
