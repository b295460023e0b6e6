//! Small symmetric matrices, stored whole and row by row: Cholesky factors, and a floor under eigenvalues.

/// The lower-triangular `L` with `L L^T` equal to a positive definite matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cholesky {
    order: usize,
    /// Rows of `L` up to the diagonal, one after the other.
    rows: Vec<f64>,
}

/// The place of row `index` among rows of growing length.
fn start(index: usize) -> usize {
    index * (index + 1) / 2
}

impl Cholesky {
    /// The factor of `matrix`, of which the lower triangle is read; `None` if it is not positive definite.
    pub fn new(matrix: &[f64], order: usize) -> Option<Self> {
        let (factor, positive) = Self::decompose(matrix, order, 0.0);
        positive.then_some(factor)
    }

    /// The factor of a matrix whose eigenvalues are all known to be `floor` or more: no pivot can be smaller
    /// then, and one that is so by rounding is raised.
    pub fn with_floor(matrix: &[f64], order: usize, floor: f64) -> Self {
        Self::decompose(matrix, order, floor).0
    }

    fn decompose(matrix: &[f64], order: usize, floor: f64) -> (Self, bool) {
        let mut rows: Vec<f64> = Vec::with_capacity(start(order));
        let mut positive = true;
        for i in 0..order {
            for j in 0..=i {
                let (row, other) = (&rows[start(i)..], &rows[start(j)..]);
                let inner: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                let rest = matrix[i * order + j] - inner;
                rows.push(if j < i {
                    rest / rows[start(j) + j]
                } else {
                    positive &= rest > floor;
                    rest.max(floor).sqrt()
                });
            }
        }
        (Self { order, rows }, positive)
    }

    /// Row `index` of the factor, up to the diagonal.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[start(index)..=start(index) + index]
    }

    /// Logarithm of the determinant of the matrix.
    pub fn log_determinant(&self) -> f64 {
        (0..self.order).map(|i| 2.0 * libm::log(self.row(i)[i])).sum()
    }

    /// Replaces `b` by the solution `x` of `L x = b`.
    pub fn solve_lower(&self, b: &mut [f64]) {
        for i in 0..self.order {
            let row = self.row(i);
            let inner: f64 = row[..i].iter().zip(&*b).map(|(a, b)| a * b).sum();
            b[i] = (b[i] - inner) / row[i];
        }
    }

    /// Replaces `b` by the solution `x` of `L L^T x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        for i in (0..self.order).rev() {
            let inner: f64 = (i + 1..self.order).map(|j| self.row(j)[i] * b[j]).sum();
            b[i] = (b[i] - inner) / self.row(i)[i];
        }
    }

    /// The inverse of `L`: its rows up to the diagonal, one after the other.
    pub fn inverse_lower(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.rows.len()];
        let mut column = vec![0.0; self.order];
        for j in 0..self.order {
            column.fill(0.0);
            column[j] = 1.0;
            self.solve_lower(&mut column);
            (j..self.order).for_each(|i| inverse[start(i) + j] = column[i]);
        }
        inverse
    }
}

/// Raises every eigenvalue of a symmetric `matrix` to at least `floor`. A matrix whose eigenvalues are larger
/// already is not touched.
pub fn raise_eigenvalues(matrix: &mut [f64], order: usize, floor: f64) {
    let mut shifted = matrix.to_vec();
    (0..order).for_each(|i| shifted[i * order + i] -= floor);
    if Cholesky::new(&shifted, order).is_some() {
        return;
    }
    let vectors = diagonalise(matrix, order);
    let values: Vec<f64> = (0..order).map(|k| matrix[k * order + k].max(floor)).collect();
    for i in 0..order {
        for j in 0..=i {
            let (a, b) = (&vectors[i * order..][..order], &vectors[j * order..][..order]);
            let sum = a.iter().zip(b).zip(&values).map(|((a, b), value)| a * b * value).sum();
            matrix[i * order + j] = sum;
            matrix[j * order + i] = sum;
        }
    }
}

