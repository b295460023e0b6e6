//! Models made from models: those of the same topics learnt on parts of a corpus, added up; and topics joined or taken out.
//!
//! The running statistics of a topic model are means over documents, so those of two parts are the mean of both, weighted by
//! their documents; counts of words add up. Joining topics adds their statistics, and their entries of alpha: if
//! theta is Dirichlet(alpha), so is theta with two of its entries added, with the two of alpha added, and theta without an
//! entry, scaled back to 1, with alpha without it.

use super::learner::FittedModel;
use super::schedule::Step;
use super::{Settings, Snapshot};
use crate::corpus::{OpenRule, OpenState, OpenVocabulary, Usage, Vocabulary};
use crate::error::{Error, Result};
use crate::evaluation::alignment::{Match, match_models};
use crate::explore::report::Label;
use crate::file::{Features, HistoryEntry, LabelSource, Model, ShownWords, TopicLabels};
use crate::model::topics::alpha::{AlphaClamps, AlphaState, ThetaExpectation, mean_log_theta};
use crate::model::topics::counts::{TopicAverage, TopicStats};
use crate::model::topics::lda::LdaState;
use crate::model::topics::word_frequencies::WordFrequencies;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What may be merged.
#[derive(Clone, Copy)]
pub struct MergeOptions<'a> {
    /// Topics are the same if their similarity is not less: see [`Match`].
    pub same: f64,
    /// Whether models may know different words; the result knows all of them.
    pub union: bool,
    /// The model that all of them were continued from, if there is one: its documents count once.
    pub base: Option<(&'a str, &'a Snapshot)>,
}

/// The result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// The model. Its topics are in the order of the first one.
    pub model: Model,
    /// For each model but the first, which of its topics (`b`) is which of the first (`a`).
    pub pairs: Vec<Vec<Match>>,
    /// Words that some of the models do not know.
    pub partial_words: usize,
}

/// Adds up models of the same topics. Topics are paired with those of the first one; it is refused if they are not the same.
/// Names are for messages.
pub fn merge(models: &[(&str, &Snapshot)], options: &MergeOptions<'_>) -> Result<Merged> {
    let [(first_name, first), others @ ..] = models else {
        return Err(Error::setting("merge", "there is no model", "name some"));
    };
    for (name, model) in models {
        check_kind(name, model)?;
        check_same(first_name, first, name, model)?;
    }
    let words = Words::new(models, options)?;
    if let Some((name, base)) = options.base {
        check_base((name, base), models)?;
    }
    let (reference, vocabulary) = (first.parameters()?.topics()?, first.features.vocabulary());
    let mut pairs = Vec::new();
    for (name, model) in others {
        let own = (model.parameters()?.topics()?, &model.features.vocabulary());
        let found = match_models((reference, &vocabulary), own);
        check_pairs((first_name, name), &found, options.same)?;
        pairs.push(found);
    }
    let topics = first.components();
    let orders = std::iter::once((0..topics).collect::<Vec<usize>>())
        .chain(pairs.iter().map(|pairs| pairs.iter().map(|found| found.pair.b).collect()));
    let parts: Vec<Part<'_>> = models
        .iter()
        .zip(&words.places)
        .zip(orders)
        .map(|(((_, model), places), order)| Part { model, places, order })
        .collect();
    let settings = Settings { features: words.features.len(), seeds: Vec::new(), ..first.settings.clone() };
    let before = options.base.map_or(Step::default(), |(_, base)| base.clock());
    let clock = parts.iter().skip(1).map(|part| part.model.clock()).fold(first.clock(), |all, clock| Step {
        update: all.update + clock.update - before.update,
        seen: all.seen + clock.seen - before.seen,
        head_start: all.head_start + clock.head_start - before.head_start,
        ..all
    });
    let mut baseline = add_frequencies(&parts, settings.features, settings.method.averaging.word_memory());
    if let Some((name, base)) = options.base {
        take_back(&mut baseline, (name, base), &words.features, parts.len() as u64 - 1)?;
    }
    let state = add_states(&parts, &settings, &clock, before.seen + before.head_start)?;
    let inputs: Vec<String> = models.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entry = HistoryEntry {
        documents: clock.seen - first.clock().seen,
        tokens: baseline.tokens - first.tokens(),
        ..HistoryEntry::new("merge", inputs)
    };
    let mut history = first.history.clone();
    history.push(entry);
    let fitted = Box::new(FittedModel { model: settings.lda_model(), state, baseline, clock });
    let (features, tokenizer) = (words.features, first.tokenizer.clone());
    let (labels, shown) = (first.labels.clone(), ShownWords::default());
    let mut model = Model { settings, fitted, features, tokenizer, history, labels, shown };
    model.set_labels(&labels_of_others(first, others, &pairs))?;
    Ok(Merged { model, pairs, partial_words: words.partial })
}

