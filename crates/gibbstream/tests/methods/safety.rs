//! Every method at the edges of its domain: nothing becomes infinite or undefined, topics stay probabilities.

use super::*;
use crate::support::HALF_UNIT;
use gibbstream::inference::gibbs::Statistic;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::method::Local;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::{AlphaRule, largest_sum, smallest_entry};
use gibbstream::model::topics::rule::{Smoothing, TopicRule};

/// All named methods, few sweeps, for a corpus of 50 documents.
fn methods() -> impl Iterator<Item = (&'static str, Method)> {
    Method::NAMED.iter().map(|named| (named.name, Method { sweeps: 5, ..named.method.with_population(50.0) }))
}

fn is_langevin(method: &Method) -> bool {
    matches!(method.global, TopicRule::Langevin { .. })
}

/// Trains, with and without averaging, and looks at everything after every update.
fn survive(name: &str, method: Method, topics: usize, vocabulary: usize, batches: &[Minibatch]) -> Learnt {
    let averaged = Method { averaging: Averaging::Uniform, ..method };
    survive_one(&format!("{name}, averaged"), averaged, topics, vocabulary, batches);
    survive_one(name, method, topics, vocabulary, batches)
}

pub(super) fn survive_one(
    name: &str,
    method: Method,
    topics: usize,
    vocabulary: usize,
    batches: &[Minibatch],
) -> Learnt {
    let settings = settings(method, topics, vocabulary, batches[0].len());
    let mut trainer = Trainer::new(settings, 2).unwrap();
    for (update, batch) in batches.iter().enumerate() {
        let name = format!("{name}, update {}", update + 1);
        trainer.partial_fit(batch).unwrap_or_else(|error| panic!("{name}: {error}"));
        let learnt = learnt(&trainer);
        let counts = dense(&learnt.state.counts);
        assert!(counts.iter().all(|count| count.is_finite() && *count > -1e-9), "{name}: counts");
        let totals = learnt.state.counts.topic_tokens();
        if update == 0 && learnt.clock.rho == 1.0 && !is_langevin(&method) {
            let (found, expected) = (totals.iter().sum::<f64>(), batch.tokens() as f64 / batch.len() as f64);
            // The sampler adds up in single precision; in-sweep probabilities one by one, 100,000 in a long document.
            let in_sweep = matches!(method.local, Local::Gibbs { statistic: Statistic::InSweep, .. });
            let tolerance = if in_sweep { 1e-3 } else { 1e-5 };
            assert!(
                (found - expected).abs() <= tolerance * expected + rounding(&method, topics, batch),
                "{name}: {found} tokens, not {expected}"
            );
        }
        let topics_now = trainer.topics().unwrap();
        let parts = [
            &topics_now.alpha,
            &learnt.state.alpha.alpha,
            &learnt.state.alpha.usage,
            &learnt.state.alpha_sum,
        ];
        for values in parts {
            assert!(values.iter().all(|value| value.is_finite() && *value >= -1e-9), "{name}: alpha");
        }
        assert!(learnt.state.alpha.alpha.iter().all(|&alpha| alpha > 0.0), "{name}: alpha");
        assert!(learnt.state.alpha.log_theta.iter().all(|value| value.is_finite()), "{name}: log theta");
        let mut view = TopicView::default();
        trainer.settings().lda_model().view(&learnt.state, &learnt.clock, None, batch, &mut view);
        let mut weights = (0..batch.words().len() as u32).flat_map(|word| view.row(word));
        assert!(weights.all(|weight| weight.is_finite() && *weight >= 0.0), "{name}: weights");
        assert!(topics_now.beta.iter().all(|p| (-1e-12..=1.0 + 1e-9).contains(p)), "{name}: probabilities");
        for k in 0..topics {
            let sum: f64 = topics_now.beta.iter().skip(k).step_by(topics).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{name}: topic {k} adds up to {sum}");
        }
    }
    learnt(&trainer)
}

/// Every count of a document is rounded once to a whole number of units; mean field has one for every word and topic.
fn rounding(method: &Method, topics: usize, batch: &Minibatch) -> f64 {
    let words = (0..batch.len()).map(|index| batch.document(index).len()).sum::<usize>();
    let counts = if method.local == Local::MeanField { words * topics } else { 0 };
    counts as f64 * HALF_UNIT / batch.len() as f64
}

#[test]
fn alpha_at_its_limits() {
    let batches = minibatches(&grouped(40, 3, 12, 15, 61), 10);
    let single = minibatches(&vec![Document::from_tokens(&[4; 9]); 20], 10);
    for (name, method) in methods() {
        for alpha in [smallest_entry(3, false), 1e-3, 1.35e-3, 1.4e-3, 2e-3, largest_sum(3) / 3.0, 1e6] {
            // Many iterations leave mean field with topics that hold no more than denormal numbers.
            for sweeps in if method.local == Local::MeanField { vec![5, 300] } else { vec![5] } {
                let method = Method { alpha: AlphaRule::Fixed(Some(alpha)), sweeps, ..method };
                for batches in [&batches, &single] {
                    let learnt = survive(&format!("{name}, alpha {alpha}"), method, 3, 12, batches);
                    assert_eq!(learnt.state.alpha.alpha, [alpha; 3]);
                }
            }
        }
    }
}

