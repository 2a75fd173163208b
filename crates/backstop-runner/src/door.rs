//! The answer door: where a person's answer reaches a mission, and the one place of the edge that turns words into an
//! operator's answer.
//!
//! A runner listens on a socket that only its user can open. An answer from a process that carries a lane's marker, or
//! that descends from a lane or from any runner, is refused: an agent can answer neither its own gate nor another's.

use std::convert::Infallible;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backstop_engine::Fact;
use backstop_engine::vocab::{Channel, Digest, MissionId, Operator, OperatorName, Signature};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::dispatcher::Request;
use crate::process;

/// The longest request, in bytes.
const LONGEST: u64 = 256 << 10;

/// How long a request and its answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a door that closes waits for those who were let in.
const PARTING: Duration = Duration::from_secs(2);

/// What a runner answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Ok,
    Refused(String),
}

/// Why an answer did not get through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DoorError {
    /// An agent, or something that an agent started.
    #[error(
        "an answer must come from a person: this process belongs to a mission's lane, so its answer is refused"
    )]
    Agent,
    /// The mission refused it.
    #[error("{0}")]
    Refused(String),
    /// The runner cannot be reached.
    #[error("the mission's runner does not answer at `{}` ({source}): try again, or stop it and run `backstop resume`", path.display())]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The person at the keyboard, if it is one.
///
/// # Errors
/// When this process belongs to a lane.
pub fn operator(name: &str, channel: Channel) -> Result<Signature, DoorError> {
    let own = std::process::id();
    if process::carries_marker(own) || process::descends_from_marked(own) {
        return Err(DoorError::Agent);
    }
    Ok(Signature {
        name: OperatorName::clip(name),
        channel,
    })
}

/// The person at the keyboard, if it is one, as who approves a plan.
///
/// # Errors
/// When this process belongs to a lane.
pub fn approver(name: &str, channel: Channel) -> Result<Operator, DoorError> {
    operator(name, channel).map(Operator::attest)
}

/// The person whose approval the state directory has on record.
pub(crate) const fn on_record(signature: Signature) -> Operator {
    Operator::attest(signature)
}

/// The longest path of a socket, in bytes; the system takes 108 with the zero at its end.
const LONGEST_PATH: usize = 107;

/// Where a mission's runner is to listen: a short path below `XDG_RUNTIME_DIR`, else in the folder for temporary files.
#[must_use]
pub fn socket(mission: &Path, id: &MissionId) -> PathBuf {
    let digest = Digest::of(mission.as_os_str().as_encoded_bytes()).digits();
    let (id, short) = (id.as_str(), digest.get(..8).unwrap_or_default());
    // Ids are ASCII.
    let end = id.get(id.len().saturating_sub(12)..).unwrap_or(id);
    let name = format!("{end}-{short}.sock");
    let set = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    let place = set.map(|dir| Path::new(&dir).join("backstop").join(&name));
    let fits = |path: &PathBuf| path.as_os_str().len() <= LONGEST_PATH;
    let uid = rustix::process::getuid().as_raw();
    place
        .filter(fits)
        .unwrap_or_else(|| Path::new("/tmp").join(format!("backstop-{uid}")).join(name))
}

/// The file in a mission's folder that says where its runner listens.
fn sign(mission: &Path) -> PathBuf {
    mission.join("door")
}

/// Where the mission's runner listens: where it says so itself, since its environment may be another than this one.
#[must_use]
pub fn found(mission: &Path, id: &MissionId) -> PathBuf {
    match std::fs::read(sign(mission)) {
        Ok(path) if !path.is_empty() => PathBuf::from(std::ffi::OsString::from_vec(path)),
        Ok(_) | Err(_) => socket(mission, id),
    }
}

/// Listens at `path` for the mission in `mission` and passes what comes to `requests`, until the returned door is dropped.
///
/// # Errors
/// When the socket cannot be made.
pub fn open(mission: &Path, path: &Path, requests: mpsc::Sender<Request>) -> io::Result<Door> {
    if let Some(folder) = path.parent() {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made?;
        private(folder)?;
    }
    // The caller holds the mission's lock, so a socket that is there belongs to nobody.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    // Without the sign it is looked for where it would be in the asker's own environment.
    let _ = std::fs::write(sign(mission), path.as_os_str().as_encoded_bytes());
    let (guest, guests) = mpsc::channel::<Infallible>(1);
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (requests, guest) = (requests.clone(), guest.clone());
            tokio::spawn(async move {
                let _ = timeout(PATIENCE, serve(stream, requests)).await;
                drop(guest);
            });
        }
    });
    Ok(Door {
        path: path.into(),
        task,
        guests,
    })
}

