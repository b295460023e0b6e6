//! A topic model that learns: the trainer with its words, as the estimators of the package hold it.

use crate::corpus::{Corpus, tokenizer_or_plain};
use crate::error::{OrException, released};
use crate::inference;
use crate::rows::{Rows, Source};
use crate::settings::{parameters, settings};
use crate::signals::Signals;
use crate::written::Texts;
use gibbstream::Error;
use gibbstream::corpus::{Document, Minibatch, OpenVocabulary, Tokenizer, Vocabulary};
use gibbstream::model::lda::Topics;
use gibbstream::model_file::{Event, TopicModel, load, parse};
use gibbstream::summary::{shares, summarise};
use gibbstream::trainer::{Learnt, Trainer};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadwriteArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use rayon::ThreadPool;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Records of minibatches that are kept; from there on every second one is dropped, again and again.
const MOST_RECORDS: usize = 4096;

/// A model; one thread learns at a time, others may use it meanwhile.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Model {
    state: Mutex<State>,
    pool: Mutex<Option<Pool>>,
    /// The last array of components, for as long as the parameters are the same: people read it row by row.
    components: Mutex<Option<Components>>,
}

/// Parameters, and the array that was made of them.
type Components = (Arc<Topics>, Py<PyArray2<f64>>);

/// Threads for inference, kept for the next call.
struct Pool {
    threads: usize,
    process: u32,
    workers: Arc<ThreadPool>,
}

struct State {
    trainer: Trainer,
    threads: usize,
    /// Threads do not survive a fork, so a copy of this process needs its own.
    process: u32,
    vocabulary: Vocabulary,
    open: Option<OpenVocabulary>,
    tokenizer: Option<Tokenizer>,
    history: Vec<Event>,
    run: Run,
    records: Records,
    /// The parameters to use, until something else is learnt.
    topics: Option<Arc<Topics>>,
}

/// Where the documents at hand stand in the stream.
#[derive(Default)]
struct Run {
    /// Documents seen before this call of `fit` or `partial_fit`.
    origin: u64,
    pass: u64,
    /// Documents of this pass that have been learnt from.
    taken: u64,
    /// Documents that wait for the others of their minibatch.
    waiting: Vec<Document>,
}

/// A record as Python sees it: update, documents, tokens, rho, sum of alpha, seconds.
type PlainRecord = (u64, u64, u64, f64, f64, f64);

/// What happened in a minibatch.
#[derive(Clone, Copy)]
struct Record {
    update: u64,
    documents: u64,
    tokens: u64,
    rho: f64,
    alpha_sum: f64,
    seconds: f64,
}

impl From<&Record> for PlainRecord {
    fn from(r: &Record) -> Self {
        (r.update, r.documents, r.tokens, r.rho, r.alpha_sum, r.seconds)
    }
}

/// Records that stand evenly over the whole run, however long it is.
#[derive(Default)]
struct Records {
    kept: Vec<Record>,
    last: Option<Record>,
    stride: u64,
    seconds: f64,
}

impl Records {
    fn add(&mut self, record: Record) {
        self.last = Some(record);
        self.stride = self.stride.max(1);
        if record.update.is_multiple_of(self.stride) {
            self.kept.push(record);
        }
        if self.kept.len() >= MOST_RECORDS {
            self.stride *= 2;
            self.kept.retain(|record| record.update.is_multiple_of(self.stride));
        }
    }

    fn all(&self) -> impl Iterator<Item = &Record> {
        let newest = self.kept.last().map(|record| record.update);
        self.kept.iter().chain(self.last.iter().filter(move |last| newest != Some(last.update)))
    }
}

impl State {
    fn new(trainer: Trainer, threads: usize, vocabulary: Vocabulary, tokenizer: Option<Tokenizer>) -> Self {
        Self {
            trainer,
            threads,
            process: std::process::id(),
            vocabulary,
            open: None,
            tokenizer,
            history: Vec::new(),
            run: Run::default(),
            records: Records::default(),
            topics: None,
        }
    }

