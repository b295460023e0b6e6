//! A model at one moment, ready to answer.

use crate::timeline::Timeline;
use bytes::Bytes;
use gibbstream::corpus::{Document, Tokenizer, Vocabulary, count_words};
use gibbstream::explore::report::Commands;
use gibbstream::explore::{self, ExploreOptions, WordOrder, background, names_of};
use gibbstream::file::{Features, LabelSource};
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::learn::{Observation, Snapshot, TopicParameters};
use gibbstream::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::OnceLock;
use utoipa::ToSchema;

/// Words of a topic that are found in advance.
pub const WORDS_PREPARED: usize = 10;

/// The most words of a topic that can be asked for.
pub const MOST_WORDS: usize = 1_000;

/// Why the live page shows no documents.
const NO_DOCUMENTS: &str = "the service keeps documents to learn from, not to show: save the model of this moment \
    (/v1/model.gbs) and run gibbstream report with it and the documents";

/// A word of a topic.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Word {
    /// Its spelling.
    pub word: String,
    /// Its probability in the topic.
    pub weight: f64,
}

/// A topic, with the fields that `gibbstream topics --json` has.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Topic {
    /// Its number in the model.
    pub id: usize,
    /// Its number in the order of creation, where the number of topics is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created_as: Option<u64>,
    /// What it is called.
    pub label: String,
    /// Who said so: `user` or `auto`.
    #[schema(value_type = String)]
    pub label_by: LabelSource,
    /// Whether it has the words of all documents and is about nothing in particular.
    pub background: bool,
    /// Expected share of all tokens.
    pub share: f64,
    /// How much the topic is expected in a document before it is read.
    pub alpha: f64,
    /// exp of the entropy: over how many words the topic is spread.
    pub effective_words: f64,
    /// How much its best words belong to it and to no other topic, from 0 to 1.
    pub exclusivity: f64,
    /// Its best words.
    pub words: Vec<Word>,
}

/// All topics.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TopicsAnswer {
    /// `gibbstream/topics/1`.
    pub schema: &'static str,
    /// The model that they are of; nothing before anything was learnt.
    pub model_hash: Option<String>,
    /// Documents that it has learnt from.
    pub documents: u64,
    /// Why there are none, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub note: Option<&'static str>,
    /// Topics with more than a thousandth of all tokens, where their number is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub topics_used: Option<usize>,
    /// Topics that were ever created, where their number is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub topics_created: Option<u64>,
    /// The topics.
    pub topics: Vec<Topic>,
}

/// A topic that a word belongs to.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WordTopic {
    /// The topic.
    pub topic: usize,
    /// Probability of the word in the topic.
    pub weight: f64,
    /// Probability of the topic, given the word.
    pub share: f64,
}

/// Where a word belongs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WordAnswer {
    /// `gibbstream/word/1`.
    pub schema: &'static str,
    /// The model that answers.
    pub model_hash: String,
    /// The word.
    pub word: String,
    /// How often it was seen.
    pub count: u64,
    /// The topics that own it, the first the one that it most likely belongs to.
    pub topics: Vec<WordTopic>,
}

/// A document to find the mixture of. One of `text`, `tokens` and `counts` says what is in it.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InferDocument {
    /// Its name, given back.
    #[serde(default)]
    pub id: Option<String>,
    /// Text, which is cut into words as the model's own was.
    #[serde(default)]
    #[schema(nullable = false)]
    pub text: Option<String>,
    /// Words as they are.
    #[serde(default)]
    #[schema(nullable = false)]
    pub tokens: Option<Vec<String>>,
    /// Words and how often they occur.
    #[serde(default)]
    #[schema(nullable = false, value_type = Option<std::collections::HashMap<String, u32>>)]
    pub counts: Option<serde_json::Map<String, Value>>,
}

/// A model that answers.
pub struct View {
    snapshot: Snapshot,
    hash: String,
    timeline: Timeline,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    topics: Bytes,
    /// Made when it is first asked for: it takes much longer than the topics.
    report: OnceLock<Bytes>,
}

