//! The head of a Matrix Market file: what the numbers after it mean.

use crate::corpus::bytes::lines::Lines;
use crate::corpus::formats::numbers::whole_number;
use crate::corpus::formats::uci::{Entries, Header};
use crate::error::{Error, Result};

const BANNER: &[u8] = b"%%MatrixMarket";

/// Whether a file begins like the format.
pub(crate) fn recognise(start: &[u8]) -> bool {
    start.len() >= BANNER.len() && start[..BANNER.len()].eq_ignore_ascii_case(BANNER)
}

/// Reads everything before the entries. With `transpose`, rows are words and columns documents.
pub(crate) fn read_header(lines: &mut Lines, transpose: bool) -> Result<(Header, Entries)> {
    let first = lines.next_bytes()?.map(String::from_utf8_lossy).unwrap_or_default().to_lowercase();
    let words: Vec<&str> = first.split_whitespace().collect();
    let entries = match words[..] {
        [
            "%%matrixmarket",
            "matrix",
            "coordinate",
            "integer" | "unsigned-integer" | "real" | "double",
            "general",
        ] => Entries::MatrixMarket { transpose, has_values: true },
        ["%%matrixmarket", "matrix", "coordinate", "pattern", "general"] => {
            Entries::MatrixMarket { transpose, has_values: false }
        }
        _ => {
            return Err(Error::corpus(
                lines.place(),
                "is not the first line of a sparse Matrix Market file of counts",
                "it should be `%%MatrixMarket matrix coordinate integer general`",
            ));
        }
    };
    let advice = "after the comments comes a line with the numbers of rows, columns and entries";
    loop {
        let Some(line) = lines.next_filled()? else {
            return Err(Error::corpus(lines.file(), "the header ends before the sizes", advice));
        };
        if line.starts_with(b"%") {
            continue;
        }
        let sizes: Option<Vec<u64>> =
            line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).map(whole_number).collect();
        let Some(&[rows, columns, count]) = sizes.as_deref() else {
            return Err(Error::corpus(lines.place(), "the sizes are not three whole numbers", advice));
        };
        let (documents, words) = if transpose { (columns, rows) } else { (rows, columns) };
        return Ok((Header { documents, words, entries: count }, entries));
    }
}
