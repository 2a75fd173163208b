//! Which places are tried: a spread of them by default, all of them where that is asked for.
//!
//! `BACKSTOP_CRASH_POINTS` is how many moments of each scene (or `all`), `BACKSTOP_CRASH_SEED` moves the spread. Threads make the
//! same number another place in another run: a failure names the place that it was.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::laws;
use crate::scenes::{self, Kind, Scene};
use crate::support::World;
use crate::tracer::{self, Place, Side, Traced};

/// How many moments of a scene are tried when nothing is asked for.
const FEW: usize = 3;

/// Moves the spread from scene to scene and from seed to seed.
const STEP: usize = 7919;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn number(name: &str) -> Option<usize> {
    let number = |text: String| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: `{text}`"))
    };
    variable(name).map(number)
}

/// How many moments of so many are wanted.
fn wanted(count: usize) -> usize {
    const POINTS: &str = "BACKSTOP_CRASH_POINTS";
    if variable(POINTS).as_deref() == Some("all") {
        return count;
    }
    number(POINTS).unwrap_or(FEW).clamp(1, count)
}

/// The moments at which a kill finds the world different, as the places where it comes: behind each call. In front of the
/// next one nothing has changed, but where calls of several threads overlap.
fn moments(places: &[Place]) -> Vec<usize> {
    let follows_one = |number: usize| number > 0 && places[number - 1].side == Side::After;
    let differs = |number: &usize| places[*number].side == Side::After || !follows_one(*number);
    (0..places.len()).filter(differs).collect()
}

/// Those of the moments to try.
fn chosen(places: &[Place], moments: &[usize]) -> Vec<usize> {
    let all: Vec<usize> = (0..moments.len()).collect();
    let wanted = wanted(all.len());
    let mut chosen = spread(&all, wanted);
    // A wide spread would pass by the few moments at which what was done is not on record, or its record can be torn.
    for fits in [is_to_record, wrote_a_record] {
        let fits = |moment: &usize| fits(places, moments[*moment]);
        let fitting: Vec<usize> = all.iter().copied().filter(fits).collect();
        chosen.extend(spread(&fitting, wanted.div_ceil(FEW)));
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Some of them, at even distances.
fn spread(numbers: &[usize], wanted: usize) -> Vec<usize> {
    let (count, seed) = (numbers.len(), number("BACKSTOP_CRASH_SEED"));
    let moved = seed.unwrap_or(1).wrapping_mul(STEP);
    let wanted = wanted.min(count);
    let nth = |n| (n * count / wanted + moved) % count;
    (0..wanted).map(|n| numbers[nth(n)]).collect()
}

/// Tries a scene.
#[track_caller]
pub(crate) fn try_out(scene: &Scene) {
    let worlds = Worlds::of(scene);
    let (places, unkilled) = unkilled(&worlds);
    let moments = moments(&places);
    let chosen = chosen(&places, &moments);
    let mut failures = Vec::new();
    for moment in &chosen {
        let (mut at, place) = (None, moments[*moment]);
        let tried = catch_unwind(AssertUnwindSafe(|| {
            once(&worlds, (*moment, place), &unkilled, &mut at);
        }));
        if let Err(words) = tried {
            println!("{}: place {place}, {at:?}: {}", scene.name, told(&*words));
            failures.push((place, at));
            worlds.clear();
        }
    }
    println!(
        "{}: {} places, {} moments, {} tried; kinds: {:?}",
        scene.name,
        places.len(),
        moments.len(),
        chosen.len(),
        kinds(&places)
    );
    assert!(failures.is_empty(), "{}: {failures:?}", scene.name);
}

/// Worlds at the moment before a scene's command. Where it can be, the first is put back.
struct Worlds<'a> {
    scene: &'a Scene,
    kept: Option<(World, TempDir)>,
}

impl<'a> Worlds<'a> {
    fn of(scene: &'a Scene) -> Self {
        let kept = (scene.world == Kind::Files).then(|| {
            let (world, copy) = ((scene.build)(), tempfile::tempdir().unwrap());
            files(&world.path("."), copy.path());
            (world, copy)
        });
        Self { scene, kept }
    }

    /// Nothing of a run that failed disturbs the next.
    fn clear(&self) {
        if let Some((world, _)) = &self.kept {
            world.end_all();
        }
    }

    fn with<T>(&self, work: impl FnOnce(&World) -> T) -> T {
        let Some((world, copy)) = &self.kept else {
            return work(&(self.scene.build)());
        };
        let root = world.path(".");
        for entry in std::fs::read_dir(&root).unwrap().flatten() {
            std::fs::remove_dir_all(entry.path()).unwrap();
        }
        files(&copy.path().join("."), &root);
        work(world)
    }
}

fn files(from: &Path, to: &Path) {
    let mut copy = Command::new("cp");
    copy.args(["--archive", "--no-target-directory"])
        .arg(from)
        .arg(to);
    assert!(copy.status().unwrap().success());
}

/// The run that nobody kills: its places, and how it ends.
#[track_caller]
fn unkilled(worlds: &Worlds<'_>) -> (Vec<Place>, laws::End) {
    let scene = worlds.scene;
    worlds.with(|world| {
        let traced = under_way(world, scene, None);
        scenes::go_on(world, scene, &traced, None);
        let end = laws::end(world);
        laws::hold(world, scene, &end, laws::Faults::default());
        (traced.places, end)
    })
}

/// Killed at a moment, every second time with everything that it had started; every third time, the `resume` after it is
/// killed too. A record that was written and not made durable is torn: the disk may have any beginning of it.
#[track_caller]
fn once(
    worlds: &Worlds<'_>,
    (moment, place): (usize, usize),
    unkilled: &laws::End,
    at: &mut Option<Place>,
) {
    let scene = worlds.scene;
    worlds.with(|world| {
        let traced = under_way(world, scene, Some(place));
        *at = traced.places.last().cloned();
        let mut locked = 0;
        if moment % 2 == 1 {
            // As when the machine goes: no git and no agent goes on either.
            world.end_all();
            world.nothing_runs();
            locked = unlock(&world.repo().join(".git"));
        }
        let wrote = wrote_a_record(&traced.places, traced.places.len() - 1);
        if wrote && traced.killed {
            tear(&world.journal(), place);
        }
        let again = moment
            .is_multiple_of(3)
            .then(|| moment.wrapping_mul(STEP) % 500);
        let kills = scenes::go_on(world, scene, &traced, again);
        laws::hold(world, scene, unkilled, laws::Faults { kills, locked });
    });
}

/// Removes the locks that a git which was killed left in the operator's repository, as git asks a person to; how many.
/// A mission tells of one at a gate, and touches none: it could be that of a git that is at work.
fn unlock(dir: &Path) -> usize {
    let mut removed = 0;
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            removed += unlock(&path);
        } else if path.extension().is_some_and(|ending| ending == "lock") {
            std::fs::remove_file(&path).unwrap();
            removed += 1;
        }
    }
    removed
}

