//! Text that people or models wrote: bounded, and stripped of control characters when it is parsed.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Text that is longer than it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text has {length} bytes: use at most {most}")]
pub struct TextError {
    length: usize,
    most: usize,
}

/// Text of at most `MAX` bytes without control characters; newline and tab stay.
///
/// Characters that reorder what a reader sees (Unicode bidirectional controls) count as control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
// INVARIANT: at most MAX bytes of UTF-8, nothing that `is_control` names.
pub struct Text<const MAX: usize>(String);

/// What an operator writes with an answer: at most 8 KiB.
pub type Note = Text<8192>;

/// Whether a reader would see nothing: only white space, control or zero-width characters.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || is_control(c) || is_zero_width(c))
}

fn is_control(c: char) -> bool {
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || reorders
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

impl<const MAX: usize> Text<MAX> {
    /// The text, cut at the last whole character that fits. For what nobody can be asked to shorten.
    #[must_use]
    pub fn clip(text: &str) -> Self {
        let mut kept = String::new();
        for c in text.chars().filter(|c| !is_control(*c)) {
            if kept.len().saturating_add(c.len_utf8()) > MAX {
                break;
            }
            kept.push(c);
        }
        Self(kept)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a reader would see nothing.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        is_blank(&self.0)
    }
}

impl<const MAX: usize> FromStr for Text<MAX> {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        let kept: String = text.chars().filter(|c| !is_control(*c)).collect();
        if kept.len() > MAX {
            return Err(TextError {
                length: kept.len(),
                most: MAX,
            });
        }
        Ok(Self(kept))
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = TextError;
    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> String {
        text.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn control_characters_go_and_newline_and_tab_stay() {
        let text: Text<64> = "a\u{1b}[31mb\r\n\tc\u{7}\u{202e}d".parse().unwrap();
        assert_eq!(text.as_str(), "a[31mb\n\tcd");
    }

    #[test]
    fn long_text_is_refused_when_parsed_and_cut_when_clipped() {
        let words = "12345".parse::<Text<4>>().unwrap_err().to_string();
        assert_eq!(words, "the text has 5 bytes: use at most 4");
        assert_eq!("1234".parse::<Text<4>>().unwrap().to_string(), "1234");
        assert_eq!(Text::<4>::clip("12345").as_str(), "1234");
        assert_eq!(Text::<4>::clip("123é").as_str(), "123");
    }

    #[test]
    fn what_nobody_can_see_is_blank() {
        for blank in [
            "",
            "  \n\t",
            "\u{200b}",
            "\u{feff} \u{2060}",
            "\u{1b}",
            "\u{202e}",
        ] {
            assert!(is_blank(blank), "{blank:?}");
            assert!(Text::<40>::clip(blank).is_blank(), "{blank:?}");
        }
        assert!(!is_blank("."));
        assert!(!Text::<40>::clip(".").is_blank());
    }

    #[test]
    fn a_text_is_written_as_it_is_and_read_without_controls() {
        let text: Text<4> = serde_json::from_str(r#""a\u0007b""#).unwrap();
        assert_eq!(text.as_str(), "ab");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""ab""#);
        assert!(serde_json::from_str::<Text<4>>(r#""12345""#).is_err());
    }

    proptest! {
        #[test]
        fn what_was_parsed_parses_to_itself(text in any::<String>()) {
            let clipped = Text::<40>::clip(&text);
            prop_assert!(clipped.as_str().len() <= 40);
            prop_assert_eq!(clipped.as_str().parse::<Text<40>>().unwrap(), clipped);
        }
    }
}
