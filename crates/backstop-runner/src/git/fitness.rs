//! Whether a mission can work on a repository: what forbids it, and what the operator should know first.
//! Refusing and printing are the caller's.

use std::fmt;
use std::path::{Path, PathBuf};

use super::call::parts;
use super::error::shown;
use super::{Base, GitError, Repository};

/// A reason not to start, with what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The base leads to no commit.
    #[error("`{name}` has no commit yet: make a first commit, or name another base")]
    NoBase {
        /// The base as named.
        name: String,
    },
    /// Nobody to commit as.
    #[error("git has no `{missing}` here: run `git config --global {missing} \"…\"`")]
    NoIdentity {
        /// The configuration that is missing.
        missing: &'static str,
    },
    /// Objects are fetched on demand, which a mission never does.
    #[error(
        "this is a partial clone, whose missing objects a mission cannot fetch: run `git fetch --refetch --no-filter` first, or use a full clone"
    )]
    Partial,
    /// Attributes of the base name content filters (LFS, encryption, notebooks).
    #[error("`{}` sends files through the filter `{filter}`, which the host does not run: use a base without it, or a clone where those files are plain", shown(.attributes))]
    Filter {
        /// The attributes file.
        attributes: PathBuf,
        /// The filter's name; `lfs` for git LFS.
        filter: String,
    },
}

