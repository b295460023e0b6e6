//! Mixtures as learners: what is written of them, and how they are asked.

use crate::model::Batch;
use crate::model::rows::families::bernoulli::Bernoulli;
use crate::model::rows::families::gaussian::Gaussian;
use crate::model::rows::mixture::{Family, Mixture, MixtureExpectation, MixtureParameters, MixtureState, MixtureView};
use crate::model::rows::families::multinomial::Multinomial;
use crate::model::rows::observations::Observations;
use crate::model::rows::families::poisson::Poisson;
use crate::model::rows::baseline::{SingleComponent, finite, not_negative};
use crate::error::Result;
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::learn::{
    AnyBatch, Array, Diagnostics, LearnerModel, Parameters, Predictor, RowParameters, Stored,
};
use crate::numerics::random::Stream;
use crate::learn::schedule::Step;
use std::borrow::Cow;

/// A component with less than this share of an even one is as good as empty.
const ALMOST_EMPTY: f64 = 1e-3;

/// Families as files and messages know them.
pub trait NamedFamily: Family<Batch: Clone> {
    /// What one member of the family is called as a baseline.
    const BASELINE: &'static str;
    /// What the parameters of components are called when exported.
    const PARAMETERS: &'static str;
}

impl NamedFamily for Gaussian {
    const BASELINE: &'static str = "single-gaussian";
    const PARAMETERS: &'static str = "means_and_covariances";
}

impl NamedFamily for Poisson {
    const BASELINE: &'static str = "independent-poisson";
    const PARAMETERS: &'static str = "rates";
}

impl NamedFamily for Multinomial {
    const BASELINE: &'static str = "single-multinomial";
    const PARAMETERS: &'static str = "probabilities";
}

impl NamedFamily for Bernoulli {
    const BASELINE: &'static str = "independent-bernoulli";
    const PARAMETERS: &'static str = "probabilities";
}

impl<F: NamedFamily + 'static> LearnerModel for Mixture<F> {
    type Baseline = SingleComponent<F>;

    fn baseline(&self) -> SingleComponent<F> {
        SingleComponent::new(self.family().clone(), self.dimension())
    }

    fn batch<'a>(&self, batch: &'a AnyBatch<'_>) -> Result<Cow<'a, F::Batch>> {
        let rows = batch.rows()?;
        let [pass, first] = rows_place(rows);
        F::batch(rows.rows().flatten().copied().collect(), rows.dimension(), first, pass).map(Cow::Owned)
    }

    fn arrays<'a>(&self, state: &'a MixtureState) -> Vec<Array<'a>> {
        let (k, d) = (self.components(), self.dimension());
        let (statistics, parameters) = (self.family().statistics(d), self.family().parameters(d));
        vec![
            Array::floats("pivot", &[d], &state.pivot),
            Array::floats("mass", &[k], &state.statistics.mass),
            Array::floats("sums", &[k, statistics], &state.statistics.sums),
            Array::floats("weights", &[k], &state.parameters.weights),
            Array::floats("components", &[k, parameters], &state.parameters.components),
            Array::floats("average_weights", &[k], &state.sum.weights),
            Array::floats("average_components", &[k, parameters], &state.sum.components),
            Array::one("averaged_updates", state.remembered as f64),
            Array::one("updates", state.updates as f64),
        ]
    }

    fn restore(&self, stored: &dyn Stored, _clock: &Step) -> Result<MixtureState, String> {
        let arrays = |name: &str, shape: &[usize]| finite(stored, name, shape);
        let (k, d) = (self.components(), self.dimension());
        let (statistics, parameters) = (self.family().statistics(d), self.family().parameters(d));
        Ok(MixtureState {
            pivot: arrays("pivot", &[d])?,
            statistics: MixtureExpectation {
                mass: not_negative(stored, "mass", &[k])?,
                sums: arrays("sums", &[k, statistics])?,
            },
            parameters: MixtureParameters {
                weights: not_negative(stored, "weights", &[k])?,
                components: arrays("components", &[k, parameters])?,
            },
            sum: MixtureParameters {
                weights: not_negative(stored, "average_weights", &[k])?,
                components: arrays("average_components", &[k, parameters])?,
            },
            remembered: arrays("averaged_updates", &[1])?[0] as u64,
            updates: arrays("updates", &[1])?[0] as u64,
        })
    }

    fn parameters(
        &self,
        state: &MixtureState,
        baseline: &SingleComponent<F>,
        _clock: &Step,
    ) -> Result<Parameters> {
        let parameters = Mixture::parameters(self, state);
        let model = Box::new(self.frozen(&parameters));
        let MixtureParameters { weights, components } = parameters;
        let (k, width) = (self.components(), self.family().parameters(self.dimension()));
        let arrays = vec![
            Array::floats("weights", &[k], weights),
            Array::floats(F::PARAMETERS, &[k, width], components),
        ];
        let (baseline_name, baseline) = (F::BASELINE, baseline.predictor()?);
        Ok(Parameters::Rows(RowParameters { model, arrays, baseline_name, baseline }))
    }

    fn diagnostics(&self, state: &MixtureState, _clock: &Step) -> Diagnostics {
        let weights = Mixture::parameters(self, state).weights;
        let limit = ALMOST_EMPTY / weights.len() as f64;
        let empty = weights.iter().filter(|&&weight| weight < limit).count();
        let warnings = (empty > 0).then(|| {
            format!(
                "{empty} of {} components are almost empty: they keep what they had learnt; try fewer \
                 components, or another seed",
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

    fn latent(&self, x: &[f64], _: usize, _: Stream) -> (Vec<f64>, Option<Vec<f64>>) {
        let mut shares = Vec::new();
        self.responsibilities(x, &mut shares);
        (shares, None)
    }
}

/// Pass and place of the first row.
fn rows_place(rows: &Observations) -> [u64; 2] {
    if rows.is_empty() { [0, 0] } else { rows.key(0) }
}
