//! Jensen-Shannon distances between all pairs of topics.
//!
//! With `g(x) = x log x`, the divergence of two topics in nats is
//! `log 2 + (sum_w g(p_w) + sum_w g(q_w) - sum_w g(p_w + q_w)) / 2`: one logarithm per word and pair. Where even that is too
//! much, rare words are put together by the topic that has most of their tokens. Grouping words can only make topics look
//! more alike (data processing inequality), and words that share their main topic are the ones that say the same.

use crate::model::topics::lda::Topics;
use crate::numerics::vectorised::vectorised;
use rayon::prelude::*;

/// Logarithms that a report may spend on distances; some seconds.
const MOST_LOGARITHMS: usize = 2_000_000_000;

/// Topics from which on there are no distances: they would take seconds times the square of how many more there are.
pub(crate) const MOST_TOPICS: usize = 4_000;

/// The distances of all pairs of topics: square roots of divergences in bits, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicDistances {
    topics: usize,
    /// Rows of the lower triangle, one after the other.
    lower: Vec<f64>,
    /// Whether every word was compared by itself.
    pub exact: bool,
}

impl TopicDistances {
    /// Distances of the topics that have been met; `shares` are their shares.
    pub fn new(topics: &Topics, shares: &[f64]) -> Self {
        let pairs = (shares.len() * shares.len() / 2).max(1);
        Self::with_columns(topics, shares, MOST_LOGARITHMS / pairs)
    }

    /// The same with at most so many groups of words, or as many as there are topics.
    fn with_columns(topics: &Topics, shares: &[f64], most: usize) -> Self {
        let met = shares.len();
        let exact = topics.vocabulary() <= most.max(met);
        let places: Vec<usize> =
            if exact { (0..topics.vocabulary()).collect() } else { grouped(topics, shares, most) };
        let columns = places.iter().max().map_or(0, |last| last + 1);
        let mut rows = vec![0.0; met * columns];
        for (word, &place) in places.iter().enumerate() {
            for (k, probability) in topics.row(word as u32)[..met].iter().enumerate() {
                rows[k * columns + place] += probability;
            }
        }
        let rows: Vec<&[f64]> = rows.chunks_exact(columns.max(1)).collect();
        let alone: Vec<f64> = rows.par_iter().map(|row| sum_of_x_log_x(row, None)).collect();
        let distance = |i: usize, j: usize| {
            let together = sum_of_x_log_x(rows[i], Some(rows[j]));
            let divergence = 0.5 * (alone[i] + alone[j] - together) / std::f64::consts::LN_2 + 1.0;
            divergence.clamp(0.0, 1.0).sqrt()
        };
        let lower = (0..met).into_par_iter().flat_map_iter(|i| (0..i).map(move |j| distance(i, j))).collect();
        Self { topics: met, lower, exact }
    }

    /// Number of topics.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// The distance of two topics.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        let (low, high) = (i.min(j), i.max(j));
        if low == high { 0.0 } else { self.lower[high * (high - 1) / 2 + low] }
    }

    /// The distances of a topic to all before it.
    pub fn row(&self, topic: usize) -> &[f64] {
        &self.lower[topic * topic.saturating_sub(1) / 2..][..topic]
    }

    /// The topics nearest to each, nearest first, with their distances; the lower id first where two are as near.
    pub fn nearest(&self, topic: usize, most: usize) -> Vec<(u32, f64)> {
        let others = (0..self.topics).filter(|&other| other != topic);
        let mut others: Vec<(u32, f64)> =
            others.map(|other| (other as u32, self.between(topic, other))).collect();
        others.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        others.truncate(most);
        others
    }

    /// Distances given by hand: rows of the lower triangle.
    #[cfg(test)]
    pub(super) fn given(topics: usize, lower: Vec<f64>) -> Self {
        assert_eq!(lower.len(), topics * (topics - 1) / 2);
        Self { topics, lower, exact: true }
    }
}

