//! The hierarchical Dirichlet process: a topic model that finds its number of topics (science.md 4).
//!
//! To a document, topics that nobody has met yet are one more topic, with weight `b r` and uniform words. A document
//! that draws it meets a topic of its own. When the minibatch is over, those topics are compared and some become
//! topics of the model. Everything else is latent Dirichlet allocation with `alpha = b pi`.

pub mod sticks;

pub mod births;

pub(crate) mod candidates;

pub(crate) mod evidence;

pub mod deaths;

mod turnover;

use crate::model::LatentModel;
use crate::model::topics::alpha::ThetaExpectation;
use crate::model::topics::hdp::births::{BirthRule, Births};
use crate::model::topics::hdp::candidates::CandidateDocument;
use crate::model::topics::hdp::deaths::DeathRule;
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::model::topics::lda::{FreshRows, Lda, LdaState, Topics};
use crate::model::topics::hdp::sticks::{Birth, PiRule, SMALLEST_WEIGHT, Sticks, posterior_means};
use crate::model::topics::rule::{TopicRule, WeightMap};
use crate::model::topics::statistics::{TopicStatistics, UNITS_PER_TOKEN, rounded_count};
use crate::model::topics::counts::RowToBlend;
use crate::model::topics::view::{TopicView, weight_and_prior};
use crate::corpus::Minibatch;
use crate::error::{Error, Result};
use crate::numerics::math::digamma;
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::Step;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a user decides about a model whose number of topics is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HdpSettings {
    /// There are never more topics than this.
    pub max_topics: usize,
    /// Concentration b of the topic proportions of documents: small values give documents about few topics.
    pub doc_concentration: f64,
    /// Concentration c of the sticks: large values give many topics of similar weight.
    pub top_concentration: f64,
    /// The share left for topics not met yet does not fall below this.
    pub min_remainder: f64,
    /// How weights follow from statistics under maximum likelihood.
    pub pi: PiRule,
}

impl Default for HdpSettings {
    fn default() -> Self {
        Self {
            max_topics: 1000,
            doc_concentration: 1.0,
            top_concentration: 10.0,
            min_remainder: 0.02,
            pi: PiRule::Constrained,
        }
    }
}

impl HdpSettings {
    /// Refuses values that make no sense; a run starts with `topics` topics.
    pub fn validate(&self, topics: usize) -> Result<()> {
        for (name, value) in
            [("doc-concentration", self.doc_concentration), ("top-concentration", self.top_concentration)]
        {
            if !(1e-6..=1e6).contains(&value) {
                let problem = format!("{value} is not a number from 0.000001 to 1000000");
                return Err(Error::setting(name, problem, "choose one such as 1"));
            }
        }
        if !(0.0..1.0).contains(&self.min_remainder) {
            let problem = format!("{} is not a share in [0, 1)", self.min_remainder);
            return Err(Error::setting("min-remainder", problem, "choose a small share such as 0.02"));
        }
        if topics > self.max_topics {
            let problem = format!("{} is less than the {topics} topics of the start", self.max_topics);
            return Err(Error::setting("max-topics", problem, "allow more topics, or start with fewer"));
        }
        Ok(())
    }
}

/// The model.
#[derive(Clone, Debug, PartialEq)]
pub struct Hdp {
    /// The model of the topics that are there at the start.
    pub start: Lda,
    /// What the user decides.
    pub settings: HdpSettings,
    /// Which topics are born.
    pub births: BirthRule,
    /// Which topics go.
    pub deaths: DeathRule,
}

impl Hdp {
    /// `b pi` of all topics, and of the remainder if there is one.
    fn concentrations(&self, state: &LdaState) -> Vec<f64> {
        let remainder = self.settings.doc_concentration * sticks_of(state).remainder;
        let mut all = state.alpha.alpha.clone();
        all.extend(Some(remainder).filter(|&remainder| remainder > 0.0));
        all
    }

    /// The parameters that a state stands for after `step`; the last topic, with uniform words, is the remainder.
    pub fn parameters(&self, state: &LdaState, step: &Step) -> Topics {
        let known = Lda { topics: state.counts.topics(), ..self.start.clone() }.parameters(state, step, &WordFrequencies::default());
        let alpha = self.concentrations(state);
        if alpha.len() == known.topics() {
            return known;
        }
        let uniform = 1.0 / self.start.vocabulary as f64;
        let mut beta = Vec::with_capacity(self.start.vocabulary * alpha.len());
        for row in known.beta.chunks_exact(known.topics()) {
            beta.extend_from_slice(row);
            beta.push(uniform);
        }
        Topics { beta, alpha }
    }

