//! Splits a stream of bytes into lines of text, whatever the bytes.
//!
//! Deliberately absent: meaning. Whether a line is an event is for the adapters.

/// The longest line that is handed on whole: 1 MiB.
pub const MOST_LINE: usize = 1 << 20;

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The text; bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// How many bytes of an overlong line were left out after `text`; 0 for a whole line.
    pub cut: u64,
}

/// Bytes in, lines out. Holds at most one line of the longest length.
#[derive(Debug)]
pub struct Lines {
    // INVARIANT: at most `most` bytes, none of them a newline.
    held: Vec<u8>,
    cut: u64,
    most: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(MOST_LINE)
    }
}

impl Lines {
    /// Splits into lines of at most `most` bytes; what is longer is cut, and marked as cut.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            held: Vec::new(),
            cut: 0,
            most,
        }
    }

    /// Takes the next bytes; `each` gets every line that they complete.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Line)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.hold(&rest[..end]);
            each(self.take());
            rest = &rest[end + 1..];
        }
        self.hold(rest);
    }

    /// The last line, when it had no end.
    pub fn finish(&mut self) -> Option<Line> {
        let empty = self.held.is_empty() && self.cut == 0;
        (!empty).then(|| self.take())
    }

    fn hold(&mut self, bytes: &[u8]) {
        let fits = bytes.len().min(self.most - self.held.len());
        self.held.extend_from_slice(&bytes[..fits]);
        self.cut += (bytes.len() - fits) as u64;
    }

    fn take(&mut self) -> Line {
        // A new buffer each time: one long line must not hold its memory for ever.
        let mut held = std::mem::take(&mut self.held);
        let mut cut = std::mem::take(&mut self.cut);
        if cut == 0 && held.last() == Some(&b'\r') {
            held.pop();
        }
        if cut > 0 {
            let torn = torn_end(&held);
            held.truncate(held.len() - torn);
            cut += torn as u64;
        }
        let text = String::from_utf8(held)
            .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
        Line { text, cut }
    }
}

/// How many bytes at the end begin a character that the cut tore apart.
fn torn_end(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        Some(chunk)
            if std::str::from_utf8(chunk.invalid()).is_err_and(|bad| bad.error_len().is_none()) =>
        {
            chunk.invalid().len()
        }
        _ => 0,
    }
}
