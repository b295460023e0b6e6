//! Views and statistics as bytes: a compact form with a checksum, which can be read without running anything.
//!
//! Lengths are checked against the bytes that are there before anything is allocated for them, and every type checks its
//! numbers when it is read.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the bytes begin with: a name, and the version of the form.
const MAGIC: &[u8; 8] = b"gibbs\0\0\x01";
const CHECKSUM: usize = 32;

/// The bytes of a value.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.resize(MAGIC.len() + CHECKSUM, 0);
    let mut bytes = postcard::to_extend(value, bytes).expect("memory is all that is needed");
    let checksum = blake3::hash(&bytes[MAGIC.len() + CHECKSUM..]);
    bytes[MAGIC.len()..][..CHECKSUM].copy_from_slice(checksum.as_bytes());
    bytes
}

/// The value of bytes; refuses anything that is not exactly what was written.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let refuse = |problem: String| {
        Error::setting("bytes", problem, "send what was written by the same release, whole")
    };
    let Some((magic, rest)) = bytes.split_first_chunk::<8>().filter(|(_, rest)| rest.len() >= CHECKSUM)
    else {
        return Err(refuse(format!("{} bytes are too few", bytes.len())));
    };
    if magic != MAGIC {
        return Err(refuse("they do not begin as those of a view or of statistics do".into()));
    }
    let (checksum, body) = rest.split_at(CHECKSUM);
    if blake3::hash(body).as_bytes() != checksum {
        return Err(refuse("their checksum is wrong, so they are damaged".into()));
    }
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok((_, left)) => Err(refuse(format!("{} bytes are left over", left.len()))),
        Err(error) => Err(refuse(format!("they hold something else ({error})"))),
    }
}
