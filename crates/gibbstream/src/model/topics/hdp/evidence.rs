//! What a document says for or against the topics that it uses: by how much it is more likely with a topic than
//! without it.
//!
//! For a document that the topic has not learnt from, the expected ratio of the two likelihoods is 1 if the topic says
//! nothing that others do not say as well. So evidence that is added up over such documents does not grow by chance,
//! however much a topic of accidental words feeds on itself.

use crate::model::topics::view::TopicView;
use crate::corpus::Entry;
use crate::inference::document_stats::DocumentStats;
use crate::numerics::math::ln_gamma;

/// Tokens that are in a topic with less probability than this are counted as tokens of the others.
const LEAST_PROBABILITY: f64 = 0.05;

/// (topic, evidence for it) for every topic of the model that the document uses. `alpha` is the weight that a topic
/// would have.
///
/// Evidence is a lower bound. The tokens that are in the topic may be in it, each with the probability that was kept,
/// or in the others as they are: `log sum_S p(x, S) >= E_q log p(x, S) + H(q)`, beside the document without the topic.
/// What the topic costs documents that do not use it, `alpha (digamma(b + N) - digamma(b))`, is not part of it.
pub(crate) fn of_document(
    view: &TopicView,
    document: &[Entry],
    stats: &DocumentStats,
    alpha: impl Fn(usize) -> f64,
) -> Vec<(u32, f64)> {
    let known = view.known_topics();
    let sizes = stats.mean_sizes(known);
    let length: f64 = view.alpha_sum() + sizes.iter().sum::<f64>();
    let mut found: Vec<Tokens> = vec![Tokens::default(); sizes.len()];
    let mut weights = vec![0.0_f32; sizes.len()];
    for (row, entry) in document.iter().enumerate() {
        view.gather_relative(entry.word, stats.topics(), &mut weights);
        let present: f64 = weights.iter().zip(&sizes).map(|(&weight, size)| f64::from(weight) * size).sum();
        let all = present + view.prior_mass(entry.word) * view.scale(entry.word);
        for (slot, (topic, count)) in stats.counts(row).enumerate() {
            let weight = f64::from(weights[slot]);
            let probability = f64::from(count) / (stats.sweeps() as f64 * f64::from(entry.count));
            if probability < LEAST_PROBABILITY || topic as usize >= known {
                continue;
            }
            let own = sizes[slot] + view.alpha()[topic as usize];
            // Of a topic that has nearly everything little is left, and little of that is known.
            let others = (all - own * weight).max(1e-6 * all) / (length - own).max(f64::MIN_POSITIVE);
            found[slot].add(f64::from(entry.count), probability.min(1.0), weight / others);
        }
    }
    let evidence =
        found.iter().zip(stats.topics()).zip(&sizes).filter(|((tokens, _), _)| tokens.count >= 1.0);
    evidence
        .map(|((tokens, &topic), size)| {
            let rest = (length - size - view.alpha()[topic as usize]).max(f64::MIN_POSITIVE);
            (topic, tokens.evidence(alpha(topic as usize), rest))
        })
        .collect()
}

/// Tokens of a document that are in a topic.
#[derive(Clone, Copy, Debug, Default)]
struct Tokens {
    count: f64,
    /// Sum of the logarithms of how much likelier their words are in the topic than in the rest of the document, and the
    /// entropy of who they are.
    log_ratio: f64,
}

impl Tokens {
    fn add(&mut self, tokens: f64, probability: f64, ratio: f64) {
        self.count += tokens * probability;
        self.log_ratio += tokens * (probability * libm::log(ratio) + entropy(probability));
    }

    /// `log (1 + p(in the topic) / p(in the others))`, the others having `rest` tokens and prior weight.
    fn evidence(&self, alpha: f64, rest: f64) -> f64 {
        let seats = ln_gamma(alpha + self.count) - ln_gamma(alpha);
        let other_seats = ln_gamma(rest + self.count) - ln_gamma(rest);
        let log_ratio = self.log_ratio + seats - other_seats;
        if log_ratio > 30.0 { log_ratio } else { libm::log1p(libm::exp(log_ratio)) }
    }
}

