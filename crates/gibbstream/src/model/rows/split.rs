//! A first split of observations into groups: the seeds of k-means++, then a few rounds of k-means.

use crate::model::rows::observations::Observations;
use crate::numerics::random::Stream;

/// Rounds of k-means: a start, not a solution.
const ROUNDS: usize = 10;

/// Splits that are tried: a bad draw of the seeds would stay for the whole stream.
const TRIALS: usize = 8;

/// The group of every observation: the tightest of a few splits. Seeds are drawn with probability proportional to the
/// squared distance from the seeds so far, the best of a few draws each time; every column is measured in its own
/// standard deviation. Then every observation goes to the group with the nearest mean, a few times over. With fewer
/// different observations than groups, some groups stay empty.
pub(crate) fn labels(observations: &Observations, groups: usize, random: &mut Stream) -> Vec<usize> {
    let rows: Vec<&[f64]> = observations.rows().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let precision = precisions(observations);
    let distance = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(&precision).map(|((a, b), precision)| (a - b) * (a - b) * precision).sum()
    };
    let mut best = (f64::INFINITY, vec![0; rows.len()]);
    for _ in 0..TRIALS {
        let seeds = seeds(&rows, groups, &distance, random);
        let (width, labels) = refined(&rows, seeds, groups, &distance);
        if width < best.0 {
            best = (width, labels);
        }
    }
    best.1
}

/// The group of every observation by the nearest of the seeds.
fn seeds(
    rows: &[&[f64]],
    groups: usize,
    distance: &impl Fn(&[f64], &[f64]) -> f64,
    random: &mut Stream,
) -> Vec<usize> {
    let mut labels = vec![0; rows.len()];
    let seed = rows[random.below(rows.len())];
    let mut nearest: Vec<f64> = rows.iter().map(|row| distance(row, seed)).collect();
    let draws = 2 + libm::log(groups as f64) as usize;
    for group in 1..groups {
        if nearest.iter().all(|&distance| distance == 0.0) {
            break;
        }
        let mut best = (f64::INFINITY, Vec::new());
        for _ in 0..draws {
            let seed = rows[random.categorical(&nearest)];
            let after: Vec<f64> =
                rows.iter().zip(&nearest).map(|(row, &nearest)| distance(row, seed).min(nearest)).collect();
            let total = after.iter().sum();
            if total < best.0 {
                best = (total, after);
            }
        }
        for ((label, old), new) in labels.iter_mut().zip(&nearest).zip(&best.1) {
            if new < old {
                *label = group;
            }
        }
        nearest = best.1;
    }
    labels
}

/// The split after rounds of k-means, and the sum of squared distances from the means in the last of them.
fn refined(
    rows: &[&[f64]],
    mut labels: Vec<usize>,
    groups: usize,
    distance: &impl Fn(&[f64], &[f64]) -> f64,
) -> (f64, Vec<usize>) {
    let mut width = f64::INFINITY;
    for _ in 0..ROUNDS {
        let means = means(rows, &labels, groups);
        let before = labels.clone();
        width = 0.0;
        for (label, row) in labels.iter_mut().zip(rows) {
            let mut least = f64::INFINITY;
            for (group, mean) in means.iter().enumerate() {
                let distance = mean.as_ref().map_or(f64::INFINITY, |mean| distance(row, mean));
                if distance < least {
                    (least, *label) = (distance, group);
                }
            }
            width += least;
        }
        if labels == before {
            break;
        }
    }
    (width, labels)
}

/// The mean of each group that is not empty.
fn means(rows: &[&[f64]], labels: &[usize], groups: usize) -> Vec<Option<Vec<f64>>> {
    let mut sums = vec![(0.0, vec![0.0; rows[0].len()]); groups];
    for (row, &label) in rows.iter().zip(labels) {
        sums[label].0 += 1.0;
        sums[label].1.iter_mut().zip(*row).for_each(|(sum, value)| *sum += value);
    }
    sums.into_iter()
        .map(|(size, sum)| (size > 0.0).then(|| sum.into_iter().map(|sum| sum / size).collect()))
        .collect()
}

/// One over the variance of each column; 0 for a constant one.
fn precisions(observations: &Observations) -> Vec<f64> {
    let mean = observations.mean();
    let mut squares = vec![0.0; mean.len()];
    for row in observations.rows() {
        for ((square, value), mean) in squares.iter_mut().zip(row).zip(&mean) {
            *square += (value - mean) * (value - mean);
        }
    }
    let number = observations.rows().len() as f64;
    squares.iter().map(|&square| if square > 0.0 { number / square } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    fn stream(seed: u64) -> Stream {
        Seed(seed).stream(Purpose::Initial, [0, 0])
    }

    /// Groups 1000 spreads apart: a seed falls into a group that has one with probability below 1e-5 per draw.
    #[test]
    fn separated_groups_are_found_whatever_the_scale_of_columns() {
        for seed in 0..50 {
            let mut random = stream(1000 + seed);
            let mut rows = Vec::new();
            for i in 0..90 {
                let (a, b) = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)][i % 3];
                rows.extend([a + 1e-3 * random.normal(), 1e6 * (b + 1e-3 * random.normal())]);
            }
            let observations = Observations::new(rows, 2, 0, 0).unwrap();
            let labels = labels(&observations, 3, &mut stream(seed));
            for (i, label) in labels.iter().enumerate() {
                assert_eq!(*label, labels[i % 3], "seed {seed}, observation {i}");
            }
            let mut kinds = labels[..3].to_vec();
            kinds.sort_unstable();
            assert_eq!(kinds, [0, 1, 2]);
        }
    }

    #[test]
    fn few_different_observations() {
        let same = Observations::new(vec![4.0; 6], 1, 0, 0).unwrap();
        assert_eq!(labels(&same, 3, &mut stream(1)), [0; 6]);
        let two = Observations::new(vec![4.0, 5.0, 4.0], 1, 0, 0).unwrap();
        let found = labels(&two, 3, &mut stream(1));
        assert_eq!(found[0], found[2]);
        assert_ne!(found[0], found[1]);
        assert!(labels(&Observations::new(Vec::new(), 1, 0, 0).unwrap(), 2, &mut stream(1)).is_empty());
    }
}
