//! The log for everybody but its writer: how to append to it, and where it ends.

use super::keys::Accepted;
use super::keys::Keys;
use super::segment::Segment;
use super::writer::Writer;
use gibbstream::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// When the log is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// Before a request is acknowledged.
    Always,
    /// This often. If the machine loses power, requests acknowledged since then may be lost; if only the process is
    /// killed, none is.
    Every(Duration),
    /// When the system likes to.
    Never,
}

/// How much of the log is kept once a checkpoint is past it; all of it if nothing is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Bytes of all segments together.
    pub bytes: Option<u64>,
    /// Age of a segment.
    pub age: Option<Duration>,
}

/// How the log is written.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// When it is made durable.
    pub fsync: Fsync,
    /// How much of it is kept.
    pub retention: Retention,
    /// Bytes after which a new segment begins.
    pub segment_bytes: u64,
    /// Requests whose names are remembered.
    pub remembered_requests: usize,
    /// Requests that may wait for the disk.
    pub queue: usize,
}

/// A request to append documents.
#[derive(Debug)]
pub struct Append {
    /// The text of a JSON list of documents.
    pub list: String,
    /// How many there are.
    pub documents: u64,
    /// Stands for their content.
    pub fingerprint: u64,
    /// The name that the client gave the request.
    pub key: Option<String>,
    /// The room that the documents take in memory, given back when they are written, also if nobody waits any more.
    pub room: Option<OwnedSemaphorePermit>,
}

/// Why a request was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too many wait already.
    Busy,
    /// The name was used for other documents.
    KeyReused,
    /// The disk said no.
    Disk(String),
    /// The service ends.
    Closed,
}

pub(super) type Reply = oneshot::Sender<Result<Accepted, Refusal>>;

pub(super) enum Command {
    Append(Append, Reply),
    /// End a minibatch that has been begun.
    Cut,
    /// Make everything durable.
    Sync(std::sync::mpsc::Sender<()>),
    /// Documents before this position will not be read again.
    Retain(u64),
    Stop,
}

/// Where the durable part of the log ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The position of the first document of the last segment.
    pub segment: u64,
    /// Bytes of the last segment.
    pub bytes: u64,
    /// Documents.
    pub documents: u64,
    /// Why nothing can be written any more.
    pub failure: Option<String>,
}

/// Follows the end of the log. A copy is as good as the original.
#[derive(Clone, Debug, Default)]
pub struct LogFollower(Arc<(Mutex<End>, Condvar)>);

impl LogFollower {
    /// The end as it is now.
    pub fn end(&self) -> End {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the end is elsewhere than at this byte of this segment, but not for ever.
    pub fn wait_past(&self, segment: u64, bytes: u64, patience: Duration) -> End {
        let end = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |end: &mut End| (end.segment, end.bytes) == (segment, bytes);
        let waited = self.0.1.wait_timeout_while(end, patience, same);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    pub(super) fn set(&self, end: End) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = end;
        self.0.1.notify_all();
    }
}

/// The log, for everybody but its writer.
pub struct LogHandle {
    commands: SyncSender<Command>,
    follower: LogFollower,
    folder: PathBuf,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where the writer begins.
pub(super) struct Start {
    pub segment: u64,
    pub bytes: u64,
    pub position: u64,
    pub keys: Keys,
}

impl LogHandle {
    pub(super) fn start(folder: &Path, options: WriterOptions, start: Start) -> Result<Self> {
        let segment = Segment::new(folder, start.segment);
        let file = File::options()
            .append(true)
            .open(&segment.path)
            .map_err(|source| Error::io(&segment.path, "open", source))?;
        let follower = LogFollower::default();
        let (commands, received) = sync_channel(options.queue);
        let writer = Writer::new(folder, options, segment, file, start, follower.clone());
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || writer.run(&received))
            .map_err(|source| Error::io(folder, "start a thread for", source))?;
        Ok(Self { commands, follower, folder: folder.to_path_buf(), thread: Mutex::new(Some(thread)) })
    }

    /// Appends documents; answers when they are as durable as was asked for.
    pub fn append(&self, append: Append) -> Result<oneshot::Receiver<Result<Accepted, Refusal>>, Refusal> {
        let (reply, answer) = oneshot::channel();
        match self.commands.try_send(Command::Append(append, reply)) {
            Ok(()) => Ok(answer),
            Err(TrySendError::Full(_)) => Err(Refusal::Busy),
            Err(TrySendError::Disconnected(_)) => Err(Refusal::Closed),
        }
    }

    /// Ends a minibatch that has been begun; false if the writer is too busy, and then it need not be ended early.
    pub fn cut(&self) -> bool {
        self.commands.try_send(Command::Cut).is_ok()
    }

    /// Waits until everything is durable.
    pub fn sync(&self) {
        let (done, wait) = std::sync::mpsc::channel();
        if self.commands.send(Command::Sync(done)).is_ok() {
            let _ = wait.recv();
        }
    }

    /// Says that documents before this position will not be read again.
    pub fn retain_from(&self, position: u64) {
        let _ = self.commands.try_send(Command::Retain(position));
    }

    /// Follows the end of the log.
    pub fn follower(&self) -> LogFollower {
        self.follower.clone()
    }

    /// The folder of the log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes what waits, makes it durable, and ends.
    pub fn close(&self) {
        let _ = self.commands.send(Command::Stop);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}
