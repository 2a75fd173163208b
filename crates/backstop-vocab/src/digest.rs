//! What a thing is, by its content: SHA-256 of bytes, or a git tree. Two kinds are never equal.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use crate::hex;

/// A digest or commit id that does not have the right form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {wanted}")]
pub struct DigestError {
    value: String,
    wanted: &'static str,
}

impl DigestError {
    fn new(value: &str, wanted: &'static str) -> Self {
        Self {
            value: value
                .chars()
                .take(100)
                .collect::<String>()
                .trim()
                .to_owned(),
            wanted,
        }
    }
}

/// The content of an artifact (`sha256:…`) or of a git tree (`git-tree:…`, SHA-1 or SHA-256 repository).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Digest {
    /// SHA-256 of bytes.
    Sha256([u8; 32]),
    /// A tree object of a repository with SHA-1 names.
    GitTreeSha1([u8; 20]),
    /// A tree object of a repository with SHA-256 names.
    GitTreeSha256([u8; 32]),
}

impl Digest {
    /// The SHA-256 digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::Sha256(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of a git tree, from the name that git prints for it.
    ///
    /// # Errors
    /// When `name` is not 40 or 64 hexadecimal digits.
    pub fn git_tree(name: &str) -> Result<Self, DigestError> {
        let sha1 = hex::read(name).map(Self::GitTreeSha1);
        sha1.or_else(|| hex::read(name).map(Self::GitTreeSha256))
            .ok_or_else(|| DigestError::new(name, "a git tree name: 40 or 64 hexadecimal digits"))
    }

    /// The digits alone, without the kind; for file names and git commands.
    #[must_use]
    pub fn digits(&self) -> String {
        struct Digits<'a>(&'a [u8]);
        impl fmt::Display for Digits<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                hex::write(self.0, f)
            }
        }
        Digits(self.bytes()).to_string()
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Sha256(bytes) | Self::GitTreeSha256(bytes) => bytes,
            Self::GitTreeSha1(bytes) => bytes,
        }
    }
}

const DIGEST_FORM: &str =
    "a digest: `sha256:` and 64 hexadecimal digits, or `git-tree:` and 40 or 64";

impl FromStr for Digest {
    type Err = DigestError;
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let refused = || DigestError::new(text, DIGEST_FORM);
        match text.split_once(':') {
            Some((kind, digits)) if kind.eq_ignore_ascii_case("sha256") => {
                hex::read(digits).map(Self::Sha256).ok_or_else(refused)
            }
            Some((kind, digits)) if kind.eq_ignore_ascii_case("git-tree") => {
                Self::git_tree(digits).map_err(|_| refused())
            }
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256(_) => "sha256:",
            Self::GitTreeSha1(_) | Self::GitTreeSha256(_) => "git-tree:",
        })?;
        hex::write(self.bytes(), f)
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;
    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

/// A commit of the repository: 40 or 64 hexadecimal digits. Names history; what is judged is the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
// INVARIANT: 40 or 64 lower-case hexadecimal digits.
pub struct CommitId(String);

impl CommitId {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CommitId {
    type Err = DigestError;
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.len() == 40 || text.len() == 64;
        if digits && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(DigestError::new(
            text,
            "a commit id: 40 or 64 hexadecimal digits",
        ))
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for CommitId {
    type Error = DigestError;
    fn try_from(text: String) -> Result<Self, DigestError> {
        text.parse()
    }
}

impl From<CommitId> for String {
    fn from(commit: CommitId) -> String {
        commit.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    #[test]
    fn two_kinds_of_digest_are_never_equal() {
        let digits = "ab".repeat(32);
        let artifact: Digest = format!("sha256:{digits}").parse().unwrap();
        let tree: Digest = format!("git-tree:{digits}").parse().unwrap();
        assert_ne!(artifact, tree);
    }

    #[test]
    fn a_digest_is_lower_cased_and_printed_back() {
        let upper = format!("SHA256:{}", "AB".repeat(32));
        assert_eq!(
            upper.parse::<Digest>().unwrap().to_string(),
            upper.to_ascii_lowercase()
        );
        let tree = format!("git-tree:{}", "0f".repeat(20));
        assert_eq!(tree.parse::<Digest>().unwrap().to_string(), tree);
        assert_eq!(tree.parse::<Digest>().unwrap().digits(), "0f".repeat(20));
    }

    #[test]
    fn the_digest_of_bytes_is_sha_256() {
        // FIPS 180-4, the empty message.
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
    }

    #[test]
    fn malformed_digests_are_refused() {
        let short = format!("sha256:{}", "ab".repeat(31));
        let odd = format!("git-tree:{}a", "ab".repeat(20));
        for bad in [
            "",
            "sha256:",
            "git-tree:",
            "abc",
            "md5:abcd",
            &short,
            &odd,
            "sha256:zz",
        ] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
        let (sha1, sha256) = ("ab".repeat(20), "ab".repeat(32));
        for digits in [sha1, sha256] {
            let other = format!("md5:{digits}");
            assert!(other.parse::<Digest>().is_err(), "{other}");
        }
        for bad in ["", "HEAD", &"g".repeat(40), &"a".repeat(41)] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_commit_id_is_forty_or_sixty_four_digits_lower_cased() {
        for length in [40, 64] {
            let digits = "a".repeat(length);
            let id: CommitId = "A".repeat(length).parse().unwrap();
            assert_eq!((id.as_str(), id.to_string()), (&*digits, digits.clone()));
            let wire = format!("\"{digits}\"");
            assert_eq!(serde_json::to_string(&id).unwrap(), wire);
            assert_eq!(serde_json::from_str::<CommitId>(&wire).unwrap(), id);
        }
    }

    #[test]
    fn a_digest_is_written_as_it_is_printed() {
        let digest = Digest::of(b"");
        let wire = serde_json::to_string(&digest).unwrap();
        assert_eq!(wire, format!("\"{digest}\""));
        assert_eq!(serde_json::from_str::<Digest>(&wire).unwrap(), digest);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,100}") {
            let _ = text.parse::<Digest>();
            let _ = text.parse::<CommitId>();
        }

        #[test]
        fn a_printed_digest_parses_to_itself(bytes in any::<[u8; 32]>(), tree in any::<[u8; 20]>()) {
            for digest in [Digest::Sha256(bytes), Digest::GitTreeSha1(tree), Digest::GitTreeSha256(bytes)] {
                prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
            }
        }
    }
}
