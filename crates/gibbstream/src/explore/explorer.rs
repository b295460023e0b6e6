//! From a model and its documents to a report.

use super::classes::groups::GroupMoments;
use super::classes::timeline::TimelineMoments;
use super::classes::trends::FollowedWords;
use super::comparison::{Other, comparison, same_words};
use super::facts::{components, model_facts, run_facts};
use super::layout::{MOST_TOPICS, TopicDistances, linkage, scale};
use super::records::{Record, RecordFields};
use super::report::{Commands, Distances, Documents, Label, REPORT_SCHEMA, Report, Words};
use super::showcase::{Chosen, Showcase, Shown, SourceText, documents};
use super::topics::{BEST_WORDS, TopicTable};
use super::word_order::shown_words;
use super::try_table::try_table;
use crate::corpus::{Document, Minibatch, Tokenizer, Vocabulary};
use crate::error::{Error, Result};
use crate::evaluation::Evaluation;
use crate::evaluation::coherence::{CoherenceCounter, UmassSmoothing};
use crate::file::LabelSource;
use crate::inference::mixtures::{TopicMixture, MixtureInference};
use crate::learn::{Snapshot, TopicParameters};
use crate::numerics::random::Seed;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Topics near a topic that are listed.
const NEAREST: usize = 10;

/// Topics up to which all distances are listed.
const MOST_LISTED: usize = 300;

/// What a report is like.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// The title of the page.
    pub title: String,
    /// Documents shown, at most.
    pub max_documents: usize,
    /// Sweeps over each document, of which all but the first quarter are kept.
    pub sweeps: usize,
    /// Where the slider for the relevance of words stands at first.
    pub lambda: f64,
    /// Seed of mixtures, of the sample of documents, and of scores.
    pub seed: Seed,
    /// Threads for scores; everything else runs on those of the current pool.
    pub threads: usize,
    /// Where times and groups are.
    pub fields: RecordFields,
    /// What people have written about topics.
    pub labels: BTreeMap<u32, Label>,
    /// How to make the report again.
    pub commands: Commands,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        Self {
            title: "Topics".into(),
            max_documents: 2_000,
            sweeps: 100,
            lambda: 0.6,
            seed: Seed(0),
            threads: 1,
            fields: RecordFields::default(),
            labels: BTreeMap::new(),
            commands: Commands::default(),
        }
    }
}

/// The report of a model alone.
pub fn report(snapshot: &Snapshot, options: &ExploreOptions, other: Option<&Other<'_>>) -> Result<Report> {
    if snapshot.settings.model.has_topics() {
        return Explorer::new(snapshot, options, other)?.finish();
    }
    let components = components(snapshot)?;
    let kind = snapshot.settings.model.name();
    let mut report = empty(snapshot, options);
    report.components = components;
    let mut why = |part: &str, text: String| drop(report.missing.insert(part.to_owned(), text));
    why("topics", format!("a {kind} has no topics: its components and their columns are shown instead"));
    for part in ["words", "map", "distances", "hierarchy", "documents", "timeline", "groups", "try_table"] {
        why(part, format!("a {kind} has no topics and no words"));
    }
    learning(&mut report);
    Ok(report)
}

/// Looks at documents through a model, each once.
pub struct Explorer<'a> {
    snapshot: &'a Snapshot,
    options: &'a ExploreOptions,
    other: Option<&'a Other<'a>>,
    parameters: &'a TopicParameters,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
    table: TopicTable,
    followed: FollowedWords,
    coherence: Option<CoherenceCounter>,
    showcase: Showcase<Shown>,
    timeline: TimelineMoments,
    groups: GroupMoments,
    /// Documents whose largest share each topic has.
    main_topic_of: Vec<u64>,
    totals: Documents,
}

