//! Nothing of an attempt outlives it, and nothing of anyone else is touched.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use backstop_runner::process::{
    EndedBy, Exit, Heard, Identity, Marker, Order, Swept, find_survivors, spawn, stop_by_identity,
};

use crate::support::{Ear, GENEROUS, marker, runs, shell, silent, start, until};

/// Three sessions below each other, each ignoring SIGTERM, as agents' shell tools are; each says its number.
const DEEP: &str = r#"
level() {
    trap '' TERM
    [ "$1" -gt 0 ] && setsid sh -c "$LEVEL; level $(($1 - 1))" &
    echo $$
    while :; do sleep 1000; done
}"#;

fn deep() -> backstop_runner::process::Spawn {
    let mut asked = shell(&format!(
        "{DEEP}\nexport LEVEL='{}'\nlevel 3",
        DEEP.replace('\'', r"'\''")
    ));
    asked.limits.stop_grace = Duration::from_millis(20);
    asked
}

#[tokio::test]
async fn tools_three_sessions_deep_that_ignore_sigterm_are_gone_after_every_stop() {
    let _alone = crate::support::alone();
    for round in 0..50 {
        let asked = deep();
        let marker = asked.marker.clone();
        let mut ear = Ear::new(4, Heard::Stop(Order::Stop));
        let ended = spawn(asked).unwrap().wait(&mut ear).await;
        assert_eq!(
            (ended.ended_by, ended.exit),
            (EndedBy::Stop, Exit::Signal(9))
        );
        assert_eq!(ear.pids().len(), 4, "round {round}: {}", ear.text);
        assert!(
            ended.swept >= 3 && ended.left.is_empty(),
            "round {round}: {ended:?}"
        );
        assert!(!ear.pids().into_iter().any(runs), "round {round}");
        assert_eq!(find_survivors(&marker), [], "round {round}");
    }
}

#[tokio::test]
async fn a_server_in_the_background_does_not_outlive_a_success() {
    let _alone = crate::support::alone();
    for start_it in [
        "nohup sleep 1000",
        "setsid sleep 1000",
        "setsid nohup sleep 1000",
    ] {
        let mut ear = Ear::new(1, Heard::Carry);
        let script = format!("{start_it} >/dev/null 2>&1 </dev/null & echo $!; sleep 0.1; exit 0");
        let ended = start(shell(&script), None).wait(&mut ear).await;
        assert_eq!(
            (ended.exit, ended.ended_by),
            (Exit::Code(0), EndedBy::Itself)
        );
        assert_eq!((ended.swept, ended.drained), (1, true), "{start_it}");
        assert!(!runs(ear.pids()[0]), "{start_it}");
    }
}

#[tokio::test]
async fn children_without_a_marker_are_known_by_their_group_and_their_parents() {
    let _alone = crate::support::alone();
    let script = "env -i /bin/sleep 1000 & echo $!; env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$; sleep 1000' & wait";
    let mut asked = shell(script);
    asked.limits.stop_grace = Duration::from_millis(20);
    let mut ear = Ear::new(2, Heard::Stop(Order::Stop));
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(ended.left, []);
    assert_eq!(ear.pids().len(), 2);
    assert!(!ear.pids().into_iter().any(runs));
}

#[tokio::test]
async fn orphans_without_a_marker_are_known_by_their_group_or_their_session() {
    let _alone = crate::support::alone();
    let in_group = "env -i /bin/sleep 1000 >/dev/null 2>&1 & echo $!";
    let in_session = "setsid sh -c '(env -i /bin/sleep 1000 & echo $!); exec sleep 1000' & ";
    for script in [in_group, in_session] {
        let mut ear = Ear::new(1, Heard::Carry);
        let ended = start(shell(&format!("{script}\nsleep 0.2; exit 0")), None);
        let ended = ended.wait(&mut ear).await;
        assert_eq!((ended.exit, ended.drained), (Exit::Code(0), true));
        assert!(!runs(ear.pids()[0]), "{script}");
    }
}

#[tokio::test]
async fn one_attempts_end_leaves_the_other_attempts_alone() {
    let _alone = crate::support::alone();
    let mut other = shell("setsid sleep 1000 & echo $!; wait");
    other.marker.attempt.push_str("-other");
    let other = spawn(other).unwrap();
    let stopper = other.stopper();
    let mut ear = Ear::new(1, Heard::Carry);
    let mine = async {
        let ended = start(shell("setsid sleep 1000 & sleep 0.1; exit 0"), None)
            .wait(&mut silent)
            .await;
        stopper.stop(Order::Stop);
        ended
    };
    let (mine, other) = tokio::join!(mine, other.wait(&mut ear));
    assert_eq!(mine.swept, 1);
    assert_eq!(
        (other.ended_by, other.exit),
        (EndedBy::Stop, Exit::Signal(15))
    );
}

