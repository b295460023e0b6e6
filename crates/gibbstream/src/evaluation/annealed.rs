//! The likelihood of an observation under independent components: annealed importance sampling over the scales.
//!
//! `p(x) = E_tau[N(x; mean, A diag(tau) A^T + Psi)]` is an integral over the scales of all sources. A particle starts with
//! scales from their prior and follows the likelihood as it is switched on, `N(x; A s, Psi)^heat` with the heat from 0 to
//! 1, moving by Gibbs sweeps; the sources are summed out of every weight. The mean of the weights is unbiased for `p(x)`.

use super::Estimate;
use crate::inference::scales::{Workspace, add_noise, draw_scale, prior_scale};
use crate::numerics::math::log_sum_exp;
use crate::model::rows::ica::{IcaView, Sources};
use crate::numerics::random::Stream;
use nalgebra::DVector;

/// How much work is done for an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annealed {
    /// Independent particles.
    pub particles: usize,
    /// Heats that each goes through.
    pub heats: usize,
}

impl Default for Annealed {
    fn default() -> Self {
        Self { particles: 20, heats: 30 }
    }
}

/// One observation as the weights see it.
struct Evidence<'a> {
    view: &'a IcaView,
    law: Sources,
    /// `A^T Psi^-1 (x - mean)`.
    target: DVector<f64>,
    /// The part of the log-likelihood that does not depend on the sources.
    base: f64,
}

impl Annealed {
    /// The logarithm of `p(x)`, and the variance of that estimate. Exact if the sources are Gaussian.
    pub fn log_likelihood(&self, view: &IcaView, x: &[f64], mut random: Stream) -> Estimate {
        let Some(law) = view.law else {
            return Estimate { log_likelihood: f64::NEG_INFINITY, variance: 0.0 };
        };
        let evidence = Evidence::new(view, law, x);
        let mut space = Workspace::default();
        if law == Sources::Gaussian {
            let scales = vec![1.0; view.layout.sources];
            let (log_likelihood, factor) = evidence.log_evidence(1.0, &scales, &mut space);
            space.reuse(factor);
            return Estimate { log_likelihood, variance: 0.0 };
        }
        let weights: Vec<f64> =
            (0..self.particles).map(|_| self.particle(&evidence, &mut space, &mut random)).collect();
        let number = weights.len() as f64;
        let mean = log_sum_exp(&weights) - libm::log(number);
        let square = weights.iter().map(|weight| libm::exp(2.0 * (weight - mean))).sum::<f64>() / number;
        Estimate { log_likelihood: mean, variance: ((square - 1.0) / (number - 1.0).max(1.0)).max(0.0) }
    }

    /// The log-weight of one particle.
    fn particle(&self, evidence: &Evidence<'_>, space: &mut Workspace, random: &mut Stream) -> f64 {
        let (view, law) = (evidence.view, evidence.law);
        let mut scales: Vec<f64> =
            view.degrees.iter().map(|&degrees| prior_scale(law, degrees, random)).collect();
        let (mut weight, mut before) = (0.0, 0.0);
        let mut draw = DVector::zeros(scales.len());
        for step in 1..=self.heats {
            // Little at first: a small part of the likelihood already says most of what the scales can be.
            let share = step as f64 / self.heats as f64;
            let heat = share * share * share * share;
            let (after, factor) = evidence.log_evidence(heat, &scales, space);
            weight += after - before;
            if step < self.heats {
                add_noise(&factor, random, &mut draw);
                let mut mean = &evidence.target * heat;
                factor.solve_mut(&mut mean);
                draw += mean;
                space.reuse(factor);
                for ((scale, &source), &degrees) in scales.iter_mut().zip(&draw).zip(&view.degrees) {
                    *scale = draw_scale(law, degrees, source, random);
                }
                let (moved, factor) = evidence.log_evidence(heat, &scales, space);
                before = moved;
                space.reuse(factor);
            } else {
                space.reuse(factor);
            }
        }
        weight
    }
}

impl<'a> Evidence<'a> {
    fn new(view: &'a IcaView, law: Sources, x: &[f64]) -> Self {
        let mut target = DVector::zeros(view.layout.sources);
        view.project(x, &mut target);
        let base = x.iter().zip(&view.mean).zip(&view.precision).map(|((x, mean), precision)| {
            libm::log(std::f64::consts::TAU / precision) + (x - mean) * (x - mean) * precision
        });
        Self { view, law, target, base: -0.5 * base.sum::<f64>() }
    }

    /// `log` of the integral of `N(s; 0, diag(scales)) N(x; mean + A s, Psi)^heat` over the sources.
    fn log_evidence(
        &self,
        heat: f64,
        scales: &[f64],
        space: &mut Workspace,
    ) -> (f64, nalgebra::Cholesky<f64, nalgebra::Dyn>) {
        let factor = space.factor(self.view, heat, scales);
        let mut half = &self.target * heat;
        factor.l_dirty().solve_lower_triangular_unchecked_mut(&mut half);
        let logs: f64 = (factor.l_dirty().diagonal().iter().zip(scales))
            .map(|(pivot, scale)| libm::log(pivot * pivot * scale))
            .sum();
        (heat * self.base + 0.5 * (half.norm_squared() - logs), factor)
    }
}
