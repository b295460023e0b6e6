//! One record of the log: a line of JSON that says whether it is whole.
//!
//! ```text
//! {"crc32":"5d0f8f2c","position":1200,"at":1763412345678,"key":"a7","documents":[{"text":"..."},{"text":"..."}]}
//! {"crc32":"0c1e6a90","position":1202,"at":1763412399000,"cut":true}
//! ```
//!
//! The checksum is the CRC-32 of everything between the comma behind it and the end of the line. The documents of one request are
//! one record, so that a request is accepted as a whole or not at all. They stand there as they came.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What every record begins with.
pub(super) const START: &str = "{\"crc32\":\"";
const DIGITS: usize = 8;
/// Bytes before what the checksum covers.
const COVERED_FROM: usize = START.len() + DIGITS + 2;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// The documents of one request, as the text of a JSON list, and the name that the client gave the request.
    Documents {
        /// The text of the list.
        list: &'a str,
        /// The name of the request.
        key: Option<&'a str>,
    },
    /// A minibatch that has been begun ends here.
    Cut,
}

impl Entry<'_> {
    /// Appends the line to `to`.
    pub fn write(&self, position: u64, at: u64, to: &mut Vec<u8>) {
        let start = to.len();
        to.extend_from_slice(START.as_bytes());
        to.extend_from_slice(b"00000000\",");
        to.extend_from_slice(format!("\"position\":{position},\"at\":{at},").as_bytes());
        match self {
            Self::Cut => to.extend_from_slice(b"\"cut\":true}"),
            Self::Documents { list, key } => {
                if let Some(key) = key {
                    to.extend_from_slice(format!("\"key\":{},", serde_json::json!(key)).as_bytes());
                }
                to.extend_from_slice(b"\"documents\":");
                to.extend_from_slice(list.as_bytes());
                to.push(b'}');
            }
        }
        let checksum = format!("{:08x}", crc32fast::hash(&to[start + COVERED_FROM..]));
        to[start + START.len()..][..DIGITS].copy_from_slice(checksum.as_bytes());
        to.push(b'\n');
    }
}

/// A record that was read. Documents borrow from its line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record<'a> {
    /// Only looked at before the rest is.
    #[serde(rename = "crc32")]
    _crc32: &'a str,
    /// Documents in the log before it.
    pub position: u64,
    /// When it was written, in milliseconds since 1970.
    pub at: u64,
    /// The name of the request.
    #[serde(borrow, default)]
    pub key: Option<Cow<'a, str>>,
    /// Its documents, each a JSON object as it came.
    #[serde(borrow, default)]
    pub documents: Vec<&'a RawValue>,
    /// Whether a minibatch that has been begun ends here.
    #[serde(default)]
    pub cut: bool,
}

impl<'a> Record<'a> {
    /// Reads a line without its line break; says what is wrong with it otherwise.
    pub fn read(line: &'a [u8]) -> Result<Self, String> {
        let checksum = line
            .strip_prefix(START.as_bytes())
            .and_then(|rest| rest.split_at_checked(DIGITS))
            .filter(|(_, rest)| rest.starts_with(b"\","))
            .and_then(|(digits, _)| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or("it does not begin with a checksum")?;
        if crc32fast::hash(&line[COVERED_FROM..]) != checksum {
            return Err("its checksum does not fit".into());
        }
        let record: Self =
            serde_json::from_slice(line).map_err(|error| format!("it is not a record: {error}"))?;
        if record.documents.is_empty() != record.cut {
            return Err("it is neither documents nor a cut".into());
        }
        Ok(record)
    }

    /// Documents in the log after it.
    pub fn end(&self) -> u64 {
        self.position + self.documents.len() as u64
    }

    /// Stands for the content: equal for a retry with the same documents.
    pub fn fingerprint(&self) -> u64 {
        fingerprint(self.documents.iter().map(|document| document.get()))
    }
}

/// Stands for documents: equal if they have the same bytes.
pub fn fingerprint<'a>(documents: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    documents.for_each(|document| {
        hasher.update(document.as_bytes());
        hasher.update(b"\n");
    });
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(entry: &Entry<'_>) -> Vec<u8> {
        let mut line = Vec::new();
        entry.write(7, 1_700_000_000_000, &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        line
    }

    #[test]
    fn what_is_written_is_read() {
        let list = "[{\"text\":\"a\\n é\" , \"id\":1},{\"text\":[\"b\"]}]";
        let written = line(&Entry::Documents { list, key: Some("k\"1\u{e9}") });
        let record = Record::read(&written).unwrap();
        let documents: Vec<&str> = record.documents.iter().map(|document| document.get()).collect();
        assert_eq!(documents, ["{\"text\":\"a\\n é\" , \"id\":1}", "{\"text\":[\"b\"]}"]);
        assert_eq!((record.position, record.end(), record.cut), (7, 9, false));
        assert_eq!(record.key.as_deref(), Some("k\"1\u{e9}"));
        assert_eq!(record.fingerprint(), fingerprint(documents.into_iter()));
        let cut = line(&Entry::Cut);
        let cut = Record::read(&cut).unwrap();
        assert_eq!((cut.end(), cut.cut, cut.key), (7, true, None));
    }

    #[test]
    fn no_bit_can_change_and_no_byte_be_missing_unnoticed() {
        let mut line = line(&Entry::Documents { list: "[{\"text\":\"some words\"}]", key: Some("k") });
        for bit in 0..8 * line.len() {
            line[bit / 8] ^= 1 << (bit % 8);
            // The digits of the checksum may be written in capitals.
            let same = u8::is_ascii_hexdigit(&line[bit / 8])
                && (START.len()..START.len() + DIGITS).contains(&(bit / 8));
            assert!(Record::read(&line).is_err() || (same && bit % 8 == 5), "bit {bit}");
            line[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..line.len() {
            assert!(Record::read(&line[..length]).is_err(), "{length} bytes");
        }
        assert!(Record::read(&line).is_ok());
    }
}
