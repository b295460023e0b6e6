//! Reading a sealed file ([`layout`](super::layout)): once, from beginning to end, each array straight into the memory where
//! it stays. What was read is trusted only after the checksum of all of it was found to be right.

use super::layout::{CHECKSUM_DIGITS, METADATA_KEY, VERSION};
use super::version_1;
use crate::error::{Error, Result};
use crate::learn::{Scalar, Stored};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Settings and history are far smaller; a file that says otherwise is not ours.
const LARGEST_HEADER: u64 = 100_000_000;

const NOT_OURS: &str = "it does not begin like one";

/// Opens a file to be read by [`unseal`], and tells how long it is.
pub(super) fn open(path: &Path) -> Result<(File, u64)> {
    let failed = |source| Error::io(path, "open", source);
    // A device or a pipe would be read for ever.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Error::model_file(path, "it is not a file", "name the file itself"));
    }
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

/// Reads a file of so many bytes, checks it, and hands its arrays and its header, in today's form, to `read`.
pub(super) fn unseal<T>(
    path: &Path,
    mut input: impl Read,
    length: u64,
    read: impl FnOnce(Arrays, Value) -> Result<T, String>,
) -> Result<T> {
    let refuse = |problem: String| {
        Error::model_file(path, problem, "train the model again or take a copy that is whole")
    };
    let (arrays, header) = Arrays::read(&mut input, length).map_err(|problem| match problem {
        Problem::Content(problem) => refuse(problem),
        Problem::Reading(source) => Error::io(path, "read", source),
    })?;
    let mut header: Value = serde_json::from_str(&header)
        .map_err(|error| refuse(format!("its settings are not readable: {error}")))?;
    if header["version"] == 1 {
        header = version_1::upgrade(header).map_err(refuse)?;
    } else if header["version"] != VERSION {
        let problem =
            format!("its layout has version {}, this release reads 1 to {VERSION}", header["version"]);
        return Err(Error::model_file(path, problem, "use the release that wrote it, or train again"));
    }
    read(arrays, header).map_err(refuse)
}

/// Why a file cannot be used.
enum Problem {
    Content(String),
    Reading(io::Error),
}

impl From<&str> for Problem {
    fn from(problem: &str) -> Self {
        Self::Content(problem.to_owned())
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // It has become shorter since its length was asked for.
            io::ErrorKind::UnexpectedEof => Self::Content("it is cut off".to_owned()),
            _ => Self::Reading(error),
        }
    }
}

/// The arrays of a file. Each is handed out once, without a copy.
pub(super) struct Arrays {
    metadata: Metadata,
    values: RefCell<BTreeMap<String, Values>>,
}

enum Values {
    Floats(Vec<f64>),
    Counts(Vec<u64>),
    Bytes(Vec<u8>),
}

impl Arrays {
    /// The arrays and the header, as JSON, of a file whose checksum is right.
    fn read(input: &mut impl Read, length: u64) -> Result<(Self, String), Problem> {
        if length < 8 {
            return Err(NOT_OURS.into());
        }
        let mut size = [0; 8];
        input.read_exact(&mut size)?;
        let size = u64::from_le_bytes(size);
        if size > length - 8 {
            return Err("it is cut off, or it does not begin like one".into());
        }
        if size > LARGEST_HEADER {
            return Err(NOT_OURS.into());
        }
        let head: Vec<u8> = read_values(input, size)?;
        let (mut hasher, written) = begin_checksum(size, &head)?;
        let metadata = serde_json::from_slice::<Metadata>(&head).map_err(|error| error.to_string());
        let metadata = metadata.and_then(|metadata| {
            let fits = metadata.data_len() as u64 == length - 8 - size;
            fits.then_some(metadata).ok_or_else(|| "its arrays are not as long as it says".to_owned())
        });
        // Where the header makes no sense, the checksum still tells whether the file is damaged.
        let values = if let Ok(metadata) = &metadata {
            read_arrays(input, metadata, &mut hasher)?
        } else {
            io::copy(&mut input.take(length - 8 - size), &mut hasher)?;
            BTreeMap::new()
        };
        if hasher.finalize().to_hex().as_bytes() != written {
            return Err("its checksum does not match its content, so it is damaged or incomplete".into());
        }
        let metadata = metadata.map_err(Problem::Content)?;
        let header = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
        let header = header.ok_or("it has no gibbstream settings")?.clone();
        Ok((Self { metadata, values: RefCell::new(values) }, header))
    }

