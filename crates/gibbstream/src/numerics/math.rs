//! The special functions of the Dirichlet family, with the same bits on every machine.

use crate::numerics::vectorised::vectorised;

/// Digamma and trigamma, for `x > 0`: both by recurrence up to 10 and by the asymptotic series from there
/// (science.md 0), in one go because Newton steps need both.
pub fn digamma_trigamma(x: f64) -> (f64, f64) {
    debug_assert!(x > 0.0);
    let (mut x, mut low, mut low_slope) = (x, 0.0, 0.0);
    while x < 10.0 {
        let inverse = 1.0 / x;
        low -= inverse;
        low_slope += inverse * inverse;
        x += 1.0;
    }
    let r = 1.0 / x;
    let r2 = r * r;
    let series = r2
        * (1.0 / 12.0
            - r2 * (1.0 / 120.0
                - r2 * (1.0 / 252.0 - r2 * (1.0 / 240.0 - r2 * (1.0 / 132.0 - r2 * (691.0 / 32_760.0))))));
    let slope_series = r2
        * r
        * (1.0 / 6.0
            - r2 * (1.0 / 30.0
                - r2 * (1.0 / 42.0
                    - r2 * (1.0 / 30.0 - r2 * (5.0 / 66.0 - r2 * (691.0 / 2_730.0 - r2 * (7.0 / 6.0)))))));
    (low + (libm::log(x) - 0.5 * r - series), low_slope + (r + 0.5 * r2 + slope_series))
}

/// `exp(digamma(x))`, for `x > 0`, with one exponential and no logarithm (science.md 0); below about 1.4e-3
/// it underflows to an exact zero. Relative error below 1e-12.
///
/// Without branches, so that [`exp_digamma_all`] handles many at a time: `x` is always moved up by ten,
/// `digamma(x) = digamma(x + 10) - sum_{j<10} 1 / (x + j)`. The terms j and 9 - j share the denominator
/// `q + j (9 - j)` with `q = x (x + 9)`, and the five pairs are brought to one; nothing in it is negative.
#[inline(always)]
pub fn exp_digamma(x: f64) -> f64 {
    debug_assert!(x > 0.0);
    let q = x * (x + 9.0);
    let (a, b, c, d) = (q + 8.0, q + 14.0, q + 18.0, q + 20.0);
    let (ab, cd) = (a * b, c * d);
    let low = (2.0 * x + 9.0) * (ab * cd + q * (((a + b) * cd) + ab * (c + d))) / (q * ab * cd);
    let y = x + 9.5;
    let r = 1.0 / y;
    let r2 = r * r;
    let high = y + r
        * (1.0 / 24.0
            - r2 * (37.0 / 5_760.0
                - r2 * (10_313.0 / 2_903_040.0
                    - r2 * (5_509_121.0 / 1_393_459_200.0 - r2 * (2_709_398_569.0 / 367_873_228_800.0)))));
    // Far out the product of the denominators would overflow, and nothing is left to subtract.
    high * exp_of_negative(if x > 1e20 { 0.0 } else { -low })
}

/// The same for every number, in vectors as wide as the processor has.
pub(crate) fn exp_digamma_all(values: &mut [f64]) {
    vectorised!((values: &mut [f64] = values) -> () {
        for value in values {
            *value = exp_digamma(*value);
        }
    });
}

/// `exp(x)` for `x <= 0`, without branches; what is not a normal number is zero.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    /// Adding it rounds to a whole number, which is then found in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = if x < -800.0 { -800.0 } else { x };
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let power = rounded - ROUND;
    let r = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let mut series = 1.0 / 479_001_600.0;
    for factor in
        [39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
    {
        series = series * r + 1.0 / factor;
    }
    let scale = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    if power < -1022.0 { 0.0 } else { series * scale }
}

/// Digamma, for `x > 0`.
pub fn digamma(x: f64) -> f64 {
    digamma_trigamma(x).0
}

/// Trigamma, for `x > 0`.
pub fn trigamma(x: f64) -> f64 {
    digamma_trigamma(x).1
}

/// Logarithm of the gamma function, for `x > 0`.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The `x > 0` with `digamma(x) = y`, by Newton steps from Minka's starting point (science.md 0).
pub fn inverse_digamma(y: f64) -> f64 {
    inverse_digamma_near(
        y,
        if y >= -2.22 { libm::exp(y) + 0.5 } else { -1.0 / (y + 0.577_215_664_901_532_9) },
    )
}

