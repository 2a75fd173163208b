//! How an agent is stopped: by silence, by time, by order; and in which order of signals.

use std::time::Duration;

use backstop_runner::process::{EndedBy, Exit, Heard, Idle, Listen, Order, Pipe, spawn};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use tokio::task::JoinSet;

use crate::support::{Ear, runs, shell, silent, start};

const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_silent_agent_is_stopped() {
    let _alone = crate::support::alone();
    let mut asked = shell("echo last words; sleep 1000");
    asked.limits.idle = Some(SHORT);
    let ended = spawn(asked).unwrap().wait(&mut silent).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Idle, Exit::Signal(15))
    );
    assert_eq!(ended.stdout.text(), "last words\n");
    assert!(!ended.is_killed_from_outside());
}

#[tokio::test]
async fn an_agent_that_closed_its_pipes_is_silent() {
    let _alone = crate::support::alone();
    let mut asked = shell("exec >&- 2>&-; sleep 1000");
    asked.limits.idle = Some(SHORT);
    let ended = spawn(asked).unwrap().wait(&mut silent).await;
    assert_eq!((ended.ended_by, ended.drained), (EndedBy::Idle, true));
}

#[tokio::test]
async fn an_agent_that_never_stops_talking_ends_at_the_wall() {
    let _alone = crate::support::alone();
    let mut asked = shell("exec yes");
    asked.limits.idle = Some(SHORT);
    asked.limits.wall = Some(2 * SHORT);
    let ended = spawn(asked).unwrap().wait(&mut silent).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Wall, Exit::Signal(15))
    );
    assert!(ended.active >= 2 * SHORT);
}

#[tokio::test]
async fn an_agent_at_a_ceiling_is_stopped_by_who_counts() {
    let _alone = crate::support::alone();
    let mut ear = Ear::new(1, Heard::Stop(Order::Budget));
    let ended = start(shell("echo 100 calls; sleep 1000"), None)
        .wait(&mut ear)
        .await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Budget, Exit::Signal(15))
    );
}

#[tokio::test]
async fn an_agent_is_stopped_while_it_writes() {
    let _alone = crate::support::alone();
    let running = start(shell("exec yes"), None);
    let stopper = running.stopper();
    let mut heard = 0_usize;
    let mut ear = |_: Pipe, bytes: &[u8]| {
        heard += bytes.len();
        if heard > 1 << 20 {
            stopper.stop(Order::Stop);
            stopper.stop(Order::Budget);
        }
        Heard::Carry
    };
    let ended = running.wait(&mut ear).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Stop, Exit::Signal(15))
    );
    assert_eq!(ended.stdout.total, heard as u64);
}

#[tokio::test]
async fn a_stop_that_comes_before_the_wait_counts() {
    let _alone = crate::support::alone();
    let running = start(shell("sleep 1000"), None);
    running.stopper().stop(Order::Stop);
    assert_eq!(running.wait(&mut silent).await.ended_by, EndedBy::Stop);
}

#[tokio::test]
async fn a_stop_that_comes_too_late_changes_nothing() {
    let _alone = crate::support::alone();
    let running = start(shell("exit 0"), None);
    let stopper = running.stopper();
    let ended = running.wait(&mut silent).await;
    stopper.stop(Order::Stop);
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Itself, Exit::Code(0))
    );
}

#[tokio::test]
async fn an_agent_may_say_its_last_words_in_the_grace() {
    let _alone = crate::support::alone();
    let script = "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.01; done";
    let mut ear = Ear::new(1, Heard::Stop(Order::Stop));
    let ended = start(shell(script), None).wait(&mut ear).await;
    assert_eq!((ended.ended_by, ended.exit), (EndedBy::Stop, Exit::Code(0)));
    assert_eq!(ended.stdout.text(), "up\nsaved\n");
}

#[tokio::test]
async fn an_agent_that_ignores_the_grace_is_killed_with_its_group() {
    let _alone = crate::support::alone();
    let script = "trap '' TERM; sleep 1000 & echo $$ $!; while :; do sleep 0.01; done";
    let mut asked = shell(script);
    asked.limits.stop_grace = SHORT;
    let mut ear = Ear::new(1, Heard::Stop(Order::Stop));
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Stop, Exit::Signal(9))
    );
    assert!(!ended.is_killed_from_outside(), "the signal was ours");
    assert_eq!(ear.pids().len(), 2);
    assert!(!ear.pids().into_iter().any(runs));
}