    /// Puts the trainer on other threads or other settings.
    fn renew(&mut self, settings: gibbstream::trainer::Settings, threads: usize) -> gibbstream::Result<()> {
        let mut renewed = Trainer::new(settings.clone(), threads)?;
        std::mem::swap(&mut renewed, &mut self.trainer);
        if let Some(learnt) = renewed.into_learnt() {
            self.trainer = Trainer::resume(settings, learnt, threads)?;
        }
        (self.threads, self.process, self.topics) = (threads, std::process::id(), None);
        Ok(())
    }

    fn alive(&mut self) -> gibbstream::Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        self.renew(self.trainer.settings().clone(), self.threads)
    }

    fn topics(&mut self) -> PyResult<Arc<Topics>> {
        if self.topics.is_none() {
            self.alive().or_exception()?;
            self.topics = self.trainer.topics().map(Arc::new);
        }
        self.topics.clone().ok_or_else(nothing_learnt).or_exception()
    }

    /// Learns from the documents that wait.
    fn learn(&mut self) -> gibbstream::Result<()> {
        let started = Instant::now();
        let documents = std::mem::take(&mut self.run.waiting);
        let batch = Minibatch::new(&documents, self.run.origin + self.run.taken, self.run.pass);
        let step = self.trainer.partial_fit(&batch)?;
        if let Some(open) = &mut self.open {
            self.trainer.forget(&open.close(&batch));
        }
        self.run.taken += documents.len() as u64;
        if let Some(event) = self.history.last_mut() {
            event.documents += documents.len() as u64;
            event.tokens += batch.tokens();
        }
        self.records.seconds += started.elapsed().as_secs_f64();
        self.records.add(Record {
            update: step.update,
            documents: step.seen,
            tokens: self.trainer.tokens(),
            rho: step.rho,
            alpha_sum: self.trainer.alpha().unwrap_or_default().iter().sum(),
            seconds: self.records.seconds,
        });
        self.topics = None;
        Ok(())
    }

    /// Lends the model as it would be on disk.
    fn lend<T>(&mut self, work: impl FnOnce(&TopicModel) -> gibbstream::Result<T>) -> gibbstream::Result<T> {
        self.alive()?;
        let (settings, tokenizer) = (self.trainer.settings().clone(), self.tokenizer.clone());
        let (vocabulary, history) = (self.vocabulary.clone(), self.history.clone());
        let open = self.open.as_ref().map(|open| open.state().clone());
        let lent = self.trainer.lend_learnt(|learnt| {
            let model = TopicModel { settings, learnt, vocabulary, tokenizer, history, open };
            let result = work(&model);
            (model.learnt, result)
        });
        lent.unwrap_or_else(|| Err(nothing_learnt()))
    }
}

fn nothing_learnt() -> Error {
    Error::setting("model", "nothing has been learnt yet", "call fit or partial_fit first")
}

impl Model {
    fn new(state: State) -> Self {
        Self { state: Mutex::new(state), pool: Mutex::default(), components: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on the state, with the interpreter released: another thread may be learning.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        released(py, || work(&mut self.lock()))
    }

    fn pool(&self, threads: usize) -> gibbstream::Result<Arc<ThreadPool>> {
        let mut kept = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if let Some(kept) = kept.as_ref().filter(|kept| (kept.threads, kept.process) == (threads, process)) {
            return Ok(kept.workers.clone());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            Error::setting("n_jobs", format!("cannot start {threads} threads: {error}"), "ask for fewer")
        })?;
        let pool = Arc::new(pool);
        *kept = Some(Pool { threads, process, workers: pool.clone() });
        Ok(pool)
    }

    /// The parameters to use, and the words they belong to.
    pub fn parameters(&self, py: Python<'_>) -> PyResult<(Arc<Topics>, Vocabulary)> {
        self.with(py, |state| Ok((state.topics()?, state.vocabulary.clone())))
    }

    fn restored(model: TopicModel, threads: usize) -> gibbstream::Result<Self> {
        let TopicModel { settings, learnt, vocabulary, tokenizer, history, open } = model;
        let trainer = Trainer::resume(settings, learnt, threads)?;
        let open = open.map(|open| OpenVocabulary::resume(&vocabulary, open));
        Ok(Self::new(State { open, history, ..State::new(trainer, threads, vocabulary, tokenizer) }))
    }
}

