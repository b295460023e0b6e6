//! Local Gibbs sampling of sources that are Gaussian given their scales: sources given scales, scales given sources.

use super::gibbs::Window;
use super::{LocalInference, Passes};
use crate::numerics::math::digamma;
use crate::model::rows::ica::{Ica, IcaView, Sources};
use crate::model::rows::observations::Observations;
use crate::model::Sums;
use crate::numerics::random::Stream;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use std::f64::consts::SQRT_2;

/// Rate of Laplace sources of variance 1.
const RATE: f64 = SQRT_2;

/// No scale is smaller, so that its inverse is a number.
const SMALLEST_SCALE: f64 = 1e-30;

/// Sweeps over the sources and scales of an observation, some of which are kept. What is kept of a sweep is the mean and
/// covariance of the sources given the scales, and the mean of the scales given the sources: no draw is used where its mean
/// is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleGibbs {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Which of them are kept.
    pub window: Window,
}

/// What is known about one observation.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    scales: Vec<f64>,
    /// `A^T Psi^-1 (x - mean)`.
    target: DVector<f64>,
    random: Stream,
    /// The mean of the sources given unit scales, which is linear in the observation.
    linear: Vec<f64>,
    sums: SweepSums,
}

/// Sums over kept sweeps.
#[derive(Clone, Debug, Default)]
struct SweepSums {
    sweeps: usize,
    s: Vec<f64>,
    ss: Vec<f64>,
    scale: Vec<f64>,
    log_scale: Vec<f64>,
    score: Vec<f64>,
}

/// Working space.
#[derive(Debug)]
pub struct Workspace {
    matrix: DMatrix<f64>,
    inverse: DMatrix<f64>,
    mean: DVector<f64>,
    draw: DVector<f64>,
}

impl Default for Workspace {
    fn default() -> Self {
        let none = DMatrix::zeros(0, 0);
        Self { matrix: none.clone(), inverse: none, mean: DVector::zeros(0), draw: DVector::zeros(0) }
    }
}

impl Workspace {
    /// The factor of `heat A^T Psi^-1 A + diag(1 / tau)`: the precision of the sources given their scales.
    pub(crate) fn factor(&mut self, view: &IcaView, heat: f64, scales: &[f64]) -> Cholesky<f64, Dyn> {
        let mut matrix = std::mem::replace(&mut self.matrix, DMatrix::zeros(0, 0));
        matrix.clone_from(&view.gram);
        if heat != 1.0 {
            matrix *= heat;
        }
        scales.iter().enumerate().for_each(|(j, scale)| matrix[(j, j)] += 1.0 / scale);
        // Positive definite by its form; nothing has to be looked at.
        Cholesky::new_unchecked(matrix)
    }

    /// Gives the space of a factor back.
    pub(crate) fn reuse(&mut self, factor: Cholesky<f64, Dyn>) {
        self.matrix = factor.unpack_dirty();
    }
}

/// Adds a draw of `N(0, C)` to `mean`, where `factor` is that of the inverse of `C`.
pub(crate) fn add_noise(factor: &Cholesky<f64, Dyn>, random: &mut Stream, draw: &mut DVector<f64>) {
    draw.iter_mut().for_each(|value| *value = random.normal());
    factor.l_dirty().tr_solve_lower_triangular_unchecked_mut(draw);
}

/// A scale drawn from its law given its source, or given nothing.
pub(crate) fn draw_scale(law: Sources, degrees: f64, source: f64, random: &mut Stream) -> f64 {
    let scale = match law {
        Sources::Gaussian => 1.0,
        Sources::Laplace => laplace_scale(source.abs(), random),
        Sources::Student(_) => 0.5 * (degrees + source * source) / random.gamma(0.5 * (degrees + 1.0)),
    };
    scale.max(SMALLEST_SCALE)
}