/// Three levels, the last in a session of its own, and none of them hears SIGTERM.
const DEAF: &str = "trap '' TERM; echo $$; sh -c 'echo $$; setsid sh -c \"echo \\$\\$; while :; do sleep 1000; done\" & wait' & wait";

#[tokio::test]
async fn a_thousand_trees_that_refuse_to_end_leave_nobody() {
    let _alone = crate::support::alone();
    for _ in 0..125 {
        let mut round = JoinSet::new();
        for _ in 0..8 {
            let mut asked = shell(DEAF);
            asked.limits.stop_grace = Duration::from_millis(20);
            round.spawn(async move {
                let mut ear = Ear::new(3, Heard::Stop(Order::Stop));
                let ended = spawn(asked).unwrap().wait(&mut ear).await;
                assert_eq!(ended.left, []);
                assert_eq!(ended.exit, Exit::Signal(9));
                ear.pids()
            });
        }
        for pids in round.join_all().await {
            assert_eq!(pids.len(), 3);
            assert!(!pids.into_iter().any(runs));
        }
    }
}

#[tokio::test]
async fn a_frozen_agent_takes_its_signal() {
    let _alone = crate::support::alone();
    let mut asked = shell("kill -STOP $$; exit 0");
    asked.limits.idle = Some(SHORT);
    let ended = spawn(asked).unwrap().wait(&mut silent).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Idle, Exit::Signal(15))
    );
}

#[tokio::test]
async fn an_agent_that_is_done_may_linger_only_so_long() {
    let _alone = crate::support::alone();
    let mut asked = shell("echo result; sleep 1000");
    asked.limits.idle = Some(Duration::from_secs(30));
    asked.limits.linger = SHORT;
    let mut ear = Ear::new(1, Heard::Done);
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(
        (ended.ended_by, ended.exit),
        (EndedBy::Linger, Exit::Signal(15))
    );
}

#[tokio::test]
async fn the_allowed_silence_follows_the_stream() {
    let _alone = crate::support::alone();
    let mut ear = Ear::new(1, Heard::AllowSilence(Some(SHORT)));
    let ended = start(shell("echo tool result; sleep 1000"), None)
        .wait(&mut ear)
        .await;
    assert_eq!(ended.ended_by, EndedBy::Idle);
    let mut asked = shell("echo tool call; sleep 0.5; exit 0");
    asked.limits.idle = Some(SHORT);
    let mut ear = Ear::new(1, Heard::AllowSilence(None));
    let ended = spawn(asked).unwrap().wait(&mut ear).await;
    assert_eq!(ended.ended_by, EndedBy::Itself);
}

/// Knows twice of other signs of life.
struct Patient(u32);

impl Listen for Patient {
    fn hear(&mut self, _: Pipe, _: &[u8]) -> Heard {
        Heard::Carry
    }

    fn idle(&mut self, silent: Duration) -> Idle {
        assert!(silent >= SHORT);
        self.0 += 1;
        if self.0 > 2 { Idle::Stop } else { Idle::Wait }
    }
}

#[tokio::test]
async fn silence_is_not_idleness_where_there_are_other_signs_of_life() {
    let _alone = crate::support::alone();
    let mut asked = shell("sleep 1000");
    asked.limits.idle = Some(SHORT);
    let mut patient = Patient(0);
    let ended = spawn(asked).unwrap().wait(&mut patient).await;
    assert_eq!((ended.ended_by, patient.0), (EndedBy::Idle, 3));
    assert!(ended.active >= 3 * SHORT);
}

#[test]
fn an_agent_starts_with_no_signal_blocked() {
    let _alone = crate::support::alone();
    let blocked = SigSet::all()
        .thread_swap_mask(SigmaskHow::SIG_SETMASK)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut asked = shell("echo here; sleep 1000");
    asked.limits.idle = Some(SHORT);
    let ended = runtime.block_on(async { spawn(asked).unwrap().wait(&mut silent).await });
    let kept = SigSet::thread_get_mask().unwrap();
    blocked.thread_set_mask().unwrap();
    assert_eq!(ended.exit, Exit::Signal(15));
    assert!(kept.contains(Signal::SIGTERM), "only the agent is freed");
}
