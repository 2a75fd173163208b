//! What is configured: the repository's file and the operator's own as one, with the texts that they name.

use std::path::Path;

use backstop_engine::mode::Ceilings;

use super::OpeningError;
use crate::config::{self, ConfigError, File, Prompts};

/// What is configured for a repository.
#[derive(Debug, Clone)]
pub struct Configured {
    /// Both files as one.
    pub file: File,
    /// The ceilings.
    pub ceilings: Ceilings,
    /// The texts that stand in place of built-in prompts.
    pub prompts: Prompts,
}

/// The repository's file over the operator's own, key by key where both are tables of agents, else file by file.
///
/// # Errors
/// When one of them is wrong.
pub fn configuration(root: &Path) -> Result<Configured, OpeningError> {
    let path = root.join(config::FILE_NAME);
    let repository = read(root, &path)?;
    let own = match config::own_path() {
        Some(path) => read(root, &path)?,
        None => None,
    };
    Ok(match (repository, own) {
        (Some(repository), Some(own)) => repository.over(own),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => Configured {
            file: File::default(),
            ceilings: Ceilings::DEFAULT,
            prompts: Prompts::default(),
        },
    })
}

/// How many missions of the repository at `root` work at once. Where the configuration is wrong, as many as where it says
/// nothing: a mission that runs is not held up by a file that is being edited.
#[must_use]
pub fn parallel(root: &Path) -> u16 {
    let run = configuration(root).map(|configured| configured.file.run);
    let run = run.unwrap_or_else(|error| {
        tracing::warn!(%error, "the configuration is wrong: `[run] parallel` is not read");
        config::RunTable::default()
    });
    run.parallel().unwrap_or(config::PARALLEL)
}

impl Configured {
    /// This, with `own` for every part that this leaves out.
    fn over(self, own: Self) -> Self {
        let ceilings = if self.file.ceilings.is_empty() {
            own.ceilings
        } else {
            self.ceilings
        };
        let prompts = if self.prompts == Prompts::default() {
            own.prompts
        } else {
            self.prompts
        };
        Self {
            file: self.file.over(own.file),
            ceilings,
            prompts,
        }
    }
}

fn read(root: &Path, path: &Path) -> Result<Option<Configured>, ConfigError> {
    let Some(file) = config::read(path)? else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Ok(Some(Configured {
        ceilings: config::ceilings(path, &text, &file)?,
        prompts: config::prompts(root, path, &text, &file)?,
        file,
    }))
}
