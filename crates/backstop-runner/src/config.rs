//! `backstop.toml`: what an operator sets for a repository or for themselves. Unknown keys are errors.
//!
//! A repository's file is read first, then the operator's own for what the first leaves out; command-line flags are
//! laid over both by the caller. Nothing is read from a workspace: an agent that edits its copy changes nothing.

mod error;
mod file;
mod gates;
mod prompts;
mod units;

pub use error::ConfigError;
pub(crate) use error::closest;
pub use file::{
    AgentTable, AutoTable, CheckTable, File, GateTable, LimitTable, MOST_PARALLEL, PARALLEL,
    PreflightTable, Preset, PromptTable, ReviewTable, RoleTable, RoleTables, RunTable, ShipTable,
    WorkspaceTable,
};
pub use prompts::{LONGEST_PROMPT, Prompts, prompts};
pub use units::{Duration, Size, Usd, micro_usd};

use std::io;
use std::path::{Path, PathBuf};

use backstop_engine::CharterFault;
use backstop_engine::mode::{Account, Ceilings};
use backstop_engine::vocab::GateId;

/// The name of the file at the root of a repository.
pub const FILE_NAME: &str = "backstop.toml";

/// Reads the file at `path`; none where there is none.
///
/// # Errors
/// When it cannot be read, or says something that Backstop does not know.
pub fn read(path: &Path) -> Result<Option<File>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(path, &text).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ConfigError::unreadable(path, &error)),
    }
}

/// The operator's own file: `$XDG_CONFIG_HOME/backstop/config.toml`, else under `~/.config`.
#[must_use]
pub fn own_path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")));
    Some(home?.join("backstop").join("config.toml"))
}

/// Reads `text`, which came from `path`.
///
/// # Errors
/// Everything that is wrong with its gates, else the first thing in it that Backstop does not know, with its place.
pub fn parse(path: &Path, text: &str) -> Result<File, ConfigError> {
    let faults = gates::faults(text);
    if !faults.is_empty() {
        return Err(ConfigError::all(path, text, faults));
    }
    let file: File = toml::from_str(text).map_err(|error| ConfigError::toml(path, text, &error))?;
    ceilings(path, text, &file)?;
    file::check(&file).map_err(|(span, words)| ConfigError::at(path, text, span, &words))?;
    Ok(file)
}

/// Gates that nothing in a mission could ever open, each in its place in the file of the repository at `root` or in the
/// operator's own.
#[must_use]
pub fn unfit_gates(root: &Path, faults: &[(GateId, CharterFault)]) -> ConfigError {
    let repository = root.join(FILE_NAME);
    let paths: Vec<PathBuf> = own_path().into_iter().chain([repository]).rev().collect();
    let texts = paths.iter().map(|path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        (path.as_path(), text)
    });
    let texts: Vec<_> = texts.collect();
    let shown = faults.iter().map(|(id, fault)| {
        let mut places = texts
            .iter()
            .filter_map(|(path, text)| Some((*path, text, gates::place(text, id.as_str())?)));
        match places.next() {
            Some((path, text, span)) => ConfigError::at(path, text, span, &fault.to_string()),
            None => ConfigError::unplaced(fault),
        }
    });
    ConfigError::joined(shown)
}

/// The ceilings that a file asks for, over the defaults.
///
/// # Errors
/// A ceiling that is no ceiling, with its place.
pub fn ceilings(path: &Path, text: &str, file: &File) -> Result<Ceilings, ConfigError> {
    let mut asked: Vec<(Account, u64)> = Vec::new();
    let mut spans = Vec::new();
    for (name, value) in &file.ceilings {
        let account: Account = name
            .get_ref()
            .parse()
            .map_err(|_| ConfigError::unknown_account(path, text, name.span(), name.get_ref()))?;
        let n = units::amount(account, value.get_ref())
            .map_err(|words| ConfigError::at(path, text, value.span(), &words))?;
        asked.push((account, n));
        spans.push((account, value.span()));
    }
    Ceilings::new(&asked).map_err(|faults| {
        let place = |account| {
            spans
                .iter()
                .find(|(a, _)| *a == account)
                .map(|(_, s)| s.clone())
        };
        ConfigError::ceilings(path, text, &faults, &place)
    })
}