/// Jacobi rotations: leaves the eigenvalues on the diagonal and returns the eigenvectors as columns.
fn diagonalise(matrix: &mut [f64], order: usize) -> Vec<f64> {
    let mut vectors = vec![0.0; order * order];
    (0..order).for_each(|i| vectors[i * order + i] = 1.0);
    let size: f64 = (0..order).map(|i| matrix[i * order + i].abs()).sum();
    // Convergence is quadratic: about ten sweeps at most.
    for _ in 0..50 {
        let mut rotated = false;
        for p in 0..order {
            for q in p + 1..order {
                let (app, aqq, apq) = (matrix[p * order + p], matrix[q * order + q], matrix[p * order + q]);
                if apq.abs() <= 1e-18 * size {
                    continue;
                }
                rotated = true;
                let theta = (aqq - app) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let turn = |a: &mut [f64], i: usize, j: usize| {
                    let (x, y) = (a[i], a[j]);
                    a[i] = c * x - s * y;
                    a[j] = s * x + c * y;
                };
                for k in 0..order {
                    turn(matrix, k * order + p, k * order + q);
                    turn(&mut vectors, k * order + p, k * order + q);
                }
                (0..order).for_each(|k| turn(matrix, p * order + k, q * order + k));
            }
        }
        if !rotated {
            break;
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    /// `B B^T` for a random `order x rank` matrix.
    fn random_gram(order: usize, rank: usize, seed: u64) -> Vec<f64> {
        let mut random = Seed(seed).stream(Purpose::Initial, [9, 9]);
        let b: Vec<f64> = (0..order * rank).map(|_| random.normal()).collect();
        product(&b, &b, order, rank)
    }

    /// `A B^T`.
    fn product(a: &[f64], b: &[f64], order: usize, inner: usize) -> Vec<f64> {
        let row = |m: &[f64], i: usize| m[i * inner..][..inner].to_vec();
        (0..order * order)
            .map(|ij| row(a, ij / order).iter().zip(row(b, ij % order)).map(|(x, y)| x * y).sum())
            .collect()
    }

    #[test]
    fn factor_solution_and_determinant() {
        for order in 1..8 {
            let matrix = random_gram(order, order + 3, order as u64);
            let factor = Cholesky::new(&matrix, order).unwrap();
            let whole: Vec<f64> = (0..order * order)
                .map(|ij| factor.row(ij / order).get(ij % order).copied().unwrap_or(0.0))
                .collect();
            for (found, expected) in product(&whole, &whole, order, order).iter().zip(&matrix) {
                assert!((found - expected).abs() < 1e-12, "L L^T is the matrix");
            }
            let x: Vec<f64> = (0..order).map(|i| i as f64 - 1.5).collect();
            let mut b: Vec<f64> = (0..order)
                .map(|i| matrix[i * order..][..order].iter().zip(&x).map(|(a, x)| a * x).sum())
                .collect();
            factor.solve(&mut b);
            assert!(b.iter().zip(&x).all(|(found, x)| (found - x).abs() < 1e-9));
            let inverse = factor.inverse_lower();
            let mut b = x.clone();
            factor.solve_lower(&mut b);
            for (i, expected) in b.iter().enumerate() {
                let found: f64 = inverse[start(i)..=start(i) + i].iter().zip(&x).map(|(a, x)| a * x).sum();
                assert!((found - expected).abs() < 1e-10);
            }
        }
        let factor = Cholesky::new(&[4.0, 99.0, 2.0, 3.0], 2).unwrap();
        assert!((factor.log_determinant() - libm::log(8.0)).abs() < 1e-14, "only the lower triangle is read");
        assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::new(&[0.0], 1).is_none());
        assert!(Cholesky::new(&[f64::NAN], 1).is_none());
        assert_eq!(Cholesky::with_floor(&[0.0], 1, 0.25).row(0), [0.5]);
    }

    #[test]
    fn floor_under_eigenvalues() {
        for (order, rank) in [(1, 0), (2, 1), (5, 2), (7, 7)] {
            let before = random_gram(order, rank, 3);
            let mut raised = before.clone();
            raise_eigenvalues(&mut raised, order, 0.5);
            let (mut old, mut new) = (before, raised);
            let (vectors, _) = (diagonalise(&mut old, order), diagonalise(&mut new, order));
            assert!(
                product(&vectors, &vectors, order, order).iter().enumerate().all(|(ij, x)| (x - f64::from(
                    u8::from(ij / order == ij % order)
                ))
                .abs()
                    < 1e-13),
                "orthogonal"
            );
            let sorted = |matrix: &[f64]| {
                let mut values: Vec<f64> = (0..order).map(|i| matrix[i * order + i]).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            for (old, new) in sorted(&old).into_iter().zip(sorted(&new)) {
                assert!((new - old.max(0.5)).abs() < 1e-12, "{order} {rank}: {old} became {new}");
            }
        }
        let mut large = vec![2.0, 0.3, 0.3, 1.0];
        raise_eigenvalues(&mut large, 2, 0.5);
        assert_eq!(large, [2.0, 0.3, 0.3, 1.0], "untouched to the bit");
    }
}
