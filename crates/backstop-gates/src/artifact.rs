//! Kinds of artifact, and the digests that are current when a gate is asked. No content here.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use backstop_vocab::{Digest, HandoffId};
use serde::{Deserialize, Serialize};

/// A name that cannot be an artifact kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not an artifact kind: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`")]
pub struct KindError {
    found: String,
}

/// What an artifact is, such as `findings` or `diff_review`: 1 to 64 of `a-z 0-9 . _ -`, lower-cased once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
// INVARIANT: the form that every Backstop id has.
pub struct ArtifactKind(HandoffId);

impl ArtifactKind {
    /// The kind that comes nearest to `text`: what it cannot hold is left out, and what is too long is cut.
    #[must_use]
    pub fn clip(text: &str) -> Self {
        Self(HandoffId::clip(text))
    }

    /// The kind as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for ArtifactKind {
    type Err = KindError;
    fn from_str(text: &str) -> Result<Self, KindError> {
        text.parse().map(Self).map_err(|_| KindError {
            found: text.chars().take(64).collect(),
        })
    }
}

impl TryFrom<String> for ArtifactKind {
    type Error = KindError;
    fn try_from(text: String) -> Result<Self, KindError> {
        text.parse()
    }
}

impl From<ArtifactKind> for String {
    fn from(kind: ArtifactKind) -> String {
        kind.0.into()
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is there to be judged now: the tree, and the newest artifact of each kind. What was not measured is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The tree of the lane's branch head.
    #[serde(default)]
    pub tree: Option<Digest>,
    /// Artifacts by kind.
    #[serde(default)]
    pub artifacts: BTreeMap<ArtifactKind, Digest>,
}

impl Judged {
    /// This tree, and no artifact.
    #[must_use]
    pub const fn of_tree(tree: Digest) -> Self {
        Self {
            tree: Some(tree),
            artifacts: BTreeMap::new(),
        }
    }

    /// The same with this artifact as the newest of its kind.
    #[must_use]
    pub fn with(mut self, kind: ArtifactKind, digest: Digest) -> Self {
        self.artifacts.insert(kind, digest);
        self
    }
}
