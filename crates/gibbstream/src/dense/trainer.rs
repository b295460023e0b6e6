//! Training from settings: names become types here, once.

use super::{Array, Arrays, Dense, Diagnostics, Predictor};
use crate::error::{Error, Result};
use crate::inference::LocalInference;
use crate::inference::exact::Exact;
use crate::inference::scales::ScaleGibbs;
use crate::learn::{ModelKind, Settings};
use crate::method::Method;
use crate::model::Batch;
use crate::model::bernoulli_mixture::Bernoulli;
use crate::model::gaussian_mixture::Gaussian;
use crate::model::ica::Ica;
use crate::model::mixture::{Family, Mixture, MixtureExpectation, MixtureParameters};
use crate::model::multinomial_mixture::Multinomial;
use crate::model::observations::Observations;
use crate::model::poisson_mixture::Poisson;
use crate::online::{Online, Run};
use crate::schedule::Step;

/// One member of a family, fitted to everything seen: what a model must beat.
struct Single<F> {
    family: F,
    pivot: Vec<f64>,
    mass: f64,
    sums: Vec<f64>,
}

impl<F: Family + 'static> Single<F> {
    fn new(family: F, dimension: usize) -> Self {
        let sums = vec![0.0; family.statistics(dimension)];
        Self { family, pivot: vec![0.0; dimension], mass: 0.0, sums }
    }

    fn observe(&mut self, observations: &Observations) {
        if self.mass == 0.0 {
            self.pivot = observations.mean();
        }
        self.mass += observations.len() as f64;
        observations.rows().for_each(|x| self.family.accumulate(&self.pivot, x, 1.0, &mut self.sums));
    }

    fn predictor(&self) -> Result<Box<dyn Predictor>> {
        let model = Mixture::new(1, self.pivot.len(), self.family.clone())?;
        let mut parameters = MixtureParameters::default();
        let statistics = MixtureExpectation { mass: vec![self.mass], sums: self.sums.clone() };
        model.maximise(&self.pivot, &statistics, &mut parameters);
        Ok(Box::new(model.frozen(&parameters)))
    }

    fn arrays(&self) -> Vec<Array> {
        vec![
            Array::new("baseline_pivot", &[self.pivot.len()], &self.pivot),
            Array::one("baseline_mass", self.mass),
            Array::new("baseline_sums", &[self.sums.len()], &self.sums),
        ]
    }

    fn restore(&mut self, arrays: &Arrays<'_>) -> Result<(), String> {
        self.pivot = arrays("baseline_pivot", &[self.pivot.len()])?;
        self.mass = arrays("baseline_mass", &[1])?[0];
        self.sums = arrays("baseline_sums", &[self.sums.len()])?;
        Ok(())
    }
}

/// A model, its driver and its baseline.
struct Learning<M: Dense, L: LocalInference<M>> {
    online: Online<M, L>,
    single: Single<M::Baseline>,
}

