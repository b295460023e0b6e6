//! Which topics to believe: those that come again with another seed, or at another moment of a run.

use super::alignment::{Match, match_models};
use crate::corpus::Vocabulary;
use crate::learn::TopicParameters;
use serde::Serialize;

/// The topics of one model, held against those of others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Mean over topics of their stability, weighted by their shares.
    pub stability: f64,
    /// Topics that are found again in all other models.
    pub stable_topics: usize,
    /// The topics of the first model.
    pub topics: Vec<TopicStability>,
}

/// A topic and whether it comes again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopicStability {
    /// Its number in the first model.
    pub id: usize,
    /// Its share of all tokens there.
    pub share: f64,
    /// Mean over the other models of the similarity of its partner: 1 if it is the same, 0 if it is no closer than other topics are,
    /// or if there is none.
    pub stability: f64,
    /// Other models in which it is found again: its partner is similar enough.
    pub found_in: usize,
    /// Its partner in each of the other models, in their order.
    pub partners: Vec<Option<Partner>>,
    /// Its best words, and in how many of all models they are among the best.
    pub words: Vec<StableWord>,
}

/// The topic of another model that a topic belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Partner {
    /// Its number.
    pub topic: usize,
    /// The Jensen-Shannon divergence, in nats.
    pub distance: f64,
    /// How much closer it is than other topics are: see [`Match`].
    pub similarity: f64,
}

/// A word of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StableWord {
    /// The word.
    pub word: String,
    /// Models in which it is among the best of the topic, the first included.
    pub models: usize,
}

/// Holds the topics of the first model against those of all others: `words` best words of each are compared, and a topic is
/// found again if the similarity of its partner is `same` or more.
pub fn stability(models: &[(&TopicParameters, &Vocabulary)], words: usize, same: f64) -> Stability {
    let Some((&first, others)) = models.split_first() else {
        return Stability { stability: 0.0, stable_topics: 0, topics: Vec::new() };
    };
    let best = |(parameters, vocabulary): (&TopicParameters, &Vocabulary)| -> Vec<Vec<String>> {
        let topics = parameters.summaries(words, 1.0).into_iter();
        topics.map(|topic| topic.words.iter().map(|&(word, _)| vocabulary.word(word).to_owned()).collect()).collect()
    };
    let own = best(first);
    let mut topics: Vec<TopicStability> = own
        .iter()
        .zip(&first.0.shares)
        .enumerate()
        .map(|(id, (words, &share))| TopicStability {
            id,
            share,
            stability: 0.0,
            found_in: 0,
            partners: Vec::with_capacity(others.len()),
            words: words.iter().map(|word| StableWord { word: word.clone(), models: 1 }).collect(),
        })
        .collect();
    for &other in others {
        let (matches, best) = (match_models(first, other), best(other));
        let mut partners: Vec<Option<Partner>> = vec![None; topics.len()];
        for Match { pair, similarity } in matches {
            partners[pair.a] = Some(Partner { topic: pair.b, distance: pair.distance, similarity });
        }
        for (topic, partner) in topics.iter_mut().zip(partners) {
            topic.partners.push(partner);
            let Some(Partner { topic: partner, similarity, .. }) = partner else { continue };
            topic.stability += similarity / others.len() as f64;
            topic.found_in += usize::from(similarity >= same);
            for word in &mut topic.words {
                word.models += usize::from(best[partner].contains(&word.word));
            }
        }
    }
    let shares: f64 = topics.iter().map(|topic| topic.share).sum();
    Stability {
        stability: topics.iter().map(|topic| topic.share * topic.stability).sum::<f64>() / shares,
        stable_topics: topics.iter().filter(|topic| topic.found_in == others.len()).count(),
        topics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Unigram;
    use crate::model::topics::lda::Topics;

    /// Topics over four words.
    fn parameters(topics: &[[f64; 4]], shares: &[f64]) -> TopicParameters {
        let beta = (0..4).flat_map(|word| topics.iter().map(move |topic| topic[word])).collect();
        let topics = Topics { beta, alpha: vec![0.1; shares.len()] };
        TopicParameters { topics, shares: shares.to_vec(), unigram: Unigram::from_counts(vec![1; 4]) }
    }

    const A: [f64; 4] = [0.7, 0.3, 0.0, 0.0];
    const B: [f64; 4] = [0.0, 0.0, 0.6, 0.4];
    const C: [f64; 4] = [0.0, 0.5, 0.5, 0.0];

    #[test]
    fn topics_that_come_again_are_stable() {
        let vocabulary = Vocabulary::new(["a", "b", "c", "d"]).unwrap();
        let models = [
            parameters(&[A, B], &[0.25, 0.75]),
            parameters(&[B, A], &[0.5, 0.5]),
            parameters(&[A, C], &[0.5, 0.5]),
            parameters(&[A], &[1.0]),
        ];
        let models: Vec<_> = models.iter().map(|model| (model, &vocabulary)).collect();
        let found = stability(&models, 2, 0.5);
        let [a, b] = &found.topics[..] else { panic!("{found:?}") };
        assert_eq!((a.found_in, b.found_in, found.stable_topics), (3, 1, 1));
        assert!((a.stability - 1.0).abs() < 1e-6, "{a:?}");
        let partners: Vec<Option<usize>> = b.partners.iter().map(|partner| partner.map(|partner| partner.topic)).collect();
        assert_eq!(partners, [Some(0), Some(1), None]);
        // By the definition: the middle of B and C is (0, 0.25, 0.55, 0.2).
        let divergence = 0.5
            * (0.6 * libm::log(0.6 / 0.55) + 0.4 * libm::log(2.0) + 0.5 * libm::log(2.0) + 0.5 * libm::log(0.5 / 0.55));
        // B has nothing in common with A; the middle of A and C is (0.35, 0.4, 0.25, 0).
        let of_a_and_c = 0.5
            * (0.7 * libm::log(2.0) + 0.3 * libm::log(0.3 / 0.4) + 0.5 * libm::log(0.5 / 0.4) + 0.5 * libm::log(2.0));
        let others = 0.5 * (std::f64::consts::LN_2 + of_a_and_c);
        let expected = (1.0 + (1.0 - divergence / others)) / 3.0;
        assert!((b.stability - expected).abs() < 1e-6, "{} {expected}", b.stability);
        assert!((found.stability - (0.25 * a.stability + 0.75 * b.stability)).abs() < 1e-12);
        let words: Vec<(&str, usize)> = b.words.iter().map(|word| (word.word.as_str(), word.models)).collect();
        assert_eq!(words, [("c", 3), ("d", 2)]);
        assert_eq!(a.words[0], StableWord { word: "a".into(), models: 4 });
    }
}
