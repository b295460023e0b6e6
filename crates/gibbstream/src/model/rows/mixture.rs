//! Mixtures `p(x) = sum_k w_k p(x | theta_k)`: what all of them share, whatever the components are.
//!
//! The statistics of component k are its responsibility `r_k` and `r_k T(x)`, both dense; a [`Family`] says
//! what `T` is and which `theta` follows from it (science.md 9.1).

use crate::model::rows::observations::Observations;
use crate::model::rows::split;
use crate::model::{Batch, LatentModel, Sums};
use crate::error::{Error, Result};
use crate::inference::exact::Tractable;
use crate::numerics::math::log_sum_exp;
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::Step;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;

/// An exponential family of distributions of one observation, from which the components are taken.
///
/// Parameters and statistics of a component are rows of numbers whose meaning only the family knows. Sums are
/// of the values minus a fixed `pivot`, if the family chooses to centre them.
pub trait Family: Clone + Debug + Default + PartialEq + Send + Sync + Serialize + DeserializeOwned {
    /// Observations.
    type Batch: Batch + AsRef<Observations>;
    /// A component ready to be evaluated many times.
    type Density: Clone + Debug + Default + Send + Sync + Serialize + DeserializeOwned;

    /// Refuses settings that make no sense.
    fn validate(&self) -> Result<()>;

    /// Observations `first..` of the stream in pass number `pass`, row after row.
    fn batch(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Self::Batch>;

    /// Number of values of `T(x)`, which is `x` itself unless the family says otherwise.
    fn statistics(&self, dimension: usize) -> usize {
        dimension
    }

    /// Number of parameters of a component. A mean of parameters must be a valid parameter.
    fn parameters(&self, dimension: usize) -> usize {
        dimension
    }

    /// `sums += weight * T(x)`.
    fn accumulate(&self, _pivot: &[f64], x: &[f64], weight: f64, sums: &mut [f64]) {
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += weight * x);
    }

    /// The parameters that maximise `<phi(theta), sums> - mass psi(theta)`, where `mass > 0` is the
    /// sum of the weights in `sums`.
    fn maximise(&self, pivot: &[f64], mass: f64, sums: &[f64], parameters: &mut [f64]);

    /// Makes a component ready.
    fn prepare(&self, dimension: usize, parameters: &[f64], out: &mut Self::Density);

    /// Whether a component that was read from bytes has the right size.
    fn fits(&self, dimension: usize, density: &Self::Density) -> bool;

    /// Logarithm of the density of `x`, up to [`Self::log_base`].
    fn log_density(&self, density: &Self::Density, x: &[f64]) -> f64;

    /// The part of the log-density that is the same for all components, and so needed for evaluation only.
    fn log_base(&self, _x: &[f64]) -> f64 {
        0.0
    }
}

/// A mixture of distributions of the family `F`.
///
/// Minibatches must have the dimension of the model: others end the program, because an E-step has no way to
/// refuse them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture<F> {
    components: usize,
    dimension: usize,
    family: F,
    hold: u64,
}

/// Expected statistics: of a minibatch, or running.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixtureExpectation {
    /// Mean responsibility of each component.
    pub mass: Vec<f64>,
    /// Means of responsibility times `T(x)`, component after component.
    pub sums: Vec<f64>,
}

/// Parameters of all components.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixtureParameters {
    /// Probability of each component.
    pub weights: Vec<f64>,
    /// Parameters of the components, one after the other.
    pub components: Vec<f64>,
}

impl MixtureParameters {
    /// The parameters of component `k`, as its family lays them out.
    pub fn component(&self, k: usize) -> &[f64] {
        let width = self.components.len() / self.weights.len();
        &self.components[k * width..][..width]
    }
}

