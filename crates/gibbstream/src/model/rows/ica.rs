//! Independent components with heavy tails, mixed and observed with noise: `x = mean + A s + e`.
//!
//! A source is Gaussian given its scale, `s_j | tau_j ~ N(0, tau_j)`, and the law of `tau_j` makes it Laplace or Student.
//! Given scales everything is linear and Gaussian; given sources the scales are independent. So local Gibbs sampling
//! alternates the two (`inference/scales.rs`), and the M-step is a regression (science.md 9.2).

use crate::model::rows::observations::Observations;
use crate::model::rows::symmetric::factor;
use crate::model::{Batch, LatentModel, Statistics, Sums, blended};
use crate::error::{Error, Result};
use crate::numerics::math::{digamma, dot};
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::Step;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The law of a source. Its scale is fixed, because the length of its column of `A` says the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sources {
    /// Density proportional to `exp(-sqrt(2) |s|)`: variance 1.
    Laplace,
    /// Student's t with so many degrees of freedom and scale 1; learnt for every source if not given.
    Student(Option<f64>),
    /// Standard normal: probabilistic principal components. Any rotation of the sources is as good as any other.
    Gaussian,
}

/// The form of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// The same variance in every column.
    Isotropic,
    /// A variance for each column.
    Diagonal,
}

/// What is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ica {
    /// Number of values of an observation, p.
    pub dimension: usize,
    /// Number of sources, q.
    pub sources: usize,
    /// Their law.
    pub law: Sources,
    /// The noise.
    pub noise: Noise,
    /// Learn a linear map of the sources too, their scales on its diagonal, and hand it over to `A` at once: the same
    /// model and the same maximum, but not the slow pace of EM where there is little noise (parameter expansion).
    pub learn_scale: bool,
    /// No variance of the noise is smaller.
    pub floor: f64,
}

/// `eta`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IcaParameters {
    /// The mean of each column.
    pub mean: Vec<f64>,
    /// `A`, row by row: a row for every column of the data, a value in it for every source.
    pub mixing: Vec<f64>,
    /// The variance of the noise in each column.
    pub noise: Vec<f64>,
    /// Degrees of freedom of each source; 0 unless they are Student's.
    pub degrees: Vec<f64>,
}

impl IcaParameters {
    fn parts(&mut self) -> [&mut Vec<f64>; 4] {
        [&mut self.mean, &mut self.mixing, &mut self.noise, &mut self.degrees]
    }
}

/// Running statistics and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct IcaState {
    /// Mean of the first minibatch, which is subtracted before statistics are taken.
    pub pivot: Vec<f64>,
    /// The running mean `s`, as [`Layout`] places it.
    pub statistics: Vec<f64>,
    /// `eta*(s)`.
    pub parameters: IcaParameters,
    /// Sum of the remembered parameters.
    pub sum: IcaParameters,
    /// How many were remembered.
    pub remembered: u64,
    /// Sum of the squared weights of all observations in `s`: one over it is how many observations `s` is worth.
    pub spread: f64,
}

/// Where each statistic stands in a list of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of values of an observation.
    pub dimension: usize,
    /// Number of sources.
    pub sources: usize,
}

impl Layout {
    /// `E[x]`, around the pivot as all that follows.
    pub fn x(self) -> Range<usize> {
        0..self.dimension
    }

    /// `E[x_i^2]`.
    pub fn xx(self) -> Range<usize> {
        self.dimension..2 * self.dimension
    }

    /// The statistic of sources number `n`.
    fn of_sources(self, n: usize) -> Range<usize> {
        let start = 2 * self.dimension + n * self.sources;
        start..start + self.sources
    }

    /// `E[s]`.
    pub fn s(self) -> Range<usize> {
        self.of_sources(0)
    }

    /// `E[tau]` of Laplace sources, `E[1 / tau]` of Student's.
    pub fn scale(self) -> Range<usize> {
        self.of_sources(1)
    }

    /// `E[log tau]` of Student's.
    pub fn log_scale(self) -> Range<usize> {
        self.of_sources(2)
    }

    /// The second power of the linear estimate of each source, for diagnostics only.
    pub fn second(self) -> Range<usize> {
        self.of_sources(3)
    }

    /// The fourth power of it.
    pub fn fourth(self) -> Range<usize> {
        self.of_sources(4)
    }

    /// `E[s s^T]`, whole.
    pub fn ss(self) -> Range<usize> {
        let start = self.of_sources(5).start;
        start..start + self.sources * self.sources
    }

