//! One learner for all models: the driver with its types hidden, one virtual call per minibatch.
//!
//! A model of one's own becomes a [`Learner`] by implementing [`LearnerModel`]; [`OnlineLearner`] does the rest.

use super::arrays::{Array, Scalar, Stored};
use super::batch::AnyBatch;
use super::parameters::{Diagnostics, Parameters};
use super::stop::Stop;
use crate::error::{Error, Result};
use crate::inference::LocalInference;
use crate::file::bytes::{from_bytes, to_bytes};
use crate::model::{LatentModel, Statistics, Sums};
use crate::model::topics::lda::LdaState;
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::learn::online::{Online, OnlineSettings};
use crate::learn::schedule::Step;
use std::any::Any;
use std::borrow::Cow;

/// What a model supplies beside learning, so that it can be saved, asked, and used by runs and commands.
pub trait LearnerModel: LatentModel<Batch: Clone, State: 'static, Statistics: 'static> + Clone + 'static {
    /// What its scores stand beside.
    type Baseline: Baseline<Self>;

    /// The baseline before anything was seen.
    fn baseline(&self) -> Self::Baseline;

    /// The minibatch in its own form.
    fn batch<'a>(&self, batch: &'a AnyBatch<'_>) -> Result<Cow<'a, Self::Batch>>;

    /// Statistics and parameters.
    fn arrays<'a>(&self, state: &'a Self::State) -> Vec<Array<'a>>;

    /// What a state has beside its arrays.
    fn scalars(&self, _state: &Self::State) -> Vec<(&'static str, Scalar)> {
        Vec::new()
    }

    /// The state of arrays and numbers; refuses what no training leaves behind.
    fn restore(&self, stored: &dyn Stored, clock: &Step) -> Result<Self::State, String>;

    /// The parameters to report.
    fn parameters(&self, state: &Self::State, baseline: &Self::Baseline, clock: &Step) -> Result<Parameters>;

    /// The same in the memory of the state, where that can be done.
    fn take_parameters(
        &self,
        state: &mut Self::State,
        baseline: &Self::Baseline,
        clock: &Step,
    ) -> Result<Parameters> {
        self.parameters(state, baseline, clock)
    }

    /// What is worth knowing about topics, components or sources.
    fn diagnostics(&self, _state: &Self::State, _clock: &Step) -> Diagnostics {
        Diagnostics::default()
    }

    /// Makes room for words that were not known before.
    fn grow(&mut self, _state: Option<&mut Self::State>, _words: usize) {}

    /// Forgets what was learnt about some words.
    fn forget(&self, _state: &mut Self::State, _words: &[u32]) {}

    /// Makes the baseline of what was learnt with other settings one of these.
    fn adopt(&self, _baseline: &mut Self::Baseline, _clock: &Step) {}
}

/// Something simple that was fitted to everything seen, and that a model must beat.
pub trait Baseline<M: LatentModel>: Clone + Send + Sync + 'static {
    /// Chooses what its sums are centred on, before anything was seen.
    fn begin(&mut self, _first: &M::Batch) {}

    /// What its sums are centred on.
    fn center(&self) -> Vec<f64> {
        Vec::new()
    }

    /// What it wants to know of some observations beside the statistics of the model.
    fn sums(&self, _center: &[f64], _block: &M::Batch) -> Sums {
        Sums::default()
    }

    /// Takes a minibatch into account.
    fn absorb(&mut self, statistics: &M::Statistics, sums: &Sums);

    /// Its sums.
    fn arrays(&self) -> Vec<Array<'_>>;

    /// What it has beside them.
    fn scalars(&self) -> Vec<(&'static str, Scalar)> {
        Vec::new()
    }

    /// Reads them again.
    fn restore(&mut self, stored: &dyn Stored) -> Result<(), String>;

    /// Makes room for words that were not known before.
    fn grow(&mut self, _words: usize) {}

    /// Forgets some words.
    fn forget(&mut self, _words: &[u32]) {}

    /// What forgets stands for at most so many observations now.
    fn shorten_memory(&mut self, _observations: f64) {}
}

