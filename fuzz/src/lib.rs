//! What the fuzz targets do with their input.

use gibbstream::corpus::{Format, Inputs, OpenRule, OpenVocabulary, StopWords, Tokenizer};
use gibbstream::model_file::parse;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

/// The words of formats that need a list of them.
static VOCABULARY: LazyLock<tempfile::NamedTempFile> = LazyLock::new(|| {
    let file = tempfile::NamedTempFile::new().expect("temporary files can be made");
    std::fs::write(file.path(), "cat\ndog\nemu\n").expect("temporary files can be written");
    file
});

/// Reads documents in a format, with and without passing over bad records: both must end, and the second must find at
/// least as many documents as the first did before its error.
pub fn read(format: Format, data: &[u8]) {
    let strict = documents(format, data, false);
    let lenient = documents(format, data, true);
    assert!(lenient >= strict, "{lenient} documents instead of {strict}");
}

fn documents(format: Format, data: &[u8], skip_bad: bool) -> usize {
    let vocabulary_file = Some(VOCABULARY.path().to_path_buf());
    // A list of stop words would take longer to build than the input to read.
    let tokenizer = Tokenizer { lowercase: true, min_length: 2, ngrams: 2, stop_words: StopWords::none() };
    let inputs = Inputs {
        paths: Vec::new(),
        format,
        vocabulary_file,
        text_field: "text".into(),
        id_field: "id".into(),
        tokenizer,
        skip: 0,
        limit: None,
        skip_bad,
        transpose: false,
        follow: false,
    };
    let Ok(inputs) = inputs.resolve_bytes(data.to_vec()) else { return 0 };
    let rule = OpenRule::Grow { most: 1000 };
    let words = Arc::new(Mutex::new(OpenVocabulary::new(rule).expect("the rule is sound")));
    inputs.documents_entering(&words).take(1000).take_while(Result::is_ok).count()
}

/// Loads a model or checkpoint, as it is and with a right checksum, so that what lies behind the checksum is reached.
pub fn load(data: &[u8]) {
    let path = Path::new("fuzzed.gbs");
    let _ = parse(path, data);
    let mut signed = data.to_vec();
    if sign(&mut signed)
        && let Ok((model, _)) = parse(path, &signed)
    {
        // What is accepted can be used.
        let topics = model.topics();
        assert_eq!(topics.vocabulary(), model.vocabulary.len());
        let _ = model.learnt.hash();
    }
}

fn sign(bytes: &mut [u8]) -> bool {
    let marker = br#"\"checksum\":\""#;
    let Some(at) = bytes.windows(marker.len()).position(|window| window == marker) else { return false };
    let place = at + marker.len()..at + marker.len() + 64;
    if bytes.len() < place.end {
        return false;
    }
    bytes[place.clone()].fill(b'0');
    let checksum = blake3::hash(bytes).to_hex();
    bytes[place].copy_from_slice(checksum.as_bytes());
    true
}