/// Refuses models whose statistics do not add up.
fn check_kind(name: &str, model: &Model) -> Result<()> {
    let refuse = |problem: String, advice: &str| Err(Error::setting(name, problem, advice));
    let settings = &model.settings;
    if settings.model.hdp().is_some() {
        let problem = "the number of its topics is open: it joins and drops topics while it learns".to_owned();
        return refuse(problem, "use models with a given number of topics (--model lda)");
    }
    if !settings.model.has_topics() {
        let problem = format!("a {} has no topics", settings.model.name());
        return refuse(problem, "use topic models");
    }
    if settings.method.is_langevin() {
        let problem = format!("{} holds topics that were drawn, and no statistics that add up", settings.name);
        return refuse(problem, "train with another method, such as g-oem");
    }
    Ok(())
}

fn check_same(first_name: &str, first: &Model, name: &str, model: &Model) -> Result<()> {
    let refuse = |problem: String, advice: &str| Err(Error::setting(name, problem, advice));
    let (has, should) = (model.components(), first.components());
    if has != should {
        let problem = format!("it has {has} topics, and {first_name} has {should}");
        return refuse(problem, "train all parts with the same number of topics");
    }
    if model.settings.method.averaging.is_on() != first.settings.method.averaging.is_on() {
        let problem = format!("one of it and {first_name} reports a mean of its parameters, and the other does not");
        return refuse(problem, "train all parts with the same {averaging}");
    }
    if model.tokenizer != first.tokenizer {
        let problem = format!("it cuts text into words in another way than {first_name}");
        return refuse(problem, "train all parts with the same flags for words");
    }
    let weights = |model: &Model| model.features.term_weights().map(|_| model.features.vocabulary());
    if weights(model) != weights(first) {
        let problem = format!("its tokens have other weights than those of {first_name}");
        return refuse(problem, "learn the parts on from one model (train --continue), or use {term-weights} none");
    }
    Ok(())
}

/// Refuses a model that the others were not continued from.
fn check_base((name, base): (&str, &Snapshot), models: &[(&str, &Snapshot)]) -> Result<()> {
    let (first_name, first) = models[0];
    check_kind(name, base)?;
    check_same(first_name, first, name, base)?;
    if base.features.open().is_some() {
        let problem = "the words of an open vocabulary come and go, so that its counts cannot be taken back";
        return Err(Error::setting(name, problem, "leave {base} out: its documents count once for every part"));
    }
    let begun = base.clock();
    let older = |(_, model): &&(&str, &Snapshot)| {
        let clock = model.clock();
        clock.update <= begun.update || clock.seen <= begun.seen || clock.head_start < begun.head_start
    };
    match models.iter().find(older) {
        None => Ok(()),
        Some((part, _)) => Err(not_from(name, part)),
    }
}

fn not_from(base: &str, part: &str) -> Error {
    let problem = format!("it was not learnt on from {base}");
    Error::setting(part, problem, "name the model that all parts were continued from with {base}, or none")
}