    /// Plain bytes.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        match self.take(name)? {
            Values::Bytes(bytes) => Ok(bytes),
            _ => Err(format!("array '{name}' does not hold bytes")),
        }
    }

    fn take(&self, name: &str) -> Result<Values, String> {
        self.values.borrow_mut().remove(name).ok_or_else(|| format!("it has no array '{name}'"))
    }

    /// Compares what the file says of an array with what it must be.
    fn check(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<(), String> {
        let found = self.metadata.info(name).ok_or_else(|| format!("it has no array '{name}'"))?;
        if found.dtype == dtype && found.shape == shape {
            return Ok(());
        }
        Err(format!("array '{name}' is {:?} {:?} instead of {dtype:?} {shape:?}", found.dtype, found.shape))
    }
}

/// Hashes the head of a file, with zeros instead of the checksum, and finds the checksum itself.
fn begin_checksum(size: u64, head: &[u8]) -> Result<(blake3::Hasher, &[u8]), Problem> {
    // The metadata is JSON inside a JSON string, so its quotes are escaped.
    let marker = br#"\"checksum\":\""#;
    let at = head.windows(marker.len()).position(|window| window == marker).ok_or(NOT_OURS)? + marker.len();
    let written = head.get(at..at + CHECKSUM_DIGITS).ok_or(NOT_OURS)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&size.to_le_bytes());
    hasher.update(&head[..at]);
    hasher.update("0".repeat(CHECKSUM_DIGITS).as_bytes());
    hasher.update(&head[at + CHECKSUM_DIGITS..]);
    Ok((hasher, written))
}

fn read_arrays(
    input: &mut impl Read,
    metadata: &Metadata,
    hasher: &mut blake3::Hasher,
) -> Result<BTreeMap<String, Values>, Problem> {
    let mut arrays = BTreeMap::new();
    for name in metadata.offset_keys() {
        let Some(info) = metadata.info(&name) else { continue };
        let length = (info.data_offsets.1 - info.data_offsets.0) as u64;
        let values = match info.dtype {
            Dtype::F64 => Values::Floats(read_values(input, length / 8)?),
            Dtype::U64 => Values::Counts(read_values(input, length / 8)?),
            _ => Values::Bytes(read_values(input, length)?),
        };
        hasher.update(match &values {
            Values::Floats(values) => bytemuck::cast_slice(values),
            Values::Counts(values) => bytemuck::cast_slice(values),
            Values::Bytes(values) => values,
        });
        arrays.insert(name, values);
    }
    Ok(arrays)
}

/// So many numbers; the file was found to be long enough for them.
fn read_values<T: bytemuck::Pod>(input: &mut impl Read, number: u64) -> Result<Vec<T>, Problem> {
    let mut values = Vec::new();
    let too_large = || Problem::Reading(io::ErrorKind::OutOfMemory.into());
    let number = usize::try_from(number).map_err(|_| too_large())?;
    values.try_reserve_exact(number).map_err(|_| too_large())?;
    values.resize(number, T::zeroed());
    input.read_exact(bytemuck::cast_slice_mut(&mut values))?;
    Ok(values)
}

/// The arrays and single numbers of a file.
pub(super) struct StoredState<'a> {
    pub arrays: Arrays,
    pub scalars: &'a BTreeMap<String, Scalar>,
}

impl Stored for StoredState<'_> {
    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, String> {
        self.arrays.check(name, Dtype::F64, shape)?;
        match self.arrays.take(name)? {
            Values::Floats(values) => Ok(values),
            _ => Err(format!("array '{name}' does not hold estimates")),
        }
    }

    fn counts(&self, name: &str, shape: &[usize]) -> Result<Vec<u64>, String> {
        self.arrays.check(name, Dtype::U64, shape)?;
        match self.arrays.take(name)? {
            Values::Counts(values) => Ok(values),
            _ => Err(format!("array '{name}' does not hold counts")),
        }
    }

    fn length(&self, name: &str) -> Option<usize> {
        self.arrays.metadata.info(name).map(|info| info.shape.iter().product())
    }

    fn scalar(&self, name: &str) -> Result<Scalar, String> {
        self.scalars.get(name).copied().ok_or_else(|| format!("it has no number '{name}'"))
    }
}
