#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gibbstream_fuzz::statistics(data));