/// Refuses to add up topics that are not the same.
fn check_pairs((first, other): (&str, &str), pairs: &[Match], same: f64) -> Result<()> {
    let apart: Vec<&Match> = pairs.iter().filter(|found| found.similarity < same).collect();
    let Some(worst) = apart.iter().min_by(|a, b| a.similarity.total_cmp(&b.similarity)) else { return Ok(()) };
    let problem = format!(
        "{} of its {} topics are not those of {first}: the similarity of its topic {} and topic {} there is {:.2}, and {same} \
         is asked for (1: the same, 0: no closer than other topics)",
        apart.len(),
        pairs.len(),
        worst.pair.b,
        worst.pair.a,
        worst.similarity
    );
    let advice = "learn the parts on from one model (train --continue), or ask for less with {same}";
    Err(Error::setting(other, problem, advice))
}

/// The words of all models, and which of them the words of each model are.
struct Words {
    features: Features,
    places: Vec<Vec<u32>>,
    partial: usize,
}

impl Words {
    fn new(models: &[(&str, &Snapshot)], options: &MergeOptions<'_>) -> Result<Self> {
        let rules: Vec<Option<OpenRule>> =
            models.iter().map(|(_, model)| model.features.open().map(|open| open.state().rule)).collect();
        let kind = |rule: &Option<OpenRule>| match rule {
            None => (0, 0),
            Some(OpenRule::Grow { .. }) => (1, 0),
            Some(OpenRule::Hash { bits }) => (2, *bits),
        };
        if let Some(other) = rules.iter().position(|rule| kind(rule) != kind(&rules[0])) {
            let problem = format!("its words get their places in another way than those of {}", models[0].0);
            return Err(Error::setting(models[other].0, problem, "train all parts with the same {vocab-mode}"));
        }
        match rules[0] {
            Some(OpenRule::Hash { bits }) => Ok(Self::hashed(models, bits)),
            rule => Self::by_spelling(models, options, rule),
        }
    }

    /// Words that share places by their hashes have the same places everywhere.
    fn hashed(models: &[(&str, &Snapshot)], bits: u32) -> Self {
        let vocabularies: Vec<Vocabulary> = models.iter().map(|(_, model)| model.features.vocabulary()).collect();
        let count = vocabularies[0].len() as u32;
        let names = (0..count).map(|place| vocabularies.iter().find_map(|words| words.known(place))).collect();
        let documents = models.iter().filter_map(|(_, model)| Some(model.features.open()?.state().documents)).sum();
        let rule = OpenRule::Hash { bits };
        let state = OpenState { rule, documents, refused: false, weight: 0.0, usage: Vec::new() };
        let vocabulary = Vocabulary::with_free_places(names, Some(bits));
        Self {
            features: Features::OpenWords(OpenVocabulary::resume(&vocabulary, state)),
            places: vec![(0..count).collect(); models.len()],
            partial: 0,
        }
    }

    fn by_spelling(
        models: &[(&str, &Snapshot)],
        options: &MergeOptions<'_>,
        rule: Option<OpenRule>,
    ) -> Result<Self> {
        let mut words: Vec<Arc<str>> = Vec::new();
        let mut found: FxHashMap<Arc<str>, u32> = FxHashMap::default();
        let mut known = Vec::new();
        let mut places = Vec::new();
        for (_, model) in models {
            let vocabulary = model.features.vocabulary();
            let mut own = Vec::with_capacity(vocabulary.len());
            for place in 0..vocabulary.len() as u32 {
                // A free place has no counts; any place will do for it.
                let Some(word) = vocabulary.known(place) else {
                    own.push(0);
                    continue;
                };
                let at = *found.entry(word.clone()).or_insert_with(|| {
                    words.push(word);
                    known.push(0_usize);
                    words.len() as u32 - 1
                });
                known[at as usize] += 1;
                own.push(at);
            }
            places.push(own);
        }
        let partial = known.iter().filter(|&&models_of_word| models_of_word < models.len()).count();
        if partial > 0 && rule.is_none() && !options.union {
            let problem = format!("the models know different words: {partial} of {} are not known to all", words.len());
            let advice = "train all parts with the same {vocab} file, or add up what each knows with {union}";
            return Err(Error::setting("vocabulary", problem, advice));
        }
        let vocabulary = Vocabulary::new(words)?;
        let features = match rule {
            Some(OpenRule::Grow { .. }) => grown(models, &vocabulary, &places),
            // The parts have the same words and weights.
            None if models[0].1.features.term_weights().is_some() => models[0].1.features.clone(),
            _ => Features::Words(vocabulary),
        };
        Ok(Self { features, places, partial })
    }
}

