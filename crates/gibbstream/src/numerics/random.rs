//! One seed, and from it an independent random stream for every purpose, pass, document and particle.
//!
//! A stream depends on what it is for and never on which thread asks for it, so results do not depend on
//! scheduling (science.md 8.7). The distributions use `libm` only: same bits on every machine.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a random stream is used for; streams of different purposes never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Initial statistics.
    Initial = 1,
    /// Local inference while training.
    Local = 2,
    /// Held-out evaluation.
    Evaluation = 3,
    /// Topic mixtures of new documents.
    Mixture = 4,
    /// Synthetic parameters.
    SyntheticTruth = 5,
    /// Synthetic documents.
    SyntheticDocument = 6,
    /// Noise of Langevin moves.
    Langevin = 7,
    /// Document completion: the halves of a document and the topics of one of them.
    Completion = 8,
    /// Sticks of topics that are born.
    Birth = 9,
    /// Rounding of fractional counts.
    Rounding = 16,
    /// Which documents a report shows.
    Showcase = 17,
    /// Which documents of a minibatch are scored before they are learnt from.
    Prequential = 18,
}

/// The seed of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of (`purpose`, `key`): for training, `key` is pass and document index; for evaluation, the
    /// content of the document and the particle.
    pub fn stream(self, purpose: Purpose, key: [u64; 2]) -> Stream {
        let mut mixed = mix(self.0 ^ 0x6a09_e667_f3bc_c908);
        for part in [purpose as u64, key[0], key[1]] {
            mixed = mix(
                mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mix(part.wrapping_add(0x3c6e_f372_fe94_f82b))
            );
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }
}

/// A 64-bit finaliser (the one of SplitMix64): every input bit reaches every output bit.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

impl Default for Stream {
    /// A fixed stream, to be replaced before use.
    fn default() -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(0))
    }
}

impl Stream {
    /// Uniform in `[0, 1)`, 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform in `(0, 1]`, for logarithms.
    #[inline]
    pub fn uniform_positive(&mut self) -> f64 {
        1.0 - self.uniform()
    }

    /// Uniform in `0..n`; the bias of the multiplication is below `n / 2^64`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Standard normal (polar method, one of the pair kept).
    pub fn normal(&mut self) -> f64 {
        self.normal_pair().0
    }

    /// Two independent standard normals.
    fn normal_pair(&mut self) -> (f64, f64) {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * libm::log(square) / square).sqrt();
                return (x * factor, y * factor);
            }
        }
    }

    /// Logarithm of a Gamma(`shape`, 1) draw; the logarithm does not underflow for tiny shapes.
    pub fn log_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Gamma(a) = Gamma(a + 1) U^(1/a).
            return self.log_gamma(shape + 1.0) + libm::log(self.uniform_positive()) / shape;
        }
        libm::log(self.gamma(shape))
    }

    /// Gamma(`shape`, 1).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return libm::exp(self.log_gamma(shape));
        }
        loop {
            let x = self.normal();
            if let Some(value) = self.gamma_from_normal(shape, x) {
                return value;
            }
        }
    }

    /// Fills `out` with Gamma(`shape`, 1) draws, for shapes of at least 1.
    pub fn gammas(&mut self, shape: f64, out: &mut [f64]) {
        let mut spare = None;
        for value in out {
            *value = loop {
                let x = spare.take().unwrap_or_else(|| {
                    let (x, y) = self.normal_pair();
                    spare = Some(y);
                    x
                });
                if let Some(value) = self.gamma_from_normal(shape, x) {
                    break value;
                }
            };
        }
    }

    /// Marsaglia and Tsang's method, one trial; their squeeze spares most of the logarithms.
    #[inline]
    fn gamma_from_normal(&mut self, shape: f64, x: f64) -> Option<f64> {
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            return None;
        }
        let cube = v * v * v;
        let u = self.uniform_positive();
        let square = x * x;
        let accepted = u < 1.0 - 0.0331 * square * square
            || libm::log(u) < 0.5 * square + d - d * cube + d * libm::log(cube);
        accepted.then_some(d * cube)
    }

    /// Fills `out` with a Dirichlet(`concentration`) draw.
    pub fn dirichlet(&mut self, concentration: &[f64], out: &mut [f64]) {
        let mut largest = f64::NEG_INFINITY;
        for (value, &shape) in out.iter_mut().zip(concentration) {
            *value = self.log_gamma(shape);
            largest = largest.max(*value);
        }
        let mut total = 0.0;
        for value in out.iter_mut() {
            *value = libm::exp(*value - largest);
            total += *value;
        }
        for value in out.iter_mut() {
            *value /= total;
        }
    }

    /// Index drawn with the given weights (linear scan; the last positive weight catches rounding).
    pub fn categorical(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.uniform() * weights.iter().sum::<f64>();
        let mut last = 0;
        for (index, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                if rest < weight {
                    return index;
                }
                rest -= weight;
                last = index;
            }
        }
        last
    }

    /// Poisson(`mean`) by multiplication of uniforms, in pieces so that nothing underflows.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut rest, mut count) = (mean, 0);
        while rest > 0.0 {
            let piece = rest.min(500.0);
            rest -= piece;
            let floor = libm::exp(-piece);
            let mut product = self.uniform_positive();
            while product > floor {
                count += 1;
                product *= self.uniform_positive();
            }
        }
        count
    }
}

#[cfg(test)]
pub(crate) mod tests;
