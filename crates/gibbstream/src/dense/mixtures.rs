//! Mixtures as models that can be saved and asked.

use super::{Array, Arrays, Dense, Diagnostics, Predictor};
use crate::error::Result;
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::model::mixture::{
    Family, Mixture, MixtureExpectation, MixtureParameters, MixtureState, MixtureView,
};
use crate::random::Stream;

/// A component with less than this share of an even one is as good as empty.
const ALMOST_EMPTY: f64 = 1e-3;

/// Families as files and messages know them.
pub(super) trait Named: Family {
    /// What one member of the family is called as a baseline.
    const BASELINE: &'static str;
    /// What the parameters of components are called when exported.
    const PARAMETERS: &'static str;
}

impl Named for crate::model::gaussian_mixture::Gaussian {
    const BASELINE: &'static str = "single-gaussian";
    const PARAMETERS: &'static str = "means_and_covariances";
}

impl Named for crate::model::poisson_mixture::Poisson {
    const BASELINE: &'static str = "independent-poisson";
    const PARAMETERS: &'static str = "rates";
}

impl Named for crate::model::multinomial_mixture::Multinomial {
    const BASELINE: &'static str = "single-multinomial";
    const PARAMETERS: &'static str = "probabilities";
}

impl Named for crate::model::bernoulli_mixture::Bernoulli {
    const BASELINE: &'static str = "independent-bernoulli";
    const PARAMETERS: &'static str = "probabilities";
}

impl<F: Named + 'static> Dense for Mixture<F> {
    type Baseline = F;

    fn dimension(&self) -> usize {
        Mixture::dimension(self)
    }

    fn baseline(&self) -> (F, &'static str) {
        (self.family().clone(), F::BASELINE)
    }

    fn batch(&self, rows: Vec<f64>, first: u64, pass: u64) -> Result<F::Batch> {
        F::batch(rows, self.dimension(), first, pass)
    }

    fn arrays(&self, state: &MixtureState) -> Vec<Array> {
        let (k, d) = (self.components(), self.dimension());
        let (statistics, parameters) = (self.family().statistics(d), self.family().parameters(d));
        vec![
            Array::new("pivot", &[d], &state.pivot),
            Array::new("mass", &[k], &state.statistics.mass),
            Array::new("sums", &[k, statistics], &state.statistics.sums),
            Array::new("weights", &[k], &state.parameters.weights),
            Array::new("components", &[k, parameters], &state.parameters.components),
            Array::new("average_weights", &[k], &state.sum.weights),
            Array::new("average_components", &[k, parameters], &state.sum.components),
            Array::one("averaged_updates", state.remembered as f64),
            Array::one("updates", state.updates as f64),
        ]
    }

    fn restore(&self, arrays: &Arrays<'_>) -> Result<MixtureState, String> {
        let (k, d) = (self.components(), self.dimension());
        let (statistics, parameters) = (self.family().statistics(d), self.family().parameters(d));
        Ok(MixtureState {
            pivot: arrays("pivot", &[d])?,
            statistics: MixtureExpectation {
                mass: arrays("mass", &[k])?,
                sums: arrays("sums", &[k, statistics])?,
            },
            parameters: MixtureParameters {
                weights: arrays("weights", &[k])?,
                components: arrays("components", &[k, parameters])?,
            },
            sum: MixtureParameters {
                weights: arrays("average_weights", &[k])?,
                components: arrays("average_components", &[k, parameters])?,
            },
            remembered: arrays("averaged_updates", &[1])?[0] as u64,
            updates: arrays("updates", &[1])?[0] as u64,
        })
    }

    fn reported(&self, state: &MixtureState) -> Vec<Array> {
        let MixtureParameters { weights, components } = self.parameters(state);
        let width = self.family().parameters(self.dimension());
        vec![
            Array::new("weights", &[self.components()], &weights),
            Array::new(F::PARAMETERS, &[self.components(), width], &components),
        ]
    }

    fn predictor(&self, state: &MixtureState) -> Box<dyn Predictor> {
        Box::new(self.frozen(&self.parameters(state)))
    }

    fn diagnostics(&self, state: &MixtureState) -> Diagnostics {
        let weights = self.parameters(state).weights;
        let limit = ALMOST_EMPTY / weights.len() as f64;
        let empty = weights.iter().filter(|&&weight| weight < limit).count();
        let warnings = (empty > 0).then(|| {
            format!(
                "{empty} of {} components are almost empty: they keep what they had learnt; try fewer \
                 --components, or another --seed",
                weights.len()
            )
        });
        Diagnostics { weights, sources: Vec::new(), warnings: warnings.into_iter().collect() }
    }
}

impl<F: Family> Predictor for MixtureView<F> {
    fn estimator(&self) -> &'static str {
        "exact"
    }

    fn log_likelihood(&self, x: &[f64], _: Annealed, _: Stream) -> Estimate {
        Estimate { log_likelihood: MixtureView::log_likelihood(self, x), variance: 0.0 }
    }

    fn hidden(&self, x: &[f64], _: usize, _: Stream) -> (Vec<f64>, Option<Vec<f64>>) {
        let mut shares = Vec::new();
        self.responsibilities(x, &mut shares);
        (shares, None)
    }
}
