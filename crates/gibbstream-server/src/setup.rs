//! What a service is made from, checked by whoever starts it.

use crate::log::{Fsync, Retention};
use crate::security::Tokens;
use gibbstream::corpus::Inputs;
use gibbstream::file::{Checkpoint, CheckpointFolder, Features, Model};
use gibbstream::learn::{CheckpointEvery, Settings};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How the model is learnt: the same as for `train -`.
pub struct Learning {
    /// Everything that decides what is learnt.
    pub settings: Settings,
    /// The words at the beginning.
    pub features: Features,
    /// How documents are read; paths are not looked at.
    pub inputs: Inputs,
    /// The model to go on from.
    pub base: Option<Model>,
    /// Settings that are changed for a model that is continued, such as `batch: 100 -> 50`.
    pub changes: Vec<String>,
    /// Documents at the beginning that are not learnt from.
    pub held_out: usize,
    /// Minibatches between two scores of them.
    pub eval_every: Option<u64>,
    /// How often checkpoints are written.
    pub checkpoint_every: CheckpointEvery,
    /// Time after which documents are learnt from although their minibatch is not full.
    pub max_wait: Option<Duration>,
    /// Everything that must be the same when the service is started again.
    pub request: Value,
    /// Threads that learn.
    pub threads: usize,
    /// The folder of checkpoints, which whoever has claimed it owns, and with it all of the service's folder.
    pub folder: CheckpointFolder,
    /// Where to go on.
    pub found: Option<Checkpoint>,
}

/// What is served.
pub enum Source {
    /// Documents come in and are learnt from.
    Learning(Box<Learning>, PathBuf),
    /// A model as it is.
    ReadOnly(Box<Model>),
}

/// Every limit, with its default.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the body of a request.
    pub body_bytes: usize,
    /// Bytes of all bodies that are being read or worked on.
    pub buffered_bytes: usize,
    /// Documents of a request.
    pub documents: usize,
    /// Bytes of one document.
    pub document_bytes: usize,
    /// Tokens of one document.
    pub document_tokens: u64,
    /// Documents that may wait to be learnt from.
    pub backlog: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Requests that are worked on at a time.
    pub requests: usize,
    /// Requests that may wait for the disk.
    pub queue: usize,
    /// Listeners to events at a time.
    pub listeners: usize,
    /// Time for the head of a request, and between two requests of a connection.
    pub header_timeout: Duration,
    /// Time for the body of a request.
    pub body_timeout: Duration,
    /// Time in which a client must take some of its answer.
    pub write_timeout: Duration,
    /// Time in which work that was begun is finished when the service is asked to end.
    pub stop_timeout: Duration,
    /// Requests whose names are remembered.
    pub remembered_requests: usize,
    /// Bytes of a segment of the log.
    pub segment_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 8 << 20,
            buffered_bytes: 64 << 20,
            documents: 10_000,
            document_bytes: 1 << 20,
            document_tokens: 100_000,
            backlog: 1_000_000,
            connections: 2_000,
            requests: 256,
            queue: 256,
            listeners: 100,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(30),
            remembered_requests: 100_000,
            segment_bytes: 64 << 20,
        }
    }
}

/// A service that can be started.
pub struct Service {
    /// What is served.
    pub source: Source,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Every limit.
    pub limits: Limits,
    /// When the log is made durable.
    pub fsync: Fsync,
    /// How much of it is kept.
    pub retention: Retention,
    /// Who may ask, and who may also write.
    pub tokens: Tokens,
    /// Names under which the service is known, besides addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Pages of other sites that may use the service.
    pub origins: Vec<String>,
    /// Threads that infer.
    pub threads: usize,
    /// The seed of inference.
    pub seed: gibbstream::Seed,
}