/// A model that is being learnt, whatever it is.
pub trait Learner: Send {
    /// Learns from one minibatch. An error leaves everything as it was.
    fn partial_fit(&mut self, batch: &AnyBatch<'_>) -> Result<Step>;

    /// Makes the random start, unless there is one: the first minibatch may set scales.
    fn begin(&mut self, first: &AnyBatch<'_>) -> Result<()>;

    /// The parameters for a minibatch, as bytes: what another process needs for [`Self::e_step_bytes`].
    fn view_bytes(&self, batch: &AnyBatch<'_>) -> Result<Vec<u8>>;

    /// The statistics of a block of a minibatch, as bytes. A learner of the same settings that has learnt nothing
    /// computes them as well as this one.
    fn e_step_bytes(&self, view: &[u8], block: &AnyBatch<'_>) -> Result<Vec<u8>>;

    /// A place where the statistics of the blocks of a minibatch are merged as they come.
    fn gather(&self) -> Box<dyn Gathered>;

    /// Learns from the statistics of all blocks of a minibatch. If the view that they were computed with is not the one
    /// of this moment, because something was learnt since, it must be given.
    fn absorb(&mut self, blocks: Box<dyn Gathered>, stale_view: Option<&[u8]>) -> Result<Step>;

    /// Learns from the statistics of all blocks of a minibatch, in any order: with [`Self::view_bytes`] and
    /// [`Self::e_step_bytes`], the same as [`Self::partial_fit`], to the last bit.
    fn absorb_bytes(&mut self, blocks: &[Vec<u8>]) -> Result<Step> {
        let mut gathered = self.gather();
        blocks.iter().try_for_each(|block| gathered.merge(block))?;
        self.absorb(gathered, None)
    }

    /// Updates made and observations seen.
    fn clock(&self) -> Step;

    /// Statistics and parameters in the model's own type; `None` before the first update.
    fn state(&self) -> Option<&dyn Any>;

    /// The baseline in its own type.
    fn baseline(&self) -> &dyn Any;

    /// The parameters to report; `None` before the first update.
    fn parameters(&self) -> Option<Result<Parameters>>;

    /// What is worth knowing about topics, components or sources.
    fn diagnostics(&self) -> Diagnostics;

    /// A copy of what was learnt; `None` before the first update.
    fn fitted(&self) -> Option<Box<dyn Fitted>>;

    /// The same without a copy. The learner goes on only after [`Self::resume`].
    fn take(&mut self) -> Option<Box<dyn Fitted>>;

    /// Goes on from what a learner of the same kind has learnt.
    fn resume(&mut self, fitted: Box<dyn Fitted>) -> Result<()>;

    /// Makes room for words that were not known before. They begin without counts.
    fn grow(&mut self, words: usize);

    /// Forgets what was learnt about some words, so that their places can be taken by others.
    fn forget(&mut self, words: &[u32]);

    /// From now on a request to end can leave out the minibatch at hand.
    fn stop_with(&mut self, stop: Stop);

    /// Runs `work` once on every thread that learns: this is how processor time can be measured.
    fn on_every_thread(&self, work: &(dyn Fn() + Sync));

    /// Runs `work`, which may share itself out to all threads that learn.
    fn install(&self, work: &mut (dyn FnMut() + Send));

    /// From now on steps are as large as they were when so many documents had been seen after this moment.
    fn restart_steps(&mut self, at: Option<Step>);

    /// Counts that forget stand for at most so many documents now.
    fn shorten_memory(&mut self, documents: f64);
}

/// Statistics of blocks of one minibatch, merged as they come, in any order.
pub trait Gathered: Any + Send {
    /// Adds those of one more block. Refuses what belongs to another view; then nothing has changed.
    fn merge(&mut self, block: &[u8]) -> Result<()>;

    /// Number of observations so far.
    fn weight(&self) -> u64;

    /// All of them as the bytes of one block.
    fn to_bytes(&self) -> Vec<u8>;
}

/// What was learnt, at rest: it can be written, hashed and asked, and a learner can go on from it.
pub trait Fitted: Any + Send + Sync {
    /// Updates made and observations seen.
    fn clock(&self) -> Step;

    /// All arrays, those of the baseline last.
    fn arrays(&self) -> Vec<Array<'_>>;

    /// All single numbers, those of the baseline first.
    fn scalars(&self) -> Vec<(&'static str, Scalar)>;

    /// Statistics and parameters in the model's own type.
    fn state(&self) -> &dyn Any;

    /// The baseline in its own type.
    fn baseline(&self) -> &dyn Any;

    /// The parameters to report.
    fn parameters(&self) -> Result<Parameters>;

    /// The same in the memory of the statistics, where that can be done: afterwards nothing can be written or learnt from
    /// them.
    fn take_parameters(&mut self) -> Result<Parameters>;

    /// What is worth knowing about topics, components or sources.
    fn diagnostics(&self) -> Diagnostics;

    /// A copy.
    fn boxed_clone(&self) -> Box<dyn Fitted>;
}

impl dyn Fitted {
    /// Statistics and parameters of topics, if it is a topic model.
    pub fn topic_state(&self) -> Option<&LdaState> {
        self.state().downcast_ref()
    }

    /// Tokens seen, if it is a topic model.
    pub fn word_frequencies(&self) -> Option<&WordFrequencies> {
        self.baseline().downcast_ref()
    }

    /// Hash of statistics, parameters and counters: equal hash, equal bits.
    pub fn hash(&self) -> String {
        // Since version 1 the length of an array counts bytes in topic models and values in others.
        let unit = if self.topic_state().is_some() { 8 } else { 1 };
        let mut hasher = blake3::Hasher::new();
        for array in self.arrays() {
            hasher.update(array.name.as_bytes());
            hasher.update(&(unit * array.shape.iter().product::<usize>() as u64).to_le_bytes());
            hasher.update(array.bytes());
        }
        let Step { update, seen, head_start, .. } = self.clock();
        let scalars = self.scalars().into_iter().map(|(_, scalar)| scalar.to_bits());
        for counter in [update, seen, head_start].into_iter().chain(scalars) {
            hasher.update(&counter.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

impl std::fmt::Debug for dyn Fitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fitted").field("clock", &self.clock()).field("hash", &self.hash()).finish()
    }
}

/// A model with what it has learnt.
#[derive(Clone, Debug)]
pub struct FittedModel<M: LearnerModel> {
    /// The model.
    pub model: M,
    /// Statistics and parameters.
    pub state: M::State,
    /// What its scores stand beside.
    pub baseline: M::Baseline,
    /// Updates made and observations seen.
    pub clock: Step,
}

impl<M: LearnerModel> FittedModel<M> {
    /// Reads again what was written.
    pub fn restore(model: M, stored: &dyn Stored, clock: Step) -> Result<Box<dyn Fitted>, String> {
        let (state, mut baseline) = (model.restore(stored, &clock)?, model.baseline());
        baseline.restore(stored)?;
        Ok(Box::new(Self { model, state, baseline, clock }))
    }
}

impl<M: LearnerModel> Fitted for FittedModel<M> {
    fn clock(&self) -> Step {
        self.clock
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = self.model.arrays(&self.state);
        arrays.extend(self.baseline.arrays());
        arrays
    }

    fn scalars(&self) -> Vec<(&'static str, Scalar)> {
        let mut scalars = self.baseline.scalars();
        scalars.extend(self.model.scalars(&self.state));
        scalars
    }

    fn state(&self) -> &dyn Any {
        &self.state
    }

    fn baseline(&self) -> &dyn Any {
        &self.baseline
    }

    fn parameters(&self) -> Result<Parameters> {
        self.model.parameters(&self.state, &self.baseline, &self.clock)
    }

    fn take_parameters(&mut self) -> Result<Parameters> {
        self.model.take_parameters(&mut self.state, &self.baseline, &self.clock)
    }

    fn diagnostics(&self) -> Diagnostics {
        self.model.diagnostics(&self.state, &self.clock)
    }

    fn boxed_clone(&self) -> Box<dyn Fitted> {
        let Self { model, state, baseline, clock } = self;
        let (model, state, baseline) = (model.clone(), state.clone(), baseline.clone());
        Box::new(Self { model, state, baseline, clock: *clock })
    }
}

/// Statistics of blocks, with what the baseline wants to know.
struct GatheredBlocks<M: LearnerModel> {
    statistics: M::Statistics,
    sums: Sums,
}

impl<M: LearnerModel> Gathered for GatheredBlocks<M> {
    fn merge(&mut self, block: &[u8]) -> Result<()> {
        let (statistics, sums): (M::Statistics, Sums) = from_bytes(block)?;
        let mut merged = self.sums.clone();
        merged.merge(&sums)?;
        self.statistics.merge(&statistics)?;
        self.sums = merged;
        Ok(())
    }

    fn weight(&self) -> u64 {
        self.statistics.weight()
    }

    fn to_bytes(&self) -> Vec<u8> {
        to_bytes(&(&self.statistics, &self.sums))
    }
}

/// The driver as a learner.
pub struct OnlineLearner<M: LearnerModel, L: LocalInference<M>> {
    online: Online<M, L>,
    baseline: M::Baseline,
}

impl<M: LearnerModel, L: LocalInference<M>> OnlineLearner<M, L> {
    /// A learner that has seen nothing.
    pub fn new(model: M, local: L, run: OnlineSettings) -> Result<Self> {
        Ok(Self { baseline: model.baseline(), online: Online::new(model, local, run)? })
    }

    fn fitted_with(&self, state: M::State) -> FittedModel<M> {
        let (model, baseline) = (self.online.model().clone(), self.baseline.clone());
        FittedModel { model, state, baseline, clock: self.online.clock() }
    }
}

impl<M: LearnerModel, L: LocalInference<M>> Learner for OnlineLearner<M, L> {
    fn partial_fit(&mut self, batch: &AnyBatch<'_>) -> Result<Step> {
        let batch = self.online.model().batch(batch)?;
        self.baseline.begin(&batch);
        let step = self.online.partial_fit(&batch)?;
        let sums = self.baseline.sums(&self.baseline.center(), &batch);
        self.baseline.absorb(self.online.last_statistics(), &sums);
        Ok(step)
    }

    fn begin(&mut self, first: &AnyBatch<'_>) -> Result<()> {
        let first = self.online.model().batch(first)?;
        self.baseline.begin(&first);
        self.online.begin(&first).map(drop)
    }

    fn view_bytes(&self, batch: &AnyBatch<'_>) -> Result<Vec<u8>> {
        let batch = self.online.model().batch(batch)?;
        let view = self.online.view(&batch).ok_or_else(|| {
            Error::setting("model", "nothing has been learnt yet", "make a start with the first minibatch")
        })?;
        Ok(to_bytes(&(view, self.baseline.center())))
    }

    fn e_step_bytes(&self, view: &[u8], block: &AnyBatch<'_>) -> Result<Vec<u8>> {
        let block = self.online.model().batch(block)?;
        let (view, center): (M::View, Vec<f64>) = from_bytes(view)?;
        let statistics = self.online.e_step(&view, &block)?;
        Ok(to_bytes(&(statistics, self.baseline.sums(&center, &block))))
    }

    fn gather(&self) -> Box<dyn Gathered> {
        Box::new(GatheredBlocks::<M> { statistics: M::Statistics::default(), sums: Sums::default() })
    }

    fn absorb(&mut self, blocks: Box<dyn Gathered>, stale_view: Option<&[u8]>) -> Result<Step> {
        let blocks: Box<dyn Any> = blocks;
        let GatheredBlocks { mut statistics, sums } =
            *blocks.downcast::<GatheredBlocks<M>>().map_err(|_| {
                Error::setting("statistics", "they are of another kind of model", "gather those of this one")
            })?;
        if let Some(view) = stale_view {
            let (view, _): (M::View, Vec<f64>) = from_bytes(view)?;
            self.online.install(|| self.online.model().complete(&mut statistics, &view));
        }
        let step = self.online.absorb(&statistics)?;
        self.baseline.absorb(&statistics, &sums);
        Ok(step)
    }

    fn clock(&self) -> Step {
        self.online.clock()
    }

    fn state(&self) -> Option<&dyn Any> {
        self.online.state().map(|state| state as &dyn Any)
    }

    fn baseline(&self) -> &dyn Any {
        &self.baseline
    }

    fn parameters(&self) -> Option<Result<Parameters>> {
        let (model, clock) = (self.online.model(), self.online.clock());
        let report = |state| self.online.install(|| model.parameters(state, &self.baseline, &clock));
        self.online.state().map(report)
    }

    fn diagnostics(&self) -> Diagnostics {
        let (model, clock) = (self.online.model(), self.online.clock());
        self.online.state().map_or_else(Diagnostics::default, |state| model.diagnostics(state, &clock))
    }

    fn fitted(&self) -> Option<Box<dyn Fitted>> {
        self.online.state().map(|state| Box::new(self.fitted_with(state.clone())) as Box<dyn Fitted>)
    }

    fn take(&mut self) -> Option<Box<dyn Fitted>> {
        let state = self.online.take_state()?;
        Some(Box::new(self.fitted_with(state)))
    }

    fn resume(&mut self, fitted: Box<dyn Fitted>) -> Result<()> {
        let fitted: Box<dyn Any> = fitted;
        let FittedModel { state, baseline, clock, .. } =
            *fitted.downcast::<FittedModel<M>>().map_err(|_| {
                Error::setting("model", "what was learnt is of another kind", "go on with the same kind")
            })?;
        self.online.resume(state, clock);
        self.baseline = baseline;
        self.online.model().adopt(&mut self.baseline, &clock);
        Ok(())
    }

    fn grow(&mut self, words: usize) {
        self.online.change(|model, state| model.grow(state, words));
        self.baseline.grow(words);
    }

    fn forget(&mut self, words: &[u32]) {
        self.online.change(|model, state| {
            if let Some(state) = state {
                model.forget(state, words);
            }
        });
        self.baseline.forget(words);
    }

    fn stop_with(&mut self, stop: Stop) {
        self.online.stop_with(stop);
    }

    fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.online.on_every_thread(work);
    }

    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        self.online.install(work);
    }

    fn restart_steps(&mut self, at: Option<Step>) {
        self.online.restart_steps(at);
    }

    fn shorten_memory(&mut self, documents: f64) {
        self.baseline.shorten_memory(documents);
    }
}
