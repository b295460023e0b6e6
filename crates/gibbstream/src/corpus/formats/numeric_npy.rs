//! NumPy arrays of numbers: the first index counts observations, the second values.

use crate::corpus::bytes::lines::Lines;
use crate::corpus::formats::numeric::{Row, RowReader};
use crate::error::{Error, Place, Result};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest description of an array that is accepted.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// Whether a file begins like the format.
pub(crate) fn recognise(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// How one number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    kind: u8,
    bytes: usize,
    big_endian: bool,
}

impl Number {
    /// As NumPy says it, such as `<f8`.
    fn parse(text: &str) -> Option<Self> {
        let [order, kind, size @ ..] = text.as_bytes() else { return None };
        let bytes = std::str::from_utf8(size).ok()?.parse().ok()?;
        let known = match kind {
            b'f' => [2, 4, 8].contains(&bytes),
            b'i' | b'u' => [1, 2, 4, 8].contains(&bytes),
            b'b' => bytes == 1,
            _ => false,
        };
        (known && b"<>|=".contains(order)).then_some(Self { kind: *kind, bytes, big_endian: *order == b'>' })
    }

    fn value(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..self.bytes].copy_from_slice(bytes);
        if self.big_endian {
            word[..self.bytes].reverse();
        }
        let whole = u64::from_le_bytes(word);
        match (self.kind, self.bytes) {
            (b'f', 2) => half(whole as u16),
            (b'f', 4) => f32::from_bits(whole as u32).into(),
            (b'f', _) => f64::from_bits(whole),
            // The sign is the highest bit that is there.
            (b'i', size) => ((whole << (64 - 8 * size)) as i64 >> (64 - 8 * size)) as f64,
            _ => whole as f64,
        }
    }
}

/// A number of 16 bits: one for the sign, five for the exponent, ten for the fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => libm::ldexp(fraction, -24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => libm::ldexp(1024.0 + fraction, exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

/// Reads the rows of an array.
pub(crate) struct NpyRows {
    lines: Lines,
    number: Number,
    rows: u64,
    width: usize,
    done: u64,
    bytes: Vec<u8>,
}

impl NpyRows {
    /// Reads the description of the array.
    pub fn new(mut lines: Lines) -> Result<Self> {
        let place = lines.file();
        let refuse = |problem: String, advice: &str| Error::corpus(place.clone(), problem, advice);
        let damaged = || refuse("is not a whole NumPy array".into(), "write or copy the file again");
        let mut start = [0; 8];
        if fill(&mut lines, &mut start)? < start.len() || !recognise(&start) {
            return Err(damaged());
        }
        let mut length = [0; 4];
        let digits = if start[6] == 1 { 2 } else { 4 };
        let read = fill(&mut lines, &mut length[..digits])?;
        let length = u32::from_le_bytes(length) as usize;
        if read < digits || length > MAX_HEADER_BYTES {
            return Err(damaged());
        }
        let mut header = vec![0; length];
        if fill(&mut lines, &mut header)? < length {
            return Err(damaged());
        }
        let header = String::from_utf8_lossy(&header).into_owned();
        let entry = |name: &str| header.split_once(&format!("'{name}':")).map(|(_, rest)| rest.trim_start());
        let (Some(descr), Some(order), Some(shape)) =
            (entry("descr"), entry("fortran_order"), entry("shape"))
        else {
            return Err(damaged());
        };
        let descr = descr.split('\'').nth(1).unwrap_or(descr);
        let number = Number::parse(descr).ok_or_else(|| {
            refuse(format!("holds values of type `{descr}`, not numbers"), "save it with astype(float)")
        })?;
        let inside = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(damaged)?.0;
        let sides = inside.split(',').map(str::trim).filter(|side| !side.is_empty());
        let sides: Vec<u64> = sides.map(str::parse).collect::<Result<_, _>>().map_err(|_| damaged())?;
        let (rows, width) = match sides[..] {
            [rows] => (rows, 1),
            [rows, width] if width > 0 => (rows, width),
            _ => {
                let problem = format!("has shape ({inside}) instead of observations x values");
                return Err(refuse(problem, "reshape the array to two dimensions"));
            }
        };
        if order.starts_with("True") && width > 1 {
            let advice = "save numpy.ascontiguousarray(array) instead";
            return Err(refuse("is stored column by column".into(), advice));
        }
        let width = usize::try_from(width).ok().filter(|&width| width <= MAX_WIDTH).ok_or_else(damaged)?;
        Ok(Self { lines, number, rows, width, done: 0, bytes: vec![0; width * number.bytes] })
    }
}

/// More values than anything here is meant for.
const MAX_WIDTH: usize = 1 << 20;

/// Reads until `into` is full or nothing is left.
fn fill(lines: &mut Lines, into: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match lines.read(&mut into[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

impl RowReader for NpyRows {
    fn columns(&self) -> Option<&[String]> {
        None
    }

    fn width(&self) -> usize {
        self.width
    }

    fn read(&mut self) -> Result<Option<(Place, Row)>> {
        if self.done == self.rows {
            return Ok(None);
        }
        self.done += 1;
        let place = Place { line: Some(self.done), ..self.lines.file() };
        if fill(&mut self.lines, &mut self.bytes)? < self.bytes.len() {
            return Err(Error::corpus(
                place,
                format!("ends in this row, and there should be {}", self.rows),
                "the file was cut short; write or copy it again",
            ));
        }
        let values = self.bytes.chunks_exact(self.number.bytes).map(|bytes| self.number.value(bytes));
        Ok(Some((place, Row { id: None, values: values.collect() })))
    }
}
