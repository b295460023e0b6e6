//! The model file `*.gbs`: a safetensors file with a checksum over every byte (layout in docs/model-format.md).
//!
//! The arrays are plain tensors; everything else is one JSON object in the metadata entry `gibbstream`. The
//! checksum is the BLAKE3 hash of the whole file with the checksum itself written as zeros, so a change
//! anywhere, in header, padding or data, is noticed. Files are written beside their place and renamed into it.

use crate::corpus::{OpenRule, OpenState, Tokenizer, Vocabulary};
use crate::error::{Error, Result};
use crate::file::version_1;
use crate::learn::Settings;
use crate::model::alpha::{AlphaClamps, AlphaState};
use crate::model::lda::{LdaState, LogTopics, Topics};
use crate::model::sticks::Sticks;
use crate::model::topics::{TopicAverage, TopicStats};
use crate::new_file::NewFile;
use crate::schedule::Step;
use crate::trainer::Learnt;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// The version of the layout that this release writes; it also reads version 1.
pub const VERSION: u32 = 2;

const METADATA_KEY: &str = "gibbstream";
const FORMAT: &str = "gibbstream topic model";
pub(crate) const CHECKSUM_DIGITS: usize = 64;

/// A topic model as it is kept on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicModel {
    /// How it was learnt.
    pub settings: Settings,
    /// What was learnt.
    pub learnt: Learnt,
    /// The words.
    pub vocabulary: Vocabulary,
    /// How text was cut into words, if it was text.
    pub tokenizer: Option<Tokenizer>,
    /// What has been done to the model, oldest first.
    pub history: Vec<Event>,
    /// How words that are not known yet get a place; `None` if the words are fixed.
    pub open: Option<OpenState>,
}

/// Something that was done to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Version of the program.
    pub version: String,
    /// What was done, such as "train".
    pub action: String,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Documents seen in it.
    pub documents: u64,
    /// Tokens seen in it.
    pub tokens: u64,
    /// Settings that were changed for it, such as `batch: 100 -> 50`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// Where the run that a checkpoint belongs to stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What was asked for: a run goes on only with the same.
    pub request: serde_json::Value,
    /// The pass over the input, from 0.
    pub pass: u64,
    /// Documents of this pass that have been learnt from.
    pub documents: u64,
    /// Whether nothing is left to do.
    pub finished: bool,
    /// What else the program that trains wants to know again.
    pub notes: serde_json::Value,
}

/// Everything in a file that is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    checksum: String,
    model_hash: String,
    settings: Settings,
    clock: Step,
    tokens: u64,
    scale: f64,
    averaged_updates: Option<u64>,
    clamps: AlphaClamps,
    /// Topics ever created, where their number is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    topics_created: Option<u64>,
    tokenizer: Option<Tokenizer>,
    history: Vec<Event>,
    /// Only for vocabularies that are not fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenState>,
    /// Only in checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
}

/// An array with its name in the file.
pub(crate) struct Tensor<'a> {
    pub name: &'static str,
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    pub bytes: Cow<'a, [u8]>,
}

