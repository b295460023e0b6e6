//! Minibatches of observations that are rows of numbers: measurements of any sign, or counts.
//!
//! Values are checked here once, so that nothing after this point has to be able to fail.

use crate::model::Batch;
use crate::error::{Error, Result};
use std::slice::ChunksExact;

/// Which numbers an observation may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Finite numbers.
    Real,
    /// Whole numbers from 0 on.
    Counts,
    /// 0 or 1.
    Binary,
}

impl Domain {
    /// Says what is wrong with a value, if something is.
    pub fn check(self, value: f64) -> Result<(), &'static str> {
        let (fits, problem) = match self {
            Self::Real => (
                value.abs() <= Observations::LARGEST,
                "not a finite number of magnitude up to 1e100, and squares of values are summed",
            ),
            Self::Counts => (
                (0.0..=Counts::LARGEST).contains(&value) && value.fract() == 0.0,
                "not a count, that is a whole number from 0 to 2^53",
            ),
            Self::Binary => (value == 0.0 || value == 1.0, "not an answer, that is 0 or 1"),
        };
        if fits { Ok(()) } else { Err(problem) }
    }
}

/// Consecutive observations of a stream, each a row of `dimension` finite numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    rows: Vec<f64>,
    dimension: usize,
    first: u64,
    pass: u64,
}

impl Observations {
    /// The largest magnitude that is accepted: squares of it, and sums of such squares, stay finite.
    pub const LARGEST: f64 = 1e100;

    /// The observations `first..` of the stream in pass number `pass`, row after row; both numbers key the
    /// random streams.
    pub fn new(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Self> {
        Self::checked(rows, dimension, first, pass, Domain::Real)
    }

    fn checked(rows: Vec<f64>, dimension: usize, first: u64, pass: u64, domain: Domain) -> Result<Self> {
        if dimension == 0 {
            return Err(Error::setting("dimension", "an observation has no values", "use at least 1"));
        }
        if !rows.len().is_multiple_of(dimension) {
            return Err(Error::setting(
                "observations",
                format!("{} values cannot be cut into rows of {dimension}", rows.len()),
                "pass complete rows, or correct the dimension",
            ));
        }
        for (index, &value) in rows.iter().enumerate() {
            domain.check(value).map_err(|problem| {
                let (row, column) = (first + (index / dimension) as u64, index % dimension);
                Error::setting(
                    "observations",
                    format!("{value} in observation {row}, column {column} (counted from 0) is {problem}"),
                    "remove or correct that observation",
                )
            })?;
        }
        Ok(Self { rows, dimension, first, pass })
    }

    /// Number of values of each observation.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Refuses observations of another dimension than that of a model.
    pub fn check_dimension(&self, expected: usize) -> Result<()> {
        if self.dimension == expected {
            return Ok(());
        }
        Err(Error::setting(
            "observations",
            format!("they have {} values each, and the model has {expected}", self.dimension),
            "give observations with the columns that the model was made for",
        ))
    }

    /// Observation `index`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.dimension..][..self.dimension]
    }

    /// All observations in order.
    pub fn rows(&self) -> ChunksExact<'_, f64> {
        self.rows.chunks_exact(self.dimension)
    }

    /// The mean of every column; zero if there is no observation.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.dimension];
        for row in self.rows() {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        let number = Batch::len(self).max(1) as f64;
        for sum in &mut mean {
            *sum /= number;
        }
        mean
    }
}

impl Batch for Observations {
    fn len(&self) -> usize {
        self.rows.len() / self.dimension
    }

    fn key(&self, index: usize) -> [u64; 2] {
        [self.pass, self.first + index as u64]
    }

    /// An observation is a few microseconds of work, less than what it costs to hand it to another thread.
    fn grain(&self) -> usize {
        16
    }
}

impl AsRef<Observations> for Observations {
    fn as_ref(&self) -> &Observations {
        self
    }
}

/// Observations whose values are restricted.
macro_rules! restricted {
    ($(#[$doc:meta])* $name:ident, $domain:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(Observations);

        impl $name {
            /// As [`Observations::new`], for these values.
            pub fn new(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Self> {
                Observations::checked(rows, dimension, first, pass, $domain).map(Self)
            }
        }

        impl Batch for $name {
            fn len(&self) -> usize {
                self.0.len()
            }

            fn key(&self, index: usize) -> [u64; 2] {
                self.0.key(index)
            }

            fn grain(&self) -> usize {
                self.0.grain()
            }
        }

        impl AsRef<Observations> for $name {
            fn as_ref(&self) -> &Observations {
                &self.0
            }
        }
    };
}

restricted!(
    /// Observations whose values are counts: whole numbers from 0 on.
    Counts,
    Domain::Counts
);

restricted!(
    /// Observations whose values are 0 or 1.
    Binary,
    Domain::Binary
);

impl Counts {
    /// The largest count that is accepted, `2^53`: every whole number up to it is exact.
    pub const LARGEST: f64 = 9_007_199_254_740_992.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keys_and_mean() {
        let batch = Observations::new(vec![1.0, 2.0, 3.0, 6.0], 2, 10, 3).unwrap();
        assert_eq!((batch.len(), batch.dimension()), (2, 2));
        assert_eq!(batch.row(1), [3.0, 6.0]);
        assert_eq!(batch.key(1), [3, 11]);
        assert_eq!(batch.mean(), [2.0, 4.0]);
        let none = Observations::new(Vec::new(), 2, 0, 0).unwrap();
        assert!(none.is_empty());
        assert_eq!(none.mean(), [0.0, 0.0]);
        assert_eq!(Counts::new(vec![0.0, 7.0], 1, 5, 0).unwrap().key(1), [0, 6]);
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.1e100] {
            let error = Observations::new(vec![0.0, 1.0, value, 1.0], 2, 7, 0).unwrap_err().to_string();
            assert!(error.contains("observation 8, column 0"), "{error}");
        }
        for value in [-1.0, 0.5, f64::NAN, f64::INFINITY, 1e17] {
            let error = Counts::new(vec![3.0, value], 2, 0, 0).unwrap_err().to_string();
            assert!(error.contains("observation 0, column 1"), "{error}");
        }
        for value in [-1.0, 0.5, 2.0, f64::NAN] {
            let error = Binary::new(vec![1.0, 0.0, value], 1, 4, 0).unwrap_err().to_string();
            assert!(error.contains("observation 6, column 0"), "{error}");
        }
        assert!(Observations::new(vec![1.0; 3], 2, 0, 0).is_err(), "an incomplete row");
        assert!(Observations::new(Vec::new(), 0, 0, 0).is_err(), "no dimension");
    }
}
