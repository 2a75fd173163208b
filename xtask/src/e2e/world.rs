//! A world for one mission: a home, a repository, a place for the state, and Backstop as it is built.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::agents::{Installed, Retries, put};
use crate::failure::Failure;
use crate::program::Line;

/// Longer than anything takes here: who reaches it hangs.
const PATIENCE: Duration = Duration::from_mins(3);

/// How often something is looked at that is waited for.
const LOOK: Duration = Duration::from_millis(100);

/// How long a process may still be on its way out.
const LEAVING: Duration = Duration::from_secs(3);

/// The world.
#[derive(Debug)]
pub(crate) struct World {
    root: TempDir,
    environment: Vec<(String, String)>,
    backstop: PathBuf,
}

/// How a command of Backstop ended.
#[derive(Debug)]
pub(crate) struct Said {
    code: Option<i32>,
    words: String,
}

/// A failed demand.
pub(crate) fn wrong(words: impl Into<String>) -> Failure {
    Failure::Wrong(words.into())
}

/// Demands that two things are the same.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    wanted: &T,
) -> Result<(), Failure> {
    if found == wanted {
        return Ok(());
    }
    Err(wrong(format!("{what} is {found:?}, not {wanted:?}")))
}

impl World {
    /// A repository with one commit and these settings, in which `installed` is pointed at `url`.
    pub(crate) fn new(
        (installed, retries): (&Installed, Retries),
        url: &str,
        backstop: &Path,
        settings: &str,
    ) -> Result<Self, Failure> {
        let root = tempfile::Builder::new().prefix("backstop-e2e-").tempdir();
        let root = root.map_err(|error| Failure::file(&std::env::temp_dir(), error))?;
        let place = |name: &str| root.path().join(name);
        for name in ["home", "repo", "state", "tmp"] {
            fs::create_dir(place(name)).map_err(|error| Failure::file(&place(name), error))?;
        }
        put(
            &place("home/.gitconfig"),
            "[user]\nname = Operator\nemail = operator@example.invalid\n",
        )?;
        let folder = |name: &str| place(name).display().to_string();
        let mut environment = vec![
            ("PATH".to_owned(), installed.path()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("USER".to_owned(), "operator".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            ("HOME".to_owned(), folder("home")),
            ("XDG_CONFIG_HOME".to_owned(), folder("home/.config")),
            ("XDG_STATE_HOME".to_owned(), folder("state")),
            ("TMPDIR".to_owned(), folder("tmp")),
        ];
        let pointed = installed.point(url, &place("home"), retries)?;
        environment.extend(
            pointed
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        let world = Self {
            root,
            environment,
            backstop: backstop.to_owned(),
        };
        put(&world.path("repo/backstop.toml"), settings)?;
        for words in [
            "init --quiet --initial-branch=main",
            "add --all",
            "commit --quiet --message init",
        ] {
            world.git(words)?;
        }
        Ok(world)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Keeps the folder, for whoever looks why it failed.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.root.disable_cleanup(true);
        self.root.path().to_owned()
    }

    /// A command in the repository, with the environment of this world.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.path("repo")).stdin(Stdio::null());
        command
    }

    fn git(&self, words: &str) -> Result<(), Failure> {
        let done = self
            .command(Path::new("git"))
            .args(words.split(' '))
            .output();
        let done = done.map_err(|error| Failure::file(Path::new("git"), error))?;
        if done.status.success() {
            return Ok(());
        }
        Err(wrong(format!(
            "`git {words}`: {}",
            String::from_utf8_lossy(&done.stderr)
        )))
    }

    /// Starts Backstop; its words go to a file.
    pub(crate) fn start(&self, args: &[&str]) -> Result<Running, Failure> {
        let log = self.path("backstop.log");
        let file = File::options().create(true).append(true).open(&log);
        let file = file.map_err(|error| Failure::file(&log, error))?;
        let other = file
            .try_clone()
            .map_err(|error| Failure::file(&log, error))?;
        let child = self
            .command(&self.backstop)
            .args(args)
            .stdout(file)
            .stderr(other)
            .spawn();
        let child = child.map_err(|error| Failure::file(&self.backstop, error))?;
        Ok(Running { child, log })
    }

    /// Starts the mission.
    pub(crate) fn mission(&self) -> Result<Running, Failure> {
        self.start(&["run", "create out.txt", "--from", "code"])
    }

    /// What a command prints in JSON, a value a line or one in all.
    fn told(&self, args: &[&str]) -> Result<Vec<Value>, Failure> {
        let done = self.command(&self.backstop).args(args).output();
        let done = done.map_err(|error| Failure::file(&self.backstop, error))?;
        let values = serde_json::Deserializer::from_slice(&done.stdout).into_iter();
        let values: Result<Vec<Value>, _> = values.collect();
        values.map_err(|error| wrong(format!("`backstop {}`: {error}", args.join(" "))))
    }

    /// The status of the only mission; null before there is one.
    pub(crate) fn status(&self) -> Result<Value, Failure> {
        let told = self.told(&["status", "--json"])?;
        let mission = told.first().and_then(|all| all.pointer("/missions/0"));
        Ok(mission.cloned().unwrap_or_default())
    }

    /// The facts of this name in the journal, in order.
    pub(crate) fn facts(&self, name: &str) -> Result<Vec<Value>, Failure> {
        let records = self.told(&["journal", "export"])?;
        let facts = records
            .iter()
            .filter_map(|record| record.pointer("/event")?.get(name).cloned());
        Ok(facts.collect())
    }

    /// The living processes of this world with their command lines: by the mission's mark, or by the world's home.
    pub(crate) fn processes(&self) -> Vec<(String, String)> {
        let home = format!("HOME={}", self.path("home").display());
        let mission = self.path("state").display().to_string();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let mut settings = environment
                .split(|byte| *byte == 0)
                .map(String::from_utf8_lossy);
            let here = settings.any(|setting| {
                setting == home || setting.starts_with("BACKSTOP_") && setting.contains(&mission)
            });
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            here.then(|| (entry.file_name().to_string_lossy().into_owned(), words))
        });
        found.collect()
    }

