//! The one driver: minibatch after minibatch of online EM, whatever the model and its local inference.

use crate::learn::averaging::Averaging;
use crate::learn::batch_size::BatchSize;
use crate::error::{Error, Result};
use crate::inference::{LocalInference, Passes};
use crate::learn::Stop;
use crate::model::{Batch, LatentModel, Statistics};
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::{Step, StepSize};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

/// How the driver runs, independent of model and inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineSettings {
    /// Weight of each minibatch.
    pub step: StepSize,
    /// Which parameters are reported.
    pub averaging: Averaging,
    /// Refresh the parameters after every local pass instead of after every minibatch.
    pub boost: bool,
    /// Observations in a full minibatch.
    pub batch: BatchSize,
    /// Seed of all random streams.
    pub seed: Seed,
    /// Worker threads; never changes a result.
    pub threads: usize,
}

impl Default for OnlineSettings {
    /// The step size of the paper, minibatches of 100, one thread, and nothing special.
    fn default() -> Self {
        let (step, averaging, seed) = (StepSize::PAPER, Averaging::None, Seed(0));
        Self { step, averaging, boost: false, batch: BatchSize::of(100), seed, threads: 1 }
    }
}

/// Online EM for the model `M` with the E-step `L` (science.md 1.4).
pub struct Online<M: LatentModel, L: LocalInference<M>> {
    model: M,
    local: L,
    run: OnlineSettings,
    pool: ThreadPool,
    clock: Step,
    /// Where steps began anew.
    restart: Option<Step>,
    state: Option<M::State>,
    view: M::View,
    fresh: M::Statistics,
    workers: Workers<L::Latent, L::Scratch>,
    stop: Stop,
}

/// What local inference needs beside what it reads, kept for the next minibatch.
pub struct Workers<Latent, Scratch> {
    latents: Vec<Latent>,
    scratch: Mutex<Vec<Scratch>>,
}

impl<Latent, Scratch> Default for Workers<Latent, Scratch> {
    fn default() -> Self {
        Self { latents: Vec::new(), scratch: Mutex::default() }
    }
}

/// The E-step as a function: the expected statistics of a block of observations under the parameters of `view`, on the
/// threads of the current pool. Blocks of a minibatch may be computed anywhere and in any order; their statistics,
/// merged, are those of the minibatch to the last bit.
pub fn e_step<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    view: &M::View,
    block: &M::Batch,
    seed: Seed,
) -> Result<M::Statistics> {
    let block = model.align(view, block)?;
    let mut statistics = M::Statistics::default();
    if !block.is_empty() {
        let mut workers = Workers::default();
        all_passes(local, view, block.as_ref(), seed, &Stop::default(), &mut workers, &mut statistics)?;
    }
    Ok(statistics)
}

/// All passes over all observations with one view.
fn all_passes<M: LatentModel, L: LocalInference<M>>(
    local: &L,
    view: &M::View,
    batch: &M::Batch,
    seed: Seed,
    stop: &Stop,
    workers: &mut Workers<L::Latent, L::Scratch>,
    out: &mut M::Statistics,
) -> Result<()> {
    let passes = Passes { range: 0..local.passes(), keep_from: local.first_kept() };
    workers.for_each(batch, stop, |index, latent, scratch| {
        local.begin(view, batch, index, latent, seed.stream(Purpose::Local, batch.key(index)));
        local.advance(view, batch, index, latent, scratch, passes.clone());
    })?;
    local.collect(view, batch, &mut workers.latents, out);
    Ok(())
}

