//! A mission in the hands of this process: opened or taken up, answered, and driven.

use std::path::PathBuf;
use std::sync::Arc;

use backstop_engine::vocab::{MissionId, Signature};
use backstop_engine::{Charter, Fact, Mission, Refusal};
use tokio::sync::mpsc;

use crate::blobs::{BlobError, Blobs};
use crate::clock::Wall;
use crate::dispatcher::{AtGate, DispatchError, Dispatcher, Driven, Observe, Opening};
use crate::door;
use crate::edge::{Ground, Settings, SettingsError};
use crate::git::{GitError, Host, Repository};
use crate::history::{HistoryError, Step};
use crate::journal::{self, Healed, JournalError};
use crate::ledger::{Ledger, TakenUp};
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
    ledger: Ledger<Wall>,
    ground: Arc<Ground>,
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
        let journal = journal::create(&dir.journal())?;
        let (ledger, step) = Ledger::open(journal, Wall, charter.clone())?;
        // From here on the mission exists: what fails now is taken up by a resume.
        let ground = ground(&dir, repository, charter, settings)?;
        Ok(Self {
            lock,
            ledger,
            ground,
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
        let replay = journal::open::<Fact>(&dir.journal())?;
        let taken = Ledger::take_up(replay, Wall)?;
        let TakenUp {
            ledger,
            steps,
            healed,
        } = taken;
        let charter = ledger.mission().charter().clone();
        let settings = Settings::thaw(&charter)?;
        let ground = ground(dir, repository, charter, settings)?;
        ground.blobs.salvage()?;
        Ok(Self {
            lock,
            ledger,
            ground,
            steps,
            healed: Some(healed),
        })
    }

    /// The mission.
    #[must_use]
    pub const fn mission(&self) -> &Mission {
        self.ledger.mission()
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

    /// Puts the mission into the queue, and keeps its base for as long as it stands there.
    ///
    /// # Errors
    /// When git or the disk refuses.
    pub fn enqueue(&self) -> Result<(), DriveError> {
        let base = &self.ground.charter.fields().base;
        self.ground.host.hold(&base.into())?;
        Ok(self.ground.dir.enqueue()?)
    }

    /// Decides on a fact durably, before anything runs.
    ///
    /// # Errors
    /// When it does not fit: the mission is as it was. When the journal refuses.
    pub fn take(&mut self, fact: Fact) -> Result<&Step, DriveError> {
        let step = self.ledger.take(fact)??;
        self.steps.push(step);
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
        let Self {
            lock,
            ledger,
            ground,
            mut steps,
            ..
        } = self;
        let opening = Opening {
            ledger,
            latest: steps.pop(),
            ground,
            requests,
            door: sender,
        };
        let mut dispatcher = Dispatcher::new(opening, observer, at_gate);
        dispatcher.begin();
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

    use backstop_engine::Effect;
    use backstop_engine::vocab::Channel;

    use super::*;
    use crate::git::Git;
    use crate::opening::{self, Wish};

    /// Far longer than anything takes here: who reaches it hangs.
    const PATIENCE: Duration = Duration::from_mins(1);

    struct Nobody;

    impl Observe for Nobody {
        fn step(&mut self, _: &Step, _: &Mission, _: &mpsc::Sender<crate::dispatcher::Request>) {}
        fn stands(&mut self, _: Option<crate::state::Line>, _: &Mission) {}
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
        let (dir, before) = (drive.ground.dir.clone(), drive.mission().clone());
        let (door, requests) = mpsc::channel(1);
        let opening = Opening {
            ledger: drive.ledger,
            latest: None,
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