impl<'a> Explorer<'a> {
    /// Prepares to look through a topic model; `other` is a model to compare it with.
    pub fn new(snapshot: &'a Snapshot, options: &'a ExploreOptions, other: Option<&'a Other<'a>>) -> Result<Self> {
        let parameters = snapshot.parameters()?.topics()?;
        if let Some(topic) = options.labels.keys().find(|&&topic| topic as usize >= parameters.met()) {
            let problem = format!("there is a label for topic {topic}, but the model has {}", parameters.met());
            return Err(Error::setting("labels", problem, "use the labels of this model"));
        }
        if options.sweeps == 0 {
            return Err(Error::setting("sweeps", "0 is not a number of sweeps", "use for example 100"));
        }
        let table = TopicTable::new(parameters, FollowedWords::most(parameters.met()));
        let best = shown_words(parameters, &snapshot.features.vocabulary(), &snapshot.shown, BEST_WORDS);
        Ok(Self {
            followed: FollowedWords::new(table.facts.iter().map(|facts| facts.followed.clone()).collect()),
            // A model of one word has no pairs of words.
            coherence: CoherenceCounter::new(&best).ok(),
            showcase: Showcase::new(options.max_documents, &parameters.shares, options.seed),
            timeline: TimelineMoments::default(),
            groups: GroupMoments::default(),
            main_topic_of: vec![0; parameters.met()],
            totals: Documents { has_texts: true, ..Documents::default() },
            vocabulary: snapshot.features.vocabulary(),
            tokenizer: snapshot.tokenizer.clone().unwrap_or_else(Tokenizer::plain),
            snapshot,
            options,
            other,
            parameters,
            table,
        })
    }

    /// Looks at documents, in the order of the input, on the threads of the current pool.
    pub fn look(&mut self, mut records: Vec<Record>) -> Result<()> {
        let ExploreOptions { sweeps, seed, .. } = *self.options;
        let how = MixtureInference { sweeps, seed, details: true };
        let documents: Vec<Document> =
            records.iter_mut().map(|record| std::mem::take(&mut record.document)).collect();
        let mixtures = how.infer(&self.parameters.topics, &Minibatch::new(&documents, 0, 0));
        for ((mut record, document), mixture) in records.into_iter().zip(documents).zip(mixtures) {
            record.document = document;
            self.look_at(&record, &mixture)?;
        }
        Ok(())
    }

    fn look_at(&mut self, record: &Record, mixture: &TopicMixture) -> Result<()> {
        let (document, options, place) = (&record.document, self.options, self.totals.total);
        record.check(&options.fields, place)?;
        let tokens = document.tokens();
        self.totals.total += 1;
        self.totals.total_tokens += tokens;
        self.totals.total_unknown_tokens += document.out_of_vocabulary;
        self.totals.has_texts &= record.text != SourceText::Counts;
        if tokens == 0 {
            self.totals.without_words += 1;
            return Ok(());
        }
        let met = self.parameters.met();
        let (theta, spread) = (&mixture.theta[..met], &mixture.spread[..met]);
        let drawn: Vec<(u32, u32)> =
            mixture.token_topics.iter().copied().filter(|&(_, topic)| (topic as usize) < met).collect();
        let main = theta.iter().enumerate().fold(0, |best, (k, share)| if *share > theta[best] { k } else { best });
        self.main_topic_of[main] += 1;
        if let Some(coherence) = &mut self.coherence {
            coherence.add_bag(document);
        }
        if let Some(time) = record.time {
            self.timeline.add(time, tokens, theta, &drawn, &self.followed)?;
        }
        if let (Some(field), Some(group)) = (&options.fields.group, &record.group) {
            self.groups.add((field, group), tokens, theta, &[], &self.followed)?;
        }
        let (tokenizer, vocabulary, compares) = (&self.tokenizer, &self.vocabulary, self.other.is_some());
        self.showcase.look(place, theta, || Shown {
            id: document.id.clone(),
            time: record.time,
            group: record.group.clone(),
            tokens,
            unknown_tokens: document.out_of_vocabulary,
            mixture: Shown::listed(theta, spread),
            text: record.text.shown(document, &drawn, tokenizer, vocabulary),
            words: if compares { document.words.clone() } else { Vec::new() },
        });
        Ok(())
    }