/// The same from a guess. Digamma is concave, so a step never overshoots to the right; one that leaves the
/// domain on the left starts again from Minka's point.
pub fn inverse_digamma_near(y: f64, guess: f64) -> f64 {
    let mut x = guess;
    for _ in 0..100 {
        let (value, slope) = digamma_trigamma(x);
        let step = (value - y) / slope;
        if step >= x {
            return inverse_digamma(y);
        }
        x -= step;
        if step.abs() <= 1e-9 * x {
            break; // quadratic: the next step would be below rounding
        }
    }
    x
}

/// `log(sum(exp(values)))` without overflow; minus infinity for no values.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + libm::log(values.iter().map(|&value| libm::exp(value - largest)).sum())
}

/// Partial sums in eight fixed lanes: the order of additions, and so the bits, never depend on the compiler.
pub(crate) const LANES: usize = 8;

/// Adds up eight lanes in a fixed tree.
#[inline(always)]
pub(crate) fn add_lanes(lanes: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Dot product in fixed lanes.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    for (lane, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[lane] += x * y;
    }
    add_lanes(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 6e-11 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn golden_values() {
        close(digamma(0.01), -100.560_885_457_9);
        close(digamma(0.5), -1.963_510_026_0);
        close(digamma(10.0), 2.251_752_589_1);
        close(trigamma(0.5), 4.934_802_200_5);
        close(inverse_digamma(-10.0), 0.104_357_198_8);
        close(inverse_digamma(-2.22), 0.452_298_496_5);
        close(inverse_digamma(0.0), 1.461_632_145_0);
        close(inverse_digamma(3.0), 20.583_463_039_7);
    }

    #[test]
    fn digamma_and_trigamma_against_another_library() {
        use special::Gamma;
        for step in -160..200 {
            let x = libm::pow(10.0, f64::from(step) * 0.05);
            let (value, slope) = digamma_trigamma(x);
            assert!((value - x.digamma()).abs() <= 4e-15 * value.abs().max(1.0), "digamma({x})");
            assert!((slope / x.trigamma() - 1.0).abs() <= 1e-14, "trigamma({x})");
        }
    }

    #[test]
    fn exp_digamma_against_its_definition() {
        for step in -560..3_000 {
            let x = libm::pow(10.0, f64::from(step) * 0.005);
            let expected = libm::exp(digamma(x));
            assert!((exp_digamma(x) / expected - 1.0).abs() < 1e-12, "exp(digamma({x}))");
        }
        for x in [1e-300, 1e-30, 1e-4, 1.3e-3] {
            assert_eq!(exp_digamma(x), 0.0);
        }
        assert_eq!(exp_digamma(1e200), 1e200);
    }

    #[test]
    fn exp_against_another_library() {
        for step in 0..70_000 {
            let x = -0.0101 * f64::from(step);
            assert!((exp_of_negative(x) / libm::exp(x) - 1.0).abs() < 5e-16, "exp({x})");
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn many_at_a_time_are_the_same_as_one_by_one() {
        let values: Vec<f64> = (0..1_003).map(|i| libm::pow(10.0, f64::from(i) * 0.01 - 4.0)).collect();
        for length in [0, 1, 7, 8, 9, 1_003] {
            let mut found = values[..length].to_vec();
            exp_digamma_all(&mut found);
            assert_eq!(found, values[..length].iter().map(|&x| exp_digamma(x)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn inverse_digamma_from_a_bad_guess() {
        for guess in [1e-6, 0.1, 1.0, 50.0, 1e6] {
            close(digamma(inverse_digamma_near(-3.0, guess)), -3.0);
        }
    }

    #[test]
    fn inverse_digamma_round_trip() {
        for step in -1000..200 {
            let y = f64::from(step) * 0.05;
            close(digamma(inverse_digamma(y)), y);
        }
    }

    #[test]
    fn log_sum_exp_of_extremes() {
        close(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + std::f64::consts::LN_2);
        close(log_sum_exp(&[-1000.0, -1e9]), -1000.0);
        assert_eq!(log_sum_exp(&[]), f64::NEG_INFINITY);
    }

    #[test]
    fn dot_of_any_length() {
        for length in 0..40 {
            let a: Vec<f64> = (0..length).map(f64::from).collect();
            let b: Vec<f64> = (0..length).map(|i| f64::from(i + 1)).collect();
            let expected: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), expected);
        }
    }
}
