//! Bodies of POST /v1/documents: what is accepted can be written to the log, read again and learnt from.
#![no_main]

use gibbstream::corpus::{Format, Inputs, Vocabulary};
use gibbstream_server::log::{Entry, Record};
use gibbstream_server::{Limits, check_documents};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let inputs = Inputs { format: Format::JsonLines, ..Inputs::default() };
    let Ok((list, count, _)) = check_documents(&inputs, &Limits::default(), body.to_vec()) else { return };
    let mut line = Vec::new();
    Entry::Documents { list: &list, key: None }.write(0, 0, &mut line);
    let record = Record::read(line.strip_suffix(b"\n").unwrap()).expect("what was written is read");
    assert_eq!(record.documents.len() as u64, count);
    let texts: Vec<&str> = record.documents.iter().map(|document| document.get()).collect();
    let read = inputs.resolve_bytes(texts.join("\n").into_bytes()).unwrap();
    assert_eq!(read.documents(&Vocabulary::default()).map(|document| document.unwrap()).count() as u64, count);
});
