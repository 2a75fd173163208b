//! `check-pure`: the policy crates reach no file, socket, process, clock or global.
//!
//! Three ways: what they declare and what that pulls in, what their sources hold, and a build for a
//! target that has no operating system.

use std::collections::{BTreeMap, VecDeque};

use crate::failure::{Failure, Fault, none};
use crate::metadata::{Dependency, Kind, Metadata, Node};
use crate::program::{Line, cargo};
use crate::repo::{File, Repo};
use crate::rust::{Rust, Token};

/// Each policy crate, and the external crates that it may declare.
const POLICY: [(&str, &[&str]); 7] = [
    ("backstop-vocab", &["serde", "sha2", "thiserror"]),
    ("backstop-mode", &["serde", "thiserror"]),
    ("backstop-outcome", &["serde", "serde_json", "thiserror"]),
    ("backstop-gates", &["serde", "thiserror"]),
    ("backstop-review", &["serde", "thiserror"]),
    ("backstop-plan", &["serde", "serde_json", "thiserror"]),
    ("backstop-engine", &["serde", "serde_json", "thiserror"]),
];

/// What those external crates may pull in on the target, grouped by the crate that does.
const CLOSURE: [&[&str]; 4] = [
    &["serde", "serde_core", "serde_derive"],
    // The two derives share their compile-time closure; none of it is in the built crate.
    &[
        "thiserror",
        "thiserror-impl",
        "proc-macro2",
        "quote",
        "syn",
        "unicode-ident",
    ],
    &[
        "sha2",
        "block-buffer",
        "cfg-if",
        "cpufeatures",
        "crypto-common",
        "digest",
        "hybrid-array",
        "typenum",
    ],
    &["serde_json", "itoa", "memchr", "zmij"],
];

const TARGET: &str = "x86_64-unknown-none";
const ENGINE: &str = "backstop-engine";

/// Checks declarations, closure, sources, and the build.
pub(crate) fn check(repo: &Repo) -> Result<(), Failure> {
    let metadata = Metadata::ask(&repo.root, &format!("--locked --filter-platform {TARGET}"))?;
    let mut faults = declared(&metadata);
    faults.extend(closure(&metadata));
    for (name, _) in POLICY {
        faults.extend(sources(repo, name)?);
    }
    none(faults)?;
    install_target(repo)?;
    build().run(&repo.root)
}

/// The build for a target without an operating system.
fn build() -> Line {
    cargo(&format!("check -p {ENGINE} --target {TARGET} --locked"))
}

/// Adds the target to the pinned toolchain when it is missing.
fn install_target(repo: &Repo) -> Result<(), Failure> {
    let channel = channel(repo.text("rust-toolchain.toml").unwrap_or(""))?;
    let listed = Line::new("rustup", "target list --installed --toolchain").with(&channel);
    if listed
        .read(&repo.root)?
        .lines()
        .any(|line| line.trim() == TARGET)
    {
        return Ok(());
    }
    let add = Line::new("rustup", "target add --toolchain").with(channel);
    add.with(TARGET).run(&repo.root)
}

/// The channel that rust-toolchain.toml pins.
fn channel(text: &str) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::unreadable("`rust-toolchain.toml`", why);
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.message()))?;
    let channel = table.get("toolchain").and_then(|tool| tool.get("channel"));
    let channel = channel.and_then(toml::Value::as_str);
    channel
        .map(str::to_owned)
        .ok_or_else(|| wrong("it pins no channel"))
}

fn is_policy(name: &str) -> bool {
    POLICY.iter().any(|(policy, _)| *policy == name)
}

/// What policy manifests declare beyond their list, on whatever target.
fn declared(metadata: &Metadata) -> Vec<Fault> {
    let judge = |name: &'static str, allowed: &'static [&'static str]| {
        let Some(package) = metadata.ours().find(|package| package.name == name) else {
            return vec![Fault::of(
                name,
                "is a policy crate and is not in the workspace",
            )];
        };
        let used = package.dependencies.iter();
        used.filter_map(|used| undeclarable(used, allowed))
            .map(|said| Fault::of(name, said))
            .collect()
    };
    POLICY
        .iter()
        .flat_map(|(name, allowed)| judge(name, allowed))
        .collect()
}

fn undeclarable(used: &Dependency, allowed: &[&str]) -> Option<String> {
    let name = &used.name;
    match used.kind {
        Some(Kind::Dev) => None,
        Some(Kind::Build) => Some(format!(
            "builds with `{name}`: a policy crate has no build script"
        )),
        None if is_policy(name) || allowed.contains(&name.as_str()) => None,
        None => Some(format!(
            "declares `{name}`: it may use {} alone",
            allowed.join(", ")
        )),
    }
}

/// What the policy crates pull in beyond the list, with the way to it.
fn closure(metadata: &Metadata) -> Vec<Fault> {
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let policy = metadata.ours().filter(|package| is_policy(&package.name));
    let mut reached: BTreeMap<&str, String> = policy
        .map(|package| (package.id.as_str(), package.name.clone()))
        .collect();
    let mut open: VecDeque<&str> = reached.keys().copied().collect();
    let mut faults = Vec::new();
    while let Some(id) = open.pop_front() {
        let way = reached.get(id).cloned().unwrap_or_default();
        for used in nodes.get(id).into_iter().flat_map(|node| normal(node)) {
            if reached.contains_key(used) {
                continue;
            }
            let name = metadata
                .package(used)
                .map_or(used, |package| package.name.as_str());
            let way = format!("{way} → {name}");
            if !is_policy(name) && !CLOSURE.concat().contains(&name) {
                faults.push(Fault::of(
                    name,
                    format!("is not for policy crates and is reached by {way}"),
                ));
            }
            reached.insert(used, way);
            open.push_back(used);
        }
    }
    faults
}

