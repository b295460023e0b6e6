//! Expected statistics of some documents under a topic model, as a value that merges exactly.
//!
//! Counts are whole multiples of 2^-20 token: every document's count is rounded once, and then sums are exact in any
//! order (docs/science.md, "Statistics that merge exactly"). Just after an E-step the counts still stand document by
//! document, which is all that one machine needs: `absorb` adds them to the running counts word by word. They are
//! summed up only when they are merged or written.

use crate::model::topics::alpha::ThetaExpectation;
use crate::model::topics::hdp::candidates::{CandidateDocument, merge_candidates};
use crate::model::topics::view::TopicView;
use crate::model::{Statistics, Sums, mismatch};
use crate::corpus::{Minibatch, Occurrence};
use crate::error::Result;
use crate::inference::document_stats::DocumentStats;
use crate::numerics::math::digamma;
use crate::learn::schedule::Step;
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Parts of a token that are counted.
pub const UNITS_PER_TOKEN: f64 = (1_u64 << 20) as f64;
/// Adding and subtracting this rounds to a whole number of units.
const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64 / UNITS_PER_TOKEN;
/// Up to so many tokens, times sweeps, sums of counts are exact.
const MOST_TOKENS: u64 = 1 << 32;
/// Topics have numbers of 32 bits.
const MOST_TOPICS: usize = u32::MAX as usize;
/// Words whose counts one thread collects from all documents.
const WORDS_PER_TASK: usize = 64;

/// A count, rounded to a whole number of units.
#[inline(always)]
pub fn rounded_count(tokens: f64) -> f64 {
    (tokens + ROUNDER) - ROUNDER
}

/// Statistics of some documents.
#[derive(Clone, Debug, Default)]
pub struct TopicStatistics {
    /// The step after which the view was made that the documents were inferred with.
    at: Step,
    /// Number of topics of that view that were known.
    topics: usize,
    documents: u64,
    /// Sweeps that every count is a sum over.
    sweeps: u64,
    counts: Counts,
    theta: Theta,
    /// How many documents have so many tokens.
    lengths: BTreeMap<u64, u64>,
    /// Only where the number of topics is open.
    open: Option<OpenStatistics>,
}

/// Expected counts of words in topics.
#[derive(Clone, Debug)]
enum Counts {
    /// Of each document; every word of the minibatch occurs.
    ByDocument {
        batch: Minibatch,
        documents: Vec<DocumentStats>,
        /// The mass of each word under the prior of the view, if it is at hand.
        masses: Vec<f64>,
    },
    /// Summed over documents.
    ByWord(WordCounts),
}

impl Default for Counts {
    fn default() -> Self {
        Self::ByWord(WordCounts::default())
    }
}

/// Counts by word, in ascending order of words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordCounts {
    words: Vec<u32>,
    /// Tokens of each word in the documents.
    tokens: Vec<u64>,
    /// Units of each word that the prior alone accounts for.
    prior: Vec<i64>,
    rows: Rows,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Rows {
    /// (topic, units), ascending, word after word; where the entries of each word end.
    Sparse { ends: Vec<usize>, entries: Vec<(u32, i64)> },
    /// Tokens in all topics, word after word; whole multiples of a unit, unless they are to be merged by passes only.
    Dense(Vec<f64>),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Sparse { ends: Vec::new(), entries: Vec::new() }
    }
}

/// What documents say about topic proportions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Theta {
    /// (topic, tokens in it, how often), ascending, over documents and sweeps.
    Sizes(Vec<(u32, u32, u64)>),
    /// Per topic, sums of `E[digamma(alpha_k + n_k)] - digamma(alpha_k)`.
    Gains(Sums),
    /// Computed with parameters that are gone.
    Expected(ThetaExpectation),
    /// Still in the documents. It is never written, and comes last: what is skipped has no number.
    #[serde(skip)]
    ByDocument,
}

