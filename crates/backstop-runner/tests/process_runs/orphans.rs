//! Orphans below this process: they end with the attempt that left them, whatever they look like, and nobody else does.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use backstop_runner::git::{Git, GitError, Repository};
use backstop_runner::process::{
    self, Exit, Heard, Marker, Order, Running, Spawn, carries_marker, descends_from_marked, spawn,
};
use tempfile::TempDir;

use crate::support::{Ear, marker, runs, shell, silent, start, until};

/// A script that goes on when it is a child of this process: nobody knows its parents any more.
fn adopted(then: &str) -> String {
    let own = std::process::id();
    format!("while [ $(cut -d\" \" -f4 /proc/$$/stat) != {own} ]; do sleep 0.01; done; {then}")
}

fn quick(script: &str) -> Spawn {
    let mut asked = shell(script);
    asked.limits.stop_grace = Duration::from_millis(20);
    asked
}

#[tokio::test]
async fn an_orphan_that_dropped_its_marker_belongs_to_the_lane() {
    let _alone = crate::support::alone();
    let orphan = adopted("echo $$; exec sleep 1000");
    let asked = quick(&format!("(env -i setsid sh -c '{orphan}' &); sleep 1000"));
    let (mut said, mut found) = (String::new(), None);
    let mut ear = |_, bytes: &[u8]| {
        said.push_str(&String::from_utf8_lossy(bytes));
        let Some(pid) = said.lines().find_map(|line| line.parse().ok()) else {
            return Heard::Carry;
        };
        found = Some((carries_marker(pid), descends_from_marked(pid)));
        Heard::Stop(Order::Stop)
    };
    spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(found, Some((false, true)));
}

#[tokio::test]
async fn an_orphan_is_ended_whatever_it_looks_like() {
    let _alone = crate::support::alone();
    let own = std::process::id();
    let bare = "(env -i PATH=$PATH $run &)";
    let forged = "(env -i PATH=$PATH BACKSTOP_MISSION=of-an-operator $run &)";
    let copied = format!("xargs -0 -a /proc/{own}/environ sh -c '(env -i \"$@\" $run &)' sh");
    for disguise in [bare, forged, &copied] {
        for leave in ["setsid", "setsid setsid", ""] {
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("note");
            let orphan = adopted("echo $$ >$1.new; mv $1.new $1; exec sleep 1000");
            fs::write(folder.path().join("orphan.sh"), orphan).unwrap();
            let (dir, file) = (folder.path().display(), note.display());
            let run = format!("{leave} sh {dir}/orphan.sh {file} </dev/null >/dev/null 2>&1");
            let script = format!(
                "set -m; {}; while ! test -e {file}; do sleep 0.01; done; exit 3",
                disguise.replace("$run", &run)
            );
            let ended = spawn(quick(&script)).unwrap().wait(&mut silent).await;
            let seen = (ended.exit, ended.drained, ended.left);
            assert_eq!(seen, (Exit::Code(3), true, vec![]), "{disguise} {leave}");
            assert!(ended.swept >= 1, "{disguise} {leave}");
            assert!(!runs(noted(&note)), "{disguise} {leave}");
        }
    }
}

fn noted(note: impl AsRef<Path>) -> u32 {
    fs::read_to_string(note).unwrap().trim().parse().unwrap()
}

/// An attempt that starts and ends.
async fn another_ends() {
    let ended = start(shell("exit 0"), None).wait(&mut silent).await;
    assert_eq!((ended.exit, ended.left), (Exit::Code(0), vec![]));
}

#[tokio::test]
async fn what_this_process_started_is_no_orphan() {
    let _alone = crate::support::alone();
    // Whatever becomes of its group, its session and its environment.
    let mut command = Command::new("env");
    command.args(["-i", "setsid", "sleep", "1000"]);
    let _reaper = marker();
    let mut mine = process::start(&mut command).unwrap();
    another_ends().await;
    assert!(mine.child.try_wait().unwrap().is_none(), "it was ended");
    mine.child.kill().unwrap();
    mine.child.wait().unwrap();
}

