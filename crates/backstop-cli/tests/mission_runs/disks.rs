//! Disks that fail for real, in a namespace of mounts of the test's own: full, read-only, closed. Each time it is said what
//! happened and what to do, the agent is stopped, nothing is overwritten, and after the trouble the mission goes on to its end.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;

use backstop_engine::GateKind;
use backstop_engine::vocab::Digest;
use nix::mount::{MntFlags, MsFlags, mount, umount, umount2};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{Resource, Rlimit, prlimit};

use crate::support::{BACKSTOP, World, exec_run};

/// Runs a test where its mounts are seen by it and its children alone, and end with them.
#[expect(
    clippy::print_stdout,
    reason = "whoever runs the tests is told what was not tried"
)]
fn aside(test: impl FnOnce() + Send) {
    std::thread::scope(|threads| {
        let own = threads.spawn(|| {
            if !rustix::process::geteuid().is_root() {
                println!(
                    "skipped: a mount needs root (`sudo`, or `unshare --map-root-user --mount`)"
                );
                return;
            }
            // Root without the right to mount fails here, and says so.
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
            test();
        });
        if let Err(words) = own.join() {
            std::panic::resume_unwind(words);
        }
    });
}

/// A world whose state is on a small disk of its own.
struct Small(World);

impl Deref for Small {
    type Target = World;

    fn deref(&self) -> &World {
        &self.0
    }
}

impl Drop for Small {
    /// A folder with a disk on it cannot be removed.
    fn drop(&mut self) {
        self.0.end_all();
        while umount2(&self.0.path("state"), MntFlags::MNT_DETACH).is_ok() {}
    }
}

/// A world whose state is on a disk of 96 MiB.
fn small() -> Small {
    let world = World::new();
    world.write("backstop.toml", "[limits]\nstop_grace = \"200ms\"\n");
    world.commit("a short grace");
    mount(
        Some("tmpfs"),
        &world.path("state"),
        Some("tmpfs"),
        MsFlags::empty(),
        Some("size=96m,mode=700"),
    )
    .unwrap();
    Small(world)
}

const AGENT: &str = r#"
cat >/dev/null
echo "$BACKSTOP_ATTEMPT" >>"$E2E_SIDE/launches"
echo 1 >committed && git add --all && git commit --quiet --message kept
git rev-parse HEAD >>"$E2E_SIDE/commits"
echo 2 >work
test "$(wc -l <"$E2E_SIDE/launches")" = 1 || exit 0
. "$E2E_SIDE/trouble.sh"
"#;

/// Fills the disk to its last byte.
const FILL: &str = r#"dd if=/dev/zero of="$E2E_SIDE/../state/fill" bs=64k 2>/dev/null; dd if=/dev/zero of="$E2E_SIDE/../state/rest" bs=1 2>/dev/null || true"#;

