//! Rows of numbers from tables and arrays: one stream of them, whatever the files are.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::input::{Content, Input};
use crate::corpus::formats::numeric_csv::CsvRows;
use crate::corpus::formats::numeric_npy::NpyRows;
#[cfg(feature = "parquet")]
use crate::corpus::formats::numeric_parquet::ParquetRows;
#[cfg(not(feature = "parquet"))]
use crate::corpus::formats::parquet_table::ParquetRows;
use crate::corpus::reader::ResolvedInputs;
use crate::corpus::stream::{Selection, no_documents};
use crate::corpus::formats::table::delimiter;
use crate::error::{Error, Place, Result};
use crate::model::rows::observations::Domain;

/// One observation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The name the input gives it, if any.
    pub id: Option<String>,
    /// Its values, in the order of the columns.
    pub values: Vec<f64>,
}

/// Something that reads rows one after the other from one input.
pub(crate) trait RowReader: Send {
    /// The names of the columns that are read; `None` if they have none.
    fn columns(&self) -> Option<&[String]>;

    /// How many there are.
    fn width(&self) -> usize;

    /// The next row, good or bad, its values as they stand there; `None` at the end.
    fn read(&mut self) -> Result<Option<(Place, Row)>>;
}

/// Inputs as rows of numbers.
#[derive(Clone)]
pub struct NumericRows {
    selection: Arc<Selection>,
    domain: Domain,
    columns: Vec<String>,
    /// The first input, if its head was read to find the columns: what comes through a pipe comes once.
    opened: Arc<Mutex<Option<Box<dyn RowReader>>>>,
}

impl NumericRows {
    /// The rows of all inputs. With `expected`, the columns of a model, every input must have these columns and no others,
    /// in any order if they have names; otherwise those of the first input. A column with the name of the documents
    /// (`id-field`) is not one of them.
    pub fn new(inputs: &ResolvedInputs, domain: Domain, expected: Option<&[String]>) -> Result<Self> {
        let selection = inputs.selection().clone();
        let mut rows = Self { selection, domain, columns: Vec::new(), opened: Arc::default() };
        rows.columns = match expected {
            Some(expected) => expected.to_vec(),
            None => rows.first_columns()?,
        };
        Ok(rows)
    }

    /// Columns of the first input. Where they have no names they are counted.
    fn first_columns(&self) -> Result<Vec<String>> {
        let Some(input) = self.selection.inputs.first() else { return Ok(Vec::new()) };
        let reader = self.reader(input)?;
        let counted = || (0..reader.width()).map(|column| column.to_string()).collect();
        let columns = reader.columns().map_or_else(counted, <[String]>::to_vec);
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        Ok(columns)
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The chosen rows, from the top.
    pub fn read(&self) -> Box<dyn Iterator<Item = Result<Row>> + Send> {
        self.selection.bad.restart();
        let all = self.clone();
        let files = 0..self.selection.inputs.len();
        let rows = files.flat_map(move |file| FileRows::new(all.clone(), file));
        let limit = self.selection.limit.map_or(usize::MAX, |limit| limit as usize);
        let first = self.selection.inputs.first().map_or(Path::new("INPUT"), Input::name);
        Box::new(Ended::new(rows, Place::file(first)).skip(self.selection.skip as usize).take(limit))
    }

    fn reader(&self, input: &Input) -> Result<Box<dyn RowReader>> {
        let id = &self.selection.fields.id;
        Ok(match input.content() {
            Content::Table { delimiter } => Box::new(CsvRows::new(input.lines()?, *delimiter, id)?),
            // A table from standard input has no ending to know it by.
            Content::Text => {
                let mut lines = input.lines()?;
                let delimiter = delimiter("", lines.peek(4096)?);
                Box::new(CsvRows::new(lines, delimiter, id)?)
            }
            Content::Parquet(_) => Box::new(ParquetRows::new(input.name(), &input.path()?, id)?),
            Content::Npy => Box::new(NpyRows::new(input.lines()?)?),
            _ => {
                return Err(Error::corpus(
                    Place::file(input.name()),
                    format!("is {}, not rows of numbers", input.format()),
                    "give a CSV file with a header row, a Parquet file or a NumPy array (.npy)",
                ));
            }
        })
    }

    /// Which column of the input each of ours is.
    fn order(&self, name: &Path, reader: &dyn RowReader) -> Result<Vec<usize>> {
        let refuse = |problem: String| {
            let advice = "give the columns that the model, or the first file, has";
            Err(Error::corpus(Place::file(name), problem, advice))
        };
        if reader.width() != self.columns.len() {
            return refuse(format!(
                "has {} columns of numbers instead of {}",
                reader.width(),
                self.columns.len()
            ));
        }
        let (Some(found), false) = (reader.columns(), self.are_counted()) else {
            return Ok((0..reader.width()).collect());
        };
        let mut order = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            match found.iter().position(|found| found == column) {
                Some(place) => order.push(place),
                None => return refuse(format!("has no column `{column}`")),
            }
        }
        Ok(order)
    }

