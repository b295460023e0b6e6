//! The layout of a file: safetensors, with everything that is not an array in one JSON object, and a checksum over every
//! byte.
//!
//! The checksum is the BLAKE3 hash of the whole file with the checksum itself written as zeros, so a change anywhere, in
//! header, padding or data, is noticed. [`sealed`](super::sealed) reads it.

use crate::error::Result;
use crate::learn::{Array, Values};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What the file says that it is.
pub(super) const FORMAT: &str = "gibbstream model";

/// The version of the layout that this release writes; it also reads version 1.
pub const VERSION: u32 = 2;

pub(super) const METADATA_KEY: &str = "gibbstream";
pub(super) const CHECKSUM_DIGITS: usize = 64;

/// An array as it is written.
pub(super) struct Tensor<'a> {
    pub name: &'static str,
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> Tensor<'a> {
    /// Plain bytes.
    pub fn bytes(name: &'static str, bytes: Vec<u8>) -> Self {
        Self { name, dtype: "U8", shape: vec![bytes.len()], bytes: Cow::Owned(bytes) }
    }

    /// An array of a state.
    pub fn of(array: &'a Array<'a>) -> Self {
        let dtype = match array.values {
            Values::Floats(_) => "F64",
            Values::Counts(_) => "U64",
        };
        let (name, shape) = (array.name, array.shape.clone());
        Self { name, dtype, shape, bytes: Cow::Borrowed(array.bytes()) }
    }
}

/// Hands a file over piece by piece. The header gets format, version and checksum.
pub(super) fn seal(
    mut header: Value,
    tensors: &[Tensor<'_>],
    mut piece: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    header["format"] = json!(FORMAT);
    header["version"] = json!(VERSION);
    header["checksum"] = json!("0".repeat(CHECKSUM_DIGITS));
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header_bytes(&header, tensors));
    for tensor in tensors {
        hasher.update(&tensor.bytes);
    }
    header["checksum"] = json!(hasher.finalize().to_hex().to_string());
    piece(&header_bytes(&header, tensors))?;
    tensors.iter().try_for_each(|tensor| piece(&tensor.bytes))
}

/// The head of a safetensors file: its length, then JSON padded to a multiple of eight bytes.
fn header_bytes(header: &Value, tensors: &[Tensor<'_>]) -> Vec<u8> {
    let mut entries = Map::new();
    let metadata = header.to_string();
    entries.insert("__metadata__".to_string(), json!({ METADATA_KEY: metadata }));
    let mut end = 0;
    for tensor in tensors {
        let start = end;
        end += tensor.bytes.len();
        entries.insert(
            tensor.name.to_string(),
            json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end] }),
        );
    }
    let mut json = Value::Object(entries).to_string().into_bytes();
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend(json);
    bytes
}
