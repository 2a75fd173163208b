//! The programs of agents on this machine: where they are, which version, whether somebody is logged in.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use backstop_agents::{self as agents, About, Access, Invocation, Support};
use serde::Serialize;

use crate::process;

/// How long a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);

/// One agent as it is on this machine.
#[derive(Debug, Clone, Serialize)]
pub struct Installed {
    /// Its name in Backstop.
    pub name: &'static str,
    /// Why it cannot be started, and what to do.
    pub problem: Option<String>,
    /// Where its program is; none for an agent that has none of its own.
    pub path: Option<PathBuf>,
    /// What its program says of its version.
    pub version: Option<String>,
    /// The version that its recordings were made with.
    pub tested: Option<&'static str>,
    /// How somebody is logged in to it, as far as can be seen from outside.
    pub login: Option<String>,
    /// Whether a session can be taken up again.
    pub resume: bool,
    /// Whether an answer can be asked for by a schema.
    pub structured: bool,
    /// Whether it says what it cost.
    pub cost: bool,
    /// What does not work, or not well.
    pub gaps: &'static [&'static str],
}

/// An agent as it is on this machine, with the operator's settings for it.
///
/// Asks its program for its version, which can take seconds.
#[must_use]
pub fn look(agent: &'static dyn agents::Adapter, options: Vec<(String, String)>) -> Installed {
    let (about, features) = (agent.about(), agent.features());
    let mut found = Installed {
        name: agent.name(),
        problem: None,
        path: None,
        version: None,
        tested: about.map(|about| about.tested),
        login: about.as_ref().and_then(login),
        resume: features.resume == Support::Yes,
        structured: agent.structured() == Support::Yes,
        cost: features.cost == Support::Yes,
        gaps: about.map_or(&[], |about| about.gaps),
    };
    let invocation = of(options);
    if let Err(words) = agent.command(&invocation) {
        found.problem = Some(words);
    } else if let Some(about) = about {
        ask(&mut found, &invocation.program(about.program));
    } else if let Some(program) = missing_program(&invocation) {
        found.problem = Some(not_found(&program));
    }
    found
}

/// What is lacking of the settings of an agent, whatever there is on this machine.
///
/// # Errors
/// When it has no command line with them; the words say what to set.
pub(crate) fn unset(name: &str, options: Vec<(String, String)>) -> Result<(), String> {
    agents::known(name)?.command(&of(options)).map(drop)
}

fn of(options: Vec<(String, String)>) -> Invocation {
    Invocation {
        prompt: String::new(),
        model: None,
        effort: None,
        session: None,
        fresh_session: None,
        access: Access::Write,
        schema: None,
        options,
    }
}

fn not_found(program: &str) -> String {
    format!("`{program}` is not found: install it, or open a mission with another command")
}

/// Looks for the program and asks it for its version.
fn ask(found: &mut Installed, program: &Path) {
    found.path = find(program, env::var_os("PATH").as_deref());
    match found.path.as_deref().map(version) {
        Some(Ok(version)) => found.version = Some(version),
        Some(Err(words)) => found.problem = Some(words),
        None => found.problem = Some(not_found(&program.display().to_string())),
    }
}

impl Installed {
    /// What a reader wants to know of it, in one line.
    #[must_use]
    pub fn words(&self) -> String {
        if let Some(problem) = &self.problem {
            return problem.clone();
        }
        let Some(version) = &self.version else {
            return "ready".into();
        };
        let tested = match self.tested {
            Some(tested) if !version.contains(tested) => format!(" (tried with {tested})"),
            Some(_) | None => String::new(),
        };
        let login = match &self.login {
            Some(login) => format!("logged in {login}"),
            None => "no login is seen from here".into(),
        };
        format!("{version}{tested}; {login}")
    }
}