    /// The rows of [`Self::parameters`] for some words, and the share of each topic in all tokens.
    pub fn topics_of(&self, state: &LdaState, step: &Step, words: &[u32]) -> (Topics, Vec<f64>) {
        let known = Lda { topics: state.counts.topics(), ..self.start.clone() };
        let (known, mut shares) = known.topics_of(state, step, &WordFrequencies::default(), words);
        let alpha = self.concentrations(state);
        if alpha.len() == known.topics() {
            return (Topics { alpha, ..known }, shares);
        }
        let uniform = 1.0 / self.start.vocabulary as f64;
        let rows = known.beta.chunks_exact(known.topics());
        let beta = rows.flat_map(|row| row.iter().copied().chain([uniform])).collect();
        shares.push(0.0);
        (Topics { beta, alpha }, shares)
    }

    /// How many topics may be born. Places for topics on trial become fewer with every topic that has gone, but there are
    /// always a few, and as many as topics that have proved themselves.
    fn room(&self, state: &LdaState) -> usize {
        let (sticks, known) = (sticks_of(state), state.counts.topics());
        let on_trial = sticks.proved.iter().filter(|&&proved| !proved).count();
        let gone = sticks.created as usize - known;
        let BirthRule { on_trial: at_first, always_on_trial, .. } = self.births;
        let places = at_first.saturating_sub(gone).max(always_on_trial).max(known - on_trial);
        places.saturating_sub(on_trial).min(self.settings.max_topics.saturating_sub(known))
    }

    /// Adds columns and sticks for those who are born. Each takes the fraction Beta(1, c) of what is left. What the
    /// past would have contributed to their running means is known, because no document had a token in them.
    fn make_room(&self, state: &mut LdaState, births: &Births, step: &Step) {
        let b = self.settings.doc_concentration;
        let past = state.alpha.length + digamma(b);
        let sticks = state.sticks.as_mut().expect(HAS_STICKS);
        sticks.births.clear();
        if births.founded.is_empty() {
            return;
        }
        for (rank, founded) in births.founded.iter().enumerate() {
            let mut random = self.start.seed.stream(Purpose::Birth, [step.update, rank as u64]);
            let fraction = 1.0 - libm::pow(random.uniform_positive(), 1.0 / self.settings.top_concentration);
            let weight = b * (sticks.remainder * fraction).max(SMALLEST_WEIGHT);
            sticks.remainder *= 1.0 - fraction;
            state.alpha.alpha.push(weight);
            state.alpha.log_theta.push(digamma(weight) - past);
            state.alpha.usage.push(0.0);
            sticks.ids.push(sticks.created);
            sticks.born.push(step.seen);
            sticks.idle.push(0);
            sticks.evidence.push(0.0);
            sticks.proved.push(false);
            sticks.births.push(Birth {
                id: sticks.created,
                update: step.update,
                document: founded.document,
                tokens: founded.tokens,
                words: founded.first_words(10),
            });
            sticks.created += 1;
        }
        sticks.remainder = sticks.remainder.max(self.settings.min_remainder);
        sticks.remainder_log = digamma(b * sticks.remainder) - past;
        let known = state.counts.topics();
        let columns: Vec<Option<usize>> =
            (0..known).map(Some).chain(births.founded.iter().map(|_| None)).collect();
        state.counts.rearrange(&columns);
        state.alpha_sum = vec![0.0; columns.len()];
    }

    /// Moves the running means of `log theta` and of tables, then the weights. `gains` are those of topics just born.
    fn absorb_weights(&self, state: &mut LdaState, step: &Step, fresh: &ThetaExpectation, gains: &[f64]) {
        let (b, rho) = (self.settings.doc_concentration, step.rho);
        let total = fresh.length + digamma(b);
        let alpha = &mut state.alpha;
        let known = alpha.alpha.len() - gains.len();
        let sticks = state.sticks.as_mut().expect(HAS_STICKS);
        let blend = |old: &mut f64, fresh: f64| *old = (1.0 - rho) * *old + rho * fresh;
        for k in 0..known {
            blend(&mut alpha.log_theta[k], fresh.log_theta[k]);
            blend(&mut alpha.usage[k], fresh.usage[k]);
        }
        for (k, gain) in (known..).zip(gains) {
            blend(&mut alpha.log_theta[k], digamma(alpha.alpha[k]) + gain - total);
            blend(&mut alpha.usage[k], alpha.alpha[k] * gain);
        }
        if sticks.remainder > 0.0 {
            blend(&mut sticks.remainder_log, digamma(b * sticks.remainder) - total);
        }
        blend(&mut alpha.length, fresh.length);
        if let TopicRule::Bayes { population, .. } = self.start.rule {
            posterior_means(b, self.settings.top_concentration, population.documents(step), alpha, sticks);
        } else {
            self.settings.pi.solve(b, alpha, sticks);
        }
        sticks.hold(b, self.settings.min_remainder, alpha);
    }

