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

use backstop_engine::{GateKind, ShipBy};
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
    merges: bool,
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
        merges: true,
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

    /// The operator does not merge what was shipped.
    fn unmerged(mut self) -> Self {
        self.merges = false;
        self
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
                let told = ships(world, files, &before);
                if self.merges {
                    merges(world, &told);
                }
            }
            Comes::Refused(_) => {
                assert!(!world.facts_of_all().contains(&"attempt_started".to_owned()));
                return;
            }
            Comes::Holds(_) => {}
        }
        whole(world);
    }
}

/// Approves the work, and finds it in its place: these files, nothing else, and nothing of the operator's changed but that ref.
#[track_caller]
fn ships(world: &World, files: &[(&str, &str)], before: &Picture) -> String {
    let said = world
        .backstop(&["gate", "approve"])
        .with(0)
        .holding(&["shipped"]);
    let mission = world.mission();
    let (base, by) = (
        &mission.charter().fields().base,
        mission.charter().fields().settings.ship,
    );
    let place = match by {
        ShipBy::Branch => format!("refs/heads/backstop/{}/mission", world.id()),
        ShipBy::Merge => base.branch.as_ref().unwrap().as_str().to_owned(),
    };
    assert_eq!(
        differing(world, base.commit.as_str(), &place),
        listed(files)
    );
    let tree = line(world, &["rev-parse", &format!("{place}^{{tree}}")]);
    assert_eq!(tree, mission.lane().head.tree.digits());
    let behind = git(world, &["symbolic-ref", "--quiet", &place]).stdout;
    let behind = String::from_utf8(behind).unwrap().trim().to_owned();
    let moved = [place.as_str(), behind.as_str()];
    let ours = |name: &String| {
        let log = name.contains("/logs/") && (name.ends_with('/') || name.ends_with("/HEAD"));
        log || name.contains("/refs/heads/backstop/")
            || moved
                .iter()
                .any(|own| !own.is_empty() && name.ends_with(own))
    };
    let others = changed(before, &picture(world)).into_iter();
    assert_eq!(
        others.filter(|name| !ours(name)).collect::<Vec<_>>(),
        [""; 0]
    );
    assert_eq!(world.seen("hooked"), "", "hooks of the operator ran");
    said.out
}

/// The command that was printed brings the work into the operator's checkout.
#[track_caller]
fn merges(world: &World, said: &str) {
    let told = said
        .lines()
        .find_map(|line| line.trim().strip_prefix("git "));
    let mission = world.mission();
    let base = mission.charter().fields().base.commit.as_str().to_owned();
    let fileless = line(world, &["rev-parse", "--is-bare-repository"]) == "true";
    let (Some(told), false) = (told, fileless) else {
        assert!(fileless || mission.charter().fields().settings.ship == ShipBy::Merge);
        return;
    };
    if line(world, &["rev-parse", "HEAD"]) != base {
        return;
    }
    let told = format!(
        "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE; git -c core.hooksPath=/dev/null -c merge.verifySignatures=false {told}"
    );
    let place = format!("refs/heads/backstop/{}/mission", world.id());
    let mut command = Command::new("bash");
    world.environment(&mut command);
    let done = command
        .args(["-c", &told])
        .current_dir(world.path("tmp"))
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{told}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert_eq!(
        line(world, &["rev-parse", "HEAD"]),
        line(world, &["rev-parse", &place])
    );
    assert_eq!(
        line(
            world,
            &[
                "status",
                "--porcelain",
                "--untracked-files=no",
                "--ignore-submodules"
            ]
        ),
        ""
    );
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
    command.env("GIT_NO_REPLACE_OBJECTS", "1");
    command
        .arg("--no-optional-locks")
        .args(["-c", "core.fsmonitor=false"]);
    command.args(["-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null"]);
    command
        .args(args)
        .current_dir(world.repo())
        .output()
        .unwrap()
}

#[track_caller]
fn line(world: &World, args: &[&str]) -> String {
    String::from_utf8(bytes(world, args))
        .unwrap()
        .trim()
        .to_owned()
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
            "--format=%(refname) %(if)%(symref)%(then)%(symref)%(else)%(objectname)%(end)",
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
