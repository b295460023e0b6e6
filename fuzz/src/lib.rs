//! What the fuzz targets do with their input.

use gibbstream::corpus::{
    Format, Inputs, NumericRows, OpenRule, OpenVocabulary, ResolvedInputs, Row, StopWords, Tokenizer,
};
use gibbstream::file::Model;
use gibbstream::learn::{AnyBatch, Fitted, Learner, ModelKind, Observation, Settings};
use gibbstream::model::rows::observations::Domain;
use gibbstream::{Document, Topics, to_bytes};
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
    // Made once: lists of stop words, which the defaults have, take a hundred times longer to build than an input to read.
    static INPUTS: LazyLock<Inputs> = LazyLock::new(|| {
        let tokenizer = Tokenizer { ngrams: 2, stop_words: StopWords::none(), ..Tokenizer::default() };
        Inputs { vocabulary_file: Some(VOCABULARY.path().to_path_buf()), tokenizer, ..Inputs::default() }
    });
    let mut inputs = INPUTS.clone();
    (inputs.format, inputs.skip_bad) = (format, skip_bad);
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

/// Four documents of five words, or four rows of five answers, which every model of numbers can be learnt from.
pub fn batch(kind: ModelKind) -> AnyBatch<'static> {
    let texts = [[0_u32, 0, 1, 1], [1, 2, 2, 2], [3, 4, 0, 3], [0, 4, 4, 4]];
    let observation = |tokens: &[u32; 4]| {
        if kind.has_topics() {
            return Observation::Document(Document::from_tokens(tokens));
        }
        let values = (0..WIDTH as u32).map(|column| f64::from(u8::from(tokens.contains(&column)))).collect();
        Observation::Row(Row { id: None, values })
    };
    AnyBatch::new(texts.iter().map(observation).collect(), 0, 0).expect("they are of one kind")
}

/// Words or columns.
pub const WIDTH: usize = 5;

/// The kinds of models with their usual settings.
pub fn kinds() -> Vec<ModelKind> {
    ModelKind::NAMES.iter().filter_map(|name| ModelKind::by_name(name)).collect()
}

/// How a small model of a kind is learnt.
pub fn settings(kind: ModelKind) -> Settings {
    let settings = Settings::of(kind, 2, "g-oem").expect("the method is for all kinds");
    settings.vocabulary(WIDTH).batch(4).seed(1)
}

/// A learner of a kind that has learnt from the batch.
pub struct Begun {
    pub kind: ModelKind,
    pub learner: Box<dyn Learner>,
    start: Box<dyn Fitted>,
}

impl Begun {
    pub fn new(kind: ModelKind) -> Self {
        let mut learner = settings(kind).learner(1).expect("the settings are sound");
        learner.partial_fit(&batch(kind)).expect("the batch is sound");
        let start = learner.fitted().expect("something was learnt");
        Self { kind, learner, start }
    }

    /// As it was.
    fn again(&mut self) {
        self.learner.resume(self.start.boxed_clone()).expect("it has been there before");
    }

    /// What was learnt is still made of numbers.
    fn check(&self) {
        let parameters = self.learner.parameters().expect("something was learnt").expect("it has parameters");
        if let Ok(Topics { beta, alpha, .. }) = parameters.topics().map(|topics| &topics.topics) {
            assert!(beta.iter().chain(alpha).all(|value| value.is_finite()), "{}", self.kind.name());
        }
    }
}

/// Lends a learner, of the kind that the first byte tells, to work on the other bytes. Learners are made once: their threads
/// take longer to start than the work.
fn with_learner(data: &[u8], work: impl FnOnce(&mut Begun, &[u8])) {
    static LEARNERS: LazyLock<Mutex<Vec<Begun>>> =
        LazyLock::new(|| Mutex::new(kinds().into_iter().map(Begun::new).collect()));
    let Some((&first, data)) = data.split_first() else { return };
    let mut learners = LEARNERS.lock().expect("the first panic ends the process");
    let place = usize::from(first) % learners.len();
    let begun = &mut learners[place];
    begun.again();
    work(begun, data);
}

/// Computes with a view that came from elsewhere; what comes out of one that is accepted can be absorbed.
pub fn view(data: &[u8]) {
    with_learner(data, |begun, data| {
        for bytes in [data.to_vec(), sealed(data)] {
            if let Ok(statistics) = begun.learner.e_step_bytes(&bytes, &batch(begun.kind))
                && begun.learner.absorb_bytes(&[statistics]).is_ok()
            {
                begun.check();
            }
        }
    });
}

/// Learns from statistics that came from elsewhere, alone and beside sound ones; what is accepted leaves a model that can
/// be asked.
pub fn statistics(data: &[u8]) {
    with_learner(data, |begun, data| {
        let batch = batch(begun.kind);
        let view = begun.learner.view_bytes(&batch).expect("there is a state");
        let sound = begun.learner.e_step_bytes(&view, &batch).expect("the view is sound");
        for blocks in [vec![data.to_vec()], vec![sealed(data)], vec![sound, sealed(data)]] {
            if begun.learner.absorb_bytes(&blocks).is_ok() {
                begun.check();
            }
        }
    });
}
