//! One story in many repositories: a mission from the command line to its ship, or a refusal before anything starts. Whatever the
//! repository, the work arrives whole, and nothing else of the operator's changes.

mod files;
mod meanwhile;
mod refused;
mod settings;
mod shapes;
mod submodules;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use backstop_engine::GateKind;
use backstop_runner::git::shown;

use crate::support::{World, changed, collect, exec_run};

/// A repository with one commit.
const BEGUN: &str =
    "git init -q -b main .; printf 'a project\\n' >README; git add -A; git commit -q -m begin\n";

/// One commit, and one file that is left uncommitted.
const WORKS: &str = "printf 'made\\n' >made.txt; git add made.txt; git commit -q -m made; printf 'left\\n' >left.txt";
const WORK: &[(&str, &str)] = &[("left.txt", "100644 left\n"), ("made.txt", "100644 made\n")];

/// Waits in the midst of the work, so that the operator can do something meanwhile.
const PAUSES: &str =
    "touch \"$E2E_SIDE/at-work\"; while ! test -e \"$E2E_SIDE/go\"; do sleep 0.01; done\n";

/// Every hook of the operator that could run, leaving its name where the test looks.
const HOOKED: &str = r#"
hooks() {
    mkdir -p "$1"
    for hook in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg \
        post-commit pre-rebase post-checkout post-merge pre-push pre-receive update post-receive post-update push-to-checkout \
        reference-transaction pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change; do
        printf '#!/bin/sh\necho %s "$@" >>"%s/hooked"\n%s\n' "$hook" "$E2E_SIDE" "$2" >"$1/$hook"
        chmod +x "$1/$hook"
    done
}
"#;

/// What must come of it.
enum Comes {
    /// It ships these files, each with its mode and content (`gone` where it was removed), and changes no other.
    Ships(&'static [(&'static str, &'static str)]),
    /// It ends with this exit status before an agent is started.
    Refused(i32),
    /// It waits at this gate.
    Holds(GateKind),
}

/// A row of the table.
struct Story {
    make: String,
    at: PathBuf,
    agent: &'static str,
    check: &'static str,
    meanwhile: Option<&'static str>,
    args: &'static [&'static str],
    comes: Comes,
    says: &'static [&'static str],
}

/// A repository that this script makes, from nothing.
fn of(make: &str) -> Story {
    Story {
        make: make.into(),
        at: "repo".into(),
        agent: WORKS,
        check: "true",
        meanwhile: None,
        args: &[],
        comes: Comes::Ships(WORK),
        says: &[],
    }
}

/// A repository with one commit that this script makes an odd one.
fn begun(make: &str) -> Story {
    of(&[BEGUN, make].concat())
}

impl Story {
    /// Run in another folder of the world.
    fn at(mut self, folder: impl AsRef<OsStr>) -> Self {
        self.at = PathBuf::from(folder.as_ref());
        self
    }

    fn agent(mut self, script: &'static str) -> Self {
        self.agent = script;
        self
    }

    fn check(mut self, command: &'static str) -> Self {
        self.check = command;
        self
    }

    /// What the operator does in the repository while the agent is at work, and once more at the gate.
    fn meanwhile(mut self, script: &'static str) -> Self {
        self.meanwhile = Some(script);
        self
    }

    fn args(mut self, args: &'static [&'static str]) -> Self {
        self.args = args;
        self
    }

    fn comes(mut self, comes: Comes, says: &'static [&'static str]) -> Self {
        self.comes = comes;
        self.says = says;
        self
    }

    fn ships(self, files: &'static [(&'static str, &'static str)]) -> Self {
        self.comes(Comes::Ships(files), &[])
    }

    /// Parts of what `run` says.
    fn says(mut self, says: &'static [&'static str]) -> Self {
        self.says = says;
        self
    }

    /// Makes the repository and tells the story.
    #[track_caller]
    fn holds(self) -> World {
        let mut world = World::bare();
        make(&world, &self.make);
        world.stand(self.at.clone());
        self.told(&world);
        world
    }

    #[track_caller]
    fn told(&self, world: &World) {
        let pause = self.meanwhile.map_or("", |_| PAUSES);
        let agent = world.leave(
            "agent.sh",
            &format!("cat >/dev/null\nset -eu\n{pause}{}\n", self.agent),
        );
        let (agent, mut before) = (format!("sh {agent}"), picture(world));
        let started = world.start(&exec_run(&agent, self.check, self.args));
        if let Some(script) = self.meanwhile {
            world.until_left("at-work");
            operate(world, script);
            before = picture(world);
            world.leave("go", "");
        }
        let said = started.end();
        let unchanged = |before: &Picture| {
            assert_eq!(changed(before, &picture(world)), [""; 0]);
            assert_eq!(world.seen("hooked"), "", "hooks of the operator ran");
        };
        match self.comes {
            Comes::Ships(_) => said.with(3).holding(&["ship gate g1"]).holding(self.says),
            Comes::Refused(code) => said.with(code).telling(self.says),
            Comes::Holds(kind) => {
                let said = said.with(3).telling(self.says);
                assert_eq!(world.gate().kind, kind);
                said
            }
        };
        unchanged(&before);
        world.nothing_runs();
        match self.comes {
            Comes::Ships(files) => {
                if let Some(script) = self.meanwhile {
                    operate(world, script);
                    before = picture(world);
                }
                ships(world, files, &before);
            }
            Comes::Refused(_) => {
                assert!(!world.facts_of_all().contains(&"attempt_started".to_owned()))
            }
            Comes::Holds(_) => {}
        }
        whole(world);
    }
}

