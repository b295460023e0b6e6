//! Lines to documents, and tables to rows of numbers: one file for each format.

pub(crate) mod bag;

pub(crate) mod weights;

// Text.
pub(crate) mod text;

pub(crate) mod json_lines;

pub(crate) mod table;

#[cfg(feature = "parquet")]
pub(crate) mod parquet_table;

#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
pub(crate) mod parquet_table;

// Counts.
pub(crate) mod numbers;

pub(crate) mod numbered_words;

pub(crate) mod sparse_lines;

pub(crate) mod matrix_market;

pub(crate) mod uci;

pub(crate) mod uci_files;

pub(crate) mod uci_writer;

// Rows of numbers.
pub(crate) mod numeric_csv;

#[cfg(feature = "parquet")]
pub(crate) mod numeric_parquet;

pub(crate) mod numeric_npy;

pub(crate) mod numeric;
