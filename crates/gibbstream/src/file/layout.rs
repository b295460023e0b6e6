//! The layout of a file: safetensors, with everything that is not an array in one JSON object, and a checksum over every
//! byte.
//!
//! The checksum is the BLAKE3 hash of the whole file with the checksum itself written as zeros, so a change anywhere, in
//! header, padding or data, is noticed.

use super::version_1;
use crate::error::{Error, Result};
use crate::learn::{Array, Scalar, Stored, Values};
use safetensors::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// What the file says that it is.
pub(super) const FORMAT: &str = "gibbstream model";

/// The version of the layout that this release writes; it also reads version 1.
pub const VERSION: u32 = 2;

const METADATA_KEY: &str = "gibbstream";
const CHECKSUM_DIGITS: usize = 64;

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

/// Checks the bytes of a file and hands its arrays and its header, in today's form, to `read`.
pub(super) fn unseal<T>(
    path: &Path,
    bytes: &[u8],
    read: impl FnOnce(&SafeTensors<'_>, Value) -> Result<T, String>,
) -> Result<T> {
    let refuse = |problem: String| {
        Error::model_file(path, problem, "train the model again or take a copy that is whole")
    };
    check(bytes).map_err(refuse)?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| refuse(error.to_string()))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| refuse(error.to_string()))?;
    let header = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let header = header.ok_or_else(|| refuse("it has no gibbstream settings".to_string()))?;
    let mut header: Value = serde_json::from_str(header)
        .map_err(|error| refuse(format!("its settings are not readable: {error}")))?;
    if header["version"] == 1 {
        header = version_1::upgrade(header).map_err(refuse)?;
    } else if header["version"] != VERSION {
        let problem =
            format!("its layout has version {}, this release reads 1 to {VERSION}", header["version"]);
        return Err(Error::model_file(path, problem, "use the release that wrote it, or train again"));
    }
    read(&file, header).map_err(refuse)
}

/// Compares the checksum with the content.
fn check(bytes: &[u8]) -> Result<(), String> {
    const NOT_OURS: &str = "it does not begin like one";
    let length = bytes.first_chunk::<8>().map(|head| u64::from_le_bytes(*head)).ok_or(NOT_OURS)?;
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(8));
    let end = end.filter(|&end| end <= bytes.len()).ok_or("it is cut off, or it does not begin like one")?;
    // The metadata is JSON inside a JSON string, so its quotes are escaped.
    let marker = br#"\"checksum\":\""#;
    let head = &bytes[..end];
    let at = head.windows(marker.len()).position(|window| window == marker).ok_or(NOT_OURS)? + marker.len();
    let written = head.get(at..at + CHECKSUM_DIGITS).ok_or(NOT_OURS)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..at]);
    hasher.update("0".repeat(CHECKSUM_DIGITS).as_bytes());
    hasher.update(&bytes[at + CHECKSUM_DIGITS..]);
    if hasher.finalize().to_hex().as_bytes() == written {
        Ok(())
    } else {
        Err("its checksum does not match its content, so it is damaged or incomplete".to_string())
    }
}

/// All bytes of a file.
pub(super) fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::io(path, "open", source);
    // A device or a pipe would be read for ever.
    if std::fs::metadata(path).map_err(failed)?.is_file() {
        return std::fs::read(path).map_err(failed);
    }
    Err(Error::model_file(path, "it is not a file", "name the file itself"))
}

/// The arrays and single numbers of a file.
pub(super) struct StoredState<'a> {
    pub file: &'a SafeTensors<'a>,
    pub scalars: &'a BTreeMap<String, Scalar>,
}

impl Stored for StoredState<'_> {
    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, String> {
        array(self.file, name, Dtype::F64, shape)
    }

    fn counts(&self, name: &str, shape: &[usize]) -> Result<Vec<u64>, String> {
        array(self.file, name, Dtype::U64, shape)
    }

    fn length(&self, name: &str) -> Option<usize> {
        self.file.tensor(name).ok().map(|tensor| tensor.shape().iter().product())
    }

    fn scalar(&self, name: &str) -> Result<Scalar, String> {
        self.scalars.get(name).copied().ok_or_else(|| format!("it has no number '{name}'"))
    }
}

/// One array, copied out so that it is aligned.
fn array<T: bytemuck::Pod>(
    file: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<Vec<T>, String> {
    let tensor = file.tensor(name).map_err(|error| error.to_string())?;
    if tensor.dtype() != dtype || tensor.shape() != shape {
        let (found, expected) = (tensor.shape(), shape);
        return Err(format!(
            "array '{name}' is {:?} {found:?} instead of {dtype:?} {expected:?}",
            tensor.dtype()
        ));
    }
    let mut values = vec![T::zeroed(); shape.iter().product()];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(tensor.data());
    Ok(values)
}
