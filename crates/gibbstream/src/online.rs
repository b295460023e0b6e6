//! The one driver: minibatch after minibatch of online EM, whatever the model and its local inference.

use crate::averaging::Averaging;
use crate::batch_size::BatchSize;
use crate::error::{Error, Result};
use crate::inference::{LocalInference, Passes};
use crate::model::{Batch, Expectation, LatentModel};
use crate::random::{Purpose, Seed};
use crate::schedule::{Step, StepSize};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

/// How the driver runs, independent of model and inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
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

impl Default for Run {
    /// The step size of the paper, minibatches of 100, one thread, and nothing special.
    fn default() -> Self {
        let (step, averaging, seed) = (StepSize::PAPER, Averaging::None, Seed(0));
        Self { step, averaging, boost: false, batch: BatchSize::of(100), seed, threads: 1 }
    }
}

/// Online EM for the model `M` with the E-step `L` (algorithms.md 1.4).
pub struct Online<M: LatentModel, L: LocalInference<M>> {
    model: M,
    local: L,
    run: Run,
    pool: ThreadPool,
    clock: Step,
    state: Option<M::State>,
    view: M::View,
    fresh: M::Expectation,
    window: M::Expectation,
    latents: Vec<L::Latent>,
    scratch: Mutex<Vec<L::Scratch>>,
}

impl<M: LatentModel, L: LocalInference<M>> Online<M, L> {
    /// A run that has seen nothing yet.
    pub fn new(model: M, local: L, run: Run) -> Result<Self> {
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
            state: None,
            fresh: M::Expectation::default(),
            window: M::Expectation::default(),
            latents: Vec::new(),
            scratch: Mutex::default(),
        })
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
        self.model.check(batch)?;
        let step = self.run.step.next(&self.clock, batch.len() as u64, self.run.batch);
        // The threads are woken once for all that there is to do.
        let Self { model, local, run, pool, clock, state, view, fresh, window, latents, scratch } = self;
        pool.install(|| {
            let first = state.is_none();
            let current = state.get_or_insert_with(|| model.initial(batch, run.seed));
            let e_step =
                EStep { model, local, run, batch, clock, state: current, view, fresh, latents, scratch };
            if run.boost {
                e_step.boosted(&step, window);
            } else {
                e_step.plain();
            }
            if let Some(statistic) = fresh.not_finite() {
                if first {
                    *state = None;
                }
                return Err(Error::NotFinite { update: step.update, statistic });
            }
            model.absorb(current, &step, fresh, view, batch);
            if run.averaging.includes(step.update) {
                model.remember(current, &step);
            }
            *clock = step;
            Ok(step)
        })
    }
}

/// The E-step of one minibatch.
struct EStep<'a, M: LatentModel, L: LocalInference<M>> {
    model: &'a M,
    local: &'a L,
    run: &'a Run,
    batch: &'a M::Batch,
    clock: &'a Step,
    state: &'a M::State,
    view: &'a mut M::View,
    fresh: &'a mut M::Expectation,
    latents: &'a mut Vec<L::Latent>,
    scratch: &'a Mutex<Vec<L::Scratch>>,
}

impl<M: LatentModel, L: LocalInference<M>> EStep<'_, M, L> {
    /// All passes with the parameters as they were before the minibatch.
    fn plain(self) {
        self.model.view(self.state, self.clock, None, self.batch, self.view);
        let (local, view, batch, passes) = (self.local, &*self.view, self.batch, all_passes(self.local));
        let seed = self.run.seed;
        for_each(batch, self.latents, self.scratch, |index, latent, scratch| {
            local.begin(view, batch, index, latent, seed.stream(Purpose::Local, batch.key(index)));
            local.advance(view, batch, index, latent, scratch, passes.clone());
        });
        local.expect(view, batch, self.latents, self.fresh);
    }

    /// After each pass, the parameters as if the minibatch were already absorbed with what is known of it:
    /// the latest pass while burning in, the mean over the kept passes so far afterwards (algorithms.md 1.3).
    fn boosted(self, step: &Step, window: &mut M::Expectation) {
        let (local, batch, seed) = (self.local, self.batch, self.run.seed);
        self.model.view(self.state, self.clock, None, batch, self.view);
        for pass in 0..local.passes() {
            let view = &*self.view;
            for_each(batch, self.latents, self.scratch, |index, latent, scratch| {
                if pass == 0 {
                    local.begin(view, batch, index, latent, seed.stream(Purpose::Local, batch.key(index)));
                }
                let one = Passes { range: pass..pass + 1, keep_from: 0 };
                local.advance(view, batch, index, latent, scratch, one);
            });
            local.expect(view, batch, self.latents, self.fresh);
            self.model.complete(self.fresh, view, batch);
            if pass >= local.first_kept() {
                if pass == local.first_kept() {
                    window.clear_like(self.fresh);
                }
                window.add(1.0, self.fresh);
                self.fresh.clear_like(window);
                self.fresh.add(1.0 / (pass + 1 - local.first_kept()) as f64, window);
            }
            if pass + 1 < local.passes() {
                self.model.view(self.state, step, Some(self.fresh), batch, self.view);
            }
        }
    }
}

fn all_passes<M: LatentModel>(local: &impl LocalInference<M>) -> Passes {
    Passes { range: 0..local.passes(), keep_from: local.first_kept() }
}

/// Calls `work` for every observation on all threads, each time with a scratch space that nobody else uses. The
/// longest come first, so that no thread is left with a long one when the others are done.
fn for_each<B: Batch, L: Default + Send, S: Default + Send>(
    batch: &B,
    latents: &mut Vec<L>,
    scratch: &Mutex<Vec<S>>,
    work: impl Fn(usize, &mut L, &mut S) + Sync,
) {
    let spare = || scratch.lock().unwrap_or_else(PoisonError::into_inner);
    latents.resize_with(batch.len(), L::default);
    let mut queue: Vec<(usize, &mut L)> = latents.iter_mut().enumerate().collect();
    queue.sort_by_key(|&(index, _)| Reverse(batch.cost(index)));
    queue.par_chunks_mut(batch.grain()).for_each(|some| {
        let taken = spare().pop();
        let mut mine = taken.unwrap_or_default();
        for (index, latent) in some {
            work(*index, latent, &mut mine);
        }
        spare().push(mine);
    });
}