#[pymethods]
impl Model {
    /// A model that has learnt nothing. Words are those of the corpus, or given, or else numbered from 0.
    #[new]
    #[pyo3(signature = (parameters, width, threads, documents=None, words=None, corpus=None))]
    fn create(
        parameters: &Bound<'_, PyDict>,
        width: usize,
        threads: usize,
        documents: Option<u64>,
        words: Option<Vec<String>>,
        corpus: Option<&Bound<'_, Corpus>>,
    ) -> PyResult<Self> {
        let settings = settings(parameters, width, documents)?;
        let vocabulary = match (corpus, words) {
            (Some(corpus), _) => corpus.get().vocabulary.clone(),
            (None, Some(words)) => Vocabulary::new(words).or_exception()?,
            (None, None) => Vocabulary::new((0..width).map(|word| word.to_string())).or_exception()?,
        };
        let tokenizer = corpus.and_then(|corpus| corpus.get().tokenizer.clone());
        let trainer = Trainer::new(settings, threads).or_exception()?;
        Ok(Self::new(State::new(trainer, threads, vocabulary, tokenizer)))
    }

    /// The model in a file.
    #[classmethod]
    fn load(_kind: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf, threads: usize) -> PyResult<Self> {
        released(py, || {
            let (model, _) = load(&path).or_exception()?;
            Self::restored(model, threads).or_exception()
        })
    }

