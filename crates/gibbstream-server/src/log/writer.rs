//! The one thread that writes to the log. Requests that wait together are written and made durable together.

use super::handle::{Append, Command, End, Fsync, LogFollower, Refusal, Reply, Start, WriterOptions};
use super::keys::{Accepted, Keys};
use super::now_millis;
use super::record::Entry;
use super::recovery::create;
use super::retention::retain;
use super::segment::Segment;
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

/// Requests that are written together at most.
const GROUP: usize = 256;

/// Whoever writes.
pub(super) struct Writer {
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
    pub fn new(
        folder: &Path,
        options: WriterOptions,
        segment: Segment,
        file: File,
        start: Start,
        follower: LogFollower,
    ) -> Self {
        let writer = Self {
            folder: folder.to_path_buf(),
            options,
            segment,
            file,
            bytes: start.bytes,
            position: start.position,
            keys: start.keys,
            unsynced_since: None,
            failure: None,
            follower,
            buffer: Vec::new(),
        };
        writer.publish();
        writer
    }

    pub fn run(mut self, commands: &Receiver<Command>) {
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
                if let Err(error) = retain(&self.folder, self.options.retention, position) {
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
                Some(accepted) if accepted.fingerprint == append.fingerprint => {
                    replies.push((reply, accepted));
                }
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
        let is_fatal = matches!(source.get_ref(), Some(inner) if inner.is::<FsyncFailed>());
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