fn normal(node: &Node) -> impl Iterator<Item = &str> {
    let used = node.deps.iter();
    let used = used.filter(|edge| edge.dep_kinds.iter().any(|reason| reason.kind.is_none()));
    used.map(|edge| edge.pkg.as_str())
}

/// What the sources of a policy crate hold that they must not.
fn sources(repo: &Repo, name: &str) -> Result<Vec<Fault>, Failure> {
    let folder = format!("crates/{name}/src/");
    let root = format!("{folder}lib.rs");
    let mut faults = Vec::new();
    if repo.paths.contains(&format!("crates/{name}/build.rs")) {
        faults.push(Fault::of(name, "a policy crate has no build script"));
    }
    for file in repo.rust().filter(|file| file.path.starts_with(&folder)) {
        let rust = Rust::parse(file)?;
        if file.path == root && !is_no_std(&rust) {
            faults.push(Fault::of(&root, "a policy crate starts with `#![no_std]`"));
        }
        faults.extend(impure(file, &rust));
    }
    Ok(faults)
}

fn is_no_std(rust: &Rust<'_>) -> bool {
    let attributes = rust.tree.attrs.iter();
    attributes
        .into_iter()
        .any(|attribute| attribute.path().is_ident("no_std"))
}

/// Globals and the standard library, macros included; a crate's own tests may use them.
fn impure(file: &File, rust: &Rust<'_>) -> Vec<Fault> {
    let code: Vec<&Token> = rust
        .tokens
        .iter()
        .filter(|token| !rust.is_test_line(token.line))
        .collect();
    let mut faults = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let before = |back: usize| {
            at.checked_sub(back)
                .and_then(|at| code.get(at))
                .map_or("", |token| &token.text)
        };
        let said = match token.text.as_str() {
            "static" if before(1) != "'" => "a policy crate has no static: pass the value in",
            "thread_local" => "a policy crate has no thread local: pass the value in",
            "std" if before(1) == "crate" && before(2) == "extern" => {
                "a policy crate does not see the standard library"
            }
            _ => continue,
        };
        faults.push(Fault::at(&file.path, token.line, said));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::planted::{table, workspace};

    fn all(faults: &[Fault]) -> Vec<String> {
        faults.iter().map(Fault::to_string).collect()
    }

    fn policy_with<'a>(name: &str, tables: &'a str) -> Vec<(&'static str, &'a str)> {
        let crates = POLICY
            .iter()
            .map(|(policy, _)| (*policy, if *policy == name { tables } else { "" }));
        crates
            .chain([
                ("libc", ""),
                ("serde", ""),
                ("sha2", "[dependencies]\nlibc = { path = \"../libc\" }\n"),
            ])
            .collect()
    }

    #[test]
    fn a_policy_crate_declares_only_what_its_list_allows() {
        let fine = table("dependencies", &["backstop-vocab", "serde"])
            + &table("dev-dependencies", &["libc"]);
        assert_eq!(
            all(&declared(&workspace(&policy_with("backstop-mode", &fine)))),
            [""; 0]
        );

        let wrong = "[target.'cfg(windows)'.dependencies]\nlibc = { path = \"../libc\" }\n"
            .to_owned()
            + &table("build-dependencies", &["serde"]);
        let mut found = all(&declared(&workspace(&policy_with("backstop-mode", &wrong))));
        found.sort();
        let wanted = [
            "backstop-mode: builds with `serde`: a policy crate has no build script",
            "backstop-mode: declares `libc`: it may use serde, thiserror alone",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_an_allowed_crate_pulls_in_is_judged_too() {
        let tables = table("dependencies", &["sha2"]);
        let metadata = workspace(&policy_with("backstop-vocab", &tables));
        assert_eq!(all(&declared(&metadata)), [""; 0]);
        let wanted =
            ["libc: is not for policy crates and is reached by backstop-vocab → sha2 → libc"];
        assert_eq!(all(&closure(&metadata)), wanted);
    }

    #[test]
    fn a_policy_crate_that_is_gone_is_a_fault() {
        let faults = declared(&workspace(&[("backstop-vocab", "")]));
        assert_eq!(faults.len(), POLICY.len() - 1);
    }

    #[test]
    fn a_static_a_thread_local_and_std_are_refused_even_in_a_macro() {
        let lib = "#![no_std]\nextern crate alloc;\nfn f(x: &'static str) {}\n\
            static A: u8 = 1;\nmacro_rules! m { () => { static B: u8 = 2; } }\n\
            extern crate std;\nstd::thread_local! { }\n#[cfg(test)]\nmod tests { extern crate std; static C: u8 = 3; }\n";
        let repo = Repo::of(&[("crates/a/src/lib.rs", lib)]);
        let lines: Vec<Option<usize>> = sources(&repo, "a")
            .unwrap()
            .iter()
            .map(|fault| fault.line)
            .collect();
        assert_eq!(lines, [Some(4), Some(5), Some(6), Some(7)]);
    }

    #[test]
    fn a_root_without_no_std_and_a_build_script_are_refused() {
        let lib = "#![cfg_attr(not(test), no_std)]\n";
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", lib),
            ("crates/a/build.rs", "fn main() {}"),
        ]);
        let wanted = [
            "a: a policy crate has no build script",
            "crates/a/src/lib.rs: a policy crate starts with `#![no_std]`",
        ];
        assert_eq!(all(&sources(&repo, "a").unwrap()), wanted);
    }

    #[test]
    fn the_channel_is_the_pinned_one() {
        assert_eq!(
            channel("[toolchain]\nchannel = \"1.2.3\"\n").unwrap(),
            "1.2.3"
        );
        assert!(channel("[toolchain]\n").is_err());
        assert!(channel("").is_err());
    }
}