impl Default for Theta {
    fn default() -> Self {
        Self::Sizes(Vec::new())
    }
}

/// Statistics of an open number of topics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenStatistics {
    /// Evidence for each known topic.
    evidence: Sums,
    /// Documents that have met topics of their own, in the order of the stream.
    candidates: Vec<CandidateDocument>,
}

/// What statistics say about where they come from.
struct Origin<'a> {
    at: Step,
    topics: usize,
    batch: &'a Minibatch,
}

impl<'a> Origin<'a> {
    fn of(view: &TopicView, batch: &'a Minibatch) -> Self {
        Self { at: view.clock(), topics: view.known_topics(), batch }
    }

    fn begin(&self, out: &mut TopicStatistics, sweeps: usize) {
        (out.at, out.topics) = (self.at, self.topics);
        (out.documents, out.sweeps) = (self.batch.len() as u64, sweeps as u64);
        out.lengths.clear();
        (0..self.batch.len()).for_each(|i| *out.lengths.entry(self.batch.tokens_of(i)).or_default() += 1);
        out.open = None;
    }
}

impl TopicStatistics {
    /// Takes over the statistics of each document, in exchange for old buffers.
    pub(crate) fn take_documents<'a>(
        &mut self,
        view: &TopicView,
        batch: &Minibatch,
        documents: impl ExactSizeIterator<Item = &'a mut DocumentStats>,
    ) {
        let (mut parts, mut masses) = match std::mem::take(&mut self.counts) {
            Counts::ByDocument { documents, masses, .. } => (documents, masses),
            Counts::ByWord(_) => Default::default(),
        };
        parts.resize_with(documents.len(), DocumentStats::default);
        for (part, document) in parts.iter_mut().zip(documents) {
            std::mem::swap(part, document);
        }
        let origin = Origin::of(view, batch);
        origin.begin(self, parts.iter().map(DocumentStats::sweeps).max().unwrap_or(1));
        if view.measures_evidence() {
            self.open = Some(OpenStatistics::of(&origin, &parts));
        }
        self.theta = Theta::ByDocument;
        view.masses_of_met_words(&mut masses);
        self.counts = Counts::ByDocument { batch: batch.clone(), documents: parts, masses };
        // A block of a larger minibatch is numbered by the words of all.
        if batch.has_absent_words() {
            self.sum_up();
        }
    }

    /// Takes expected counts in all topics, for inference that is not sparse: `write(word, row)` writes those of the word
    /// at that place of the minibatch, summed over documents and `sweeps`. Only if every document's part of them is a
    /// [`rounded_count`] do the statistics merge exactly. `gains` has, for every topic, sums over documents and sweeps of
    /// `E[digamma(alpha_k + n_k)] - digamma(alpha_k)`.
    pub fn set_rows(
        &mut self,
        view: &TopicView,
        batch: &Minibatch,
        sweeps: usize,
        gains: Sums,
        write: impl Fn(usize, &mut [f64]) + Sync,
    ) {
        let origin = Origin::of(view, batch);
        origin.begin(self, sweeps);
        let (batch, topics) = (origin.batch, origin.topics);
        let present: Vec<usize> =
            (0..batch.words().len()).filter(|&word| !batch.occurrences(word).is_empty()).collect();
        let mut rows = vec![0.0; present.len() * topics];
        rows.par_chunks_exact_mut(topics)
            .zip(&present)
            .with_min_len(WORDS_PER_TASK)
            .for_each(|(row, &word)| write(word, row));
        self.counts = Counts::ByWord(WordCounts {
            words: present.iter().map(|&word| batch.words()[word]).collect(),
            tokens: present.iter().map(|&word| batch.tokens_of_word(word)).collect(),
            prior: vec![0; present.len()],
            rows: Rows::Dense(rows),
        });
        self.theta = Theta::Gains(gains);
    }

    /// The step after which the view was made that the documents were inferred with.
    pub fn at(&self) -> &Step {
        &self.at
    }

    /// Number of topics that were known.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// Refuses statistics of another model than one of so many topics and words.
    pub(crate) fn check_size(&self, topics: usize, vocabulary: usize) -> Result<()> {
        if self.topics != topics {
            return Err(mismatch(&format!("{} topics, where the model has {topics}", self.topics)));
        }
        match self.words().last() {
            Some(&word) if word as usize >= vocabulary => {
                Err(mismatch(&format!("word id {word}, where the model has {vocabulary} words")))
            }
            _ => Ok(()),
        }
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The words that occur, ascending.
    pub fn words(&self) -> &[u32] {
        match &self.counts {
            Counts::ByDocument { batch, .. } => batch.words(),
            Counts::ByWord(counts) => &counts.words,
        }
    }

    /// Tokens of the word at place `index` of [`Self::words`].
    pub fn tokens(&self, index: usize) -> u64 {
        match &self.counts {
            Counts::ByDocument { batch, .. } => batch.tokens_of_word(index),
            Counts::ByWord(counts) => counts.tokens[index],
        }
    }

    /// What turns counts into means over documents and sweeps.
    pub(crate) fn share(&self) -> f64 {
        1.0 / (self.documents * self.sweeps).max(1) as f64
    }

    /// The mass of a word under the prior of the view that the documents were inferred with, if it is at hand.
    pub(crate) fn prior_mass(&self, index: usize) -> Option<f64> {
        match &self.counts {
            Counts::ByDocument { masses, .. } => masses.get(index).copied(),
            Counts::ByWord(_) => None,
        }
    }

    /// Tokens of the word at place `index` that the prior accounts for, summed over documents and sweeps.
    pub(crate) fn prior(&self, index: usize) -> f64 {
        match &self.counts {
            Counts::ByDocument { batch, documents, .. } => {
                let tokens = |place: &Occurrence| {
                    rounded_count(documents[place.document as usize].prior(place.row as usize))
                };
                batch.occurrences(index).iter().map(tokens).sum()
            }
            Counts::ByWord(counts) => counts.prior[index] as f64 / UNITS_PER_TOKEN,
        }
    }

    /// Adds the other tokens of the word at place `index`, summed over documents and sweeps, to those of its topics.
    pub(crate) fn add_counts(&self, index: usize, sums: &mut [f64]) {
        match &self.counts {
            Counts::ByDocument { batch, documents, .. } => {
                for place in batch.occurrences(index) {
                    for (topic, tokens) in documents[place.document as usize].counts(place.row as usize) {
                        if self.knows(topic) {
                            sums[topic as usize] += f64::from(tokens);
                        }
                    }
                }
            }
            Counts::ByWord(WordCounts { rows: Rows::Dense(values), .. }) => {
                let values = &values[index * self.topics..][..self.topics];
                sums.iter_mut().zip(values).for_each(|(sum, tokens)| *sum += tokens);
            }
            Counts::ByWord(counts) => {
                for &(topic, units) in counts.entries(index) {
                    sums[topic as usize] += units as f64 / UNITS_PER_TOKEN;
                }
            }
        }
    }

    /// Topics that only one document knows are left to the model.
    #[inline]
    fn knows(&self, topic: u32) -> bool {
        self.open.is_none() || (topic as usize) < self.topics
    }

    /// Expected counts per document of the word at place `index` of [`Self::words`]: in each topic beside what the prior
    /// accounts for, and what it accounts for.
    pub fn mean_counts(&self, index: usize) -> (Vec<f64>, f64) {
        let mut row = vec![0.0; self.topics];
        self.add_counts(index, &mut row);
        row.iter_mut().for_each(|tokens| *tokens *= self.share());
        (row, self.prior(index) * self.share())
    }

    /// What is expected of topic proportions, a mean over documents, where `alpha` is their parameter.
    pub fn theta(&self, alpha: &[f64]) -> ThetaExpectation {
        if let Theta::Expected(theta) = &self.theta {
            return theta.clone();
        }
        let alpha_sum: f64 = alpha.iter().sum();
        let totals = self.lengths.iter().map(|(&n, &count)| count as f64 * digamma(alpha_sum + n as f64));
        let total = totals.sum::<f64>() / self.documents.max(1) as f64;
        let gains = match &self.theta {
            Theta::Gains(sums) => sums.totals().iter().map(|sum| sum * self.share()).collect(),
            _ => self.gains_of_sizes(alpha),
        };
        let mut theta = ThetaExpectation::default();
        theta.refresh(alpha, &gains, total);
        theta
    }

    /// Means of `digamma(alpha_k + n_k) - digamma(alpha_k)`, through
    /// `digamma(a + n) - digamma(a) = sum_{j<n} 1 / (a + j)` and integer histograms of n (science.md 8.2).
    fn gains_of_sizes(&self, alpha: &[f64]) -> Vec<f64> {
        let mut histogram = SizeHistogram::new(self.topics);
        match (&self.theta, &self.counts) {
            (Theta::Sizes(sizes), _) => {
                let largest = sizes.iter().map(|&(_, size, _)| size).max().unwrap_or(0);
                histogram.make_room(largest);
                sizes.iter().for_each(|&(topic, size, count)| histogram.add(topic, size, count));
            }
            (_, Counts::ByDocument { documents, .. }) => {
                let sizes = || documents.iter().flat_map(DocumentStats::sizes);
                histogram.make_room(sizes().map(|&(_, size)| size).max().unwrap_or(0));
                sizes().for_each(|&(topic, size)| histogram.add(topic, size, 1));
            }
            _ => {}
        }
        histogram.gains(alpha, self.share())
    }

    /// Evidence for each known topic, added up; nothing unless the number of topics is open.
    pub(crate) fn evidence(&self) -> Vec<f64> {
        self.open.as_ref().map_or_else(Vec::new, |open| open.evidence.totals())
    }

    /// Documents that have met topics of their own, in the order of the stream.
    pub(crate) fn candidates(&self) -> &[CandidateDocument] {
        self.open.as_ref().map_or(&[], |open| &open.candidates)
    }

    /// Number of sweeps that every count is a sum over.
    pub(crate) fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// Adds the counts of documents up.
    fn sum_up(&mut self) {
        if let Counts::ByDocument { batch, documents, .. } = &self.counts {
            let counts = self.by_word(batch, documents);
            if self.theta == Theta::ByDocument {
                self.theta = Theta::Sizes(sorted_sizes(documents, self.topics));
            }
            self.counts = Counts::ByWord(counts);
        }
    }

    fn by_word(&self, batch: &Minibatch, documents: &[DocumentStats]) -> WordCounts {
        let (mut ends, mut entries) = (Vec::new(), Vec::new());
        let mut counts = WordCounts::default();
        let mut space = vec![0.0; self.topics];
        for (index, &word) in batch.words().iter().enumerate() {
            if batch.occurrences(index).is_empty() {
                continue;
            }
            let start = entries.len();
            self.add_counts(index, &mut space);
            let topics = batch.occurrences(index).iter().flat_map(|place| documents[place.document as usize].topics());
            for &topic in topics.filter(|&&topic| self.knows(topic)) {
                let tokens = std::mem::take(&mut space[topic as usize]);
                if tokens != 0.0 {
                    entries.push((topic, (tokens * UNITS_PER_TOKEN) as i64));
                }
            }
            entries[start..].sort_unstable();
            ends.push(entries.len());
            counts.words.push(word);
            counts.tokens.push(batch.tokens_of_word(index));
            counts.prior.push((self.prior(index) * UNITS_PER_TOKEN) as i64);
        }
        WordCounts { rows: Rows::Sparse { ends, entries }, ..counts }
    }

    /// Replaces everything that depends on parameters by what it is with these.
    pub(crate) fn complete(&mut self, alpha: &[f64], divide: impl Fn(usize, f64, &mut [f64]) + Sync) {
        let theta = self.theta(alpha);
        let words = self.words().to_vec();
        let mut rows = vec![0.0; words.len() * self.topics];
        rows.par_chunks_exact_mut(self.topics).enumerate().with_min_len(WORDS_PER_TASK).for_each(
            |(index, row)| {
                self.add_counts(index, row);
                divide(index, self.prior(index), row);
            },
        );
        let tokens = (0..words.len()).map(|index| self.tokens(index)).collect();
        let prior = vec![0; words.len()];
        self.counts = Counts::ByWord(WordCounts { words, tokens, prior, rows: Rows::Dense(rows) });
        self.theta = Theta::Expected(theta);
    }
}