/// Documents that are all alike drive the sum of alpha up to its limit, topics without documents drive entries down.
#[test]
fn learnt_alpha_is_held_inside_its_limits() {
    let alike = Document::from_tokens(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let alike = minibatches(&vec![alike; 400], 10);
    let single = minibatches(&vec![Document::from_tokens(&[0; 20]); 400], 10);
    for (name, method) in methods() {
        if is_langevin(&method) {
            continue;
        }
        for rule in [
            AlphaRule::FixedPoint,
            AlphaRule::FixedPointSteps(3),
            AlphaRule::Newton,
            AlphaRule::Gradient,
            AlphaRule::Gamma { shape: 1.0, rate: 0.0 },
        ] {
            for batches in [&alike, &single] {
                let learnt =
                    survive(&format!("{name} {rule:?}"), Method { alpha: rule, ..method }, 4, 8, batches);
                let alpha = &learnt.state.alpha.alpha;
                assert!(alpha.iter().sum::<f64>() <= largest_sum(4) * (1.0 + 1e-6), "{name}: {alpha:?}");
                assert!(alpha.iter().all(|&entry| entry >= smallest_entry(4, false)), "{name}: {alpha:?}");
            }
        }
    }
}

#[test]
fn tiny_priors() {
    let batches = minibatches(&grouped(40, 3, 12, 15, 62), 10);
    for (name, mut method) in methods() {
        for tiny in [1e-3, 1e-8] {
            match &mut method.global {
                TopicRule::Bayes { prior, .. } => *prior = Some(tiny),
                TopicRule::Langevin { prior, .. } => *prior = tiny,
                rule @ TopicRule::MaximumLikelihood(Smoothing::PseudoCount(_)) => {
                    *rule = TopicRule::MaximumLikelihood(Smoothing::PseudoCount(tiny));
                }
                rule @ TopicRule::MaximumLikelihood(_) => {
                    *rule = TopicRule::MaximumLikelihood(Smoothing::Share(0.0));
                }
            }
            survive(&format!("{name}, prior {tiny}"), method, 3, 12, &batches);
            survive(
                &format!("{name}, prior {tiny}, V = 1"),
                method,
                3,
                1,
                &minibatches(&grouped(20, 1, 1, 4, 63), 5),
            );
        }
    }
}

/// Far more topics than words or documents, with documents of a token or two among them.
#[test]
fn many_topics() {
    let mut documents = grouped(9, 3, 7, 8, 64);
    documents.push(Document::from_tokens(&[5]));
    documents.push(Document::from_tokens(&[1, 6]));
    documents.push(Document::default());
    for (name, method) in methods() {
        survive(name, method, 2_000, 7, &minibatches(&documents, 6));
    }
}

#[test]
fn long_documents() {
    let one_word = Document { words: vec![(2, 100_000)], ..Document::default() };
    let some_words =
        Document { words: (0..6).map(|word| (word, 20_000 >> word)).collect(), ..Document::default() };
    let batches = minibatches(&[one_word, some_words.clone(), some_words, Document::from_tokens(&[3])], 2);
    for (name, method) in methods() {
        survive(name, Method { sweeps: 4, ..method }, 5, 6, &batches);
    }
}

/// Steps of 1 forget everything at every update.
#[test]
fn no_memory() {
    let batches = minibatches(&grouped(40, 3, 12, 15, 65), 4);
    let flat = StepSize::Power { kappa: 0.0, offset: 0.0, tau: 1.0, least: 0.0 };
    for (name, method) in methods() {
        for step in [StepSize::Constant(1.0), flat, StepSize::Constant(1e-6)] {
            let step = if is_langevin(&method) {
                StepSize::Decay { start: 1.0, delay: 1.0, exponent: 0.0 }
            } else {
                step
            };
            survive(&format!("{name} {step:?}"), Method { step, ..method }, 3, 12, &batches);
        }
    }
}

#[test]
fn empty_and_single_word_documents() {
    let empty = Document::default;
    let word = |word| Document::from_tokens(&[word]);
    let documents = [
        empty(),
        empty(),
        word(0),
        empty(),
        word(1),
        word(1),
        empty(),
        empty(),
        word(0),
        word(4),
        empty(),
        word(2),
    ];
    for (name, method) in methods() {
        survive(name, method, 3, 5, &minibatches(&documents, 2));
        survive(name, method, 3, 5, &minibatches(&documents, 1));
        survive(name, method, 3, 5, &minibatches(&documents, 5));
    }
}

#[test]
fn one_word_one_topic_and_more_topics_than_words() {
    for (name, method) in methods() {
        for (topics, vocabulary) in [(1, 1), (4, 1), (1, 9), (20, 3), (2_000, 1), (1_000, 2)] {
            let batches = minibatches(&grouped(20, vocabulary.min(3), vocabulary, 9, 66), 5);
            survive(&format!("{name}, K = {topics}, V = {vocabulary}"), method, topics, vocabulary, &batches);
        }
    }
}

/// With one topic every method counts words.
#[test]
fn one_topic_counts_words() {
    let batches = minibatches(&grouped(40, 3, 12, 15, 67), 10);
    let mut seen = [0_u32; 12];
    for entry in batches.iter().flat_map(|batch| {
        (0..batch.len()).flat_map(|d| batch.document(d)).map(|e| (batch.words()[e.word as usize], e.count))
    }) {
        seen[entry.0 as usize] += entry.1;
    }
    let per_document: Vec<f64> = seen.iter().map(|&count| f64::from(count) / 40.0).collect();
    for (name, method) in methods() {
        let adds_up = matches!(method.step, StepSize::Incremental { head_start: 0 });
        if adds_up {
            let learnt = train(settings(method, 1, 12, 10), &batches);
            assert_close(name, &dense(&learnt.state.counts), &per_document, 1e-12);
        }
    }
}
