//! A model that the library does not have: hidden switches. An observation is the sum of the features that are on, and
//! noise: `x = W z + e`, where switch j is on with probability `pi_j`. Switches explain each other away, so the posterior
//! of q of them has 2^q cases; a Gibbs sweep visits them one by one. The guide is docs/custom-models.md; run it with
//! `cargo run --release --example custom_model`.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use gibbstream::blended;
use gibbstream::{
    Batch, LatentModel, LocalInference, Observations, Online, OnlineSettings, Passes, Purpose, Seed, Step,
    Stream, Sums,
};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// The model: how many switches, and how many values an observation has.
pub struct Switches(pub usize, pub usize);

/// The parameters: pi, W feature after feature, and the variance of the noise. Local inference reads just these, wherever
/// it runs, so they can be written as bytes.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Parameters(pub Vec<f64>, pub Vec<f64>, pub f64);

/// Running means E[z z^T], E[z x^T], E[x^T x], and the parameters. Those of a minibatch are `Sums`, which add up to the
/// same bits in any order.
#[derive(Clone, Debug)]
pub struct State(pub Vec<f64>, pub Parameters);

/// The M-step: shares, a regression of x on z, and what it leaves over.
pub fn maximise(&Switches(q, p): &Switches, s: &[f64]) -> Parameters {
    let zz = DMatrix::from_column_slice(q, q, &s[..q * q]);
    let zx = DMatrix::from_column_slice(q, p, &s[q * q..q * q + q * p]);
    let solved = (&zz + DMatrix::identity(q, q) * 1e-9).lu().solve(&zx).expect("the ridge makes it regular");
    let left = s[s.len() - 1] - solved.dot(&zx);
    let shares = (0..q).map(|j| zz[(j, j)].clamp(1e-3, 1.0 - 1e-3)).collect();
    Parameters(shares, solved.transpose().as_slice().to_vec(), (left / p as f64).max(1e-6))
}

type Rows = Observations; // what a minibatch holds; bring your own if yours are something else
impl LatentModel for Switches {
    type Batch = Rows;
    type Statistics = Sums;
    type State = State;
    type View = Parameters;
    fn initial(&self, first: &Rows, seed: Seed) -> State {
        let mut random = seed.stream(Purpose::Initial, [0, 0]);
        let features =
            (0..self.0 * self.1).map(|i| first.row(random.below(first.len()))[i % self.1]).collect();
        // The first update has weight 1, so the statistics before it do not matter.
        State(vec![0.0; self.0 * (self.0 + self.1) + 1], Parameters(vec![0.5; self.0], features, 1.0))
    }

    fn view(&self, s: &State, at: &Step, ahead: Option<&Sums>, _: &Rows, out: &mut Parameters) {
        let pending = ahead.map(|fresh| maximise(self, &blended(&s.0, at.rho, &fresh.mean())));
        *out = pending.unwrap_or_else(|| s.1.clone());
    }

    fn absorb(&self, s: &mut State, step: &Step, fresh: &Sums) {
        s.0 = blended(&s.0, step.rho, &fresh.mean());
        s.1 = maximise(self, &s.0);
    }
    fn remember(&self, _: &mut State, _: &Step) {} // no mean of parameters is kept here
}

/// Local inference: sweeps over the switches, of which the last quarter is kept.
pub struct Sweeps(pub usize);

/// What is known about one observation: its switches, its random stream, and the statistics kept.
#[derive(Default)]
pub struct Hidden(DVector<f64>, Stream, Vec<f64>);

impl LocalInference<Switches> for Sweeps {
    type Latent = Hidden;
    type Scratch = ();
    fn passes(&self) -> usize {
        self.0
    }

    fn begin(&self, view: &Parameters, _: &Rows, _: usize, hidden: &mut Hidden, random: Stream) {
        (hidden.0, hidden.1) = (DVector::zeros(view.0.len()), random);
    }

    fn advance(&self, eta: &Parameters, batch: &Rows, i: usize, h: &mut Hidden, (): &mut (), run: Passes) {
        let (Parameters(shares, features, variance), x) = (eta, DVector::from_row_slice(batch.row(i)));
        let features = DMatrix::from_column_slice(x.len(), shares.len(), features);
        h.2 = vec![0.0; shares.len() * (shares.len() + x.len()) + 1];
        let mut rest = &x - &features * &h.0;
        let weight = 1.0 / run.kept() as f64;
        for pass in run.range {
            for (j, feature) in features.column_iter().enumerate() {
                rest += feature * h.0[j]; // what is left if switch j is off
                let fit = (rest.dot(&feature) - 0.5 * feature.norm_squared()) / variance;
                let odds = shares[j] / (1.0 - shares[j]) * libm::exp(fit.min(700.0));
                h.0[j] = f64::from(u8::from(h.1.uniform() * (1.0 + odds) < odds));
                rest -= feature * h.0[j];
            }
            if pass >= run.keep_from {
                let (zz, zx) = (&h.0 * h.0.transpose(), &h.0 * x.transpose());
                let values = zz.iter().chain(&zx).copied().chain([x.dot(&x)]);
                h.2.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
        }
    }

    fn collect(&self, _: &Parameters, _: &Rows, hidden: &mut [Hidden], out: &mut Sums) {
        out.reset(hidden[0].2.len());
        hidden.iter().for_each(|h| out.add(&h.2));
    }
}

fn main() -> gibbstream::Result<()> {
    let mut online =
        Online::new(Switches(2, 3), Sweeps(10), OnlineSettings { threads: 2, ..OnlineSettings::default() })?;
    let mut random = Stream::default();
    for first in (0..20_000).step_by(100) {
        let mut on = |share| f64::from(u8::from(random.uniform() < share));
        let z: Vec<[f64; 2]> = (0..100).map(|_| [on(0.3), on(0.6)]).collect();
        let mut noisy = |value: f64| value + 0.5 * random.normal();
        let rows = z.iter().flat_map(|[a, b]| [noisy(3.0 * a), noisy(a + 2.0 * b), noisy(2.0 * b)]).collect();
        online.partial_fit(&Observations::new(rows, 3, first, 0)?)?;
    }
    let Parameters(shares, features, noise) = &online.state().expect("something was learnt").1;
    println!("probabilities {shares:.2?} (truly 0.3, 0.6, in any order), noise {noise:.3} (truly 0.25)");
    println!("features (truly 3 1 0 and 0 2 2): {:.2?} and {:.2?}", &features[..3], &features[3..]);
    Ok(())
}
