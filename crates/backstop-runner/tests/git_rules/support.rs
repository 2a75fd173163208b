//! A world of its own for each test: a home, an operator's dirty repository, a mission. When it ends it checks that the operator's
//! repository is byte for byte what it was.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use backstop_engine::vocab::{CommitId, Phase, PhaseKind};
use backstop_runner::git::{Base, Git, Host, LaneRef, Repository, Workspace};

/// The lane that most tests use.
pub(super) const LANE: LaneRef = LaneRef {
    phase: Phase::FIRST,
    kind: PhaseKind::Coding,
};

type Snapshot = BTreeMap<String, Vec<u8>>;

pub(super) struct World {
    folder: tempfile::TempDir,
    /// The operator's repository.
    pub(super) op: PathBuf,
    before: RefCell<Option<Snapshot>>,
    expected: RefCell<Vec<String>>,
}

impl World {
    /// A repository with two commits, a hook, a stash and uncommitted work of every kind.
    pub(super) fn new() -> Self {
        Self::of(&["init", "-q", "-b", "main"])
    }

    pub(super) fn of(init: &[&str]) -> Self {
        let world = Self::empty();
        world.run(&world.op, init);
        world.seed();
        world.dirty();
        world.watch();
        world
    }

    /// A home and a folder where nothing is yet.
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, op) = (folder.path().join("home"), folder.path().join("op"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&op).unwrap();
        let signer = folder.path().join("signer");
        script(&signer, "exit 1\n");
        let config = format!(
            "[user]\n name = Ada Operator\n email = ada@example.org\n[commit]\n gpgSign = true\n[tag]\n gpgSign = true\n[gpg]\n program = {}\n[init]\n defaultBranch = trunk\n",
            signer.display()
        );
        fs::write(home.join(".gitconfig"), config).unwrap();
        Self {
            folder,
            op,
            before: RefCell::new(None),
            expected: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn seed(&self) {
        let op = &self.op;
        write(&op.join(".gitignore"), "target/\n");
        write(&op.join("a.txt"), "one\n");
        write(&op.join("src/lib.rs"), "fn a() {}\n");
        self.run(op, &["add", "."]);
        self.commit(op, "first");
        write(&op.join("b.txt"), "two\n");
        self.run(op, &["add", "."]);
        self.commit(op, "second");
    }

    fn dirty(&self) {
        let op = &self.op;
        write(&op.join("a.txt"), "stashed\n");
        self.run(op, &["stash", "push", "-q"]);
        write(
            &op.join("a.txt"),
            "the operator is in the middle of something\n",
        );
        write(&op.join("staged.txt"), "staged\n");
        self.run(op, &["add", "staged.txt"]);
        write(&op.join("untracked \u{e9}.txt"), "untracked\n");
        write(&op.join("target/cache"), "ignored\n");
        for hook in [
            "reference-transaction",
            "post-checkout",
            "pre-commit",
            "post-index-change",
        ] {
            script(
                &op.join(".git/hooks").join(hook),
                &format!("echo {hook} >> {}\n", self.canary().display()),
            );
        }
        let _ = fs::remove_file(self.canary());
    }

    /// From here on the operator's repository must not change.
    pub(super) fn watch(&self) {
        *self.before.borrow_mut() = Some(self.snapshot());
    }

    /// What a ship changes, on purpose: a part of the names of refs and files.
    pub(super) fn expect(&self, part: &str) {
        self.expected.borrow_mut().push(part.to_owned());
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file that appears when something ran that must not run.
    pub(super) fn canary(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    pub(super) fn git(&self) -> Git {
        Git::new()
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join(".config"))
    }

    pub(super) fn repository(&self) -> Repository {
        Repository::discover(&self.git(), &self.op).unwrap()
    }

    pub(super) fn base(&self) -> Base {
        self.repository().resolve_commit(None).unwrap()
    }

    pub(super) fn state(&self) -> PathBuf {
        self.folder.path().join("state/m1")
    }

    pub(super) fn host(&self) -> Host {
        self.host_of(&self.repository())
    }

    /// The host without a base being held again.
    pub(super) fn host_as_is(&self) -> Host {
        Host::open(
            &self.repository(),
            &"m1".parse().unwrap(),
            &self.state(),
            &[],
        )
        .unwrap()
    }

    pub(super) fn host_of(&self, repository: &Repository) -> Host {
        let host = Host::open(repository, &"m1".parse().unwrap(), &self.state(), &[]).unwrap();
        host.hold(&repository.resolve_commit(None).unwrap())
            .unwrap();
        host
    }

    pub(super) fn workspace(&self) -> Workspace {
        let host = self.host();
        Workspace::create(&host, LANE, &self.base().commit).unwrap()
    }

    /// Git as an operator or an agent runs it.
    pub(super) fn try_run<W: AsRef<OsStr>>(&self, at: &Path, words: &[W]) -> Output {
        let mut command = Command::new("git");
        command
            .current_dir(at)
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join(".config"));
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(words)
            .output()
            .unwrap()
    }

    pub(super) fn run<W: AsRef<OsStr>>(&self, at: &Path, words: &[W]) -> String {
        let output = self.try_run(at, words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let words: Vec<_> = words.iter().map(AsRef::as_ref).collect();
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// A commit of the operator's, who does not sign it.
    pub(super) fn commit(&self, at: &Path, message: &str) -> CommitId {
        self.run(
            at,
            &[
                "-c",
                "commit.gpgSign=false",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                message,
            ],
        );
        self.head(at)
    }

    /// A commit of an agent's, of everything.
    pub(super) fn agent_commit(&self, at: &Path, file: &str, text: &str) -> CommitId {
        write(&at.join(file), text);
        self.run(at, &["add", "-A"]);
        self.run(at, &["commit", "-q", "-m", file]);
        self.head(at)
    }

    pub(super) fn head(&self, at: &Path) -> CommitId {
        self.run(at, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    /// A commit that the operator's repository has, alone.
    pub(super) fn kept(&self, name: &str) -> String {
        self.run(&self.op, &["rev-parse", "--verify", "--quiet", name])
    }

    /// The text of a file in a commit of the operator's repository.
    pub(super) fn text(&self, commit: &CommitId, file: &str) -> String {
        self.run(&self.op, &["show".to_owned(), format!("{commit}:{file}")])
    }

    pub(super) fn names(&self, commit: &CommitId) -> Vec<String> {
        let listed = self.run(
            &self.op,
            &["ls-tree", "-r", "-z", "--name-only", commit.as_str()],
        );
        listed
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(ToOwned::to_owned)
            .collect()
    }

    fn snapshot(&self) -> Snapshot {
        let mut found = Snapshot::new();
        collect(&self.op, &self.op, &mut found);
        let mut say = |what: &str, words: &[&str]| {
            let output = self.try_run(&self.op, words);
            found.insert(what.to_owned(), output.stdout);
        };
        say(
            "status",
            &[
                "--no-optional-locks",
                "-c",
                "core.hooksPath=/dev/null",
                "status",
                "--porcelain=v2",
                "-z",
                "--branch",
            ],
        );
        say("stash", &["stash", "list"]);
        say("refs", &["for-each-ref", "--exclude=refs/backstop"]);
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        assert!(
            !self.canary().exists(),
            "{}",
            fs::read_to_string(self.canary()).unwrap()
        );
        let Some(before) = self.before.take() else {
            return;
        };
        let (expected, after) = (self.expected.take(), self.snapshot());
        let known = |name: &str| expected.iter().any(|part| name.contains(part));
        for name in before
            .keys()
            .chain(after.keys())
            .filter(|name| !known(name))
        {
            let show = |side: &Snapshot| {
                side.get(name)
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            assert_eq!(
                show(&before),
                show(&after),
                "{name} of the operator's changed"
            );
        }
    }
}

fn collect(top: &Path, folder: &Path, found: &mut Snapshot) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().display().to_string();
        if name.ends_with(".git/objects")
            || name == "objects"
            || name.ends_with(".git/refs/backstop")
        {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            collect(top, &path, found);
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
}

pub(super) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(super) fn script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    write(path, format!("#!/bin/sh\n{body}"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
