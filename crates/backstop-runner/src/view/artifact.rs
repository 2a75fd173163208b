//! What an attempt handed over, as reports show it.

use std::path::PathBuf;

use backstop_engine::ArtifactSeen;
use backstop_engine::outcome::Artifact;
use backstop_engine::vocab::{Digest, PhaseKind};
use serde::Serialize;

use crate::blobs::Blobs;
use crate::words;

/// An artifact that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactView {
    /// What it is: told by its shape, but numbers only where numbers are what the phase is for.
    pub form: Artifact,
    /// The same in words.
    pub words: String,
    /// Its content.
    pub digest: Digest,
    /// Where that is kept.
    pub path: Option<PathBuf>,
}

/// What an attempt at Code of a phase of this kind handed over; of another stage where there is no kind. None where nothing
/// was, or it could not be read.
pub(super) fn artifact(
    seen: &ArtifactSeen,
    kind: Option<PhaseKind>,
    blobs: &Blobs,
) -> Option<ArtifactView> {
    let ArtifactSeen::Kept { digest, form, .. } = seen else {
        return None;
    };
    let form = match form {
        // Any outline with a step number and a name in backticks has the shape of numbers.
        Artifact::Numbers if kind != Some(PhaseKind::Benchmark) => Artifact::Text,
        Artifact::Missing | Artifact::Text | Artifact::Numbers | Artifact::Sarif { .. } => *form,
    };
    Some(ArtifactView {
        form,
        words: words::artifact(form),
        digest: *digest,
        path: blobs.path(digest).ok(),
    })
}
