//! `record`: one run of a real agent CLI against the scripted model, kept as a recording for the tests of its adapter.
//!
//! Its command line is the adapter's own. Deliberately absent: a judgement. What the run must be taken for comes from
//! the scene; whoever commits a recording looks at it first.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use backstop_agents::{Access, CommandLine, Invocation, Stdin, Stream, Transcript};
use serde_json::{Value, json};

use crate::e2e::{self, Installed, Retries, World};
use crate::failure::Failure;
use crate::model::{Model, SCENES};
use crate::program::Line;
use crate::repo::Repo;

/// What the agent is told.
const PROMPT: &str = "Create out.txt containing hello and report when done.";

/// How long a run may take before it is told to end.
const LONGEST: Duration = Duration::from_secs(90);

/// How long it may then take to end.
const GRACE: Duration = Duration::from_secs(8);

/// When a scene that is about a signal sends it: every CLI is at work by then.
const AT_WORK: Duration = Duration::from_secs(15);

const LOOK: Duration = Duration::from_millis(100);

/// Where recordings are kept.
const RECORDINGS: &str = "crates/backstop-agents/tests/recordings";

/// Records one scene with one agent.
pub(crate) fn run(
    repo: &Repo,
    (agent, scene): (&str, &str),
    out: Option<&Path>,
) -> Result<(), Failure> {
    let known = SCENES.iter().find(|(name, ..)| *name == scene);
    let (_, plays, expected) = known.ok_or_else(|| unknown(scene))?;
    let installed = e2e::find(agent)?.install(&repo.root)?;
    let model = Model::start(*plays)?;
    let with = (&installed, Retries::Usual);
    let world = World::new(with, &model.url(), Path::new("backstop"), "")?;
    let line = command_line(&installed)?;
    let ended = play(&world, &line, scene)?;
    let usual = repo.root.join(RECORDINGS).join(agent);
    let folder = out.unwrap_or(&usual).join(scene);
    fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let scrub = Scrub::of(&world, &model.url(), &installed);
    let [stdout, stderr] = ["stdout.txt", "stderr.txt"].map(|name| scrub.file(&world.path(name)));
    let (stdout, stderr) = (stdout?, stderr?);
    let heard = heard(agent, &stdout, &stderr);
    let result = json!({
        "cli": agent, "version": installed.agent.version, "scenario": scene,
        "exit_code": ended.status.code(), "signal": ended.status.signal().map(signal),
        "signal_sent": ended.sent, "timed_out": ended.sent.is_some_and(|sent| sent.contains("watchdog")),
        "session_id": heard.session, "final_message": heard.message, "repo_after": after(&world)?,
        "expected_status": expected, "blind_spot": *expected == "NotSuccess",
    });
    let argv = json!({"argv": words(&line), "cwd": "/repo", "stdin": stdin(&line), "env": line.env.iter().cloned().collect::<std::collections::BTreeMap<_, _>>()});
    let files = [
        ("argv.json", pretty(&argv)),
        ("result.json", pretty(&result)),
        ("stdout.txt", stdout),
        ("stderr.txt", stderr),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, scrub.text(&text)).map_err(|error| Failure::file(&path, error))?;
    }
    world.end_all();
    Line::new("ls", "-l")
        .with(folder.to_string_lossy())
        .run(&repo.root)
}

fn unknown(scene: &str) -> Failure {
    let names: Vec<&str> = SCENES.iter().map(|(name, ..)| *name).collect();
    Failure::Usage(format!(
        "`{scene}` is not a scenario of recordings: use one of {}",
        names.join(", ")
    ))
}

/// The adapter's own command line.
fn command_line(installed: &Installed) -> Result<CommandLine, Failure> {
    let name = installed.agent.name;
    let adapter = backstop_agents::find(name)
        .ok_or_else(|| Failure::Wrong(format!("`{name}` has no adapter")))?;
    let invocation = Invocation {
        prompt: PROMPT.to_owned(),
        model: installed.agent.model.map(str::to_owned),
        effort: None,
        session: None,
        fresh_session: None,
        access: Access::Write,
        schema: None,
        options: Vec::new(),
    };
    adapter.command(&invocation).map_err(Failure::Wrong)
}

fn words(line: &CommandLine) -> Vec<String> {
    let program = line
        .program
        .as_ref()
        .map(|program| program.display().to_string());
    program
        .into_iter()
        .chain(line.args.iter().cloned())
        .collect()
}

const fn stdin(line: &CommandLine) -> &'static str {
    match line.stdin {
        Stdin::Null => "null",
        Stdin::Text(_) => "text",
    }
}

/// How a run ended, and what it was sent before.
struct Ended {
    status: ExitStatus,
    sent: Option<&'static str>,
}

