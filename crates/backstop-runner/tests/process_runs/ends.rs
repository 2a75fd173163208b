//! How an agent ends by itself, and what is kept of what it said.

use std::fs;
use std::process::Command;
use std::time::Duration;

use backstop_runner::process::{self, EndedBy, Exit, Heard, Oom, Pipe, Stdin, spawn};

use crate::support::{Ear, GENEROUS, runs, shell, silent, start};

#[tokio::test]
async fn the_exit_code_is_the_agents_own() {
    let _alone = crate::support::alone();
    for code in [0, 7, 130, 137, 144, 173] {
        let ended = start(shell(&format!("exit {code}")), None)
            .wait(&mut silent)
            .await;
        assert_eq!(
            (ended.exit, ended.ended_by),
            (Exit::Code(code), EndedBy::Itself)
        );
        assert_eq!(ended.is_killed_from_outside(), code == 137);
        assert!(ended.drained && ended.swept == 0 && ended.left.is_empty());
    }
}

#[tokio::test]
async fn a_signal_is_not_a_code() {
    let _alone = crate::support::alone();
    for (signal, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11)] {
        let ended = start(shell(&format!("kill -{signal} $$")), None)
            .wait(&mut silent)
            .await;
        assert_eq!(
            (ended.exit, ended.ended_by),
            (Exit::Signal(number), EndedBy::Itself)
        );
        assert_eq!(ended.is_killed_from_outside(), number == 9);
    }
}

#[tokio::test]
async fn the_input_is_at_its_end_from_the_start() {
    let _alone = crate::support::alone();
    let ended = start(shell("cat; echo end"), None).wait(&mut silent).await;
    assert_eq!(ended.stdout.text(), "end\n");
}

#[tokio::test]
async fn a_text_is_read_to_its_end_while_the_agent_answers() {
    let _alone = crate::support::alone();
    let text = "0123456789abcde\n".repeat(1 << 16);
    let ended = start(shell("cat; echo end"), Some(&text))
        .wait(&mut silent)
        .await;
    assert_eq!(ended.stdout.total, text.len() as u64 + 4);
    assert!(ended.stdout.text().ends_with("abcde\nend\n"));
}

#[tokio::test]
async fn an_agent_that_does_not_read_its_text_ends_all_the_same() {
    let _alone = crate::support::alone();
    let text = "x".repeat(1 << 20);
    let ended = start(shell("exec <&-; echo read nothing"), Some(&text))
        .wait(&mut silent)
        .await;
    assert_eq!(
        (ended.exit, ended.stdout.text().as_str()),
        (Exit::Code(0), "read nothing\n")
    );
    let mut asked = shell("sleep 1000");
    asked.stdin = Stdin::Text(text.into_bytes());
    asked.limits.idle = Some(Duration::from_millis(100));
    assert_eq!(
        spawn(asked).unwrap().wait(&mut silent).await.ended_by,
        EndedBy::Idle
    );
}

#[tokio::test]
async fn both_pipes_are_heard_and_told_apart() {
    let _alone = crate::support::alone();
    let mut heard = (Vec::new(), Vec::new());
    let mut ear = |pipe: Pipe, bytes: &[u8]| {
        match pipe {
            Pipe::Stdout => heard.0.extend_from_slice(bytes),
            Pipe::Stderr => heard.1.extend_from_slice(bytes),
        }
        Heard::Carry
    };
    let ended = start(shell("echo out; echo err >&2"), None)
        .wait(&mut ear)
        .await;
    assert_eq!(heard, (b"out\n".to_vec(), b"err\n".to_vec()));
    assert_eq!((ended.stdout.tail, ended.stderr.tail), heard);
}

#[tokio::test]
async fn a_survivor_that_holds_the_pipe_does_not_hold_the_attempt() {
    let _alone = crate::support::alone();
    let mut ear = Ear::new(2, Heard::Carry);
    let ended = start(
        shell("setsid sleep 3600 & echo $!; echo done; exit 0"),
        None,
    )
    .wait(&mut ear)
    .await;
    assert_eq!(
        (ended.exit, ended.ended_by),
        (Exit::Code(0), EndedBy::Itself)
    );
    assert_eq!(ended.swept, 1);
    assert!(ended.drained, "the pipe closes once the survivor is gone");
    assert!(!runs(ear.pids()[0]));
}

