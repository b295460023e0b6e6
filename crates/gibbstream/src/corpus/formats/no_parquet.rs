//! In place of Parquet, where it was not compiled in: files of that format are recognised and refused.

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::json_lines::Fields;
use crate::corpus::formats::numeric::{Row, RowReader};
use crate::corpus::bytes::source::not_compiled_in;
use crate::corpus::stream::RecordReader;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::error::{Place, Result};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

/// Whether a file begins like the format.
pub(crate) fn recognise(start: &[u8]) -> bool {
    start.starts_with(b"PAR1")
}

/// Never made.
pub(crate) struct ParquetReader(Infallible);

impl ParquetReader {
    pub fn new(
        name: &Path,
        _path: &Path,
        _fields: Arc<Fields>,
        _tokenizer: Arc<Tokenizer>,
        _names: Option<Vocabulary>,
        _bad: Arc<BadRecords>,
    ) -> Result<Self> {
        Err(not_compiled_in(name, "Parquet", "parquet"))
    }
}

/// Never made.
pub(crate) struct ParquetRows(Infallible);

impl ParquetRows {
    pub fn new(name: &Path, _path: &Path, _id: &str) -> Result<Self> {
        Err(not_compiled_in(name, "Parquet", "parquet"))
    }
}

impl RecordReader for ParquetReader {
    fn bad(&self) -> &BadRecords {
        match self.0 {}
    }

    fn read(&mut self, _words: &mut dyn WordIds) -> Result<Option<Document>> {
        match self.0 {}
    }
}

impl RowReader for ParquetRows {
    fn columns(&self) -> Option<&[String]> {
        match self.0 {}
    }

    fn width(&self) -> usize {
        match self.0 {}
    }

    fn read(&mut self) -> Result<Option<(Place, Row)>> {
        match self.0 {}
    }
}