/// After the trouble it goes on to the end, and nothing that was there before is missing.
#[track_caller]
fn ends_well(world: &World, before: &[u8]) {
    let said = world.backstop(&["resume"]).with(3);
    if world.gate().kind == GateKind::Review {
        said.telling(&["mend this, then retry"]);
        world.backstop(&["gate", "retry"]).with(3);
    }
    world.at_gate(GateKind::Ship, r#"[{"policy":"ship_always"}]"#);
    world.backstop(&["gate", "approve"]).with(0);
    let journal = fs::read(world.journal()).unwrap();
    assert!(journal.starts_with(before), "the journal was overwritten");
    let head = world.mission().lane().head.commit.to_string();
    for (file, text) in [("work", "2"), ("committed", "1")] {
        assert_eq!(world.git(&["show", &format!("{head}:{file}")]), text);
    }
    let all = world.git(&["rev-list", "--all"]);
    for commit in world.seen("commits").lines() {
        assert!(all.contains(commit), "{commit} is lost");
    }
    for entry in fs::read_dir(world.dir().join("blobs")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = fs::read(entry.path()).unwrap();
        assert_eq!(Digest::of(&bytes).digits(), name);
    }
    world.nothing_runs();
}

/// While there is trouble: nothing runs, the journal that was there is, and it can be looked at.
#[track_caller]
fn stands_still(world: &World, before: &[u8]) {
    world.nothing_runs();
    assert!(fs::read(world.journal()).unwrap().starts_with(before));
    world.backstop(&["journal", "verify"]).with(0);
    world.backstop(&["status"]).with(0).telling(&["NEEDS YOU"]);
}

fn agent(world: &World, trouble: &str) -> String {
    world.leave("trouble.sh", trouble);
    format!("sh {}", world.leave("agent.sh", AGENT))
}

const CHECK: &str = "test ! -e work || test -s work";

/// Tells that there is trouble, and waits for the word to go on.
const HOLD: &str =
    r#"touch "$E2E_SIDE/trouble"; while ! test -e "$E2E_SIDE/go"; do sleep 0.02; done"#;

fn free(world: &World) {
    for name in ["fill", "rest"] {
        fs::remove_file(world.path("state").join(name)).unwrap();
    }
}

/// Which byte is the last that the disk takes decides whether the end of the attempt can still be put on record.
#[test]
fn a_disk_that_is_full_within_an_attempt_loses_nothing() {
    for then in [
        "exit 0",
        "head -c 300000 /dev/urandom | base64",
        "sleep 1000 & setsid sleep 1000 & wait",
    ] {
        aside(|| {
            let world = small();
            let agent = agent(&world, &format!("{FILL}\n{HOLD}\n{then}\n"));
            let runner = world.start(&exec_run(&agent, CHECK, &[]));
            world.until_left("trouble");
            let before = fs::read(world.journal()).unwrap();
            world.leave("go", "");
            if then.contains("sleep") {
                // Said to a runner that can perhaps not put it on record.
                drop(world.backstop(&["stop", &world.id()]));
            }
            let said = runner.end();
            let told = match said.code {
                1 => {
                    "No space left on device (os error 28): nothing was overwritten; free some space, then resume"
                }
                3 => "mend this, then retry",
                4 => "backstop resume",
                _ => "an exit status of its own",
            };
            said.telling(&[told]);
            stands_still(&world, &before);
            free(&world);
            ends_well(&world, &before);
        });
    }
}

#[test]
fn an_answer_that_a_full_disk_has_no_room_for_is_not_taken() {
    aside(|| {
        let world = small();
        let agent = agent(&world, "exit 0");
        let runner = world.start(&exec_run(&agent, CHECK, &["--wait"]));
        world.until("the gate", || runner.told().contains("ship gate g1 opened"));
        assert!(world.shell(FILL).status().unwrap().success());
        let before = fs::read(world.journal()).unwrap();
        // Longer than what a page of the disk has left.
        let note = "no ".repeat(2_700);
        let answer = ["gate", "reject", "g1", "--note", &note];
        world.backstop(&answer).with(6).telling(&["try again"]);
        let full = "free some space, then resume";
        runner
            .end()
            .with(1)
            .telling(&["No space left on device", full]);
        stands_still(&world, &before);
        assert_eq!(world.gate().kind, GateKind::Ship);
        free(&world);
        ends_well(&world, &before);
    });
}

#[test]
fn a_disk_that_is_read_only_is_told_and_goes_on_when_it_is_writable_again() {
    aside(|| {
        let world = small();
        let agent = agent(&world, HOLD);
        let runner = world.start(&exec_run(&agent, CHECK, &[]));
        world.until_left("trouble");
        let (state, none) = (world.path("state"), None::<&str>);
        let before = fs::read(world.journal()).unwrap();
        // A file system with a file that is being written is not remounted: whoever opens one from now on finds it so.
        mount(Some(&state), &state, none, MsFlags::MS_BIND, none).unwrap();
        let read_only = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        mount(none, &state, none, read_only, none).unwrap();
        world.leave("go", "");
        let words = "Read-only file system";
        let said = runner.end().with(3);
        said.telling(&[words, "mend this, then retry"]);
        stands_still(&world, &before);
        let left = fs::read(world.journal()).unwrap();
        world
            .backstop(&["resume"])
            .with(1)
            .telling(&[words, "mend this"]);
        assert_eq!(fs::read(world.journal()).unwrap(), left);
        umount(&state).unwrap();
        ends_well(&world, &before);
    });
}

#[test]
fn a_mission_whose_folder_is_closed_is_told_and_goes_on_when_it_is_open_again() {
    let world = World::new();
    let agent = agent(&world, HOLD);
    // Permissions do not bind root while it has these.
    let bound = |args: &[&str]| {
        let mut command = world.shell(if rustix::process::geteuid().is_root() {
            r#"exec setpriv --bounding-set -dac_override,-dac_read_search "$0" "$@""#
        } else {
            r#"exec "$0" "$@""#
        });
        command.arg(BACKSTOP).args(args);
        world.begin(command)
    };
    let runner = bound(&exec_run(&agent, CHECK, &[]));
    world.until_left("trouble");
    let (dir, before) = (world.dir(), fs::read(world.journal()).unwrap());
    fs::set_permissions(&dir, PermissionsExt::from_mode(0o000)).unwrap();
    world.leave("go", "");
    let words = "Permission denied";
    let said = runner.end().with(3);
    said.telling(&[words, "give yourself access"]);
    bound(&["resume"])
        .end()
        .with(1)
        .telling(&[words, "mend this"]);
    fs::set_permissions(&dir, PermissionsExt::from_mode(0o700)).unwrap();
    stands_still(&world, &before);
    let head = "never made";
    assert!(!fs::read_to_string(world.journal()).unwrap().contains(head));
    ends_well(&world, &before);
}

/// A file that may grow no more: nothing at all can be put on record, whatever room a page of a disk has left.
#[test]
fn an_agent_is_ended_where_its_stop_cannot_be_put_on_record() {
    let world = World::new();
    world.write("backstop.toml", "[limits]\nstop_grace = \"20s\"\n");
    world.commit("a long grace");
    let asked = r#"trap 'touch "$E2E_SIDE/asked"; exit 1' TERM"#;
    let agent = agent(
        &world,
        &format!("sleep 1000 & setsid sleep 1000 &\n{asked}\n{HOLD}\n"),
    );
    let mut command = world.shell(r#"trap '' XFSZ; exec "$0" "$@""#);
    command.arg(BACKSTOP).args(exec_run(&agent, CHECK, &[]));
    let runner = world.begin(command);
    world.until_left("trouble");
    world.until("the start on record", || {
        world.facts().contains(&"attempt_started".to_owned())
    });
    let before = fs::read(world.journal()).unwrap();
    let most = u64::try_from(before.len()).unwrap();
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    prlimit(Some(runner.pid()), Resource::Fsize, limit).unwrap();
    world
        .backstop(&["stop", &world.id()])
        .with(6)
        .telling(&["try again"]);
    runner
        .end()
        .with(1)
        .telling(&["File too large", "nothing was overwritten"]);
    // As at any stop it is asked first.
    assert!(world.side("asked").exists());
    stands_still(&world, &before);
    ends_well(&world, &before);
}
