//! Tables of numbers: a record is an observation, a field of it a value.

use crate::corpus::bytes::lines::Lines;
use crate::corpus::formats::numeric::{Row, RowReader};
use crate::corpus::formats::table::Records;
use crate::error::{Error, Place, Result};

/// Reads the records of a table.
pub(crate) struct CsvRows {
    records: Records,
    columns: Vec<String>,
    /// The field of each column.
    fields: Vec<usize>,
    id: Option<usize>,
}

impl CsvRows {
    /// Reads the names of the columns; the one called `id` names the rows.
    pub fn new(lines: Lines, delimiter: u8, id: &str) -> Result<Self> {
        let records = Records::new(lines, delimiter)?;
        let names: Vec<String> =
            records.names.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        if names.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(Error::corpus(
                records.head,
                "the first row holds numbers where the names of the columns should be",
                "put a header row with a name for every column first",
            ));
        }
        let is_id = |field: &usize| names[*field] == id;
        let fields: Vec<usize> = (0..names.len()).filter(|field| !is_id(field)).collect();
        let columns: Vec<String> = fields.iter().map(|&field| names[field].clone()).collect();
        if let Some(twice) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
            return Err(Error::corpus(
                records.head,
                format!("two columns are called `{}`", twice.1),
                "give every column a name of its own",
            ));
        }
        if columns.is_empty() {
            let advice = "give at least one column beside the names of the rows";
            return Err(Error::corpus(records.head, "there is no column of numbers", advice));
        }
        let id = (0..names.len()).find(is_id);
        Ok(Self { records, columns, fields, id })
    }

    fn value(&self, place: &Place, column: usize) -> Result<f64> {
        let field = self.records.record[self.fields[column]].trim_ascii();
        let value = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
        value.ok_or_else(|| {
            let shown = if field.is_empty() {
                "the field is empty".to_owned()
            } else {
                format!("`{}` is not a number", field[..field.len().min(40)].escape_ascii())
            };
            Error::bad_record(
                place.clone(),
                "not a number",
                format!("column `{}`: {shown}", self.columns[column]),
                "correct it, leave the column out, or skip such rows with {skip-bad}",
            )
        })
    }
}

impl RowReader for CsvRows {
    fn columns(&self) -> Option<&[String]> {
        Some(&self.columns)
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn read(&mut self) -> Result<Option<(Place, Row)>> {
        let Some(place) = self.records.next()? else { return Ok(None) };
        let values =
            (0..self.fields.len()).map(|column| self.value(&place, column)).collect::<Result<_>>()?;
        let id = self.id.map(|field| String::from_utf8_lossy(&self.records.record[field]).into_owned());
        Ok(Some((place, Row { id, values })))
    }
}