    /// The model in the bytes of a file.
    #[classmethod]
    fn from_bytes(_kind: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8], threads: usize) -> PyResult<Self> {
        released(py, || {
            let (model, _) = parse(Path::new("pickled model"), bytes).or_exception()?;
            Self::restored(model, threads).or_exception()
        })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |state| state.lend(|model| model.save(&path)).or_exception())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |state| state.lend(TopicModel::to_bytes).or_exception())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Learns on with other parameters or on other threads; refuses what cannot go on from what was learnt.
    #[pyo3(signature = (parameters, threads, documents=None))]
    fn configure(
        &self,
        parameters: &Bound<'_, PyDict>,
        threads: usize,
        documents: Option<u64>,
    ) -> PyResult<()> {
        let py = parameters.py();
        let words = self.with(py, |state| Ok(state.trainer.settings().vocabulary))?;
        let settings = settings(parameters, words, documents)?;
        self.with(py, |state| {
            let before = state.trainer.settings();
            settings.check_continues(before).or_exception()?;
            if *before == settings && state.threads == threads {
                return Ok(());
            }
            state.renew(settings, threads).or_exception()
        })
    }

    /// The parameters that ask for the settings of this model.
    fn asked_for<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = self.with(py, |state| Ok(state.trainer.settings().clone()))?;
        parameters(py, &settings)
    }

    /// Begins to learn; `action` goes into the history. Calls of the same kind are one entry.
    fn begin(&self, py: Python<'_>, action: String) -> PyResult<()> {
        self.with(py, |state| {
            state.alive().or_exception()?;
            state.run = Run { origin: state.trainer.clock().seen, ..Run::default() };
            if state.history.last().is_none_or(|event| event.action != action) {
                state.history.push(Event {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    action,
                    inputs: vec!["python".to_owned()],
                    documents: 0,
                    tokens: 0,
                    changes: Vec::new(),
                });
            }
            Ok(())
        })
    }

    fn begin_pass(&self, py: Python<'_>, pass: u64) -> PyResult<()> {
        self.with(py, |state| {
            (state.run.pass, state.run.taken) = (pass, 0);
            Ok(())
        })
    }

    /// Learns from the rows from `start` on, in minibatches, and returns how far it came: to the end, or through so many
    /// minibatches. At the end, `close` learns from a minibatch that is not full; otherwise it waits for further rows.
    #[pyo3(signature = (source, start, minibatches, close))]
    fn learn(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        start: usize,
        minibatches: Option<u64>,
        close: bool,
    ) -> PyResult<usize> {
        let rows = source.rows()?;
        self.with(py, |state| {
            let result = learn(state, &rows, start, minibatches, close);
            if result.is_err() {
                state.run.waiting.clear();
            }
            result
        })
    }

    /// Writes the topic mixtures of all rows into `out`.
    #[pyo3(signature = (source, sweeps, seed, threads, out))]
    fn transform(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        sweeps: usize,
        seed: u64,
        threads: usize,
        mut out: PyReadwriteArray2<'_, f64>,
    ) -> PyResult<()> {
        let (rows, out) = (source.rows()?, out.as_slice_mut()?);
        let (topics, _) = self.parameters(py)?;
        released(py, || {
            let pool = self.pool(threads).or_exception()?;
            inference::transform(&topics, &rows, sweeps, seed, &pool, out)
        })
    }

    /// log p of every row, estimated.
    fn log_likelihood<'py>(
        &self,
        py: Python<'py>,
        source: Source<'_>,
        scoring: inference::Scoring,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = source.rows()?;
        let topics = self.parameters(py)?.0;
        let counts = self.word_counts(py)?;
        let values = released(py, || inference::log_likelihood(&topics, counts, &rows, &scoring))?;
        Ok(values.into_pyarray(py))
    }

    /// All scores of the rows, as the program's `evaluate --json` names them, in JSON.
    fn evaluate(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        scoring: inference::Scoring,
        elbo: bool,
        completion: bool,
    ) -> PyResult<String> {
        let rows = source.rows()?;
        let topics = self.parameters(py)?.0;
        let counts = self.word_counts(py)?;
        let log_topics = if elbo {
            Some(self.with(py, |state| state.lend(|model| Ok(model.log_topics())).or_exception())?)
        } else {
            None
        };
        let (hash, name) =
            (self.hash(py)?, self.with(py, |state| Ok(state.trainer.settings().name.clone()))?);
        released(py, || {
            let parts = inference::Parts { topics: &topics, log_topics: log_topics.as_ref(), completion };
            inference::evaluate(&parts, counts, &rows, &scoring, &hash, &name)
        })
    }

    /// Expected tokens of every word in every topic, `topics x words`; not to be written to.
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (topics, _) = self.parameters(py)?;
        let kept = || self.components.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, array)) = kept().as_ref().filter(|(of, _)| Arc::ptr_eq(of, &topics)) {
            return Ok(array.bind(py).clone());
        }
        let tokens = self.tokens(py)? as f64;
        let masses: Vec<f64> = self.topic_shares(py)?.iter().map(|share| share * tokens).collect();
        let array = topic_rows(py, &topics, &masses)?;
        array.call_method1("setflags", (false,))?;
        *kept() = Some((topics, array.clone().unbind()));
        Ok(array)
    }

    /// Probabilities of every word in every topic, `topics x words`.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (topics, _) = self.parameters(py)?;
        topic_rows(py, &topics, &vec![1.0; topics.topics()])
    }

    fn alpha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.parameters(py)?.0.alpha.clone().into_pyarray(py))
    }

    fn shares<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.topic_shares(py)?.into_pyarray(py))
    }

    /// The best words of every topic, each with its number, its spelling and its probability.
    fn top_words(
        &self,
        py: Python<'_>,
        words: usize,
        relevance: f64,
    ) -> PyResult<Vec<Vec<(u32, String, f64)>>> {
        let (topics, vocabulary) = self.parameters(py)?;
        let shares = self.topic_shares(py)?;
        released(py, || {
            let summaries = summarise(&topics, &shares, words, relevance);
            let word = |&(word, weight): &(u32, f64)| (word, vocabulary.word(word).to_owned(), weight);
            Ok(summaries.iter().map(|topic| topic.words.iter().map(word).collect()).collect())
        })
    }

    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| state.lend(|model| Ok(Learnt::hash(&model.learnt))).or_exception())
    }

    fn words(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let vocabulary = self.with(py, |state| Ok(state.vocabulary.clone()))?;
        Ok(vocabulary.words().map(str::to_owned).collect())
    }

    /// Gives the words other names.
    fn rename(&self, py: Python<'_>, words: Vec<String>) -> PyResult<()> {
        self.with(py, |state| {
            let vocabulary = Vocabulary::new(words).or_exception()?;
            if vocabulary.len() != state.vocabulary.len() || state.open.is_some() {
                let known = state.vocabulary.len();
                let problem = format!("{} names for {known} words", vocabulary.len());
                return Err(Error::setting("vocabulary", problem, "give one name for each column of X"))
                    .or_exception();
            }
            state.vocabulary = vocabulary;
            Ok(())
        })
    }

    /// The kind of model: `lda` or `hdp`.
    #[getter]
    fn family(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |state| Ok(state.trainer.settings().family()))
    }

    #[getter]
    fn width(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| Ok(state.vocabulary.len()))
    }

    #[getter]
    fn updates(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.trainer.clock().update))
    }

    #[getter]
    fn documents(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.trainer.clock().seen))
    }

    fn tokens(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.trainer.tokens()))
    }

    fn word_counts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, |state| Ok(state.trainer.word_counts().to_vec()))
    }

    /// Records of minibatches.
    fn records(&self, py: Python<'_>) -> PyResult<Vec<PlainRecord>> {
        self.with(py, |state| Ok(state.records.all().map(PlainRecord::from).collect()))
    }

    fn last_record(&self, py: Python<'_>) -> PyResult<Option<PlainRecord>> {
        self.with(py, |state| Ok(state.records.last.as_ref().map(PlainRecord::from)))
    }

    fn restore_records(&self, py: Python<'_>, records: Vec<PlainRecord>) -> PyResult<()> {
        self.with(py, |state| {
            for (update, documents, tokens, rho, alpha_sum, seconds) in records {
                state.records.add(Record { update, documents, tokens, rho, alpha_sum, seconds });
                state.records.seconds = seconds;
            }
            Ok(())
        })
    }

    /// A corpus with the numbers of this model's words.
    fn number<'py>(&self, corpus: Bound<'py, Corpus>) -> PyResult<Bound<'py, Corpus>> {
        let py = corpus.py();
        let vocabulary = self.with(py, |state| Ok(state.vocabulary.clone()))?;
        match corpus.get().numbered_by(py, &vocabulary)? {
            None => Ok(corpus),
            Some(numbered) => Bound::new(py, numbered),
        }
    }
}

