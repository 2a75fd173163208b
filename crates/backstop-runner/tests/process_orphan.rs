//! An orphan of a lane, judged while its attempt runs. In a process of its own: the end of any other attempt below this
//! process would end the orphan, which nothing but its parent still ties to a lane.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use backstop_runner::process::{
    Heard, Marker, Order, Spawn, become_subreaper, carries_marker, descends_from_marked, spawn,
};

#[tokio::test]
async fn an_orphan_without_a_marker_is_known_by_its_reaper() {
    become_subreaper().unwrap();
    let script = "(env -i setsid sh -c 'while [ $(cut -d\" \" -f4 /proc/$$/stat) = '$$' ]; do sleep 0.01; done; echo $$ .; exec sleep 1000' &); sleep 1000";
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
    let (mut said, mut found) = (String::new(), None);
    let mut ear = |_, bytes: &[u8]| {
        said.push_str(&String::from_utf8_lossy(bytes));
        if !said.ends_with(".\n") {
            return Heard::Carry;
        }
        let pid: u32 = said.split(' ').next().unwrap().parse().unwrap();
        found = Some((carries_marker(pid), descends_from_marked(pid)));
        Heard::Stop(Order::Stop)
    };
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(found, Some((false, true)));
    assert_eq!(ended.left, []);
}
