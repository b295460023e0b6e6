//! Local Gibbs sampling, M-step and limits of independent components against closed forms and quadrature.

use crate::{density, ica, integral, laplace, mixed, state, stream};
use gibbstream::conformance::{laws, stationary, statistics, unbiased};
use gibbstream::inference::gibbs::Window;
use gibbstream::inference::scales::ScaleGibbs;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::StepSize;
use gibbstream::model::rows::ica::{Ica, IcaParameters, Noise, Sources};
use gibbstream::model::rows::observations::Observations;
use gibbstream::model::{LatentModel, Sums};
use gibbstream::numerics::math::digamma;
use gibbstream::numerics::random::Seed;
use nalgebra::DMatrix;
use std::f64::consts::{PI, SQRT_2};

const GIBBS: ScaleGibbs = ScaleGibbs { sweeps: 60, window: Window::LastQuarter };

type Function = Box<dyn Fn(f64) -> f64>;

/// Standard normal distribution function.
fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

/// Gaussian sources: after enough batch EM, `A A^T + sigma^2 I` is what the eigenvectors of the sample covariance say.
#[test]
fn gaussian_sources_are_probabilistic_principal_components() {
    let (p, q) = (5, 2);
    let mut random = stream(1);
    let mixing: Vec<f64> = (0..p * q).map(|_| 2.0 * random.normal()).collect();
    let rows = mixed(&mixing, q, 0.5, 400, &mut random, gibbstream::numerics::random::Stream::normal);
    let batch = Observations::new(rows.clone(), p, 0, 0).unwrap();
    let model = Ica { learn_scale: true, ..ica(p, q, Sources::Gaussian) };
    let run = OnlineSettings {
        step: StepSize::Constant(1.0),
        batch: BatchSize::of(400),
        ..OnlineSettings::default()
    };
    let mut online = Online::new(model, ScaleGibbs { sweeps: 1, ..GIBBS }, run).unwrap();
    for _ in 0..400 {
        online.partial_fit(&batch).unwrap();
    }
    let found = &online.state().unwrap().parameters;
    let a = DMatrix::from_row_slice(p, q, &found.mixing);
    let fitted = &a * a.transpose() + DMatrix::identity(p, p) * found.noise[0];

    let x = DMatrix::from_row_slice(400, p, &rows);
    let mean = x.row_mean();
    let centred = DMatrix::from_fn(400, p, |i, j| x[(i, j)] - mean[j]);
    let mut eigen = (centred.transpose() * &centred / 400.0).symmetric_eigen();
    let mut sorted: Vec<f64> = eigen.eigenvalues.iter().copied().collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let noise = sorted[q..].iter().sum::<f64>() / (p - q) as f64;
    eigen.eigenvalues.iter_mut().for_each(|value| {
        if *value < sorted[q - 1] {
            *value = noise;
        }
    });
    assert!((found.noise[0] / noise - 1.0).abs() < 1e-5, "{} is not {noise}", found.noise[0]);
    let difference = (fitted - eigen.recompose()).abs().max();
    assert!(difference < 1e-5 * sorted[0], "{difference}");
    mean.iter().zip(&found.mean).for_each(|(expected, found)| assert!((expected - found).abs() < 1e-6));
}

/// `E[s|x]`, `E[s^2|x]` and the mean of the scale statistics by quadrature: one source, any number of columns.
fn quadrature(law: Sources, v: f64, y: f64) -> [f64; 4] {
    let posterior = |s: f64| density(law, s) * libm::exp(-0.5 * (s - y) * (s - y) / v);
    let range = y.abs() + 12.0 * v.sqrt() + 40.0;
    let total = integral(range, posterior);
    let mean = |f: &dyn Fn(f64) -> f64| integral(range, |s| f(s) * posterior(s)) / total;
    let (scale, log_scale): (Function, Function) = match law {
        Sources::Student(Some(nu)) => (
            Box::new(move |s| (nu + 1.0) / (nu + s * s)),
            Box::new(move |s| libm::log(0.5 * (nu + s * s)) - digamma(0.5 * (nu + 1.0))),
        ),
        _ => (Box::new(|s: f64| s.abs() / SQRT_2 + 0.5), Box::new(|_| 0.0)),
    };
    [mean(&|s| s), mean(&|s| s * s), mean(&*scale), mean(&*log_scale)]
}