/// A folder in a place that others share must be this user's alone.
fn private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::symlink_metadata(folder)?;
    let others = found.mode() & 0o077;
    let own = found.uid() == rustix::process::getuid().as_raw();
    if found.is_dir() && own && others == 0 {
        return Ok(());
    }
    let words = format!(
        "`{}` can be entered by others: remove it, or set XDG_RUNTIME_DIR",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

/// An open door; dropping it closes it.
#[derive(Debug)]
pub struct Door {
    path: PathBuf,
    task: tokio::task::JoinHandle<()>,
    /// Has its end once everybody who was let in is gone.
    guests: mpsc::Receiver<Infallible>,
}

impl Door {
    /// Lets nobody in any more, and has whoever asked hear the answer. Requests must have their answers already.
    pub async fn close(mut self) {
        self.task.abort();
        // Who was let in and asks nothing is not waited for.
        let _ = timeout(PARTING, self.guests.recv()).await;
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
        // One that stays behind is removed by the next runner.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(stream: UnixStream, requests: mpsc::Sender<Request>) -> io::Result<()> {
    let peer = stream.peer_cred()?;
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    BufReader::new(read.take(LONGEST))
        .read_line(&mut line)
        .await?;
    let outcome = match admit(&peer, &line) {
        Ok(fact) => decide(fact, &requests).await,
        Err(words) => Outcome::Refused(words),
    };
    let mut words = serde_json::to_vec(&outcome)?;
    words.push(b'\n');
    write.write_all(&words).await
}

/// Whether the peer may ask for this.
fn admit(peer: &tokio::net::unix::UCred, line: &str) -> Result<Fact, String> {
    let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
    let from_lane = pid.is_none_or(process::descends_from_marked);
    if from_lane || peer.uid() != rustix::process::getuid().as_raw() {
        return Err(DoorError::Agent.to_string());
    }
    let fact: Fact =
        serde_json::from_str(line).map_err(|error| format!("not a request: {error}"))?;
    if may_ask(&fact) {
        Ok(fact)
    } else {
        Err("only a person's answers come through this door".into())
    }
}

/// What a person may say; everything else is the host's own to see.
const fn may_ask(fact: &Fact) -> bool {
    match fact {
        Fact::Answered(_)
        | Fact::StopRequested { .. }
        | Fact::Tightened { .. }
        | Fact::Supervised { .. } => true,
        Fact::Opened(_)
        | Fact::PreflightRan(_)
        | Fact::AttemptStarted(_)
        | Fact::SessionOpened(_)
        | Fact::AttemptEnded(_)
        | Fact::ChecksRan(_)
        | Fact::WaitEnded { .. }
        | Fact::Landed { .. }
        | Fact::LandFailed { .. }
        | Fact::Shipped(_)
        | Fact::BaseMerged(_)
        | Fact::GateExpired { .. }
        | Fact::Resumed { .. } => false,
    }
}

async fn decide(fact: Fact, requests: &mpsc::Sender<Request>) -> Outcome {
    let (reply, decided) = oneshot::channel();
    let gone = || Outcome::Refused("the mission's runner is ending: try again".into());
    if requests.send(Request { fact, reply }).await.is_err() {
        return gone();
    }
    match decided.await {
        Ok(Ok(())) => Outcome::Ok,
        Ok(Err(words)) => Outcome::Refused(words),
        Err(_) => gone(),
    }
}

/// Asks the runner behind `path`.
///
/// # Errors
/// When it refuses or cannot be reached.
pub async fn ask(path: &Path, fact: &Fact) -> Result<(), DoorError> {
    let unreachable = |source| DoorError::Unreachable {
        path: path.into(),
        source,
    };
    let outcome = timeout(PATIENCE, exchange(path, fact)).await;
    match outcome
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(unreachable)?
    {
        Outcome::Ok => Ok(()),
        Outcome::Refused(words) => Err(DoorError::Refused(words)),
    }
}

async fn exchange(path: &Path, fact: &Fact) -> io::Result<Outcome> {
    let mut stream = UnixStream::connect(path).await?;
    let mut line = serde_json::to_vec(fact)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST))
        .read_line(&mut answer)
        .await?;
    Ok(serde_json::from_str(&answer)?)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Write as _};
    use std::os::unix::net::UnixStream as Blocking;

    use super::*;

    #[test]
    fn whoever_was_let_in_hears_the_answer_though_the_runner_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own/door.sock");
        let by = Signature {
            name: "olga".parse().unwrap(),
            channel: Channel::Cli,
        };
        let fact = Fact::StopRequested { by };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let heard = runtime.block_on(async {
            let (sender, mut requests) = mpsc::channel(1);
            let door = open(folder.path(), &path, sender).unwrap();
            let heard = std::thread::spawn(move || {
                let mut stream = Blocking::connect(path).unwrap();
                let line = serde_json::to_string(&fact).unwrap();
                stream.write_all(format!("{line}\n").as_bytes()).unwrap();
                let mut answer = String::new();
                io::BufReader::new(stream).read_line(&mut answer).unwrap();
                answer
            });
            let request = requests.recv().await.unwrap();
            request.reply.send(Ok(())).unwrap();
            door.close().await;
            heard
        });
        drop(runtime);
        assert_eq!(heard.join().unwrap(), "\"ok\"\n");
    }
}
