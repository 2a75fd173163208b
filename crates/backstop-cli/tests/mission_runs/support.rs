//! A world of its own for one test: a repository, an operator's home, state, and a side folder in which agents leave
//! what the test looks at. No rule is tested here.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use backstop_engine::mode::Account;
use backstop_engine::{Gate, GateKind, Mission};
use backstop_runner::git::shown;
use backstop_runner::history::{self, History};
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything takes here: who reaches it hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// The program under test.
pub(crate) const BACKSTOP: &str = env!("CARGO_BIN_EXE_backstop");

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// This very exit status.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.out, self.err
        );
        self
    }

    /// All these parts, on however many screens.
    #[track_caller]
    pub(crate) fn holding(self, parts: &[&str]) -> Self {
        let words = format!("{}\n{}", self.err, self.out);
        for part in parts {
            assert!(words.contains(part), "`{part}` is missing:\n{words}");
        }
        self
    }

    /// A message for a person: all these parts, on one screen, and no debug dump.
    #[track_caller]
    pub(crate) fn telling(self, parts: &[&str]) -> Self {
        let said = self.holding(parts);
        let words = format!("{}\n{}", said.err, said.out);
        assert!(
            words.lines().count() <= 45,
            "more than one screen:\n{words}"
        );
        for dump in ["panicked", "RUST_BACKTRACE", "Error {", "Os {", "Some("] {
            assert!(!words.contains(dump), "a dump:\n{words}");
        }
        said
    }
}

/// `run` of a goal by an `exec` agent from Code on, with more arguments.
pub(crate) fn exec_run<'a>(agent: &'a str, check: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "do the work", "--from", "code", "--agent", "exec"];
    args.extend(["--exec-command", agent, "--check", check]);
    args.extend(more);
    args
}

/// A test's world.
pub(crate) struct World {
    root: TempDir,
    at: PathBuf,
    extra: Vec<(String, String)>,
}

impl World {
    /// A repository with one commit: `README`.
    pub(crate) fn new() -> Self {
        let world = Self::bare();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.write("README", "a project\n");
        world.commit("begin");
        world
    }

    /// No repository yet.
    pub(crate) fn bare() -> Self {
        let root = tempfile::Builder::new().prefix("bs-").tempdir().unwrap();
        for name in ["repo", "home", "state", "run", "side", "tmp"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(root.path().join("run"), private).unwrap();
        let world = Self {
            at: root.path().join("repo"),
            root,
            extra: Vec::new(),
        };
        let identity =
            "[user]\nname = Operator\nemail = operator@example.invalid\n[gc]\nauto = 0\n";
        fs::write(world.path("home/.gitconfig"), identity).unwrap();
        world
    }

    /// Sets one more variable for every command.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.at.clone()
    }

    /// From here on the repository is the one at this path.
    pub(crate) fn stand(&mut self, at: PathBuf) {
        self.at = self.root.path().join(at);
    }

    pub(crate) fn side(&self, name: &str) -> PathBuf {
        self.path("side").join(name)
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, name: &str, text: &str) {
        put(&self.repo().join(name), text);
    }

    /// Writes a file of the side folder; its path.
    pub(crate) fn leave(&self, name: &str, text: &str) -> String {
        put(&self.side(name), text);
        self.side(name).display().to_string()
    }

    pub(crate) fn seen(&self, name: &str) -> String {
        fs::read_to_string(self.side(name)).unwrap_or_default()
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn environment(&self, command: &mut Command) {
        let kept = |name: &str| std::env::var_os(name).map(|value| (name.to_owned(), value));
        command.env_clear();
        command.envs(
            ["PATH", "RUSTUP_TOOLCHAIN", "LANG"]
                .into_iter()
                .filter_map(kept),
        );
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let set = std::env::var_os(name).unwrap_or_else(|| home.join(folder).into());
            command.env(name, set);
        }
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "home/.config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
            ("GIT_CONFIG_GLOBAL", "home/.gitconfig"),
            ("TMPDIR", "tmp"),
            ("E2E_SIDE", "side"),
        ] {
            command.env(name, self.path(folder));
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("USER", "olga");
        command.envs(self.extra.iter().map(|(name, value)| (name, value)));
    }

