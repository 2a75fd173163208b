//! Runs the host's checks, one after the other, in the scratch checkout of exactly one commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backstop_engine::vocab::{CommitId, Digest, EffectId, Phase};
use backstop_engine::{Check, CheckResult, CheckRun, CheckVerdict, ChecksRan};

use super::ready::Unready;
use super::recording::Recording;
use super::{Halted, blocking, ready};
use crate::blobs::Blobs;
use crate::disk;
use crate::edge::Ground;
use crate::git::{Bench, Scratch};
use crate::process::{self, Ended, EndedBy, Exit, Heard, Identity, Limits, Marker, Order, Spawn};

/// The most of a check's output that is kept, in bytes.
const KEPT: u64 = 8 << 20;

/// Why something was not run, or not to its end.
pub(super) const STOPPED: &str = "an operator stopped the mission";

/// How much of the end of an output is shown in an error, in bytes.
const SHOWN: usize = 1500;

/// Runs the checks of a phase on a commit, where the mission may work.
pub(super) async fn run(
    ground: &Arc<Ground>,
    id: EffectId,
    run: &CheckRun,
    (may, halted): (Result<(), Unready>, Halted),
) -> ChecksRan {
    let phase = ground.charter.fields().plan.phase(run.phase);
    let checks = phase
        .map(|phase| ground.charter.checks(phase))
        .unwrap_or_default();
    let results = match may {
        Ok(()) => run_all(ground, run.phase, &checks, &run.commit, &halted).await,
        Err(unready) => none_run(ground, &checks, &unready.to_string()),
    };
    ChecksRan {
        effect: id,
        tree: run.tree,
        results,
    }
}

/// Runs `checks` on `commit`: a result for each, whatever happens.
pub(super) async fn run_all(
    ground: &Arc<Ground>,
    phase: Phase,
    checks: &[Check],
    commit: &CommitId,
    halted: &Halted,
) -> Vec<CheckResult> {
    match prepare(ground, (Bench::Checks, phase), commit, halted).await {
        Ok(dir) => run_in(ground, phase, checks, &dir, halted).await,
        Err(words) => none_run(ground, checks, &words),
    }
}

fn none_run(ground: &Ground, checks: &[Check], words: &str) -> Vec<CheckResult> {
    let not_run = |check| not_run(ground, check, words);
    checks.iter().map(not_run).collect()
}

/// Runs `checks` in a checkout that is ready.
pub(super) async fn run_in(
    ground: &Arc<Ground>,
    phase: Phase,
    checks: &[Check],
    dir: &Path,
    halted: &Halted,
) -> Vec<CheckResult> {
    let mut results = Vec::new();
    for check in checks {
        results.push(run_one(ground, phase, check, dir, halted).await);
    }
    mark_use(ground);
    results
}

/// The mark whose time is that of the last use of the scratch checkout.
fn used(ground: &Ground) -> PathBuf {
    ground.dir.path().join("scratch.used")
}

fn mark_use(ground: &Ground) {
    // Without the mark a build cache may be taken for fresh that is not: no worse than in the operator's own checkout.
    let _ = disk::replace(&used(ground), b"");
}

/// How far the times of files may lag behind the clock: they are taken from the last tick of the kernel.
const TICK: Duration = Duration::from_millis(20);

/// Lets the second of the last use pass. Build caches are kept from one commit to the next, and some tools tell whether
/// a file changed by the whole seconds of its time and its size, as Python does: files must not change within it.
async fn pass_second(ground: &Ground) {
    let second = |time: SystemTime| {
        time.duration_since(SystemTime::UNIX_EPOCH)
            .ok()
            .map(|since| since.as_secs())
    };
    let last = std::fs::metadata(used(ground)).and_then(|found| found.modified());
    let Ok(last) = last else {
        return;
    };
    let in_it = |now: SystemTime| {
        let used = [second(last), second(last + TICK)];
        used.contains(&second(now)) || used.contains(&second(now - TICK))
    };
    while in_it(SystemTime::now()) {
        tokio::time::sleep(TICK).await;
    }
}

