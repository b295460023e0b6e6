//! The one thread that writes to the log. Requests that wait together are written and made durable together.

use super::keys::{Accepted, Keys};
use super::now_millis;
use super::record::Entry;
use super::recovery::create;
use super::segment::Segment;
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Requests that are written together at most.
const GROUP: usize = 256;

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

type Reply = oneshot::Sender<Result<Accepted, Refusal>>;

enum Command {
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

    fn set(&self, end: End) {
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
        let writer = Writer {
            folder: folder.to_path_buf(),
            options,
            segment,
            file,
            bytes: start.bytes,
            position: start.position,
            keys: start.keys,
            unsynced_since: None,
            failure: None,
            follower: follower.clone(),
            buffer: Vec::new(),
        };
        writer.publish();
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

struct Writer {
    folder: PathBuf,
    options: WriterOptions,
    segment: Segment,
    file: File,
    /// Bytes of the segment that are whole records.
    bytes: u64,
    position: u64,
    keys: Keys,
    unsynced_since: Option<Instant>,
    failure: Option<String>,
    follower: LogFollower,
    buffer: Vec<u8>,
}

impl Writer {
    fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let command = match (self.options.fsync, self.unsynced_since) {
                (Fsync::Every(interval), Some(since)) => {
                    match commands.recv_timeout(interval.saturating_sub(since.elapsed())) {
                        Err(RecvTimeoutError::Timeout) => {
                            self.sync();
                            continue;
                        }
                        command => command.ok(),
                    }
                }
                _ => commands.recv().ok(),
            };
            let Some(command) = command else { break };
            // What has come meanwhile is written together with it.
            let (mut group, mut next) = (Vec::new(), Some(command));
            while let Some(command) = next.take() {
                match command {
                    Command::Append(append, reply) => group.push((append, reply)),
                    other => {
                        self.commit(std::mem::take(&mut group));
                        if matches!(other, Command::Stop) {
                            self.sync();
                            return;
                        }
                        self.serve(other);
                    }
                }
                if group.len() < GROUP {
                    next = commands.try_recv().ok();
                }
            }
            self.commit(group);
        }
    }

    fn serve(&mut self, command: Command) {
        match command {
            Command::Cut => {
                self.buffer.clear();
                Entry::Cut.write(self.position, now_millis(), &mut self.buffer);
                // A cut that cannot be written is no loss: the minibatch ends when it is full.
                if self.write().is_ok() {
                    self.publish();
                }
            }
            Command::Sync(done) => {
                self.sync();
                let _ = done.send(());
            }
            Command::Retain(position) => {
                if let Err(error) = self.retain(position) {
                    tracing::warn!(%error, "old segments of the log could not be removed");
                }
            }
            Command::Append(..) | Command::Stop => {}
        }
    }

    /// Writes a group of requests, makes it durable, and answers.
    fn commit(&mut self, group: Vec<(Append, Reply)>) {
        let (before, at) = (self.position, now_millis());
        let mut staged: Vec<(Option<String>, Accepted)> = Vec::new();
        let mut replies = Vec::new();
        self.buffer.clear();
        for (append, reply) in group {
            let known = append.key.as_deref().and_then(|key| {
                let in_group = staged.iter().find(|(other, _)| other.as_deref() == Some(key));
                in_group.map(|(_, accepted)| *accepted).or_else(|| self.keys.find(key))
            });
            match known {
                Some(accepted) if accepted.fingerprint == append.fingerprint => replies.push((reply, accepted)),
                Some(_) => drop(reply.send(Err(Refusal::KeyReused))),
                None => {
                    let accepted = Accepted {
                        position: self.position,
                        documents: append.documents,
                        fingerprint: append.fingerprint,
                    };
                    let entry = Entry::Documents { list: &append.list, key: append.key.as_deref() };
                    entry.write(self.position, at, &mut self.buffer);
                    self.position += append.documents;
                    staged.push((append.key, accepted));
                    replies.push((reply, accepted));
                }
            }
        }
        if let Err(problem) = self.write() {
            self.position = before;
            self.publish();
            for (reply, _) in replies {
                let _ = reply.send(Err(Refusal::Disk(problem.clone())));
            }
            return;
        }
        staged.into_iter().for_each(|(key, accepted)| self.keys.push(key.as_deref(), accepted));
        self.publish();
        for (reply, accepted) in replies {
            let _ = reply.send(Ok(accepted));
        }
    }