/// Running statistics and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureState {
    /// Mean of the first minibatch, around which statistics may be centred.
    pub pivot: Vec<f64>,
    /// The running mean `s`.
    pub statistics: MixtureExpectation,
    /// `eta*(s)`.
    pub parameters: MixtureParameters,
    /// Sum of the remembered parameters.
    pub sum: MixtureParameters,
    /// How many parameters were remembered.
    pub remembered: u64,
    /// Minibatches absorbed.
    pub updates: u64,
}

/// The mixture as the E-step reads it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct MixtureView<F: Family> {
    family: F,
    pivot: Vec<f64>,
    log_weights: Vec<f64>,
    densities: Vec<F::Density>,
}

impl<F: Family> MixtureView<F> {
    /// Logarithm of the probability (density) of one observation.
    pub fn log_likelihood(&self, x: &[f64]) -> f64 {
        let mut joint = Vec::new();
        self.log_joint(x, &mut joint);
        log_sum_exp(&joint) + self.family.log_base(x)
    }

    /// Fills `out` with `log w_k p(x | theta_k)`, up to the part that all components share.
    pub(crate) fn log_joint(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(
            self.log_weights
                .iter()
                .zip(&self.densities)
                .map(|(weight, density)| weight + self.family.log_density(density, x)),
        );
    }

    /// Fills `out` with the probabilities of the components given `x`.
    pub(crate) fn responsibilities(&self, x: &[f64], out: &mut Vec<f64>) {
        self.log_joint(x, out);
        let evidence = log_sum_exp(out);
        for value in out {
            *value = libm::exp(*value - evidence);
        }
    }
}

impl<F: Family> Mixture<F> {
    /// Below this share of the observations a component is empty: its statistics no longer determine it.
    const EMPTY: f64 = 1e-200;

    /// A mixture of `components` distributions of observations with `dimension` values.
    pub fn new(components: usize, dimension: usize, family: F) -> Result<Self> {
        for (setting, value) in [("components", components), ("dimension", dimension)] {
            if value == 0 {
                return Err(Error::setting(setting, "0 leaves nothing to learn", "use at least 1"));
            }
        }
        family.validate()?;
        Ok(Self { components, dimension, family, hold: 0 })
    }

    /// Leaves the parameters as they started during the first `updates`, while statistics are gathered. With
    /// minibatches of a few observations, 20 keeps the first ones from deciding everything.
    #[must_use]
    pub fn hold(self, updates: u64) -> Self {
        Self { hold: updates, ..self }
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.components
    }

    /// Number of values of an observation.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The family of the components.
    pub fn family(&self) -> &F {
        &self.family
    }

    /// The parameters that a state stands for: the mean of the remembered ones if there is one, else the last.
    pub fn parameters(&self, state: &MixtureState) -> MixtureParameters {
        if state.remembered == 0 {
            return state.parameters.clone();
        }
        let mean = |sums: &[f64]| sums.iter().map(|sum| sum / state.remembered as f64).collect();
        MixtureParameters { weights: mean(&state.sum.weights), components: mean(&state.sum.components) }
    }

    /// Logarithm of the probability (density) of all observations.
    pub fn log_likelihood(&self, parameters: &MixtureParameters, batch: &F::Batch) -> f64 {
        let view = self.frozen(parameters);
        self.checked(batch).rows().map(|x| view.log_likelihood(x)).sum()
    }

    /// The probability of every component given each observation, observation after observation.
    pub fn responsibilities(&self, parameters: &MixtureParameters, batch: &F::Batch) -> Vec<Vec<f64>> {
        let (observations, view) = (self.checked(batch), self.frozen(parameters));
        let mut all = vec![Vec::new(); batch.len()];
        all.iter_mut().zip(observations.rows()).for_each(|(out, x)| view.responsibilities(x, out));
        all
    }

