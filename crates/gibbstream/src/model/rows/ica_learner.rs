//! Independent components as a learner: what is written of them, and how they are asked.

use crate::model::rows::families::gaussian::Gaussian;
use crate::model::rows::ica::{Ica, IcaParameters, IcaState, IcaView, Sources};
use crate::model::rows::observations::Observations;
use crate::model::rows::baseline::{SingleComponent, finite, not_negative};
use crate::error::Result;
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::inference::Passes;
use crate::inference::scales::{Hidden, Workspace};
use crate::learn::{
    AnyBatch, Array, Diagnostics, LearnerModel, Parameters, Predictor, RowParameters, Stored,
};
use crate::numerics::random::Stream;
use crate::learn::schedule::Step;
use std::borrow::Cow;

impl LearnerModel for Ica {
    /// Without independent sources, what is left of the model is its covariance.
    type Baseline = SingleComponent<Gaussian>;

    fn baseline(&self) -> SingleComponent<Gaussian> {
        SingleComponent::new(Gaussian { floor: self.floor, ..Gaussian::default() }, self.dimension)
    }

    fn batch<'a>(&self, batch: &'a AnyBatch<'_>) -> Result<Cow<'a, Observations>> {
        batch.rows().map(Cow::Borrowed)
    }

    fn arrays<'a>(&self, state: &'a IcaState) -> Vec<Array<'a>> {
        let mut arrays = vec![
            Array::floats("pivot", &[self.dimension], &state.pivot),
            Array::floats("statistics", &[self.layout().len()], &state.statistics),
            Array::one("averaged_updates", state.remembered as f64),
            Array::one("spread", state.spread),
        ];
        arrays.extend(self.named(NAMES, &state.parameters));
        arrays.extend(self.named(AVERAGE_NAMES, &state.sum));
        arrays
    }

    fn restore(&self, stored: &dyn Stored, _clock: &Step) -> Result<IcaState, String> {
        let arrays = |name: &str, shape: &[usize]| finite(stored, name, shape);
        let (p, q) = (self.dimension, self.sources);
        let parameters = |[mean, mixing, noise, degrees]: [&str; 4]| {
            Ok::<_, String>(IcaParameters {
                mean: arrays(mean, &[p])?,
                mixing: arrays(mixing, &[p, q])?,
                noise: not_negative(stored, noise, &[p])?,
                degrees: not_negative(stored, degrees, &[q])?,
            })
        };
        Ok(IcaState {
            pivot: arrays("pivot", &[p])?,
            statistics: arrays("statistics", &[self.layout().len()])?,
            parameters: parameters(NAMES)?,
            sum: parameters(AVERAGE_NAMES)?,
            remembered: arrays("averaged_updates", &[1])?[0] as u64,
            spread: arrays("spread", &[1])?[0],
        })
    }

    fn parameters(
        &self,
        state: &IcaState,
        baseline: &SingleComponent<Gaussian>,
        _clock: &Step,
    ) -> Result<Parameters> {
        let (parameters, mut view) = (Ica::parameters(self, state), IcaView::default());
        self.fill(&state.pivot, &parameters, &mut view);
        let arrays = self.named(NAMES, &parameters).into_iter().map(Array::into_owned).collect();
        let (baseline_name, baseline) = ("single-gaussian", baseline.predictor()?);
        Ok(Parameters::Rows(RowParameters { model: Box::new(view), arrays, baseline_name, baseline }))
    }

    fn diagnostics(&self, state: &IcaState, _clock: &Step) -> Diagnostics {
        let sources = self.shapes(state);
        let gaussian = sources.iter().filter(|shape| shape.looks_gaussian).count();
        let mut warnings = Vec::new();
        if self.law == Sources::Gaussian && self.sources > 1 {
            warnings.push(
                "the model takes its sources for Gaussian: any rotation of them is as good as any other, and the \
                 mixing matrix is not identifiable; only its span and the noise are"
                    .into(),
            );
        } else if gaussian > 1 {
            warnings.push(format!(
                "{gaussian} of {} sources look Gaussian (excess kurtosis within four standard errors of 0): they are \
                 not identifiable, and any rotation of their columns of the mixing matrix is as good",
                sources.len()
            ));
        }
        Diagnostics { weights: Vec::new(), sources, warnings }
    }
}

const NAMES: [&str; 4] = ["mean", "mixing", "noise", "degrees"];
const AVERAGE_NAMES: [&str; 4] = ["average_mean", "average_mixing", "average_noise", "average_degrees"];

impl Ica {
    fn named<'a>(&self, names: [&'static str; 4], parameters: &'a IcaParameters) -> Vec<Array<'a>> {
        let (p, q) = (self.dimension, self.sources);
        vec![
            Array::floats(names[0], &[p], &parameters.mean),
            Array::floats(names[1], &[p, q], &parameters.mixing),
            Array::floats(names[2], &[p], &parameters.noise),
            Array::floats(names[3], &[q], &parameters.degrees),
        ]
    }
}

impl Predictor for IcaView {
    fn estimator(&self) -> &'static str {
        if self.law == Some(Sources::Gaussian) { "exact" } else { "ais" }
    }

    fn log_likelihood(&self, x: &[f64], effort: Annealed, random: Stream) -> Estimate {
        effort.log_likelihood(self, x, random)
    }

    fn latent(&self, x: &[f64], sweeps: usize, random: Stream) -> (Vec<f64>, Option<Vec<f64>>) {
        let (mut hidden, mut space) = (Hidden::default(), Workspace::default());
        hidden.begin(self, x, random);
        hidden.advance(self, &mut space, Passes { range: 0..sweeps, keep_from: sweeps / 2 });
        let (mean, spread) = hidden.summary();
        (mean, Some(spread))
    }
}
