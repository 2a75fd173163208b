//! Makes a checkout ready to be worked in: files that git does not track, and the operator's setup commands.

use std::path::{Component, Path, PathBuf};

use backstop_engine::vocab::Phase;

use super::Halted;
use super::checks::shell;
use crate::edge::Ground;

/// Copies `[workspace] copy` from the operator's checkout into `to`.
///
/// # Errors
/// Words for the operator.
pub(super) fn copy(ground: &Ground, to: &Path) -> Result<(), String> {
    for name in &ground.settings.copy {
        let name = Path::new(name);
        if !name
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(format!(
                "`[workspace] copy` names `{}`, which leads out of the repository: use a path inside it",
                name.display()
            ));
        }
        let from = ground.host.repository().root().join(name);
        place(&from, to, name).map_err(|error| {
            format!(
                "cannot copy `{}` into the workspace: {error}: check `[workspace] copy`",
                from.display()
            )
        })?;
    }
    Ok(())
}

/// Copies one file to `name` below `to`, through no link that a checkout may hold.
fn place(from: &Path, to: &Path, name: &Path) -> std::io::Result<()> {
    let mut folder = PathBuf::from(to);
    for part in name.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match std::fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(std::io::ErrorKind::NotADirectory.into()),
            Err(_) => std::fs::create_dir(&folder)?,
        }
    }
    let target = to.join(name);
    let bytes = std::fs::read(from)?;
    match std::fs::remove_file(&target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::fs::write(target, bytes)
}

/// Runs `[workspace] setup` in `dir`.
///
/// # Errors
/// Words for the operator, with the end of what the command printed.
pub(super) async fn set_up(ground: &Ground, dir: &Path, halted: &Halted) -> Result<(), String> {
    for command in &ground.settings.setup {
        let ran = shell(ground, Phase::FIRST, command, dir, halted).await;
        let (ended, spooled) = ran.map_err(|words| format!("setup `{command}`: {words}"))?;
        if !ended.is_clean() {
            let end = spooled.end(&ground.blobs);
            return Err(format!("setup `{command}` {}: {end}", ended.words()));
        }
    }
    Ok(())
}
