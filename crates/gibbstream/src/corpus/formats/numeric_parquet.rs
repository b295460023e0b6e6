//! Parquet files with columns of numbers: a row is an observation.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;

use crate::corpus::formats::numeric::{Row, RowReader};
use crate::corpus::formats::parquet_table::{check_compression, damaged};
use crate::error::{Error, Place, Result};

/// Reads the rows.
pub(crate) struct ParquetRows {
    rows: RowIter<'static>,
    place: Place,
    row: u64,
    columns: Vec<String>,
    id: String,
}

impl ParquetRows {
    /// Opens the file `path` that messages call `name`; the column called `id` names the rows.
    pub fn new(name: &Path, path: &Path, id: &str) -> Result<Self> {
        let place = Place::file(name);
        let file = File::open(path).map_err(|error| Error::io(name, "open", error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(&place, &error))?;
        check_compression(&place, reader.metadata())?;
        let schema = reader.metadata().file_metadata().schema();
        let mut columns = Vec::new();
        for field in schema.get_fields().iter().filter(|field| field.name() != id) {
            let numeric = field.is_primitive()
                && !matches!(
                    field.get_physical_type(),
                    Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY
                );
            if !numeric {
                return Err(Error::corpus(
                    place,
                    format!("column `{}` does not hold numbers", field.name()),
                    "write the file without it, or name the column of names with {id-field}",
                ));
            }
            columns.push(field.name().to_owned());
        }
        if columns.is_empty() {
            let advice = "give at least one column beside the names of the rows";
            return Err(Error::corpus(place, "there is no column of numbers", advice));
        }
        Ok(Self {
            rows: RowIter::from_file_into(Box::new(reader)),
            place,
            row: 0,
            columns,
            id: id.to_owned(),
        })
    }
}

impl RowReader for ParquetRows {
    fn columns(&self) -> Option<&[String]> {
        Some(&self.columns)
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn read(&mut self) -> Result<Option<(Place, Row)>> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.map_err(|error| damaged(&self.place, &error))?;
        self.row += 1;
        let place = Place { line: Some(self.row), ..self.place.clone() };
        let mut found = Row::default();
        for (name, field) in row.get_column_iter() {
            if *name == self.id {
                found.id = Some(if let Field::Str(text) = field { text.clone() } else { field.to_string() });
                continue;
            }
            let value = number(field).ok_or_else(|| {
                Error::bad_record(
                    place.clone(),
                    "not a number",
                    format!("column `{name}`: {field} is not a number"),
                    "fill the gap, or skip such rows with {skip-bad}",
                )
            })?;
            found.values.push(value);
        }
        Ok(Some((place, found)))
    }
}

fn number(field: &Field) -> Option<f64> {
    Some(match *field {
        Field::Bool(value) => f64::from(u8::from(value)),
        Field::Byte(value) => value.into(),
        Field::Short(value) => value.into(),
        Field::Int(value) => value.into(),
        Field::Long(value) => value as f64,
        Field::UByte(value) => value.into(),
        Field::UShort(value) => value.into(),
        Field::UInt(value) => value.into(),
        Field::ULong(value) => value as f64,
        Field::Float(value) => value.into(),
        Field::Double(value) => value,
        _ => return None,
    })
}