fn play(world: &World, line: &CommandLine, scene: &str) -> Result<Ended, Failure> {
    let file = |name: &str| {
        File::create(world.path(name)).map_err(|error| Failure::file(&world.path(name), error))
    };
    let program = line.program.as_deref().unwrap_or(Path::new("backstop"));
    let mut command = world.command(program);
    command
        .args(&line.args)
        .envs(line.env.iter().map(|(name, value)| (name, value)));
    command
        .stdout(file("stdout.txt")?)
        .stderr(file("stderr.txt")?)
        .process_group(0);
    if matches!(line.stdin, Stdin::Text(_)) {
        command.stdin(Stdio::piped());
    }
    let mut child = command
        .spawn()
        .map_err(|error| Failure::file(program, error))?;
    if let (Stdin::Text(text), Some(mut pipe)) = (&line.stdin, child.stdin.take()) {
        // One that reads nothing is recorded as it is.
        drop(pipe.write_all(text.as_bytes()));
    }
    let (after, name, sent) = match scene {
        "sigkill" | "sigkill_tool" => (AT_WORK, "KILL", "SIGKILL"),
        "sigterm" | "sigterm_tool" => (AT_WORK, "TERM", "SIGTERM"),
        _ => (LONGEST, "TERM", "SIGTERM(watchdog)"),
    };
    if let Some(status) = ended(&mut child, after)? {
        return Ok(Ended { status, sent: None });
    }
    // A signal of somebody else meets the program alone, one of the watchdog its whole group.
    let group = if after == LONGEST { "-" } else { "" };
    send(name, group, &child)?;
    if let Some(status) = ended(&mut child, GRACE)? {
        return Ok(Ended {
            status,
            sent: Some(sent),
        });
    }
    send("KILL", "-", &child)?;
    let status = child
        .wait()
        .map_err(|error| Failure::file(program, error))?;
    Ok(Ended {
        status,
        sent: Some("SIGTERM(watchdog)+SIGKILL"),
    })
}

fn send(signal: &str, group: &str, child: &Child) -> Result<(), Failure> {
    let script = format!("kill -s {signal} -- {group}{}", child.id());
    Line::new("sh", "-c").with(script).run(Path::new("."))
}

/// The end of the child, if it comes within that time.
fn ended(child: &mut Child, within: Duration) -> Result<Option<ExitStatus>, Failure> {
    let begun = Instant::now();
    loop {
        let status = child
            .try_wait()
            .map_err(|error| Failure::Wrong(error.to_string()))?;
        if status.is_some() || begun.elapsed() > within {
            return Ok(status);
        }
        thread::sleep(LOOK);
    }
}

fn signal(number: i32) -> String {
    let name = match number {
        2 => "SIGINT",
        9 => "SIGKILL",
        15 => "SIGTERM",
        _ => return number.to_string(),
    };
    name.to_owned()
}

/// What became of the repository: what is not committed, and the subjects of its commits.
fn after(world: &World) -> Result<String, Failure> {
    let git = |words: &str| Line::new("git", words).read(&world.path("repo"));
    Ok(format!(
        "{}{}",
        git("status --porcelain")?,
        git("log --format=%s")?
    ))
}

/// What the adapter hears in it.
fn heard(agent: &str, stdout: &str, stderr: &str) -> Transcript {
    let mut transcript = Transcript::default();
    let Some(adapter) = backstop_agents::find(agent) else {
        return transcript;
    };
    let mut parser = adapter.parser();
    let mut events = parser.take(Stream::Out, stdout.as_bytes());
    events.extend(parser.take(Stream::Err, stderr.as_bytes()));
    events.extend(parser.finish());
    for event in events {
        transcript.take(event, backstop_engine::vocab::Timestamp::from_millis(0));
    }
    transcript
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// What a recording must not name, and what stands there instead.
struct Scrub(Vec<(String, &'static str)>);

impl Scrub {
    fn of(world: &World, url: &str, installed: &Installed) -> Self {
        let place = |name: &str| world.path(name).display().to_string();
        Self(vec![
            (place("home"), "/HOME"),
            (place("repo"), "/repo"),
            (place("tmp"), "/tmp"),
            (installed.folder().display().to_string(), "/opt/agent"),
            (url.to_owned(), "http://127.0.0.1:8099"),
            (
                url.trim_start_matches("http://").to_owned(),
                "127.0.0.1:8099",
            ),
        ])
    }

    fn text(&self, text: &str) -> String {
        let pairs = self.0.iter();
        pairs.fold(text.to_owned(), |text, (found, instead)| {
            text.replace(found, instead)
        })
    }

    fn file(&self, path: &Path) -> Result<String, Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::file(path, error))?;
        Ok(self.text(&String::from_utf8_lossy(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_machine_is_replaced_everywhere() {
        let scrub = Scrub(vec![
            ("/t/home".to_owned(), "/HOME"),
            ("127.0.0.1:5".to_owned(), "127.0.0.1:8099"),
        ]);
        let text = scrub.text("at /t/home/.x and /t/home: http://127.0.0.1:5/v1");
        assert_eq!(text, "at /HOME/.x and /HOME: http://127.0.0.1:8099/v1");
    }

    #[test]
    fn an_unknown_scene_is_answered_with_the_known_ones() {
        let said = unknown("frob").to_string();
        assert!(
            said.contains("`frob`") && said.contains("tool_success"),
            "{said}"
        );
    }
}
