//! Models of rows of numbers: mixtures of every family, independent components of every law, and the model of the guide.

#[path = "../../examples/custom_model.rs"]
#[allow(dead_code, reason = "the example also trains")]
mod custom_model;

use super::*;
use custom_model::{Sweeps, Switches};
use gibbstream::inference::exact::Exact;
use gibbstream::inference::gibbs::Window;
use gibbstream::inference::scales::ScaleGibbs;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::OnlineSettings;
use gibbstream::learn::schedule::StepSize;
use gibbstream::model::rows::families::bernoulli::Bernoulli;
use gibbstream::model::rows::families::gaussian::{Covariance, Gaussian};
use gibbstream::model::rows::families::multinomial::Multinomial;
use gibbstream::model::rows::families::poisson::Poisson;
use gibbstream::model::rows::ica::{Ica, Noise, Sources};
use gibbstream::model::rows::mixture::{Family, Mixture};
use gibbstream::model::rows::observations::Observations;

pub const SIZE: usize = 70;
const COLUMNS: usize = 4;

/// Rows around one of two centres; the scale of a number decides which digits of a sum it fills.
fn rows(places: Range<usize>, draw: fn(f64, &mut Stream) -> f64) -> Vec<f64> {
    let row = |place: usize| {
        let mut random = Seed(8).stream(Purpose::SyntheticDocument, [place as u64, 0]);
        let centre = if random.uniform() < 0.4 { 1.0 } else { 6.0 };
        [0.2, 1.0, 1.5, 0.7].map(|scale| draw(centre * scale, &mut random))
    };
    places.flat_map(row).collect()
}

fn points(places: Range<usize>) -> Vec<f64> {
    rows(places, |centre, random| (centre + random.normal()) * libm::exp(20.0 * random.uniform() - 10.0))
}

fn counts(places: Range<usize>) -> Vec<f64> {
    rows(places, |centre, random| 1.0 + random.poisson(centre) as f64)
}

fn answers(places: Range<usize>) -> Vec<f64> {
    rows(places, |centre, random| f64::from(u8::from(9.0 * random.uniform() < centre)))
}

fn runs() -> [OnlineSettings; 3] {
    let base =
        OnlineSettings { batch: BatchSize::of(SIZE), seed: Seed(6), threads: 2, ..OnlineSettings::default() };
    let step = StepSize::Constant(1.0);
    [base, OnlineSettings { step, ..base }, OnlineSettings { averaging: Averaging::Tail(2), ..base }]
}

fn mixture<F: Family>(family: &F, rows: fn(Range<usize>) -> Vec<f64>) {
    for (run, hold) in runs().into_iter().zip([0, 0, 2]) {
        let model = Mixture::new(3, COLUMNS, family.clone()).unwrap().hold(hold);
        let cut =
            |places: Range<usize>| F::batch(rows(places.clone()), COLUMNS, places.start as u64, 0).unwrap();
        let new = || Online::new(model.clone(), Exact, run).unwrap();
        same_bits(&format!("{family:?}"), new, cut, (SIZE, 4));
    }
}

#[test]
fn mixtures_of_every_family() {
    mixture(&Poisson::default(), counts);
    mixture(&Multinomial::default(), counts);
    mixture(&Bernoulli::default(), answers);
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        mixture(&Gaussian { covariance, floor: 1e-3 }, points);
    }
}

pub fn observations(places: Range<usize>) -> Observations {
    Observations::new(points(places.clone()), COLUMNS, places.start as u64, 0).unwrap()
}

#[test]
fn independent_components_of_every_law() {
    let local = ScaleGibbs { sweeps: 6, window: Window::LastHalf };
    for law in [Sources::Laplace, Sources::Student(None), Sources::Student(Some(5.0)), Sources::Gaussian] {
        for (run, learn_scale) in runs().into_iter().zip([true, false, true]) {
            let noise = if learn_scale { Noise::Diagonal } else { Noise::Isotropic };
            let model = Ica { dimension: COLUMNS, sources: 2, law, noise, learn_scale, floor: 1e-6 };
            let new = || Online::new(model, local, run).unwrap();
            same_bits(&format!("{law:?}"), new, observations, (SIZE, 3));
        }
    }
}

#[test]
fn the_model_of_the_guide() {
    for run in runs() {
        let new = || Online::new(Switches(2, COLUMNS), Sweeps(6), run).unwrap();
        same_bits("switches", new, observations, (SIZE, 3));
    }
}
