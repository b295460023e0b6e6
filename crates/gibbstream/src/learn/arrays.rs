//! States as named arrays and numbers: the form in which they are written, hashed and read again.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// An array of a state, under the name that it has in files.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its sides.
    pub shape: Vec<usize>,
    /// Its values, the last index fastest.
    pub values: Values<'a>,
}

/// The values of an array; borrowed wherever possible, because a state can be larger than half of the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Values<'a> {
    /// Measured or estimated.
    Floats(Cow<'a, [f64]>),
    /// Counted.
    Counts(Cow<'a, [u64]>),
}

impl<'a> Array<'a> {
    /// An array of estimates.
    pub fn floats(name: &'static str, shape: &[usize], values: impl Into<Cow<'a, [f64]>>) -> Self {
        Self { name, shape: shape.to_vec(), values: Values::Floats(values.into()) }
    }

    /// An array of counts.
    pub fn counts(name: &'static str, shape: &[usize], values: impl Into<Cow<'a, [u64]>>) -> Self {
        Self { name, shape: shape.to_vec(), values: Values::Counts(values.into()) }
    }

    /// A single estimate.
    pub fn one(name: &'static str, value: f64) -> Self {
        Self::floats(name, &[1], vec![value])
    }

    /// The same with values of its own.
    pub fn into_owned(self) -> Array<'static> {
        let values = match self.values {
            Values::Floats(values) => Values::Floats(Cow::Owned(values.into_owned())),
            Values::Counts(values) => Values::Counts(Cow::Owned(values.into_owned())),
        };
        Array { name: self.name, shape: self.shape, values }
    }

    /// Its bytes as they are written.
    pub fn bytes(&self) -> &[u8] {
        match &self.values {
            Values::Floats(values) => bytemuck::cast_slice(values),
            Values::Counts(values) => bytemuck::cast_slice(values),
        }
    }
}

/// A single number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// Counted.
    Count(u64),
    /// Measured.
    Float(f64),
}

impl Scalar {
    /// The bits that identify it.
    pub fn to_bits(self) -> u64 {
        match self {
            Self::Count(count) => count,
            Self::Float(value) => value.to_bits(),
        }
    }
}

/// Where a state is read from again. Problems are told in a few words; whoever reads the file knows its name.
pub trait Stored {
    /// An array of estimates of exactly this shape.
    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, String>;

    /// An array of counts of exactly this shape.
    fn counts(&self, name: &str, shape: &[usize]) -> Result<Vec<u64>, String>;

    /// How many values an array has; nothing if there is no such array.
    fn length(&self, name: &str) -> Option<usize>;

    /// A single number.
    fn scalar(&self, name: &str) -> Result<Scalar, String>;

    /// A single count.
    fn count(&self, name: &str) -> Result<u64, String> {
        match self.scalar(name)? {
            Scalar::Count(count) => Ok(count),
            Scalar::Float(value) => Err(format!("'{name}' is {value} and should be a count")),
        }
    }

    /// A single estimate.
    fn float(&self, name: &str) -> Result<f64, String> {
        Ok(match self.scalar(name)? {
            Scalar::Count(count) => count as f64,
            Scalar::Float(value) => value,
        })
    }
}
