//! Shares and words of topics by period or by group: what `timeline` writes.
//!
//! Every document is looked at once, with the mixtures that `infer` and the page give it, in memory that depends on the
//! number of periods or groups and not on that of documents.

use super::classes::groups::GroupMoments;
use super::classes::timeline::{By, TimelineMoments};
use super::classes::trends::FollowedWords;
use super::records::{Record, RecordFields};
use super::report::{Groups, Timeline, WordTrends};
use super::topics::{TopicTable, made_names, names};
use crate::corpus::{Document, Minibatch, Vocabulary};
use crate::error::{Error, Result};
use crate::file::{LabelSource, Model};
use crate::inference::mixtures::{TopicMixture, MixtureInference};
use crate::learn::{Snapshot, TopicParameters};
use crate::numerics::random::Seed;
use serde::Serialize;

/// The name of the format.
pub const SHARES_SCHEMA: &str = "gibbstream/timeline/1";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ShareOptions {
    /// Where the time or the group of a document is; one of them.
    pub fields: RecordFields,
    /// How long periods are.
    pub by: By,
    /// Words that are listed of each topic in each class, at most; up to 30 are followed.
    pub words: usize,
    /// Sweeps over each document, of which all but the first quarter are kept.
    pub sweeps: usize,
    /// Seed of mixtures.
    pub seed: Seed,
}

/// Shares and words of all topics in all classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopicShares {
    /// Always `gibbstream/timeline/1`.
    pub schema: &'static str,
    /// The model.
    pub model_hash: String,
    /// The field with the time or the group.
    pub field: String,
    /// `hour` to `year`, or `group`.
    pub by: String,
    /// Documents read.
    pub documents: u64,
    /// Documents read without a word that the model knows; they count nowhere else.
    pub documents_without_words: u64,
    /// The periods, from the first to the last document, or the groups by name.
    pub classes: Vec<Class>,
    /// The topics, in the order of their ids.
    pub topics: Vec<TopicByClass>,
}

/// A period or a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// The first moment of a period (RFC 3339, UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The name of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Documents in it that have a known word.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Jensen-Shannon distance (base 2, from 0 to 1) of a period's shares from those of the last period before that has
    /// documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
}

/// A topic in all classes; lists are in the order of the classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopicByClass {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub label: String,
    /// Who gave it.
    pub label_by: LabelSource,
    /// Share of the tokens; null where a class has none.
    pub shares: Vec<Option<f64>>,
    /// Lower ends of 95 % intervals: how much the shares would differ with other documents of the same kind. Null with
    /// fewer than two documents.
    pub low: Vec<Option<f64>>,
    /// Upper ends.
    pub high: Vec<Option<f64>>,
    /// Its most frequent words there, among those that are typical of it.
    pub words: Vec<Vec<String>>,
    /// Words that it uses more than in the period before, or than in all other groups, most certain first: at most five, whose log odds
    /// ratio is 2 standard errors above 0.
    pub more: Vec<Vec<String>>,
    /// Words that it uses less.
    pub less: Vec<Vec<String>>,
}

/// Looks at documents through a model, each once.
pub struct ShareExplorer<'a> {
    snapshot: &'a Snapshot,
    options: &'a ShareOptions,
    parameters: &'a TopicParameters,
    followed: FollowedWords,
    timeline: TimelineMoments,
    groups: GroupMoments,
    documents: u64,
    without_words: u64,
}

impl<'a> ShareExplorer<'a> {
    /// Prepares to look through a topic model.
    pub fn new(snapshot: &'a Snapshot, options: &'a ShareOptions) -> Result<Self> {
        let parameters = snapshot.parameters()?.topics()?;
        if options.fields.time.is_some() == options.fields.group.is_some() {
            let problem = "documents are grouped by one field: a time or a group";
            return Err(Error::setting("time-field", problem, "give either {time-field} or {group-field}"));
        }
        if options.sweeps == 0 {
            return Err(Error::setting("sweeps", "0 is not a number of sweeps", "use for example 100"));
        }
        let table = TopicTable::new(parameters, FollowedWords::most(parameters.met()));
        let followed = table.facts.iter().map(|facts| facts.followed.clone()).collect();
        Ok(Self {
            followed: FollowedWords::new(followed),
            timeline: TimelineMoments::new(options.by),
            groups: GroupMoments::default(),
            documents: 0,
            without_words: 0,
            snapshot,
            options,
            parameters,
        })
    }

    /// Looks at documents, in the order of the input, on the threads of the current pool.
    pub fn look(&mut self, mut records: Vec<Record>) -> Result<()> {
        let how = MixtureInference { sweeps: self.options.sweeps, seed: self.options.seed, details: true };
        let documents: Vec<Document> =
            records.iter_mut().map(|record| std::mem::take(&mut record.document)).collect();
        let mixtures = how.infer(&self.parameters.topics, &Minibatch::new(&documents, 0, 0));
        for ((record, document), mixture) in records.iter().zip(&documents).zip(&mixtures) {
            self.look_at(record, document, mixture)?;
        }
        Ok(())
    }

