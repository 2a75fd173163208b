//! What the disk does to a journal and to the state around it: full, read-only, linked, locked, killed.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends where what it expects does not hold"
)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use backstop_engine::vocab::{MissionId, Timestamp};
use backstop_runner::journal::{self, Durability, Healed, JournalError, Tail};
use backstop_runner::state::{Home, MissionDir, StateError};

const NOW: Timestamp = Timestamp::from_millis(1);

fn id(text: &str) -> MissionId {
    text.parse().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A repository and a state directory, side by side.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("my repo")).unwrap();
        Self { dir }
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().join("my repo")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn home(&self) -> Home {
        Home::resolve(Some(&self.state()), |_| None, &self.repo()).unwrap()
    }

    fn mission(&self) -> MissionDir {
        self.home().create_mission(id("m1")).unwrap()
    }
}

/// Runs one test of this file again, in a process of its own where `BACKSTOP_TEST_CHILD` is `argument`.
fn again(test: &str, argument: &Path, shell: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env("BACKSTOP_TEST_CHILD", argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn child() -> Option<PathBuf> {
    std::env::var_os("BACKSTOP_TEST_CHILD").map(PathBuf::from)
}

/// Waits for a line of a child that contains `word`.
fn heard(child: &mut Child, word: &str) -> String {
    let output = BufReader::new(child.stdout.as_mut().unwrap());
    let mut lines = output.lines().map(Result::unwrap);
    lines.find(|line| line.contains(word)).unwrap()
}

#[test]
fn a_write_that_ends_in_the_middle_poisons_the_writer_and_is_cut_by_the_next_open() {
    if let Some(path) = child() {
        return append_until_refused(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    // The limit ends the write in the middle, as a full disk does.
    let this = "a_write_that_ends_in_the_middle_poisons_the_writer_and_is_cut_by_the_next_open";
    let limited = again(this, &path, "trap '' XFSZ; ulimit -f 4;");
    let output = limited.wait_with_output().unwrap();
    assert!(output.status.success());
    let words = String::from_utf8(output.stdout).unwrap();
    let (_, appended) = words.split_once("appended ").unwrap();
    let appended: u64 = appended.lines().next().unwrap().parse().unwrap();

    let verified = journal::verify(&path).unwrap();
    assert_eq!(verified.records, appended);
    let Tail::Torn { bytes, .. } = verified.tail else {
        panic!("{verified:?}")
    };
    let (mut writer, healed) = journal::open::<String>(&path)
        .unwrap()
        .into_writer()
        .unwrap();
    assert_eq!(healed, Healed::Cut { bytes });
    let seq = writer.append(NOW, &"after", Durability::Sync).unwrap();
    assert_eq!(seq.number(), appended);
    assert_eq!(journal::verify(&path).unwrap().records, appended + 1);
}

fn append_until_refused(path: &Path) {
    let mut writer = journal::create(path).unwrap();
    let event = "x".repeat(100);
    let mut append = || writer.append(NOW, &event, Durability::Sync);
    let (appended, first) = (0..)
        .find_map(|n| append().err().map(|first| (n, first)))
        .unwrap();
    assert!(first.to_string().contains("File too large"), "{first}");
    let length = fs::metadata(path).unwrap().len();
    let later = append().unwrap_err();
    assert!(matches!(later, JournalError::Poisoned { .. }), "{later}");
    assert!(later.to_string().contains("File too large"), "{later}");
    assert_eq!(fs::metadata(path).unwrap().len(), length);
    println!("\nappended {appended}");
}

#[test]
fn a_full_disk_is_said_so_and_loses_nothing_that_was_appended() {
    if let Some(dir) = child() {
        return fill(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    // A small disk that is seen by the child alone and ends with it.
    let small = r#"mount -t tmpfs -o size=64k tmpfs "$BACKSTOP_TEST_CHILD""#;
    let probe = Command::new("unshare")
        .args(["-rm", "sh", "-c", small])
        .env("BACKSTOP_TEST_CHILD", dir.path())
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        // Not every kernel lets a user mount. The short write above takes the same path without.
        return;
    }
    let this = "a_full_disk_is_said_so_and_loses_nothing_that_was_appended";
    let shell = format!(r#"exec unshare -rm sh -c '{small} && exec "$0" "$@"' "$0" "$@";"#);
    let output = again(this, dir.path(), &shell);
    let output = output.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("filled"));
}

fn fill(dir: &Path) {
    let path = dir.join("journal.jsonl");
    let mut writer = journal::create(&path).unwrap();
    let event = "x".repeat(3_000);
    let refused = (0..1_000).find_map(|_| writer.append(NOW, &event, Durability::Sync).err());
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("No space left on device"), "{refused}");
    assert!(refused.contains("free some space"), "{refused}");
    let verified = journal::verify(&path).unwrap();
    assert_eq!(verified.records, writer.next().number());
    println!("\nfilled");
}

#[test]
fn kill_9_loses_no_synced_record() {
    if let Some(path) = child() {
        let mut writer = journal::create(&path).unwrap();
        for n in 0_u64.. {
            writer.append(NOW, &n, Durability::Sync).unwrap();
            println!("\nsynced {n}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut killed = again("kill_9_loses_no_synced_record", &path, "");
    heard(&mut killed, "synced 20");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut replay = journal::open::<u64>(&path).unwrap();
    let numbers: Vec<_> = replay.by_ref().map(|record| record.event).collect();
    let (writer, _) = replay.into_writer().unwrap();
    assert!(numbers.len() > 20);
    assert!(numbers.iter().copied().eq(0..writer.next().number()));
}

#[test]
fn a_symlink_is_never_followed_to_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    let mut writer = journal::create(&real).unwrap();
    writer.append(NOW, &"event", Durability::Sync).unwrap();
    symlink(&real, &link).unwrap();
    let refusals = [
        journal::open::<String>(&link).map(drop),
        journal::read::<String>(&link).map(drop),
        journal::verify(&link).map(drop),
    ];
    for refused in refusals {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("it is a symlink"), "{refused}");
    }
    let dangling = dir.path().join("dangling");
    symlink(dir.path().join("nowhere"), &dangling).unwrap();
    let refused = journal::create(&dangling).unwrap_err();
    assert!(matches!(refused, JournalError::Exists(_)), "{refused}");
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn a_directory_or_device_is_not_a_journal() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path(), Path::new("/dev/null")] {
        let refused = journal::read::<String>(path).map(drop).unwrap_err();
        assert!(
            refused.to_string().contains("it is not a regular file"),
            "{refused}"
        );
    }
    let missing = journal::open::<String>(&dir.path().join("none")).map(drop);
    assert!(missing.unwrap_err().to_string().contains("no such mission"));
}

#[test]
fn a_new_journal_is_the_owners_alone_and_is_created_once() {
    let world = World::new();
    let mission = world.mission();
    let writer = journal::create(&mission.journal()).unwrap();
    assert_eq!(mode(writer.path()), 0o600);
    let refused = journal::create(&mission.journal()).unwrap_err();
    assert!(matches!(refused, JournalError::Exists(_)), "{refused}");
}

#[test]
fn a_directory_that_cannot_be_written_is_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, PermissionsExt::from_mode(0o500)).unwrap();
    // Permissions do not bind root; the file system of the running kernel does.
    let place = if File::create(closed.join("probe")).is_ok() {
        PathBuf::from("/proc/journal.jsonl")
    } else {
        closed.join("journal.jsonl")
    };
    let refused = journal::create(&place).unwrap_err();
    assert!(
        matches!(refused, JournalError::Io { act: "create", .. }),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("nothing was overwritten"),
        "{refused}"
    );
}

#[test]
fn a_mission_is_driven_by_one_process_at_a_time() {
    if let Some(path) = child() {
        let home = Home::resolve(Some(&path), |_| None, &path.with_file_name("my repo")).unwrap();
        let _held = home.find("m1").unwrap().lock().unwrap();
        println!("\nholding {}", std::process::id());
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let world = World::new();
    let mission = world.mission();
    let this = "a_mission_is_driven_by_one_process_at_a_time";
    let mut holder = again(this, &world.state(), "");
    let pid = heard(&mut holder, "holding").replace("holding ", "");

    let refused = mission.lock().unwrap_err().to_string();
    assert!(
        refused.contains("mission `m1` is driven by another process"),
        "{refused}"
    );
    assert!(refused.contains(&format!("`{pid}`")), "{refused}");

    holder.stdin.take().unwrap().write_all(b"\n").unwrap();
    holder.wait().unwrap();
    let taken = mission.lock().unwrap();
    assert_eq!(taken.left_behind(), None, "it was given up");
}

#[test]
fn two_locks_of_one_process_exclude_each_other_too() {
    let world = World::new();
    let mission = world.mission();
    let first = mission.lock().unwrap();
    let refused = mission.lock().unwrap_err();
    assert!(matches!(refused, StateError::Held { .. }), "{refused}");
    drop(first);
    assert!(mission.lock().is_ok());
}

#[test]
fn what_a_lock_file_says_holds_nothing_and_is_told() {
    let world = World::new();
    let mission = world.mission();
    let alive = std::process::id();
    let words = format!(r#"{{"pid":{alive},"start":1000,"boot":"another"}}"#);
    fs::write(mission.path().join("lock"), words).unwrap();
    let taken = mission.lock().unwrap();
    let left = taken.left_behind().unwrap();
    assert_eq!((left.pid, left.start), (Some(alive), Some(1000)));
    drop(taken);
    fs::write(mission.path().join("lock"), "\0\0not json").unwrap();
    assert_eq!(mission.lock().unwrap().left_behind(), None);
}

#[test]
fn a_lock_file_is_never_reached_through_a_symlink() {
    let world = World::new();
    let mission = world.mission();
    let victim = world.dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, mission.path().join("lock")).unwrap();
    assert!(matches!(mission.lock(), Err(StateError::Io { .. })));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn the_state_directory_is_found_in_a_fixed_order() {
    let world = World::new();
    let at = |name: &str| world.dir.path().canonicalize().unwrap().join(name);
    let root = |flag: Option<&Path>, vars: &[(&str, PathBuf)]| {
        let var = |name: &str| {
            vars.iter()
                .find(|v| v.0 == name)
                .map(|v| v.1.clone().into())
        };
        Home::resolve(flag, var, &world.repo()).map(|h| h.path().parent().unwrap().to_owned())
    };
    let all = [
        ("BACKSTOP_STATE", at("b")),
        ("XDG_STATE_HOME", at("x")),
        ("HOME", at("h")),
    ];
    assert_eq!(root(Some(&at("f")), &all).unwrap(), at("f"));
    assert_eq!(root(None, &all).unwrap(), at("b"));
    assert_eq!(root(None, &all[1..]).unwrap(), at("x/backstop"));
    assert_eq!(
        root(None, &all[2..]).unwrap(),
        at("h/.local/state/backstop")
    );
    let unset = [
        ("BACKSTOP_STATE", PathBuf::new()),
        ("XDG_STATE_HOME", PathBuf::from("relative")),
        ("HOME", at("h")),
    ];
    assert_eq!(root(None, &unset).unwrap(), at("h/.local/state/backstop"));
    assert!(matches!(root(None, &[]), Err(StateError::Nowhere)));
    assert!(!at("f").exists(), "nothing is created by looking");
}

#[test]
fn a_home_is_named_by_its_repository_and_differs_for_each() {
    let world = World::new();
    let name = |home: &Home| {
        home.path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let first = name(&world.home());
    let (own, hash) = first.rsplit_once('-').unwrap();
    assert_eq!((own, hash.len()), ("my-repo", 16));
    let other = World::new();
    assert_ne!(name(&other.home()), first);
    let alias = world.dir.path().join("alias");
    symlink(world.repo(), &alias).unwrap();
    let aliased = Home::resolve(Some(&world.state()), |_| None, &alias).unwrap();
    assert_eq!(aliased, world.home());
}

#[test]
fn state_is_never_kept_inside_the_repository() {
    let world = World::new();
    let inside = world.repo().join("not/there/yet");
    let link = world.dir.path().join("link");
    symlink(world.repo(), &link).unwrap();
    let around = world.dir.path().join("state/../my repo/x");
    fs::create_dir(world.state()).unwrap();
    for state in [world.repo(), inside, link.join("x"), around] {
        let refused = Home::resolve(Some(&state), |_| None, &world.repo()).unwrap_err();
        assert!(matches!(refused, StateError::Inside { .. }), "{refused}");
    }
    let beside = world.dir.path().join("my repo state");
    assert!(Home::resolve(Some(&beside), |_| None, &world.repo()).is_ok());
    let unsettled = world.dir.path().join("none/../my repo");
    let refused = Home::resolve(Some(&unsettled), |_| None, &world.repo()).unwrap_err();
    assert!(matches!(refused, StateError::Io { .. }), "{refused}");
}

#[test]
fn a_mission_folder_is_private_and_made_once() {
    let world = World::new();
    let mission = world.mission();
    for dir in [
        &world.state(),
        world.home().path(),
        mission.path(),
        &mission.blobs(),
        &world.home().accounts(),
    ] {
        assert_eq!(mode(dir), 0o700, "{}", dir.display());
    }
    let refused = world.home().create_mission(id("m1")).unwrap_err();
    assert!(matches!(refused, StateError::Exists(_)), "{refused}");
}

#[test]
fn an_id_never_names_a_place_outside_its_folder() {
    let world = World::new();
    for dots in [".", "..", ".hidden"] {
        let refused = world.home().create_mission(id(dots)).unwrap_err();
        assert!(matches!(refused, StateError::Id(_)), "{refused}");
        assert!(matches!(
            world.home().mission(&id(dots)),
            Err(StateError::Unknown { .. })
        ));
    }
    let refused = world.home().find("../x").unwrap_err();
    assert!(matches!(refused, StateError::Unknown { .. }), "{refused}");
}

#[test]
fn a_mission_is_found_by_its_id_or_the_only_beginning() {
    let world = World::new();
    let home = world.home();
    assert_eq!(home.missions().unwrap(), []);
    let none = home.find("m").unwrap_err().to_string();
    assert!(none.contains("there is none yet"), "{none}");
    for name in ["fix-b", "fix", "add", "fix-a"] {
        home.create_mission(id(name)).unwrap();
    }
    fs::write(home.path().join("missions/Not An Id"), "").unwrap();
    let sorted = ["add", "fix", "fix-a", "fix-b"].map(id);
    assert_eq!(home.missions().unwrap(), sorted);
    let found = |wanted| home.find(wanted).map(|mission| mission.id().to_string());
    assert_eq!(found("a").unwrap(), "add");
    assert_eq!(
        found("fix").unwrap(),
        "fix",
        "a whole id is never ambiguous"
    );
    assert_eq!(found(" FIX-A ").unwrap(), "fix-a");
    assert_eq!(
        found("fi").unwrap_err().to_string(),
        "`fi` could be `fix`, `fix-a`, `fix-b`: give more of the id"
    );
    assert_eq!(
        found("zz").unwrap_err().to_string(),
        "no mission here has the id `zz` or one that begins so; there are `add`, `fix`, `fix-a`, `fix-b`"
    );
    assert!(matches!(found(" "), Err(StateError::Unknown { .. })));
}

#[test]
fn state_that_others_can_write_or_that_is_a_link_is_refused() {
    let world = World::new();
    let mission = world.mission();
    fs::set_permissions(mission.path(), PermissionsExt::from_mode(0o770)).unwrap();
    let refused = world.home().find("m1").unwrap_err();
    assert!(matches!(refused, StateError::Exposed(_)), "{refused}");
    let link = mission.path().with_file_name("m2");
    symlink(world.repo(), link).unwrap();
    let refused = world.home().find("m2").unwrap_err();
    assert!(matches!(refused, StateError::NotADirectory(_)), "{refused}");
}