impl Learnt {
    /// Hash of statistics, parameters and counters: equal hash, equal bits.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for tensor in self.tensors() {
            hasher.update(tensor.name.as_bytes());
            hasher.update(&(tensor.bytes.len() as u64).to_le_bytes());
            hasher.update(&tensor.bytes);
        }
        let averaged = self.state.counts.average.as_ref().map_or(0, |average| average.updates);
        for counter in [
            self.clock.update,
            self.clock.seen,
            self.clock.head_start,
            self.tokens,
            self.state.counts.scale().to_bits(),
            averaged,
            self.state.alpha.clamps.sum,
            self.state.alpha.clamps.entries,
        ] {
            hasher.update(&counter.to_le_bytes());
        }
        if let Some(sticks) = &self.state.sticks {
            hasher.update(&sticks.created.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let LdaState { counts, alpha, alpha_sum, sticks } = &self.state;
        let (words, topics) = (counts.words(), counts.topics());
        let floats = |name, shape: &[usize], values| Tensor {
            name,
            dtype: "F64",
            shape: shape.to_vec(),
            bytes: Cow::Borrowed(bytemuck::cast_slice::<f64, u8>(values)),
        };
        let mut tensors = vec![
            floats("alpha", &[topics], &alpha.alpha),
            floats("log_theta", &[topics], &alpha.log_theta),
            floats("alpha_usage", &[topics], &alpha.usage),
            floats("alpha_length", &[1], std::slice::from_ref(&alpha.length)),
            floats("counts", &[words, topics], &counts.scaled),
            floats("totals", &[topics], &counts.totals),
        ];
        if let Some(average) = &counts.average {
            tensors.push(floats("average_alpha_sum", &[topics], alpha_sum));
            tensors.push(floats("average_settled", &[words, topics], &average.settled));
            tensors.push(floats("average_factors", &[topics], &average.factors));
            tensors.push(floats("average_offsets", &[topics], &average.offsets));
        }
        if let Some(sticks) = sticks {
            let numbers = |name, values| Tensor {
                name,
                dtype: "U64",
                shape: vec![topics],
                bytes: Cow::Borrowed(bytemuck::cast_slice::<u64, u8>(values)),
            };
            tensors.push(floats("remainder", &[1], std::slice::from_ref(&sticks.remainder)));
            tensors.push(floats("remainder_log", &[1], std::slice::from_ref(&sticks.remainder_log)));
            tensors.push(numbers("topic_ids", &sticks.ids));
            tensors.push(numbers("topic_births", &sticks.born));
            tensors.push(numbers("topic_idle", &sticks.idle));
            tensors.push(floats("topic_evidence", &[topics], &sticks.evidence));
            let proved: Vec<u64> = sticks.proved.iter().copied().map(u64::from).collect();
            tensors.push(Tensor {
                bytes: Cow::Owned(bytemuck::cast_slice(&proved).to_vec()),
                ..numbers("topic_proved", &[])
            });
        }
        tensors.push(Tensor {
            name: "word_counts",
            dtype: "U64",
            shape: vec![words],
            bytes: Cow::Borrowed(bytemuck::cast_slice(&self.word_counts)),
        });
        tensors
    }
}

impl TopicModel {
    /// The parameters to use.
    pub fn topics(&self) -> Topics {
        self.settings.parameters(&self.learnt)
    }

    /// Number of topics in [`Self::topics`]: those there are, and one more for all that have not been met yet if
    /// their number is open.
    pub fn columns(&self) -> usize {
        let state = &self.learnt.state;
        let unmet = state.sticks.as_ref().is_some_and(|sticks| sticks.remainder > 0.0);
        state.counts.topics() + usize::from(unmet)
    }

    /// Logarithms of the topics for the evidence lower bound.
    pub fn log_topics(&self) -> LogTopics {
        self.settings.log_topics(&self.learnt)
    }

