//! Topic models as learners: what is written of them, and the word frequencies that they must beat.

use crate::model::topics::alpha::{AlphaClamps, AlphaState, LARGEST_ALPHA};
use crate::model::topics::hdp::Hdp;
use crate::model::topics::lda::{Lda, LdaState, Topics};
use crate::model::topics::hdp::sticks::Sticks;
use crate::model::topics::counts::{TopicAverage, TopicStats};
use crate::model::topics::word_frequencies::{MOST_TOKENS, WordFrequencies};
use crate::corpus::Minibatch;
use crate::error::Result;
use crate::evaluation::Unigram;
use crate::learn::{AnyBatch, Array, Diagnostics, LearnerModel, Parameters, Scalar, Stored, TopicParameters};
use crate::learn::schedule::Step;
use crate::summary::shares;
use std::borrow::Cow;

/// Larger than any statistic or parameter of topics can become, and far from overflowing.
const LARGEST: f64 = 1e100;

/// How far the totals of topics may be from the sums of their counts, as a share of all: roundings are far less.
const TOTAL_TOLERANCE: f64 = 1e-6;

impl LearnerModel for Lda {
    type Baseline = WordFrequencies;

    fn baseline(&self) -> WordFrequencies {
        WordFrequencies::new(self.vocabulary, self.averaging.word_memory())
    }

    fn batch<'a>(&self, batch: &'a AnyBatch<'_>) -> Result<Cow<'a, Minibatch>> {
        batch.documents().map(Cow::Borrowed)
    }

    fn arrays<'a>(&self, state: &'a LdaState) -> Vec<Array<'a>> {
        arrays(state)
    }

    fn scalars(&self, state: &LdaState) -> Vec<(&'static str, Scalar)> {
        scalars(state)
    }

    fn restore(&self, stored: &dyn Stored, clock: &Step) -> Result<LdaState, String> {
        restore(stored, self.vocabulary, self.topics, clock)
    }

    fn parameters(&self, state: &LdaState, seen: &WordFrequencies, clock: &Step) -> Result<Parameters> {
        Ok(parameters(Lda::parameters(self, state, clock, seen), state, seen))
    }

    fn take_parameters(&self, state: &mut LdaState, seen: &WordFrequencies, clock: &Step) -> Result<Parameters> {
        let topics = Lda::take_parameters(self, state, clock, seen);
        Ok(parameters(topics, state, seen))
    }

    fn diagnostics(&self, state: &LdaState, clock: &Step) -> Diagnostics {
        diagnostics(state, clock)
    }

    fn grow(&mut self, state: Option<&mut LdaState>, words: usize) {
        self.vocabulary = words;
        if let Some(state) = state {
            state.counts.grow(words);
        }
    }

    fn forget(&self, state: &mut LdaState, words: &[u32]) {
        state.counts.forget(words);
    }

    fn adopt(&self, seen: &mut WordFrequencies, clock: &Step) {
        seen.remember(self.averaging.word_memory(), clock);
    }
}

impl LearnerModel for Hdp {
    type Baseline = WordFrequencies;

    fn baseline(&self) -> WordFrequencies {
        self.start.baseline()
    }

    fn batch<'a>(&self, batch: &'a AnyBatch<'_>) -> Result<Cow<'a, Minibatch>> {
        self.start.batch(batch)
    }

    fn arrays<'a>(&self, state: &'a LdaState) -> Vec<Array<'a>> {
        let mut arrays = arrays(state);
        if let Some(sticks) = &state.sticks {
            arrays.extend(stick_arrays(sticks));
        }
        arrays
    }

    fn scalars(&self, state: &LdaState) -> Vec<(&'static str, Scalar)> {
        let mut scalars = scalars(state);
        scalars.extend(state.sticks.iter().map(|sticks| ("topics_created", Scalar::Count(sticks.created))));
        scalars
    }

    /// There are as many topics as there are entries of alpha.
    fn restore(&self, stored: &dyn Stored, clock: &Step) -> Result<LdaState, String> {
        let (topics, most) = (stored.length("alpha").unwrap_or(0), self.settings.max_topics);
        if topics == 0 || topics > most {
            return Err(format!("it has {topics} topics, and there may be 1 to {most}"));
        }
        let sticks = Some(restore_sticks(stored, topics, clock)?);
        Ok(LdaState { sticks, ..restore(stored, self.start.vocabulary, topics, clock)? })
    }

    fn parameters(&self, state: &LdaState, seen: &WordFrequencies, clock: &Step) -> Result<Parameters> {
        Ok(parameters(Hdp::parameters(self, state, clock), state, seen))
    }

    fn diagnostics(&self, state: &LdaState, clock: &Step) -> Diagnostics {
        diagnostics(state, clock)
    }

    fn grow(&mut self, state: Option<&mut LdaState>, words: usize) {
        self.start.grow(state, words);
    }

    fn forget(&self, state: &mut LdaState, words: &[u32]) {
        self.start.forget(state, words);
    }
}

