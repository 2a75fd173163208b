//! Orphans of a lane without a marker. In a process of its own, one after the other: where they are ended, the end of any
//! attempt below this process ends them.

use std::time::Duration;

use backstop_runner::process::{
    Exit, Heard, Identity, Marker, Order, Orphans, Spawn, become_subreaper, carries_marker,
    descends_from_marked, spawn,
};

fn shell(script: &str) -> Spawn {
    let text = str::to_owned;
    let marker = Marker {
        mission: text("m1"),
        lane: text("1-coding"),
        phase: text("1"),
        stage: text("code"),
        role: text("implementer"),
        attempt: text("1"),
    };
    let mut asked = Spawn::new("sh", "/", marker);
    asked.args = vec!["-c".into(), script.into()];
    asked.limits.stop_grace = Duration::from_millis(20);
    asked.orphans = Orphans::Ended;
    asked
}

/// The first number that has a line of its own; a shell may complain before it.
fn number(said: &str) -> Option<u32> {
    let whole = &said[..=said.rfind('\n')?];
    whole.lines().find_map(|line| line.parse().ok())
}

#[tokio::test]
async fn an_orphan_that_dropped_its_marker_is_known_by_its_reaper_and_ended() {
    become_subreaper().unwrap();
    let adopted =
        "while [ $(cut -d\" \" -f4 /proc/$$/stat) != $RUNNER ]; do sleep 0.01; done; echo $$";
    let adopted = adopted.replace("$RUNNER", &std::process::id().to_string());
    let script = format!("(env -i setsid sh -c '{adopted}; exec sleep 1000' &); sleep 1000");
    let (mut said, mut found) = (String::new(), None);
    let mut ear = |_, bytes: &[u8]| {
        said.push_str(&String::from_utf8_lossy(bytes));
        let Some(pid) = number(&said) else {
            return Heard::Carry;
        };
        found = Some((carries_marker(pid), descends_from_marked(pid)));
        Heard::Stop(Order::Stop)
    };
    spawn(shell(&script)).unwrap().wait(&mut ear).await;
    assert_eq!(found, Some((false, true)));
    // Whether it has a session or only a group of its own, and however it was left.
    for daemon in [
        "env -i setsid /bin/sh -c 'echo $$; exec sleep 3600' & sleep 0.2",
        "set -m; env -i /bin/sh -c 'echo $$; exec sleep 3600' & sleep 0.2",
        "(env -i /bin/sh -c 'echo $$; exec setsid sleep 3600' &); sleep 0.2",
    ] {
        let mut said = String::new();
        let mut ear = |_, bytes: &[u8]| {
            said.push_str(&String::from_utf8_lossy(bytes));
            Heard::Carry
        };
        let asked = shell(&format!("{daemon}; exit 3"));
        let ended = spawn(asked).unwrap().wait(&mut ear).await;
        let seen = (ended.exit, ended.drained, ended.left);
        assert_eq!(seen, (Exit::Code(3), true, vec![]), "{daemon}");
        let orphan = Identity::of(number(&said).unwrap());
        assert!(orphan.is_none_or(|orphan| !orphan.is_alive()), "{daemon}");
    }
}
