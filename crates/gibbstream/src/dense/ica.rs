//! Independent components as a model that can be saved and asked.

use super::{Array, Arrays, Dense, Diagnostics, Predictor};
use crate::error::Result;
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::inference::Passes;
use crate::inference::scales::{Hidden, Workspace};
use crate::model::gaussian_mixture::Gaussian;
use crate::model::ica::{Ica, IcaParameters, IcaState, IcaView, Sources};
use crate::model::observations::Observations;
use crate::random::Stream;

impl Dense for Ica {
    /// Without independent sources, what is left of the model is its covariance.
    type Baseline = Gaussian;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn baseline(&self) -> (Gaussian, &'static str) {
        (Gaussian { floor: self.floor, ..Gaussian::default() }, "single-gaussian")
    }

    fn batch(&self, rows: Vec<f64>, first: u64, pass: u64) -> Result<Observations> {
        Observations::new(rows, self.dimension, first, pass)
    }

    fn arrays(&self, state: &IcaState) -> Vec<Array> {
        let mut arrays = vec![
            Array::new("pivot", &[self.dimension], &state.pivot),
            Array::new("statistics", &[self.layout().len()], &state.statistics),
            Array::one("averaged_updates", state.remembered as f64),
            Array::one("spread", state.spread),
        ];
        arrays.extend(self.named(NAMES, &state.parameters));
        arrays.extend(self.named(AVERAGE_NAMES, &state.sum));
        arrays
    }

    fn restore(&self, arrays: &Arrays<'_>) -> Result<IcaState, String> {
        let (p, q) = (self.dimension, self.sources);
        let parameters = |[mean, mixing, noise, degrees]: [&str; 4]| {
            Ok::<_, String>(IcaParameters {
                mean: arrays(mean, &[p])?,
                mixing: arrays(mixing, &[p, q])?,
                noise: arrays(noise, &[p])?,
                degrees: arrays(degrees, &[q])?,
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

    fn reported(&self, state: &IcaState) -> Vec<Array> {
        self.named(NAMES, &self.parameters(state))
    }

    fn predictor(&self, state: &IcaState) -> Box<dyn Predictor> {
        let mut view = IcaView::default();
        self.fill(&state.pivot, &self.parameters(state), &mut view);
        Box::new(view)
    }

    fn diagnostics(&self, state: &IcaState) -> Diagnostics {
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
    fn named(&self, names: [&'static str; 4], parameters: &IcaParameters) -> Vec<Array> {
        let (p, q) = (self.dimension, self.sources);
        vec![
            Array::new(names[0], &[p], &parameters.mean),
            Array::new(names[1], &[p, q], &parameters.mixing),
            Array::new(names[2], &[p], &parameters.noise),
            Array::new(names[3], &[q], &parameters.degrees),
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

    fn hidden(&self, x: &[f64], sweeps: usize, random: Stream) -> (Vec<f64>, Option<Vec<f64>>) {
        let (mut hidden, mut space) = (Hidden::default(), Workspace::default());
        hidden.begin(self, x, random);
        hidden.advance(self, &mut space, Passes { range: 0..sweeps, keep_from: sweeps / 2 });
        let (mean, spread) = hidden.summary();
        (mean, Some(spread))
    }
}