impl Statistics for TopicStatistics {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if other.documents == 0 {
            return Ok(());
        }
        if self.documents == 0 {
            self.clone_from(other);
            return Ok(());
        }
        if (self.at, self.topics, self.sweeps) != (other.at, other.topics, other.sweeps) {
            return Err(mismatch(&format!(
                "{} topics after update {} and {} topics after update {}",
                self.topics, self.at.update, other.topics, other.at.update
            )));
        }
        self.sum_up();
        let mut other = other.clone();
        other.sum_up();
        // Nothing changes before everything has been found to fit.
        let open = match (&self.open, &other.open) {
            (Some(mine), Some(theirs)) => Some(mine.merged(theirs)?),
            (None, None) => None,
            _ => return Err(mismatch("an open number of topics and a fixed one")),
        };
        let theta = merged_theta(&self.theta, &other.theta)?;
        if let (Counts::ByWord(mine), Counts::ByWord(theirs)) = (&self.counts, &other.counts) {
            self.counts = Counts::ByWord(mine.merged(theirs, self.topics)?);
        }
        (self.open, self.theta) = (open, theta);
        self.documents += other.documents;
        for (length, count) in other.lengths {
            *self.lengths.entry(length).or_default() += count;
        }
        Ok(())
    }

    /// Both must have been completed.
    fn merge_pass(&mut self, other: &Self) {
        if self.documents == 0 {
            self.clone_from(other);
            return;
        }
        let weight = other.sweeps as f64 / (self.sweeps + other.sweeps) as f64;
        if let (Theta::Expected(mine), Theta::Expected(theirs)) = (&mut self.theta, &other.theta) {
            mine.blend(weight, theirs);
        }
        if let (Counts::ByWord(mine), Counts::ByWord(theirs)) = (&mut self.counts, &other.counts)
            && let (Rows::Dense(mine), Rows::Dense(theirs)) = (&mut mine.rows, &theirs.rows)
        {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.sweeps += other.sweeps;
    }

    fn weight(&self) -> u64 {
        self.documents
    }

    fn check(&self) -> Result<(), &'static str> {
        let (mut documents, mut tokens) = (0_u64, 0_u64);
        for (&length, &count) in &self.lengths {
            documents = documents.saturating_add(count);
            tokens = tokens.saturating_add(length.saturating_mul(count));
        }
        let drawn = tokens.saturating_mul(self.sweeps);
        if documents != self.documents
            || documents.saturating_mul(self.sweeps) > MOST_TOKENS
            || (documents > 0 && self.sweeps == 0)
            || !self.at.is_sound()
        {
            return Err("the number of documents");
        }
        let sound = match &self.counts {
            Counts::ByDocument { documents, .. } => documents.iter().all(DocumentStats::is_finite),
            Counts::ByWord(counts) => {
                counts.is_sound(self.topics, tokens, !matches!(self.theta, Theta::Expected(_)))
            }
        };
        if !sound || drawn > MOST_TOKENS || self.topics > MOST_TOPICS {
            return Err("the expected counts of words in topics");
        }
        match &self.theta {
            Theta::Expected(theta) if !theta.fits(self.topics) => Err("the mean of log theta"),
            Theta::Gains(sums) if sums.len() != self.topics || sums.check().is_err() => {
                Err("the mean of log theta")
            }
            Theta::Sizes(sizes) if !sizes_are_sound(sizes, self.topics, drawn) => Err("the sizes of topics"),
            _ => self.open.as_ref().map_or(Ok(()), |open| open.check(self.topics, self.words())),
        }
    }
}

