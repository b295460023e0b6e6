//! CSV and TSV: a record is a document, columns are found by their names in the first record.

use std::io::{self, Read};
use std::sync::Arc;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use serde_json::Value;

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::formats::json_lines::Fields;
use crate::corpus::bytes::lines::{LARGE_RECORD_BYTES, Lines, MAX_LINE_BYTES, has_memory_for};
use crate::corpus::stream::RecordReader;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::WordIds;
use crate::error::{Error, Place, Result};

/// The character between columns: a tab if the first line has one and the file is not named otherwise.
pub(crate) fn delimiter(ending: &str, start: &[u8]) -> u8 {
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "tsv" => b'\t',
        "csv" => b',',
        _ if first.contains(&b'\t') => b'\t',
        _ => b',',
    }
}

/// Where the parser is in a field, to see whether the last quote is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Begins,
    Plain,
    Quoted,
    /// After a quote inside of quotes: the end of them, or the first of two.
    Closing,
}

/// Follows quotes as the parser does.
#[derive(Default)]
struct Quotes {
    field: Field,
    lines: u64,
    /// Lines before the quote that was opened last.
    opened: u64,
}

impl Quotes {
    fn follow(&mut self, bytes: &[u8], delimiter: u8) {
        for &byte in bytes {
            self.field = match (self.field, byte) {
                (Field::Begins | Field::Closing, b'"') => {
                    if self.field == Field::Begins {
                        self.opened = self.lines;
                    }
                    Field::Quoted
                }
                (Field::Quoted, b'"') => Field::Closing,
                (Field::Quoted, _) => Field::Quoted,
                (_, b'\n' | b'\r') => Field::Begins,
                (_, byte) if byte == delimiter => Field::Begins,
                _ => Field::Plain,
            };
            self.lines += u64::from(byte == b'\n');
        }
    }
}

/// Hands bytes to the parser, which would hold a record of any length.
struct Limited {
    lines: Lines,
    left: usize,
    failed: Option<Error>,
    place: Place,
    delimiter: u8,
    quotes: Quotes,
    /// Bytes of a record for which memory was asked.
    affordable: usize,
    /// Whether a quote at the end was never closed, so that the last record is none.
    is_open: bool,
}

impl Limited {
    fn refuse(&mut self, error: Error) -> io::Error {
        self.failed = Some(error);
        io::ErrorKind::InvalidData.into()
    }
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let place = self.place.clone();
            return Err(self.refuse(Error::corpus(
                place,
                format!("the record is longer than {MAX_LINE_BYTES} bytes"),
                "check that its quotes are closed, or split the document",
            )));
        }
        let held = MAX_LINE_BYTES - self.left;
        if held >= self.affordable {
            self.affordable = 2 * held.max(LARGE_RECORD_BYTES);
            if !has_memory_for(self.affordable) {
                let place = self.place.clone();
                return Err(self.refuse(Error::corpus(
                    place,
                    format!("there is not enough memory for a record of more than {held} bytes"),
                    "check that its quotes are closed, split the document, or allow more memory",
                )));
            }
        }
        let size = into.len().min(self.left);
        let count = self.lines.read(&mut into[..size]).map_err(|error| self.refuse(error))?;
        self.left -= count;
        self.quotes.follow(&into[..count], self.delimiter);
        if count == 0 && self.quotes.field == Field::Quoted && !std::mem::replace(&mut self.is_open, true) {
            let place = Place::line(&self.place.file, self.quotes.opened + 1);
            return Err(self.refuse(Error::bad_record(
                place,
                "quote never closed",
                "a quote is opened here and never closed, so the rest of the file would be one field",
                "close it, or double quotes that are part of the text",
            )));
        }
        Ok(count)
    }
}

/// The records of a table after the first, which names the columns.
pub(crate) struct Records {
    reader: Reader<Limited>,
    /// The record that was read last.
    pub record: ByteRecord,
    /// The names of the columns.
    pub names: ByteRecord,
    /// The first record.
    pub head: Place,
}

impl Records {
    /// Reads the names of the columns.
    pub fn new(lines: Lines, delimiter: u8) -> Result<Self> {
        let head = Place::line(&lines.file().file, 1);
        let source = Limited {
            lines,
            left: MAX_LINE_BYTES,
            failed: None,
            place: head.clone(),
            delimiter,
            quotes: Quotes::default(),
            affordable: LARGE_RECORD_BYTES,
            is_open: false,
        };
        // Lengths are compared here, because the parser would not say on which line a short record begins.
        let mut reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(source);
        let mut names = ByteRecord::new();
        let found = reader.read_byte_record(&mut names);
        explain(found, &mut reader)?;
        Ok(Self { reader, record: ByteRecord::new(), names, head })
    }