impl View {
    /// Makes in advance what is asked for often.
    pub fn new(snapshot: Snapshot, timeline: Timeline) -> Result<Self> {
        let (hash, vocabulary) = (snapshot.hash(), snapshot.features.vocabulary());
        let tokenizer = snapshot.tokenizer.clone().unwrap_or_else(Tokenizer::plain);
        let mut view = Self {
            snapshot,
            hash,
            timeline,
            vocabulary,
            tokenizer,
            topics: Bytes::new(),
            report: OnceLock::new(),
        };
        view.topics = json!(view.topics(WORDS_PREPARED, WordOrder::Telling)?).to_string().into();
        Ok(view)
    }

    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Documents that it has learnt from.
    pub fn documents(&self) -> u64 {
        self.snapshot.clock().seen
    }

    /// All topics with their best words, as text.
    pub fn prepared_topics(&self) -> Bytes {
        self.topics.clone()
    }

    /// Everything that the page shows of this moment, as text.
    pub fn report(&self) -> Result<Bytes> {
        if let Some(report) = self.report.get() {
            return Ok(report.clone());
        }
        let commands = Commands {
            model: "model.gbs".into(),
            inputs: vec!["documents.jsonl".into()],
            program: "gibbstream report model.gbs --out page.html".into(),
            python: "gibbstream.load(\"model.gbs\").report(\"page.html\")".into(),
        };
        let options = ExploreOptions { title: "Live topics".into(), commands, ..ExploreOptions::default() };
        let mut report = explore::report(&self.snapshot, &options, None)?;
        report.timeline = self.timeline.report(&self.topic_names());
        report.missing.remove("timeline");
        report.missing.insert("documents".into(), NO_DOCUMENTS.into());
        report.missing.insert("groups".into(), NO_DOCUMENTS.into());
        let mut text = Vec::new();
        explore::page::write_json(&report, &mut text)
            .map_err(|source| Error::io(Path::new("the report"), "write", source))?;
        Ok(self.report.get_or_init(|| text.into()).clone())
    }

    pub fn parameters(&self) -> Result<&TopicParameters> {
        self.snapshot.parameters()?.topics()
    }

    /// Number of topics that have been met.
    pub fn met(&self) -> Result<usize> {
        self.parameters().map(TopicParameters::met)
    }

    /// All topics with their best words.
    pub fn topics(&self, shown: usize, order: WordOrder) -> Result<TopicsAnswer> {
        let parameters = self.parameters()?;
        let background = background(&parameters.topics, &parameters.shares);
        let summaries = self.snapshot.summaries(shown, order)?.into_iter().enumerate();
        let sticks = self.snapshot.topic_state().and_then(|state| state.sticks.as_ref());
        let word = |(word, weight)| Word { word: self.vocabulary.word(word).to_owned(), weight };
        let names = names_of(parameters, &self.snapshot);
        let topics = summaries.zip(names).map(|((id, topic), (label, label_by))| Topic {
            id,
            created_as: sticks.map(|sticks| sticks.ids[id]),
            label,
            label_by,
            background: background[id],
            share: topic.share,
            alpha: topic.alpha,
            effective_words: topic.effective_words,
            exclusivity: topic.exclusivity,
            words: topic.words.into_iter().map(word).collect(),
        });
        let open = self.snapshot.open_topics();
        Ok(TopicsAnswer {
            schema: "gibbstream/topics/1",
            model_hash: Some(self.hash.clone()),
            documents: self.documents(),
            note: None,
            topics_used: open.map(|(used, _)| used),
            topics_created: open.map(|(_, created)| created),
            topics: topics.collect(),
        })
    }

