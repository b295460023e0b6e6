//! From the run that learns to those who answer: immutable views, exchanged as a whole.
//!
//! The learning thread only copies the model. Another thread makes everything that is asked for often, and then exchanges the
//! view, so that nobody waits: neither learning nor a request.

use crate::log::LogFollower;
use crate::priority::yield_to_requests;
use crate::status::{Progress, Status};
use crate::timeline::Timeline;
use crate::view::View;
use gibbstream::learn::{Snapshot, TrainingRun};
use gibbstream::{Error, Result};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A view costs at most this part of the time of learning.
const SHARE_OF_TIME: u32 = 10;

/// Time between two views while documents come in.
const SHORTEST_GAP: Duration = Duration::from_millis(100);

/// How soon a view is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// As part of starting.
    Now,
    /// There is nothing else to do.
    Soon,
    /// Learning goes on meanwhile.
    Cheaply,
}

/// The newest view. A copy is as good as the original.
#[derive(Clone, Default)]
pub struct Views(Arc<RwLock<Option<Arc<View>>>>);

impl Views {
    /// The newest view; `None` before anything was learnt. It never waits for learning.
    pub fn latest(&self) -> Option<Arc<View>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Exchanges the view, and gives back the old one: it may be large, and whoever drops it last waits for that.
    pub fn set(&self, view: View) -> Option<Arc<View>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(view))
    }
}

/// What the learning thread hands over.
type Copied = (Snapshot, Timeline);

#[derive(Default)]
struct Slot {
    state: Mutex<SlotState>,
    changed: Condvar,
}

#[derive(Default)]
struct SlotState {
    copied: Option<Copied>,
    is_busy: bool,
    is_closed: bool,
    /// Time that the last view took to make.
    cost: Duration,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The learning thread's side.
pub struct Publisher {
    slot: Arc<Slot>,
    views: Views,
    status: Arc<Status>,
    follower: LogFollower,
    /// Whether something was learnt that is not in a view yet.
    is_stale: bool,
    offered_at: Option<Instant>,
    copying: Duration,
    told: Option<Progress>,
}

impl Publisher {
    /// Starts the thread that makes views.
    pub fn start(views: Views, status: Arc<Status>, follower: LogFollower) -> Result<Self> {
        let slot = Arc::<Slot>::default();
        let (worker, publisher_status) = (slot.clone(), status.clone());
        let shown = views.clone();
        std::thread::Builder::new()
            .name("views".into())
            .spawn(move || make_views(&worker, &shown, &publisher_status))
            .map_err(|source| Error::io(Path::new("views"), "start a thread for", source))?;
        let copying = Duration::ZERO;
        Ok(Self { slot, views, status, follower, is_stale: true, offered_at: None, copying, told: None })
    }

    /// Something was learnt.
    pub fn learnt(&mut self) {
        self.is_stale = true;
    }

    /// Whether everything that was learnt can be seen.
    pub fn is_up_to_date(&self) -> bool {
        !self.is_stale
    }

    /// Hands over a copy if something was learnt and it does not cost too much.
    pub fn offer(&mut self, run: &TrainingRun, timeline: &Timeline, urgency: Urgency) -> Result<()> {
        if !run.has_learnt() {
            self.is_stale = false;
            return Ok(());
        }
        if !self.is_stale || !self.is_affordable(urgency) {
            return Ok(());
        }
        let started = Instant::now();
        let snapshot = run.snapshot()?;
        if urgency == Urgency::Now {
            self.views.set(View::new(snapshot, timeline.clone())?);
        } else {
            self.slot.lock().copied = Some((snapshot, timeline.clone()));
            self.slot.changed.notify_all();
        }
        self.copying = started.elapsed();
        (self.is_stale, self.offered_at) = (false, Some(Instant::now()));
        if urgency != Urgency::Cheaply {
            self.tell_progress();
        }
        Ok(())
    }

    fn is_affordable(&self, urgency: Urgency) -> bool {
        let slot = self.slot.lock();
        let is_free = slot.copied.is_none() && !slot.is_busy;
        let gap = SHORTEST_GAP.max(SHARE_OF_TIME * (self.copying + slot.cost));
        match urgency {
            Urgency::Now => true,
            Urgency::Soon => is_free,
            Urgency::Cheaply => is_free && self.offered_at.is_none_or(|at| at.elapsed() >= gap),
        }
    }

    /// Tells where learning stands; false if that is no news.
    pub fn tell_progress(&mut self) -> bool {
        let progress = self.status.progress(self.follower.end().documents);
        let is_news = self.told.as_ref() != Some(&progress);
        if is_news {
            self.status.tell("progress", &progress);
            self.told = Some(progress);
        }
        is_news
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.slot.lock().is_closed = true;
        self.slot.changed.notify_all();
    }
}

fn make_views(slot: &Slot, views: &Views, status: &Status) {
    yield_to_requests();
    // Not the threads that all share: those may have been started by a request, with its priority.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "views".into()).build();
    let alone = match alone {
        Ok(pool) => pool,
        Err(error) => return status.fail(&format!("views cannot be made: {error}")),
    };
    let mut old_views: Vec<Arc<View>> = Vec::new();
    loop {
        // No request shall be the one that frees a view: that takes long. Nobody new can get hold of an old one.
        old_views.retain(|view| Arc::strong_count(view) > 1);
        let mut state = slot.lock();
        state.is_busy = false;
        let nothing = |state: &mut SlotState| state.copied.is_none() && !state.is_closed;
        let patience = if old_views.is_empty() { Duration::MAX } else { SHORTEST_GAP };
        let waited = slot.changed.wait_timeout_while(state, patience, nothing);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            continue;
        }
        let Some((snapshot, timeline)) = state.copied.take() else { return };
        state.is_busy = true;
        drop(state);
        let started = Instant::now();
        match alone.install(|| View::new(snapshot, timeline)) {
            Ok(view) => {
                let facts = json!({ "model_hash": view.hash(), "documents": view.documents() });
                old_views.extend(views.set(view));
                status.tell("snapshot", &facts);
            }
            Err(error) => status.fail(&error.to_string()),
        }
        slot.lock().cost = started.elapsed();
    }
}
