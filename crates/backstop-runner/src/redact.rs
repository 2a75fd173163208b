//! Secrets are taken out of text before it is journalled, kept or shown: by value, for those in the
//! environment, and by shape, for well-known tokens, key blocks, assignments and passwords in URLs.
//!
//! Deliberately absent: any promise for a secret that has neither a known value nor a known shape. Time is
//! linear in the text, whatever the text is.

mod shapes;
mod stream;
mod values;

use std::borrow::Cow;
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;

pub use stream::Stream;
use values::Values;

/// What is recognised as a secret. Cheap to search with; build it once.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    values: Values,
}

/// A secret, and what to call it.
struct Found<'a> {
    place: Range<usize>,
    label: &'a str,
}

impl Redactor {
    /// Recognises shapes alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Recognises shapes, and the values of those variables whose names say that they are secret: that
    /// contain `KEY`, `TOKEN`, `SECRET`, `PASSWORD`, `CREDENTIAL` or the like, and do not name a place.
    /// Values of fewer than 8 bytes and plain numbers are left alone, since they occur by chance.
    #[must_use]
    pub fn of_environment(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut redactor = Self::new();
        for (name, value) in vars {
            let name = name.to_string_lossy();
            if values::names_a_secret(&name) {
                redactor = redactor.with(&name, value.as_bytes());
            }
        }
        redactor
    }

    /// Recognises `value` too, as it is, in JSON and in URLs, and calls it `name`. A value of fewer than 8
    /// bytes or a plain number changes nothing.
    #[must_use]
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        self.values.add(name, value);
        self
    }

    /// The text without its secrets: each is replaced by `[redacted: …]`, which says what it was.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
            ),
        }
    }

    /// The bytes without their secrets. Bytes that are not UTF-8 stay as they are.
    #[must_use]
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut clean = Vec::new();
        let mut done = 0;
        while let Some(found) = self.find(bytes, done) {
            clean.extend_from_slice(&bytes[done..found.place.start]);
            mark(&mut clean, found.label);
            done = found.place.end;
        }
        if done == 0 {
            return Cow::Borrowed(bytes);
        }
        clean.extend_from_slice(&bytes[done..]);
        Cow::Owned(clean)
    }

    /// For text that comes in pieces, such as the output of a process.
    #[must_use]
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// The first secret that begins at `from` or later.
    fn find(&self, text: &[u8], from: usize) -> Option<Found<'_>> {
        let found = (from..text.len()).find_map(|i| self.at(text, i))?;
        Some(self.widen(text, found))
    }

    /// The secret that is recognised by what is at `i`; it may begin later.
    fn at(&self, text: &[u8], i: usize) -> Option<Found<'_>> {
        if let Some((length, label)) = self.values.at(text, i) {
            let place = i..i + length;
            return Some(Found { place, label });
        }
        let (place, label) = shapes::at(text, i)?;
        Some(Found { place, label })
    }

    /// Takes in the known values that begin inside what was found and end behind it.
    fn widen<'a>(&'a self, text: &[u8], mut found: Found<'a>) -> Found<'a> {
        let mut i = found.place.start;
        while i < found.place.end {
            if let Some((length, label)) = self.values.at(text, i)
                && i + length > found.place.end
            {
                found.place.end = i + length;
                found.label = label;
            }
            i += 1;
        }
        found
    }
}

/// Writes what stands in the place of a secret.
fn mark(clean: &mut Vec<u8>, label: &str) {
    clean.extend_from_slice(b"[redacted: ");
    clean.extend_from_slice(label.as_bytes());
    clean.push(b']');
}