    /// Writes the file so that its place always holds the old or the new model, whole.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_with(path, None)
    }

    /// The same with the state of the run, which makes it a checkpoint.
    pub(crate) fn save_with(&self, path: &Path, run: Option<&Run>) -> Result<()> {
        let mut file = NewFile::create(path)?;
        self.write(run, |bytes| file.write(bytes))?;
        file.finish()
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        self.write(None, |bytes| {
            file.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(file)
    }

    /// Hands the file over piece by piece.
    fn write(&self, run: Option<&Run>, piece: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut words = String::new();
        for place in 0..self.vocabulary.len() as u32 {
            words.push_str(&self.vocabulary.known(place).unwrap_or_default());
            words.push('\n');
        }
        let mut tensors = self.learnt.tensors();
        if let Some(OpenState { rule: OpenRule::Grow { .. }, usage, .. }) = &self.open {
            tensors.push(Tensor {
                name: "word_usage",
                dtype: "F64",
                shape: vec![usage.len(), 2],
                bytes: Cow::Borrowed(bytemuck::cast_slice(usage)),
            });
        }
        tensors.push(Tensor {
            name: "vocabulary",
            dtype: "U8",
            shape: vec![words.len()],
            bytes: Cow::Owned(words.into_bytes()),
        });
        seal(serde_json::json!(self.header(run)), &tensors, piece)
    }

    /// The header, with zeros for the checksum.
    fn header(&self, run: Option<&Run>) -> Header {
        Header {
            format: FORMAT.to_string(),
            version: VERSION,
            checksum: "0".repeat(CHECKSUM_DIGITS),
            model_hash: self.learnt.hash(),
            settings: self.settings.clone(),
            clock: self.learnt.clock,
            tokens: self.learnt.tokens,
            scale: self.learnt.state.counts.scale(),
            averaged_updates: self.learnt.state.counts.average.as_ref().map(|average| average.updates),
            clamps: self.learnt.state.alpha.clamps,
            topics_created: self.learnt.state.sticks.as_ref().map(|sticks| sticks.created),
            tokenizer: self.tokenizer.clone(),
            history: self.history.clone(),
            open: self.open.clone(),
            run: run.cloned(),
        }
    }
}

/// Hands a file over piece by piece, its `header` with the checksum in place of the zeros that are there now.
pub(crate) fn seal(
    mut header: serde_json::Value,
    tensors: &[Tensor<'_>],
    mut piece: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header_bytes(&header, tensors));
    for tensor in tensors {
        hasher.update(&tensor.bytes);
    }
    header["checksum"] = serde_json::json!(hasher.finalize().to_hex().to_string());
    piece(&header_bytes(&header, tensors))?;
    tensors.iter().try_for_each(|tensor| piece(&tensor.bytes))
}

/// The head of a safetensors file: its length, then JSON padded to a multiple of eight bytes.
fn header_bytes(header: &serde_json::Value, tensors: &[Tensor<'_>]) -> Vec<u8> {
    let mut entries = serde_json::Map::new();
    let metadata = header.to_string();
    entries.insert("__metadata__".to_string(), serde_json::json!({ METADATA_KEY: metadata }));
    let mut end = 0;
    for tensor in tensors {
        let start = end;
        end += tensor.bytes.len();
        entries.insert(
            tensor.name.to_string(),
            serde_json::json!({
                "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end],
            }),
        );
    }
    let mut json = serde_json::Value::Object(entries).to_string().into_bytes();
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend(json);
    bytes
}

impl TopicModel {
    /// Reads a model, refusing anything that is not exactly what was written. A checkpoint is a model too.
    pub fn load(path: &Path) -> Result<Self> {
        load(path).map(|(model, _)| model)
    }
}

/// The model in a file, and the state of its run if it is a checkpoint.
pub fn load(path: &Path) -> Result<(TopicModel, Option<Run>)> {
    parse(path, &bytes_of(path)?)
}

/// All bytes of a file.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::io(path, "open", source);
    // A device or a pipe would be read for ever.
    if std::fs::metadata(path).map_err(failed)?.is_file() {
        return std::fs::read(path).map_err(failed);
    }
    Err(Error::model_file(path, "it is not a file", "name the file itself"))
}

/// The model in the bytes of a file, and the state of its run if it is a checkpoint. `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<(TopicModel, Option<Run>)> {
    unseal(path, bytes, FORMAT, read)
}

/// Checks the bytes of a file and hands its arrays and its header to `read`.
pub(crate) fn unseal<H: serde::de::DeserializeOwned, T>(
    path: &Path,
    bytes: &[u8],
    format: &str,
    read: impl FnOnce(&SafeTensors<'_>, H) -> Result<T, String>,
) -> Result<T> {
    let refuse = |problem: String| {
        Error::model_file(path, problem, "train the model again or take a copy that is whole")
    };
    check(bytes).map_err(refuse)?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| refuse(error.to_string()))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| refuse(error.to_string()))?;
    let header = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA_KEY));
    let header = header.ok_or_else(|| refuse("it has no gibbstream settings".to_string()))?;
    let mut header: serde_json::Value = serde_json::from_str(header)
        .map_err(|error| refuse(format!("its settings are not readable: {error}")))?;
    if header["version"] == 1 {
        header = version_1::upgrade(header).map_err(refuse)?;
    } else if header["version"] != VERSION {
        let problem =
            format!("its layout has version {}, this release reads 1 to {VERSION}", header["version"]);
        return Err(Error::model_file(path, problem, "use the release that wrote it, or train again"));
    }
    if let Some(found) = header["format"].as_str().filter(|&found| found != format) {
        let problem = format!("it is a {found}, and a {format} is needed here");
        return Err(Error::model_file(path, problem, "use a command that is meant for it"));
    }
    let header = serde_json::from_value(header)
        .map_err(|error| refuse(format!("its settings are not readable: {error}")))?;
    read(&file, header).map_err(refuse)
}

