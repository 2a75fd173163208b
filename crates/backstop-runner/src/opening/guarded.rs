//! Which paths of the repository a configured file stands for: no agent may change what the next agent is told.

use std::path::{Component, Path, PathBuf};

/// The places of `named` inside the repository at `root`, relative to it: where it is named, and where that leads to. None
/// for a file outside.
pub(super) fn within(root: &Path, named: &Path) -> Vec<String> {
    let place = plain(&root.join(named));
    let real = |path: &Path| path.canonicalize().ok();
    let named = place.strip_prefix(plain(root)).ok().map(Path::to_owned);
    let target = real(&place)
        .zip(real(root))
        .and_then(|(target, root)| Some(target.strip_prefix(root).ok()?.to_owned()));
    let mut paths: Vec<String> = [named, target]
        .into_iter()
        .flatten()
        .filter_map(|path| path.to_str().map(ToOwned::to_owned))
        .collect();
    paths.dedup();
    paths
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_guarded_by_every_way_to_it_inside_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir(root.join("prompts")).unwrap();
        fs::write(root.join("prompts/a.md"), "a").unwrap();
        fs::write(outside.path().join("b.md"), "b").unwrap();
        symlink("prompts/a.md", root.join("link.md")).unwrap();
        symlink(outside.path().join("b.md"), root.join("out.md")).unwrap();
        let whole = root.join("prompts/a.md");
        for (named, wanted) in [
            ("prompts/a.md", &["prompts/a.md"][..]),
            ("./prompts/../prompts/a.md", &["prompts/a.md"]),
            (whole.to_str().unwrap(), &["prompts/a.md"]),
            ("link.md", &["link.md", "prompts/a.md"]),
            ("out.md", &["out.md"]),
            (outside.path().join("b.md").to_str().unwrap(), &[]),
            ("../b.md", &[]),
        ] {
            assert_eq!(within(root, Path::new(named)), wanted, "{named}");
        }
    }
}