/// A vocabulary that grows on, its words as much used as in all parts together. Documents before a word entered are those of
/// all parts; where it never did, all documents of the part.
fn grown(models: &[(&str, &Snapshot)], vocabulary: &Vocabulary, places: &[Vec<u32>]) -> Features {
    let mut state = OpenState {
        rule: OpenRule::Grow { most: vocabulary.len() },
        documents: 0,
        refused: false,
        weight: 0.0,
        usage: vec![Usage::default(); vocabulary.len()],
    };
    let mut most = vocabulary.len();
    for ((_, model), own) in models.iter().zip(places) {
        let Some(open) = model.features.open() else { continue };
        let (part, words) = (open.state(), model.features.vocabulary());
        let mut knows = vec![false; vocabulary.len()];
        for (place, &at) in own.iter().enumerate() {
            if words.known(place as u32).is_some() {
                let (usage, own) = (&mut state.usage[at as usize], part.usage[place]);
                usage.tokens += own.tokens;
                usage.before += own.before;
                knows[at as usize] = true;
            }
        }
        for (usage, _) in state.usage.iter_mut().zip(&knows).filter(|(_, knows)| !**knows) {
            usage.before += part.weight;
        }
        state.documents += part.documents;
        state.weight += part.weight;
        state.refused |= part.refused;
        most = most.max(part.rule.most());
    }
    state.rule = OpenRule::Grow { most };
    Features::OpenWords(OpenVocabulary::resume(vocabulary, state))
}

/// A model with the places that its words and topics have in the result.
struct Part<'a> {
    model: &'a Snapshot,
    /// The place of each of its words.
    places: &'a [u32],
    /// Its topics in the order of the result.
    order: Vec<usize>,
}

impl Part<'_> {
    fn state(&self) -> Result<&LdaState> {
        self.model.topic_state().ok_or_else(|| Error::setting("model", "it has no topics", "use a topic model"))
    }

    /// Documents that its means are over; what it started from stands for some too.
    fn documents(&self) -> f64 {
        let clock = self.model.clock();
        (clock.seen + clock.head_start) as f64
    }
}