/// Entropy of a coin.
fn entropy(p: f64) -> f64 {
    if p >= 1.0 { 0.0 } else { -p * libm::log(p) - (1.0 - p) * libm::log(1.0 - p) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Document, Minibatch};
    use crate::inference::chain::Chain;
    use crate::numerics::math::{digamma, log_sum_exp};
    use crate::model::topics::lda::Topics;
    use crate::numerics::random::{Purpose, Seed, Stream};

    /// `log sum_S p(x, S) / p(x, no token in the topic)` over all sets S of tokens, by enumeration.
    fn exact(alpha: f64, rest: f64, ratios: &[f64]) -> f64 {
        let tokens = ratios.len() as f64;
        let sets = (0..1_u32 << ratios.len()).map(|set| {
            let inside = (0..ratios.len()).filter(|i| set >> i & 1 == 1);
            let words: f64 = inside.map(|i| libm::log(ratios[i])).sum();
            let size = f64::from(set.count_ones());
            words + ln_gamma(alpha + size) - ln_gamma(alpha) + ln_gamma(rest + tokens - size)
                - ln_gamma(rest + tokens)
        });
        log_sum_exp(&sets.collect::<Vec<_>>())
    }

    /// Whatever probabilities were kept, evidence is never more than the exact log_ratio; with good ones it is not much less.
    #[test]
    fn evidence_is_a_lower_bound() {
        let mut random = Seed(3).stream(Purpose::Initial, [0, 0]);
        for alpha in [0.001, 0.05, 1.0] {
            for rest in [1.0, 20.0] {
                for strength in [0.5, 2.0, 4.0] {
                    let ratios: Vec<f64> =
                        (0..8).map(|_| libm::exp(strength * (2.0 * random.uniform() - 0.5))).collect();
                    let exact = exact(alpha, rest, &ratios);
                    let bound = |random: &mut Stream| {
                        let mut tokens = Tokens::default();
                        ratios.iter().for_each(|&ratio| tokens.add(1.0, random.uniform_positive(), ratio));
                        tokens.evidence(alpha, rest + 8.0 - tokens.count)
                    };
                    let best = (0..2000).map(|_| bound(&mut random)).fold(f64::NEG_INFINITY, f64::max);
                    // One more way, that of no token, is counted beside the bound: at most log 2 too much.
                    assert!(best <= exact + std::f64::consts::LN_2, "{best} of {exact}");
                    assert!(best >= 0.8 * exact - 2.0, "{best} of {exact}");
                }
            }
        }
    }

    /// Words of a document, drawn from `topic` with probability `share` and from even weights otherwise.
    fn draw(topic: &[f64], share: f64, random: &mut Stream) -> Document {
        let even = vec![1.0; topic.len()];
        let mut counts = vec![0; topic.len()];
        for _ in 0..20 {
            let weights = if random.uniform() < share { topic } else { &even };
            counts[random.categorical(weights)] += 1;
        }
        let words = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
        Document { words, ..Document::default() }
    }

    /// Evidence of one document for the second of two topics, its cost taken off, from a chain as in training.
    fn evidence_of(topics: &Topics, document: &Document, random: &mut Stream) -> f64 {
        let batch = Minibatch::new(std::slice::from_ref(document), 0, 0);
        let (mut view, mut chain) = (TopicView::for_sampling(), Chain::default());
        let mut stats = DocumentStats::default();
        topics.view(&batch, &mut view);
        let entries = batch.document(0);
        chain.reset(&view, entries.iter().map(|entry| entry.word));
        for (row, entry) in entries.iter().enumerate() {
            (0..entry.count).for_each(|_| chain.push(&view, row as u32, random));
        }
        for sweep in 0..20 {
            chain.sweep(&view, random);
            if sweep >= 15 {
                chain.keep(&view);
            }
        }
        chain.take_stats(&view, entries, &mut stats);
        let evidence = of_document(&view, entries, &stats, |topic| topics.alpha[topic]);
        let log_ratio: f64 = evidence.iter().filter(|(topic, _)| *topic == 1).map(|(_, evidence)| evidence).sum();
        log_ratio - topics.alpha[1] * (digamma(1.0 + 20.0) - digamma(1.0))
    }

    /// Over documents without the topic the mean likelihood ratio is at most 1, so evidence cannot grow by chance; over
    /// documents with it evidence grows. 4,000 documents each; at four standard errors a sound bound fails once in 30,000.
    #[test]
    fn evidence_grows_only_with_the_topic() {
        let mut random = Seed(11).stream(Purpose::Initial, [0, 0]);
        let topic: Vec<f64> = (0..30).map(|word| if word % 6 == 0 { 0.1 } else { 0.02 }).collect();
        let beta = topic.iter().flat_map(|&weight| [1.0 / 30.0, weight]).collect();
        let topics = Topics { beta, alpha: vec![0.9, 0.1] };
        let ratios: Vec<f64> = (0..4000)
            .map(|_| libm::exp(evidence_of(&topics, &draw(&topic, 0.0, &mut random), &mut random)))
            .collect();
        let mean = ratios.iter().sum::<f64>() / 4000.0;
        let variance = ratios.iter().map(|ratio| (ratio - mean) * (ratio - mean)).sum::<f64>() / 3999.0;
        assert!(mean <= 1.0 + 4.0 * (variance / 4000.0).sqrt(), "{mean} without the topic");
        let log_ratios = (0..4000).map(|_| evidence_of(&topics, &draw(&topic, 0.9, &mut random), &mut random));
        let log_ratio = log_ratios.sum::<f64>() / 4000.0;
        assert!(log_ratio > 0.1, "{log_ratio} with the topic");
    }

    /// A topic with the words of all others gets no evidence, however many tokens are in it.
    #[test]
    fn a_copy_of_the_others_gets_no_evidence() {
        for probability in [0.1, 0.3, 0.9] {
            let mut tokens = Tokens::default();
            (0..50).for_each(|_| tokens.add(1.0, probability, 1.0));
            let evidence = tokens.evidence(5e-4, 51.0 - tokens.count);
            assert!(evidence < 0.01, "{evidence} of {probability}");
        }
    }
}