/// Something that works, in a way the operator may not expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// HEAD is on no branch.
    Detached,
    /// The repository has no checkout.
    Bare,
    /// History is cut.
    Shallow,
    /// The operator's checkout is sparse.
    Sparse,
    /// Submodules of the base.
    Submodules(Vec<PathBuf>),
    /// Hooks of the operator.
    Hooks(PathBuf),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detached => f.write_str(
                "the base is on no branch: ship as a branch, `merge` has nothing to move",
            ),
            Self::Bare => f.write_str(
                "the repository is bare: there is no checkout to read a configuration from",
            ),
            Self::Shallow => f.write_str("history is shallow: agents see no commit before the cut"),
            Self::Sparse => f.write_str("your checkout is sparse: the workspace has all files"),
            Self::Submodules(paths) => write!(
                f,
                "submodules stay empty unless `[workspace] setup` fills them, and changes inside them are not kept: {}",
                paths
                    .iter()
                    .map(|path| format!("`{}`", shown(path)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Self::Hooks(path) => write!(
                f,
                "hooks in `{}` do not run in a mission: name what they check as host checks",
                shown(path)
            ),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitness {
    /// Reasons not to start, all of them.
    pub unfit: Vec<Unfit>,
    /// What to say before starting.
    pub notices: Vec<Notice>,
}

impl Repository {
    /// Whether a mission can start from `base` (none means HEAD).
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn fitness(&self, base: Option<&str>) -> Result<Fitness, GitError> {
        let mut found = Fitness::default();
        match self.resolve_commit(base) {
            Ok(base) => self.judge_tree(&base, &mut found)?,
            Err(GitError::NoCommit { name }) => found.unfit.push(Unfit::NoBase { name }),
            Err(other) => return Err(other),
        }
        for missing in ["user.name", "user.email"] {
            if self.setting(missing)?.is_none() {
                found.unfit.push(Unfit::NoIdentity { missing });
            }
        }
        let promisor = [
            "config",
            "--get-regexp",
            r"^(remote\..*\.promisor|extensions\.partialclone)$",
        ];
        if self.call().args(promisor).holds()? {
            found.unfit.push(Unfit::Partial);
        }
        self.notice_shape(&mut found.notices)?;
        Ok(found)
    }

    fn judge_tree(&self, base: &Base, found: &mut Fitness) -> Result<(), GitError> {
        if base.branch.is_none() {
            found.notices.push(Notice::Detached);
        }
        found.unfit.extend(self.filters(base)?);
        let listed = self
            .call()
            .args(["ls-tree", "-r", "-z", base.commit.as_str()])
            .bytes()?;
        let links = parts(&listed).filter_map(|entry| entry.strip_prefix(b"160000 "));
        let links = links.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        let links: Vec<_> = links.map(super::plain::path).collect();
        if !links.is_empty() {
            found.notices.push(Notice::Submodules(links));
        }
        Ok(())
    }

    fn filters(&self, base: &Base) -> Result<Vec<Unfit>, GitError> {
        let mut filters = Vec::new();
        let listed = self
            .call()
            .args(["ls-tree", "-r", "-z", "--name-only", base.commit.as_str()]);
        let listed = listed.bytes()?;
        let own =
            |path: &&[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
        for name in parts(&listed).filter(own) {
            let attributes = super::plain::path(name);
            let mut object = std::ffi::OsString::from(format!("{}:", base.commit));
            object.push(&attributes);
            let text = self.call().args(["cat-file", "blob"]).arg(object).bytes()?;
            self.add_filters(&attributes, &text, &mut filters)?;
        }
        let private = self.common_dir().join("info/attributes");
        let text = std::fs::read(&private).unwrap_or_default();
        self.add_filters(&private, &text, &mut filters)?;
        Ok(filters)
    }

    /// Adds the filters that an attributes file names and that change files here.
    fn add_filters(
        &self,
        attributes: &Path,
        text: &[u8],
        filters: &mut Vec<Unfit>,
    ) -> Result<(), GitError> {
        for filter in named_filters(&String::from_utf8_lossy(text)) {
            if self.has_filter(&filter)? {
                let attributes = attributes.to_owned();
                filters.push(Unfit::Filter { attributes, filter });
            }
        }
        Ok(())
    }

    /// Whether files would differ: without a driver git leaves them as they are, but for LFS they are pointers all the same.
    fn has_filter(&self, name: &str) -> Result<bool, GitError> {
        let drivers = self
            .call()
            .args(["config", "--name-only", "--list"])
            .bytes()?;
        let drivers = String::from_utf8_lossy(&drivers);
        let own = format!("filter.{name}.");
        Ok(name == "lfs" || drivers.lines().any(|line| line.starts_with(&own)))
    }

    fn notice_shape(&self, notices: &mut Vec<Notice>) -> Result<(), GitError> {
        if self.is_bare() {
            notices.push(Notice::Bare);
        }
        if self.is_shallow() {
            notices.push(Notice::Shallow);
        }
        if self.setting("core.sparseCheckout")?.as_deref() == Some("true") {
            notices.push(Notice::Sparse);
        }
        // The command line turns hooks off, so git's own answer about them is not the operator's.
        let configured = self
            .call()
            .args(["config", "--get-all", "core.hooksPath"])
            .bytes()?;
        let configured = String::from_utf8_lossy(&configured);
        let configured = configured.lines().rfind(|line| *line != "/dev/null");
        let default = || self.common_dir().join("hooks");
        let hooks = configured.map_or_else(default, PathBuf::from);
        if configured.is_some() || has_hooks(&hooks) {
            notices.push(Notice::Hooks(hooks));
        }
        Ok(())
    }
}

fn has_hooks(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .any(|path| path.extension().is_none_or(|end| end != "sample"))
}

/// The filters that lines of an attributes file set, each once.
fn named_filters(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words = lines.flat_map(|line| line.split_whitespace().skip(1));
    let mut filters: Vec<_> = words
        .filter_map(|word| word.strip_prefix("filter="))
        .map(ToOwned::to_owned)
        .collect();
    filters.sort_unstable();
    filters.dedup();
    filters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_found_in_attributes_and_comments_are_not() {
        let text = "*.bin filter=lfs diff=lfs -text\n# *.x filter=no\n*.c text\n*.ipynb filter=strip\n*.gif filter=lfs\n";
        assert_eq!(named_filters(text), ["lfs", "strip"]);
        assert!(named_filters("*.c -filter text").is_empty());
    }
}