impl WordCounts {
    fn merged(&self, other: &Self, topics: usize) -> Result<Self> {
        let mut out = Self::default();
        let (mut ends, mut entries, mut dense) = (Vec::new(), Vec::new(), Vec::new());
        let (mut i, mut j) = (0, 0);
        loop {
            let next = [self.words.get(i), other.words.get(j)];
            let Some(&word) = next.into_iter().flatten().min() else { break };
            let [a, b] = [(self, i), (other, j)]
                .map(|(counts, at)| (counts.words.get(at) == Some(&word)).then_some((counts, at)));
            let parts = || a.into_iter().chain(b);
            out.words.push(word);
            out.tokens.push(parts().map(|(counts, at)| counts.tokens[at]).sum());
            out.prior.push(parts().map(|(counts, at)| counts.prior[at]).sum());
            match (&self.rows, &other.rows) {
                (Rows::Sparse { .. }, Rows::Sparse { .. }) => {
                    let [mine, theirs] =
                        [a, b].map(|part| part.map_or(&[][..], |(counts, at)| counts.entries(at)));
                    merge_entries(mine, theirs, &mut entries);
                    ends.push(entries.len());
                }
                (Rows::Dense(mine), Rows::Dense(theirs)) => {
                    let start = dense.len();
                    dense.resize(start + topics, 0.0);
                    for (values, at) in [a.map(|_| (mine, i)), b.map(|_| (theirs, j))].into_iter().flatten() {
                        let values = &values[at * topics..][..topics];
                        dense[start..].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                    }
                }
                _ => return Err(mismatch("counts of two kinds of inference")),
            }
            i += usize::from(a.is_some());
            j += usize::from(b.is_some());
        }
        out.rows = match self.rows {
            Rows::Sparse { .. } => Rows::Sparse { ends, entries },
            Rows::Dense(_) => Rows::Dense(dense),
        };
        Ok(out)
    }