/// Ends what a runner that died has left at work under these markers.
///
/// # Errors
/// Words for the operator, when some of it could not be ended.
pub(super) async fn end_left(ground: &Ground, markers: &[Marker]) -> Result<(), String> {
    let mut left = Vec::new();
    for marker in markers {
        for survivor in process::find_survivors(marker) {
            let swept = process::stop_by_identity(survivor, marker, ground.grace()).await;
            left.extend(swept.left);
        }
    }
    none_left(&left)
}

/// Nothing may start beside processes that could not be ended.
///
/// # Errors
/// Words for the operator, when there are such.
pub(super) fn none_left(left: &[Identity]) -> Result<(), String> {
    let left: BTreeSet<u32> = left.iter().map(|identity| identity.pid).collect();
    if left.is_empty() {
        return Ok(());
    }
    let left: Vec<String> = left.iter().map(ToString::to_string).collect();
    let left = left.join(", ");
    Err(format!(
        "processes could not be ended: {left}: end them, then retry"
    ))
}

/// A scratch checkout of `commit`, ready to be worked in.
pub(super) async fn prepare(
    ground: &Arc<Ground>,
    (bench, phase): (Bench, Phase),
    commit: &CommitId,
    halted: &Halted,
) -> Result<PathBuf, String> {
    end_left(
        ground,
        &[phase, Phase::FIRST].map(|phase| ground.check_marker(phase)),
    )
    .await?;
    pass_second(ground).await;
    let commit = commit.clone();
    let scratch = blocking(ground, move |ground| {
        let scratch =
            Scratch::prepare(&ground.host, bench, &commit).map_err(|error| error.to_string())?;
        ready::copy(ground, &scratch.path())?;
        Ok::<_, String>(scratch)
    })
    .await?;
    if !scratch.is_set_up() {
        let set_up = ready::set_up(ground, &scratch.path(), halted).await;
        set_up.map_err(|unready| unready.to_string())?;
        scratch.set_up().map_err(|error| error.to_string())?;
    }
    mark_use(ground);
    Ok(scratch.path())
}

fn not_run(ground: &Ground, check: &Check, words: &str) -> CheckResult {
    CheckResult {
        name: check.name.clone(),
        verdict: CheckVerdict::NotRun {
            cause: ground.clean_end(words),
        },
        log: None,
        active_ms: 0,
    }
}

async fn run_one(
    ground: &Arc<Ground>,
    phase: Phase,
    check: &Check,
    dir: &Path,
    halted: &Halted,
) -> CheckResult {
    if *halted.borrow() {
        return not_run(ground, check, STOPPED);
    }
    match shell(ground, phase, check.command.as_str(), dir, halted).await {
        Ok((ended, spooled)) => CheckResult {
            name: check.name.clone(),
            verdict: ended.verdict(),
            log: spooled.digest,
            active_ms: u64::try_from(ended.0.active.as_millis()).unwrap_or(u64::MAX),
        },
        Err(words) => not_run(ground, check, &words),
    }
}

/// How a command of the operator ended.
pub(super) struct Finished(Ended);

impl Finished {
    pub(super) fn is_clean(&self) -> bool {
        self.verdict() == CheckVerdict::Passed
    }

