//! Small symmetric matrices, stored whole and row by row: Cholesky factors, and a floor under eigenvalues.
//!
//! The decompositions are those of `nalgebra`, built without the part of it that chooses kernels by processor: plain
//! additions, multiplications, divisions and square roots in one order, so the bits are the same on every machine.

use nalgebra::{DMatrix, Dyn};

/// The lower-triangular `L` with `L L^T` equal to a positive definite matrix.
pub type Cholesky = nalgebra::Cholesky<f64, Dyn>;

/// The factor of a matrix whose eigenvalues are all known to be `floor > 0` or more. No pivot can be smaller then; where one
/// is so by rounding, the diagonal is raised by as much as rounding may have taken from it.
pub fn factor(mut matrix: DMatrix<f64>, floor: f64) -> Cholesky {
    if let Some(found) = Cholesky::new(matrix.clone())
        && found.l_dirty().diagonal().iter().all(|pivot| pivot * pivot >= 0.5 * floor)
    {
        return found;
    }
    let rounding = (matrix.nrows() as f64 * f64::EPSILON * matrix.trace()).max(floor);
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += rounding);
    Cholesky::new_with_substitute(matrix, rounding).expect("what was added has a square root")
}

/// Logarithm of the determinant of the factored matrix.
pub fn log_determinant(factor: &Cholesky) -> f64 {
    factor.l_dirty().diagonal().iter().map(|&pivot| 2.0 * libm::log(pivot)).sum()
}

/// The inverse of `L`: its rows up to the diagonal, one after the other.
pub fn inverse_lower(factor: &Cholesky) -> Vec<f64> {
    let order = factor.l_dirty().nrows();
    let mut inverse = DMatrix::identity(order, order);
    factor.l_dirty().solve_lower_triangular_mut(&mut inverse);
    (0..order).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|place| inverse[place]).collect()
}

/// Raises every eigenvalue of a symmetric `matrix` to at least `floor`. A matrix whose eigenvalues are larger
/// already is not touched.
pub fn raise_eigenvalues(matrix: &mut [f64], order: usize, floor: f64) {
    let whole = DMatrix::from_row_slice(order, order, matrix);
    let mut shifted = whole.clone();
    (0..order).for_each(|i| shifted[(i, i)] -= floor);
    if Cholesky::new(shifted).is_some() {
        return;
    }
    let mut found = whole.symmetric_eigen();
    found.eigenvalues.iter_mut().for_each(|value| *value = value.max(floor));
    let raised = found.recompose();
    for i in 0..order {
        for j in 0..=i {
            matrix[i * order + j] = raised[(i, j)];
            matrix[j * order + i] = raised[(i, j)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    /// `B B^T` for a random `order x rank` matrix.
    fn random_gram(order: usize, rank: usize, seed: u64) -> DMatrix<f64> {
        let mut random = Seed(seed).stream(Purpose::Initial, [9, 9]);
        let b = DMatrix::from_fn(order, rank, |_, _| random.normal());
        &b * b.transpose()
    }

    #[test]
    fn inverse_and_determinant() {
        for order in 1..8 {
            let matrix = random_gram(order, order + 3, order as u64);
            let found = factor(matrix.clone(), 1e-300);
            let (inverse, lower) = (inverse_lower(&found), found.l());
            for i in 0..order {
                for j in 0..=i {
                    let row = &inverse[i * (i + 1) / 2..][..=i];
                    let product: f64 = row.iter().enumerate().map(|(k, x)| x * lower[(k, j)]).sum();
                    let identity = f64::from(u8::from(i == j));
                    assert!((product - identity).abs() < 1e-11, "{order}: {product} at {i}, {j}");
                }
            }
            assert!((log_determinant(&found) - libm::log(matrix.determinant())).abs() < 1e-10);
        }
        let two = DMatrix::from_row_slice(2, 2, &[4.0, 99.0, 2.0, 3.0]);
        assert!(
            (log_determinant(&factor(two, 1.0)) - libm::log(8.0)).abs() < 1e-14,
            "the lower triangle is read"
        );
        assert_eq!(factor(DMatrix::zeros(1, 1), 0.25).l()[(0, 0)], 0.5);
        let huge = factor(DMatrix::from_element(3, 3, 1e200), 1e-6);
        assert!(huge.l_dirty().diagonal().iter().all(|&pivot| pivot > 1e90), "rounding is no variance");
    }

    #[test]
    fn floor_under_eigenvalues() {
        for (order, rank) in [(1, 0), (2, 1), (5, 2), (7, 7)] {
            let before = random_gram(order, rank, 3);
            let mut raised = before.as_slice().to_vec();
            raise_eigenvalues(&mut raised, order, 0.5);
            let sorted = |matrix: DMatrix<f64>| {
                let mut values = matrix.symmetric_eigenvalues().as_slice().to_vec();
                values.sort_by(f64::total_cmp);
                values
            };
            let after = DMatrix::from_row_slice(order, order, &raised);
            assert_eq!(after, after.transpose());
            for (old, new) in sorted(before).into_iter().zip(sorted(after)) {
                assert!((new - old.max(0.5)).abs() < 1e-12, "{order} {rank}: {old} became {new}");
            }
        }
        let mut large = vec![2.0, 0.3, 0.3, 1.0];
        raise_eigenvalues(&mut large, 2, 0.5);
        assert_eq!(large, [2.0, 0.3, 0.3, 1.0], "untouched to the bit");
    }
}
