//! The hierarchical Dirichlet process: a topic model that finds its number of topics (algorithms.md 4).
//!
//! To a document, topics that nobody has met yet are one more topic, with weight `b r` and uniform words. A document
//! that draws it meets a topic of its own. When the minibatch is over, those topics are compared and some become
//! topics of the model. Everything else is latent Dirichlet allocation with `alpha = b pi`.

use super::births::{BirthRule, Births};
use super::lda::{Lda, LdaState, TopicExpectation, Topics};
use super::sticks::{Birth, PiRule, SMALLEST_WEIGHT, Sticks, posterior_means};
use super::topic_rule::TopicRule;
use super::view::TopicView;
use super::{Batch, LatentModel};
use crate::corpus::Minibatch;
use crate::error::{Error, Result};
use crate::inference::chain::Kept;
use crate::inference::collect::Collector;
use crate::math::digamma;
use crate::random::{Purpose, Seed};
use crate::schedule::Step;
use serde::{Deserialize, Serialize};

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
            min_remainder: 0.01,
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
            return Err(Error::setting("min-remainder", problem, "choose a small share such as 0.01"));
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

/// Which topics go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeathRule {
    /// A topic with less than this times the tokens of an average topic in use is idle.
    pub idle_share: f64,
    /// After so many idle updates in a row a topic goes.
    pub idle_updates: u64,
    /// A topic says nothing of its own if its words vary by less than this times chance, beside chance: then it joins
    /// the largest. Beyond [`Self::grown_up`] that grows with its age, from 1 on.
    pub own_say: f64,
    /// The age, in updates, from which on a topic must have something to say.
    pub grown_up: u64,
    /// Topics that are at least so much alike become one.
    pub same_topic: f64,
    /// The age, in updates, at which a topic looks for its like for the first time.
    pub first_look: u64,
}

impl DeathRule {
    /// What has proved itself (docs/hdp.md).
    pub const DEFAULT: Self = Self {
        idle_share: 0.05,
        idle_updates: 20,
        own_say: 4.0,
        grown_up: 64,
        same_topic: 0.6,
        first_look: 16,
    };
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
        let known = Lda { topics: state.counts.topics(), ..self.start.clone() }.parameters(state, step);
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