    /// The report of all that was seen.
    pub fn finish(self) -> Result<Report> {
        let Self { snapshot, options, parameters, vocabulary, table, .. } = self;
        let met = parameters.met();
        let mut report = empty(snapshot, options);
        let mut tried = try_table(&parameters.topics, &parameters.shares, &self.tokenizer);
        let ids = listed_words(&table, &tried.words);
        let places: FxHashMap<u32, u32> = ids.iter().enumerate().map(|(at, &word)| (word, at as u32)).collect();
        let place = |word: u32| places.get(&word).copied().unwrap_or_default();
        report.words = table.words(&ids, parameters, &vocabulary, snapshot.word_counts());
        let created_as = snapshot.topic_state().and_then(|state| state.sticks.as_ref()).map(|sticks| &*sticks.ids);
        report.topics = table.report(parameters, &vocabulary, &snapshot.shown, created_as, place);
        for (topic, name) in report.topics.iter_mut().zip(snapshot.topic_names()) {
            if let Some((name, LabelSource::Auto)) = name {
                topic.label = name;
            }
        }
        by_place(&mut tried, place);
        report.try_table = Some(tried);
        relate(&mut report, parameters);

        let chosen = self.showcase.choose(&parameters.shares);
        let sampled = sampled(&chosen);
        let missing = &mut report.missing;
        let mut why = |part: &str, text: &str| drop(missing.insert(part.to_owned(), text.to_owned()));
        if self.totals.total > 0 {
            let groups = &self.groups;
            let shown = documents(chosen, |group| groups.place(group));
            report.documents = Some(Documents {
                total: self.totals.total,
                total_tokens: self.totals.total_tokens,
                total_unknown_tokens: self.totals.total_unknown_tokens,
                without_words: self.totals.without_words,
                has_texts: self.totals.has_texts,
                ..shown
            });
            let coherence = self.coherence.and_then(|counter| counter.finish(UmassSmoothing::One).ok());
            for (id, topic) in report.topics.iter_mut().enumerate() {
                topic.documents = Some(self.main_topic_of[id]);
                topic.coherence = coherence.as_ref().map(|coherence| coherence.topics[id].npmi);
            }
        } else {
            why("documents", "no documents were given: name them after the model (report MODEL INPUT...)");
            why("coherence", "no documents were given: coherence counts how often words meet in documents");
        }
        match &options.fields.time {
            None => why("timeline", "no time field was given: run report with --time-field NAME"),
            Some(field) => {
                report.timeline = self.timeline.report(field, met, &self.followed);
                for word in report.timeline.iter_mut().flat_map(|timeline| &mut timeline.words) {
                    word.words.iter_mut().for_each(|id| *id = place(*id));
                }
                if report.timeline.is_none() {
                    why("timeline", "no document has a known word");
                }
            }
        }
        match &options.fields.group {
            None => why("groups", "no group field was given: run report with --group-field NAME"),
            Some(field) => report.groups = Some(self.groups.report(field, met)),
        }
        match self.other {
            None => why("comparison", "no other model was given: run report with --compare OTHER.gbs"),
            Some(other) => {
                let evaluation = Evaluation { seed: options.seed, threads: options.threads, ..Evaluation::default() };
                report.comparison = Some(comparison(snapshot, other, &sampled, evaluation)?);
                if sampled.len() < 2 {
                    why("comparison.score", "no documents were given to score both models on");
                } else if !same_words(&vocabulary, &other.snapshot.features.vocabulary()) {
                    why("comparison.score", "the models know different words, so scores cannot be compared");
                }
            }
        }
        learning(&mut report);
        Ok(report)
    }
}

/// A report with nothing but what is known of every model.
fn empty(snapshot: &Snapshot, options: &ExploreOptions) -> Report {
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        title: options.title.clone(),
        lambda: options.lambda,
        generator: format!("gibbstream {}", env!("CARGO_PKG_VERSION")),
        model: model_facts(snapshot),
        topics: Vec::new(),
        words: Words::default(),
        map: None,
        distances: None,
        hierarchy: None,
        documents: None,
        timeline: None,
        groups: None,
        run: run_facts(snapshot),
        comparison: None,
        try_table: None,
        components: None,
        labels: labels(snapshot, options),
        commands: options.commands.clone(),
        missing: BTreeMap::new(),
    }
}