    fn look_at(&mut self, record: &Record, document: &Document, mixture: &TopicMixture) -> Result<()> {
        record.check(&self.options.fields, self.documents)?;
        self.documents += 1;
        let tokens = document.tokens();
        if tokens == 0 {
            self.without_words += 1;
            return Ok(());
        }
        let met = self.parameters.met();
        let (theta, drawn, followed) = (&mixture.theta[..met], &mixture.token_topics, &self.followed);
        if let Some(time) = record.time {
            self.timeline.add(time, tokens, theta, drawn, followed)?;
        }
        if let (Some(field), Some(group)) = (&self.options.fields.group, &record.group) {
            self.groups.add((field, group), tokens, theta, drawn, followed)?;
        }
        Ok(())
    }

    /// Shares and words of all that was seen.
    pub fn finish(self) -> Result<TopicShares> {
        if self.documents == self.without_words {
            let problem = match self.documents {
                0 => "there are no documents".to_owned(),
                documents => format!("none of {documents} documents has a word that the model knows"),
            };
            let advice = "check {text-field}, and that the model was trained on similar texts";
            return Err(Error::setting("INPUT", problem, advice));
        }
        let met = self.parameters.met();
        let RecordFields { time, group } = &self.options.fields;
        match (time, group) {
            (Some(field), _) => match self.timeline.report(field, met, &self.followed) {
                Some(timeline) => Ok(self.periods(timeline)),
                None => Err(Error::setting("INPUT", "no document has a known word", "give others")),
            },
            (None, Some(field)) => {
                let groups = self.groups.report(field, met);
                Ok(self.named_groups(groups))
            }
            (None, None) => Err(Error::setting("time-field", "there is none", "name one")),
        }
    }

    fn periods(&self, timeline: Timeline) -> TopicShares {
        let Timeline { field, by, starts, documents, tokens, shares, low, high, drift, words } = timeline;
        let class = |place: usize| Class {
            start: Some(starts[place].clone()),
            group: None,
            documents: documents[place],
            tokens: tokens[place],
            drift: drift[place],
        };
        let classes = (0..starts.len()).map(class).collect();
        self.shares((field, by), classes, [shares, low, high], |topic| words[topic].clone())
    }

    fn named_groups(&self, groups: Groups) -> TopicShares {
        let Groups { field, names, documents, tokens, shares, low, high } = groups;
        let class = |place: usize| Class {
            start: None,
            group: Some(names[place].clone()),
            documents: documents[place],
            tokens: tokens[place],
            drift: None,
        };
        let classes = (0..names.len()).map(class).collect();
        let words = |topic: usize| self.groups.words(topic, &self.followed);
        self.shares((field, "group".to_owned()), classes, [shares, low, high], words)
    }

    fn shares(
        &self,
        (field, by): (String, String),
        classes: Vec<Class>,
        [shares, low, high]: [Vec<Vec<Option<f64>>>; 3],
        words: impl Fn(usize) -> WordTrends,
    ) -> TopicShares {
        let vocabulary = self.snapshot.features.vocabulary();
        let names = names(self.parameters, self.snapshot);
        let tables = shares.into_iter().zip(low).zip(high).zip(names).enumerate();
        let topic = |(id, (((shares, low), high), (label, label_by)))| {
            let trends = words(id);
            let listed = |places: &Vec<u32>| {
                places.iter().map(|&place| word(&vocabulary, &trends, place as usize)).collect()
            };
            TopicByClass {
                id: id as u32,
                label,
                label_by,
                shares,
                low,
                high,
                words: (0..classes.len()).map(|class| self.frequent(&vocabulary, &trends, class)).collect(),
                more: trends.rising.iter().map(listed).collect(),
                less: trends.falling.iter().map(listed).collect(),
            }
        };
        let topics = tables.map(topic).collect();
        TopicShares {
            schema: SHARES_SCHEMA,
            model_hash: self.snapshot.hash(),
            field,
            by,
            documents: self.documents,
            documents_without_words: self.without_words,
            classes,
            topics,
        }
    }

    /// The words that are most frequent in a class; where two are as frequent, the more typical one first.
    fn frequent(&self, vocabulary: &Vocabulary, trends: &WordTrends, class: usize) -> Vec<String> {
        let mut places: Vec<usize> =
            (0..trends.words.len()).filter(|&place| trends.counts[place][class] > 0).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(trends.counts[place][class]));
        places.truncate(self.options.words);
        places.into_iter().map(|place| word(vocabulary, trends, place)).collect()
    }
}

fn word(vocabulary: &Vocabulary, trends: &WordTrends, place: usize) -> String {
    vocabulary.word(trends.words[place]).to_owned()
}

/// The name of every topic and who gave it: the one that is kept in the model, or else its most distinguishing words.
pub fn topic_names(snapshot: &Snapshot) -> Result<Vec<(String, LabelSource)>> {
    Ok(names_of(snapshot.parameters()?.topics()?, snapshot))
}

/// The same of a model whose parameters are known.
pub fn names_of(parameters: &TopicParameters, model: &Model) -> Vec<(String, LabelSource)> {
    names(parameters, model)
}

/// A name for every topic, made of its most distinguishing words.
pub fn automatic_labels(snapshot: &Snapshot) -> Result<Vec<String>> {
    Ok(made_names(snapshot.parameters()?.topics()?, &snapshot.features.vocabulary(), &snapshot.shown))
}