    fn entries(&self, index: usize) -> &[(u32, i64)] {
        match &self.rows {
            Rows::Sparse { ends, entries } => {
                &entries[if index == 0 { 0 } else { ends[index - 1] }..ends[index]]
            }
            Rows::Dense(_) => &[],
        }
    }

    /// Whether lists fit together and numbers are possible, for so many tokens; if `whole`, they must be whole units.
    /// Rounding may leave a count a little below zero.
    fn is_sound(&self, topics: usize, tokens: u64, whole: bool) -> bool {
        let most = (MOST_TOKENS as f64 * UNITS_PER_TOKEN) as u64;
        let words = self.words.len();
        let rows = match &self.rows {
            Rows::Sparse { ends, entries } => {
                let ordered = ends.windows(2).all(|pair| pair[0] <= pair[1]);
                let whole = ends.len() == words && ends.last().copied().unwrap_or(0) == entries.len();
                let possible =
                    |&(topic, units): &(u32, i64)| (topic as usize) < topics && units.unsigned_abs() <= most;
                let ascending =
                    |index: usize| self.entries(index).windows(2).all(|pair| pair[0].0 < pair[1].0);
                ordered && whole && entries.iter().all(possible) && (0..words).all(ascending)
            }
            Rows::Dense(values) => {
                let possible = |value: &f64| {
                    value.abs() <= MOST_TOKENS as f64 && (!whole || rounded_count(*value) == *value)
                };
                values.len() == words.saturating_mul(topics) && values.iter().all(possible)
            }
        };
        rows && self.words.windows(2).all(|pair| pair[0] < pair[1])
            && self.tokens.len() == words
            && self.tokens.iter().fold(0, |sum: u64, &of_word| sum.saturating_add(of_word)) == tokens
            && self.prior.len() == words
            && self.prior.iter().all(|units| units.unsigned_abs() <= most)
    }
}

