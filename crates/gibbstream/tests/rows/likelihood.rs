//! The estimator of the likelihood of independent components: unbiased, against quadrature.

use crate::{density, ica, integral, state, stream};
use gibbstream::evaluation::annealed::Annealed;
use gibbstream::model::rows::ica::{IcaView, Sources};
use std::f64::consts::TAU;

fn normal(x: f64, variance: f64) -> f64 {
    libm::exp(-0.5 * x * x / variance) / (TAU * variance).sqrt()
}

/// The mean of estimates over the truth, and its standard error; estimates must be of `p(x)` itself to be unbiased.
fn ratio(view: &IcaView, x: &[f64], exact: f64, effort: Annealed) -> (f64, f64) {
    let number = 1_500;
    let ratios: Vec<f64> = (0..number)
        .map(|i| libm::exp(effort.log_likelihood(view, x, stream(1000 + i)).log_likelihood) / exact)
        .collect();
    let mean = ratios.iter().sum::<f64>() / number as f64;
    let square = ratios.iter().map(|ratio| (ratio - mean) * (ratio - mean)).sum::<f64>();
    (mean, (square / number as f64 / (number - 1) as f64).sqrt())
}

/// Few particles and few heats: the estimates spread, and still their mean is right within five standard errors.
#[test]
fn annealed_estimates_are_unbiased() {
    let effort = Annealed { particles: 2, heats: 6 };
    for law in [Sources::Laplace, Sources::Student(Some(4.0))] {
        let model = ica(1, 1, law);
        let mut view = IcaView::default();
        model.fill(&[0.0], &state(&model, &[1.3], &[0.3], 4.0).parameters, &mut view);
        for x in [0.2, 2.5, -6.0] {
            let exact = integral(80.0, |s| density(law, s) * normal(x - 1.3 * s, 0.3));
            let (mean, error) = ratio(&view, &[x], exact, effort);
            assert!((mean - 1.0).abs() < 5.0 * error, "{law:?} at {x}: {mean} with standard error {error}");
            assert!(error < 0.1, "{error}");
        }
    }
}

/// Orthogonal columns and isotropic noise: the likelihood is a product over sources, and a Gaussian for the rest.
#[test]
fn two_sources_against_a_product_of_integrals() {
    let (law, noise) = (Sources::Laplace, 0.2);
    let model = ica(3, 2, law);
    let mixing = [1.0, 1.0, 1.0, -1.0, 0.5, 0.0];
    let (first, second) = ([1.0, 1.0, 0.5], [1.0, -1.0, 0.0]);
    let mut view = IcaView::default();
    model.fill(&[0.0; 3], &state(&model, &mixing, &[noise; 3], 0.0).parameters, &mut view);
    let x = [2.0, -0.5, 1.0];
    let dot = |a: &[f64; 3]| a.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>();
    let (mut exact, mut rest) = (1.0, x.iter().map(|x| x * x).sum::<f64>());
    for column in [first, second] {
        let length = column.iter().map(|a| a * a).sum::<f64>().sqrt();
        let along = dot(&column) / length;
        rest -= along * along;
        exact *= integral(80.0, |s| density(law, s) * normal(along - length * s, noise));
    }
    exact *= normal(rest.sqrt(), noise);
    let (mean, error) = ratio(&view, &x, exact, Annealed { particles: 2, heats: 8 });
    assert!((mean - 1.0).abs() < 5.0 * error, "{mean} with standard error {error}");
    let careful = Annealed::default().log_likelihood(&view, &x, stream(5));
    let off = careful.log_likelihood - libm::log(exact);
    assert!(off.abs() < 5.0 * careful.variance.sqrt() + 1e-3, "{off} with {}", careful.variance.sqrt());
}