    /// The M-step: `eta*(s)`. A component that has become empty keeps the parameters it had.
    pub fn maximise(
        &self,
        pivot: &[f64],
        statistics: &MixtureExpectation,
        parameters: &mut MixtureParameters,
    ) {
        let total: f64 = statistics.mass.iter().sum();
        parameters.weights.clear();
        parameters.weights.extend(statistics.mass.iter().map(|mass| mass / total));
        let width = self.family.parameters(self.dimension);
        parameters.components.resize(self.components * width, 0.0);
        let sums = statistics.sums.chunks_exact(self.family.statistics(self.dimension));
        for ((out, &mass), sums) in
            parameters.components.chunks_exact_mut(width).zip(&statistics.mass).zip(sums)
        {
            if mass > Self::EMPTY {
                self.family.maximise(pivot, mass, sums, out);
            }
        }
    }

    fn checked<'a>(&self, batch: &'a F::Batch) -> &'a Observations {
        let observations = batch.as_ref();
        assert_eq!(
            observations.dimension(),
            self.dimension,
            "observations and model differ in the number of values per observation"
        );
        observations
    }

    /// The mixture ready to be evaluated.
    pub(crate) fn frozen(&self, parameters: &MixtureParameters) -> MixtureView<F> {
        let mut view = MixtureView::default();
        self.fill(&vec![0.0; self.dimension], parameters, &mut view);
        view
    }

    fn fill(&self, pivot: &[f64], parameters: &MixtureParameters, out: &mut MixtureView<F>) {
        out.family.clone_from(&self.family);
        out.pivot.clear();
        out.pivot.extend_from_slice(pivot);
        out.log_weights.clear();
        out.log_weights.extend(parameters.weights.iter().map(|&weight| libm::log(weight)));
        out.densities.resize_with(self.components, F::Density::default);
        for (k, density) in out.densities.iter_mut().enumerate() {
            self.family.prepare(self.dimension, parameters.component(k), density);
        }
    }

    /// Means over a minibatch.
    fn means(&self, fresh: &Sums) -> MixtureExpectation {
        let mut mass = fresh.mean();
        let sums = mass.split_off(self.components);
        MixtureExpectation { mass, sums }
    }

    /// The M-step after `updates` minibatches.
    fn update(
        &self,
        updates: u64,
        pivot: &[f64],
        statistics: &MixtureExpectation,
        parameters: &mut MixtureParameters,
    ) {
        if updates > self.hold {
            self.maximise(pivot, statistics, parameters);
        }
    }
}

impl<F: Family> LatentModel for Mixture<F> {
    type Batch = F::Batch;
    type Statistics = Sums;
    type State = MixtureState;
    type View = MixtureView<F>;

    fn check(&self, batch: &F::Batch) -> Result<()> {
        batch.as_ref().check_dimension(self.dimension)
    }

    /// The statistics of a k-means++ split of the first minibatch, which should hold many more observations
    /// than there are components. A part too small to determine a component gets one more, imaginary
    /// observation, spread like a random reweighting of the minibatch; so none is degenerate and no two alike.
    fn initial(&self, first: &F::Batch, seed: Seed) -> MixtureState {
        let observations = self.checked(first);
        let mut random = seed.stream(Purpose::Initial, [0, 0]);
        let labels = split::labels(observations, self.components, &mut random);
        let pivot = observations.mean();
        let width = self.family.statistics(self.dimension);
        let mut statistics =
            MixtureExpectation { mass: vec![0.0; self.components], sums: vec![0.0; self.components * width] };
        for (x, &label) in observations.rows().zip(&labels) {
            statistics.mass[label] += 1.0;
            self.family.accumulate(&pivot, x, 1.0, &mut statistics.sums[label * width..][..width]);
        }
        let enough = (self.dimension + 2) as f64;
        for (mass, sums) in statistics.mass.iter_mut().zip(statistics.sums.chunks_exact_mut(width)) {
            if *mass < enough {
                let weights: Vec<f64> =
                    labels.iter().map(|_| -libm::log(random.uniform_positive())).collect();
                let total: f64 = weights.iter().sum();
                for (x, weight) in observations.rows().zip(weights) {
                    self.family.accumulate(&pivot, x, weight / total, sums);
                }
                *mass += 1.0;
            }
        }
        let total: f64 = statistics.mass.iter().sum();
        statistics.mass.iter_mut().chain(&mut statistics.sums).for_each(|value| *value /= total);
        let mut parameters = MixtureParameters::default();
        self.maximise(&pivot, &statistics, &mut parameters);
        let sum = MixtureParameters {
            weights: vec![0.0; parameters.weights.len()],
            components: vec![0.0; parameters.components.len()],
        };
        MixtureState { pivot, statistics, parameters, sum, remembered: 0, updates: 0 }
    }

