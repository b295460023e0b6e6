//! Arithmetic whose bits are the same on every machine: special functions, sums in lanes, and random streams.

pub mod math;

pub mod random;

pub(crate) mod lanes;

pub(crate) mod vectorised;

pub(crate) mod large_pages;
