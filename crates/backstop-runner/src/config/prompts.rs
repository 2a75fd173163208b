//! The texts of `[prompts]`: read once, when a mission opens.

use std::collections::BTreeMap;
use std::fs::{self, File as Disk};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use backstop_engine::Role;
use toml::Spanned;

use super::{ConfigError, File};
use crate::proposing::Asked;
use crate::template::{Fault, Named, Placeholder, Template};

/// The longest text of a prompt, in bytes.
pub const LONGEST_PROMPT: usize = 16 << 10;

/// What agents are told in place of the built-in prompts; templates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    /// Of each role.
    pub roles: BTreeMap<Role, String>,
    /// Of whoever is asked for a plan.
    pub plan_propose: Option<String>,
}

/// The texts that `file` names, which is `text` and came from `path`. They are looked for from `root`.
///
/// # Errors
/// A file that cannot be read as text, is blank or too long, with the place of its key; or what is wrong in it, with
/// the place there.
pub fn prompts(root: &Path, path: &Path, text: &str, file: &File) -> Result<Prompts, ConfigError> {
    let read = |named: &Spanned<PathBuf>, whose: &str, check: Check| {
        let place = root.join(named.get_ref());
        let prompt = read(&place).map_err(|why| {
            let words = format!("the prompt of {whose} {why}");
            ConfigError::at(path, text, named.span(), &words)
        })?;
        check(&prompt)
            .map_err(|fault| ConfigError::at(&place, &prompt, fault.span, &fault.words))?;
        Ok(prompt)
    };
    let mut roles = BTreeMap::new();
    for role in Role::ALL {
        if let Some(named) = file.prompts.of(role) {
            let prompt = read(named, &format!("the {role}"), holds::<Placeholder>)?;
            roles.insert(role, prompt);
        }
    }
    let asking = file.prompts.plan_propose.as_ref();
    let asking = asking.map(|named| read(named, "`plan propose`", holds::<Asked>));
    Ok(Prompts {
        roles,
        plan_propose: asking.transpose()?,
    })
}

/// Whether a text is a template.
type Check = fn(&str) -> Result<(), Fault>;

fn holds<P: Named>(text: &str) -> Result<(), Fault> {
    Template::<P>::parse(text).map(drop)
}

fn read(path: &Path) -> Result<String, String> {
    let unreadable = |error: &dyn std::fmt::Display| {
        format!(
            "cannot be read from `{}`: {error}: write that file, or remove this key",
            path.display()
        )
    };
    // Anything else could keep the reader waiting for ever.
    let found = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if !found.is_file() {
        return Err(unreadable(&"it is no regular file"));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST_PROMPT).unwrap_or(u64::MAX);
    let disk = Disk::open(path).map_err(|error| unreadable(&error))?;
    let mut disk = disk.take(most.saturating_add(1));
    disk.read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() > LONGEST_PROMPT {
        return Err(format!(
            "is longer than {LONGEST_PROMPT} bytes: shorten `{}`, or have it name files to read",
            path.display()
        ));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("is not UTF-8: save `{}` as UTF-8", path.display()))?;
    if text.trim().is_empty() {
        return Err(format!(
            "is blank: fill in `{}`, or remove this key",
            path.display()
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    /// What `[prompts]` with a reviewer's prompt of these bytes says.
    fn loaded(bytes: Option<&[u8]>) -> Result<Prompts, String> {
        let dir = tempfile::tempdir().unwrap();
        if let Some(bytes) = bytes {
            fs::write(dir.path().join("reviewer.md"), bytes).unwrap();
        }
        let path = dir.path().join("backstop.toml");
        let text = "mode = \"auto\"\n[prompts]\nreviewer = \"reviewer.md\"\n";
        let file = parse(&path, text).unwrap();
        prompts(dir.path(), &path, text, &file).map_err(|error| error.to_string())
    }

    #[test]
    fn the_text_is_read_as_it_stands() {
        let longest = "ä".repeat(LONGEST_PROMPT / 2);
        for text in ["Judge {goal}.\n", &longest] {
            let found = loaded(Some(text.as_bytes())).unwrap();
            assert_eq!(
                found.roles,
                BTreeMap::from([(Role::Reviewer, text.to_owned())])
            );
            assert_eq!(found.plan_propose, None);
        }
    }

    #[test]
    fn what_is_wrong_is_shown_in_its_place() {
        let long = vec![b'a'; LONGEST_PROMPT + 1];
        let cases: [(Option<&[u8]>, &str, &str); 5] = [
            (None, "backstop.toml:3:12", "No such file"),
            (Some(b"a\xff"), "backstop.toml:3:12", "is not UTF-8"),
            (Some(&long), "backstop.toml:3:12", "longer than 16384 bytes"),
            (Some(b" \n\t"), "backstop.toml:3:12", "is blank"),
            (
                Some(b"Judge.\nThe {gaol}"),
                "reviewer.md:2:5",
                "did you mean `{goal}`?",
            ),
        ];
        for (bytes, place, part) in cases {
            let words = loaded(bytes).unwrap_err();
            assert!(words.contains(place) && words.contains(part), "{words}");
        }
    }

    #[test]
    fn who_is_asked_for_a_plan_has_placeholders_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backstop.toml");
        let text = "[prompts]\nplan_propose = \"plan.md\"\n";
        let file = parse(&path, text).unwrap();
        let loaded = |words: &str| {
            fs::write(dir.path().join("plan.md"), words).unwrap();
            prompts(dir.path(), &path, text, &file).map_err(|error| error.to_string())
        };
        let own = "{goal} {proposal} {proposals} {checks} {refusals}";
        let found = loaded(own).unwrap();
        assert_eq!(found.plan_propose.as_deref(), Some(own));
        assert!(found.roles.is_empty());
        let words = loaded("One:\n{visit}").unwrap_err();
        let known = "The known ones are {goal} {proposal} {proposals} {checks} {refusals}";
        assert!(
            words.contains("plan.md:2:1") && words.contains(known),
            "{words}"
        );
        let words = loaded(" ").unwrap_err();
        assert!(
            words.contains("the prompt of `plan propose` is blank"),
            "{words}"
        );
    }

    #[test]
    fn a_folder_is_no_prompt() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backstop.toml");
        let text = "[prompts]\nscout = \".\"\n";
        let file = parse(&path, text).unwrap();
        let error = prompts(dir.path(), &path, text, &file).unwrap_err();
        assert!(error.to_string().contains("no regular file"), "{error}");
    }
}