#[tokio::test]
async fn a_git_call_in_flight_is_no_orphan() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let script = format!(
        "#!/bin/sh\ncd {}\n: >up\nwhile ! test -e go; do sleep 0.01; done\necho told >&2\nexit 7\n",
        at.display()
    );
    let git = at.join("git");
    fs::write(at.join("text"), script).unwrap();
    // Copied by another process: a file that this one has open for writing cannot be run.
    let made = Command::new("install")
        .args([at.join("text"), git])
        .status();
    assert!(made.unwrap().success());
    let path = format!("{}:/usr/bin:/bin", at.display());
    let _reaper = marker();
    let call = std::thread::spawn({
        let at = at.clone();
        move || Repository::discover(&Git::new().env("PATH", path), &at).map(drop)
    });
    until("git is called", || at.join("up").exists());
    another_ends().await;
    fs::write(at.join("go"), "").unwrap();
    match call.join().unwrap() {
        Err(GitError::Failed { status, said, .. }) => {
            assert_eq!((status.as_str(), said.as_str()), ("exit status: 7", "told"));
        }
        other => panic!("{other:?}"),
    }
}

/// An attempt that runs until it is stopped, and a folder for notes.
struct Other {
    notes: TempDir,
    running: Running,
    marker: Marker,
}

impl Other {
    /// `script` finds the folder in `$notes`.
    fn start(script: &str) -> Self {
        let notes = tempfile::tempdir().unwrap();
        let asked = quick(&format!("notes={}; {script}", notes.path().display()));
        let marker = asked.marker.clone();
        let running = spawn(asked).unwrap();
        Self {
            notes,
            running,
            marker,
        }
    }

    fn until_noted(&self, name: &str) -> u32 {
        let note = self.notes.path().join(name);
        until(name, || note.exists());
        noted(note)
    }

    async fn stop(self) {
        self.running.stopper().stop(Order::Stop);
        let ended = self.running.wait(&mut Ear::new(1, Heard::Carry)).await;
        assert_eq!(ended.left, []);
    }
}

/// A daemon of the agent whose parents are gone: it notes its number in `name` when it is this process's child.
fn daemon(environment: &str, name: &str) -> String {
    let then = format!("echo $$ >$1/new.{name}; mv $1/new.{name} $1/{name}; exec sleep 1000");
    let daemon = adopted(&then);
    format!("({environment} setsid sh -c '{daemon}' sh $notes >/dev/null 2>&1 &)")
}

#[tokio::test]
async fn the_marked_daemon_of_an_agent_that_runs_lives_as_long_as_the_agent() {
    let _alone = crate::support::alone();
    let other = Other::start(&format!("{}; sleep 1000", daemon("", "daemon")));
    let daemon = other.until_noted("daemon");
    another_ends().await;
    assert!(runs(daemon));
    other.stop().await;
    assert!(!runs(daemon));
}

#[tokio::test]
async fn a_daemon_that_was_seen_below_its_agent_needs_no_marker() {
    let _alone = crate::support::alone();
    let then = "echo $$ >$1/new; mv $1/new $1/orphan; exec sleep 1000";
    let daemon = format!("echo $$ >$1/new; mv $1/new $1/child; {}", adopted(then));
    // Its parent stays until it is told to go.
    let parent = "while ! test -e $1/go; do sleep 0.01; done";
    let parent = format!("env -i setsid sh -c \"$2\" sh $1 >/dev/null 2>&1 & {parent}");
    let script = format!("daemon='{daemon}'; sh -c '{parent}' sh $notes \"$daemon\"; sleep 1000");
    let other = Other::start(&script);
    let child = other.until_noted("child");
    another_ends().await;
    fs::write(other.notes.path().join("go"), "").unwrap();
    assert_eq!(other.until_noted("orphan"), child);
    another_ends().await;
    assert!(runs(child));
    other.stop().await;
    assert!(!runs(child));
}

#[tokio::test]
async fn an_orphan_that_nobody_knows_ends_with_the_first_attempt_that_ends() {
    let _alone = crate::support::alone();
    let other = Other::start(&format!("{}; sleep 1000", daemon("env -i", "daemon")));
    let daemon = other.until_noted("daemon");
    another_ends().await;
    assert!(!runs(daemon));
    other.stop().await;
}

#[tokio::test]
async fn a_forged_marker_of_an_attempt_that_runs_is_worth_nothing_after_its_end() {
    let _alone = crate::support::alone();
    let other = Other::start("sleep 1000");
    let forged: Vec<String> = other
        .marker
        .variables()
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let forged = format!("env -i PATH=$PATH {}", forged.join(" "));
    let notes = other.notes.path().display();
    let script = format!(
        "notes={notes}; {}; while ! test -e {notes}/orphan; do sleep 0.01; done",
        daemon(&forged, "orphan")
    );
    let ended = spawn(quick(&script)).unwrap().wait(&mut silent).await;
    assert_eq!((ended.exit, ended.left), (Exit::Code(0), vec![]));
    let orphan = other.until_noted("orphan");
    assert!(runs(orphan) && descends_from_marked(orphan));
    other.stop().await;
    assert!(!runs(orphan));
}
