//! Bytes of a segment of the service's log: whole records are counted, everything else is refused.
#![no_main]

use gibbstream_server::log::{Record, check_segment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let documents = check_segment(bytes);
    // A torn end changes nothing before it.
    if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
        assert_eq!(check_segment(&bytes[..=end]), documents);
    }
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Ok(record) = Record::read(line) {
            assert!(record.cut == record.documents.is_empty());
        }
    }
});
