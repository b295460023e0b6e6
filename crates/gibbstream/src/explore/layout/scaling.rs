//! Classical scaling: topics as points of a plane whose distances are as near as possible to the given ones.
//!
//! The square root of the Jensen-Shannon divergence is the distance of points in a Euclidean space, so that the matrix
//! `B = -J D^2 J / 2` (D^2: squared distances, J: takes means away) has no negative eigenvalues, and its two largest give the
//! plane that keeps most of the variance. They are found by subspace iteration, whose cost is K^2 a step.

use super::TopicDistances;
use crate::explore::report::TopicMap;
use crate::numerics::math::dot;
use crate::numerics::random::{Purpose, Seed};
use rayon::prelude::*;

/// Vectors that are iterated: more than the two wanted, so that close eigenvalues do not slow it down.
const VECTORS: usize = 6;

/// Steps at most.
const MOST_STEPS: usize = 1000;

/// Relative change of the eigenvalues below which they have been found.
const TOLERANCE: f64 = 1e-13;

/// The map of topics.
pub fn scale(distances: &TopicDistances) -> TopicMap {
    let topics = distances.topics();
    let centred = centre(distances);
    let total: f64 = (0..topics).map(|i| centred[i * topics + i]).sum();
    let [(first, x), (second, y)] = leading(&centred, topics);
    let axis = |value: f64, vector: Vec<f64>| -> Vec<f64> {
        let length = value.max(0.0).sqrt();
        // A vector and its opposite are as good: the entry farthest from 0 is positive.
        let far = vector.iter().fold(0.0_f64, |far, &entry| if entry.abs() > far.abs() { entry } else { far });
        let sign = if far < 0.0 { -length } else { length };
        vector.into_iter().map(|entry| sign * entry).collect()
    };
    let (x, y) = (axis(first, x), axis(second, y));
    let explained = if total > 0.0 { ((first.max(0.0) + second.max(0.0)) / total).min(1.0) } else { 1.0 };
    TopicMap { stress: stress(distances, &x, &y), explained, x, y }
}

/// Squared distances without the means of rows and columns, times -1/2.
fn centre(distances: &TopicDistances) -> Vec<f64> {
    let topics = distances.topics();
    let square = |i: usize, j: usize| distances.between(i, j) * distances.between(i, j);
    let means: Vec<f64> = (0..topics)
        .into_par_iter()
        .map(|i| (0..topics).map(|j| square(i, j)).sum::<f64>() / topics as f64)
        .collect();
    let all = means.iter().sum::<f64>() / topics as f64;
    let means = &means;
    (0..topics)
        .into_par_iter()
        .flat_map_iter(|i| (0..topics).map(move |j| -0.5 * (square(i, j) - means[i] - means[j] + all)))
        .collect()
}

/// The two largest eigenvalues with their vectors.
fn leading(matrix: &[f64], size: usize) -> [(f64, Vec<f64>); 2] {
    let count = VECTORS.min(size);
    let mut random = Seed(0).stream(Purpose::Initial, [0, 0]);
    let mut vectors: Vec<Vec<f64>> =
        (0..count).map(|_| (0..size).map(|_| random.normal()).collect()).collect();
    orthonormalise(&mut vectors);
    let mut previous = [f64::INFINITY; 2];
    for _ in 0..MOST_STEPS {
        let images: Vec<Vec<f64>> = vectors.par_iter().map(|vector| product(matrix, vector)).collect();
        let values = rotate(&vectors, &images);
        let found = [values[0].0, values.get(1).map_or(0.0, |second| second.0)];
        vectors = values.into_iter().map(|(_, vector)| vector).collect();
        let scale = found[0].abs().max(f64::MIN_POSITIVE);
        let converged = found.iter().zip(previous).all(|(new, old)| (new - old).abs() <= TOLERANCE * scale);
        previous = found;
        orthonormalise(&mut vectors);
        if converged {
            break;
        }
    }
    let mut vectors = vectors.into_iter();
    let mut next = |value: f64| (value, vectors.next().unwrap_or_else(|| vec![0.0; size]));
    [next(previous[0]), next(previous[1])]
}

/// Eigenvalues within the space of the vectors (Rayleigh-Ritz), largest first, each with the image of its vector.
fn rotate(vectors: &[Vec<f64>], images: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let inside = nalgebra::DMatrix::from_fn(vectors.len(), vectors.len(), |i, j| {
        0.5 * (dot(&vectors[i], &images[j]) + dot(&vectors[j], &images[i]))
    });
    let eigen = nalgebra::SymmetricEigen::new(inside);
    let combined = |column: usize| {
        let mut sum = vec![0.0; images[0].len()];
        for (image, weight) in images.iter().zip(eigen.eigenvectors.column(column).iter()) {
            sum.iter_mut().zip(image).for_each(|(sum, entry)| *sum += weight * entry);
        }
        sum
    };
    let mut values: Vec<(f64, Vec<f64>)> =
        eigen.eigenvalues.iter().enumerate().map(|(column, &value)| (value, combined(column))).collect();
    values.sort_by(|a, b| b.0.total_cmp(&a.0));
    values
}