/// Whether something was done, an agent started among it, that is not on record.
fn is_to_record(places: &[Place], number: usize) -> bool {
    let next = places.get(number + 1);
    next.is_some_and(|next| next.side == Side::Before && writes_a_record(next))
}

/// Whether this is behind the write of a record, and before anything else.
fn wrote_a_record(places: &[Place], number: usize) -> bool {
    let last = &places[number];
    last.side == Side::After && writes_a_record(last)
}

fn writes_a_record(place: &Place) -> bool {
    place.call.name == "write" && place.call.what.ends_with("/journal.jsonl")
}

/// Takes some bytes of the last record, by the number of the place.
fn tear(journal: &Path, number: usize) {
    let bytes = std::fs::read(journal).unwrap();
    let body = &bytes[..bytes.len() - 1];
    let start = body
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let left = number.wrapping_mul(STEP) % (bytes.len() - start);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(journal)
        .unwrap();
    file.set_len(u64::try_from(start + left).unwrap()).unwrap();
}

fn under_way(world: &World, scene: &Scene, kill_at: Option<usize>) -> Traced {
    let args = (scene.command)(world);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    std::thread::scope(|threads| {
        let beside = threads.spawn(|| (scene.beside)(world));
        let traced = tracer::run(world, &args, kill_at);
        world.leave("over", "");
        beside.join().unwrap();
        traced
    })
}

/// How many places there are of each call.
fn kinds(places: &[Place]) -> BTreeMap<&str, usize> {
    let mut kinds = BTreeMap::new();
    for place in places {
        *kinds.entry(place.call.name).or_insert(0) += 1;
    }
    kinds
}

fn told(words: &(dyn Any + Send)) -> String {
    let text = words.downcast_ref::<String>().cloned();
    let text = text.or_else(|| words.downcast_ref::<&str>().map(ToString::to_string));
    text.unwrap_or_default()
}

#[test]
fn a_run_is_killed_anywhere() {
    try_out(&scenes::RUN);
}

#[test]
fn a_run_of_a_command_is_killed_anywhere() {
    try_out(&scenes::RUN_EXEC);
}

#[test]
fn a_run_of_a_plan_is_killed_anywhere() {
    try_out(&scenes::PLAN);
}

#[test]
fn a_wait_for_a_limit_is_killed_anywhere() {
    try_out(&scenes::LIMIT);
}

#[test]
fn a_resume_is_killed_anywhere() {
    try_out(&scenes::RESUME);
}

#[test]
fn an_approval_that_ships_is_killed_anywhere() {
    try_out(&scenes::APPROVE);
}

#[test]
fn an_approval_that_merges_is_killed_anywhere() {
    try_out(&scenes::MERGE);
}

#[test]
fn an_answer_that_is_recorded_is_killed_anywhere() {
    try_out(&scenes::RECORD);
}

#[test]
fn a_stop_is_killed_anywhere() {
    try_out(&scenes::STOP);
}

#[test]
fn a_runner_that_is_stopped_is_killed_anywhere() {
    try_out(&scenes::STOPPED);
}