    /// `E[score(s) s^T]`, where the score is minus the derivative of the log-density: the identity at a maximum. It is
    /// looked at minibatch by minibatch.
    pub fn score(self) -> Range<usize> {
        let start = self.ss().end;
        start..start + self.sources * self.sources
    }

    /// `E[x s^T]`, row by row.
    pub fn xs(self) -> Range<usize> {
        let start = self.score().end;
        start..start + self.dimension * self.sources
    }

    /// Number of all of them.
    pub fn len(self) -> usize {
        self.xs().end
    }

    /// True if there is nothing.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// Parameters as local inference reads them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct IcaView {
    pub(crate) layout: Layout,
    pub(crate) law: Option<Sources>,
    pub(crate) pivot: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) degrees: Vec<f64>,
    /// One over the variances of the noise.
    pub(crate) precision: Vec<f64>,
    /// `A^T Psi^-1`, row by row.
    pub(crate) projection: Vec<f64>,
    /// `A^T Psi^-1 A`.
    #[serde(with = "square")]
    pub(crate) gram: DMatrix<f64>,
}

/// A square matrix as the list of its columns.
mod square {
    use nalgebra::DMatrix;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(matrix: &DMatrix<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        matrix.as_slice().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DMatrix<f64>, D::Error> {
        let values = Vec::<f64>::deserialize(deserializer)?;
        let order = values.len().isqrt();
        if order * order != values.len() {
            return Err(D::Error::custom("a matrix that is not square"));
        }
        Ok(DMatrix::from_vec(order, order, values))
    }
}

impl IcaView {
    /// Whether a view that was read from bytes has the right sizes, and numbers that can be drawn with.
    fn fits(&self, model: &Ica) -> bool {
        let (p, q) = (model.dimension, model.sources);
        let lists = [
            (&self.pivot, p),
            (&self.mean, p),
            (&self.precision, p),
            (&self.degrees, q),
            (&self.projection, p * q),
        ];
        let whole = |(values, len): &(&Vec<f64>, usize)| {
            values.len() == *len && values.iter().all(|value| value.is_finite())
        };
        let student = |degrees: &f64| (0.5 * Ica::DEGREES.start..=2.0 * Ica::DEGREES.end).contains(degrees);
        self.layout == model.layout()
            && self.law == Some(model.law)
            && lists.iter().all(whole)
            && self.gram.nrows() == q
            && self.gram.iter().all(|value| value.is_finite())
            && (!matches!(model.law, Sources::Student(_)) || self.degrees.iter().all(student))
    }

    /// `A^T Psi^-1 (x - mean)`.
    pub(crate) fn project(&self, x: &[f64], out: &mut DVector<f64>) {
        let p = x.len();
        let centred: Vec<f64> = x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        for (j, value) in out.iter_mut().enumerate() {
            *value = dot(&self.projection[j * p..][..p], &centred);
        }
    }
}

/// What the data say about the law of a source, whatever the model assumes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SourceShape {
    /// Excess kurtosis of the linear estimate of the source: 0 if it is Gaussian.
    pub excess_kurtosis: f64,
    /// Its standard error if it is.
    pub standard_error: f64,
    /// Whether it cannot be told from a Gaussian: less than four standard errors.
    pub looks_gaussian: bool,
}

impl Ica {
    /// Degrees of freedom of learnt Student sources at the start.
    const FIRST_DEGREES: f64 = 4.0;
    /// The range in which degrees of freedom are sought.
    const DEGREES: Range<f64> = 0.2..1000.0;
    /// Added to the second moments of the sources, relative to their mean, so that the regression has a solution.
    const RIDGE: f64 = 1e-8;
    /// Length of the gradient step for the map of the sources; curvatures are between 1 and 3 for Laplace sources.
    const PACE: f64 = 0.6;
    /// The longest step, as a sum over a row.
    const LONGEST: f64 = 0.3;

    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<()> {
        for (setting, value) in [("components", self.sources), ("dimension", self.dimension)] {
            if value == 0 {
                return Err(Error::setting(setting, "0 leaves nothing to learn", "use at least 1"));
            }
        }
        if !(self.floor > 0.0 && self.floor.is_finite()) {
            return Err(Error::setting(
                "floor",
                format!("{} cannot be the smallest variance", self.floor),
                "use a positive number well below the noise in the data, such as 1e-6",
            ));
        }
        match self.law {
            Sources::Student(Some(degrees)) if !Self::DEGREES.contains(&degrees) => Err(Error::setting(
                "sources",
                format!("{degrees} is not a number of degrees of freedom"),
                "use a number from 0.2 to 1000, such as 5",
            )),
            _ => Ok(()),
        }
    }