impl Model {
    fn topic_shares(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.with(py, |state| {
            state.lend(|model| Ok(shares(&model.learnt.state.counts.topic_tokens()))).or_exception()
        })
    }

    /// Calls `work` with the tokens of every text, as numbers of words.
    pub fn each_text(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        mut work: impl FnMut(&[Option<u32>]) + Send,
    ) -> PyResult<()> {
        let (vocabulary, tokenizer) = self
            .with(py, |state| Ok((state.vocabulary.clone(), tokenizer_or_plain(state.tokenizer.as_ref()))))?;
        let mut tokens = Vec::new();
        Texts::new(texts)?.each(py, |first, documents| {
            for (row, document) in (first..).zip(documents) {
                tokens.clear();
                document.tokens(row, &tokenizer, |word| tokens.push(vocabulary.id(word)))?;
                work(&tokens);
            }
            Ok(())
        })
    }
}

fn learn(
    state: &mut State,
    rows: &Rows<'_>,
    start: usize,
    minibatches: Option<u64>,
    close: bool,
) -> PyResult<usize> {
    let settings = state.trainer.settings();
    let full = if settings.method.whole_corpus { usize::MAX } else { settings.batch };
    let (mut row, mut left) = (start, minibatches.unwrap_or(u64::MAX));
    let (mut space, mut signals) = (Vec::new(), Signals::new());
    while left > 0 {
        while row < rows.len() && state.run.waiting.len() < full {
            let document = rows.document(row, &mut space).or_exception()?;
            state.run.waiting.push(document);
            row += 1;
        }
        let ready = state.run.waiting.len() == full || (close && !state.run.waiting.is_empty());
        if !ready {
            break;
        }
        state.learn().or_exception()?;
        left -= 1;
        signals.check()?;
    }
    Ok(row)
}

/// Topics as rows, each multiplied by its mass.
fn topic_rows<'py>(py: Python<'py>, topics: &Topics, masses: &[f64]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (count, words) = (topics.topics(), topics.vocabulary());
    let values = released(py, || {
        let mut values = vec![0.0; count * words];
        for (word, row) in topics.beta.chunks_exact(count).enumerate() {
            for (k, (probability, mass)) in row.iter().zip(masses).enumerate() {
                values[k * words + word] = probability * mass;
            }
        }
        Ok(values)
    })?;
    values.into_pyarray(py).reshape([count, words])
}
