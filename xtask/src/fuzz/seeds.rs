//! The inputs that a target starts from: recordings, the examples of the manuals, and what stands in `fuzz/seeds`.

use serde_json::Value;

use crate::failure::Failure;
use crate::repo::Repo;

const RECORDINGS: &str = "crates/backstop-agents/tests/recordings/";
const RESETS: &str = "crates/backstop-agents/tests/resets.json";

/// The seeds of a target.
pub(super) fn of(repo: &Repo, target: &str) -> Result<Vec<String>, Failure> {
    let mut seeds = own(repo, target);
    match target {
        "config" => seeds.extend(blocks(repo.text("docs/guide.md").unwrap_or_default())),
        "journal" => seeds.extend(below(repo, "crates/backstop-runner/tests/golden/")),
        "policy_json" => seeds.extend(questions(repo)),
        "resets" => seeds.extend(wordings(repo)?),
        _ => {}
    }
    if let Some(agent) = target.strip_prefix("agent_") {
        seeds.extend(recorded(repo, agent));
    }
    Ok(seeds)
}

/// The text files below a folder.
fn below(repo: &Repo, folder: &str) -> Vec<String> {
    let files = repo
        .files
        .iter()
        .filter(|file| file.path.starts_with(folder));
    files.map(|file| file.text.clone()).collect()
}

fn own(repo: &Repo, target: &str) -> Vec<String> {
    below(repo, &format!("fuzz/seeds/{target}/"))
}

/// Standard output, a NUL, standard error; and standard error alone, which a long output would leave no room for.
fn recorded(repo: &Repo, agent: &str) -> Vec<String> {
    let folder = format!("{RECORDINGS}{agent}/");
    let outputs = repo.files.iter().filter_map(|file| {
        let run = file.path.strip_suffix("stdout.txt")?;
        run.starts_with(&folder).then_some((run, &file.text))
    });
    let both = outputs.flat_map(|(run, out)| {
        let err = repo.text(&format!("{run}stderr.txt")).unwrap_or_default();
        [format!("{out}\0{err}"), format!("\0{err}")]
    });
    both.collect()
}

/// The TOML blocks of a page.
fn blocks(page: &str) -> impl Iterator<Item = String> {
    let begun = page.split("```toml\n").skip(1);
    begun.filter_map(|block| block.split("```").next().map(str::to_owned))
}

/// The questions of the manual.
fn questions(repo: &Repo) -> Vec<String> {
    let page = repo.text("docs/policy-json.md").unwrap_or_default();
    let lines = page.lines().filter(|line| line.starts_with("{\"op\""));
    lines.map(str::to_owned).collect()
}

/// The words of every case: alone, or the name of a field and its value.
fn wordings(repo: &Repo) -> Result<Vec<String>, Failure> {
    let text = repo.text(RESETS).unwrap_or("[]");
    let groups: Vec<Value> = serde_json::from_str(text)
        .map_err(|error| Failure::unreadable(format!("`{RESETS}`"), error))?;
    let mut words = Vec::new();
    for (key, many) in [("cases", 1), ("fields", 2)] {
        let cases = groups.iter().filter_map(|group| group.get(key)?.as_array());
        let said = cases.flatten().filter_map(Value::as_array).map(|case| {
            let said: Vec<&str> = case.iter().take(many).filter_map(Value::as_str).collect();
            said.join("\n")
        });
        words.extend(said);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_target_has_something_to_start_from() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let repo = Repo::open(here).unwrap();
        let mut seen = 0_usize;
        for target in super::super::targets(&repo) {
            assert!(!of(&repo, target).unwrap().is_empty(), "{target}");
            seen += 1;
        }
        assert!(seen > 0);
    }

    #[test]
    fn a_recording_gives_both_streams_and_standard_error_alone() {
        let repo = Repo::of(&[
            (
                "crates/backstop-agents/tests/recordings/a/x/stdout.txt",
                "out",
            ),
            (
                "crates/backstop-agents/tests/recordings/a/x/stderr.txt",
                "err",
            ),
            (
                "crates/backstop-agents/tests/recordings/ab/x/stdout.txt",
                "no",
            ),
        ]);
        assert_eq!(of(&repo, "agent_a").unwrap(), ["out\0err", "\0err"]);
    }
}