/// Adds two ascending lists; what cancels disappears.
fn merge_entries(mine: &[(u32, i64)], theirs: &[(u32, i64)], out: &mut Vec<(u32, i64)>) {
    let (mut mine, mut theirs) = (mine.iter().peekable(), theirs.iter().peekable());
    while let Some(topic) = [mine.peek(), theirs.peek()].into_iter().flatten().map(|entry| entry.0).min() {
        let of = |entry: &&(u32, i64)| entry.0 == topic;
        let sum = [mine.next_if(of), theirs.next_if(of)].into_iter().flatten().map(|entry| entry.1).sum();
        if sum != 0 {
            out.push((topic, sum));
        }
    }
}

fn merged_theta(mine: &Theta, theirs: &Theta) -> Result<Theta> {
    match (mine, theirs) {
        (Theta::Sizes(mine), Theta::Sizes(theirs)) => {
            let mut sizes: Vec<(u32, u32, u64)> = mine.iter().chain(theirs).copied().collect();
            sizes.sort_unstable();
            Ok(Theta::Sizes(added_up(&sizes)))
        }
        (Theta::Gains(mine), Theta::Gains(theirs)) => {
            let mut sums = mine.clone();
            sums.merge(theirs)?;
            Ok(Theta::Gains(sums))
        }
        _ => Err(mismatch("boosted statistics belong to one minibatch")),
    }
}