    /// Where its statistics stand.
    pub fn layout(&self) -> Layout {
        Layout { dimension: self.dimension, sources: self.sources }
    }

    /// The parameters that a state stands for: the mean of the remembered ones if there is one, else the last.
    pub fn parameters(&self, state: &IcaState) -> IcaParameters {
        if state.remembered == 0 {
            return state.parameters.clone();
        }
        let mut mean = state.sum.clone();
        mean.parts().into_iter().flatten().for_each(|value| *value /= state.remembered as f64);
        mean
    }

    /// The M-step `eta*(s)`.
    pub fn maximise(&self, pivot: &[f64], s: &[f64], out: &mut IcaParameters) {
        let (layout, p, q) = (self.layout(), self.dimension, self.sources);
        // Sources and a constant, on which the columns of the data are regressed.
        let (means, ss, xs) = (&s[layout.s()], &s[layout.ss()], &s[layout.xs()]);
        let mut moments = DMatrix::identity(q + 1, q + 1);
        for i in 0..q {
            for j in 0..q {
                moments[(i, j)] = ss[i * q + j];
            }
            moments[(i, q)] = means[i];
            moments[(q, i)] = means[i];
        }
        let ridge = Self::RIDGE * (0..q).map(|j| ss[j * q + j]).sum::<f64>() / q as f64;
        let mut ridged = moments.clone();
        (0..q).for_each(|j| ridged[(j, j)] += ridge);
        let products =
            DMatrix::from_fn(q + 1, p, |j, i| if j < q { xs[i * q + j] } else { s[layout.x()][i] });
        let found = factor(ridged, f64::MIN_POSITIVE).solve(&products);
        out.mean.clear();
        out.mean.extend((0..p).map(|i| pivot[i] + found[(q, i)]));
        out.mixing.clear();
        out.mixing.extend((0..p * q).map(|ij| found[(ij % q, ij / q)]));
        let explained = &moments * &found;
        out.noise.clear();
        out.noise.extend(s[layout.xx()].iter().enumerate().map(|(i, square)| {
            let (a, b, c) = (found.column(i), products.column(i), explained.column(i));
            square - 2.0 * a.dot(&b) + a.dot(&c)
        }));
        if self.noise == Noise::Isotropic {
            let mean = out.noise.iter().sum::<f64>() / p as f64;
            out.noise.fill(mean);
        }
        out.noise.iter_mut().for_each(|variance| *variance = variance.max(self.floor));
        self.maximise_degrees(s, &mut out.degrees);
    }

    /// Learns a map of the sources from what is `fresh` and hands it over: `s` changes its units with them.
    fn expand(&self, s: &mut [f64], fresh: &[f64], rho: f64) {
        if self.learn_scale {
            self.unmix(s, &fresh[self.layout().score()], rho);
            self.rescale(s);
        }
    }

    /// Measures every source in its own scale, which then is 1.
    fn rescale(&self, s: &mut [f64]) {
        let (layout, q) = (self.layout(), self.sources);
        // The variance that maximises the likelihood of the scales.
        let variances: Vec<f64> = match self.law {
            Sources::Laplace => s[layout.scale()].to_vec(),
            Sources::Student(_) => s[layout.scale()].iter().map(|inverse| 1.0 / inverse).collect(),
            Sources::Gaussian => (0..q).map(|j| s[layout.ss()][j * q + j]).collect(),
        };
        let lengths: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        for j in 0..q {
            s[layout.s()][j] /= lengths[j];
            s[layout.scale()][j] = 1.0;
            s[layout.log_scale()][j] -= libm::log(variances[j]);
            s[layout.second()][j] /= variances[j];
            s[layout.fourth()][j] /= variances[j] * variances[j];
        }
        for (ij, value) in s[layout.ss()].iter_mut().enumerate() {
            *value /= lengths[ij / q] * lengths[ij % q];
        }
        for (ij, value) in s[layout.xs()].iter_mut().enumerate() {
            *value /= lengths[ij % q];
        }
    }

