#![no_main]

use gibbstream::corpus::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| gibbstream_fuzz::rows(Format::Csv, data));