/// Adds up the counts of equal neighbours.
fn added_up(sizes: &[(u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
    let mut out: Vec<(u32, u32, u64)> = Vec::new();
    for &(topic, size, count) in sizes {
        match out.last_mut() {
            Some(last) if (last.0, last.1) == (topic, size) => last.2 += count,
            _ => out.push((topic, size, count)),
        }
    }
    out
}

fn sorted_sizes(documents: &[DocumentStats], topics: usize) -> Vec<(u32, u32, u64)> {
    let sizes = documents.iter().flat_map(DocumentStats::sizes);
    let known = sizes.filter(|&&(topic, _)| (topic as usize) < topics);
    let mut sizes: Vec<(u32, u32, u64)> = known.map(|&(topic, size)| (topic, size, 1)).collect();
    sizes.sort_unstable();
    added_up(&sizes)
}

/// Whether sizes are possible, where so many topics of tokens were drawn.
fn sizes_are_sound(sizes: &[(u32, u32, u64)], topics: usize, drawn: u64) -> bool {
    let ascending = sizes.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
    let possible = |&(topic, size, count): &(u32, u32, u64)| {
        (topic as usize) < topics && size > 0 && u32::try_from(count).is_ok()
    };
    let tokens = |sum: u64, &(_, size, count): &(u32, u32, u64)| {
        sum.saturating_add(u64::from(size).saturating_mul(count))
    };
    ascending && sizes.iter().all(possible) && sizes.iter().fold(0, tokens) <= drawn
}

/// Sizes up to this go through an integer histogram, larger ones through digamma.
const LARGEST_BINNED: u32 = 1024;

/// How often topics have so many tokens in a document.
struct SizeHistogram {
    topics: usize,
    bins: usize,
    counts: Vec<u32>,
    large: Vec<(u32, u32, u64)>,
}

impl SizeHistogram {
    fn new(topics: usize) -> Self {
        Self { topics, bins: 0, counts: Vec::new(), large: Vec::new() }
    }

    fn make_room(&mut self, largest: u32) {
        self.bins = largest.min(LARGEST_BINNED) as usize;
        self.counts = vec![0; self.topics * self.bins];
    }

    #[inline]
    fn add(&mut self, topic: u32, size: u32, count: u64) {
        // Topics that only one document knows are left to the model.
        if topic as usize >= self.topics {
        } else if size <= LARGEST_BINNED {
            self.counts[topic as usize * self.bins + size as usize - 1] += count as u32;
        } else {
            self.large.push((topic, size, count));
        }
    }

    fn gains(mut self, alpha: &[f64], share: f64) -> Vec<f64> {
        let mut gains = vec![0.0; self.topics];
        self.large.sort_unstable();
        for (topic, size, count) in added_up(&self.large) {
            let alpha = alpha[topic as usize];
            gains[topic as usize] += count as f64 * (digamma(alpha + f64::from(size)) - digamma(alpha));
        }
        for (k, gain) in gains.iter_mut().enumerate() {
            let exactly = &self.counts[k * self.bins..][..self.bins];
            // Documents with more than j tokens in the topic each contribute 1 / (alpha + j).
            let mut larger: u64 = exactly.iter().copied().map(u64::from).sum();
            for (j, &exactly) in exactly.iter().enumerate() {
                if larger == 0 {
                    break;
                }
                *gain += larger as f64 / (alpha[k] + j as f64);
                larger -= u64::from(exactly);
            }
            *gain *= share;
        }
        gains
    }
}

impl OpenStatistics {
    fn of(origin: &Origin<'_>, documents: &[DocumentStats]) -> Self {
        let mut evidence = Sums::new(origin.topics);
        evidence.count(documents.len() as u64);
        for &(topic, value) in documents.iter().flat_map(DocumentStats::evidence) {
            evidence.add_at(topic as usize, &[value]);
        }
        let candidates = documents.iter().enumerate();
        let candidates = candidates.filter_map(|(index, document)| {
            CandidateDocument::of(document, origin.batch, index, origin.topics)
        });
        Self { evidence, candidates: candidates.collect() }
    }

    fn merged(&self, other: &Self) -> Result<Self> {
        let mut evidence = self.evidence.clone();
        evidence.merge(&other.evidence)?;
        Ok(Self { evidence, candidates: merge_candidates(&self.candidates, &other.candidates)? })
    }

    fn check(&self, topics: usize, words: &[u32]) -> Result<(), &'static str> {
        if self.evidence.len() != topics || self.evidence.check().is_err() {
            return Err("the evidence for topics");
        }
        let ordered = self.candidates.windows(2).all(|pair| pair[0].key < pair[1].key);
        let sound = ordered && self.candidates.iter().all(|candidate| candidate.is_sound(topics, words));
        if sound { Ok(()) } else { Err("the topics that documents have met") }
    }
}

/// What is written: everything summed up.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStatistics {
    at: Step,
    topics: usize,
    documents: u64,
    sweeps: u64,
    counts: WordCounts,
    theta: Theta,
    lengths: BTreeMap<u64, u64>,
    open: Option<OpenStatistics>,
}

impl Serialize for TopicStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut summed = self.clone();
        summed.sum_up();
        let Self { at, topics, documents, sweeps, counts, theta, lengths, open } = summed;
        let counts = if let Counts::ByWord(counts) = counts { counts } else { WordCounts::default() };
        StoredStatistics { at, topics, documents, sweeps, counts, theta, lengths, open }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TopicStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredStatistics { at, topics, documents, sweeps, counts, theta, lengths, open } =
            StoredStatistics::deserialize(deserializer)?;
        let counts = Counts::ByWord(counts);
        let read = Self { at, topics, documents, sweeps, counts, theta, lengths, open };
        read.check().map_err(|what| serde::de::Error::custom(format!("{what} cannot be right")))?;
        Ok(read)
    }
}