/// Three columns with different noise, one source: Gibbs averages over 4,000 independent chains, within five standard errors
/// and one thousandth for what is left of the start after 45 sweeps. Laplace also against the closed form.
#[test]
fn one_source_has_its_exact_moments() {
    let (a, noise) = ([0.8, -0.5, 0.3], [0.4, 0.6, 0.5]);
    for law in [Sources::Laplace, Sources::Student(Some(3.0)), Sources::Student(Some(8.0))] {
        let model = Ica { noise: Noise::Diagonal, ..ica(3, 1, law) };
        let degrees = if let Sources::Student(Some(nu)) = law { nu } else { 0.0 };
        let state = state(&model, &a, &noise, degrees);
        for x in [[1.5, -0.4, 0.9], [0.1, 0.05, -0.2], [-4.0, 3.0, 1.0]] {
            let v = 1.0 / (0..3).map(|i| a[i] * a[i] / noise[i]).sum::<f64>();
            let y = v * (0..3).map(|i| a[i] * x[i] / noise[i]).sum::<f64>();
            let exact = quadrature(law, v, y);
            if law == Sources::Laplace {
                // w+ and w- are the masses to the right and to the left of zero.
                let l = SQRT_2;
                let part = |sign: f64| {
                    libm::exp(-sign * l * y + 0.5 * l * l * v) * phi(sign * (y - sign * l * v) / v.sqrt())
                };
                let (right, left) = (part(1.0), part(-1.0));
                let h = libm::exp(-0.5 * y * y / v) / (2.0 * PI * v).sqrt();
                let z = right + left;
                let first = (right * (y - l * v) + left * (y + l * v)) / z;
                let second = (right * (v + (y - l * v) * (y - l * v))
                    + left * (v + (y + l * v) * (y + l * v))
                    - 2.0 * l * v * v * h)
                    / z;
                assert!((first - exact[0]).abs() < 1e-6 && (second - exact[1]).abs() < 1e-6);
            }
            let layout = model.layout();
            let numbers = |found: &Sums| {
                let e = found.mean();
                vec![
                    e[layout.s()][0],
                    e[layout.ss()][0],
                    e[layout.scale()][0],
                    e[layout.log_scale()][0],
                    e[layout.xs()][1],
                ]
            };
            let exact = [exact[0], exact[1], exact[2], exact[3], x[1] * exact[0]];
            let copy = |place| Observations::new(x.to_vec(), 3, place, 0).unwrap();
            unbiased(&model, &GIBBS, &state, copy, numbers, &exact, (4_000, 5.0, 1e-3)).unwrap();
        }
    }
}

/// Noise that drowns everything leaves the prior: variance 1 of Laplace sources.
#[test]
fn much_noise_leaves_the_prior() {
    let model = ica(2, 2, Sources::Laplace);
    let state = state(&model, &[1.0, 0.5, -0.3, 0.8], &[1e8; 2], 0.0);
    let layout = model.layout();
    let numbers = |found: &Sums| {
        let e = found.mean();
        vec![e[layout.ss()][0], e[layout.ss()][3], e[layout.ss()][1], e[layout.scale()][0]]
    };
    let copy = |place| Observations::new(vec![3.0, -2.0], 2, place, 0).unwrap();
    unbiased(&model, &GIBBS, &state, copy, numbers, &[1.0, 1.0, 0.0, 1.0], (20_000, 5.0, 1e-3)).unwrap();
}

/// `<phi(eta), s> - psi(eta)` in coordinates without constraints: A, mean, logarithms of variances and of degrees.
fn objective(model: &Ica, pivot: &[f64], s: &[f64], at: &[f64]) -> f64 {
    let (layout, p, q) = (model.layout(), model.dimension, model.sources);
    let (a, rest) = at.split_at(p * q);
    let (mean, rest) = rest.split_at(p);
    let (noise, degrees) = rest.split_at(p);
    let mut value = 0.0;
    for i in 0..p {
        let (row, shift) = (&a[i * q..][..q], mean[i] - pivot[i]);
        let log_variance = if model.noise == Noise::Isotropic { noise[0] } else { noise[i] };
        let mut square = s[layout.xx()][i] - 2.0 * shift * s[layout.x()][i] + shift * shift;
        for j in 0..q {
            square += 2.0 * row[j] * (shift * s[layout.s()][j] - s[layout.xs()][i * q + j]);
            square += (0..q).map(|k| row[j] * row[k] * s[layout.ss()][j * q + k]).sum::<f64>();
        }
        value -= 0.5 * (log_variance + square / libm::exp(log_variance));
    }
    if let Sources::Student(None) = model.law {
        for j in 0..q {
            let half = 0.5 * libm::exp(degrees[j]);
            value += half * libm::log(half) - libm::lgamma(half);
            value -= half * (s[layout.log_scale()][j] + s[layout.scale()][j]);
        }
    }
    value
}