/// What people have written about topics: what is kept in the model, unless the options say something else.
fn labels(snapshot: &Snapshot, options: &ExploreOptions) -> BTreeMap<u32, Label> {
    let mut labels = snapshot.labels();
    labels.extend(options.labels.clone());
    labels
}

/// Says what is not known of the run.
fn learning(report: &mut Report) {
    if report.run.evaluations.is_none() {
        let text = "no score was taken while learning: train with --holdout N --eval-every M";
        report.missing.insert("evaluations".into(), text.into());
    }
    if report.run.trace.is_none() {
        let text = "the model does not say how learning went: it was trained by an older version";
        report.missing.insert("trace".into(), text.into());
    }
}

/// The words of all lists, most frequent first.
fn listed_words(table: &TopicTable, tried: &[u32]) -> Vec<u32> {
    let of_topics = table.facts.iter().flat_map(|facts| facts.shown.iter().chain(&facts.followed));
    let mut ids: Vec<u32> = of_topics.chain(tried).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let share = |word: u32| table.anywhere[word as usize];
    ids.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    ids
}

/// The table with words by their places in the report, ascending.
fn by_place(table: &mut super::report::TryTable, place: impl Fn(u32) -> u32) {
    let mut order: Vec<(u32, usize)> = table.words.iter().enumerate().map(|(at, &word)| (place(word), at)).collect();
    order.sort_unstable();
    let old = table.clone();
    table.topics.clear();
    table.codes.clear();
    table.starts = vec![0];
    for (at, &(_, word)) in order.iter().enumerate() {
        let entries = old.starts[word] as usize..old.starts[word + 1] as usize;
        table.topics.extend_from_slice(&old.topics[entries.clone()]);
        table.codes.extend_from_slice(&old.codes[entries]);
        table.rest[at] = old.rest[word];
        table.starts.push(table.topics.len() as u32);
    }
    table.words = order.into_iter().map(|(place, _)| place).collect();
}

/// Distances, map and hierarchy, where there are enough topics and not too many.
fn relate(report: &mut Report, parameters: &TopicParameters) {
    let met = parameters.met();
    let why = match met {
        0..2 => "there is only one topic",
        2..=MOST_TOPICS => "",
        _ => "there are more than 4,000 topics",
    };
    let mut absent = |parts: &[&str], why: &str| {
        for part in parts {
            report.missing.insert((*part).to_owned(), why.to_owned());
        }
    };
    if !why.is_empty() {
        return absent(&["map", "distances", "hierarchy"], why);
    }
    if met == 2 {
        absent(&["map"], "two topics make no map");
    }
    let distances = TopicDistances::new(&parameters.topics, &parameters.shares);
    report.map = (met > 2).then(|| scale(&distances));
    report.hierarchy = Some(linkage(&distances));
    let nearest: Vec<Vec<(u32, f64)>> = (0..met).map(|topic| distances.nearest(topic, NEAREST)).collect();
    report.distances = Some(Distances {
        nearest: nearest.iter().map(|near| near.iter().map(|&(other, _)| other).collect()).collect(),
        nearest_distance: nearest.iter().map(|near| near.iter().map(|&(_, distance)| distance).collect()).collect(),
        lower: (met <= MOST_LISTED).then(|| (0..met).map(|topic| distances.row(topic).to_vec()).collect()),
        exact: distances.exact,
    });
}

/// The uniform sample as documents of their own, for scores.
fn sampled(chosen: &Chosen<Shown>) -> Vec<Document> {
    let words = chosen.sample.iter().map(|&at| chosen.documents[at as usize].words.clone());
    words.filter(|words| !words.is_empty()).map(|words| Document { words, ..Document::default() }).collect()
}