    /// `d log p(x) / dM` for sources `M s` is `E[score(s) s^T] - I` at `M = I`. A step along it, off the diagonal, multiplies
    /// `A` by `M` from the right and sources by its inverse; unlike a step of EM it does not get shorter when there is
    /// less noise. It is that of the minibatch, as in any stochastic gradient: the running mean lags behind what was
    /// changed, and steps along it would oscillate.
    fn unmix(&self, s: &mut [f64], score: &[f64], rho: f64) {
        let (layout, q) = (self.layout(), self.sources);
        let mut map =
            DMatrix::from_fn(q, q, |i, j| if i == j { 0.0 } else { Self::PACE * rho * score[i * q + j] });
        // So short that the map is far from singular.
        let length = map.row_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        map *= (Self::LONGEST / length.max(f64::MIN_POSITIVE)).min(1.0);
        map += DMatrix::identity(q, q);
        let Some(inverse) = map.try_inverse() else { return };
        let ss = &inverse * DMatrix::from_row_slice(q, q, &s[layout.ss()]) * inverse.transpose();
        let xs = DMatrix::from_row_slice(self.dimension, q, &s[layout.xs()]) * inverse.transpose();
        let means = &inverse * DVector::from_column_slice(&s[layout.s()]);
        s[layout.s()].copy_from_slice(means.as_slice());
        // Read column by column, what is transposed comes out row by row.
        s[layout.ss()].copy_from_slice(ss.transpose().as_slice());
        s[layout.xs()].copy_from_slice(xs.transpose().as_slice());
    }

    /// `log(nu / 2) - digamma(nu / 2) = E[log tau] + E[1 / tau] - 1`, of which the left side falls with nu.
    fn maximise_degrees(&self, s: &[f64], out: &mut Vec<f64>) {
        let layout = self.layout();
        let Sources::Student(degrees) = self.law else {
            out.clear();
            out.resize(self.sources, 0.0);
            return;
        };
        out.clear();
        out.extend(s[layout.scale()].iter().zip(&s[layout.log_scale()]).map(|(inverse, log)| {
            degrees.unwrap_or_else(|| {
                let (mut low, mut high) = (libm::log(Self::DEGREES.start), libm::log(Self::DEGREES.end));
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    let half = 0.5 * libm::exp(middle);
                    if libm::log(half) - digamma(half) > log + inverse - 1.0 {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                libm::exp(0.5 * (low + high))
            })
        }));
    }

    /// Parameters as local inference and evaluation read them.
    pub fn fill(&self, pivot: &[f64], parameters: &IcaParameters, out: &mut IcaView) {
        let (p, q) = (self.dimension, self.sources);
        out.layout = self.layout();
        out.law = Some(self.law);
        out.pivot.clear();
        out.pivot.extend_from_slice(pivot);
        out.mean.clone_from(&parameters.mean);
        out.degrees.clone_from(&parameters.degrees);
        out.precision.clear();
        out.precision.extend(parameters.noise.iter().map(|variance| 1.0 / variance));
        out.projection.clear();
        out.projection.resize(p * q, 0.0);
        for (i, row) in parameters.mixing.chunks_exact(q).enumerate() {
            row.iter().enumerate().for_each(|(j, a)| out.projection[j * p + i] = a * out.precision[i]);
        }
        let mixing = DMatrix::from_row_slice(p, q, &parameters.mixing);
        out.gram = DMatrix::from_row_slice(q, p, &out.projection) * mixing;
    }

    /// Whether each source looks Gaussian in the data. If two or more do, no likelihood can tell them apart: any rotation
    /// of them is as good as any other, and their columns of `A` mean nothing by themselves.
    pub fn shapes(&self, state: &IcaState) -> Vec<SourceShape> {
        let (layout, s) = (self.layout(), &state.statistics);
        let standard_error = (24.0 * state.spread).sqrt();
        (s[layout.second()].iter().zip(&s[layout.fourth()]))
            .map(|(second, fourth)| {
                let excess_kurtosis = fourth / (second * second).max(f64::MIN_POSITIVE) - 3.0;
                let looks_gaussian = excess_kurtosis.abs() < 4.0 * standard_error;
                SourceShape { excess_kurtosis, standard_error, looks_gaussian }
            })
            .collect()
    }

    /// The statistics that have `parameters` as their M-step: what is expected of an observation.
    fn expected(&self, parameters: &IcaParameters) -> Vec<f64> {
        let (layout, q) = (self.layout(), self.sources);
        let mut s = vec![0.0; layout.len()];
        for (i, row) in parameters.mixing.chunks_exact(q).enumerate() {
            s[layout.xx()][i] = dot(row, row) + parameters.noise[i];
        }
        s[layout.xs()].copy_from_slice(&parameters.mixing);
        for j in 0..q {
            s[layout.ss()][j * q + j] = 1.0;
            s[layout.score()][j * q + j] = 1.0;
            s[layout.scale()][j] = 1.0;
            s[layout.second()][j] = 1.0;
            s[layout.fourth()][j] = 3.0;
            if let Sources::Student(_) = self.law {
                let half = 0.5 * parameters.degrees[j];
                s[layout.log_scale()][j] = libm::log(half) - digamma(half);
            }
        }
        s
    }
}

impl LatentModel for Ica {
    type Batch = Observations;
    type Statistics = Sums;
    type State = IcaState;
    type View = IcaView;