    /// Ends everything that still runs here.
    pub(crate) fn end_all(&self) {
        for (pid, _) in self.processes() {
            let line = Line::new("sh", "-c").with(format!("kill -KILL {pid}"));
            // One that is gone by now needs no end.
            drop(line.read(self.root.path()));
        }
    }

    /// Demands that nothing of this world runs any more.
    pub(crate) fn nothing_runs(&self) -> Result<(), Failure> {
        self.gone(|_| true)
    }

    /// Demands the same of everything but Backstop itself.
    pub(crate) fn nothing_of_the_agent_runs(&self) -> Result<(), Failure> {
        let own = self.backstop.display().to_string();
        self.gone(|words| !words.starts_with(&own))
    }

    fn gone(&self, counts: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let begun = Instant::now();
        loop {
            let mut left = self.processes();
            left.retain(|(_, words)| counts(words));
            if left.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > LEAVING {
                return Err(wrong(format!("these still run: {left:?}")));
            }
            thread::sleep(LOOK);
        }
    }
}

/// A command of Backstop that runs.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Waits for its end.
    pub(crate) fn end(mut self) -> Result<Said, Failure> {
        let begun = Instant::now();
        while !self.has_ended()? {
            if begun.elapsed() > PATIENCE {
                return Err(wrong(format!("backstop never ended:\n{}", self.words())));
            }
            thread::sleep(LOOK);
        }
        let status = self
            .child
            .wait()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Said {
            code: status.code(),
            words: self.words(),
        })
    }

    /// Waits until it holds, as long as the command runs.
    pub(crate) fn until(
        &mut self,
        what: &str,
        mut holds: impl FnMut() -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        while !holds()? {
            if self.has_ended()? || begun.elapsed() > PATIENCE {
                let words = self.words();
                return Err(wrong(format!("`{what}` never came:\n{words}")));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn has_ended(&mut self) -> Result<bool, Failure> {
        let ended = self
            .child
            .try_wait()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(ended.is_some())
    }

    /// What it said so far.
    fn words(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Running {
    /// A failed scenario leaves no process behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Said {
    /// Demands this exit status.
    pub(crate) fn with(self, code: i32) -> Result<(), Failure> {
        if self.code == Some(code) {
            return Ok(());
        }
        Err(wrong(format!(
            "backstop ended with {:?}, not {code}:\n{}",
            self.code, self.words
        )))
    }
}
