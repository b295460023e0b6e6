//! Statistical tests with fixed seeds: they pass or fail for ever. For a correct generator each check had a
//! chance below 7e-6 to be unlucky with its seed (|z| < 4.5, two-sided); there are about a hundred.

use special::{Beta as _, Gamma as _};

use super::*;

/// Bound on the absolute value of a standard normal score.
pub(crate) const Z: f64 = 4.5;

/// Bound on sqrt(n) D of Kolmogorov and Smirnov: 2 exp(-2 * 2.51^2) = 7e-6, as likely as [`Z`].
const KOLMOGOROV: f64 = 2.51;

const N: usize = 400_000;

fn stream(key: u64) -> Stream {
    Seed(2024).stream(Purpose::Local, [0, key])
}

/// Mean and variance of `draws` against the given ones; the fourth central moment tells how far the variance
/// of a sample strays.
pub(crate) fn check_moments(what: &str, draws: &[f64], mean: f64, variance: f64, fourth: f64) {
    let n = draws.len() as f64;
    let found_mean = draws.iter().sum::<f64>() / n;
    let found_variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let z_mean = (found_mean - mean) / (variance / n).sqrt();
    let z_variance = (found_variance - variance) / ((fourth - variance * variance) / n).sqrt();
    assert!(z_mean.abs() < Z, "{what}: mean {found_mean} instead of {mean}, z = {z_mean}");
    assert!(z_variance.abs() < Z, "{what}: variance {found_variance}, not {variance}, z = {z_variance}");
}

/// Largest distance between the empirical and the true distribution function.
fn check_distribution(what: &str, mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    draws.sort_unstable_by(f64::total_cmp);
    let n = draws.len() as f64;
    let distance = draws.iter().enumerate().fold(0.0_f64, |largest, (i, &x)| {
        let p = cdf(x);
        largest.max(p - i as f64 / n).max((i + 1) as f64 / n - p)
    });
    assert!(distance * n.sqrt() < KOLMOGOROV, "{what}: sqrt(n) D = {}", distance * n.sqrt());
}

/// Pearson's statistic of counts against a law, as a standard normal score (Wilson and Hilferty's cube root).
/// Cells that expect fewer than 10 are put together; a count where the law is zero gives infinity.
pub(crate) fn chi_square_z(counts: &[u64], law: &[f64]) -> f64 {
    assert_eq!(counts.len(), law.len());
    let n = counts.iter().sum::<u64>() as f64;
    let (mut statistic, mut cells, mut rare) = (0.0, 0_u32, (0.0, 0.0));
    let mut add = |count: f64, expected: f64| {
        if expected > 0.0 {
            statistic += (count - expected) * (count - expected) / expected;
            cells += 1;
        }
    };
    for (&count, &p) in counts.iter().zip(law) {
        if p == 0.0 && count > 0 {
            return f64::INFINITY;
        }
        if n * p < 10.0 {
            rare = (rare.0 + count as f64, rare.1 + n * p);
        } else {
            add(count as f64, n * p);
        }
    }
    add(rare.0, rare.1);
    let spread = 2.0 / (9.0 * f64::from(cells - 1));
    (libm::cbrt(statistic / f64::from(cells - 1)) - (1.0 - spread)) / spread.sqrt()
}

fn draw(key: u64, mut one: impl FnMut(&mut Stream) -> f64) -> Vec<f64> {
    let mut stream = stream(key);
    (0..N).map(|_| one(&mut stream)).collect()
}

#[test]
fn bits_never_change() {
    let first = |seed: u64, purpose, key| {
        let mut stream = Seed(seed).stream(purpose, key);
        [stream.0.next_u64(), stream.0.next_u64(), stream.0.next_u64(), stream.0.next_u64()]
    };
    // These whole numbers, and the others below to all but the last bit, are from a second implementation.
    assert_eq!(
        first(0, Purpose::Initial, [0, 0]),
        [0x23bf_2a66_7af0_7225, 0x331e_2b22_1c48_5d4e, 0x4440_2c39_bc91_2527, 0xed72_7426_ed49_402b]
    );
    assert_eq!(
        first(42, Purpose::SyntheticDocument, [0, 7]),
        [0x729d_2c31_a0ac_8bd1, 0x9487_ae90_2ff6_c0a5, 0xd1a2_de5b_ede6_8158, 0xbea6_6c7e_8114_728b]
    );
    let mut s = stream(0);
    let floats =
        [s.uniform(), s.uniform_positive(), s.normal(), s.gamma(0.05), s.gamma(5.0), s.log_gamma(1e-3)];
    assert_eq!(
        floats.map(f64::to_bits),
        [
            0x3fe8_bdbd_aeed_0471,
            0x3fc8_a258_1d32_be3c,
            0x3ff2_80eb_8ae4_1886,
            0x3fe1_ef28_2a86_6494,
            0x4016_9b4b_af99_f4e8,
            0xc093_53ef_97f0_a2da
        ]
    );
    assert_eq!([s.below(1_000) as u64, s.poisson(3.0), s.poisson(700.0)], [687, 2, 693]);
    assert_eq!([s.categorical(&[1.0; 50]), s.categorical(&[0.0, 1.0])], [35, 1]);
}