fn add_frequencies(parts: &[Part<'_>], words: usize, memory: Option<u64>) -> WordFrequencies {
    let mut all = WordFrequencies::new(words, memory);
    for part in parts {
        if let Some(seen) = part.model.fitted.word_frequencies() {
            let mut seen = seen.clone();
            seen.remember(memory, &part.model.clock());
            all.add(&seen, part.places);
        }
    }
    all
}

/// Takes away the words of the model that all parts went on from, so often that they count once.
fn take_back(
    all: &mut WordFrequencies,
    (name, base): (&str, &Snapshot),
    features: &Features,
    times: u64,
) -> Result<()> {
    let (words, own) = (features.vocabulary(), base.features.vocabulary());
    let less = |count: u64, own: u64| own.checked_mul(times).and_then(|own| count.checked_sub(own));
    for (place, &count) in base.word_counts().iter().enumerate() {
        let at = words.id(own.word(place as u32)).map(|at| at as usize);
        let left = at.and_then(|at| less(all.counts[at], count)).ok_or_else(|| not_from(name, "one of the parts"))?;
        all.counts[at.unwrap_or_default()] = left;
    }
    all.tokens = less(all.tokens, base.tokens()).ok_or_else(|| not_from(name, "one of the parts"))?;
    Ok(())
}

/// The means over the documents of all parts, less those that they went on from.
fn add_states(parts: &[Part<'_>], settings: &Settings, clock: &Step, before: u64) -> Result<LdaState> {
    let (topics, words) = (settings.components, settings.features);
    let weigh = |part: &Part<'_>| part.documents() - before as f64;
    let documents: f64 = parts.iter().map(weigh).sum();
    let mut counts = vec![0.0; words * topics];
    let mut materialised: Option<Vec<f64>> = settings.method.averaging.is_on().then(|| vec![0.0; words * topics]);
    let mut updates = 0;
    let zeros = || vec![0.0; topics];
    let mut alpha =
        AlphaState { alpha: zeros(), log_theta: zeros(), usage: zeros(), length: 0.0, clamps: AlphaClamps::default() };
    let mut alpha_sum = zeros();
    for part in parts {
        let (state, weight) = (part.state()?, weigh(part) / documents);
        let rows = state.counts.clone().written_out();
        for (word, &place) in part.places.iter().enumerate() {
            let (from, to) = (rows.scaled_row(word as u32), &mut counts[place as usize * topics..][..topics]);
            to.iter_mut().zip(&part.order).for_each(|(to, &k)| *to += weight * from[k]);
            if let (Some(materialised), Some(average)) = (&mut materialised, &rows.average) {
                let from = &average.materialised[word * topics..][..topics];
                let to = &mut materialised[place as usize * topics..][..topics];
                to.iter_mut().zip(&part.order).for_each(|(to, &k)| *to += from[k] + average.offsets[k]);
            }
        }
        updates += rows.average.as_ref().map_or(0, |average| average.updates);
        let add = |to: &mut Vec<f64>, from: &[f64], weight: f64| {
            to.iter_mut().zip(&part.order).for_each(|(to, &k)| *to += weight * from[k]);
        };
        add(&mut alpha.alpha, &state.alpha.alpha, weight);
        add(&mut alpha.log_theta, &state.alpha.log_theta, weight);
        add(&mut alpha.usage, &state.alpha.usage, weight);
        add(&mut alpha_sum, &state.alpha_sum, 1.0);
        alpha.length += weight * state.alpha.length;
        alpha.clamps.sum += state.alpha.clamps.sum;
        alpha.clamps.entries += state.alpha.clamps.entries;
    }
    // The M-step of alpha with the means as they are: a minibatch of no weight.
    let nothing = ThetaExpectation { log_theta: zeros(), usage: zeros(), length: 0.0 };
    let model = settings.lda_model();
    alpha.absorb(&model.alpha, model.alpha_floor, &Step { rho: 0.0, ..*clock }, &nothing);
    let mut counts = TopicStats::new(topics, counts, false);
    counts.average =
        materialised.map(|materialised| TopicAverage { updates, materialised, factors: zeros(), offsets: zeros() });
    Ok(LdaState { counts, alpha, alpha_sum, sticks: None })
}

/// Labels of other models for topics that have none in the first.
fn labels_of_others(
    first: &Model,
    others: &[(&str, &Snapshot)],
    pairs: &[Vec<Match>],
) -> BTreeMap<u32, Label> {
    let (mut found, own) = (BTreeMap::new(), first.labels());
    for ((_, other), pairs) in others.iter().zip(pairs) {
        let labels = other.labels();
        let pairs = pairs.iter().map(|found| found.pair);
        for pair in pairs.filter(|pair| !own.contains_key(&(pair.a as u32))) {
            if let Some(label) = labels.get(&(pair.b as u32)) {
                // Which topic it is shown with is a matter of the other model.
                found.entry(pair.a as u32).or_insert(Label { merged_into: None, ..label.clone() });
            }
        }
    }
    found
}

/// The model with other topics: each is made of some of those that there are, and those in none of the groups are taken out.
pub fn regroup(name: &str, model: &Snapshot, groups: &[Vec<usize>]) -> Result<Model> {
    check_kind(name, model)?;
    let topics = model.components();
    let mut taken = vec![false; topics];
    for &topic in groups.iter().flatten() {
        let free = taken.get_mut(topic).ok_or_else(|| {
            let problem = format!("there is no topic {topic}: the model has topics 0 to {}", topics - 1);
            Error::setting(name, problem, "see `gibbstream topics` for their numbers")
        })?;
        if std::mem::replace(free, true) {
            return Err(Error::setting(name, format!("topic {topic} is named twice"), "name every topic once"));
        }
    }
    if groups.is_empty() || groups.iter().any(Vec::is_empty) {
        return Err(Error::setting(name, "no topic would be left", "keep one at least"));
    }
    let Some(state) = model.topic_state() else { return Err(Error::setting(name, "it has no topics", "use another")) };
    let state = regrouped(state, groups);
    let settings = Settings { components: groups.len(), seeds: Vec::new(), ..model.settings.clone() };
    let (clock, seen) = (model.clock(), model.fitted.word_frequencies().cloned().unwrap_or_default());
    let fitted = Box::new(FittedModel { model: settings.lda_model(), state, baseline: seen, clock });
    let (features, tokenizer, history) = (model.features.clone(), model.tokenizer.clone(), model.history.clone());
    let (labels, shown) = (TopicLabels::default(), ShownWords::default());
    let mut result = Model { settings, fitted, features, tokenizer, history, labels, shown };
    let (labels, names) = regrouped_labels(model, groups);
    result.set_labels(&labels)?;
    if let Some(names) = names {
        result.make_labels(&names);
    }
    Ok(result)
}

fn regrouped(state: &LdaState, groups: &[Vec<usize>]) -> LdaState {
    let old = state.counts.clone().written_out();
    let (words, tokens) = (old.words(), old.topic_tokens());
    let sums = |values: &[f64]| -> Vec<f64> {
        groups.iter().map(|group| group.iter().map(|&k| values[k]).sum()).collect()
    };
    let counts = (0..words as u32).flat_map(|word| sums(old.scaled_row(word))).collect();
    let mut counts = TopicStats::new(groups.len(), counts, false);
    counts.average = old.average.as_ref().map(|average| {
        // Probabilities of a topic that is made of several are their mean, weighted by tokens.
        let share = |group: &[usize], k: usize| {
            let all: f64 = group.iter().map(|&k| tokens[k]).sum();
            if all > 0.0 { tokens[k] / all } else { 1.0 / group.len() as f64 }
        };
        let mean = |row: &[f64]| -> Vec<f64> {
            let of = |group: &Vec<usize>| group.iter().map(|&k| share(group, k) * (row[k] + average.offsets[k])).sum();
            groups.iter().map(of).collect()
        };
        TopicAverage {
            updates: average.updates,
            materialised: average.materialised.chunks_exact(old.topics()).flat_map(mean).collect(),
            factors: vec![0.0; groups.len()],
            offsets: vec![0.0; groups.len()],
        }
    });
    let alpha = sums(&state.alpha.alpha);
    let alpha = AlphaState {
        log_theta: mean_log_theta(&alpha),
        usage: sums(&state.alpha.usage),
        length: state.alpha.length,
        clamps: state.alpha.clamps,
        alpha,
    };
    LdaState { counts, alpha, alpha_sum: sums(&state.alpha_sum), sticks: None }
}

/// What the new topics are called; where several topics with a name become one, it has all of them. Names that were made are
/// kept only if every topic is what it was.
fn regrouped_labels(model: &Model, groups: &[Vec<usize>]) -> (BTreeMap<u32, Label>, Option<Vec<String>>) {
    let old = model.labels();
    let place = |topic: u32| groups.iter().position(|group| group.contains(&(topic as usize))).map(|at| at as u32);
    let mut labels = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        let parts: Vec<&Label> = group.iter().filter_map(|&k| old.get(&(k as u32))).collect();
        if parts.is_empty() {
            continue;
        }
        let joined = |text: fn(&Label) -> Option<&String>, between: &str| {
            let mut texts: Vec<&str> = parts.iter().filter_map(|label| text(label).map(String::as_str)).collect();
            texts.dedup();
            (!texts.is_empty()).then(|| texts.join(between).chars().take(200).collect::<String>())
        };
        let into = parts.iter().find_map(|label| label.merged_into).and_then(place);
        labels.insert(at as u32, Label {
            label: joined(|label| label.label.as_ref(), " / "),
            note: joined(|label| label.note.as_ref(), "; "),
            hidden: parts.len() == group.len() && parts.iter().all(|label| label.hidden),
            merged_into: into.filter(|&into| into != at as u32),
        });
    }
    let names = model.topic_names();
    let made = groups.iter().map(|group| match &names[group[0]] {
        Some((name, LabelSource::Auto)) if group.len() == 1 => Some(name.clone()),
        _ => None,
    });
    (labels, made.collect())
}
