//! Makes a checkout ready to be worked in: files that git does not track, and the operator's setup commands.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use backstop_engine::vocab::Phase;

use super::Halted;
use super::checks::{STOPPED, shell};
use crate::disk;
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

/// What makes git's global configuration, for what runs in a lane, a file of the mission's own that begins with the
/// operator's: `git config --global` there changes nothing of theirs. Begun anew each time.
///
/// # Errors
/// Words for the operator.
pub(super) fn git_settings(ground: &Ground) -> Result<(OsString, OsString), String> {
    let file = ground.dir.path().join("global.gitconfig");
    let mut text = Vec::new();
    for path in global_files(|name| std::env::var_os(name).filter(|value| !value.is_empty())) {
        text.extend(b"[include]\n\tpath = ");
        text.extend(quoted(&path));
        text.push(b'\n');
    }
    let written = disk::replace(&file, &text);
    written.map_err(|error| format!("cannot write `{}`: {error}", file.display()))?;
    Ok(("GIT_CONFIG_GLOBAL".into(), file.into()))
}

/// Where git finds the operator's global configuration; a file that is not there includes nothing.
fn global_files(var: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(file) = var("GIT_CONFIG_GLOBAL") {
        return vec![file.into()];
    }
    let home = var("HOME").map(PathBuf::from);
    let xdg = var("XDG_CONFIG_HOME").map(PathBuf::from);
    let xdg = xdg.or_else(|| Some(home.as_ref()?.join(".config")));
    let xdg = xdg.map(|folder| folder.join("git/config"));
    xdg.into_iter()
        .chain(home.map(|home| home.join(".gitconfig")))
        .collect()
}

/// A path as a value of git's configuration.
fn quoted(path: &Path) -> Vec<u8> {
    let mut value = vec![b'"'];
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'"' | b'\\' => value.extend([b'\\', *byte]),
            b'\n' => value.extend(b"\\n"),
            _ => value.push(*byte),
        }
    }
    value.push(b'"');
    value
}

/// Why a checkout is not ready.
#[derive(Debug)]
pub(super) enum Unready {
    /// The mission is to stop.
    Stopped,
    /// Words for the operator.
    Failed(String),
}

impl From<String> for Unready {
    fn from(words: String) -> Self {
        Self::Failed(words)
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => STOPPED,
            Self::Failed(words) => words,
        })
    }
}

/// Runs `[workspace] setup` in `dir`.
///
/// # Errors
/// When a command fails, with the end of what it printed. One that fails while the mission is to stop says nothing.
pub(super) async fn set_up(ground: &Ground, dir: &Path, halted: &Halted) -> Result<(), Unready> {
    for command in &ground.settings.setup {
        if *halted.borrow() {
            return Err(Unready::Stopped);
        }
        let ran = shell(ground, Phase::FIRST, command, dir, halted).await;
        let (ended, spooled) = ran.map_err(|words| format!("setup `{command}`: {words}"))?;
        if ended.is_clean() {
            continue;
        }
        if *halted.borrow() {
            return Err(Unready::Stopped);
        }
        let end = spooled.end(&ground.blobs);
        return Err(Unready::Failed(format!(
            "setup `{command}` {}: {end}",
            ended.words()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_reads_what_the_operator_has_told_git() {
        let of = |set: &'static [(&str, &str)]| {
            global_files(move |name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        assert_eq!(
            of(&[("HOME", "/h")]),
            ["/h/.config/git/config", "/h/.gitconfig"].map(PathBuf::from)
        );
        let both = of(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")]);
        assert_eq!(both, ["/x/git/config", "/h/.gitconfig"].map(PathBuf::from));
        let named = of(&[("HOME", "/h"), ("GIT_CONFIG_GLOBAL", "/g")]);
        assert_eq!(named, [PathBuf::from("/g")]);
    }

    #[test]
    fn a_path_is_one_value_of_gits_configuration() {
        assert_eq!(quoted(Path::new("/a b\"\\#;")), b"\"/a b\\\"\\\\#;\"");
    }
}