#[cfg(test)]
mod tests {
    use backstop_engine::Role;

    use super::*;

    fn refused(text: &str) -> String {
        parse(Path::new("backstop.toml"), text)
            .unwrap_err()
            .to_string()
    }

    /// That a line of a table is refused, shown in this line of the file and in these words.
    fn is_refused(table: &str, line: &str, at: usize, part: &str) {
        let words = refused(&format!("[{table}]\n{line}\n"));
        assert!(
            words.contains(&format!("backstop.toml:{at}")) && words.contains(part),
            "{table} {line}: {words}"
        );
    }

    #[test]
    fn an_empty_file_says_nothing() {
        let file = parse(Path::new("backstop.toml"), "").unwrap();
        assert_eq!(file, File::default());
    }

    #[test]
    fn an_unknown_key_is_shown_in_its_place_with_the_nearest_known_one() {
        let words = refused("mode = \"auto\"\n[ship]\nbye = \"merge\"\n");
        for part in ["backstop.toml:3:1", "bye = \"merge\"", "did you mean `by`?"] {
            assert!(words.contains(part), "{words}");
        }
        assert!(refused("[ceilings]\nstreek = 3\n").contains("did you mean `streak`?"));
    }

    #[test]
    fn a_ceiling_that_is_none_is_refused_in_its_place() {
        for (line, part) in [
            ("streak = 0", "0"),
            ("streak = -1", "positive"),
            ("streak = 11", "10"),
            ("streak = \"lots\"", "whole number"),
            ("cost = \"lots\"", "US dollars"),
            ("active_time = 5", "duration"),
            ("active_time = \"900d\"", "at most"),
        ] {
            is_refused("ceilings", line, 2, part);
        }
    }

    #[test]
    fn what_the_machine_cannot_give_is_refused_in_its_place() {
        for (line, part) in [
            ("parallel = 0", "from 1 to 64"),
            ("parallel = -1", "from 1 to 64"),
            ("parallel = 65", "from 1 to 64"),
            ("parallel = \"all\"", "i64"),
            ("min_free_disk = \"lots\"", "64 MiB"),
            ("min_free_memory = 5", "string"),
            ("paralell = 2", "did you mean `parallel`?"),
        ] {
            is_refused("run", line, 2, part);
        }
    }

    #[test]
    fn what_no_mission_can_mean_is_refused_in_its_place() {
        for (table, line, part) in [
            ("agents.exce", "command = \"x\"", "`exce` is not an agent"),
            ("agents.claude", "command = \"x\"", "reads no `command`"),
            ("agents.exec", "program = \"x\"", "reads no `program`"),
            ("agents.exec", "script = \"x\"", "reads no `script`"),
            ("agents.scripted", "command = \"x\"", "reads no `command`"),
            ("roles.implementer", "off = true", "never off"),
            ("limits", "idle = \"0s\"", "1ms to 7d"),
            ("limits", "attempt = \"8d\"", "1ms to 7d"),
            ("limits", "check_timeout = \"99999999999d\"", "1ms to 7d"),
            ("limits", "stop_grace = \"0s\"", "1ms to 7d"),
            ("limits", "shortest_limit_wait = \"0s\"", "1ms to 7d"),
            ("gate", "expiry = \"0s\"", "1ms to 90d"),
            ("gate", "expiry = \"91d\"", "1ms to 90d"),
            (
                "review",
                "protected = [\"ci/\", \"/etc/passwd\"]",
                "`/etc/passwd`",
            ),
            ("review", "protected = [\"a/../../x\"]", "`a/../../x`"),
            ("review", "protected = [\"\"]", "no path in the repository"),
        ] {
            // A key that an agent does not read is shown at its table.
            let at = if table.starts_with("agents") { 1 } else { 2 };
            is_refused(table, line, at, part);
        }
        let most = "[limits]\nidle = \"7d\"\n[gate]\nexpiry = \"90d\"\n[agents.claude]\nprogram = \"x\"\n[roles.implementer]\noff = false\n";
        assert!(parse(Path::new("backstop.toml"), most).is_ok());
    }

