//! Models of rows of numbers against what is known exactly: independent components (science.md 9.2), the families of
//! mixtures (9.1), files, and the model of the guide.
//!
//! Seeds are fixed. Statistical bounds are in standard errors and stated where they are used: with fresh seeds the chance
//! that any of them fails on correct code is below 1e-4.

#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod custom;
mod files;
mod likelihood;
mod mixtures;
mod oracles;
mod reading;
mod recovery;

use gibbstream::model::LatentModel;
use gibbstream::model::rows::ica::{Ica, IcaParameters, IcaState, Noise, Sources};
use gibbstream::model::rows::observations::Observations;
use gibbstream::numerics::random::{Purpose, Seed, Stream};

/// A stream of random numbers for making data.
pub fn stream(key: u64) -> Stream {
    Seed(77).stream(Purpose::SyntheticDocument, [key, 0])
}

/// A model with isotropic noise and sources of unit scale.
pub fn ica(dimension: usize, sources: usize, law: Sources) -> Ica {
    Ica { dimension, sources, law, noise: Noise::Isotropic, learn_scale: false, floor: 1e-9 }
}

/// A state with given parameters.
pub fn state(model: &Ica, mixing: &[f64], noise: &[f64], degrees: f64) -> IcaState {
    let p = model.dimension;
    let start = model.initial(&Observations::new(vec![0.0; p], p, 0, 0).unwrap(), Seed(0));
    let parameters = IcaParameters {
        mean: vec![0.0; p],
        mixing: mixing.to_vec(),
        noise: noise.to_vec(),
        degrees: vec![degrees; model.sources],
    };
    IcaState { parameters, ..start }
}

/// A Laplace draw of variance 1.
pub fn laplace(random: &mut Stream) -> f64 {
    let size = -libm::log(random.uniform_positive()) / std::f64::consts::SQRT_2;
    if random.uniform() < 0.5 { size } else { -size }
}

/// Rows `x = A s + deviation e`, with sources from `draw`.
pub fn mixed(
    mixing: &[f64],
    sources: usize,
    deviation: f64,
    rows: usize,
    random: &mut Stream,
    draw: fn(&mut Stream) -> f64,
) -> Vec<f64> {
    (0..rows)
        .flat_map(|_| {
            let s: Vec<f64> = (0..sources).map(|_| draw(random)).collect();
            let clean = |a: &[f64]| a.iter().zip(&s).map(|(a, s)| a * s).sum::<f64>();
            let x: Vec<f64> =
                mixing.chunks(sources).map(|a| clean(a) + deviation * random.normal()).collect();
            x
        })
        .collect()
}

/// Integral of `f` by the midpoint rule over `[-range, range]`.
pub fn integral(range: f64, f: impl Fn(f64) -> f64) -> f64 {
    let steps = 40_000;
    let width = 2.0 * range / f64::from(steps);
    (0..steps).map(|i| f(-range + (f64::from(i) + 0.5) * width)).sum::<f64>() * width
}

/// Density of a source.
pub fn density(law: Sources, s: f64) -> f64 {
    match law {
        Sources::Laplace => libm::exp(-std::f64::consts::SQRT_2 * s.abs()) / std::f64::consts::SQRT_2,
        Sources::Student(degrees) => {
            let nu = degrees.unwrap();
            let constant = libm::lgamma(0.5 * (nu + 1.0)) - libm::lgamma(0.5 * nu);
            libm::exp(constant - 0.5 * (nu + 1.0) * libm::log1p(s * s / nu))
                / (nu * std::f64::consts::PI).sqrt()
        }
        Sources::Gaussian => libm::exp(-0.5 * s * s) / std::f64::consts::TAU.sqrt(),
    }
}