/// Compares the checksum with the content.
fn check(bytes: &[u8]) -> Result<(), String> {
    const NOT_OURS: &str = "it does not begin like one";
    let length = bytes.first_chunk::<8>().map(|head| u64::from_le_bytes(*head)).ok_or(NOT_OURS)?;
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(8));
    let end = end.filter(|&end| end <= bytes.len()).ok_or("it is cut off, or it does not begin like one")?;
    // The metadata is JSON inside a JSON string, so its quotes are escaped.
    let marker = br#"\"checksum\":\""#;
    let head = &bytes[..end];
    let at = head.windows(marker.len()).position(|window| window == marker).ok_or(NOT_OURS)? + marker.len();
    let written = head.get(at..at + CHECKSUM_DIGITS).ok_or(NOT_OURS)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..at]);
    hasher.update("0".repeat(CHECKSUM_DIGITS).as_bytes());
    hasher.update(&bytes[at + CHECKSUM_DIGITS..]);
    if hasher.finalize().to_hex().as_bytes() == written {
        Ok(())
    } else {
        Err("its checksum does not match its content, so it is damaged or incomplete".to_string())
    }
}

/// Builds the model from arrays whose shapes must agree with the settings.
fn read(file: &SafeTensors<'_>, header: Header) -> Result<(TopicModel, Option<Run>), String> {
    let words = header.settings.features;
    header.settings.validate().map_err(|error| error.to_string())?;
    let topics = topics_in(file, &header.settings)?;
    let sticks = read_sticks(file, &header, topics)?;
    let average = match header.averaged_updates {
        None => None,
        Some(updates) => Some(TopicAverage {
            updates,
            settled: array(file, "average_settled", Dtype::F64, &[words, topics])?,
            factors: array(file, "average_factors", Dtype::F64, &[topics])?,
            offsets: array(file, "average_offsets", Dtype::F64, &[topics])?,
        }),
    };
    let alpha_sum = match average {
        None => vec![0.0; topics],
        Some(_) => array(file, "average_alpha_sum", Dtype::F64, &[topics])?,
    };
    let counts = TopicStats::from_parts(
        topics,
        header.scale,
        array(file, "counts", Dtype::F64, &[words, topics])?,
        array(file, "totals", Dtype::F64, &[topics])?,
        average,
    );
    let state = LdaState {
        counts,
        alpha: AlphaState {
            alpha: array(file, "alpha", Dtype::F64, &[topics])?,
            log_theta: array(file, "log_theta", Dtype::F64, &[topics])?,
            usage: array(file, "alpha_usage", Dtype::F64, &[topics])?,
            length: array(file, "alpha_length", Dtype::F64, &[1])?[0],
            clamps: header.clamps,
        },
        alpha_sum,
        sticks,
    };
    check_numbers(&state, &header.clock)?;
    let word_counts = array(file, "word_counts", Dtype::U64, &[words])?;
    let learnt = Learnt { state, clock: header.clock, tokens: header.tokens, word_counts };
    let text = file.tensor("vocabulary").map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(text.data()).map_err(|_| "its vocabulary is not UTF-8".to_string())?;
    let mut open = header.open;
    if let Some(open) = &mut open {
        open.rule.check().map_err(|error| error.to_string())?;
        if matches!(open.rule, OpenRule::Grow { .. }) {
            let usage: Vec<f64> = array(file, "word_usage", Dtype::F64, &[words, 2])?;
            open.usage = bytemuck::cast_slice(&usage).to_vec();
        }
    }
    let vocabulary = read_words(text, open.as_ref())?;
    if vocabulary.len() != words {
        return Err(format!("it has {} words for a vocabulary of {words}", vocabulary.len()));
    }
    let Header { settings, tokenizer, history, run, .. } = header;
    Ok((TopicModel { settings, learnt, vocabulary, tokenizer, history, open }, run))
}

/// The number of topics: given, or where it is open as many as there are.
fn topics_in(file: &SafeTensors<'_>, settings: &Settings) -> Result<usize, String> {
    let Some(hdp) = settings.model.hdp() else { return Ok(settings.components) };
    let topics = file.tensor("alpha").map_err(|error| error.to_string())?.shape().iter().product();
    if topics == 0 || topics > hdp.max_topics {
        return Err(format!("it has {topics} topics, and there may be 1 to {}", hdp.max_topics));
    }
    Ok(topics)
}

