//! A mission in the hands of this process: opened or taken up, answered, and driven.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use backstop_engine::vocab::{EffectId, MissionId, Signature};
use backstop_engine::{Charter, Effect, Event, Fact, Mission, ProcessRef, Refusal};
use tokio::sync::mpsc;

use crate::blobs::{BlobError, Blobs};
use crate::clock;
use crate::dispatcher::{AtGate, DispatchError, Dispatcher, Driven, Observe, Opening};
use crate::door;
use crate::edge::{Ground, Settings, SettingsError};
use crate::git::{GitError, Host, Repository};
use crate::history::{Folding, HistoryError, Step};
use crate::journal::{self, Durability, Healed, JournalError, Writer};
use crate::process;
use crate::redact::Redactor;
use crate::state::{Home, Lock, MissionDir, StateError};

/// How many requests may wait at the door.
const QUEUE: usize = 16;

/// Why a mission cannot be taken into hand.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Its folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What its journal says.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Its blobs.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// Its git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Its settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The loop.
    #[error(transparent)]
    Dispatch(#[from] DispatchError),
    /// A fact that does not fit.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A part of the system.
    #[error("cannot {act} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// A mission that this process holds the lock of.
pub struct Drive {
    lock: Lock,
    mission: Mission,
    journal: Writer,
    ground: Arc<Ground>,
    /// Effects that this process is the first to start.
    fresh: BTreeSet<EffectId>,
    /// The last agent whose start is on record.
    process: Option<(EffectId, ProcessRef)>,
    steps: Vec<Step>,
    healed: Option<Healed>,
}

impl Drive {
    /// Opens a new mission durably; nothing runs yet.
    ///
    /// # Errors
    /// When its folder, journal or git cannot be made.
    pub fn open(
        home: &Home,
        repository: &Repository,
        charter: Charter,
    ) -> Result<Self, DriveError> {
        let settings = Settings::thaw(&charter)?;
        let dir = home.create_mission(charter.fields().mission.clone())?;
        let lock = dir.lock()?;
        let mut journal = journal::create(&dir.journal())?;
        let at = charter.fields().opened_at;
        let fact = Fact::Opened(Box::new(charter.clone()));
        let seq = journal.append(at, &fact, Durability::Sync)?;
        // From here on the mission exists: what fails now is taken up by a resume.
        let ground = ground(&dir, repository, charter.clone(), settings)?;
        let opened = Mission::open(charter);
        let fresh = opened.effects.iter().map(|(id, _)| *id).collect();
        let step = Step {
            seq,
            at,
            fact,
            because: opened.because,
            effects: opened.effects,
        };
        let mission = opened.mission;
        Ok(Self {
            lock,
            mission,
            journal,
            ground,
            fresh,
            process: None,
            steps: vec![step],
            healed: None,
        })
    }

    /// Takes up a mission whose process is gone. Heals what a crash tore.
    ///
    /// # Errors
    /// When another process has it, or its journal is damaged.
    pub fn take_up(dir: &MissionDir, repository: &Repository) -> Result<Self, DriveError> {
        let lock = dir.lock()?;
        let mut replay = journal::open::<Fact>(&dir.journal())?;
        let mut folding = Folding::default();
        for record in replay.by_ref() {
            folding.take(record)?;
        }
        let (journal, healed) = replay.into_writer()?;
        let history = folding.finish()?;
        let charter = history.mission.charter().clone();
        let settings = Settings::thaw(&charter)?;
        let ground = ground(dir, repository, charter, settings)?;
        ground.blobs.salvage()?;
        let process = history.steps.iter().rev().find_map(Step::started);
        let (mission, steps) = (history.mission, history.steps);
        let fresh = BTreeSet::new();
        Ok(Self {
            lock,
            mission,
            journal,
            ground,
            fresh,
            process,
            steps,
            healed: Some(healed),
        })
    }

    /// The mission.
    #[must_use]
    pub const fn mission(&self) -> &Mission {
        &self.mission
    }

    /// Where it is worked on.
    #[must_use]
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// What taking it up had to mend.
    #[must_use]
    pub const fn healed(&self) -> Option<Healed> {
        self.healed
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &MissionId {
        &self.ground.charter.fields().mission
    }

    /// Decides on a fact durably, before anything runs.
    ///
    /// # Errors
    /// When it does not fit: the mission is as it was. When the journal refuses.
    pub fn take(&mut self, fact: Fact) -> Result<&Step, DriveError> {
        let event = Event {
            at: clock::now(),
            fact,
        };
        let moved = self.mission.decide(&event)?;
        let Event { at, fact } = event;
        let seq = self.journal.append(at, &fact, Durability::Sync)?;
        self.mission = moved.mission;
        self.fresh.extend(moved.effects.iter().map(|(id, _)| *id));
        self.steps.push(Step {
            seq,
            at,
            fact,
            because: moved.because,
            effects: moved.effects,
        });
        self.steps.last().ok_or(DriveError::Refused(Refusal::Ended))
    }

    /// Every step so far.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Drives the mission until it ends, parks, or waits for a person who is to answer elsewhere.
    ///
    /// # Errors
    /// When the door cannot be opened or the journal refuses.
    pub async fn run(
        self,
        observer: impl Observe,
        at_gate: AtGate,
        by: Signature,
    ) -> Result<Driven, DriveError> {
        let io = |act, path: PathBuf| move |source| DriveError::Io { act, path, source };
        process::become_subreaper()
            .map_err(io("become the parent of orphans in", "/proc".into()))?;
        let (sender, requests) = mpsc::channel(QUEUE);
        let path = door::socket(self.ground.dir.path(), self.id());
        let door = door::open(self.ground.dir.path(), &path, sender.clone())
            .map_err(io("open the answer door", path.clone()))?;
        let outstanding: Vec<(EffectId, Effect)> = self
            .mission
            .outstanding()
            .map(|(id, effect)| (id, effect.clone()))
            .collect();
        let Self {
            lock,
            mission,
            journal,
            ground,
            fresh,
            process,
            mut steps,
            ..
        } = self;
        let opening = Opening {
            mission,
            latest: steps.pop(),
            journal,
            ground,
            requests,
            door: sender,
        };
        let mut dispatcher = Dispatcher::new(opening, observer, at_gate);
        for (id, effect) in &outstanding {
            if fresh.contains(id) {
                dispatcher.start(*id, effect);
            } else {
                dispatcher.probe(*id, effect, process);
            }
        }
        let ended = dispatcher.run(by).await;
        door.close().await;
        drop(lock);
        Ok(ended?)
    }
}

/// Where a mission in `dir` is worked on.
pub(crate) fn ground(
    dir: &MissionDir,
    repository: &Repository,
    charter: Charter,
    settings: Settings,
) -> Result<Arc<Ground>, DriveError> {
    let host = Host::open(repository, &charter.fields().mission, dir.path(), &[])?;
    let copied: Vec<PathBuf> = settings.copy.iter().map(PathBuf::from).collect();
    host.leave_out(&copied)?;
    let blobs = Blobs::at(dir.blobs());
    let artifacts = dir.path().join("artifacts");
    std::fs::create_dir_all(&artifacts).map_err(|source| DriveError::Io {
        act: "create",
        path: artifacts,
        source,
    })?;
    let redactor = Redactor::of_environment(std::env::vars_os());
    Ok(Arc::new(Ground {
        dir: dir.clone(),
        host,
        blobs,
        redactor,
        charter,
        settings,
    }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use backstop_engine::vocab::Channel;

    use super::*;
    use crate::git::Git;
    use crate::opening::{self, Wish};

    /// Far longer than anything takes here: who reaches it hangs.
    const PATIENCE: Duration = Duration::from_mins(1);

    struct Nobody;

    impl Observe for Nobody {
        fn step(&mut self, _: &Step, _: &Mission, _: &mpsc::Sender<crate::dispatcher::Request>) {}
    }

    fn by() -> Signature {
        Signature {
            name: "olga".parse().unwrap(),
            channel: Channel::Cli,
        }
    }

    fn repository(root: &Path) -> Repository {
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=o", "-c", "user.email=o@example.invalid"]);
            let done = git.args(args).current_dir(root).status().unwrap();
            assert!(done.success(), "{args:?}");
        };
        git(&["init", "--quiet"]);
        git(&["commit", "--quiet", "--allow-empty", "--message", "begin"]);
        Repository::discover(&Git::new(), root).unwrap()
    }

    #[tokio::test]
    async fn an_effect_that_panics_ends_the_runner_and_the_mission_can_be_taken_up() {
        let root = tempfile::tempdir().unwrap();
        let (repo, state) = (root.path().join("repo"), root.path().join("state"));
        std::fs::create_dir(&repo).unwrap();
        let repository = repository(&repo);
        let home = Home::resolve(Some(&state), |_| None, &repo).unwrap();
        let wish = Wish {
            goal: Some("do it".into()),
            agent: Some("exec".into()),
            exec_command: Some("true".into()),
            checks: vec!["true".into()],
            ..Wish::default()
        };
        let charter = opening::charter(&repository, &wish, by()).unwrap();
        let drive = Drive::open(&home, &repository, charter).unwrap();
        let (dir, before) = (drive.ground.dir.clone(), drive.mission.clone());
        let (door, requests) = mpsc::channel(1);
        let opening = Opening {
            mission: drive.mission,
            latest: None,
            journal: drive.journal,
            ground: drive.ground,
            requests,
            door,
        };
        let mut dispatcher = Dispatcher::new(opening, Nobody, AtGate::Leave);
        dispatcher.break_off("a fault in git");
        let driven = tokio::time::timeout(PATIENCE, dispatcher.run(by())).await;
        let error = driven.expect("it goes on for ever").unwrap_err();
        assert!(matches!(&error, DispatchError::Broken(words) if words == "a fault in git"));
        assert!(error.to_string().contains("`backstop resume`"), "{error}");
        drop(drive.lock);
        let again = Drive::take_up(&dir, &repository).unwrap();
        assert_eq!(again.mission(), &before);
        let outstanding: Vec<_> = again.mission().outstanding().collect();
        assert!(matches!(outstanding[..], [(_, Effect::Preflight)]));
    }
}