    #[test]
    fn what_the_machine_gives_is_read() {
        let text =
            "[run]\nparallel = 2\nmin_free_disk = \"1 GiB\"\nmin_free_memory = \"512 MiB\"\n";
        let run = parse(Path::new("backstop.toml"), text).unwrap().run;
        assert_eq!(run.parallel(), Some(2));
        assert_eq!(run.min_free_disk.unwrap().bytes(), 1 << 30);
        assert_eq!(run.min_free_memory.unwrap().bytes(), 512 << 20);
        assert_eq!(RunTable::default().parallel(), Some(PARALLEL));
    }

    #[test]
    fn every_fault_of_the_gates_is_told_at_once_in_its_place() {
        let words = refused(
            r#"preset = "stopship"
[[gates]]
id = " "
role = "scout"
on = "role_complete"
gate = "verify"
on_fail = "block"
max_retries = 3
bocks_role = "planner"
colour = "red"
[[gates]]
id = "scout-findings"
role = "tester"
on = "role_complete"
gate = "approve"
on_fail = "retry"
max_retries = 11
artifact_kind = "outlines"
require_explicit_verdict = false
[[gates]]
id = "late"
role = "verifier"
on = "role_complete"
gate = "verify"
on_fail = "never"
[[gates]]
id = "round"
role = "verifier"
blocks_role = "reviewer"
on = "role_complete"
gate = "verify"
on_fail = "block"
"#,
        );
        for part in [
            "backstop.toml:1:10",
            "backstop.toml:3:6",
            "backstop.toml:8:15",
            "backstop.toml:9:1",
            "did you mean `blocks_role`?",
            "backstop.toml:10:1",
            "backstop.toml:12:6",
            "backstop.toml:13:8",
            "`role` names the unknown role `tester`",
            "backstop.toml:17:15",
            "backstop.toml:18:17",
            "backstop.toml:19:28",
            "backstop.toml:25:11",
            "unknown variant `never`",
            "backstop.toml:29:15",
            "reviewer → verifier → reviewer",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert_eq!(words.matches("--> ").count(), 12, "{words}");
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
mode = "supervise"
agent = "exec"
model = "m"
effort = "high"
checks = ["true"]
[[check]]
name = "unit"
command = "cargo test"
[agents.exec]
command = "agent"
assumed_cost = 0.5
[agents.scripted]
script = "play.toml"
[roles.scout]
off = true
[roles.implementer]
agent = "scripted"
model = "n"
effort = "low"
[prompts]
scout = "prompts/scout.md"
planner = "prompts/planner.md"
implementer = "prompts/implementer.md"
reviewer = "prompts/reviewer.md"
verifier = "prompts/verifier.md"
release_lead = "prompts/release_lead.md"
plan_propose = "prompts/plan_propose.md"
[ceilings]
streak = 2
cost = 1.5
active_time = "2h"
[auto]
on_question = "decide"
[gate]
expiry = "24h"
[ship]
by = "merge"
[preflight]
require_green_base = true
require_clean = true
[workspace]
setup = ["make deps"]
copy = [".env.test"]
[limits]
idle = "10m"
attempt = "2h"
check_timeout = "30m"
stop_grace = "10s"
shortest_limit_wait = "1m"
[review]
protected = ["ci/"]
"#;
        let path = Path::new("backstop.toml");
        let file = parse(path, text).unwrap();
        let ceilings = ceilings(path, text, &file).unwrap();
        assert_eq!(ceilings.of(Account::Streak), 2);
        assert_eq!(ceilings.of(Account::Cost), 1_500_000);
        assert_eq!(ceilings.of(Account::ActiveTime), 2 * 3_600_000);
        for role in Role::ALL {
            let named = file.prompts.of(role).unwrap().get_ref().clone();
            assert_eq!(named, PathBuf::from(format!("prompts/{role}.md")));
        }
        let files: Vec<_> = file.prompts.files().collect();
        assert_eq!(files.len(), 7, "{files:?}");
        assert_eq!(files[6], Path::new("prompts/plan_propose.md"));
        assert_eq!(file.gate.expiry.unwrap().get_ref().millis(), 24 * 3_600_000);
    }
}
