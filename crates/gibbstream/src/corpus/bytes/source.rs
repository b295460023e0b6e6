//! An input opened for reading: a file or standard input, decompressed by what it contains, not by its name.

use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

#[cfg(feature = "xz")]
use liblzma::stream::{CONCATENATED, Stream as XzStream};

use crate::corpus::bytes::follow::{FollowStart, Followed};
use crate::corpus::bytes::trace::{CHANGED, CHANGED_ADVICE, Trace, TracedReader};
use crate::error::{Error, Place, Result};

/// Bytes that decide how an input is compressed.
const SIGNATURE_BYTES: u64 = 10;

/// Read from the system at once.
const CHUNK_BYTES: usize = 128 << 10;

/// The window of a zstd frame, as a power of two: what `zstd --ultra -22` uses.
const ZSTD_WINDOW_BITS: u32 = 27;

#[cfg(feature = "xz")]
/// What an xz decoder may allocate: enough for `xz -9`, too little to hurt.
const XZ_MEMORY_BYTES: u64 = 256 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

impl Compression {
    fn recognise(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            // A frame, or a skippable frame, which parallel compressors put first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // A text may begin with "BZh", but not with the signature of a block, or of the end, after it.
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]]
                    .iter()
                    .any(|signature| signature.starts_with(rest)) =>
            {
                Some(Self::Bzip2)
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}

/// True for `-`, which means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An opened input.
pub(crate) struct Source {
    name: PathBuf,
    reader: Box<dyn Read + Send>,
    compression: Option<Compression>,
    /// Where the bytes are counted whose documents have been handed out, if somebody wants to know.
    taken: Option<Arc<AtomicU64>>,
}

impl Source {
    /// Opens a file, or standard input if the path is `-`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_traced(path, path, &Trace::default())
    }

    /// Opens the file `path` that messages call `name`, or standard input if the path is `-`.
    pub fn open_traced(name: &Path, path: &Path, trace: &Trace) -> Result<Self> {
        if is_stdin(path) {
            trace.begin(None);
            return Self::new(name, TracedReader::new(io::stdin(), trace));
        }
        let file = File::open(path).map_err(|error| Error::io(name, "open", error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Error::corpus(Place::file(name), "is a folder, not a file", "name a file inside it"));
        }
        trace.begin(Some(&file));
        Self::new(name, TracedReader::new(file, trace))
    }

    /// Opens the file `path` that messages call `name` and that grows.
    pub fn follow(name: &Path, path: &Path, start: Option<&FollowStart>, trace: &Trace) -> Result<Self> {
        let taken = Some(trace.count_taken());
        let followed = Followed::open(path, start, trace).map_err(|error| Error::io(name, "open", error))?;
        Ok(Self { name: name.to_path_buf(), reader: Box::new(followed), compression: None, taken })
    }

    /// Wraps any reader, decompressing if its first bytes say so.
    pub fn new(name: &Path, reader: impl Read + Send + 'static) -> Result<Self> {
        let mut reader = BufReader::with_capacity(CHUNK_BYTES, reader);
        let mut start = Vec::new();
        (&mut reader)
            .take(SIGNATURE_BYTES)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(name, error))?;
        let compression = Compression::recognise(&start);
        let whole = Cursor::new(start).chain(reader);
        let reader: Box<dyn Read + Send> = match compression {
            None => Box::new(whole),
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(whole)),
            #[cfg(feature = "bzip2")]
            Some(Compression::Bzip2) => Box::new(bzip2::bufread::MultiBzDecoder::new(whole)),
            #[cfg(not(feature = "bzip2"))]
            Some(Compression::Bzip2) => return Err(not_compiled_in(name, "bzip2", "bzip2")),
            Some(Compression::Zstd) => {
                let failed = |error| Error::io(name, "decompress", error);
                let mut decoder = zstd::Decoder::with_buffer(whole).map_err(failed)?;
                decoder.window_log_max(ZSTD_WINDOW_BITS).map_err(failed)?;
                Box::new(decoder)
            }
            #[cfg(not(feature = "xz"))]
            Some(Compression::Xz) => return Err(not_compiled_in(name, "xz", "xz")),
            #[cfg(feature = "xz")]
            Some(Compression::Xz) => {
                let stream = XzStream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED)
                    .map_err(|error| Error::io(name, "decompress", error.into()))?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(whole, stream))
            }
        };
        Ok(Self { name: name.to_path_buf(), reader, compression, taken: None })
    }

    /// The input as the user named it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Where to count the bytes whose documents have been handed out, if somebody wants to know.
    pub fn taken(&self) -> Option<Arc<AtomicU64>> {
        self.taken.clone()
    }

    /// Whether it is compressed.
    pub fn is_packed(&self) -> bool {
        self.compression.is_some()
    }

    /// Reads some bytes (0 at the end); `line` is where the reader is, for messages.
    pub fn read(&mut self, into: &mut [u8], line: u64) -> Result<usize> {
        loop {
            match self.reader.read(into) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other.map_err(|error| self.explain(error, line)),
            }
        }
    }

    fn explain(&self, error: io::Error, line: u64) -> Error {
        // The system's own errors carry a number, those of the decoders do not.
        let Some(compression) = self.compression.filter(|_| error.raw_os_error().is_none() && error.to_string() != CHANGED) else {
            return unreadable(&self.name, error);
        };
        let place = Place::line(&self.name, line);
        let compression = compression.name();
        let reason = error.to_string();
        if error.kind() == ErrorKind::UnexpectedEof {
            Error::corpus(
                place,
                format!("ends in the middle of its {compression} data"),
                "the file was cut short; copy or download it again",
            )
        } else if reason.contains("memory") {
            Error::corpus(
                place,
                format!("needs too much memory to decompress its {compression} data"),
                "compress it again with a window of at most 128 MiB",
            )
        } else {
            Error::corpus(
                place,
                format!("corrupt {compression} data ({reason})"),
                "the file is damaged; copy or download it again",
            )
        }
    }
}