/// A scale drawn from its prior.
pub(crate) fn prior_scale(law: Sources, degrees: f64, random: &mut Stream) -> f64 {
    let scale = match law {
        Sources::Gaussian => 1.0,
        Sources::Laplace => -2.0 / (RATE * RATE) * libm::log(random.uniform_positive()),
        Sources::Student(_) => 0.5 * degrees / random.gamma(0.5 * degrees),
    };
    scale.max(SMALLEST_SCALE)
}

/// One over an inverse Gaussian draw of mean `rate / |s|` and shape `rate^2` (Michael, Schucany and Haas). The smaller root,
/// relative to the mean, is `1 / (1 + a + sqrt(a (2 + a)))`, which does not cancel.
fn laplace_scale(size: f64, random: &mut Stream) -> f64 {
    let normal = random.normal();
    if size < 1e-12 {
        return normal * normal / (RATE * RATE);
    }
    let a = normal * normal / (2.0 * RATE * size);
    let root = 1.0 / (1.0 + a + (a * (2.0 + a)).sqrt());
    let smaller = random.uniform() <= 1.0 / (1.0 + root);
    (size / RATE) * if smaller { 1.0 / root } else { root }
}

impl Hidden {
    fn sweep(&mut self, view: &IcaView, law: Sources, space: &mut Workspace, first: bool, keep: bool) {
        let factor = space.factor(view, 1.0, &self.scales);
        space.mean.clone_from(&self.target);
        factor.solve_mut(&mut space.mean);
        if first {
            self.linear.clear();
            self.linear.extend(space.mean.iter());
        }
        if keep {
            self.sums.keep_sources(&factor, space);
        }
        if law != Sources::Gaussian {
            space.draw.clone_from(&space.mean);
            add_noise(&factor, &mut self.random, &mut space.draw);
            space.draw += &space.mean;
            if keep {
                self.sums.keep_scales(law, &view.degrees, space.draw.as_slice());
            }
            for ((scale, &source), &degrees) in self.scales.iter_mut().zip(&space.draw).zip(&view.degrees) {
                *scale = draw_scale(law, degrees, source, &mut self.random);
            }
        }
        space.reuse(factor);
    }

    /// Mean and standard deviation of each source over the kept sweeps.
    pub(crate) fn summary(&self) -> (Vec<f64>, Vec<f64>) {
        let (kept, q) = (&self.sums, self.sums.s.len());
        let share = 1.0 / kept.sweeps as f64;
        let mean: Vec<f64> = kept.s.iter().map(|sum| sum * share).collect();
        let deviation = |(j, mean): (usize, &f64)| (kept.ss[j * q + j] * share - mean * mean).max(0.0).sqrt();
        let spread = mean.iter().enumerate().map(deviation).collect();
        (mean, spread)
    }
}

impl SweepSums {
    fn clear(&mut self, q: usize) {
        self.sweeps = 0;
        for (sums, length) in [
            (&mut self.s, q),
            (&mut self.ss, q * q),
            (&mut self.scale, q),
            (&mut self.log_scale, q),
            (&mut self.score, q * q),
        ] {
            sums.clear();
            sums.resize(length, 0.0);
        }
    }

    /// `m` and `C + m m^T`.
    fn keep_sources(&mut self, factor: &Cholesky<f64, Dyn>, space: &mut Workspace) {
        let q = space.mean.len();
        self.sweeps += 1;
        space.inverse.resize_mut(q, q, 0.0);
        space.inverse.fill_with_identity();
        factor.solve_mut(&mut space.inverse);
        for j in 0..q {
            self.s[j] += space.mean[j];
            let column = space.inverse.column(j);
            let row = &mut self.ss[j * q..][..q];
            for ((sum, covariance), mean) in row.iter_mut().zip(&column).zip(&space.mean) {
                *sum += covariance + space.mean[j] * mean;
            }
        }
    }

