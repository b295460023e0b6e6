//! Parquet: a row is a document. Its column holds text, a list of tokens, or a list of word ids, the counts of which may
//! be in a list `counts` beside it.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::Value;

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::formats::json_lines::Fields;
use crate::corpus::formats::numbered_words::NumberedWords;
use crate::corpus::stream::RecordReader;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::error::{Error, Place, Result};

/// The column with the counts of a list of word ids.
const COUNTS: &str = "counts";

const SIGNATURE: &[u8] = b"PAR1";

/// Whether a file begins like the format.
pub(crate) fn recognise(start: &[u8]) -> bool {
    start.starts_with(SIGNATURE)
}

/// Reads the rows.
pub(crate) struct ParquetReader {
    rows: RowIter<'static>,
    row: u64,
    place: Place,
    fields: Arc<Fields>,
    tokenizer: Arc<Tokenizer>,
    names: NumberedWords,
    bad: Arc<BadRecords>,
    bag: Bag,
}

/// The kind of flaw of a row, the flaw itself, and what to do about it.
type Flaw = (&'static str, String, &'static str);

impl ParquetReader {
    /// Opens the file `path` that messages call `name`.
    pub fn new(
        name: &Path,
        path: &Path,
        fields: Arc<Fields>,
        tokenizer: Arc<Tokenizer>,
        names: Option<Vocabulary>,
        bad: Arc<BadRecords>,
    ) -> Result<Self> {
        let place = Place::file(name);
        let file = File::open(path).map_err(|error| Error::io(name, "open", error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(&place, &error))?;
        check_compression(&place, reader.metadata())?;
        let schema = reader.metadata().file_metadata().schema().clone();
        let columns = schema.get_fields();
        let missing = |name: &&String| !columns.iter().any(|column| column.name() == name.as_str());
        if let Some(name) = std::iter::once(&fields.text).chain(&fields.kept).find(missing) {
            let shown: Vec<String> =
                columns.iter().take(20).map(|column| format!("`{}`", column.name())).collect();
            let is_text = *name == fields.text;
            return Err(Error::corpus(
                place,
                format!("has no column `{name}` (columns: {})", shown.join(", ")),
                if is_text { "name the column that holds the text with {text-field}" } else { "name one of the columns" },
            ));
        }
        let wanted = |name: &str| {
            name == fields.text || name == fields.id || name == COUNTS || fields.kept.iter().any(|kept| kept == name)
        };
        let wanted = columns.iter().filter(|column| wanted(column.name())).cloned().collect();
        let projection = Type::group_type_builder(schema.name()).with_fields(wanted).build();
        let rows = projection
            .and_then(|projection| RowIter::from_file_into(Box::new(reader)).project(Some(projection)))
            .map_err(|error| damaged(&place, &error))?;
        let names = NumberedWords::new(names, 0);
        Ok(Self { rows, row: 0, place, fields, tokenizer, names, bad, bag: Bag::default() })
    }
}

impl RecordReader for ParquetReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.map_err(|error| damaged(&self.place, &error))?;
        self.row += 1;
        self.bag.clear();
        let refused = |(kind, problem, advice): Flaw| {
            Error::bad_record(self.place.clone(), kind, format!("row {}: {problem}", self.row), advice)
        };
        let column =
            |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
        let id = match column(&self.fields.id) {
            None | Some(Field::Null) => None,
            Some(Field::Str(id)) => Some(id.clone()),
            Some(other) => Some(other.to_string()),
        };
        let kept = self.fields.kept.iter().map(|name| column(name).map_or(Value::Null, kept_value));
        let kept: Vec<Value> = kept.collect();
        read_words(&row, &self.fields.text, &self.tokenizer, &mut self.names, &mut self.bag, words)
            .map_err(refused)?;
        self.bag.check(|| (self.place.clone(), format!("row {}", self.row)))?;
        self.fields.check(&kept, || Place { line: Some(self.row), ..self.place.clone() })?;
        Ok(Some(self.bag.take(id, kept)))
    }

    fn pass(&mut self) -> Result<bool> {
        match self.rows.next() {
            None => Ok(false),
            Some(row) => {
                row.map(|_| self.row += 1).map(|()| true).map_err(|error| damaged(&self.place, &error))
            }
        }
    }
}