/// The weights of topics whose number is open.
fn read_sticks(file: &SafeTensors<'_>, header: &Header, topics: usize) -> Result<Option<Sticks>, String> {
    if header.settings.model.hdp().is_none() {
        return Ok(None);
    }
    let created = header.topics_created.ok_or("it does not say how many topics were created")?;
    let proved: Vec<u64> = array(file, "topic_proved", Dtype::U64, &[topics])?;
    let sticks = Sticks {
        remainder: array(file, "remainder", Dtype::F64, &[1])?[0],
        remainder_log: array(file, "remainder_log", Dtype::F64, &[1])?[0],
        created,
        ids: array(file, "topic_ids", Dtype::U64, &[topics])?,
        born: array(file, "topic_births", Dtype::U64, &[topics])?,
        idle: array(file, "topic_idle", Dtype::U64, &[topics])?,
        evidence: array(file, "topic_evidence", Dtype::F64, &[topics])?,
        proved: proved.iter().map(|&proved| proved == 1).collect(),
        births: Vec::new(),
    };
    let sound = (0.0..=1.0).contains(&sticks.remainder)
        && sticks.remainder_log.is_finite()
        && sticks.ids.iter().all(|&id| id < created)
        && sticks.born.iter().all(|&seen| seen <= header.clock.seen)
        && sticks.evidence.iter().all(|evidence| evidence.is_finite())
        && proved.iter().all(|&proved| proved <= 1);
    if sound { Ok(Some(sticks)) } else { Err("'remainder' or 'topic_ids' cannot be right".to_string()) }
}

/// Refuses numbers that no training leaves behind, even if the checksum is right.
fn check_numbers(state: &LdaState, clock: &Step) -> Result<(), String> {
    let LdaState { counts, alpha, alpha_sum, .. } = state;
    let at_least =
        |floor: f64, values: &[f64]| values.iter().all(|value| value.is_finite() && *value >= floor);
    let average = counts.average.as_ref();
    let any = f64::NEG_INFINITY;
    for (name, sound) in [
        ("clock", clock.update > 0 && clock.seen > 0 && clock.rho.is_finite()),
        ("scale", counts.scale().is_normal() && (0.0..=1.0).contains(&counts.scale())),
        ("counts", at_least(0.0, &counts.scaled)),
        ("totals", at_least(0.0, &counts.totals)),
        ("alpha", at_least(f64::MIN_POSITIVE, &alpha.alpha)),
        ("log_theta", at_least(any, &alpha.log_theta)),
        ("alpha_usage", at_least(any, &alpha.usage)),
        ("alpha_length", alpha.length.is_finite()),
        ("average_alpha_sum", at_least(0.0, alpha_sum)),
        ("average_settled", average.is_none_or(|average| at_least(any, &average.settled))),
        ("average_factors", average.is_none_or(|average| at_least(0.0, &average.factors))),
        ("average_offsets", average.is_none_or(|average| at_least(0.0, &average.offsets))),
    ] {
        if !sound {
            return Err(format!("'{name}' holds numbers that cannot be right"));
        }
    }
    Ok(())
}

/// The words, one a line; where words are not fixed, an empty line is a free place.
fn read_words(text: &str, open: Option<&OpenState>) -> Result<Vocabulary, String> {
    let Some(open) = open else { return Vocabulary::new(text.lines()).map_err(|error| error.to_string()) };
    let places: Vec<Option<Arc<str>>> =
        text.lines().map(|word| Some(word).filter(|word| !word.is_empty()).map(Arc::from)).collect();
    // The other checks are those of a vocabulary without the gaps.
    let words: Vec<Arc<str>> = places.iter().flatten().cloned().collect();
    Vocabulary::new(words).map_err(|error| error.to_string())?;
    let bits = if let OpenRule::Hash { bits } = open.rule { Some(bits) } else { None };
    Ok(Vocabulary::with_free_places(places, bits))
}

/// One array, copied out so that it is aligned.
pub(crate) fn array<T: bytemuck::Pod>(
    file: &SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<Vec<T>, String> {
    let tensor = file.tensor(name).map_err(|error| error.to_string())?;
    if tensor.dtype() != dtype || tensor.shape() != shape {
        let (found, expected) = (tensor.shape(), shape);
        return Err(format!(
            "array '{name}' is {:?} {found:?} instead of {dtype:?} {expected:?}",
            tensor.dtype()
        ));
    }
    let mut values = vec![T::zeroed(); shape.iter().product()];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(tensor.data());
    Ok(values)
}