impl<M: LatentModel, L: LocalInference<M>> Online<M, L> {
    /// A run that has seen nothing yet.
    pub fn new(model: M, local: L, run: OnlineSettings) -> Result<Self> {
        run.step.validate()?;
        let threads = run.threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            Error::setting("threads", format!("cannot start {threads} threads: {error}"), "ask for fewer")
        })?;
        Ok(Self {
            view: local.view(),
            model,
            local,
            run,
            pool,
            clock: run.step.start(run.batch),
            restart: None,
            state: None,
            fresh: M::Statistics::default(),
            workers: Workers::default(),
            stop: Stop::default(),
        })
    }

    /// From now on a request to end can leave out the minibatch at hand.
    pub fn stop_with(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// From now on steps are no smaller than they were when so many observations had been seen as after this moment.
    pub fn restart_steps(&mut self, at: Option<Step>) {
        self.restart = at;
    }

    /// The step for a minibatch of so many observations.
    fn next_step(&self, observations: u64) -> Step {
        let OnlineSettings { step, batch, .. } = &self.run;
        let next = step.next(&self.clock, observations, *batch);
        match &self.restart {
            Some(restart) => step.after_restart(next, restart, observations, *batch),
            None => next,
        }
    }

    /// Goes on from a state that was saved.
    pub fn resume(&mut self, state: M::State, clock: Step) {
        self.state = Some(state);
        self.clock = clock;
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Changes model and state together; there is no state before the first minibatch.
    pub fn change(&mut self, change: impl FnOnce(&mut M, Option<&mut M::State>)) {
        change(&mut self.model, self.state.as_mut());
    }

    /// Statistics and parameters; `None` before the first minibatch.
    pub fn state(&self) -> Option<&M::State> {
        self.state.as_ref()
    }

    /// Updates made and observations seen.
    pub fn clock(&self) -> Step {
        self.clock
    }

    /// The statistics of the last minibatch that [`Self::partial_fit`] has learnt from.
    pub fn last_statistics(&self) -> &M::Statistics {
        &self.fresh
    }

    /// Runs `work` on the threads of this run.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Runs `work` once on every thread of this run, for measurements.
    pub fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.pool.broadcast(|_| work());
    }

    /// Statistics and parameters, without a copy; `None` before the first minibatch. The run goes on only after
    /// [`Self::resume`].
    pub fn take_state(&mut self) -> Option<M::State> {
        self.state.take()
    }

    /// Learns from one minibatch. An error leaves the state as it was.
    pub fn partial_fit(&mut self, batch: &M::Batch) -> Result<Step> {
        if batch.is_empty() {
            return Ok(self.clock);
        }
        let first = self.begin(batch)?;
        let step = self.next_step(batch.len() as u64);
        let Self { model, local, run, pool, clock, state, view, fresh, workers, stop, .. } = self;
        let Some(current) = state else { return Ok(*clock) };
        // The threads are woken once for all that there is to do.
        let learnt = pool.install(|| {
            model.view(current, clock, None, batch, view);
            if run.boost {
                Boosted { model, local, run, batch, state: current, step: &step, stop }
                    .passes(view, workers, fresh)?;
            } else {
                all_passes(local, view, batch, run.seed, stop, workers, fresh)?;
            }
            absorb(model, run, current, &step, fresh)
        });
        match learnt {
            Ok(()) => *clock = step,
            Err(_) if first => *state = None,
            Err(_) => {}
        }
        learnt.map(|()| step)
    }

    /// Makes the random start, unless there is a state already: the first minibatch may set scales. Returns whether it did.
    pub fn begin(&mut self, first: &M::Batch) -> Result<bool> {
        self.model.check(first)?;
        if self.state.is_some() {
            return Ok(false);
        }
        let Self { model, run, pool, state, .. } = self;
        *state = Some(pool.install(|| model.initial(first, run.seed)));
        Ok(true)
    }

    /// The parameters for `batch` as local inference reads them: with [`Self::e_step`] and [`Self::absorb`], what
    /// [`Self::partial_fit`] does in one call. `None` before [`Self::begin`].
    pub fn view(&self, batch: &M::Batch) -> Option<M::View> {
        let state = self.state.as_ref()?;
        let mut view = self.local.view();
        self.pool.install(|| self.model.view(state, &self.clock, None, batch, &mut view));
        Some(view)
    }

    /// The statistics of a block of observations, see [`e_step`].
    pub fn e_step(&self, view: &M::View, block: &M::Batch) -> Result<M::Statistics> {
        if self.run.boost {
            let problem =
                "boosted inference refreshes the parameters after every pass over the whole minibatch";
            return Err(Error::setting("boost", problem, "use a method without boosting"));
        }
        self.model.check(block)?;
        self.pool.install(|| e_step(&self.model, &self.local, view, block, self.run.seed))
    }

    /// Learns from the statistics of one minibatch. An error leaves the state as it was.
    pub fn absorb(&mut self, statistics: &M::Statistics) -> Result<Step> {
        let step = self.next_step(statistics.weight());
        let Self { model, run, pool, clock, state, .. } = self;
        let Some(state) = state else {
            let advice = "make a start with the first minibatch before its statistics are absorbed";
            return Err(Error::setting("statistics", "nothing has been learnt yet", advice));
        };
        if statistics.weight() > 0 {
            pool.install(|| absorb(model, run, state, &step, statistics))?;
            *clock = step;
        }
        Ok(*clock)
    }
}

