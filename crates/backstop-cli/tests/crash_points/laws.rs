//! What holds after every kill.

use std::collections::{BTreeMap, BTreeSet};

use backstop_engine::Fact;
use backstop_engine::mode::Account;
use backstop_engine::outcome::Status;
use backstop_engine::vocab::Digest;
use backstop_runner::history;
use serde_json::{Value, json};

use crate::scenes::{Moves, Scene};
use crate::support::World;

/// What a run leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    tree: String,
    accounts: BTreeMap<Account, u64>,
    facts: BTreeMap<String, usize>,
    launches: usize,
    interrupted: usize,
}

/// The end of this world's only mission.
#[track_caller]
pub(crate) fn end(world: &World) -> End {
    let history = world.history();
    let mission = &history.mission;
    let accounts = Account::ALL.map(|account| (account, mission.meter().total(account)));
    let mut facts = BTreeMap::new();
    for fact in world.facts() {
        *facts.entry(fact).or_insert(0) += 1;
    }
    let interrupted = history.steps.iter().filter(|step| {
        let Fact::AttemptEnded(ended) = &step.fact else {
            return false;
        };
        matches!(ended.status, Status::Interrupted { .. })
    });
    End {
        tree: mission.lane().head.tree.to_string(),
        accounts: accounts.into_iter().collect(),
        interrupted: interrupted.count(),
        launches: world.launches().len(),
        facts,
    }
}

/// Whether the mission was never opened: then nothing of it runs, it is told of, and it can be cleaned away.
#[track_caller]
pub(crate) fn never_opened(world: &World) -> bool {
    let opened = |dir: &std::path::PathBuf| history::read(&dir.join("journal.jsonl")).is_ok();
    if world.missions().iter().any(opened) {
        return false;
    }
    assert_eq!(world.launches(), [""; 0]);
    for dir in world.missions() {
        let id = dir.file_name().unwrap().to_string_lossy().into_owned();
        world.backstop(&["status"]).with(0).telling(&["DAMAGED"]);
        let resumed = world.backstop(&["resume"]);
        assert!([1, 7].contains(&resumed.code), "{resumed:?}");
        let clean = ["clean", "--force", "--journal", &id];
        world.backstop(&clean).with(0);
    }
    assert!(world.missions().is_empty());
    true
}

/// Each commit that an agent made is held by a ref of the operator's repository.
#[track_caller]
pub(crate) fn commits_are_kept(world: &World) {
    let all = world.git(&["rev-list", "--all"]);
    let all: BTreeSet<&str> = all.lines().collect();
    for commit in world.seen("commits").lines() {
        assert!(all.contains(commit), "{commit} is lost");
    }
}

/// What happened to a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// How often Backstop was killed.
    pub(crate) kills: usize,
    /// How many files a git that was killed held locked.
    pub(crate) locked: usize,
}

/// Everything that must be so at the end of a run with these faults, beside the end of one without.
#[track_caller]
pub(crate) fn hold(world: &World, scene: &Scene, unkilled: &End, faults: Faults) {
    let Faults { kills, locked } = faults;
    let end = end(world);
    assert_eq!(end.tree, unkilled.tree);
    accounts(&end, unkilled, scene.moves);
    let infra = |end: &End| end.accounts[&Account::InfraTotal];
    let most = infra(unkilled) + u64::try_from(kills).unwrap();
    assert!(infra(&end) <= most, "{end:?}");
    assert!(end.interrupted <= unkilled.interrupted + kills, "{end:?}");
    for fact in ["opened", "preflight_ran", "checks_ran", "landed", "shipped"] {
        assert_eq!(end.facts.get(fact), unkilled.facts.get(fact), "{fact}");
    }
    assert_eq!(end.facts.get("shipped"), Some(&1));
    launches(world, &end, unkilled);
    commits_are_kept(world);
    shipped_once(world, locked);
    blobs_are_whole(world);
    for plan in plans(world) {
        assert_eq!(plan["state"], "applied");
        assert_eq!(plan["mission"], world.id());
    }
    world.nothing_runs();
}

/// The stored plans.
#[track_caller]
pub(crate) fn plans(world: &World) -> Vec<Value> {
    let listed = world.backstop(&["plan", "list", "--json"]).with(0).out;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["damaged"], json!([]));
    listed["plans"].as_array().unwrap().clone()
}

/// Faults and the time of cut attempts aside, a kill costs nothing.
#[track_caller]
fn accounts(end: &End, unkilled: &End, moves: Moves) {
    for (account, total) in &end.accounts {
        let wanted = unkilled.accounts[account];
        match (account, moves) {
            (Account::Infra | Account::InfraTotal | Account::ActiveTime, _) => {}
            (Account::Attempts | Account::QuotaWaits, Moves::Attempts) => {
                assert!(*total <= wanted, "{account}: {total} of {wanted}");
            }
            (Account::Cost, Moves::Cost) => {
                let attempts = 1 + u64::try_from(end.interrupted).unwrap();
                assert!(
                    (wanted..=attempts * wanted).contains(total),
                    "{account}: {total}"
                );
            }
            _ => assert_eq!(*total, wanted, "{account}"),
        }
    }
}

/// Only an attempt that was cut has a successor, none is launched twice, and no two were at work at once.
#[track_caller]
fn launches(world: &World, end: &End, unkilled: &End) {
    let launches = world.launches();
    let different: BTreeSet<&String> = launches.iter().collect();
    assert_eq!(launches.len(), different.len(), "{launches:?}");
    let cut = end.interrupted.saturating_sub(unkilled.interrupted);
    assert!(launches.len() <= unkilled.launches + cut, "{launches:?}");
    assert_eq!(world.seen("second"), "", "{launches:?}");
}

/// The ref that the work was shipped to was moved by it once. A git that is killed while it holds the ref may have logged a
/// move that it did not make.
#[track_caller]
fn shipped_once(world: &World, locked: usize) {
    let head = world.mission().lane().head.commit.to_string();
    let branch = format!("refs/heads/backstop/{}/mission", world.id());
    let refs = world.git(&["for-each-ref", "--format=%(refname)", "refs/heads/backstop"]);
    let shipped = if refs.is_empty() {
        "refs/heads/main"
    } else {
        assert_eq!(refs, branch);
        &branch
    };
    assert_eq!(world.git(&["rev-parse", shipped]), head);
    let moves = world.git(&["reflog", "show", "--format=%H", shipped]);
    let here = moves.lines().filter(|commit| *commit == head);
    assert!((1..=1 + locked).contains(&here.count()), "{moves}");
}

/// A blob is what its name says.
#[track_caller]
fn blobs_are_whole(world: &World) {
    let Ok(entries) = std::fs::read_dir(world.dir().join("blobs")) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.len() == 64 {
            let bytes = std::fs::read(entry.path()).unwrap();
            assert_eq!(Digest::of(&bytes).digits(), name);
        }
    }
}
