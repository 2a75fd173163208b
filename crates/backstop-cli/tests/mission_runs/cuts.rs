//! The journal of a whole mission, cut at every byte and changed at every byte: it is healed or refused as the format
//! says, and what is taken up is the mission that its whole records tell.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use backstop_engine::mode::Account;
use backstop_engine::mode::Verdict;
use backstop_engine::vocab::Timestamp;
use backstop_engine::{Charter, Effect, Event, Fact, GateKind, Mission, ProcessRef};
use backstop_runner::clock::Wall;
use backstop_runner::history::HistoryError;
use backstop_runner::journal::{self, Healed, JournalError};
use backstop_runner::ledger::{Begun, Ledger};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::World;

const SCRIPT: &str = r#"
[[step]]
stage = "code"
visit = 1
attempt = 1
do = [{ session = "s1" }, { run = "echo 1 >>$E2E_SIDE/launches" }, { rate_limit = { after = "100ms" } }]

[[step]]
stage = "code"
visit = 1
do = [{ run = "echo 2 >>$E2E_SIDE/launches" }, { write = { path = "answer", text = "41" } }]

[[step]]
stage = "code"
visit = 2
do = [{ run = "echo 3 >>$E2E_SIDE/launches" }, { write = { path = "answer", text = "42" } }]
"#;

const CHECK: &str = "test ! -e answer || grep -q 42 answer";

/// A mission with a limit, a repair and a gate at Validate, before it ships.
fn before_ship() -> World {
    let world = World::new();
    let settings = "[limits]\nshortest_limit_wait = \"100ms\"\nstop_grace = \"100ms\"\n";
    world.write("backstop.toml", settings);
    world.commit("short waits");
    let script = world.leave("script.toml", SCRIPT);
    let run = [
        "run",
        "answer",
        "--from",
        "code",
        "--mode",
        "supervise",
        "--script",
        &script,
        "--check",
        CHECK,
    ];
    world.backstop(&run).with(3);
    to_the_end(&world, GateKind::Ship);
    world
}

/// The same, shipped.
fn whole() -> World {
    let world = before_ship();
    world.backstop(&["gate", "approve"]).with(0);
    world
}

/// Its journal.
fn whole_journal() -> &'static [u8] {
    static JOURNAL: OnceLock<Vec<u8>> = OnceLock::new();
    JOURNAL.get_or_init(|| {
        let world = whole();
        let facts = world.facts();
        for wanted in ["wait_ended", "answered", "checks_ran", "landed", "shipped"] {
            assert!(facts.iter().any(|fact| fact == wanted), "{wanted}");
        }
        assert_eq!(world.used(Account::PhaseFailures), 1, "a repair");
        fs::read(world.journal()).unwrap()
    })
}

/// Every gate before one of this kind is opened.
#[track_caller]
fn to_the_end(world: &World, last: GateKind) {
    for _ in 0..20 {
        world.backstop(&["resume"]).with(3);
        let gate = world.gate();
        if gate.kind == last {
            return;
        }
        let answer = if gate.verdict == Some(Verdict::RepairsNeeded) {
            &["gate", "reject", "--note", "no"][..]
        } else {
            &["gate", "approve"]
        };
        world.backstop(answer).with(3);
    }
    panic!("it never comes there: {:?}", world.gate())
}

/// What the records of a journal say, read without any of the journal's code.
struct Model {
    bytes: Vec<u8>,
    /// Behind each record's newline.
    ends: Vec<usize>,
    /// The mission after each record, and the last agent on record.
    after: Vec<(
        Mission,
        Option<(backstop_engine::vocab::EffectId, ProcessRef)>,
    )>,
}

impl Model {
    fn of(bytes: Vec<u8>) -> Self {
        let mut ends = Vec::new();
        let mut after: Vec<(Mission, Option<_>)> = Vec::new();
        let mut end = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            ends.push(end);
            let record: Value = serde_json::from_slice(line).unwrap();
            let fact: Fact = serde_json::from_value(record["event"].clone()).unwrap();
            let at = Timestamp::from_millis(record["at"].as_u64().unwrap());
            let mut agent = after.last().and_then(|(_, agent)| *agent);
            if let Fact::AttemptStarted(started) = &fact {
                agent = Some((started.effect, started.process));
            }
            let mission = match (after.last(), &fact) {
                (None, Fact::Opened(charter)) => Mission::open(Charter::clone(charter)).mission,
                (None, _) => panic!("it does not begin with an opening"),
                (Some((mission, _)), _) => mission.decide(&Event { at, fact }).unwrap().mission,
            };
            after.push((mission, agent));
        }
        Self { bytes, ends, after }
    }

    /// How many records hold where it is cut at `length`, and what is mended.
    fn cut(&self, length: usize) -> (usize, Healed) {
        let whole = self.ends.iter().filter(|end| **end <= length).count();
        let begun = whole.checked_sub(1).map_or(0, |last| self.ends[last]);
        match length - begun {
            0 => (whole, Healed::Nothing),
            _ if length + 1 == self.ends[whole] => (whole + 1, Healed::Newline),
            torn => {
                let bytes = u64::try_from(torn).unwrap();
                (whole, Healed::Cut { bytes })
            }
        }
    }
}