/// The same with its types hidden: one virtual call per minibatch.
trait Learner: Send {
    fn partial_fit(&mut self, rows: Vec<f64>, first: u64, pass: u64) -> Result<Step>;
    fn clock(&self) -> Step;
    fn arrays(&self) -> Option<Vec<Array>>;
    fn restore(&mut self, arrays: &Arrays<'_>, clock: Step) -> Result<(), String>;
    fn reported(&self) -> Option<Vec<Array>>;
    fn predictor(&self) -> Option<Box<dyn Predictor>>;
    fn baseline(&self) -> Result<(Box<dyn Predictor>, &'static str)>;
    fn diagnostics(&self) -> Option<Diagnostics>;
    fn on_every_thread(&self, work: &(dyn Fn() + Sync));
}

impl<M: Dense, L: LocalInference<M>> Learner for Learning<M, L>
where
    M::Batch: AsRef<Observations>,
{
    fn partial_fit(&mut self, rows: Vec<f64>, first: u64, pass: u64) -> Result<Step> {
        let batch = self.online.model().batch(rows, first, pass)?;
        let step = self.online.partial_fit(&batch)?;
        // What comes a second time says nothing new.
        if pass == 0 {
            self.single.observe(batch.as_ref());
        }
        Ok(step)
    }

    fn clock(&self) -> Step {
        self.online.clock()
    }

    fn arrays(&self) -> Option<Vec<Array>> {
        let mut arrays = self.online.model().arrays(self.online.state()?);
        arrays.extend(self.single.arrays());
        Some(arrays)
    }

    fn restore(&mut self, arrays: &Arrays<'_>, clock: Step) -> Result<(), String> {
        let state = self.online.model().restore(arrays)?;
        self.single.restore(arrays)?;
        self.online.resume(state, clock);
        Ok(())
    }

    fn reported(&self) -> Option<Vec<Array>> {
        self.online.state().map(|state| self.online.model().reported(state))
    }

    fn predictor(&self) -> Option<Box<dyn Predictor>> {
        self.online.state().map(|state| self.online.model().predictor(state))
    }

    fn baseline(&self) -> Result<(Box<dyn Predictor>, &'static str)> {
        Ok((self.single.predictor()?, self.online.model().baseline().1))
    }

    fn diagnostics(&self) -> Option<Diagnostics> {
        self.online.state().map(|state| self.online.model().diagnostics(state))
    }

    fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.online.on_every_thread(work);
    }
}

/// Learns a model of rows of numbers, minibatch after minibatch.
pub struct DenseTrainer {
    settings: Settings,
    learner: Box<dyn Learner>,
}

impl DenseTrainer {
    /// A trainer that has seen nothing; `threads` never changes a result.
    pub fn new(settings: Settings, threads: usize) -> Result<Self> {
        settings.validate()?;
        let Method { step, averaging, boost, sweeps, .. } = settings.method;
        let Settings { batch, seed, components: k, features: d, .. } = settings;
        let run = Run { step, averaging, boost, batch, seed, threads };
        let learner = match settings.model {
            ModelKind::Ica { sources, noise, learn_scale, floor } => {
                let model = Ica { dimension: d, sources: k, law: sources, noise, learn_scale, floor };
                model.validate()?;
                boxed(model, ScaleGibbs { sweeps, window: settings.window() }, run)?
            }
            ModelKind::GaussianMixture { covariance, floor } => {
                boxed(Mixture::new(k, d, Gaussian { covariance, floor })?, Exact, run)?
            }
            ModelKind::PoissonMixture { floor } => boxed(Mixture::new(k, d, Poisson { floor })?, Exact, run)?,
            ModelKind::MultinomialMixture { smoothing } => {
                boxed(Mixture::new(k, d, Multinomial { smoothing })?, Exact, run)?
            }
            ModelKind::BernoulliMixture { floor } => {
                boxed(Mixture::new(k, d, Bernoulli { floor })?, Exact, run)?
            }
            ModelKind::Lda | ModelKind::Hdp(_) => {
                return Err(Error::setting("model", "topics are learnt from documents", "give documents"));
            }
        };
        Ok(Self { settings, learner })
    }

    /// Learns from rows that are observations `first..` of the stream in pass number `pass`.
    pub fn partial_fit(&mut self, rows: Vec<f64>, first: u64, pass: u64) -> Result<Step> {
        self.learner.partial_fit(rows, first, pass)
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Updates made and observations seen.
    pub fn clock(&self) -> Step {
        self.learner.clock()
    }

    /// Statistics, parameters and the baseline as arrays; `None` before the first update.
    pub fn arrays(&self) -> Option<Vec<Array>> {
        self.learner.arrays()
    }

    /// Goes on from arrays.
    pub(super) fn restore(&mut self, arrays: &Arrays<'_>, clock: Step) -> Result<(), String> {
        self.learner.restore(arrays, clock)
    }

    /// The reported parameters; `None` before the first update.
    pub fn reported(&self) -> Option<Vec<Array>> {
        self.learner.reported()
    }

    /// The reported parameters, ready to be asked; `None` before the first update.
    pub fn predictor(&self) -> Option<Box<dyn Predictor>> {
        self.learner.predictor()
    }

    /// The baseline, ready to be asked, and its name.
    pub fn baseline(&self) -> Result<(Box<dyn Predictor>, &'static str)> {
        self.learner.baseline()
    }

    /// What is worth knowing about the components; `None` before the first update.
    pub fn diagnostics(&self) -> Option<Diagnostics> {
        self.learner.diagnostics()
    }

    /// Runs `work` once on every thread that trains: this is how its processor time can be measured.
    pub fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.learner.on_every_thread(work);
    }
}

fn boxed<M: Dense, L: LocalInference<M> + 'static>(model: M, local: L, run: Run) -> Result<Box<dyn Learner>>
where
    M::Batch: AsRef<Observations>,
    M::State: 'static,
    M::View: 'static,
    M::Expectation: 'static,
    L::Latent: 'static,
    L::Scratch: 'static,
{
    let single = Single::new(model.baseline().0, model.dimension());
    Ok(Box::new(Learning { online: Online::new(model, local, run)?, single }))
}
