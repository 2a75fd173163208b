//! `fuzz-smoke`: every target of `fuzz/` for a while, with a pinned cargo-fuzz, from what was recorded and written down.
//!
//! What a fuzzer found worth keeping stays beside the tools, so that each run goes on from the last one. No sanitizer is
//! used: nothing here is unsafe, and without one the stable toolchain does.

mod seeds;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Fault, none};
use crate::program::Line;
use crate::repo::Repo;
use crate::tools::{self, Tool};

const FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    version: "0.13.2",
};

/// Where the targets are.
const TARGETS: &str = "fuzz/fuzz_targets/";

/// How long each target runs unless it is said, in seconds.
const SECONDS: u64 = 30;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    seconds: u64,
    target: Option<String>,
}

/// Reads the options; none where they are not understood.
pub(crate) fn asked(words: &[&str]) -> Option<Asked> {
    let mut asked = Asked {
        seconds: SECONDS,
        target: None,
    };
    for pair in words.chunks(2) {
        match pair {
            ["--seconds", n] => asked.seconds = n.parse().ok().filter(|n| *n > 0)?,
            ["--target", name] => asked.target = Some((*name).to_owned()),
            _ => return None,
        }
    }
    Some(asked)
}

/// Runs the targets, all of them even where one finds something.
pub(crate) fn smoke(repo: &Repo, asked: &Asked) -> Result<(), Failure> {
    let targets = wanted(repo, asked.target.as_deref())?;
    let program = FUZZ.ready(&repo.root)?;
    let kept = tools::folder()?.join("fuzz");
    let mut faults = Vec::new();
    for target in targets {
        let run = Run::new(&program, &kept, target, asked.seconds);
        run.seed(repo)?;
        faults.extend(run.run(&repo.root)?);
    }
    none(faults)
}

/// The targets there are.
fn targets(repo: &Repo) -> impl Iterator<Item = &str> {
    let paths = repo.paths.iter().map(String::as_str);
    paths.filter_map(|path| path.strip_prefix(TARGETS)?.strip_suffix(".rs"))
}

/// The targets that are asked for.
fn wanted<'a>(repo: &'a Repo, name: Option<&str>) -> Result<Vec<&'a str>, Failure> {
    let found: Vec<&str> = targets(repo)
        .filter(|target| name.is_none_or(|name| name == *target))
        .collect();
    if found.is_empty() {
        let all: Vec<&str> = targets(repo).collect();
        return Err(Failure::Usage(format!(
            "`{}` is not a target: use one of {}",
            name.unwrap_or_default(),
            all.join(", ")
        )));
    }
    Ok(found)
}

/// One target and where its inputs are.
struct Run<'a> {
    program: &'a Path,
    target: &'a str,
    corpus: PathBuf,
    found: PathBuf,
    seconds: u64,
}

impl<'a> Run<'a> {
    fn new(program: &'a Path, kept: &Path, target: &'a str, seconds: u64) -> Self {
        Self {
            program,
            target,
            corpus: kept.join("corpus").join(target),
            found: kept.join("found").join(target),
            seconds,
        }
    }

    /// Puts the inputs to start from in place; what a run finds has a folder of its own.
    fn seed(&self, repo: &Repo) -> Result<(), Failure> {
        for folder in [&self.corpus, &self.found] {
            fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
        }
        for (number, seed) in seeds::of(repo, self.target)?.into_iter().enumerate() {
            let path = self.corpus.join(format!("seed-{number}"));
            fs::write(&path, seed).map_err(|error| Failure::file(&path, error))?;
        }
        Ok(())
    }

    /// Fuzzes for a while; gives what was found.
    fn run(&self, root: &Path) -> Result<Option<Fault>, Failure> {
        self.build().run(root)?;
        let Err(ended) = self.fuzz().run(root) else {
            return Ok(None);
        };
        let Some(input) = newest(&self.found)? else {
            return Err(ended);
        };
        let said = format!(
            "`{}` breaks a law: repeat it with `{}`",
            input.display(),
            self.repeat(&input)
        );
        Ok(Some(Fault::of(self.target, said)))
    }

