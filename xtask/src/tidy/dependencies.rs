//! Each external dependency has a line of reason in docs/dependencies.md, and each line a dependency.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::failure::Fault;
use crate::repo::{File, Repo};

const PAGE: &str = "docs/dependencies.md";

/// Dependencies without a reason, and reasons without a dependency.
pub(super) fn faults(repo: &Repo) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut declared: BTreeMap<String, &str> = BTreeMap::new();
    for file in repo
        .files
        .iter()
        .filter(|file| file.path.split('/').next_back() == Some("Cargo.toml"))
    {
        match external(file) {
            Ok(names) => declared.extend(names.into_iter().map(|name| (name, file.path.as_str()))),
            Err(why) => faults.push(Fault::of(&file.path, why)),
        }
    }
    let explained = explained(repo.text(PAGE).unwrap_or(""));
    let missing = declared
        .iter()
        .filter(|(name, _)| !explained.contains(*name));
    faults.extend(
        missing
            .map(|(name, at)| Fault::of(at, format!("`{name}` has no line of reason in {PAGE}"))),
    );
    let stale = explained
        .iter()
        .filter(|name| !declared.contains_key(*name));
    faults.extend(
        stale.map(|name| Fault::of(PAGE, format!("`{name}` is no dependency: drop its line"))),
    );
    faults
}

/// The names on lines such as "- `name`: reason".
fn explained(page: &str) -> BTreeSet<String> {
    let named = |line: &str| {
        let (name, reason) = line.strip_prefix("- `")?.split_once("`: ")?;
        (!reason.trim().is_empty()).then(|| name.to_owned())
    };
    page.lines().filter_map(named).collect()
}

/// The packages that a manifest names, but for ours, which have a path.
fn external(file: &File) -> Result<Vec<String>, String> {
    let manifest: Table = file
        .text
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let mut tables = Vec::new();
    collect(&manifest, &mut tables);
    let entries = tables.into_iter().flatten();
    Ok(entries
        .filter_map(|(key, value)| package(key, value))
        .collect())
}

/// Every table of dependencies, those of targets and of the workspace included.
fn collect<'a>(table: &'a Table, into: &mut Vec<&'a Table>) {
    for (key, value) in table {
        match value {
            Value::Table(inner) if key.ends_with("dependencies") => into.push(inner),
            Value::Table(inner) => collect(inner, into),
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Array(_) => {}
        }
    }
}

/// The package behind an entry; none when the entry is ours, or repeats the workspace's.
fn package(key: &str, value: &Value) -> Option<String> {
    let is_named_elsewhere = value.get("path").is_some() || value.get("workspace").is_some();
    let renamed = value.get("package").and_then(Value::as_str);
    (!is_named_elsewhere).then(|| renamed.unwrap_or(key).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.dependencies]\nours = { path = \"crates/ours\", version = \"1\" }\n\
        one = \"1\"\n[dependencies]\none.workspace = true\n[target.'cfg(unix)'.dev-dependencies]\nshort = { package = \"two\", version = \"2\" }\n";

    fn said(page: &str) -> Vec<String> {
        let repo = Repo::of(&[("Cargo.toml", ROOT), (PAGE, page)]);
        faults(&repo).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn each_dependency_with_a_reason_is_fine() {
        assert_eq!(said("- `one`: counts\n- `two`: counts on\n"), [""; 0]);
    }

    #[test]
    fn a_dependency_without_a_reason_and_a_reason_without_a_dependency_are_refused() {
        let wanted = [
            "Cargo.toml: `two` has no line of reason in docs/dependencies.md",
            "docs/dependencies.md: `three` is no dependency: drop its line",
        ];
        assert_eq!(
            said("- `one`: counts\n- `two`: \n- `three`: counted\n"),
            wanted
        );
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_a_fault() {
        assert_eq!(faults(&Repo::of(&[("a/Cargo.toml", "[")])).len(), 1);
    }
}