/// Approves the work, and finds it on its branch: these files, nothing else, and nothing of the operator's changed but that ref.
#[track_caller]
fn ships(world: &World, files: &[(&str, &str)], before: &Picture) {
    world
        .backstop(&["gate", "approve"])
        .with(0)
        .holding(&["shipped"]);
    let mission = world.mission();
    let (base, shipped) = (
        &mission.charter().fields().base,
        mission.charter().fields().settings.ship,
    );
    let place = match shipped {
        backstop_engine::ShipBy::Branch => format!("refs/heads/backstop/{}/mission", world.id()),
        backstop_engine::ShipBy::Merge => base.branch.as_ref().unwrap().as_str().to_owned(),
    };
    assert_eq!(
        differing(world, base.commit.as_str(), &place),
        listed(files)
    );
    assert_eq!(
        world.git(&["rev-parse", &format!("{place}^{{tree}}")]),
        mission.lane().head.tree.digits()
    );
    let ours =
        |name: &String| name.contains("refs/heads/backstop") || *name == format!("ref {place}");
    let others: Vec<_> = changed(before, &picture(world))
        .into_iter()
        .filter(|name| !ours(name))
        .collect();
    let moved = ["HEAD", place.as_str()].map(|name| format!("logs/{name}"));
    let others: Vec<_> = others
        .into_iter()
        .filter(|name| !name.ends_with(&place) && !moved.iter().any(|log| name.ends_with(log)))
        .collect();
    assert_eq!(others, [""; 0]);
    assert_eq!(world.seen("hooked"), "", "hooks of the operator ran");
}

fn listed(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files
        .iter()
        .map(|(name, what)| ((*name).to_owned(), (*what).to_owned()))
        .collect()
}

/// What differs between two commits: the path, and its new mode with its content.
#[track_caller]
fn differing(world: &World, from: &str, to: &str) -> BTreeMap<String, String> {
    let raw = bytes(
        world,
        &[
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            from,
            to,
        ],
    );
    let parts: Vec<&[u8]> = raw
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .collect();
    let entries = parts.chunks(2).map(|pair| {
        let head = String::from_utf8_lossy(pair[0]).into_owned();
        let words: Vec<&str> = head.split(' ').collect();
        let (mode, id) = (words[1], words[3]);
        let what = match mode {
            "000000" => "gone".to_owned(),
            "160000" => "160000".to_owned(),
            _ => {
                let content = bytes(world, &["cat-file", "blob", id]);
                format!("{mode} {}", shown_text(&content))
            }
        };
        (shown(Path::new(OsStr::from_bytes(pair[1]))), what)
    });
    entries.collect()
}

/// Text as it is; bytes that are none, escaped.
fn shown_text(content: &[u8]) -> String {
    match std::str::from_utf8(content) {
        Ok(text) => text.to_owned(),
        Err(_) => content.escape_ascii().to_string(),
    }
}

fn git(world: &World, args: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    world.environment(&mut command);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command.arg("--no-optional-locks").args([
        "-c",
        "safe.directory=*",
        "-c",
        "core.hooksPath=/dev/null",
    ]);
    command
        .args(args)
        .current_dir(world.repo())
        .output()
        .unwrap()
}

#[track_caller]
fn bytes(world: &World, args: &[&str]) -> Vec<u8> {
    let done = git(world, args);
    assert!(
        done.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    done.stdout
}

/// Runs a script of the test's in the first repository's folder.
#[track_caller]
fn make(world: &World, script: &str) {
    script_in(world, &world.path("repo"), &format!("{HOOKED}{script}"));
    // What ran while the repository was made does not count.
    let _ = std::fs::remove_file(world.side("hooked"));
}

/// The operator's own commands, in the repository of the story; their hooks are theirs to run.
#[track_caller]
fn operate(world: &World, script: &str) {
    script_in(world, &world.repo(), script);
    let _ = std::fs::remove_file(world.side("hooked"));
}

#[track_caller]
fn script_in(world: &World, folder: &Path, script: &str) {
    let mut command = Command::new("sh");
    world.environment(&mut command);
    command
        .args(["-euc", script])
        .env("W", world.path(""))
        .current_dir(folder);
    let done = command.output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    assert!(
        done.status.success(),
        "{script}\n{}",
        String::from_utf8_lossy(&said)
    );
}

type Picture = BTreeMap<String, Vec<u8>>;

/// Everything of the operator's, wherever it lies, but for objects and the mission's own refs.
#[track_caller]
fn picture(world: &World) -> Picture {
    let (mut all, root) = (Picture::new(), world.path(""));
    collect(&root, &root, &mut all);
    let own = ["run/", "side/", "state/", "tmp/"];
    let hidden = |name: &str| {
        own.iter().any(|folder| name.starts_with(folder))
            || ["/objects/", "/refs/backstop/", "/reftable/"]
                .iter()
                .any(|part| name.contains(part))
    };
    all.retain(|name, _| !hidden(name));
    let refs = git(
        world,
        &[
            "for-each-ref",
            "--format=%(refname) %(objectname) %(symref)",
        ],
    );
    for line in String::from_utf8_lossy(&refs.stdout).lines() {
        let (name, at) = line.split_once(' ').unwrap();
        if !name.starts_with("refs/backstop/") {
            all.insert(format!("ref {name}"), at.into());
        }
    }
    for args in [
        &["status", "--porcelain=v2", "--ignored"][..],
        &["stash", "list"],
        &["rev-parse", "HEAD"],
    ] {
        all.insert(args[0].into(), git(world, args).stdout);
    }
    all
}

/// The repository is sound, and every ref of the mission leads to something.
#[track_caller]
fn whole(world: &World) {
    let done = git(world, &["fsck", "--connectivity-only", "--no-dangling"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
}
