//! Topics go: those that fail their trial, those that nobody uses, and those that say what another one says.

use crate::model::topics::hdp::{Hdp, sticks_mut, sticks_of, topics_used};
use crate::model::topics::lda::LdaState;
use crate::model::topics::statistics::TopicStatistics;
use crate::numerics::math::digamma;
use crate::learn::schedule::Step;

/// Which topics go. Ages are in documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeathRule {
    /// The age at which a topic is looked at for the first time; then at twice that age, and so on.
    pub first_look: u64,
    /// A topic on trial has proved itself when the log-likelihood of documents since its birth is larger by this with it
    /// than without it.
    pub proof: f64,
    /// The largest share of all that a topic on trial is given when evidence for it is measured: a large one would count
    /// against it in all documents without it.
    pub share_on_trial: f64,
    /// From this age on a topic on trial goes if there is more evidence against it than for it, and one that has proved
    /// itself goes if there was since it was last looked at. The age is given per word of the vocabulary, because a topic
    /// must first learn its words.
    pub patience_per_word: f64,
    /// But not before this age.
    pub shortest_patience: f64,
    /// And at this age even if there are more words.
    pub longest_patience: f64,
    /// A topic with less than this times the tokens of an average topic in use is idle.
    pub idle_share: f64,
    /// After so many documents as an idle topic it goes.
    pub idle_documents: u64,
    /// Topics that are at least so much alike become one.
    pub same_topic: f64,
}

impl DeathRule {
    /// What has proved itself (docs/hdp.md).
    pub const DEFAULT: Self = Self {
        first_look: 1600,
        proof: 10.0,
        share_on_trial: 5e-4,
        patience_per_word: 0.32,
        shortest_patience: 400.0,
        longest_patience: 3200.0,
        idle_share: 0.05,
        idle_documents: 2000,
        same_topic: 0.6,
    };

    /// The age from which on evidence counts.
    fn patience(&self, vocabulary: usize) -> u64 {
        let age = self.patience_per_word * vocabulary as f64;
        age.clamp(self.shortest_patience, self.longest_patience) as u64
    }

    /// Whether a topic is looked at when its age grows from `before` to `now`.
    fn is_due(&self, before: u64, now: u64) -> bool {
        let looks = |age: u64| (age / self.first_look).checked_ilog2();
        looks(before) != looks(now)
    }
}

impl Hdp {
    /// The weight of each topic when evidence for it is measured: a topic on trial has at most a small one.
    pub(crate) fn trial_alpha(&self, state: &LdaState) -> Vec<f64> {
        let most = self.deaths.share_on_trial * self.settings.doc_concentration;
        let topics = state.alpha.alpha.iter().zip(&sticks_of(state).proved);
        topics.map(|(&alpha, &proved)| if proved { alpha } else { alpha.min(most) }).collect()
    }

    /// Adds what the documents of a minibatch say about topics that have not learnt from them yet. `length` is
    /// `E[digamma(A + N) - digamma(A)]`.
    pub(crate) fn add_evidence(&self, state: &mut LdaState, fresh: &TopicStatistics, length: f64) {
        let cost = length * fresh.documents() as f64;
        let trial_alpha = self.trial_alpha(state);
        let measured = fresh.evidence().into_iter().zip(trial_alpha);
        let sticks = sticks_mut(state);
        sticks.evidence.iter_mut().zip(measured).for_each(|(sum, (measured, alpha))| *sum += measured - alpha * cost);
    }

    /// Lets topics go.
    pub(crate) fn deaths(&self, state: &mut LdaState, step: &Step) {
        let idle = self.idle(state, step);
        let tokens = state.counts.topic_tokens();
        let largest = (0..tokens.len()).max_by(|&a, &b| tokens[a].total_cmp(&tokens[b])).unwrap_or(0);
        let rule = &self.deaths;
        let patience = rule.patience(self.start.vocabulary);
        let sticks = sticks_mut(state);
        let mut due = Vec::new();
        let mut stay = Vec::new();
        for (k, &born) in sticks.born.iter().enumerate() {
            let age = step.seen - born;
            let look = rule.is_due(age.saturating_sub(step.batch), age);
            let judged = age >= patience && (look || !sticks.proved[k]);
            let evidence = sticks.evidence[k];
            if idle[k] || (judged && evidence < 0.0 && k != largest) {
                continue;
            }
            if look && sticks.proved[k] {
                sticks.evidence[k] = 0.0;
            }
            sticks.proved[k] |= evidence >= rule.proof;
            stay.push(k);
            if look {
                due.push(k);
            }
        }
        for &topic in due.iter().rev() {
            self.look_for_its_like(state, topic, &mut stay, step);
        }
        self.keep_only(state, &stay);
    }

    /// Which topics have been idle for too long; never the largest, which has more tokens than the average.
    fn idle(&self, state: &mut LdaState, step: &Step) -> Vec<bool> {
        let tokens = state.counts.topic_tokens();
        let used = topics_used(&tokens).max(1) as f64;
        let least = self.deaths.idle_share * tokens.iter().sum::<f64>() / used;
        let sticks = sticks_mut(state);
        for (idle, tokens) in sticks.idle.iter_mut().zip(&tokens) {
            *idle = if *tokens < least { *idle + step.batch } else { 0 };
        }
        sticks.idle.iter().map(|&idle| idle >= self.deaths.idle_documents).collect()
    }

    /// Topics that say the same become one. Looking for them costs `K V`.
    fn look_for_its_like(&self, state: &mut LdaState, topic: usize, stay: &mut Vec<usize>, step: &Step) {
        let Some(likeness) = state.counts.likeness(topic, step.batch as f64 / step.rho) else { return };
        let others = stay.iter().copied().filter(|&other| other != topic);
        let like = others.max_by(|&a, &b| likeness[a].total_cmp(&likeness[b]));
        let like = like.filter(|&other| likeness[other] >= self.deaths.same_topic);
        let Some(like) = like else { return };
        let (from, to) = (topic.max(like), topic.min(like));
        state.counts.merge(from, to);
        let alpha = &mut state.alpha;
        // Keeps the M-step where it is, with the weights added up.
        let sum = alpha.alpha[from] + alpha.alpha[to];
        alpha.log_theta[to] += digamma(sum) - digamma(alpha.alpha[to]);
        (alpha.alpha[to], alpha.alpha[from]) = (sum, 0.0);
        let sticks = sticks_mut(state);
        sticks.proved[to] |= sticks.proved[from];
        sticks.evidence[to] = sticks.evidence[to].max(sticks.evidence[from]);
        stay.retain(|&k| k != from);
    }

    /// Drops all topics but these; what the others had is left for topics not met yet.
    fn keep_only(&self, state: &mut LdaState, stay: &[usize]) {
        if stay.len() == state.counts.topics() {
            return;
        }
        let b = self.settings.doc_concentration;
        let gone: f64 =
            (0..state.counts.topics()).filter(|k| !stay.contains(k)).map(|k| state.alpha.alpha[k]).sum();
        let length = state.alpha.length;
        let sticks = sticks_mut(state);
        if gone > 0.0 {
            sticks.remainder += gone / b;
            sticks.remainder_log = digamma(b * sticks.remainder) - (length + digamma(b));
        }
        sticks.keep_only(stay);
        let LdaState { counts, alpha, alpha_sum, .. } = state;
        for values in [&mut alpha.alpha, &mut alpha.log_theta, &mut alpha.usage, alpha_sum] {
            *values = stay.iter().map(|&k| values[k]).collect();
        }
        let columns: Vec<Option<usize>> = stay.iter().copied().map(Some).collect();
        counts.rearrange(&columns);
    }
}