    fn check(&self, batch: &Observations) -> Result<()> {
        batch.check_dimension(self.dimension)
    }

    /// The principal directions of the first minibatch, turned at random: sources begin uncorrelated, and all that is
    /// left to find is a rotation. What the directions leave over is noise, or a small part of the variance if they
    /// leave nothing.
    fn initial(&self, first: &Observations, seed: Seed) -> IcaState {
        let (p, q) = (self.dimension, self.sources);
        let mut random = seed.stream(Purpose::Initial, [0, 0]);
        let pivot = first.mean();
        let centred = DMatrix::from_fn(first.len(), p, |row, i| first.row(row)[i] - pivot[i]);
        let eigen = (centred.transpose() * &centred / first.len().max(1) as f64).symmetric_eigen();
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let total: f64 = eigen.eigenvalues.iter().sum();
        let share = total / p as f64;
        let rest: f64 = order.iter().skip(q).map(|&k| eigen.eigenvalues[k]).sum();
        let noise = if p > q {
            rest / (p - q) as f64
        } else {
            (0.5 * eigen.eigenvalues[order[p - 1]]).clamp(0.01 * share, 0.1 * share)
        };
        let noise = noise.max(self.floor);
        // Rows of an orthogonal matrix.
        let turn = DMatrix::from_fn(q, q, |_, _| random.normal()).qr().q();
        let mut mixing = vec![0.0; p * q];
        for (row, &k) in order.iter().take(q).enumerate() {
            let length = (eigen.eigenvalues[k] - noise).max(0.1 * noise).sqrt();
            for i in 0..p {
                let along = length * eigen.eigenvectors[(i, k)];
                (0..q).for_each(|j| mixing[i * q + j] += along * turn[(row, j)]);
            }
        }
        let degrees = match self.law {
            Sources::Student(degrees) => degrees.unwrap_or(Self::FIRST_DEGREES),
            _ => 0.0,
        };
        let parameters =
            IcaParameters { mean: pivot.clone(), mixing, noise: vec![noise; p], degrees: vec![degrees; q] };
        let mut sum = parameters.clone();
        sum.parts().into_iter().flatten().for_each(|value| *value = 0.0);
        IcaState {
            pivot,
            statistics: self.expected(&parameters),
            parameters,
            sum,
            remembered: 0,
            spread: 1.0,
        }
    }

    fn view(&self, state: &IcaState, at: &Step, pending: Option<&Sums>, _: &Observations, out: &mut IcaView) {
        let Some(fresh) = pending else { return self.fill(&state.pivot, &state.parameters, out) };
        let fresh = fresh.mean();
        let mut statistics = blended(&state.statistics, at.rho, &fresh);
        let mut parameters = state.parameters.clone();
        self.expand(&mut statistics, &fresh, at.rho);
        self.maximise(&state.pivot, &statistics, &mut parameters);
        self.fill(&state.pivot, &parameters, out);
    }

    fn align<'a>(&self, view: &IcaView, block: &'a Observations) -> Result<Cow<'a, Observations>> {
        block.check_dimension(self.dimension)?;
        if view.fits(self) {
            return Ok(Cow::Borrowed(block));
        }
        Err(Error::setting("view", "it belongs to another model", "use a view of this model"))
    }

    fn check_statistics(&self, _: &IcaState, statistics: &Sums) -> Result<()> {
        statistics.check_len(self.layout().len())
    }

    fn absorb(&self, state: &mut IcaState, step: &Step, fresh: &Sums) {
        let observations = fresh.weight().max(1) as f64;
        let fresh = fresh.mean();
        state.statistics = blended(&state.statistics, step.rho, &fresh);
        let keep = 1.0 - step.rho;
        state.spread = keep * keep * state.spread + step.rho * step.rho / observations;
        self.expand(&mut state.statistics, &fresh, step.rho);
        self.maximise(&state.pivot, &state.statistics, &mut state.parameters);
    }

    fn remember(&self, state: &mut IcaState, _: &Step) {
        for (sum, values) in state.sum.parts().into_iter().zip(state.parameters.parts()) {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += *value);
        }
        state.remembered += 1;
    }
}