struct Disk {
    dir: TempDir,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir }
    }

    fn holding(&self, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join("journal.jsonl");
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Whether all is asked for, which takes minutes.
fn all() -> bool {
    std::env::var("BACKSTOP_CRASH_POINTS").is_ok_and(|points| points == "all")
}

fn take_up(path: &Path) -> Result<(Ledger<Wall>, Healed), HistoryError> {
    let taken = Ledger::take_up(journal::open::<Fact>(path)?, Wall)?;
    Ok((taken.ledger, taken.healed))
}

#[test]
fn a_whole_missions_journal_cut_at_any_byte_is_the_mission_of_its_whole_records() {
    let model = Model::of(whole_journal().to_vec());
    let disk = Disk::new();
    for length in 0..=model.bytes.len() {
        let path = disk.holding(&model.bytes[..length]);
        let (records, healed) = model.cut(length);
        if records == 0 {
            let refused = take_up(&path).map(drop).unwrap_err();
            let empty = matches!(refused, HistoryError::Journal(JournalError::Empty(_)));
            assert!(empty, "{length}: {refused}");
            assert_eq!(fs::read(&path).unwrap(), model.bytes[..length], "{length}");
            continue;
        }
        let (ledger, mended) = take_up(&path).unwrap();
        let (mission, agent) = &model.after[records - 1];
        assert_eq!(mended, healed, "{length}");
        assert_eq!(ledger.mission(), mission, "{length}");
        let left: Vec<(_, Effect, Begun)> = mission
            .outstanding()
            .map(|(id, effect)| {
                let process = agent.filter(|(launch, _)| *launch == id);
                (
                    id,
                    effect.clone(),
                    Begun::Perhaps(process.map(|(_, process)| process)),
                )
            })
            .collect();
        assert_eq!(ledger.outstanding(), left, "{length}");
        let end = model.ends[records - 1];
        assert_eq!(fs::read(&path).unwrap(), model.bytes[..end], "{length}");
    }
}

#[test]
fn a_whole_missions_journal_with_any_byte_changed_is_refused_with_the_place() {
    let bytes = whole_journal().to_vec();
    let model = Model::of(bytes.clone());
    let disk = Disk::new();
    let changes: Vec<u8> = (0..8).map(|bit| 1 << bit).chain([0xff]).collect();
    for place in 0..bytes.len() {
        let record = model.ends.iter().filter(|end| **end <= place).count();
        let start = record.checked_sub(1).map_or(0, |last| model.ends[last]);
        let few = [changes[place % changes.len()]];
        for change in if all() { changes.as_slice() } else { &few } {
            let mut other = bytes.clone();
            other[place] ^= change;
            let path = disk.holding(&other);
            let opened =
                journal::open::<Fact>(&path).and_then(|replay| replay.into_writer().map(drop));
            let verified = journal::verify(&path).map(drop);
            for refused in [opened.unwrap_err(), verified.unwrap_err()] {
                let JournalError::Damaged { damage, .. } = refused else {
                    panic!("byte {place} changed by {change:#x}: {refused}")
                };
                assert_eq!(
                    (damage.offset, damage.seq.number()),
                    (start as u64, record as u64),
                    "byte {place} changed by {change:#x}"
                );
            }
            assert_eq!(fs::read(&path).unwrap(), other, "left as it was");
        }
    }
}

/// The disk lost the end of the journal, whole records among it, while the work is all there.
#[test]
fn a_mission_whose_journal_was_changed_stands_still_and_one_that_was_cut_comes_to_the_same_end() {
    let world = before_ship();
    let (bytes, tree) = (fs::read(world.journal()).unwrap(), tree(&world));
    let copy = tempfile::tempdir().unwrap();
    let opening = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let cuts = if all() { 200 } else { 6 };
    copied(&world.path("."), copy.path());
    for n in 0..cuts {
        let length = opening + 1 + n * (bytes.len() - opening - 1) / cuts;
        for entry in fs::read_dir(world.path(".")).unwrap().flatten() {
            fs::remove_dir_all(entry.path()).unwrap();
        }
        copied(&copy.path().join("."), &world.path("."));
        let mut other = bytes.clone();
        other[length] ^= 1 << (n % 8);
        fs::write(world.journal(), &other).unwrap();
        for command in [&["journal", "verify"][..], &["resume"]] {
            world.backstop(command).with(7).telling(&["at byte"]);
        }
        assert_eq!(fs::read(world.journal()).unwrap(), other, "left as it was");
        fs::write(world.journal(), &bytes[..length]).unwrap();
        to_the_end(&world, GateKind::Ship);
        world.backstop(&["gate", "approve"]).with(0);
        assert_eq!(
            self::tree(&world),
            tree,
            "cut at {length} of {}",
            bytes.len()
        );
        let facts = world.facts();
        let shipped = facts.iter().filter(|fact| *fact == "shipped").count();
        assert_eq!(shipped, 1, "cut at {length}");
        world.nothing_runs();
    }
}

fn tree(world: &World) -> String {
    world.mission().lane().head.tree.to_string()
}

fn copied(from: &Path, to: &Path) {
    let mut copy = std::process::Command::new("cp");
    copy.args(["--archive", "--no-target-directory"]);
    assert!(copy.arg(from).arg(to).status().unwrap().success());
}