    /// Reads the next record and tells where it is; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Place>> {
        let line = self.reader.position().line();
        let source = self.reader.get_mut();
        if source.is_open {
            return Ok(None);
        }
        source.left = MAX_LINE_BYTES;
        source.affordable = LARGE_RECORD_BYTES;
        source.place.line = Some(line);
        let found = self.reader.read_byte_record(&mut self.record);
        if !explain(found, &mut self.reader)? {
            return Ok(None);
        }
        let begins = self.record.position().map_or(line, csv::Position::line);
        let place = Place { line: Some(begins), ..self.reader.get_ref().place.clone() };
        if self.record.len() == self.names.len() {
            return Ok(Some(place));
        }
        Err(Error::bad_record(
            place,
            "wrong number of fields",
            format!("the record has {} fields instead of {}", self.record.len(), self.names.len()),
            "every record has as many fields as the first; quote fields that contain a separator",
        ))
    }
}

/// Reads documents.
pub(crate) struct TableReader {
    records: Records,
    text: usize,
    id: Option<usize>,
    kept: Vec<usize>,
    fields: Arc<Fields>,
    tokenizer: Arc<Tokenizer>,
    bad: Arc<BadRecords>,
    bag: Bag,
}

impl TableReader {
    /// Finds the columns.
    pub fn new(
        lines: Lines,
        delimiter: u8,
        fields: Arc<Fields>,
        tokenizer: Arc<Tokenizer>,
        bad: Arc<BadRecords>,
    ) -> Result<Self> {
        let records = Records::new(lines, delimiter)?;
        let names = &records.names;
        let column = |name: &str| names.iter().position(|column| column == name.as_bytes());
        let needed = |name: &str, advice: &str| {
            column(name).ok_or_else(|| {
                let shown: Vec<String> =
                    names.iter().take(20).map(|name| format!("`{}`", name.escape_ascii())).collect();
                let problem = format!("has no column `{name}` (columns: {})", shown.join(", "));
                Error::corpus(records.head.clone(), problem, advice)
            })
        };
        let text = needed(&fields.text, "name the column that holds the text with {text-field}")?;
        let kept = fields.kept.iter().map(|name| needed(name, "name one of the columns"));
        let kept = kept.collect::<Result<_>>()?;
        let id = column(&fields.id);
        Ok(Self { records, text, id, kept, fields, tokenizer, bad, bag: Bag::default() })
    }
}

impl RecordReader for TableReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let Some(place) = self.records.next()? else { return Ok(None) };
        let field = |column: usize, name: &str| {
            std::str::from_utf8(&self.records.record[column]).map_err(|error| {
                Error::bad_record(
                    place.clone(),
                    "not UTF-8",
                    format!("column `{name}` is not UTF-8 text at its byte {}", error.valid_up_to() + 1),
                    "convert the file to UTF-8, for example with `iconv`",
                )
            })
        };
        let (bag, text) = (&mut self.bag, field(self.text, &self.fields.text)?);
        let id = self.id.map(|column| field(column, &self.fields.id)).transpose()?.map(str::to_owned);
        let kept = self.kept.iter().zip(&self.fields.kept).map(|(&column, name)| field(column, name));
        let kept = kept.map(|text| text.map(Value::from)).collect::<Result<Vec<_>>>()?;
        bag.clear();
        bag.add_text(text, &self.tokenizer, words);
        bag.check(|| (place.clone(), "the document".into()))?;
        self.fields.check(&kept, || place.clone())?;
        Ok(Some(bag.take(id.filter(|id| !id.is_empty()), kept)))
    }
}

/// What the source said, if it is to blame, instead of what the parser says about it.
fn explain(found: csv::Result<bool>, records: &mut Reader<Limited>) -> Result<bool> {
    found.map_err(|error| {
        let place = records.get_ref().place.clone();
        match (records.get_mut().failed.take(), error.into_kind()) {
            (Some(failed), _) => failed,
            (None, ErrorKind::Io(source)) => Error::io(place.file, "read", source),
            (None, _) => Error::corpus(place, "is not a table", "check that this is the right file"),
        }
    })
}