/// A column for each of the most frequent words, and one for the others of every topic.
fn grouped(topics: &Topics, shares: &[f64], most: usize) -> Vec<usize> {
    let tokens = |word: usize| topics.row(word as u32).iter().zip(shares).map(|(p, share)| p * share);
    let alone = most.saturating_sub(shares.len());
    let mut order: Vec<(f64, usize)> =
        (0..topics.vocabulary()).map(|word| (tokens(word).sum(), word)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places = vec![0; topics.vocabulary()];
    for (rank, &(_, word)) in order.iter().enumerate() {
        let main = || tokens(word).enumerate().fold((0, 0.0), |best, (k, p)| if p > best.1 { (k, p) } else { best }).0;
        places[word] = if rank < alone { shares.len() + rank } else { main() };
    }
    places
}

/// `sum_w g(p_w + q_w)`, in lanes of eight, so that its bits are the same everywhere.
pub(crate) fn sum_of_x_log_x(p: &[f64], q: Option<&[f64]>) -> f64 {
    const LANES: usize = 8;
    vectorised!((p: &[f64] = p, q: Option<&[f64]> = q) -> f64 {
        let mut sums = [0.0; LANES];
        let (blocks, rest) = p.as_chunks::<LANES>();
        if let Some((others, _)) = q.map(<[f64]>::as_chunks::<LANES>) {
            for (block, other) in blocks.iter().zip(others) {
                for lane in 0..LANES {
                    sums[lane] += x_log_x(block[lane] + other[lane]);
                }
            }
        } else {
            for block in blocks {
                for lane in 0..LANES {
                    sums[lane] += x_log_x(block[lane]);
                }
            }
        }
        let first = p.len() - rest.len();
        let rest: f64 = (first..p.len()).map(|word| x_log_x(p[word] + q.map_or(0.0, |q| q[word]))).sum();
        sums.iter().sum::<f64>() + rest
    })
}

/// `x log x` for probabilities, to eleven digits and without branches: `log x = e log 2 + 2 artanh((m - 1) / (m + 1))` with
/// `x = m 2^e` and m between the square roots of 1/2 and 2.
#[inline(always)]
fn x_log_x(x: f64) -> f64 {
    const ONE: u64 = 0x3ff << 52;
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // Less than any probability, and its logarithm is a number.
    let x = x + 1e-300;
    let bits = x.to_bits();
    let exponent = bits.wrapping_add(ONE - ROOT_OF_HALF) >> 52;
    let m = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(ONE));
    // An integer below 2^52 becomes a float by its bits, which vectors can do.
    let e = f64::from_bits(0x4330_0000_0000_0000 | exponent) - (4_503_599_627_370_496.0 + 1023.0);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let series = 1.0
        + z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0))))));
    x * (e * std::f64::consts::LN_2 + 2.0 * s * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::tests::random_topics;

    fn slow(topics: &Topics, i: usize, j: usize) -> f64 {
        let column = |k: usize| topics.beta.iter().skip(k).step_by(topics.topics());
        let towards = |p: f64, q: f64| if p > 0.0 { p * libm::log2(2.0 * p / (p + q)) } else { 0.0 };
        let sum: f64 = column(i).zip(column(j)).map(|(&p, &q)| 0.5 * (towards(p, q) + towards(q, p))).sum();
        sum.max(0.0).sqrt()
    }

    #[test]
    fn logarithms_are_good_to_ten_digits() {
        for i in 0..20_000 {
            let x = libm::pow(10.0, -15.0 + 16.0 * f64::from(i) / 20_000.0);
            let exact = x * libm::log(x);
            assert!((x_log_x(x) - exact).abs() <= 1e-10 * exact.abs().max(x), "{x}: {} {exact}", x_log_x(x));
        }
        assert_eq!(x_log_x(1.0), 0.0);
        assert!(x_log_x(0.0).abs() < 1e-290);
    }

    #[test]
    fn distances_equal_their_definition() {
        let (mut topics, shares) = random_topics(7, 133, 1);
        // Words that one topic alone has, and two topics with nothing in common.
        for word in 0..133 {
            let row = &mut topics.beta[word * 7..][..7];
            if word % 2 == 0 {
                row[5] = 0.0;
            } else {
                row[6] = 0.0;
            }
        }
        for k in [5, 6] {
            let sum: f64 = topics.beta.iter().skip(k).step_by(7).sum();
            topics.beta.iter_mut().skip(k).step_by(7).for_each(|p| *p /= sum);
        }
        let found = TopicDistances::new(&topics, &shares);
        assert!(found.exact);
        for i in 0..7 {
            for j in 0..i {
                let (distance, expected) = (found.between(i, j), slow(&topics, i, j));
                assert!((distance - expected).abs() < 1e-7, "{i} {j}: {distance} {expected}");
                assert_eq!(distance, found.between(j, i));
                assert_eq!(distance, found.row(i)[j]);
            }
            assert_eq!(found.between(i, i), 0.0);
        }
        assert!((found.between(5, 6) - 1.0).abs() < 1e-9);
        let nearest = found.nearest(2, 3);
        assert_eq!(nearest.len(), 3);
        assert!(nearest.is_sorted_by(|a, b| a.1 <= b.1));
        assert!((0..7).filter(|&other| other != 2).all(|other| found.between(2, other) >= nearest[0].1));
    }

    #[test]
    fn grouping_rare_words_adds_nothing_and_loses_less_with_more_columns() {
        let (topics, shares) = random_topics(12, 900, 2);
        let exact = TopicDistances::new(&topics, &shares);
        let mut lost = vec![1.0];
        for columns in [12, 200, 600] {
            let grouped = TopicDistances::with_columns(&topics, &shares, columns);
            assert!(!grouped.exact);
            let mut most: f64 = 0.0;
            for i in 0..12 {
                for j in 0..i {
                    let (less, all) = (grouped.between(i, j), exact.between(i, j));
                    assert!(less <= all + 1e-9, "grouping cannot tell topics apart");
                    most = most.max(1.0 - less / all);
                }
            }
            lost.push(most);
        }
        // These topics are hard: no word is frequent, and none is typical of one of them.
        assert!(lost.is_sorted_by(|a, b| a > b) && lost[3] < 0.25, "{lost:?}");
        assert!(TopicDistances::with_columns(&topics, &shares, 900).exact);
    }
}