    /// Means of functions of the scales given the sources.
    fn keep_scales(&mut self, law: Sources, degrees: &[f64], sources: &[f64]) {
        for (j, &source) in sources.iter().enumerate() {
            let score = match law {
                Sources::Laplace => RATE * source.signum(),
                _ => (degrees[j] + 1.0) * source / (degrees[j] + source * source),
            };
            let row = &mut self.score[j * sources.len()..][..sources.len()];
            row.iter_mut().zip(sources).for_each(|(sum, other)| *sum += score * other);
            if law == Sources::Laplace {
                self.scale[j] += source.abs() / RATE + 1.0 / (RATE * RATE);
            } else {
                let (shape, rate) = (0.5 * (degrees[j] + 1.0), 0.5 * (degrees[j] + source * source));
                self.scale[j] += shape / rate;
                self.log_scale[j] += libm::log(rate) - digamma(shape);
            }
        }
    }
}

impl LocalInference<Ica> for ScaleGibbs {
    type Latent = Hidden;
    type Scratch = Workspace;

    fn passes(&self) -> usize {
        self.sweeps
    }

    fn first_kept(&self) -> usize {
        self.sweeps - self.window.kept(self.sweeps)
    }

    /// All scales are 1.
    fn begin(&self, view: &IcaView, batch: &Observations, index: usize, hidden: &mut Hidden, random: Stream) {
        hidden.begin(view, batch.row(index), random);
    }

    fn advance(
        &self,
        view: &IcaView,
        _: &Observations,
        _: usize,
        hidden: &mut Hidden,
        space: &mut Workspace,
        passes: Passes,
    ) {
        hidden.advance(view, space, passes);
    }

    fn collect(&self, view: &IcaView, batch: &Observations, hidden: &mut [Hidden], out: &mut Sums) {
        let hidden = &*hidden;
        out.collect(view.layout.len(), hidden.len(), |index, values| {
            hidden[index].write(view, batch.row(index), values);
        });
    }
}

impl Hidden {
    /// Writes the statistics of this observation.
    fn write(&self, view: &IcaView, x: &[f64], out: &mut [f64]) {
        let (layout, kept) = (view.layout, &self.sums);
        let share = 1.0 / kept.sweeps as f64;
        let mut write = |at: std::ops::Range<usize>, values: &[f64], weight: f64| {
            out[at].iter_mut().zip(values).for_each(|(out, value)| *out = weight * value);
        };
        let centred: Vec<f64> = x.iter().zip(&view.pivot).map(|(x, pivot)| x - pivot).collect();
        let squares: Vec<f64> = centred.iter().map(|x| x * x).collect();
        let second: Vec<f64> = self.linear.iter().map(|s| s * s).collect();
        let fourth: Vec<f64> = second.iter().map(|square| square * square).collect();
        write(layout.x(), &centred, 1.0);
        write(layout.xx(), &squares, 1.0);
        write(layout.second(), &second, 1.0);
        write(layout.fourth(), &fourth, 1.0);
        write(layout.s(), &kept.s, share);
        write(layout.ss(), &kept.ss, share);
        write(layout.score(), &kept.score, share);
        write(layout.scale(), &kept.scale, share);
        write(layout.log_scale(), &kept.log_scale, share);
        for (row, x) in out[layout.xs()].chunks_exact_mut(layout.sources).zip(&centred) {
            row.iter_mut().zip(&kept.s).for_each(|(out, s)| *out = x * share * s);
        }
    }

    /// All scales are 1.
    pub(crate) fn begin(&mut self, view: &IcaView, x: &[f64], random: Stream) {
        let q = view.layout.sources;
        self.scales.clear();
        self.scales.resize(q, 1.0);
        self.target.resize_vertically_mut(q, 0.0);
        view.project(x, &mut self.target);
        self.random = random;
    }

    /// Runs some sweeps. Without scales to draw, one is as good as all.
    pub(crate) fn advance(&mut self, view: &IcaView, space: &mut Workspace, passes: Passes) {
        let Some(law) = view.law else { return };
        self.sums.clear(view.layout.sources);
        let last = passes.range.end - 1;
        for pass in passes.range {
            let only_last = law == Sources::Gaussian;
            if !only_last || pass == last {
                let first = pass == 0 || only_last;
                self.sweep(view, law, space, first, pass >= passes.keep_from);
            }
        }
    }
}