#[tokio::test]
async fn an_attempt_that_nobody_waits_for_any_more_is_killed() {
    let _alone = crate::support::alone();
    let asked = deep();
    let marker = asked.marker.clone();
    let running = spawn(asked).unwrap();
    let leader = running.identity();
    until("all four levels are up", || {
        find_survivors(&marker).len() >= 4
    });
    drop(running);
    until("nothing is left", || {
        !leader.is_alive() && find_survivors(&marker).is_empty()
    });
}

/// A process as a runner that crashed would have left it: marked, leading its group, and not waited for by us.
fn left_behind(script: &str, marker: Option<&Marker>) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.envs(marker.iter().flat_map(|marker| marker.variables()));
    command.spawn().unwrap()
}

#[tokio::test]
async fn an_attempt_of_a_runner_that_crashed_is_found_and_ended() {
    let _alone = crate::support::alone();
    let marker = marker();
    let script =
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; env -i setsid sleep 1000; :' & sleep 1000; :";
    let mut left = left_behind(script, Some(&marker));
    let identity = Identity::of(left.id()).unwrap();
    until("all are up", || find_survivors(&marker).len() >= 3);
    assert!(find_survivors(&marker).contains(&identity));
    let swept = stop_by_identity(identity, &marker, Duration::from_millis(20)).await;
    assert!(swept.swept >= 4 && swept.left.is_empty(), "{swept:?}");
    assert!(!identity.is_alive());
    assert_eq!(find_survivors(&marker), []);
    assert!(left.wait().is_err(), "it was ours, and is reaped already");
}

#[tokio::test]
async fn a_child_without_a_marker_does_not_slip_away_when_its_parent_goes_first() {
    let _alone = crate::support::alone();
    let marker = marker();
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let script = format!(
        "env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$ > {note}.new; mv {note}.new {note}; sleep 1000; :'; :",
        note = note.display()
    );
    let mut left = left_behind(&script, Some(&marker));
    let identity = Identity::of(left.id()).unwrap();
    until("the child is up", || note.exists());
    let child = std::fs::read_to_string(&note)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let swept = stop_by_identity(identity, &marker, Duration::from_millis(20)).await;
    assert!(swept.swept >= 2 && swept.left.is_empty(), "{swept:?}");
    assert!(!runs(child));
    assert!(left.wait().is_err(), "it was ours, and is reaped already");
}

#[tokio::test]
async fn what_an_agent_left_is_found_when_the_agent_itself_is_gone() {
    let _alone = crate::support::alone();
    let marker = marker();
    let mut left = left_behind("setsid sleep 1000 & exit 0", Some(&marker));
    let identity = Identity::of(left.id()).unwrap();
    left.wait().unwrap();
    until("the tool is up", || find_survivors(&marker).len() == 1);
    let swept = stop_by_identity(identity, &marker, GENEROUS).await;
    assert_eq!(
        swept,
        Swept {
            swept: 1,
            left: Vec::new()
        }
    );
}

#[tokio::test]
async fn a_number_that_was_given_away_again_is_never_signalled() {
    let _alone = crate::support::alone();
    let marker = marker();
    let mut other = left_behind("exec sleep 1000", None);
    let now = Identity::of(other.id()).unwrap();
    let before = Identity {
        start_time: now.start_time - 1,
        ..now
    };
    assert_eq!(
        stop_by_identity(before, &marker, Duration::ZERO).await,
        Swept::default()
    );
    // After a boot even the start time may be the same: the marker must be there too.
    assert_eq!(
        stop_by_identity(now, &marker, Duration::ZERO).await,
        Swept::default()
    );
    assert!(now.is_alive());
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(
        stop_by_identity(now, &marker, Duration::ZERO).await,
        Swept::default()
    );
}

#[tokio::test]
async fn orphans_that_ended_long_ago_are_not_kept_as_zombies() {
    let _alone = crate::support::alone();
    let script = "setsid sh -c 'setsid sleep 0 & echo $!; exit 0'; sleep 0.1; exit 0";
    let mut ear = Ear::new(1, Heard::Carry);
    let ended = start(shell(script), None).wait(&mut ear).await;
    assert_eq!(ended.exit, Exit::Code(0));
    let orphan = ear.pids()[0];
    until("it is reaped", || {
        backstop_runner::process::reap_orphans();
        Identity::of(orphan).is_none()
    });
}