/// Refuses by name what this program cannot unpack.
pub(crate) fn check_compression(place: &Place, metadata: &ParquetMetaData) -> Result<()> {
    let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let unknown = |codec: Compression| {
        matches!(codec, Compression::BROTLI(_) | Compression::LZO)
    };
    let Some(codec) = chunks.map(ColumnChunkMetaData::compression).find(|&codec| unknown(codec)) else {
        return Ok(());
    };
    let name = if codec == Compression::LZO { "LZO" } else { "Brotli" };
    let problem = format!("is compressed with {name}, which this program does not read");
    Err(Error::corpus(place.clone(), problem, "write it with zstd, snappy, gzip or LZ4, or without compression"))
}

pub(crate) fn damaged(place: &Place, error: &parquet::errors::ParquetError) -> Error {
    Error::corpus(
        place.clone(),
        format!("damaged Parquet data ({error})"),
        "check that the file is whole; write or copy it again",
    )
}

/// Puts the words of a row into the bag.
fn read_words(
    row: &Row,
    text: &str,
    tokenizer: &Tokenizer,
    names: &mut NumberedWords,
    bag: &mut Bag,
    words: &mut dyn WordIds,
) -> Result<(), Flaw> {
    let column =
        |name: &str| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field);
    match column(text) {
        Some(Field::Str(text)) => {
            bag.add_text(text, tokenizer, words);
            Ok(())
        }
        Some(Field::ListInternal(list)) => {
            let counts = match column(COUNTS) {
                Some(Field::ListInternal(counts)) => Some(counts.elements()),
                _ => None,
            };
            if let Some(counts) = counts.filter(|counts| counts.len() != list.len()) {
                return Err((
                    "wrong number of counts",
                    format!("`{text}` has {} elements and `{COUNTS}` has {}", list.len(), counts.len()),
                    "give one count for each word",
                ));
            }
            for (place, element) in list.elements().iter().enumerate() {
                let count = counts.map_or(Ok(1), |counts| {
                    whole(&counts[place]).and_then(|count| count.try_into().ok()).ok_or(&counts[place])
                });
                let count: u32 = count.map_err(|found| {
                    (
                        "count out of range",
                        format!("`{found}` is not a count"),
                        "counts are whole numbers from 0 to 4294967295",
                    )
                })?;
                let word = match element {
                    Field::Str(token) if token.trim().is_empty() => continue,
                    Field::Str(token) if token.contains(['\n', '\r']) => {
                        return Err((
                            "wrong type of field",
                            format!("a token of `{text}` has a line break in it"),
                            "write one word per token",
                        ));
                    }
                    Field::Str(token) => words.id(token.trim()),
                    other => {
                        let number = whole(other).ok_or_else(|| {
                            (
                                "wrong type of field",
                                format!("`{other}` in `{text}` is neither a token nor a word id"),
                                "a list holds strings or whole numbers",
                            )
                        })?;
                        names.check(number).map_err(|problem| {
                            ("word out of range", problem, "check the words given with {vocab}")
                        })?;
                        names.id(number, words)
                    }
                };
                if count > 0 {
                    bag.add(word, count);
                }
            }
            Ok(())
        }
        Some(Field::Null) | None => Err((
            "field missing",
            format!("`{text}` is null"),
            "name the column that holds the text with {text-field}",
        )),
        Some(_) => Err((
            "wrong type of field",
            format!("`{text}` is neither text nor a list"),
            "name the column that holds the text with {text-field}",
        )),
    }
}

/// A cell to keep; dates and times in the usual notation.
fn kept_value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(truth) => Value::from(*truth),
        Field::Str(text) => Value::from(text.as_str()),
        Field::ListInternal(list) => list.elements().iter().map(kept_value).collect(),
        Field::Float(number) => Value::from(*number),
        Field::Double(number) => Value::from(*number),
        Field::Byte(number) => Value::from(*number),
        Field::Short(number) => Value::from(*number),
        Field::Int(number) => Value::from(*number),
        Field::Long(number) => Value::from(*number),
        other => whole(other).map_or_else(|| Value::from(other.to_string()), Value::from),
    }
}

fn whole(field: &Field) -> Option<u64> {
    match *field {
        Field::Byte(number) => u64::try_from(number).ok(),
        Field::Short(number) => u64::try_from(number).ok(),
        Field::Int(number) => u64::try_from(number).ok(),
        Field::Long(number) => u64::try_from(number).ok(),
        Field::UByte(number) => Some(number.into()),
        Field::UShort(number) => Some(number.into()),
        Field::UInt(number) => Some(number.into()),
        Field::ULong(number) => Some(number),
        _ => None,
    }
}