#[test]
fn uniform_numbers() {
    for (key, one) in [(1, Stream::uniform as fn(&mut Stream) -> f64), (2, Stream::uniform_positive)] {
        let draws = draw(key, one);
        check_moments("uniform", &draws, 0.5, 1.0 / 12.0, 1.0 / 80.0);
        check_distribution("uniform", draws, |x| x);
    }
    assert!(draw(3, Stream::uniform).iter().all(|&x| (0.0..1.0).contains(&x)));
    assert!(draw(4, Stream::uniform_positive).iter().all(|&x| x > 0.0 && x <= 1.0));
}

#[test]
fn below_is_uniform() {
    for n in [1, 2, 7, 1_000] {
        let (mut stream, mut counts) = (stream(10 + n as u64), vec![0; n]);
        (0..N).for_each(|_| counts[stream.below(n)] += 1);
        if n > 1 {
            let z = chi_square_z(&counts, &vec![1.0 / n as f64; n]);
            assert!(z.abs() < Z, "below({n}): z = {z}");
        }
    }
    let mut stream = stream(9);
    let half = usize::MAX / 2;
    let upper = (0..N).filter(|_| stream.below(usize::MAX) > half).count() as f64;
    assert!((upper - N as f64 / 2.0).abs() / (N as f64 / 4.0).sqrt() < Z);
}

#[test]
fn shuffled_orders_are_uniform() {
    let (mut stream, mut counts) = (stream(20), vec![0; 256]);
    for _ in 0..N {
        let mut order = [0, 1, 2, 3];
        stream.shuffle(&mut order);
        counts[order.iter().fold(0, |code, item| code * 4 + item)] += 1;
    }
    counts.retain(|&count| count > 0);
    assert_eq!(counts.len(), 24);
    let z = chi_square_z(&counts, &[1.0 / 24.0; 24]);
    assert!(z.abs() < Z, "z = {z}");
}

#[test]
fn categorical_follows_its_weights() {
    let weights = [0.0, 3.0, 1e-4, 0.0, 0.5, 6.0, 0.0];
    let total: f64 = weights.iter().sum();
    let (mut stream, mut counts) = (stream(21), vec![0; weights.len()]);
    (0..N).for_each(|_| counts[stream.categorical(&weights)] += 1);
    let z = chi_square_z(&counts, &weights.map(|weight| weight / total));
    assert!(z.abs() < Z, "z = {z}");
}

#[test]
fn normal_numbers() {
    let draws = draw(30, Stream::normal);
    check_moments("normal", &draws, 0.0, 1.0, 3.0);
    check_distribution("normal", draws.clone(), |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2));
    let z = draws.iter().zip(&draws[1..]).map(|(x, y)| x * y).sum::<f64>() / (N as f64).sqrt();
    assert!(z.abs() < Z, "neighbours: z = {z}");
}

#[test]
fn gamma_numbers() {
    for (key, shape) in [(40, 0.05), (41, 0.5), (42, 1.0), (43, 5.0), (44, 1_000.0)] {
        let draws = draw(key, |stream| stream.gamma(shape));
        let what = format!("gamma({shape})");
        check_moments(&what, &draws, shape, shape, 3.0 * shape * shape + 6.0 * shape);
        check_distribution(&what, draws, |x| x.inc_gamma(shape));
    }
    let mut many = vec![0.0; N];
    stream(45).gammas(100.0, &mut many);
    check_moments("gammas(100)", &many, 100.0, 100.0, 3.0 * 100.0 * 100.0 + 6.0 * 100.0);
    let z = many.iter().zip(&many[1..]).map(|(x, y)| (x - 100.0) * (y - 100.0) / 100.0).sum::<f64>();
    assert!((z / (N as f64).sqrt()).abs() < Z, "neighbours: {z}");
    check_distribution("gammas(100)", many, |x| x.inc_gamma(100.0));
}

/// The logarithm has mean digamma and variance trigamma; its fourth central moment is 3 trigamma^2 plus the
/// third derivative of digamma, the sum of 6 / (shape + i)^4.
#[test]
fn logarithms_of_gamma_numbers() {
    for (key, shape) in [(50, 1e-3), (51, 0.05), (52, 0.5), (53, 5.0)] {
        let draws = draw(key, |stream| stream.log_gamma(shape));
        let fourth: f64 = (0..10_000).map(|i| 6.0 / libm::pow(shape + f64::from(i), 4.0)).sum();
        let variance = shape.trigamma();
        check_moments("log gamma", &draws, shape.digamma(), variance, 3.0 * variance * variance + fourth);
    }
}

