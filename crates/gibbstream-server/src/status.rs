//! What the threads of the service know of each other: numbers, events, requests.

use crate::log::now_millis;
use serde::Serialize;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::{broadcast, oneshot};
use utoipa::ToSchema;

/// Events that a slow listener may be behind before it misses some.
const EVENTS: usize = 64;

/// Where learning stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Progress {
    /// Documents that the model has learnt from.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Minibatches learnt from.
    pub updates: u64,
    /// Documents of the log that are learnt from or held out; a model that is continued knows others too.
    #[serde(skip)]
    #[schema(ignore)]
    pub consumed: u64,
    /// Documents in the log.
    pub accepted: u64,
    /// Documents in the log that have not been learnt from yet.
    pub waiting: u64,
    /// Documents that are held out of training.
    pub held_out: u64,
    /// Speed of the last minibatches.
    pub documents_per_second: f64,
    /// Sum of the Dirichlet parameter of topic proportions.
    pub alpha_sum: f64,
    /// Step size of the last update.
    pub step: f64,
    /// Topics with more than a thousandth of the tokens, where their number is open.
    pub topics_used: Option<u64>,
    /// Total variation distance between the topic shares of the last minibatches and of all.
    pub drift: Option<f64>,
    /// Words that are known.
    pub vocabulary: u64,
    /// Whether learning is paused.
    pub paused: bool,
    /// The last held-out score.
    #[schema(value_type = Option<Object>)]
    pub score: Option<Value>,
    /// Scores of documents before they were learnt from.
    #[schema(value_type = Option<Object>)]
    pub prequential: Option<Value>,
    /// Documents in the last checkpoint.
    pub checkpoint_documents: Option<u64>,
    /// Why learning has stopped, if it has.
    pub failure: Option<String>,
}

/// Something that happened, for those who listen.
#[derive(Debug)]
pub struct Event {
    /// What it is: progress, snapshot, evaluation, birth, alarm.
    pub name: &'static str,
    /// As JSON.
    pub data: String,
}

/// Who asks for a checkpoint wants to know how many documents are in it.
pub type CheckpointReply = oneshot::Sender<Result<u64, String>>;

/// Shared by all threads.
pub struct Status {
    progress: RwLock<Progress>,
    events: broadcast::Sender<Arc<Event>>,
    paused: AtomicBool,
    stopping: AtomicBool,
    /// When the last checkpoint was written, in milliseconds since 1970; 0 for never.
    checkpoint_at: AtomicU64,
    checkpoint_requests: Mutex<Vec<CheckpointReply>>,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            progress: RwLock::default(),
            events: broadcast::Sender::new(EVENTS),
            paused: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            checkpoint_at: AtomicU64::new(0),
            checkpoint_requests: Mutex::default(),
        }
    }
}

impl Status {
    /// Where learning stands; `accepted` is what the log says.
    pub fn progress(&self, accepted: u64) -> Progress {
        let progress = self.progress.read().unwrap_or_else(PoisonError::into_inner).clone();
        let waiting = accepted.saturating_sub(progress.consumed);
        Progress { accepted, waiting, paused: self.is_paused(), ..progress }
    }

    pub fn update(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells everybody who listens.
    pub fn tell(&self, name: &'static str, data: &impl Serialize) {
        if self.events.receiver_count() > 0
            && let Ok(data) = serde_json::to_string(data)
        {
            let _ = self.events.send(Arc::new(Event { name, data }));
        }
    }

    pub fn listen(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    pub fn listeners(&self) -> usize {
        self.events.receiver_count()
    }

    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Learning cannot go on; requests are still answered.
    pub fn fail(&self, problem: &str) {
        tracing::error!(error = problem, "learning has stopped");
        self.update(|progress| progress.failure = Some(problem.to_owned()));
        self.tell("alarm", &serde_json::json!({ "problem": problem }));
    }

    pub fn checkpoint_written(&self, documents: u64) {
        self.checkpoint_at.store(now_millis(), Ordering::Release);
        self.update(|progress| progress.checkpoint_documents = Some(documents));
    }

    /// Seconds since the last checkpoint.
    pub fn checkpoint_age(&self) -> Option<f64> {
        let at = self.checkpoint_at.load(Ordering::Acquire);
        (at > 0).then(|| now_millis().saturating_sub(at) as f64 / 1000.0)
    }

    /// Asks for a checkpoint, soon.
    pub fn request_checkpoint(&self) -> oneshot::Receiver<Result<u64, String>> {
        let (reply, answer) = oneshot::channel();
        self.requests().push(reply);
        answer
    }

    pub fn take_checkpoint_requests(&self) -> Vec<CheckpointReply> {
        std::mem::take(&mut self.requests())
    }

    fn requests(&self) -> MutexGuard<'_, Vec<CheckpointReply>> {
        self.checkpoint_requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