    /// Adds columns and sticks for those who are born. Each takes the fraction Beta(1, c) of what is left. What the
    /// past would have contributed to their running means is known, because no document had a token in them.
    fn make_room(&self, state: &mut LdaState, births: &Births, step: &Step, batch: &Minibatch) {
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
            sticks.born.push(step.update);
            sticks.idle.push(0);
            sticks.births.push(Birth {
                id: sticks.created,
                update: step.update,
                document: batch.key(founded.document)[1],
                tokens: founded.tokens,
                words: founded.first_words(10).into_iter().map(|place| batch.words()[place]).collect(),
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

    /// Topics without tokens go, and give what they had back.
    fn prune(&self, state: &mut LdaState) {
        let tokens = state.counts.topic_tokens();
        let used = topics_used(&tokens).max(1) as f64;
        let least = self.deaths.idle_share * tokens.iter().sum::<f64>() / used;
        let sticks = state.sticks.as_mut().expect(HAS_STICKS);
        for (idle, tokens) in sticks.idle.iter_mut().zip(&tokens) {
            *idle = if *tokens < least { *idle + 1 } else { 0 };
        }
        let largest = (0..tokens.len()).max_by(|&a, &b| tokens[a].total_cmp(&tokens[b])).unwrap_or(0);
        let stays = |&k: &usize| k == largest || sticks.idle[k] < self.deaths.idle_updates;
        let stay: Vec<usize> = (0..tokens.len()).filter(stays).collect();
        self.keep_only(state, &stay);
    }

    /// Topics that say the same become one. Looking for them costs `K V`, so each topic looks around at twice the age
    /// that it had the last time.
    fn merge(&self, state: &mut LdaState, step: &Step) {
        let mut stay: Vec<usize> = (0..state.counts.topics()).collect();
        for topic in (0..state.counts.topics()).rev() {
            let age = step.update - sticks_of(state).born[topic];
            if age < self.deaths.first_look || !age.is_power_of_two() {
                continue;
            }
            let tokens = state.counts.topic_tokens();
            let others = || stay.iter().copied().filter(|&other| other != topic);
            let best = |values: &[f64]| others().max_by(|&a, &b| values[a].total_cmp(&values[b]));
            let least = match age / self.deaths.grown_up {
                0 => f64::NEG_INFINITY,
                times => (times as f64).min(self.deaths.own_say),
            };
            let like = match state.counts.likeness(topic, step.batch as f64 / step.rho, least) {
                Some(likeness) => best(&likeness).filter(|&other| likeness[other] >= self.deaths.same_topic),
                // It says nothing of its own.
                None => best(&tokens),
            };
            let Some(like) = like else { continue };
            let (from, to) = (topic.max(like), topic.min(like));
            state.counts.merge(from, to);
            let alpha = &mut state.alpha;
            // Keeps the M-step where it is, with the weights added up.
            let sum = alpha.alpha[from] + alpha.alpha[to];
            alpha.log_theta[to] += digamma(sum) - digamma(alpha.alpha[to]);
            (alpha.alpha[to], alpha.alpha[from]) = (sum, 0.0);
            stay.retain(|&k| k != from);
        }
        self.keep_only(state, &stay);
    }

    /// Drops all topics but these; what the others had is left for topics not met yet.
    fn keep_only(&self, state: &mut LdaState, stay: &[usize]) {
        if stay.len() == state.counts.topics() {
            return;
        }
        let b = self.settings.doc_concentration;
        let LdaState { counts, alpha, alpha_sum, sticks } = state;
        let sticks = sticks.as_mut().expect(HAS_STICKS);
        let gone: f64 = (0..counts.topics()).filter(|k| !stay.contains(k)).map(|k| alpha.alpha[k]).sum();
        if gone > 0.0 {
            sticks.remainder += gone / b;
            sticks.remainder_log = digamma(b * sticks.remainder) - (alpha.length + digamma(b));
        }
        for values in [&mut alpha.alpha, &mut alpha.log_theta, &mut alpha.usage, alpha_sum] {
            *values = stay.iter().map(|&k| values[k]).collect();
        }
        for values in [&mut sticks.ids, &mut sticks.born, &mut sticks.idle] {
            *values = stay.iter().map(|&k| values[k]).collect();
        }
        let columns: Vec<Option<usize>> = stay.iter().copied().map(Some).collect();
        counts.rearrange(&columns);
    }

    /// Moves the running means of `log theta` and of tables, then the weights. `gains` are those of topics just born.
    fn absorb_weights(&self, state: &mut LdaState, step: &Step, fresh: &TopicExpectation, gains: &[f64]) {
        let (b, rho) = (self.settings.doc_concentration, step.rho);
        let total = fresh.theta.length + digamma(b);
        let alpha = &mut state.alpha;
        let known = alpha.alpha.len() - gains.len();
        let sticks = state.sticks.as_mut().expect(HAS_STICKS);
        let blend = |old: &mut f64, fresh: f64| *old = (1.0 - rho) * *old + rho * fresh;
        for k in 0..known {
            blend(&mut alpha.log_theta[k], fresh.theta.log_theta[k]);
            blend(&mut alpha.usage[k], fresh.theta.usage[k]);
        }
        for (k, gain) in (known..).zip(gains) {
            blend(&mut alpha.log_theta[k], digamma(alpha.alpha[k]) + gain - total);
            blend(&mut alpha.usage[k], alpha.alpha[k] * gain);
        }
        if sticks.remainder > 0.0 {
            blend(&mut sticks.remainder_log, digamma(b * sticks.remainder) - total);
        }
        blend(&mut alpha.length, fresh.theta.length);
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
    type Expectation = TopicExpectation;
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
        _pending: Option<&TopicExpectation>,
        batch: &Minibatch,
        out: &mut TopicView,
    ) {
        let (words, counts, known) = (batch.words(), &state.counts, state.counts.topics());
        let alpha = self.concentrations(state);
        let (vocabulary, open) = (self.start.vocabulary, alpha.len() > known);
        // E[beta], not exp E[log beta]: a document sees the posterior of a topic as its prior.
        let map = self.start.rule.probabilities(counts.scale(), counts.scaled_totals(), vocabulary, at);
        let uniform = 1.0 / vocabulary as f64;
        out.refresh(words.len(), &alpha, |index, row| {
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
    }

    fn absorb(
        &self,
        state: &mut LdaState,
        step: &Step,
        fresh: &mut TopicExpectation,
        view: &TopicView,
        batch: &Minibatch,
    ) {
        let known = view.known_topics();
        let births = Births::decide(
            &self.births,
            view,
            batch,
            &fresh.parts,
            self.settings.max_topics.saturating_sub(known),
        );
        self.make_room(state, &births, step, batch);
        for (index, (kept, places)) in fresh.parts.iter_mut().zip(&births.places).enumerate() {
            kept.settle(view, batch.document(index), places);
        }
        let collector = Collector::new(view, batch, &fresh.parts);
        state.counts.blend_rows(step.rho, batch.words(), |word, weight, space, rows, totals| {
            collector.add(word, weight, space, rows, totals);
        });
        let gains = born_gains(&fresh.parts, known, &state.alpha.alpha[known..]);
        self.absorb_weights(state, step, fresh, &gains);
        self.prune(state);
        self.merge(state, step);
    }

    fn remember(&self, _state: &mut LdaState, _step: &Step) {}
}

fn sticks_of(state: &LdaState) -> &Sticks {
    state.sticks.as_ref().expect(HAS_STICKS)
}

const HAS_STICKS: &str = "the states of this model have sticks from the start";

/// Number of topics in use: those with more than a thousandth of all tokens.
pub fn topics_used(tokens: &[f64]) -> usize {
    let least = 1e-3 * tokens.iter().sum::<f64>();
    tokens.iter().filter(|&&tokens| tokens > least).count()
}

/// Mean over documents of `digamma(alpha_k + n_k) - digamma(alpha_k)` for topics just born.
fn born_gains(parts: &[Kept], known: usize, alpha: &[f64]) -> Vec<f64> {
    let mut gains = vec![0.0; alpha.len()];
    for kept in parts {
        for &(topic, size) in kept.sizes() {
            let Some(born) = (topic as usize).checked_sub(known) else { continue };
            if let Some(&alpha) = alpha.get(born) {
                let gain = digamma(alpha + f64::from(size)) - digamma(alpha);
                gains[born] += gain / (kept.sweeps() * parts.len()) as f64;
            }
        }
    }
    gains
}
