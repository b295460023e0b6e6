//! Rows of a matrix, or documents of a corpus, read where they are: no copy of the matrix is made.

use crate::corpus::Corpus;
use gibbstream::Error;
use gibbstream::corpus::{BadWeight, Document, MAX_DOCUMENT_TOKENS, Row};
use gibbstream::learn::Observation;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ops::Range;

/// Numbers that count something.
trait Weight: Copy {
    fn weight(self) -> f64;
}

macro_rules! weights {
    ($($type:ty),*) => { $(impl Weight for $type {
        #[inline]
        // Some of these types convert exactly and some do not; counts are far below where it matters.
        #[allow(clippy::cast_lossless)]
        fn weight(self) -> f64 {
            self as f64
        }
    })* };
}
weights!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl Weight for bool {
    #[inline]
    fn weight(self) -> f64 {
        f64::from(u8::from(self))
    }
}

macro_rules! numbers {
    ($($name:ident $type:ty),*) => {
        /// A one-dimensional array of numbers that stays borrowed from Python.
        pub enum Array<'py> { $($name(PyReadonlyArray1<'py, $type>)),* }

        /// The numbers themselves.
        #[derive(Clone, Copy)]
        pub enum Numbers<'a> { $($name(&'a [$type])),* }

        impl<'py> Array<'py> {
            fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.extract() {
                    return Ok(Self::$name(array));
                })*
                let kind = object.get_type();
                Err(PyTypeError::new_err(format!("X: {kind} is not a contiguous array of numbers")))
            }

            fn numbers(&self) -> PyResult<Numbers<'_>> {
                Ok(match self { $(Self::$name(array) => Numbers::$name(array.as_slice()?)),* })
            }
        }

        impl Numbers<'_> {
            fn len(&self) -> usize {
                match self { $(Self::$name(values) => values.len()),* }
            }

            /// Calls `visit` for the numbers of a range that must be inside.
            #[inline]
            fn each(&self, range: Range<usize>, mut visit: impl FnMut(f64)) {
                match self {
                    $(Self::$name(values) => values[range].iter().for_each(|value| visit(value.weight()))),*
                }
            }
        }
    };
}
numbers!(F64 f64, I64 i64, F32 f32, I32 i32, U8 u8, U32 u32, U64 u64, U16 u16, I16 i16, I8 i8, Bool bool);

/// Where rows come from, as Python gives it: `(indptr, indices, data, columns)`, `(values, columns)` row after row, or a
/// corpus.
pub enum Source<'py> {
    Sparse { starts: Array<'py>, columns: Array<'py>, weights: Array<'py>, width: usize },
    Dense { weights: Array<'py>, width: usize },
    Corpus(Bound<'py, Corpus>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(corpus) = object.cast::<Corpus>() {
            return Ok(Self::Corpus(corpus.to_owned()));
        }
        if let Ok((starts, columns, weights, width)) =
            object.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize)>()
        {
            let (starts, columns) = (Array::new(&starts)?, Array::new(&columns)?);
            return Ok(Self::Sparse { starts, columns, weights: Array::new(&weights)?, width });
        }
        let (weights, width) = object.extract::<(Bound<'py, PyAny>, usize)>()?;
        Ok(Self::Dense { weights: Array::new(&weights)?, width })
    }
}

impl Source<'_> {
    /// The rows, for use without the interpreter.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Self::Sparse { starts, columns, weights, width } => Rows::Sparse {
                starts: starts.numbers()?,
                columns: columns.numbers()?,
                weights: weights.numbers()?,
                width: *width,
            },
            Self::Dense { weights, width } => Rows::Dense { weights: weights.numbers()?, width: *width },
            Self::Corpus(corpus) => Rows::Documents(&corpus.get().documents),
        })
    }
}

