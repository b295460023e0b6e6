//! What the fuzz targets do with their input.

use gibbstream::corpus::{
    Format, Inputs, NumericRows, OpenRule, OpenVocabulary, ResolvedInputs, StopWords, Tokenizer,
};
use gibbstream::file::Model;
use gibbstream::learn::{AnyBatch, Learner, Observation, Settings};
use gibbstream::model::rows::observations::Domain;
use gibbstream::{Document, to_bytes};
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

fn inputs(format: Format, data: &[u8], skip_bad: bool) -> Option<ResolvedInputs> {
    // A list of stop words would take longer to build than the input to read.
    let tokenizer = Tokenizer { ngrams: 2, stop_words: StopWords::none(), ..Tokenizer::default() };
    let vocabulary_file = Some(VOCABULARY.path().to_path_buf());
    let inputs = Inputs { format, vocabulary_file, tokenizer, skip_bad, ..Inputs::default() };
    inputs.resolve_bytes(data.to_vec()).ok()
}

fn documents(format: Format, data: &[u8], skip_bad: bool) -> usize {
    let Some(inputs) = inputs(format, data, skip_bad) else { return 0 };
    let rule = OpenRule::Grow { most: 1000 };
    let words = Arc::new(Mutex::new(OpenVocabulary::new(rule).expect("the rule is sound")));
    inputs.documents_entering(&words).take(1000).take_while(Result::is_ok).count()
}

/// Reads rows of numbers in the same two ways; all that are handed out are finite.
pub fn rows(format: Format, data: &[u8]) {
    let count = |skip_bad| {
        let Some(inputs) = inputs(format, data, skip_bad) else { return 0 };
        let Ok(rows) = NumericRows::new(&inputs, Domain::Real, None) else { return 0 };
        let sound = rows.read().take(1000).take_while(Result::is_ok).flatten();
        sound.inspect(|row| assert!(row.values.iter().all(|value| value.is_finite()))).count()
    };
    let (strict, lenient) = (count(false), count(true));
    assert!(lenient >= strict, "{lenient} rows instead of {strict}");
}

/// Loads a model or checkpoint, as it is and with a right checksum, so that what lies behind the checksum is reached.
pub fn load(data: &[u8]) {
    let path = Path::new("fuzzed.gbs");
    let _ = Model::parse(path, data);
    let mut signed = data.to_vec();
    if sign(&mut signed)
        && let Ok((model, _)) = Model::parse(path, &signed)
    {
        // What is accepted can be used.
        let _ = model.hash();
        let _ = model.fitted.parameters();
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

/// Views and statistics begin with a name of eight bytes and a checksum of 32.
const HEAD: usize = 40;

/// The bytes with a right beginning and a right checksum, so that what lies behind them is reached.
fn sealed(data: &[u8]) -> Vec<u8> {
    let body = data.get(HEAD..).unwrap_or(data);
    [&to_bytes(&())[..8], blake3::hash(body).as_bytes(), body].concat()
}

/// Four documents of five words.
pub fn batch() -> AnyBatch<'static> {
    let texts = [&[0_u32, 0, 1][..], &[1, 2, 2], &[3, 4], &[0, 4, 4, 4]];
    let documents = texts.iter().map(|tokens| Observation::Document(Document::from_tokens(tokens)));
    AnyBatch::new(documents.collect(), 0, 0).expect("documents are of one kind")
}

/// A learner that has made its start.
pub fn learner() -> Box<dyn Learner> {
    let settings = Settings::new(3).vocabulary(5).batch(4).seed(1);
    let mut learner = settings.learner(1).expect("the settings are sound");
    learner.begin(&batch()).expect("the documents are sound");
    learner
}

/// Computes with a view that came from elsewhere; what comes out of one that is accepted can be absorbed.
pub fn view(data: &[u8]) {
    let mut learner = learner();
    for bytes in [data.to_vec(), sealed(data)] {
        if let Ok(statistics) = learner.e_step_bytes(&bytes, &batch()) {
            let _ = learner.absorb_bytes(&[statistics]);
        }
    }
}

/// Learns from statistics that came from elsewhere, alone and beside sound ones; what is accepted leaves a model that can
/// be asked.
pub fn statistics(data: &[u8]) {
    let mut learner = learner();
    let view = learner.view_bytes(&batch()).expect("there is a state");
    let sound = learner.e_step_bytes(&view, &batch()).expect("the view is sound");
    for blocks in [vec![data.to_vec()], vec![sealed(data)], vec![sound, sealed(data)]] {
        if learner.absorb_bytes(&blocks).is_ok() {
            let parameters = learner.parameters().expect("something was learnt").expect("it has parameters");
            let topics = &parameters.topics().expect("it has topics").topics;
            assert!(topics.beta.iter().chain(&topics.alpha).all(|value| value.is_finite()));
        }
    }
}