#[test]
fn dirichlet_vectors() {
    let a = [0.05, 0.3, 1.0, 2.5];
    let total: f64 = a.iter().sum();
    let mut stream = stream(60);
    let draws: Vec<[f64; 4]> = (0..N)
        .map(|_| {
            let mut out = [0.0; 4];
            stream.dirichlet(&a, &mut out);
            assert!((out.iter().sum::<f64>() - 1.0).abs() < 1e-12 && out.iter().all(|&x| x >= 0.0));
            out
        })
        .collect();
    for i in 0..4 {
        // Each share is Beta(p, q).
        let (p, q) = (a[i], total - a[i]);
        let variance = p * q / (total * total * (total + 1.0));
        let excess = 6.0 * ((p - q) * (p - q) * (total + 1.0) - p * q * (total + 2.0))
            / (p * q * (total + 2.0) * (total + 3.0));
        let share: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
        check_moments("share", &share, p / total, variance, (excess + 3.0) * variance * variance);
        check_distribution("share", share, |x| x.inc_beta(p, q, p.ln_beta(q)));
        for j in 0..i {
            let products: Vec<f64> =
                draws.iter().map(|d| (d[i] - p / total) * (d[j] - a[j] / total)).collect();
            let mean = products.iter().sum::<f64>() / N as f64;
            let square = products.iter().map(|x| x * x).sum::<f64>() / N as f64 - mean * mean;
            let expected = -p * a[j] / (total * total * (total + 1.0));
            let z = (mean - expected) / (square / N as f64).sqrt();
            assert!(z.abs() < Z, "covariance of {i} and {j}: {mean} instead of {expected}, z = {z}");
        }
    }
}

#[test]
fn dirichlet_of_tiny_concentrations_has_one_full_share() {
    let mut out = [0.0; 20];
    let mut stream = stream(61);
    for _ in 0..10_000 {
        stream.dirichlet(&[1e-200; 20], &mut out);
        assert_eq!(out.iter().filter(|&&x| x == 1.0).count(), 1);
        assert_eq!(out.iter().sum::<f64>(), 1.0);
    }
}

#[test]
fn poisson_numbers() {
    for (key, mean, n) in [(70, 0.2, N), (71, 3.0, N), (72, 500.0, 20_000), (73, 700.0, 20_000)] {
        let mut stream = stream(key);
        let draws: Vec<u64> = (0..n).map(|_| stream.poisson(mean)).collect();
        let what = format!("poisson({mean})");
        let floats: Vec<f64> = draws.iter().map(|&x| x as f64).collect();
        check_moments(&what, &floats, mean, mean, mean + 3.0 * mean * mean);
        let largest = draws.iter().max().map_or(0, |&x| x as usize);
        let mut counts = vec![0; largest + 2];
        for &x in &draws {
            counts[x as usize] += 1;
        }
        let mut law: Vec<f64> = (0..=largest)
            .map(|k| libm::exp(k as f64 * libm::log(mean) - mean - libm::lgamma(k as f64 + 1.0)))
            .collect();
        law.push((1.0 - law.iter().sum::<f64>()).max(0.0));
        let z = chi_square_z(&counts, &law);
        assert!(z.abs() < Z, "{what}: z = {z}");
    }
    assert_eq!(stream(74).poisson(0.0), 0);
}

/// Streams with neighbouring seeds, purposes and keys do not know of each other: their numbers are
/// uncorrelated at the same place and one place apart, and their first numbers are uniform.
#[test]
fn neighbouring_streams_are_independent() {
    type Family = (&'static str, fn(u64) -> Stream);
    let families: [Family; 5] = [
        ("seeds", |i| Seed(i).stream(Purpose::Local, [0, 0])),
        ("passes", |i| Seed(7).stream(Purpose::Local, [i, 0])),
        ("documents", |i| Seed(7).stream(Purpose::Local, [0, i])),
        ("high bits", |i| Seed(7).stream(Purpose::Local, [0, i << 44])),
        ("purposes", |i| {
            let purpose = if i % 2 == 0 { Purpose::Local } else { Purpose::Evaluation };
            Seed(7).stream(purpose, [0, i / 2])
        }),
    ];
    let n = 200_000_u64;
    for (what, make) in families {
        let first: Vec<[f64; 2]> = (0..=n)
            .map(|i| {
                let mut stream = make(i);
                [stream.uniform() - 0.5, stream.uniform() - 0.5]
            })
            .collect();
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let sum: f64 = first.iter().zip(&first[1..]).map(|(x, y)| x[a] * y[b]).sum();
            let z = 12.0 * sum / (n as f64).sqrt();
            assert!(z.abs() < Z, "{what}: places {a} and {b}, z = {z}");
        }
        check_distribution(what, first.iter().map(|x| x[0] + 0.5).collect(), |x| x);
    }
    assert_ne!(Seed(7).stream(Purpose::Local, [1, 2]), Seed(7).stream(Purpose::Local, [2, 1]));
}