/// The first word of an `exec` command or the path of a script, where it is a plain name of something that is not there.
/// A path inside the workspace cannot be judged before the workspace is there.
fn missing_program(invocation: &Invocation) -> Option<String> {
    if let Some(script) = invocation.option(agents::SCRIPT) {
        return (!Path::new(script).is_file()).then(|| script.to_owned());
    }
    let command = invocation.option(agents::EXEC_COMMAND)?;
    let word = command.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
    if !word.chars().all(plain) || (word.contains('/') && !word.starts_with('/')) {
        return None;
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "command -v -- \"$1\"", "sh", word]);
    let asked = process::output(&mut command);
    asked
        .is_ok_and(|asked| !asked.status.success())
        .then(|| word.to_owned())
}

/// Where a program is: a name is looked up in the absolute folders of `path`.
#[must_use]
pub fn find(program: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let runs = |file: &PathBuf| {
        fs::metadata(file)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(runs);
    }
    path.iter()
        .flat_map(env::split_paths)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(runs)
}

/// What a program prints of its version, the first line that has a digit.
///
/// # Errors
/// Why it does not tell; the words say what to do.
pub fn version(program: &Path) -> Result<String, String> {
    let place = program.display();
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut started = process::start(&mut command)
        .map_err(|error| format!("`{place}` does not start: {error}"))?;
    let Some(ended) = process::finish(&mut started.child, LIMIT) else {
        return Err(format!(
            "`{place} --version` did not end within {} s: run it by hand",
            LIMIT.as_secs()
        ));
    };
    let ended = ended.map_err(|error| format!("`{place}` cannot be waited for: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (out, err) = (text(&ended.stdout), text(&ended.stderr));
    if !ended.status.success() {
        let said = if err.is_empty() { out } else { err };
        let last = said.lines().last().unwrap_or("nothing").to_owned();
        return Err(format!(
            "`{place} --version` fails ({}), its last words are `{last}`: install it anew",
            ended.status
        ));
    }
    let mut lines = out.lines().chain(err.lines());
    let told = lines.find(|line| line.contains(|c: char| c.is_ascii_digit()));
    told.map(|line| line.trim().chars().take(80).collect())
        .ok_or_else(|| format!("`{place} --version` names no version: install it anew"))
}

/// How somebody is logged in to an agent, as far as the environment and the home directory tell; none where nothing does.
#[must_use]
pub fn login(about: &About) -> Option<String> {
    let set = |name: &&&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = about.variables.iter().find(set) {
        return Some(format!("by `{variable}`"));
    }
    let home = PathBuf::from(env::var_os("HOME")?);
    let file = about.logins.iter().find(|file| home.join(file).is_file())?;
    Some(format!("by `~/{file}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agent");
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        (dir, file)
    }

    #[test]
    fn the_version_is_the_first_line_with_a_digit_on_either_stream() {
        let (_dir, file) = script("echo Welcome; echo 'agent 1.2.3 (beta)'");
        assert_eq!(version(&file).unwrap(), "agent 1.2.3 (beta)");
        let (_dir, file) = script("echo 0.9 >&2");
        assert_eq!(version(&file).unwrap(), "0.9");
    }

    #[test]
    fn a_program_that_does_not_tell_its_version_says_why() {
        let (_dir, file) = script("echo no node here >&2; exit 3");
        let words = version(&file).unwrap_err();
        assert!(
            words.contains("no node here") && words.contains("exit status: 3"),
            "{words}"
        );
        let (_dir, file) = script("echo hi");
        assert!(version(&file).unwrap_err().contains("names no version"));
        assert!(
            version(Path::new("/nowhere/agent"))
                .unwrap_err()
                .contains("does not start")
        );
    }

    #[test]
    fn a_program_is_found_by_name_in_absolute_folders_only() {
        let (dir, file) = script("true");
        let path = env::join_paths([Path::new("."), dir.path()]).unwrap();
        assert_eq!(find(Path::new("agent"), Some(&path)), Some(file.clone()));
        assert_eq!(find(Path::new("other"), Some(&path)), None);
        assert_eq!(find(&file, None), Some(file));
    }
}