/// Rows that can be read one by one.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    Sparse { starts: Numbers<'a>, columns: Numbers<'a>, weights: Numbers<'a>, width: usize },
    Dense { weights: Numbers<'a>, width: usize },
    Documents(&'a [Document]),
}

impl<'a> Rows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Sparse { starts, .. } => starts.len().saturating_sub(1),
            Self::Dense { weights, width } => weights.len().checked_div(*width).unwrap_or(0),
            Self::Documents(documents) => documents.len(),
        }
    }

    /// The entries of a row that are not zero, or that a sparse matrix lists.
    fn entries(&self, row: usize, space: &mut Vec<(u32, f64)>) -> gibbstream::Result<()> {
        space.clear();
        match *self {
            Self::Documents(_) => {}
            Self::Dense { weights, width } => {
                let mut column = 0;
                weights.each(row * width..(row + 1) * width, |weight| {
                    if weight != 0.0 {
                        space.push((column, weight));
                    }
                    column += 1;
                });
            }
            Self::Sparse { starts, columns, weights, width } => {
                let mut ends = [0.0; 2];
                let mut next = ends.iter_mut();
                starts.each(row..row + 2, |end| next.next().into_iter().for_each(|place| *place = end));
                let entries = ends[0].max(0.0) as usize..ends[1].max(0.0) as usize;
                if entries.start > entries.end || entries.end > columns.len().min(weights.len()) {
                    return Err(broken(row, "its entries are not where `indptr` says"));
                }
                let mut sound = true;
                columns.each(entries.clone(), |column| {
                    sound &= column >= 0.0 && column < width as f64;
                    space.push((column as u32, 0.0));
                });
                if !sound {
                    return Err(broken(row, &format!("a column is not one of 0 to {}", width.max(1) - 1)));
                }
                let mut places = space.iter_mut();
                weights.each(entries, |weight| places.next().into_iter().for_each(|place| place.1 = weight));
            }
        }
        Ok(())
    }

    /// All rows, in order; as numbers, or as documents.
    pub fn observations(
        self,
        as_numbers: bool,
    ) -> impl Iterator<Item = gibbstream::Result<Observation>> + 'a {
        let mut space = Vec::new();
        (0..self.len()).map(move |row| self.observation(row, as_numbers, &mut space))
    }

    /// One row as numbers, or as a document; `space` is used again.
    pub fn observation(
        &self,
        row: usize,
        as_numbers: bool,
        space: &mut Vec<(u32, f64)>,
    ) -> gibbstream::Result<Observation> {
        if as_numbers {
            Ok(Row { id: None, values: self.numbers(row, space)? }.into())
        } else {
            self.document(row, space).map(Observation::Document)
        }
    }

    fn numbers(&self, row: usize, space: &mut Vec<(u32, f64)>) -> gibbstream::Result<Vec<f64>> {
        let mut values = Vec::new();
        match *self {
            Self::Documents(_) => {
                return Err(Error::setting("X", "these are documents, not rows of numbers", "give a matrix"));
            }
            Self::Dense { weights, width } => {
                weights.each(row * width..(row + 1) * width, |value| values.push(value));
            }
            Self::Sparse { width, .. } => {
                self.entries(row, space)?;
                values.resize(width, 0.0);
                space.iter().for_each(|&(column, value)| values[column as usize] += value);
            }
        }
        Ok(values)
    }

    /// All rows as documents, in order.
    pub fn documents(self) -> impl Iterator<Item = gibbstream::Result<Document>> + 'a {
        let mut space = Vec::new();
        (0..self.len()).map(move |row| self.document(row, &mut space))
    }

    /// One row as a document; `space` is used again.
    pub fn document(&self, row: usize, space: &mut Vec<(u32, f64)>) -> gibbstream::Result<Document> {
        if let Self::Documents(documents) = self {
            return Ok(documents[row].clone());
        }
        self.entries(row, space)?;
        Document::from_weights(space).map_err(|bad| match bad {
            BadWeight::NotACount { word, weight } => Error::setting(
                "X",
                format!("row {row}, column {word}: {weight} is not a number of occurrences"),
                "counts are finite numbers from 0 on",
            ),
            BadWeight::TooMany => Error::setting(
                "X",
                format!("row {row} has more than {MAX_DOCUMENT_TOKENS} tokens"),
                "split it into smaller documents",
            ),
        })
    }
}

fn broken(row: usize, problem: &str) -> Error {
    Error::setting("X", format!("row {row}: {problem}"), "build the sparse matrix anew")
}