#[test]
fn the_m_step_is_stationary() {
    for (law, noise) in [
        (Sources::Laplace, Noise::Isotropic),
        (Sources::Laplace, Noise::Diagonal),
        (Sources::Student(None), Noise::Diagonal),
    ] {
        let model = Ica { noise, ..ica(3, 2, law) };
        let mut random = stream(4);
        let rows = mixed(&[1.0, 0.2, -0.5, 0.9, 0.3, 0.4], 2, 0.4, 300, &mut random, laplace);
        let rows = rows.into_iter().map(|x| x + 2.0).collect();
        let batch = Observations::new(rows, 3, 0, 0).unwrap();
        let start = model.initial(&batch, Seed(3));
        let local = ScaleGibbs { sweeps: 8, ..GIBBS };
        let s = statistics(&model, &local, &start, &batch, Seed(3)).mean();
        let mut found = IcaParameters::default();
        model.maximise(&start.pivot, &s, &mut found);
        let logs =
            |values: &[f64]| values.iter().map(|&value| libm::log(value.max(1e-9))).collect::<Vec<_>>();
        let at: Vec<f64> = [found.mixing, found.mean, logs(&found.noise), logs(&found.degrees)]
            .into_iter()
            .flatten()
            .collect();
        // The ridge of the regression, 1e-8, leaves slopes of about that size.
        stationary(|at| objective(&model, &start.pivot, &s, at), &at, 1e-6).unwrap();
    }
}

#[test]
fn statistics_obey_their_laws() {
    let mut random = stream(5);
    let rows = mixed(&[1.0, 0.2, -0.5, 0.9, 0.3, 0.4], 2, 0.4, 60, &mut random, laplace);
    let batch = |from: usize, to: usize| {
        Observations::new(rows[3 * from..3 * to].to_vec(), 3, from as u64, 0).unwrap()
    };
    for law in [Sources::Laplace, Sources::Student(None), Sources::Student(Some(4.0)), Sources::Gaussian] {
        for learn_scale in [false, true] {
            let model = Ica { learn_scale, ..ica(3, 2, law) };
            let local = ScaleGibbs { sweeps: 8, ..GIBBS };
            let blocks = [batch(0, 17), batch(17, 18), batch(18, 60)];
            laws(&model, &local, &batch(0, 60), &blocks, Sums::mean, Seed(1)).unwrap();
        }
    }
}

/// A check that cannot fail checks nothing: a wrong M-step and a wrong posterior are found out.
#[test]
fn conformance_finds_mistakes() {
    assert!(stationary(|at| -(at[0] - 1.0) * (at[0] - 1.0), &[1.001], 1e-6).is_err());
    assert!(stationary(|at| -(at[0] - 1.0) * (at[0] - 1.0), &[1.0], 1e-6).is_ok());
    let model = ica(1, 1, Sources::Laplace);
    let state = state(&model, &[1.0], &[0.5], 0.0);
    let copy = |place| Observations::new(vec![1.0], 1, place, 0).unwrap();
    let layout = model.layout();
    let numbers = |found: &Sums| vec![found.mean()[layout.s()][0]];
    let exact = quadrature(Sources::Laplace, 0.5, 1.0)[0];
    let check = |exact: f64| unbiased(&model, &GIBBS, &state, copy, numbers, &[exact], (4_000, 5.0, 1e-3));
    assert!(check(exact).is_ok() && check(exact + 0.03).is_err());
}

/// Two sources, small noise, a known rotation: found up to sign and order from Laplace sources; from Gaussian ones every
/// rotation has the same likelihood, to the last digits.
#[test]
fn rotations_are_flat_for_gaussian_sources_only() {
    let turned = |angle: f64| {
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        vec![cos, -sin, sin, cos]
    };
    let mut random = stream(6);
    let rows = mixed(&turned(0.5), 2, 0.1, 1_500, &mut random, laplace);
    let likelihoods = |law, angle: f64| {
        let model = ica(2, 2, law);
        let mut view = gibbstream::model::rows::ica::IcaView::default();
        model.fill(&[0.0; 2], &state(&model, &turned(angle), &[0.01; 2], 0.0).parameters, &mut view);
        let effort = gibbstream::evaluation::annealed::Annealed { particles: 8, heats: 20 };
        let each = rows.chunks(2).enumerate();
        each.map(|(i, x)| effort.log_likelihood(&view, x, stream(100 + i as u64)).log_likelihood)
            .collect::<Vec<f64>>()
    };
    let difference = |law| {
        let (at, off) = (likelihoods(law, 0.5), likelihoods(law, 1.2));
        let differences: Vec<f64> = at.iter().zip(&off).map(|(a, b)| a - b).collect();
        let mean = differences.iter().sum::<f64>() / 1_500.0;
        let square = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
        (mean, (square / 1_500.0 / 1_499.0).sqrt())
    };
    let (mean, _) = difference(Sources::Gaussian);
    assert!(mean.abs() < 1e-12, "{mean}");
    let (mean, error) = difference(Sources::Laplace);
    assert!(mean > 5.0 * error, "{mean} with standard error {error}");
}