    /// Writes the buffer, and makes it durable if that was asked for. An error leaves the file as it was.
    fn write(&mut self) -> Result<(), String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.bytes >= self.options.segment_bytes && self.follower.end().documents > self.segment.first {
            self.rotate().map_err(|error| error.to_string())?;
        }
        let written = self.file.write_all(&self.buffer);
        let durable = written.and_then(|()| {
            if self.options.fsync == Fsync::Always { self.file.sync_data().map_err(fatal) } else { Ok(()) }
        });
        if let Err(source) = durable {
            return Err(self.undo(source));
        }
        self.bytes += self.buffer.len() as u64;
        if self.options.fsync != Fsync::Always {
            self.unsynced_since = self.unsynced_since.or(Some(Instant::now()));
        }
        Ok(())
    }

    /// Takes back what was written of the buffer. After a failed fsync nobody knows what is on the disk: then nothing is written
    /// any more until somebody has looked and started the service again.
    fn undo(&mut self, source: std::io::Error) -> String {
        let is_fatal = source.get_ref().is_some_and(|inner| inner.is::<FsyncFailed>());
        let taken_back = self.file.set_len(self.bytes);
        let text = Error::io(&self.segment.path, "write", source).to_string();
        tracing::error!(error = text, "documents could not be written to the log");
        if is_fatal || taken_back.is_err() {
            self.failure = Some(text.clone());
        }
        text
    }

    fn sync(&mut self) {
        if self.unsynced_since.take().is_none() || self.failure.is_some() {
            return;
        }
        if let Err(source) = self.file.sync_data() {
            let text = Error::io(&self.segment.path, "make durable", source).to_string();
            tracing::error!(error = text, "the log could not be made durable");
            self.failure = Some(text);
            self.publish();
        }
    }

    /// Begins another segment. All before it is durable by then, so that only the last one can have a torn end.
    fn rotate(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|source| Error::io(&self.segment.path, "make durable", source))?;
        // The position of the first document that is written next.
        let first = self.follower.end().documents;
        let segment = Segment::new(&self.folder, first);
        self.file = create(&segment, &self.folder)?;
        (self.segment, self.bytes) = (segment, 0);
        Ok(())
    }

    fn publish(&self) {
        self.follower.set(End {
            segment: self.segment.first,
            bytes: self.bytes,
            documents: self.position,
            failure: self.failure.clone(),
        });
    }

    /// Removes the oldest segments that are too many or too old, unless they will be read again.
    fn retain(&self, position: u64) -> Result<()> {
        let Retention { bytes, age } = self.options.retention;
        let segments = Segment::list(&self.folder)?;
        let metadata = |segment: &Segment| {
            segment.path.metadata().map_err(|source| Error::io(&segment.path, "read", source))
        };
        let mut total = 0;
        for segment in &segments {
            total += metadata(segment)?.len();
        }
        for pair in segments.windows(2) {
            let (segment, next) = (&pair[0], &pair[1]);
            if next.first > position {
                break;
            }
            let found = metadata(segment)?;
            let elapsed = found.modified().ok().and_then(|modified| modified.elapsed().ok());
            let is_old = age.zip(elapsed).is_some_and(|(age, elapsed)| elapsed > age);
            if !(is_old || bytes.is_some_and(|most| total > most)) {
                break;
            }
            std::fs::remove_file(&segment.path).map_err(|source| Error::io(&segment.path, "remove", source))?;
            total -= found.len();
            tracing::info!(file = %segment.path.display(), "a segment of the log that is not needed any more was removed");
        }
        Ok(())
    }
}

/// Marks an error of fsync, after which the state of the file is not known.
#[derive(Debug)]
struct FsyncFailed(std::io::Error);

impl std::fmt::Display for FsyncFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for FsyncFailed {}

fn fatal(source: std::io::Error) -> std::io::Error {
    std::io::Error::new(source.kind(), FsyncFailed(source))
}
