//! A model as the estimators of the package hold it: what Python calls.

use crate::corpus::{Corpus, tokenizer_or_plain};
use crate::error::{OrException, released};
use crate::files::Files;
use crate::inference;
use crate::records::Record;
use crate::rows::Source;
use crate::settings::{parameters, settings};
use crate::state::State;
use crate::written::Texts;
use gibbstream::Error;
use gibbstream::corpus::{Tokenizer, Vocabulary};
use gibbstream::explore::{background, summaries};
use gibbstream::file::{Destination, Features, Kind};
use gibbstream::inference::mixtures::assigned;
use gibbstream::learn::{Array, Mode, Parameters, Seeds, Snapshot, TrainingRun, Values};
use gibbstream::model::topics::hdp::sticks::Sticks;
use gibbstream::model::topics::hdp::topics_used;
use gibbstream::model::topics::lda::Topics;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use rayon::ThreadPool;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A model; one thread learns at a time, others may use it meanwhile.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Model {
    state: Mutex<State>,
    pool: Mutex<Option<Pool>>,
    /// The last array of components, for as long as the parameters are the same: people read it row by row.
    components: Mutex<Option<Components>>,
}

/// Parameters, and the array that was made of them.
type Components = (Arc<Parameters>, Py<PyArray2<f64>>);

/// Threads for inference, kept for the next call.
struct Pool {
    threads: usize,
    process: u32,
    workers: Arc<ThreadPool>,
}

impl Model {
    pub fn new(state: State) -> Self {
        Self { state: Mutex::new(state), pool: Mutex::default(), components: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on the state, with the interpreter released: another thread may be learning.
    pub fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        released(py, || work(&mut self.lock()))
    }

    /// Threads for work that needs no interpreter.
    pub fn pool(&self, threads: usize) -> gibbstream::Result<Arc<ThreadPool>> {
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

    /// The model as it is now; it does not change any more.
    pub fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        self.with(py, |state| state.run.snapshot().or_exception())
    }

    fn parameters(&self, py: Python<'_>) -> PyResult<Arc<Parameters>> {
        self.with(py, |state| state.parameters().or_exception())
    }

    /// What was learnt, and the words it is about.
    pub fn parameters_and_words(&self, py: Python<'_>) -> PyResult<(Arc<Parameters>, Vocabulary)> {
        self.with(py, |state| Ok((state.parameters().or_exception()?, state.run.features().vocabulary())))
    }
}

/// The numbers of words that pull topics, given as JSON; warns of those that are not known.
fn numbered(py: Python<'_>, seeds: &str, features: &Features) -> PyResult<Vec<Vec<u32>>> {
    let seeds = Seeds::parse(seeds)
        .map_err(|problem| Error::setting("seeds", problem, "give a list of words for each topic"))
        .or_exception()?;
    let (numbers, unknown) = seeds.numbered(&features.vocabulary());
    if !unknown.is_empty() {
        let list = unknown.join(", ");
        let text = format!("seeds: these words are not in the vocabulary and have no effect: {list}");
        let text = std::ffi::CString::new(text.replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 3)?;
    }
    Ok(numbers)
}

#[pymethods]
impl Model {
    /// A model that has learnt nothing. Words are those of the corpus, or given, or else numbered from 0.
    #[new]
    #[pyo3(signature = (
        parameters, width, threads, documents=None, words=None, corpus=None, files=None, seeds=None, stream=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn create(
        parameters: &Bound<'_, PyDict>,
        width: usize,
        threads: usize,
        documents: Option<u64>,
        words: Option<Vec<String>>,
        corpus: Option<&Bound<'_, Corpus>>,
        files: Option<&Bound<'_, Files>>,
        seeds: Option<&str>,
        stream: bool,
    ) -> PyResult<Self> {
        let mode = if stream { Mode::Stream } else { Mode::File };
        let mut settings = settings(parameters, width, documents, mode)?;
        let words = words.unwrap_or_else(|| (0..width).map(|word| word.to_string()).collect());
        let features = match (corpus, files) {
            (Some(corpus), _) => Features::Words(corpus.get().vocabulary.clone()),
            (_, Some(files)) => files.get().features.clone(),
            _ if settings.model.has_topics() => Features::Words(Vocabulary::new(words).or_exception()?),
            _ => Features::Columns(words),
        };
        let tokenizer = corpus
            .and_then(|corpus| corpus.get().tokenizer.clone())
            .or_else(|| files.and_then(|files| files.get().tokenizer.clone()));
        if let Some(seeds) = seeds {
            settings.seeds = numbered(parameters.py(), seeds, &features)?;
        }
        let run = TrainingRun::new(settings, features, tokenizer, threads).or_exception()?;
        Ok(Self::new(State::new(run)))
    }