/// The M-step, if the statistics are sound.
fn absorb<M: LatentModel>(
    model: &M,
    run: &OnlineSettings,
    state: &mut M::State,
    step: &Step,
    statistics: &M::Statistics,
) -> Result<()> {
    statistics.check().map_err(|statistic| Error::NotFinite { update: step.update, statistic })?;
    model.check_statistics(state, statistics)?;
    model.absorb(state, step, statistics);
    if run.averaging.includes(step.update) {
        model.remember(state, step);
    }
    Ok(())
}

/// Inference that refreshes the parameters after every pass over the minibatch.
struct Boosted<'a, M: LatentModel, L: LocalInference<M>> {
    model: &'a M,
    local: &'a L,
    run: &'a OnlineSettings,
    batch: &'a M::Batch,
    state: &'a M::State,
    step: &'a Step,
    stop: &'a Stop,
}

impl<M: LatentModel, L: LocalInference<M>> Boosted<'_, M, L> {
    /// After each pass, the parameters as if the minibatch were already absorbed with what is known of it:
    /// the latest pass while burning in, the mean over the kept passes so far afterwards (science.md 1.3).
    fn passes(
        &self,
        view: &mut M::View,
        workers: &mut Workers<L::Latent, L::Scratch>,
        fresh: &mut M::Statistics,
    ) -> Result<()> {
        let Self { model, local, batch, .. } = *self;
        let mut kept = M::Statistics::default();
        for pass in 0..local.passes() {
            let read = &*view;
            workers.for_each(batch, self.stop, |index, latent, scratch| {
                if pass == 0 {
                    let random = self.run.seed.stream(Purpose::Local, batch.key(index));
                    local.begin(read, batch, index, latent, random);
                }
                let one = Passes { range: pass..pass + 1, keep_from: 0 };
                local.advance(read, batch, index, latent, scratch, one);
            })?;
            local.collect(read, batch, &mut workers.latents, fresh);
            // With one pass the parameters do not change before the statistics are absorbed.
            if local.passes() > 1 {
                model.complete(fresh, read);
            }
            if pass >= local.first_kept() {
                kept.merge_pass(fresh);
                fresh.clone_from(&kept);
            }
            if pass + 1 < local.passes() {
                model.view(self.state, self.step, Some(fresh), batch, view);
            }
        }
        Ok(())
    }
}

impl<Latent: Default + Send, Scratch: Default + Send> Workers<Latent, Scratch> {
    /// Calls `work` for every observation on all threads, each time with a scratch space that nobody else uses. The
    /// longest come first, so that no thread is left with a long one when the others are done. If the request to end is
    /// overdue, the rest is left out, which is an error.
    fn for_each<B: Batch>(
        &mut self,
        batch: &B,
        stop: &Stop,
        work: impl Fn(usize, &mut Latent, &mut Scratch) + Sync,
    ) -> Result<()> {
        let spare = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        self.latents.resize_with(batch.len(), Latent::default);
        let mut queue: Vec<(usize, &mut Latent)> = self.latents.iter_mut().enumerate().collect();
        queue.sort_by_key(|&(index, _)| Reverse(batch.cost(index)));
        queue.par_chunks_mut(batch.grain()).try_for_each(|some| {
            let taken = spare().pop();
            let mut mine = taken.unwrap_or_default();
            for (index, latent) in some {
                if stop.is_overdue() {
                    return Err(Error::Stopped);
                }
                work(*index, latent, &mut mine);
            }
            spare().push(mine);
            Ok(())
        })
    }
}