    /// How many tokens the weights of each column are worth under a Bayesian rule, the remainder included.
    fn strengths(&self, state: &LdaState, step: &Step) -> Option<Vec<f64>> {
        let TopicRule::Bayes { prior, population } = self.start.rule else { return None };
        let prior = prior.unwrap_or(0.0) * self.start.vocabulary as f64;
        let documents = population.documents(step);
        let tokens = state.counts.topic_tokens().into_iter().map(|tokens| prior + documents * tokens);
        Some(tokens.chain([prior]).collect())
    }
}

impl LatentModel for Hdp {
    type Batch = Minibatch;
    type Statistics = TopicStatistics;
    type State = LdaState;
    type View = TopicView;

    fn check(&self, batch: &Minibatch) -> Result<()> {
        self.start.check(batch)
    }

    fn initial(&self, first: &Minibatch, seed: Seed) -> LdaState {
        let mut state = self.start.initial(first, seed);
        let (mut sticks, weights) = Sticks::start(self.start.topics, self.settings.top_concentration);
        let b = self.settings.doc_concentration;
        state.alpha.alpha = weights.iter().map(|weight| b * weight).collect();
        state.alpha.log_theta = state.alpha.alpha.iter().map(|&alpha| digamma(alpha) - digamma(b)).collect();
        sticks.remainder_log = digamma(b * sticks.remainder) - digamma(b);
        state.sticks = Some(sticks);
        state
    }

    fn view(
        &self,
        state: &LdaState,
        at: &Step,
        _pending: Option<&TopicStatistics>,
        batch: &Minibatch,
        out: &mut TopicView,
    ) {
        let (words, counts, known) = (batch.words(), &state.counts, state.counts.topics());
        let alpha = self.concentrations(state);
        let (vocabulary, open) = (self.start.vocabulary, alpha.len() > known);
        // E[beta], not exp E[log beta]: a document sees the posterior of a topic as its prior.
        let map = self.start.rule.probabilities(counts.scale(), counts.scaled_totals(), vocabulary, at);
        let uniform = 1.0 / vocabulary as f64;
        out.refresh(words, &alpha, |index, row| {
            let [this, next] = [index, (index + 1).min(words.len() - 1)].map(|i| counts.scaled_row(words[i]));
            let (met, unmet) = row.split_at_mut(known);
            let (weight, prior) = map.apply_and_sum(this, next, &alpha[..known], met);
            let Some(unmet) = unmet.first_mut() else { return (weight, prior) };
            *unmet = uniform;
            (weight + uniform, prior + alpha[known] * uniform)
        });
        if let Some(strengths) = self.strengths(state, at) {
            out.set_strengths(strengths);
        }
        if open {
            out.open(self.settings.top_concentration);
        }
        out.measure_evidence(self.trial_alpha(state));
        out.set_clock(*at);
    }

    fn align<'a>(&self, view: &TopicView, block: &'a Minibatch) -> Result<Cow<'a, Minibatch>> {
        view.align(block)
    }

    fn check_statistics(&self, state: &LdaState, statistics: &TopicStatistics) -> Result<()> {
        self.start.check_statistics(state, statistics)
    }

    fn absorb(&self, state: &mut LdaState, step: &Step, fresh: &TopicStatistics) {
        let known = state.counts.topics();
        let theta = fresh.theta(&self.concentrations(state));
        self.add_evidence(state, fresh, theta.length);
        let births = Births::decide(&self.births, fresh.candidates(), fresh.sweeps(), self.room(state));
        let rule = &self.start.rule;
        let (scale, totals) = (state.counts.scale(), state.counts.scaled_totals());
        let map = rule.probabilities(scale, totals, self.start.vocabulary, fresh.at());
        let alpha = state.alpha.alpha.clone();
        let placed = Placed::new(
            fresh.candidates(),
            &births,
            |word, row| {
                map.apply(state.counts.scaled_row(word), row);
                weight_and_prior(row, &alpha).1
            },
            &alpha,
        );
        self.make_room(state, &births, step);
        let (rows, share) = (FreshRows::new(WeightMap::Affine(map), &alpha, fresh, step), fresh.share());
        state.counts.blend_rows(step.rho, fresh.words(), |index, row, totals, space| {
            let RowToBlend { counts, next, weight, replace } = row;
            let (met, born) = counts.split_at_mut(known);
            let (met_totals, born_totals) = totals.split_at_mut(known);
            born.fill(0.0);
            let given = placed.of(fresh.words()[index]);
            let prior = given.iter().filter(|(_, to, _)| *to == To::Prior).map(|(_, _, tokens)| tokens).sum();
            let row = RowToBlend { counts: met, next, weight, replace };
            rows.add(index, row, met_totals, &mut space[..known], prior);
            for &(_, to, tokens) in given {
                let fresh = tokens * share;
                match to {
                    To::Known(topic) => add(topic, fresh, weight, met, met_totals),
                    To::Born(topic) => add(topic, fresh, weight, born, born_totals),
                    To::Prior => {}
                }
            }
        });
        let gains = born_gains(fresh, &births, &state.alpha.alpha[known..]);
        self.absorb_weights(state, step, &theta, &gains);
        self.deaths(state, step);
    }

    fn remember(&self, _state: &mut LdaState, _step: &Step) {}
}