    /// A check that was stopped or killed says nothing of the work, nor does one that is at it still.
    pub(super) fn verdict(&self) -> CheckVerdict {
        let not_run = |cause: &str| CheckVerdict::NotRun {
            cause: backstop_engine::vocab::Text::clip(cause),
        };
        if let Err(words) = none_left(&self.0.left) {
            return not_run(&words);
        }
        match (self.0.ended_by, self.0.exit) {
            (EndedBy::Wall | EndedBy::Idle, _) => CheckVerdict::TimedOut,
            (EndedBy::Stop | EndedBy::Budget | EndedBy::Linger, _) => not_run(STOPPED),
            (EndedBy::Itself, Exit::Code(0)) => CheckVerdict::Passed,
            (EndedBy::Itself, Exit::Code(exit)) => CheckVerdict::Failed { exit },
            (EndedBy::Itself, Exit::Signal(9)) => {
                not_run("it was killed from outside, most likely for want of memory")
            }
            (EndedBy::Itself, Exit::Signal(signal)) => CheckVerdict::Failed {
                exit: 128_i32.saturating_add(signal),
            },
            (EndedBy::Itself, Exit::Unreaped) => not_run("the kernel does not let it go"),
        }
    }

    pub(super) fn words(&self) -> String {
        crate::prompt::verdict(&self.verdict())
    }
}

/// What a command printed, kept.
pub(super) struct Printed {
    pub(super) digest: Option<Digest>,
}

impl Printed {
    /// The end of it, for a message.
    pub(super) fn end(&self, blobs: &Blobs) -> String {
        let bytes = self
            .digest
            .and_then(|digest| blobs.read(&digest).ok())
            .unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let from = text.ceil_char_boundary(text.len().saturating_sub(SHOWN));
        text.get(from..).unwrap_or_default().trim().to_owned()
    }
}

/// Runs a shell command of the operator in `dir`, its output kept without secrets.
pub(super) async fn shell(
    ground: &Ground,
    phase: Phase,
    command: &str,
    dir: &Path,
    halted: &Halted,
) -> Result<(Finished, Printed), String> {
    let mut spawn = Spawn::new("/bin/sh", dir, ground.check_marker(phase));
    spawn.args = vec!["-c".into(), command.into()];
    spawn.env.push(ready::git_settings(ground)?);
    spawn.limits = Limits {
        idle: None,
        wall: Some(Duration::from_millis(ground.settings.limits.check_ms)),
        stop_grace: ground.grace(),
        ..Limits::default()
    };
    let spool = ground
        .blobs
        .spool_of(KEPT)
        .map_err(|error| error.to_string())?;
    let running = process::spawn(spawn).map_err(|error| error.to_string())?;
    let watch = halt_on(halted.clone(), running.stopper());
    let mut recording = Recording::new(ground, spool);
    let mut hear = |pipe, bytes: &[u8]| {
        recording.take(pipe, bytes);
        Heard::Carry
    };
    let ended = running.wait(&mut hear).await;
    watch.abort();
    let digest = recording.finish();
    Ok((Finished(ended), Printed { digest }))
}

/// Stops a process when the mission is to stop.
pub(super) fn halt_on(
    mut halted: Halted,
    stopper: process::Stopper,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        if halted.wait_for(|halted| *halted).await.is_ok() {
            stopper.stop(Order::Stop);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Captured, Oom};

    fn finished(left: Vec<Identity>) -> Finished {
        Finished(Ended {
            exit: Exit::Code(0),
            ended_by: EndedBy::Itself,
            stdout: Captured::default(),
            stderr: Captured::default(),
            active: Duration::ZERO,
            swept: 0,
            left,
            drained: true,
            oom: Oom::Unmeasured,
        })
    }

    #[test]
    fn a_check_that_cannot_be_ended_has_not_passed() {
        assert_eq!(finished(Vec::new()).verdict(), CheckVerdict::Passed);
        let left = Identity {
            pid: 12,
            start_time: 1,
        };
        let verdict = finished(vec![left]).verdict();
        assert!(
            matches!(&verdict, CheckVerdict::NotRun { cause } if cause.as_str().contains("could not be ended: 12")),
            "{verdict:?}"
        );
    }

    #[test]
    fn nothing_starts_beside_what_could_not_be_ended() {
        assert_eq!(none_left(&[]), Ok(()));
        let left = Identity {
            pid: 12,
            start_time: 1,
        };
        assert!(none_left(&[left]).is_err());
    }
}