    /// Where a word belongs; `None` if it is not known.
    pub fn word(&self, word: &str) -> Result<Option<WordAnswer>> {
        let Some(id) = self.vocabulary.id(word).filter(|&id| self.vocabulary.known(id).is_some()) else {
            return Ok(None);
        };
        let parameters = self.parameters()?;
        let (topics, shares) = (&parameters.topics, &parameters.shares);
        let row = &topics.beta[id as usize * topics.topics()..][..topics.topics()];
        let all: f64 = row.iter().zip(shares).map(|(p, share)| p * share).sum();
        let mut found: Vec<WordTopic> = row
            .iter()
            .zip(shares)
            .enumerate()
            .map(|(topic, (&weight, share))| WordTopic {
                topic,
                weight,
                share: if all > 0.0 { weight * share / all } else { 0.0 },
            })
            .collect();
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.topic.cmp(&b.topic)));
        let count = self.snapshot.word_counts().get(id as usize).copied().unwrap_or(0);
        Ok(Some(WordAnswer {
            schema: "gibbstream/word/1",
            model_hash: self.hash.clone(),
            word: word.to_owned(),
            count,
            topics: found,
        }))
    }

    /// The names of topics, by number: numbers where their number is fixed, the order of creation where it is open.
    pub fn topic_names(&self) -> Vec<u64> {
        let sticks = self.snapshot.topic_state().and_then(|state| state.sticks.as_ref());
        sticks.map_or_else(|| (0..self.snapshot.components() as u64).collect(), |sticks| sticks.ids.clone())
    }

    /// Topic shares by the time at which documents came in.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// A document with the numbers of the model's words.
    pub fn document(&self, given: InferDocument) -> Result<Document> {
        let refused = |problem: &str, advice: &str| Err(Error::setting("documents", problem, advice));
        let InferDocument { id, text, tokens, counts } = given;
        let document = match (text, tokens, counts) {
            (Some(text), None, None) => {
                Features::Words(self.vocabulary.clone()).document(&text, &self.tokenizer)?
            }
            (None, Some(tokens), None) => self.counted(tokens.into_iter().map(|token| (token, 1))),
            (None, None, Some(counts)) => {
                let mut pairs = Vec::with_capacity(counts.len());
                for (word, count) in counts {
                    let Some(count) = count.as_u64().filter(|&count| count <= 1 << 24) else {
                        let problem = format!("the count of `{}` is {count}", word.escape_debug());
                        return refused(&problem, "use whole numbers from 0 to 16777216");
                    };
                    pairs.push((word, count as u32));
                }
                self.counted(pairs.into_iter().filter(|(_, count)| *count > 0))
            }
            _ => return refused("there is not exactly one of text, tokens and counts", "give one of them"),
        };
        Ok(Document { id, ..document })
    }

    fn counted(&self, words: impl Iterator<Item = (String, u32)>) -> Document {
        let mut document = Document::default();
        for (word, count) in words {
            match self.vocabulary.id(word.trim()) {
                Some(id) => document.words.push((id, count)),
                None => document.out_of_vocabulary += u64::from(count),
            }
        }
        document.words = count_words(document.words);
        document
    }

    /// The mixtures of documents, as `gibbstream infer` writes them; with `top` only the largest shares.
    pub fn infer(
        &self,
        documents: Vec<Document>,
        how: &MixtureInference,
        top: Option<usize>,
    ) -> Result<Vec<Value>> {
        let observations: Vec<Observation> = documents.into_iter().map(Observation::Document).collect();
        let mixtures = self.snapshot.parameters()?.infer(&observations, how)?;
        let line = |(index, (observation, mixture)): (usize, (&Observation, _))| {
            let mixture: &gibbstream::inference::mixtures::TopicMixture = mixture;
            let Observation::Document(document) = observation else { return Value::Null };
            let theta = match top {
                None => json!(mixture.theta),
                Some(most) => {
                    let mut topics: Vec<usize> = (0..mixture.theta.len()).collect();
                    topics.sort_by(|&a, &b| mixture.theta[b].total_cmp(&mixture.theta[a]));
                    topics.truncate(most);
                    topics.into_iter().map(|k| json!({ "topic": k, "weight": mixture.theta[k] })).collect()
                }
            };
            json!({
                "id": document.id,
                "index": index,
                "tokens": document.tokens(),
                "out_of_vocabulary_tokens": document.out_of_vocabulary,
                "theta": theta,
            })
        };
        Ok(observations.iter().zip(&mixtures).enumerate().map(line).collect())
    }
}
