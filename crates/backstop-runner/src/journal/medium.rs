//! What a journal is written on. Not in it: what is written.

use std::fs::File;
use std::io;

/// The file of a journal, or what stands for it in a simulated world. What is written is added at the end.
pub trait Medium: io::Read + io::Write {
    /// Returns when the content is durable.
    ///
    /// # Errors
    /// When the disk refuses.
    fn sync_data(&self) -> io::Result<()>;

    /// Returns when content and length are durable.
    ///
    /// # Errors
    /// When the disk refuses.
    fn sync_all(&self) -> io::Result<()>;

    /// Cuts off what is behind `length`.
    ///
    /// # Errors
    /// When the disk refuses.
    fn set_len(&self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn sync_data(&self) -> io::Result<()> {
        Self::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        Self::sync_all(self)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        Self::set_len(self, length)
    }
}