    /// The model in a file.
    #[classmethod]
    fn load(_kind: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf, threads: usize) -> PyResult<Self> {
        released(py, || {
            let model = gibbstream::file::Model::load(&path).or_exception()?;
            State::restored(model, threads).map(Self::new).or_exception()
        })
    }

    /// The model in the bytes of a file.
    #[classmethod]
    fn from_bytes(_kind: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8], threads: usize) -> PyResult<Self> {
        released(py, || {
            let pickled = Path::new("pickled model");
            let (model, _) = gibbstream::file::Model::parse(pickled, bytes).or_exception()?;
            State::restored(model, threads).map(Self::new).or_exception()
        })
    }

    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let place = Destination::new(path, Kind::MODEL, force);
        self.with(py, |state| state.lend(|model| model.save_to(&place)).or_exception())
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |state| state.lend(gibbstream::file::Model::to_bytes).or_exception())?;
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
        let (words, mode) = self.with(py, |state| {
            let settings = state.run.trainer().settings();
            Ok((settings.features, settings.mode))
        })?;
        let mut settings = settings(parameters, words, documents, mode)?;
        self.with(py, |state| {
            let before = state.run.trainer().settings();
            settings.seeds.clone_from(&before.seeds);
            settings.check_continues(before).or_exception()?;
            if *before == settings && state.run.threads() == threads {
                return Ok(());
            }
            state.configure(settings, threads).or_exception()
        })
    }

    /// The parameters that ask for the settings of this model.
    fn asked_for<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = self.with(py, |state| Ok(state.run.trainer().settings().clone()))?;
        parameters(py, &settings)
    }

    /// Begins to learn; `action` goes into the history. Calls of the same kind are one entry.
    fn begin(&self, py: Python<'_>, action: String) -> PyResult<()> {
        self.with(py, |state| state.begin(action).or_exception())
    }

    fn begin_pass(&self, py: Python<'_>, pass: u64) -> PyResult<()> {
        self.with(py, |state| {
            state.run.begin_pass(pass);
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
        self.with(py, |state| state.learn(&rows, start, minibatches, close))
    }

    /// The topic mixtures of all rows, one after the other, of topics that have been met; or what else is latent.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        source: Source<'_>,
        sweeps: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = source.rows()?;
        let parameters = self.parameters(py)?;
        let (mixtures, width) = released(py, || {
            let pool = self.pool(threads).or_exception()?;
            inference::transform(&parameters, &rows, sweeps, seed, &pool)
        })?;
        mixtures.into_pyarray(py).reshape([rows.len(), width])
    }

    /// The topic that each row is most about, and how clearly.
    fn assign(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        sweeps: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<(Vec<usize>, Vec<f64>)> {
        let rows = source.rows()?;
        let parameters = self.parameters(py)?;
        released(py, || {
            let pool = self.pool(threads).or_exception()?;
            let shares = &parameters.topics().or_exception()?.shares;
            let mut found = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
            inference::each_mixture(&parameters, &rows, (sweeps, seed, false), &pool, |mixture| {
                let (topic, confidence) = assigned(&mixture.theta, shares);
                found.0.push(topic);
                found.1.push(confidence);
            })?;
            Ok(found)
        })
    }

    /// The topic of every token of every row, in one sample, with the spelling of its word.
    fn token_topics(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        sweeps: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Vec<Vec<(String, u32)>>> {
        let rows = source.rows()?;
        let (parameters, vocabulary) = self.parameters_and_words(py)?;
        released(py, || {
            let pool = self.pool(threads).or_exception()?;
            let mut found = Vec::with_capacity(rows.len());
            inference::each_mixture(&parameters, &rows, (sweeps, seed, true), &pool, |mixture| {
                let word = |&(word, topic): &(u32, u32)| (vocabulary.word(word).to_owned(), topic);
                found.push(mixture.token_topics.iter().map(word).collect());
            })?;
            Ok(found)
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
        let parameters = self.parameters(py)?;
        let values = released(py, || inference::log_likelihood(&parameters, &rows, &scoring))?;
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
        let parameters = self.parameters(py)?;
        let (log_topics, report) = self.with(py, |state| {
            let log_topics = if elbo { state.run.trainer().log_topics() } else { None };
            let report =
                state.lend(|model| Ok(json!({ "model_hash": model.hash(), "method": model.settings.name })));
            Ok((log_topics, report.or_exception()?))
        })?;
        released(py, || {
            inference::evaluate(&parameters, log_topics.as_ref(), completion, &rows, &scoring, report)
        })
    }

    /// Expected tokens of every word in every topic, `topics x words`; not to be written to.
    fn components<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let parameters = self.parameters(py)?;
        let kept = || self.components.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, array)) = kept().as_ref().filter(|(of, _)| Arc::ptr_eq(of, &parameters)) {
            return Ok(array.bind(py).clone());
        }
        let tokens = self.tokens(py)? as f64;
        let of_topics = parameters.topics().or_exception()?;
        let masses: Vec<f64> = of_topics.shares.iter().map(|share| share * tokens).collect();
        let array = topic_rows(py, &of_topics.topics, &masses)?;
        array.call_method1("setflags", (false,))?;
        *kept() = Some((parameters, array.clone().unbind()));
        Ok(array)
    }

    /// Probabilities of every word in every topic, `topics x words`.
    fn probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let parameters = self.parameters(py)?;
        let of_topics = parameters.topics().or_exception()?;
        topic_rows(py, &of_topics.topics, &vec![1.0; of_topics.met()])
    }

    fn alpha<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let parameters = self.parameters(py)?;
        let of_topics = parameters.topics().or_exception()?;
        Ok(of_topics.topics.alpha[..of_topics.met()].to_vec().into_pyarray(py))
    }

    fn shares<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.parameters(py)?.topics().or_exception()?.shares.clone().into_pyarray(py))
    }

    /// The parameters of a model of numbers, by name.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (parameters, dict) = (self.parameters(py)?, PyDict::new(py));
        if let Parameters::Rows(parameters) = &*parameters {
            for Array { name, shape, values } in &parameters.arrays {
                if let Values::Floats(values) = values {
                    dict.set_item(name, values.to_vec().into_pyarray(py).reshape(shape.clone())?)?;
                }
            }
        }
        Ok(dict)
    }

    /// What to be careful about.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |state| Ok(state.run.trainer().diagnostics().warnings))
    }

    /// Number of topics with more than a thousandth of all tokens.
    fn topics_used(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| Ok(topics_used(&state.run.trainer().topic_tokens())))
    }

    /// Where the number of topics is open, how many were ever created.
    fn topics_created(&self, py: Python<'_>) -> PyResult<u64> {
        self.of_sticks(py, |sticks| sticks.created)
    }

    /// Where the number of topics is open, the number of each in the order of creation.
    fn topic_ids(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.of_sticks(py, |sticks| sticks.ids.clone())
    }

    /// Where the number of topics is open, the share that is left for those not met yet.
    fn remainder(&self, py: Python<'_>) -> PyResult<f64> {
        self.of_sticks(py, |sticks| sticks.remainder)
    }

    /// The words of every topic as they are shown or by relevance, each with its number, its spelling and its probability.
    #[pyo3(signature = (words, relevance=None))]
    fn top_words(
        &self,
        py: Python<'_>,
        words: usize,
        relevance: Option<f64>,
    ) -> PyResult<Vec<Vec<(u32, String, f64)>>> {
        let (parameters, vocabulary) = self.parameters_and_words(py)?;
        let kept = self.with(py, |state| Ok(state.run.shown().clone()))?;
        released(py, || {
            let topics = parameters.topics().or_exception()?;
            let summaries = summaries(topics, &vocabulary, &kept, words, relevance.into());
            let word = |&(word, weight): &(u32, f64)| (word, vocabulary.word(word).to_owned(), weight);
            Ok(summaries.iter().map(|topic| topic.words.iter().map(word).collect()).collect())
        })
    }

    /// Looks at some of the rows once more, to find which words of the topics go together.
    fn show_words(&self, py: Python<'_>, source: Source<'_>) -> PyResult<()> {
        let rows = source.rows()?;
        self.with(py, |state| state.show_words(&rows))
    }

    /// The same with the documents of files.
    fn show_words_of_files(&self, py: Python<'_>, files: &Bound<'_, Files>) -> PyResult<()> {
        let (documents, count) = files.get().documents_again();
        self.with(py, |state| state.learn_by(|run, _| run.show_words_of(documents, count)).or_exception())
    }

    /// Which topics are about nothing in particular.
    fn background(&self, py: Python<'_>) -> PyResult<Vec<bool>> {
        let parameters = self.parameters(py)?;
        let topics = parameters.topics().or_exception()?;
        released(py, || Ok(background(&topics.topics, &topics.shares)))
    }

    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| state.lend(|model| Ok(model.hash())).or_exception())
    }

    fn words(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |state| {
            Ok(match state.run.features() {
                Features::Columns(columns) => columns.clone(),
                features => features.vocabulary().words().map(str::to_owned).collect(),
            })
        })
    }

    /// Gives the words other names.
    fn rename(&self, py: Python<'_>, words: Vec<String>) -> PyResult<()> {
        self.with(py, |state| state.run.rename(words).or_exception())
    }

    /// The kind of model.
    #[getter]
    fn family(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |state| Ok(state.run.trainer().settings().model.name()))
    }

    #[getter]
    fn width(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |state| Ok(state.run.features().len()))
    }

    #[getter]
    fn updates(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.run.trainer().clock().update))
    }

    #[getter]
    fn documents(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.run.trainer().clock().seen))
    }

    fn tokens(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |state| Ok(state.run.trainer().tokens()))
    }

    fn word_counts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, |state| Ok(state.run.trainer().word_counts().to_vec()))
    }

    /// Records of minibatches.
    fn records(&self, py: Python<'_>) -> PyResult<Vec<Record>> {
        self.with(py, |state| Ok(state.records.all().copied().collect()))
    }

    fn last_record(&self, py: Python<'_>) -> PyResult<Option<Record>> {
        self.with(py, |state| Ok(state.records.last))
    }

    /// Changes of the stream that were noticed, as JSON.
    fn changes(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            serde_json::to_string(state.run.changes())
                .map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }

    fn restore_records(&self, py: Python<'_>, records: Vec<Record>) -> PyResult<()> {
        self.with(py, |state| {
            records.into_iter().for_each(|record| state.records.add(record));
            Ok(())
        })
    }

    /// A corpus with the numbers of this model's words.
    fn number<'py>(&self, corpus: Bound<'py, Corpus>) -> PyResult<Bound<'py, Corpus>> {
        let py = corpus.py();
        let vocabulary = self.with(py, |state| Ok(state.run.features().vocabulary()))?;
        match corpus.get().numbered_by(py, &vocabulary)? {
            None => Ok(corpus),
            Some(numbered) => Bound::new(py, numbered),
        }
    }
}

