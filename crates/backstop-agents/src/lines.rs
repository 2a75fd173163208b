//! Bytes into lines: torn reads, CRLF, invalid UTF-8, and lines that are too long to keep.

/// The longest line that is kept, in bytes; the rest of it is dropped and marked.
const LONGEST: usize = 1 << 20;

/// What stands at the end of a line that was cut.
const CUT: &str = " … [cut]";

/// Collects bytes until a line is whole. At most 1 MiB is held.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    held: Vec<u8>,
    cut: bool,
}

impl Lines {
    /// Takes bytes and gives the lines that they complete, without their ends. Invalid UTF-8 is replaced, and lines without
    /// a byte are left out.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.all(bytes).into_iter().flatten().collect()
    }

    /// As [`Self::take`], with none for a line without a byte.
    pub(crate) fn all(&mut self, bytes: &[u8]) -> Vec<Option<String>> {
        let mut whole = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.split_last() {
                Some((b'\n', body)) => {
                    self.hold(body);
                    whole.push(self.rest());
                    // `rest` leaves the mark where there was no line.
                    self.cut = false;
                }
                Some(_) => self.hold(part),
                None => {}
            }
        }
        whole
    }

    /// What is left when no more bytes come.
    pub fn rest(&mut self) -> Option<String> {
        if self.held.is_empty() {
            return None;
        }
        let bytes = std::mem::take(&mut self.held);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(&bytes);
        let mut line = String::from_utf8_lossy(bytes).into_owned();
        if std::mem::take(&mut self.cut) {
            line.push_str(CUT);
        }
        Some(line)
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.held.len());
        self.cut |= bytes.len() > room;
        self.held.extend(bytes.iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn torn_reads_crlf_and_bad_utf_8_give_whole_lines() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"on"), Vec::<String>::new());
        assert_eq!(lines.take(b"e\r\ntw\xffo\nthr"), ["one", "tw\u{fffd}o"]);
        assert_eq!(lines.rest().as_deref(), Some("thr"));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_line_over_a_mebibyte_is_cut_and_says_so() {
        let mut lines = Lines::default();
        for _ in 0..4 {
            assert!(lines.take(&vec![b'x'; LONGEST / 2]).is_empty());
        }
        let line = lines.take(b"\nnext\n");
        assert_eq!(line[0].len(), LONGEST + CUT.len());
        assert!(line[0].ends_with(CUT));
        assert_eq!(line[1], "next");
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(text in "[a-c\r\n]{0,60}", at in 0_usize..60) {
            let at = at.min(text.len());
            let mut once = Lines::default();
            let mut twice = Lines::default();
            let mut torn = twice.take(&text.as_bytes()[..at]);
            torn.extend(twice.take(&text.as_bytes()[at..]));
            prop_assert_eq!(once.take(text.as_bytes()), torn);
            prop_assert_eq!(once.rest(), twice.rest());
        }
    }
}