    fn cargo_fuzz(&self, command: &str) -> Line {
        Line::new(&self.program.to_string_lossy(), command)
            .with("--fuzz-dir")
            .with("fuzz")
            .with("--sanitizer")
            .with("none")
            .with(self.target)
    }

    fn build(&self) -> Line {
        self.cargo_fuzz("build")
    }

    fn fuzz(&self) -> Line {
        self.cargo_fuzz("run")
            .with(self.corpus.to_string_lossy())
            .with("--")
            .with(format!("-max_total_time={}", self.seconds))
            .with(format!("-artifact_prefix={}/", self.found.display()))
            .with("-max_len=4096")
            .with("-timeout=10")
            .with("-rss_limit_mb=1024")
            .with("-verbosity=0")
            .with("-print_final_stats=1")
    }

    /// The line that runs one input.
    fn repeat(&self, input: &Path) -> Line {
        self.cargo_fuzz("run").with(input.to_string_lossy())
    }
}

/// The file that was written last.
fn newest(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::file(folder, error))?;
    let files = entries.flatten().filter_map(|entry| {
        let written = entry.metadata().ok()?.modified().ok()?;
        Some((written, entry.path()))
    });
    Ok(files.max().map(|(_, path)| path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> Repo {
        Repo::of(&[
            ("fuzz/fuzz_targets/agent_a.rs", "//! A."),
            ("fuzz/fuzz_targets/plan.rs", "//! A plan."),
            ("fuzz/src/lib.rs", "//! All."),
        ])
    }

    #[test]
    fn the_options_are_a_time_and_a_target_in_any_order() {
        let of = |seconds, target: Option<&str>| {
            let target = target.map(str::to_owned);
            Some(Asked { seconds, target })
        };
        assert_eq!(asked(&[]), of(SECONDS, None));
        let both = of(5, Some("plan"));
        assert_eq!(asked(&["--seconds", "5", "--target", "plan"]), both);
        assert_eq!(asked(&["--target", "plan", "--seconds", "5"]), both);
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["plan", "5"]] {
            assert_eq!(asked(wrong), None);
        }
    }

    #[test]
    fn every_target_runs_unless_one_is_named() {
        let repo = repo();
        assert_eq!(wanted(&repo, None).unwrap(), ["agent_a", "plan"]);
        assert_eq!(wanted(&repo, Some("plan")).unwrap(), ["plan"]);
        let refused = wanted(&repo, Some("x")).unwrap_err().to_string();
        assert_eq!(refused, "`x` is not a target: use one of agent_a, plan");
    }

    /// A run in which a script stands for the fuzzer: the shell takes the command for the name of one.
    fn played(script: &str) -> (tempfile::TempDir, Option<Fault>) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("build"), "").unwrap();
        fs::write(folder.path().join("run"), script).unwrap();
        let run = Run::new(Path::new("sh"), folder.path(), "plan", 1);
        run.seed(&Repo::of(&[("fuzz/seeds/plan/a.json", "{}")]))
            .unwrap();
        let seed = folder.path().join("corpus/plan/seed-0");
        assert_eq!(fs::read_to_string(seed).unwrap(), "{}");
        let found = run.run(folder.path()).unwrap();
        (folder, found)
    }

    #[test]
    fn a_finding_is_told_with_its_input_and_how_to_repeat_it() {
        let script = "echo x >found/plan/crash-1\nexit 77\n";
        let (folder, found) = played(script);
        let said = found.unwrap().said;
        let input = folder.path().join("found/plan/crash-1");
        assert!(said.starts_with(&format!("`{}` breaks a law", input.display())));
        let repeat = format!("--fuzz-dir fuzz --sanitizer none plan {}`", input.display());
        assert!(said.ends_with(&repeat), "{said}");
    }

    #[test]
    fn a_fuzzer_that_ends_well_found_nothing() {
        assert_eq!(played("exit 0\n").1, None);
    }
}
