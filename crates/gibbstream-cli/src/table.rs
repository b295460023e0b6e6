//! Tables for other programs: the same columns as CSV or as Parquet.

use anyhow::Context;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// Cells that are held before they are written as a row group.
const CELLS_PER_GROUP: usize = 1 << 20;

/// Significant digits with which every 64-bit float can be read back exactly.
pub const ALL_DIGITS: usize = 17;

/// What a column holds. Every cell may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Whole,
    Number,
}

/// A column: its name and what it holds.
pub type Column = (String, Kind);

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Whole(i64),
    Number(f64),
    Missing,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// With the names of the columns in the first line, and so many significant digits.
    Csv {
        digits: usize,
    },
    Parquet,
}

/// Writes a table row by row, holding few rows at a time.
pub enum TableWriter<W: Write + Send> {
    Csv { out: Box<csv::Writer<W>>, digits: usize },
    Parquet(Box<ParquetWriter<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// A table with these columns.
    pub fn new(out: W, format: TableFormat, columns: &[Column]) -> anyhow::Result<Self> {
        match format {
            TableFormat::Csv { digits } => {
                let mut out = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(out);
                out.write_record(columns.iter().map(|(name, _)| name)).map_err(plain)?;
                Ok(Self::Csv { out: Box::new(out), digits })
            }
            TableFormat::Parquet => Ok(Self::Parquet(Box::new(ParquetWriter::new(out, columns)?))),
        }
    }

    /// Appends a row, which has a cell for every column.
    pub fn row(&mut self, row: Vec<Cell>) -> anyhow::Result<()> {
        match self {
            Self::Csv { out, digits } => {
                let texts = row.into_iter().map(|cell| match cell {
                    Cell::Text(text) => text,
                    Cell::Whole(number) => number.to_string(),
                    Cell::Number(number) => rounded(number, *digits).to_string(),
                    Cell::Missing => String::new(),
                });
                Ok(out.write_record(texts).map_err(plain)?)
            }
            Self::Parquet(writer) => writer.row(row),
        }
    }

    /// Lets readers see the rows so far, where the format can do that.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Csv { out, .. } => Ok(out.flush()?),
            Self::Parquet(_) => Ok(()),
        }
    }

    /// Writes what is left, and hands back the place it went to.
    pub fn finish(self) -> anyhow::Result<W> {
        match self {
            Self::Csv { out, .. } => Ok(out.into_inner().map_err(csv::IntoInnerError::into_error)?),
            Self::Parquet(writer) => writer.finish(),
        }
    }
}

/// The error below that of the CSV writer, so that a closed pipe is still known as one.
fn plain(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// The nearest number that has so many significant decimal digits.
pub fn rounded(number: f64, digits: usize) -> f64 {
    if digits >= ALL_DIGITS || !number.is_finite() {
        return number;
    }
    format!("{number:.*e}", digits.saturating_sub(1)).parse().unwrap_or(number)
}

/// Collects rows and writes them as row groups.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
}

/// The values of one column that wait, with their definition levels: 0 where one is missing.
struct Values {
    values: Vec<Cell>,
    levels: Vec<i16>,
}

impl<W: Write + Send> ParquetWriter<W> {
    fn new(out: W, columns: &[Column]) -> anyhow::Result<Self> {
        let field = |(name, kind): &Column| {
            let physical = match kind {
                Kind::Text => Physical::BYTE_ARRAY,
                Kind::Whole => Physical::INT64,
                Kind::Number => Physical::DOUBLE,
            };
            let logical = (*kind == Kind::Text).then_some(LogicalType::String);
            let field = Type::primitive_type_builder(name, physical);
            field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
        };
        let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder("gibbstream").with_fields(fields).build()?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let columns = columns.iter().map(|_| Values { values: Vec::new(), levels: Vec::new() }).collect();
        Ok(Self { file, columns, rows: 0 })
    }

    fn row(&mut self, row: Vec<Cell>) -> anyhow::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            let is_there = cell != Cell::Missing;
            column.levels.push(is_there.into());
            if is_there {
                column.values.push(cell);
            }
        }
        self.rows += 1;
        if self.rows * self.columns.len() >= CELLS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> anyhow::Result<()> {
        self.rows = 0;
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.context("a column of the table has no writer")?;
            let (values, levels) =
                (std::mem::take(&mut column.values).into_iter(), std::mem::take(&mut column.levels));
            match writer.untyped() {
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let values: Vec<ByteArray> = values
                        .filter_map(|cell| {
                            if let Cell::Text(text) = cell { Some(text.into_bytes().into()) } else { None }
                        })
                        .collect();
                    writer.write_batch(&values, Some(&levels), None)?;
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let values: Vec<i64> = values
                        .filter_map(|cell| if let Cell::Whole(number) = cell { Some(number) } else { None })
                        .collect();
                    writer.write_batch(&values, Some(&levels), None)?;
                }
                ColumnWriter::DoubleColumnWriter(writer) => {
                    let values: Vec<f64> = values
                        .filter_map(|cell| if let Cell::Number(number) = cell { Some(number) } else { None })
                        .collect();
                    writer.write_batch(&values, Some(&levels), None)?;
                }
                _ => anyhow::bail!("a table has columns of text, whole numbers and numbers only"),
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn columns() -> Vec<Column> {
        [("name", Kind::Text), ("count", Kind::Whole), ("share", Kind::Number)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .to_vec()
    }

    fn written(format: TableFormat) -> Vec<u8> {
        let mut table = TableWriter::new(Vec::new(), format, &columns()).unwrap();
        table.row(vec![Cell::Text("a, \"b\"".into()), Cell::Whole(3), Cell::Number(1.0 / 3.0)]).unwrap();
        table.row(vec![Cell::Missing, Cell::Missing, Cell::Number(1e-12)]).unwrap();
        table.finish().unwrap()
    }

    #[test]
    fn csv_quotes_what_it_must_and_rounds() {
        let text = String::from_utf8(written(TableFormat::Csv { digits: 4 })).unwrap();
        assert_eq!(text, "name,count,share\n\"a, \"\"b\"\"\",3,0.3333\n,,0.000000000001\n");
    }

    #[test]
    fn parquet_holds_every_bit_and_what_is_missing() {
        let reader = SerializedFileReader::new(bytes::Bytes::from(written(TableFormat::Parquet))).unwrap();
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        assert_eq!(rows[0], [Field::Str("a, \"b\"".into()), Field::Long(3), Field::Double(1.0 / 3.0)]);
        assert_eq!(rows[1], [Field::Null, Field::Null, Field::Double(1e-12)]);
    }

    #[test]
    fn many_rows_make_several_groups() {
        let rows = CELLS_PER_GROUP + 5;
        let mut table =
            TableWriter::new(Vec::new(), TableFormat::Parquet, &[("n".into(), Kind::Whole)]).unwrap();
        for row in 0..rows {
            table.row(vec![Cell::Whole(row as i64)]).unwrap();
        }
        let reader = SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        assert_eq!(reader.metadata().file_metadata().num_rows(), rows as i64);
    }

    #[test]
    fn rounding_counts_digits_from_the_first_that_is_not_zero() {
        assert_eq!(rounded(0.000_123_456_789, 3), 0.000_123);
        assert_eq!(rounded(123_456.0, 2), 120_000.0);
        assert_eq!(rounded(1.0 / 3.0, ALL_DIGITS), 1.0 / 3.0);
        assert_eq!(rounded(-0.0, 6), 0.0);
        assert!(rounded(f64::NAN, 6).is_nan());
    }
}