    /// Git in the operator's checkout, trimmed.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let (ok, text) = self.git_in(&self.repo(), args);
        assert!(ok, "git {args:?}: {text}");
        text
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> (bool, String) {
        let mut command = Command::new("git");
        self.environment(&mut command);
        let done = command
            .arg("--no-optional-locks")
            .args(args)
            .current_dir(dir)
            .output()
            .unwrap();
        let text = [done.stdout, done.stderr].concat();
        (
            done.status.success(),
            String::from_utf8_lossy(&text).trim().to_owned(),
        )
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(BACKSTOP, args)
    }

    /// A script of the operator, for a shell in the checkout.
    pub(crate) fn shell(&self, script: &str) -> Command {
        self.program("sh", &["-c", script])
    }

    fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        self.environment(&mut command);
        command
            .args(args)
            .current_dir(self.repo())
            .stdin(Stdio::null());
        command
    }

    /// Runs Backstop to its end.
    #[track_caller]
    pub(crate) fn backstop(&self, args: &[&str]) -> Said {
        self.start(args).end()
    }

    /// Starts Backstop.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        self.begin(self.command(args))
    }

    /// Starts a command, its words kept.
    pub(crate) fn begin(&self, mut command: Command) -> Started {
        let files = tempfile::tempdir_in(self.path("tmp")).unwrap();
        let (out, err) = (files.path().join("out"), files.path().join("err"));
        command.stdout(fs::File::create(&out).unwrap());
        command.stderr(fs::File::create(&err).unwrap());
        Started {
            child: command.spawn().unwrap(),
            files,
        }
    }

    /// The folders of the repository's missions.
    pub(crate) fn missions(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for home in fs::read_dir(self.path("state/backstop"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let missions = fs::read_dir(home.path().join("missions"))
                .into_iter()
                .flatten();
            found.extend(missions.flatten().map(|entry| entry.path()));
        }
        found.sort();
        found
    }

    /// The folder of the only mission.
    #[track_caller]
    pub(crate) fn dir(&self) -> PathBuf {
        let missions = self.missions();
        assert_eq!(missions.len(), 1, "{missions:?}");
        missions[0].clone()
    }

    #[track_caller]
    pub(crate) fn id(&self) -> String {
        self.dir()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.dir().join("journal.jsonl")
    }

    #[track_caller]
    pub(crate) fn history(&self) -> History {
        history::read(&self.journal()).unwrap()
    }

    #[track_caller]
    pub(crate) fn mission(&self) -> Mission {
        self.history().mission
    }

    /// The open gate of the only mission.
    #[track_caller]
    pub(crate) fn gate(&self) -> Gate {
        self.mission().gate().cloned().unwrap()
    }

    /// The open gate is of this kind and has these reasons, as they are written in JSON.
    #[track_caller]
    pub(crate) fn at_gate(&self, kind: GateKind, reasons: &str) -> Gate {
        let gate = self.gate();
        let shown = serde_json::to_string(&gate.reasons).unwrap();
        assert_eq!((gate.kind, shown.as_str()), (kind, reasons));
        gate
    }

    pub(crate) fn used(&self, account: Account) -> u64 {
        self.mission().meter().used(account)
    }

    /// The names of the facts in the journal, in order.
    pub(crate) fn facts(&self) -> Vec<String> {
        let lines = fs::read_to_string(self.journal()).unwrap_or_default();
        let names = lines.lines().filter_map(|line| {
            let record: Value = serde_json::from_str(line).ok()?;
            Some(record.get("event")?.as_object()?.keys().next()?.clone())
        });
        names.collect()
    }

    /// The same of a world whose mission may not be there yet.
    pub(crate) fn facts_of_all(&self) -> Vec<String> {
        if self.missions().is_empty() {
            return Vec::new();
        }
        self.facts()
    }

    /// Every line that agents left in the file `launches`.
    pub(crate) fn launches(&self) -> Vec<String> {
        self.seen("launches")
            .lines()
            .map(ToOwned::to_owned)
            .collect()
    }

    /// Waits until it holds.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(
                begun.elapsed() < PATIENCE,
                "never came in {}: {what}",
                self.root.path().display()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    pub(crate) fn until_left(&self, name: &str) {
        self.until(name, || self.side(name).exists());
    }

    /// Living processes that were started in this world.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let mark = format!("E2E_SIDE={}", self.path("side").display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            let here = self.path("").display().to_string();
            let marked = environment
                .split(|byte| *byte == 0)
                .any(|var| var == mark.as_bytes());
            if marked || words.contains(&here) {
                found.push((pid, words));
            }
        }
        found
    }

    /// Nothing that was started here runs any more.
    #[track_caller]
    pub(crate) fn nothing_runs(&self) {
        let begun = Instant::now();
        while !self.processes().is_empty() {
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "left: {:?}",
                self.processes()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Everything of the operator's that a mission must not touch, as bytes.
    pub(crate) fn operator(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        collect(&self.repo(), &self.repo(), &mut all);
        all.retain(|name, _| {
            !name.starts_with(".git/objects") && !name.starts_with(".git/refs/backstop")
        });
        collect(&self.path("home"), &self.path("home"), &mut all);
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let refs: Vec<&str> = refs
            .lines()
            .filter(|line| !line.starts_with("refs/backstop/"))
            .collect();
        all.insert("refs".into(), refs.join("\n").into_bytes());
        for (name, args) in [
            (
                "status",
                &["status", "--porcelain=v2", "--branch", "--ignored"][..],
            ),
            ("stash", &["stash", "list"]),
            ("config", &["config", "--list", "--show-origin"]),
        ] {
            all.insert(name.into(), self.git(args).into_bytes());
        }
        all
    }
}

impl World {
    /// Kills everything that was started here, also what is started meanwhile.
    pub(crate) fn end_all(&self) {
        let own = std::process::id();
        for _ in 0..200 {
            let mut left = self.processes();
            left.retain(|(pid, _)| *pid != own);
            if left.is_empty() {
                return;
            }
            for (pid, _) in left {
                let pid = i32::try_from(pid).ok();
                if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for World {
    /// A failed test leaves no process behind that would outlive it.
    fn drop(&mut self) {
        self.end_all();
    }
}

/// A running Backstop.
pub(crate) struct Started {
    child: Child,
    files: TempDir,
}

impl Started {
    /// Ends it without any warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it has said so far.
    pub(crate) fn told(&self) -> String {
        fs::read_to_string(self.files.path().join("err")).unwrap_or_default()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Said {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                self.kill();
                panic!("it never ended:\n{}", self.told());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let read = |name: &str| {
            let bytes = fs::read(self.files.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Said {
            code: status.code().unwrap_or(-1),
            out: read("out"),
            err: read("err"),
        }
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn collect(root: &Path, dir: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = shown(path.strip_prefix(root).unwrap());
        if kind.is_dir() {
            all.insert(format!("{name}/"), Vec::new());
            collect(root, &path, all);
        } else {
            let mode = entry.metadata().unwrap().permissions().mode();
            let mut bytes = format!("{mode:o} ").into_bytes();
            bytes.extend(fs::read(&path).unwrap_or_default());
            all.insert(name, bytes);
        }
    }
}

/// What changed between two looks at the operator's things.
pub(crate) fn changed(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
) -> Vec<String> {
    let names = before.keys().chain(after.keys());
    let mut names: Vec<String> = names
        .filter(|name| before.get(*name) != after.get(*name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}
