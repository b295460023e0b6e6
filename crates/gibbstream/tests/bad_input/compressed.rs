//! Compressed files that are cut or damaged.

use super::{Case, case, check};
use std::io::Write;

pub(super) fn packed(name: &'static str, content: Vec<u8>, message: &'static str) -> Case {
    Case { files: vec![(name, content)], ..case(&[], message) }
}

/// Text that does not compress well, so that cut and damaged files have something to damage.
pub(super) fn long_text() -> Vec<u8> {
    let mut state = 1_u64;
    let mut content = Vec::new();
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(content, "word{:x} film movie", state >> 33).unwrap();
    }
    content
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn cut(mut packed: Vec<u8>) -> Vec<u8> {
    packed.truncate(packed.len() - packed.len() / 3);
    packed
}

fn flipped(mut packed: Vec<u8>, from_end: usize) -> Vec<u8> {
    let at = packed.len() - from_end;
    packed[at] ^= 0x55;
    packed
}

#[test]
fn compressed_files() {
    let content = long_text();
    check(&[
        packed(
            "in.gz",
            cut(gzip(&content)),
            "DIR/in.gz:13320: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.zst",
            cut(zstandard(&content)),
            "DIR/in.zst:10983: ends in the middle of its zstd data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.bz2",
            cut(bzip(&content)),
            "DIR/in.bz2:1: ends in the middle of its bzip2 data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.xz",
            cut(xz(&content)),
            "DIR/in.xz:13320: ends in the middle of its xz data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.gz",
            cut(gzip(b"cat dog\n")),
            "DIR/small.gz:1: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.zst",
            cut(zstandard(b"cat dog\n")),
            "DIR/small.zst:1: ends in the middle of its zstd data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.bz2",
            cut(bzip(b"cat dog\n")),
            "DIR/small.bz2:1: ends in the middle of its bzip2 data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.xz",
            cut(xz(b"cat dog\n")),
            "DIR/small.xz:1: ends in the middle of its xz data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "checksum.gz",
            flipped(gzip(b"cat dog\n"), 8),
            "DIR/checksum.gz:1: corrupt gzip data (corrupt gzip stream does not have a matching \
             checksum); the file is damaged; copy or download it again",
        ),
        packed(
            "checksum.zst",
            flipped(zstandard(b"cat dog\n"), 1),
            "DIR/checksum.zst:1: corrupt zstd data (Restored data doesn't match checksum); the file \
             is damaged; copy or download it again",
        ),
        packed(
            "checksum.bz2",
            flipped(bzip(b"cat dog\n"), 2),
            "DIR/checksum.bz2:1: corrupt bzip2 data (bzip2: invalid data); the file is damaged; copy \
             or download it again",
        ),
        packed(
            "checksum.xz",
            flipped(xz(b"cat dog\n"), 30),
            "DIR/checksum.xz:1: corrupt xz data (lzma data error); the file is damaged; copy or \
             download it again",
        ),
        packed(
            "garbage.gz",
            [gzip(b"cat dog\n"), b"garbage".to_vec()].concat(),
            "DIR/garbage.gz:1: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "garbage.zst",
            [zstandard(b"cat dog\n"), b"garbage".to_vec()].concat(),
            "DIR/garbage.zst:1: corrupt zstd data (Unknown frame descriptor); the file is damaged; \
             copy or download it again",
        ),
        packed(
            "empty.gz",
            gzip(b""),
            "DIR/empty.gz: contains no documents; check that this is the right file",
        ),
        packed(
            "empty.zst",
            zstandard(b""),
            "DIR/empty.zst: contains no documents; check that this is the right file",
        ),
        packed(
            "middle.zst",
            flipped(zstandard(&content), 100_000),
            "DIR/middle.zst:16476: corrupt zstd data (Restored data doesn't match checksum); the \
             file is damaged; copy or download it again",
        ),
    ]);
}