fn parameters(topics: Topics, state: &LdaState, seen: &WordFrequencies) -> Parameters {
    let shares = shares(&state.counts.topic_tokens());
    Parameters::Topics(TopicParameters { topics, shares, unigram: Unigram::from_counts(seen.counts.clone()) })
}

fn arrays(state: &LdaState) -> Vec<Array<'_>> {
    let LdaState { counts, alpha, alpha_sum, .. } = state;
    let (words, topics) = (counts.words(), counts.topics());
    let mut arrays = vec![
        Array::floats("alpha", &[topics], &alpha.alpha),
        Array::floats("log_theta", &[topics], &alpha.log_theta),
        Array::floats("alpha_usage", &[topics], &alpha.usage),
        Array::one("alpha_length", alpha.length),
        Array::floats("counts", &[words, topics], &counts.scaled),
        Array::floats("totals", &[topics], &counts.totals),
    ];
    if let Some(average) = &counts.average {
        arrays.push(Array::floats("average_alpha_sum", &[topics], alpha_sum));
        arrays.push(Array::floats("average_settled", &[words, topics], &average.materialised));
        arrays.push(Array::floats("average_factors", &[topics], &average.factors));
        arrays.push(Array::floats("average_offsets", &[topics], &average.offsets));
    }
    arrays
}

fn scalars(state: &LdaState) -> Vec<(&'static str, Scalar)> {
    let averaged = state.counts.average.as_ref().map_or(0, |average| average.updates);
    vec![
        ("scale", Scalar::Float(state.counts.scale())),
        ("averaged_updates", Scalar::Count(averaged)),
        ("clamped_sums", Scalar::Count(state.alpha.clamps.sum)),
        ("clamped_entries", Scalar::Count(state.alpha.clamps.entries)),
    ]
}

fn restore(stored: &dyn Stored, words: usize, topics: usize, clock: &Step) -> Result<LdaState, String> {
    let (mut average, mut alpha_sum) = (None, vec![0.0; topics]);
    if stored.length("average_settled").is_some() {
        alpha_sum = stored.floats("average_alpha_sum", &[topics])?;
        average = Some(TopicAverage {
            updates: stored.count("averaged_updates")?,
            materialised: stored.floats("average_settled", &[words, topics])?,
            factors: stored.floats("average_factors", &[topics])?,
            offsets: stored.floats("average_offsets", &[topics])?,
        });
    }
    let counts = TopicStats::from_parts(
        topics,
        stored.float("scale")?,
        stored.floats("counts", &[words, topics])?,
        stored.floats("totals", &[topics])?,
        average,
    );
    let alpha = AlphaState {
        alpha: stored.floats("alpha", &[topics])?,
        log_theta: stored.floats("log_theta", &[topics])?,
        usage: stored.floats("alpha_usage", &[topics])?,
        length: stored.floats("alpha_length", &[1])?[0],
        clamps: AlphaClamps { sum: stored.count("clamped_sums")?, entries: stored.count("clamped_entries")? },
    };
    let state = LdaState { counts, alpha, alpha_sum, sticks: None };
    check_numbers(&state, clock)?;
    Ok(state)
}