pub(crate) fn sticks_mut(state: &mut LdaState) -> &mut Sticks {
    state.sticks.as_mut().expect(HAS_STICKS)
}

pub(crate) fn sticks_of(state: &LdaState) -> &Sticks {
    state.sticks.as_ref().expect(HAS_STICKS)
}

const HAS_STICKS: &str = "the states of this model have sticks from the start";

/// Number of topics in use: those with more than a thousandth of all tokens.
pub fn topics_used(tokens: &[f64]) -> usize {
    let least = 1e-3 * tokens.iter().sum::<f64>();
    tokens.iter().filter(|&&tokens| tokens > least).count()
}

/// Where the tokens of topics that single documents have met go: to topics just born, or to known ones.
struct Placed {
    /// (word, where to, tokens), by word.
    tokens: Vec<(u32, To, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    Known(u32),
    Born(u32),
    Prior,
}

impl Placed {
    /// `weigh(word, row)` writes the weights of a word and returns its mass under the prior `alpha`.
    fn new(
        documents: &[CandidateDocument],
        births: &Births,
        weigh: impl Fn(u32, &mut [f64]) -> f64,
        alpha: &[f64],
    ) -> Self {
        let mut tokens = Vec::new();
        let mut weights = vec![0.0; alpha.len()];
        for (document, places) in documents.iter().zip(&births.places) {
            for (candidate, place) in document.topics.iter().zip(places) {
                for &(word, units) in &candidate.words {
                    let lost = units as f64 / UNITS_PER_TOKEN;
                    if let Some(place) = place {
                        tokens.push((word, To::Born(*place as u32), lost));
                    } else {
                        let prior = weigh(word, &mut weights);
                        document.give_back(word, lost, prior, &weights, &mut tokens);
                    }
                }
            }
        }
        tokens.sort_by_key(|&(word, to, _)| (word, to));
        Self { tokens }
    }

    /// The entries of a word.
    fn of(&self, word: u32) -> &[(u32, To, f64)] {
        let start = self.tokens.partition_point(|entry| entry.0 < word);
        let end = self.tokens.partition_point(|entry| entry.0 <= word);
        &self.tokens[start..end]
    }
}

fn add(topic: u32, fresh: f64, weight: f64, counts: &mut [f64], totals: &mut [f64]) {
    counts[topic as usize] += weight * fresh;
    totals[topic as usize] += fresh;
}

impl CandidateDocument {
    /// Tokens of a topic that nobody takes in go to known topics, as if they were drawn once more among them, in
    /// expectation (science.md 4.2). No token is lost: what rounding leaves over goes to the prior.
    fn give_back(&self, word: u32, lost: f64, prior: f64, weights: &[f64], tokens: &mut Vec<(u32, To, f64)>) {
        let sweeps = self.sweeps.max(1) as f64;
        let weight = |&(topic, size): &(u32, u64)| weights[topic as usize] * size as f64 / sweeps;
        let all = self.known.iter().map(weight).sum::<f64>() + prior;
        let mut left = lost;
        for known in self.known.iter().filter(|_| all > 0.0) {
            let part = rounded_count(lost * weight(known) / all).min(left);
            left -= part;
            tokens.push((word, To::Known(known.0), part));
        }
        tokens.push((word, To::Prior, left));
    }
}

/// Mean over documents of `digamma(alpha_k + n_k) - digamma(alpha_k)` for topics just born.
fn born_gains(fresh: &TopicStatistics, births: &Births, alpha: &[f64]) -> Vec<f64> {
    let mut gains = vec![0.0; alpha.len()];
    for (document, places) in fresh.candidates().iter().zip(&births.places) {
        for (candidate, place) in document.topics.iter().zip(places) {
            let Some(place) = *place else { continue };
            let sizes = candidate.sizes.iter();
            let gain: f64 =
                sizes.map(|&n| digamma(alpha[place] + f64::from(n)) - digamma(alpha[place])).sum();
            gains[place] += gain * fresh.share();
        }
    }
    gains
}