#[tokio::test]
async fn a_stranger_that_holds_the_pipe_does_not_hold_the_attempt_either() {
    let _alone = crate::support::alone();
    let folder = tempfile::tempdir().unwrap();
    let held = folder.path().join("held").display().to_string();
    let mut stranger = None;
    let mut ear = |_: Pipe, agent: &[u8]| {
        let agent = String::from_utf8_lossy(agent);
        let script = format!(
            "exec >/proc/{}/fd/1; : >{held}; exec sleep 3600",
            agent.trim()
        );
        let mut command = Command::new("sh");
        stranger = Some(process::start(command.args(["-c", &script])).unwrap());
        Heard::Carry
    };
    let script = format!("echo $$; while ! test -e {held}; do sleep 0.01; done; exit 3");
    let ended = start(shell(&script), None).wait(&mut ear).await;
    assert_eq!((ended.exit, ended.drained), (Exit::Code(3), false));
    let mut stranger = stranger.unwrap();
    assert_eq!(stranger.child.try_wait().unwrap(), None);
    stranger.child.kill().unwrap();
    stranger.child.wait().unwrap();
}

#[tokio::test]
async fn a_flood_is_heard_whole_and_kept_in_bounded_memory() {
    const FLOOD: u64 = 100 << 20;
    let _alone = crate::support::alone();
    let (mut heard, mut longest) = (0, 0);
    let mut ear = |_: Pipe, bytes: &[u8]| {
        heard += bytes.len() as u64;
        longest = longest.max(bytes.len());
        Heard::Carry
    };
    let mut asked = shell("yes 0123456789abcde | head -c 104857600; echo; echo last");
    asked.keep = 1000;
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!((heard, ended.stdout.total), (FLOOD + 6, FLOOD + 6));
    assert!(longest <= 64 << 10, "a chunk of {longest} bytes");
    assert_eq!(ended.stdout.tail.len(), 1000);
    assert!(ended.stdout.text().ends_with("\nlast\n"));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < FLOOD / 1024 / 2, "{peak} kB at the peak");
}

#[tokio::test]
async fn bytes_that_are_not_text_are_kept_as_they_are() {
    let _alone = crate::support::alone();
    let mut raw = Vec::new();
    let mut ear = |_: Pipe, bytes: &[u8]| {
        raw.extend_from_slice(bytes);
        Heard::Carry
    };
    let ended = start(shell(r"printf 'a\377\376\000b\n'"), None)
        .wait(&mut ear)
        .await;
    assert_eq!(raw, b"a\xff\xfe\x00b\n");
    assert_eq!(ended.stdout.tail, raw);
    assert_eq!(ended.stdout.text(), "a\u{fffd}\u{fffd}\0b\n");
}

#[tokio::test]
async fn an_agent_leads_a_group_of_its_own_and_knows_its_attempt() {
    let _alone = crate::support::alone();
    let mut asked =
        shell("cut -d' ' -f1,5 /proc/$$/stat; env | grep -c ^BACKSTOP_; echo $BACKSTOP_ATTEMPT");
    let attempt = asked.marker.attempt.clone();
    asked
        .env
        .push(("PATH".into(), std::env::var_os("PATH").unwrap()));
    let running = spawn(asked).unwrap();
    let pid = running.identity().pid;
    assert!(running.identity().is_alive());
    let ended = running.wait(&mut silent).await;
    assert_eq!(ended.stdout.text(), format!("{pid} {pid}\n6\n{attempt}\n"));
    assert!(!runs(pid));
}

#[tokio::test]
async fn an_ordinary_end_moves_no_memory_counter() {
    let _alone = crate::support::alone();
    let ended = start(shell("exit 0"), None).wait(&mut silent).await;
    assert!(
        matches!(ended.oom, Oom::No | Oom::Unmeasured),
        "{:?}",
        ended.oom
    );
    assert!(ended.active < GENEROUS);
}

#[tokio::test]
async fn many_agents_run_side_by_side() {
    let _alone = crate::support::alone();
    let begin = |n| {
        let running = start(shell(&format!("cat; exit {n}")), Some("x"));
        tokio::spawn(async { running.wait(&mut silent).await })
    };
    let started: Vec<_> = (0..20).map(begin).collect();
    for (n, running) in started.into_iter().enumerate() {
        let ended = running.await.unwrap();
        assert_eq!(ended.exit, Exit::Code(i32::try_from(n).unwrap()));
        assert_eq!(ended.stdout.text(), "x");
    }
}