/// Refuses numbers that no training leaves behind, even if the checksum is right.
fn check_numbers(state: &LdaState, clock: &Step) -> Result<(), String> {
    let LdaState { counts, alpha, alpha_sum, .. } = state;
    let at_least = |floor: f64, values: &[f64]| values.iter().all(|value| (floor..=LARGEST).contains(value));
    let average = counts.average.as_ref();
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    for (name, sound) in [
        ("clock", clock.update > 0 && (1..=MOST_TOKENS).contains(&clock.seen) && clock.rho.is_finite()),
        ("scale", counts.scale().is_normal() && (0.0..=1.0).contains(&counts.scale())),
        ("counts", at_least(0.0, &counts.scaled)),
        ("totals", at_least(0.0, &counts.totals) && totals_agree(counts)),
        ("alpha", alpha.alpha.iter().all(|alpha| (f64::MIN_POSITIVE..=LARGEST_ALPHA).contains(alpha))),
        ("log_theta", finite(&alpha.log_theta)),
        ("alpha_usage", finite(&alpha.usage)),
        ("alpha_length", alpha.length.is_finite()),
        ("average_alpha_sum", at_least(0.0, alpha_sum)),
        ("average_settled", average.is_none_or(|average| at_least(-LARGEST, &average.materialised))),
        ("average_factors", average.is_none_or(|average| at_least(0.0, &average.factors))),
        ("average_offsets", average.is_none_or(|average| at_least(0.0, &average.offsets))),
    ] {
        if !sound {
            return Err(format!("'{name}' holds numbers that cannot be right"));
        }
    }
    Ok(())
}

/// Whether the totals of topics are the sums of their counts, up to rounding.
fn totals_agree(counts: &TopicStats) -> bool {
    let mut sums = vec![0.0; counts.topics()];
    for row in counts.scaled.chunks_exact(counts.topics()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let tolerance = TOTAL_TOLERANCE * sums.iter().chain(&counts.totals).copied().fold(0.0, f64::max);
    sums.iter().zip(&counts.totals).all(|(sum, total)| (sum - total).abs() <= tolerance)
}

fn stick_arrays(sticks: &Sticks) -> Vec<Array<'_>> {
    let topics = [sticks.ids.len()];
    let proved: Vec<u64> = sticks.proved.iter().copied().map(u64::from).collect();
    vec![
        Array::one("remainder", sticks.remainder),
        Array::one("remainder_log", sticks.remainder_log),
        Array::counts("topic_ids", &topics, &sticks.ids),
        Array::counts("topic_births", &topics, &sticks.born),
        Array::counts("topic_idle", &topics, &sticks.idle),
        Array::floats("topic_evidence", &topics, &sticks.evidence),
        Array::counts("topic_proved", &topics, proved),
    ]
}

fn restore_sticks(stored: &dyn Stored, topics: usize, clock: &Step) -> Result<Sticks, String> {
    let created = stored.count("topics_created")?;
    let proved = stored.counts("topic_proved", &[topics])?;
    let sticks = Sticks {
        remainder: stored.floats("remainder", &[1])?[0],
        remainder_log: stored.floats("remainder_log", &[1])?[0],
        created,
        ids: stored.counts("topic_ids", &[topics])?,
        born: stored.counts("topic_births", &[topics])?,
        idle: stored.counts("topic_idle", &[topics])?,
        evidence: stored.floats("topic_evidence", &[topics])?,
        proved: proved.iter().map(|&proved| proved == 1).collect(),
        births: Vec::new(),
    };
    let sound = (0.0..=1.0).contains(&sticks.remainder)
        && sticks.remainder_log.is_finite()
        && sticks.ids.iter().all(|&id| id < created)
        && sticks.born.iter().all(|&seen| seen <= clock.seen)
        && sticks.evidence.iter().all(|evidence| evidence.is_finite())
        && proved.iter().all(|&proved| proved <= 1);
    if sound { Ok(sticks) } else { Err("'remainder' or 'topic_ids' cannot be right".to_string()) }
}

fn diagnostics(state: &LdaState, clock: &Step) -> Diagnostics {
    let (held, updates) = (state.alpha.clamps.sum, clock.update);
    let warnings = (held > updates / 2).then(|| {
        format!(
            "alpha was held at its upper limit in {held} of {updates} updates: the documents differ no more than by \
             chance; try fewer topics"
        )
    });
    Diagnostics { warnings: warnings.into_iter().collect(), ..Diagnostics::default() }
}
