//! Bounded lists of bounded texts: findings and paths. What they mean for the loop is in `judge`.

use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use backstop_vocab::Text;
use serde::{Deserialize, Serialize};

/// A list with more entries than it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the list has {length} entries: use at most {most}")]
pub struct TooMany {
    length: usize,
    most: usize,
}

/// A list of at most `MOST` entries.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(serialize = "T: Clone + Serialize"))]
// INVARIANT: at most MOST entries.
pub struct AtMost<T, const MOST: usize>(Vec<T>);

impl<T, const MOST: usize> AtMost<T, MOST> {
    /// The first entries, as many as fit. For what nobody can be asked to shorten.
    pub fn clip(entries: impl IntoIterator<Item = T>) -> Self {
        Self(entries.into_iter().take(MOST).collect())
    }

    /// The entries.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T, const MOST: usize> Default for AtMost<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MOST: usize> TryFrom<Vec<T>> for AtMost<T, MOST> {
    type Error = TooMany;
    fn try_from(entries: Vec<T>) -> Result<Self, TooMany> {
        let (length, most) = (entries.len(), MOST);
        if length > most {
            return Err(TooMany { length, most });
        }
        Ok(Self(entries))
    }
}

impl<T, const MOST: usize> From<AtMost<T, MOST>> for Vec<T> {
    fn from(list: AtMost<T, MOST>) -> Self {
        list.0
    }
}

/// Text that is no finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingError {
    /// A reader would see nothing.
    #[error("a finding is blank: say what has to change")]
    Blank,
    /// More than 300 characters.
    #[error("a finding has {length} characters: use at most {}", Finding::LONGEST)]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
}

/// The summary of one open finding: 1 to 300 characters, not blank.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
// INVARIANT: 1 to 300 characters, not blank; no control characters but newline and tab.
pub struct Finding(Text<1200>);

impl Finding {
    /// The longest summary, in characters.
    pub const LONGEST: usize = 300;

    /// The first 300 characters of the text; none when a reader would see nothing in them.
    #[must_use]
    pub fn clip(text: &str) -> Option<Self> {
        let visible = Text::<{ usize::MAX }>::clip(text.trim());
        let kept: String = visible.as_str().chars().take(Self::LONGEST).collect();
        kept.parse().ok()
    }

    /// The summary.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for Finding {
    type Err = FindingError;
    fn from_str(text: &str) -> Result<Self, FindingError> {
        let whole = Text::<{ usize::MAX }>::clip(text);
        if whole.is_blank() {
            return Err(FindingError::Blank);
        }
        let length = whole.as_str().chars().count();
        if length > Self::LONGEST {
            return Err(FindingError::TooLong { length });
        }
        Ok(Self(Text::clip(whole.as_str())))
    }
}

impl TryFrom<String> for Finding {
    type Error = FindingError;
    fn try_from(text: String) -> Result<Self, FindingError> {
        text.parse()
    }
}

impl From<Finding> for String {
    fn from(finding: Finding) -> Self {
        finding.0.into()
    }
}

/// The open findings of one review or one red check: at most 50.
pub type Findings = AtMost<Finding, 50>;

/// A path in the repository, as git prints it: at most 4 KiB.
pub type Path = Text<4096>;

/// The paths that a repair touched: at most 1000; [`AtMost::clip`] keeps the first of more.
pub type Paths = AtMost<Path, 1000>;