    /// Whether the columns have no names but their numbers.
    fn are_counted(&self) -> bool {
        self.columns.iter().enumerate().all(|(place, name)| *name == place.to_string())
    }

    fn bad(&self) -> &BadRecords {
        &self.selection.bad
    }
}

/// The good rows of one file.
struct FileRows {
    all: NumericRows,
    file: usize,
    opened: Option<(Box<dyn RowReader>, Vec<usize>)>,
    failed: bool,
}

impl FileRows {
    fn new(all: NumericRows, file: usize) -> Self {
        Self { all, file, opened: None, failed: false }
    }

    fn read(&mut self) -> Result<Option<Row>> {
        if self.opened.is_none() {
            let input = &self.all.selection.inputs[self.file];
            let opened = self.all.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
            let reader = match opened.filter(|_| self.file == 0) {
                Some(reader) => reader,
                None => self.all.reader(input)?,
            };
            let order = self.all.order(input.name(), &*reader)?;
            self.opened = Some((reader, order));
        }
        let Some((reader, order)) = &mut self.opened else { return Ok(None) };
        loop {
            let read = reader.read().and_then(|read| match read {
                None => Ok(None),
                Some((place, row)) => checked(&self.all, &place, row, order).map(Some),
            });
            match read {
                Err(error) => self.all.bad().pass_over(error)?,
                read => return read,
            }
        }
    }
}

impl Iterator for FileRows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        if self.failed {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        read.transpose()
    }
}

/// Puts values into our order and looks at them.
fn checked(all: &NumericRows, place: &Place, row: Row, order: &[usize]) -> Result<Row> {
    let values: Vec<f64> = order.iter().map(|&column| row.values[column]).collect();
    for (value, column) in values.iter().zip(&all.columns) {
        all.domain.check(*value).map_err(|problem| {
            Error::bad_record(
                place.clone(),
                "value out of range",
                format!("column `{column}`: {value} is {problem}"),
                "correct it, or skip such rows with {skip-bad}",
            )
        })?;
    }
    Ok(Row { values, ..row })
}

/// Rows that end with an error if there is none at all, or after the first error.
struct Ended<I> {
    rows: I,
    place: Place,
    any: bool,
    over: bool,
}

impl<I> Ended<I> {
    fn new(rows: I, place: Place) -> Self {
        Self { rows, place, any: false, over: false }
    }
}

impl<I: Iterator<Item = Result<Row>>> Iterator for Ended<I> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        if self.over {
            return None;
        }
        let next = self.rows.next();
        self.over = !matches!(next, Some(Ok(_)));
        if next.is_none() && !self.any {
            return Some(Err(no_documents(self.place.clone())));
        }
        self.any = true;
        next
    }
}
