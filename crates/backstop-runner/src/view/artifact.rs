//! What an attempt handed over, as reports show it.

use std::path::PathBuf;

use backstop_engine::ArtifactSeen;
use backstop_engine::outcome::Artifact;
use backstop_engine::vocab::Digest;
use serde::Serialize;

use crate::blobs::Blobs;
use crate::words;

/// An artifact that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactView {
    /// What it is, told by its shape.
    pub form: Artifact,
    /// The same in words.
    pub words: String,
    /// Its content.
    pub digest: Digest,
    /// Where that is kept.
    pub path: Option<PathBuf>,
}

/// None where nothing was handed over or it could not be read.
pub(super) fn artifact(seen: &ArtifactSeen, blobs: &Blobs) -> Option<ArtifactView> {
    match seen {
        ArtifactSeen::Unmeasured | ArtifactSeen::Blank => None,
        ArtifactSeen::Kept { digest, form, .. } => Some(ArtifactView {
            form: *form,
            words: words::artifact(*form),
            digest: *digest,
            path: blobs.path(digest).ok(),
        }),
    }
}