fn product(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.par_chunks_exact(vector.len()).map(|row| dot(row, vector)).collect()
}

/// Gram and Schmidt's procedure, twice, because once loses digits. What vanishes stays zero.
fn orthonormalise(vectors: &mut [Vec<f64>]) {
    for place in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(place);
        let vector = &mut rest[0];
        let before = dot(vector, vector).sqrt();
        for _ in 0..2 {
            for other in &*done {
                let along = dot(vector, other);
                vector.iter_mut().zip(other).for_each(|(entry, other)| *entry -= along * other);
            }
        }
        let length = dot(vector, vector).sqrt();
        let factor = if length > 1e-12 * before { 1.0 / length } else { 0.0 };
        vector.iter_mut().for_each(|entry| *entry *= factor);
    }
}

/// The stress: the root of the squared errors of distances on the map over the squares of the true ones. Points on the map are
/// never further apart than the topics, so it is at most 1.
fn stress(distances: &TopicDistances, x: &[f64], y: &[f64]) -> f64 {
    let (mut errors, mut squares) = (0.0, 0.0);
    for i in 0..distances.topics() {
        for (j, &distance) in distances.row(i).iter().enumerate() {
            let (dx, dy) = (x[i] - x[j], y[i] - y[j]);
            let error = (dx * dx + dy * dy).sqrt() - distance;
            errors += error * error;
            squares += distance * distance;
        }
    }
    if squares > 0.0 { (errors / squares).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::tests::random_topics;

    fn given(points: &[(f64, f64)]) -> TopicDistances {
        let distance = |i: usize, j: usize| {
            let ((a, b), (c, d)) = (points[i], points[j]);
            ((a - c) * (a - c) + (b - d) * (b - d)).sqrt()
        };
        let lower = (0..points.len()).flat_map(|i| (0..i).map(move |j| distance(i, j))).collect();
        TopicDistances::given(points.len(), lower)
    }

    #[test]
    fn points_of_a_plane_come_back_without_distortion() {
        let points = [(0.0, 0.0), (3.0, 0.1), (1.0, 2.0), (-1.0, 0.5), (2.5, 2.5)];
        let map = scale(&given(&points));
        let back: Vec<(f64, f64)> = map.x.iter().copied().zip(map.y.iter().copied()).collect();
        let (before, after) = (given(&points), given(&back));
        for i in 0..points.len() {
            for j in 0..i {
                assert!((before.between(i, j) - after.between(i, j)).abs() < 1e-9);
            }
        }
        assert!(map.stress < 1e-9 && (map.explained - 1.0).abs() < 1e-9, "{map:?}");
    }

    #[test]
    fn the_plane_is_that_of_the_two_largest_eigenvalues() {
        let (topics, shares) = random_topics(40, 300, 3);
        let distances = TopicDistances::new(&topics, &shares);
        let map = scale(&distances);
        let all = nalgebra::SymmetricEigen::new(nalgebra::DMatrix::from_row_slice(40, 40, &centre(&distances)));
        let mut order: Vec<usize> = (0..40).collect();
        order.sort_by(|&a, &b| all.eigenvalues[b].total_cmp(&all.eigenvalues[a]));
        for (axis, &column) in [&map.x, &map.y].into_iter().zip(&order) {
            let value = all.eigenvalues[column];
            assert!((dot(axis, axis) - value).abs() < 1e-8 * value, "{} {value}", dot(axis, axis));
            let along: f64 = axis.iter().zip(all.eigenvectors.column(column).iter()).map(|(a, b)| a * b).sum();
            assert!((along.abs() - value.sqrt()).abs() < 1e-5, "{along} {value}");
        }
        // Square roots of Jensen-Shannon divergences are distances of points: no eigenvalue is negative.
        assert!(all.eigenvalues.iter().all(|&value| value > -1e-9));
        let explained = (all.eigenvalues[order[0]] + all.eigenvalues[order[1]]) / all.eigenvalues.sum();
        assert!((map.explained - explained).abs() < 1e-9);
        assert!(map.stress > 0.05 && map.stress < 1.0, "forty random topics do not lie in a plane: {}", map.stress);
    }

    #[test]
    fn topics_that_are_all_the_same_lie_in_one_point() {
        let map = scale(&TopicDistances::given(3, vec![0.0; 3]));
        assert_eq!((map.x, map.y, map.stress), (vec![0.0; 3], vec![0.0; 3], 0.0));
    }
}