impl Model {
    fn of_sticks<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&Sticks) -> T + Send) -> PyResult<T> {
        self.with(py, |state| state.sticks().map(read).or_exception())
    }

    /// The words, and how text is cut into them.
    pub fn words_and_tokenizer(&self, py: Python<'_>) -> PyResult<(Vocabulary, Tokenizer)> {
        self.with(py, |state| {
            Ok((state.run.features().vocabulary(), tokenizer_or_plain(state.run.tokenizer())))
        })
    }

    /// Calls `work` with the tokens of every text, as numbers of words.
    pub fn each_text(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        mut work: impl FnMut(&[Option<u32>]) + Send,
    ) -> PyResult<()> {
        let (vocabulary, tokenizer) = self.words_and_tokenizer(py)?;
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

/// As many topics as there are masses, as rows, each multiplied by its mass.
fn topic_rows<'py>(py: Python<'py>, topics: &Topics, masses: &[f64]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (columns, words) = (topics.topics(), topics.vocabulary());
    let values = released(py, || {
        let mut values = vec![0.0; masses.len() * words];
        for (word, row) in topics.beta.chunks_exact(columns).enumerate() {
            for (k, (probability, mass)) in row.iter().zip(masses).enumerate() {
                values[k * words + word] = probability * mass;
            }
        }
        Ok(values)
    })?;
    values.into_pyarray(py).reshape([masses.len(), words])
}