    fn view(
        &self,
        state: &MixtureState,
        at: &Step,
        pending: Option<&Sums>,
        batch: &F::Batch,
        out: &mut MixtureView<F>,
    ) {
        self.checked(batch);
        let Some(fresh) = pending else {
            return self.fill(&state.pivot, &state.parameters, out);
        };
        let mut statistics = state.statistics.clone();
        statistics.blend(at.rho, &self.means(fresh));
        let mut parameters = state.parameters.clone();
        self.update(state.updates + 1, &state.pivot, &statistics, &mut parameters);
        self.fill(&state.pivot, &parameters, out);
    }

    fn align<'a>(&self, view: &MixtureView<F>, block: &'a F::Batch) -> Result<Cow<'a, F::Batch>> {
        block.as_ref().check_dimension(self.dimension)?;
        if view.log_weights.len() == self.components
            && view.densities.len() == self.components
            && view.pivot.len() == self.dimension
            && view.densities.iter().all(|density| self.family.fits(self.dimension, density))
        {
            return Ok(Cow::Borrowed(block));
        }
        Err(Error::setting("view", "it belongs to another model", "use a view of this model"))
    }

    fn check_statistics(&self, _: &MixtureState, statistics: &Sums) -> Result<()> {
        statistics.check_len(self.components * (1 + self.family.statistics(self.dimension)))
    }

    fn absorb(&self, state: &mut MixtureState, step: &Step, fresh: &Sums) {
        state.statistics.blend(step.rho, &self.means(fresh));
        state.updates += 1;
        self.update(state.updates, &state.pivot, &state.statistics, &mut state.parameters);
    }

    fn remember(&self, state: &mut MixtureState, _: &Step) {
        for (sums, values) in [
            (&mut state.sum.weights, &state.parameters.weights),
            (&mut state.sum.components, &state.parameters.components),
        ] {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        state.remembered += 1;
    }
}

impl<F: Family> Tractable for Mixture<F> {
    /// Responsibilities: the probability of each component.
    type Posterior = Vec<f64>;

    fn posterior(view: &MixtureView<F>, batch: &F::Batch, index: usize, out: &mut Vec<f64>) {
        view.responsibilities(batch.as_ref().row(index), out);
    }

    /// For each component its responsibility, then for each its responsibility times `T(x)`.
    fn collect(view: &MixtureView<F>, batch: &F::Batch, posteriors: &[Vec<f64>], out: &mut Sums) {
        let observations = batch.as_ref();
        let (components, width) = (view.densities.len(), view.family.statistics(observations.dimension()));
        out.collect(components * (1 + width), posteriors.len(), |index, values| {
            let (mass, values) = values.split_at_mut(components);
            mass.copy_from_slice(&posteriors[index]);
            for (&share, values) in mass.iter().zip(values.chunks_exact_mut(width)) {
                // Not `> 0.0`, which would hide a NaN.
                if share != 0.0 {
                    view.family.accumulate(&view.pivot, observations.row(index), share, values);
                }
            }
        });
    }
}

impl MixtureExpectation {
    /// `self <- (1 - rho) self + rho fresh`.
    fn blend(&mut self, rho: f64, fresh: &Self) {
        for (old, new) in [(&mut self.mass, &fresh.mass), (&mut self.sums, &fresh.sums)] {
            old.iter_mut().zip(new).for_each(|(old, new)| *old = (1.0 - rho) * *old + rho * new);
        }
    }
}