/// Why bytes cannot be read: the system says so, or they are not those of before.
fn unreadable(name: &Path, error: io::Error) -> Error {
    if error.to_string() == CHANGED {
        return Error::corpus(Place::file(name), CHANGED, CHANGED_ADVICE);
    }
    Error::io(name, "read", error)
}

/// Hands out at most so many bytes at once.
#[cfg(test)]
pub(crate) struct Trickle(Cursor<Vec<u8>>, usize);

#[cfg(test)]
impl Trickle {
    pub fn new(content: &[u8], chunk: usize) -> Self {
        Self(Cursor::new(content.to_vec()), chunk)
    }
}

#[cfg(test)]
impl Read for Trickle {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let size = into.len().min(self.1);
        self.0.read(&mut into[..size])
    }
}

/// A format that this build was compiled without.
#[cfg(not(all(feature = "bzip2", feature = "xz", feature = "parquet")))]
pub(crate) fn not_compiled_in(name: &Path, format: &str, feature: &str) -> Error {
    let problem = format!("this build cannot read {format}");
    let advice = format!("build with the feature `{feature}`, or convert the file");
    Error::corpus(Place::file(name), problem, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_recognised_by_content() {
        for (start, expected) in [
            (&b"\x1f\x8b\x08"[..], Some(Compression::Gzip)),
            (b"\x28\xb5\x2f\xfd\x04", Some(Compression::Zstd)),
            (b"\x52\x2a\x4d\x18", Some(Compression::Zstd)),
            (b"BZh91AY&SY", Some(Compression::Bzip2)),
            (b"BZh9", Some(Compression::Bzip2)),
            (b"BZh9 is no archive", None),
            (b"\xfd7zXZ\0", Some(Compression::Xz)),
            (b"plain text", None),
            (b"", None),
        ] {
            assert_eq!(Compression::recognise(start), expected, "{start:?}");
        }
    }

    #[test]
    fn an_xz_dictionary_beyond_the_limit_is_refused() {
        let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
        options.dict_size(1 << 30);
        let mut filters = liblzma::stream::Filters::new();
        filters.lzma2(&options);
        let mut packed = Vec::new();
        let Ok(stream) = XzStream::new_stream_encoder(&filters, liblzma::stream::Check::Crc32) else {
            return;
        };
        liblzma::bufread::XzEncoder::new_stream(&b"abc\n"[..], stream).read_to_end(&mut packed).unwrap();
        let mut source = Source::new(Path::new("big.xz"), Cursor::new(packed)).unwrap();
        let error = source.read(&mut [0; 8], 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "big.xz:1: needs too much memory to decompress its xz data; \
             compress it again with a window of at most 128 MiB"
        );
    }
}
