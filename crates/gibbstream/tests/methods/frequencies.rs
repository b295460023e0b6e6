//! Reported topics with the word frequencies of all documents.

use super::*;
use gibbstream::learn::averaging::Averaging;
use gibbstream::model::topics::rule::{Smoothing, TopicRule};

const TOPICS: usize = 4;
/// More than one block of words, the last of them short; groups of words take turns, so that every block has all.
const WORDS: usize = 600;

fn with_frequencies(step: StepSize, smoothing: Smoothing) -> Settings {
    let global = TopicRule::MaximumLikelihood(smoothing);
    let method = Method { global, step, averaging: Averaging::Frequencies, ..Method::G_OEM };
    settings(method, TOPICS, WORDS, 10)
}

fn without_frequencies(settings: &Settings) -> Settings {
    let method = Method { averaging: Averaging::None, ..settings.method };
    Settings { method, ..settings.clone() }
}

/// Documents of which the later ones leave out a third of the words.
fn drifting() -> Vec<Minibatch> {
    let early = grouped(60, TOPICS, WORDS - 50, 20, 91);
    let late = grouped(60, TOPICS, WORDS - 200, 20, 92);
    minibatches(&[early, late].concat(), 10)
}

/// `n_w p(k | w)` and its sums, straight from the definition.
fn plain(learnt: &Learnt) -> (Vec<f64>, Vec<f64>) {
    let running = dense(&learnt.state.counts);
    let counts: Vec<f64> = (0..WORDS * TOPICS)
        .map(|i| {
            let word = i / TOPICS;
            let anywhere: f64 = running[word * TOPICS..][..TOPICS].iter().sum();
            learnt.word_counts[word] as f64 * running[i] / anywhere
        })
        .collect();
    let totals = (0..TOPICS).map(|k| counts.iter().skip(k).step_by(TOPICS).sum()).collect();
    (counts, totals)
}

/// Counts that are plain sums over all documents have their frequencies already.
#[test]
fn where_nothing_is_forgotten_nothing_changes() {
    for smoothing in [Smoothing::Share(0.0), Smoothing::Share(0.04), Smoothing::PseudoCount(0.01)] {
        let settings = with_frequencies(StepSize::Incremental { head_start: 0 }, smoothing);
        let learnt = train(settings.clone(), &drifting());
        let found = reported(&settings, &learnt).beta;
        // The sampler works in single precision: the counts of a word are its tokens to seven digits.
        assert_close("beta", &found, &reported(&without_frequencies(&settings), &learnt).beta, 1e-6);
    }
}

#[test]
fn topics_follow_from_all_tokens_of_a_word_and_its_last_topics() {
    let share = 0.04;
    let settings = with_frequencies(SOFT, Smoothing::Share(share));
    let learnt = train(settings.clone(), &drifting());
    assert!(learnt.word_counts.contains(&0), "some words never occur");
    let (counts, totals) = plain(&learnt);
    let expected: Vec<f64> = counts
        .iter()
        .enumerate()
        .map(|(i, count)| (1.0 - share) * count / totals[i % TOPICS] + share / WORDS as f64)
        .collect();
    let found = reported(&settings, &learnt).beta;
    assert_close("beta", &found, &expected, 1e-12);
    assert!(
        distance(&found, &reported(&without_frequencies(&settings), &learnt).beta) > 0.1,
        "it matters here"
    );
}

/// All topics together, each with its tokens, have every word as often as the documents had it.
#[test]
fn frequencies_are_those_of_all_documents() {
    let settings = with_frequencies(SOFT, Smoothing::Share(0.0));
    let learnt = train(settings.clone(), &drifting());
    let (_, totals) = plain(&learnt);
    let beta = reported(&settings, &learnt).beta;
    let rows = beta.chunks_exact(TOPICS);
    let found: Vec<f64> = rows.map(|row| row.iter().zip(&totals).map(|(p, total)| p * total).sum()).collect();
    let expected: Vec<f64> = learnt.word_counts.iter().map(|&count| count as f64).collect();
    assert_close("tokens", &found, &expected, 1e-12);
}

/// What is reported changes; what is learnt does not, nor does the number of threads change a bit of either.
#[test]
fn learning_and_threads_know_nothing_of_it() {
    let settings = with_frequencies(SOFT, Smoothing::Share(0.04));
    let learnt = train(settings.clone(), &drifting());
    assert_eq!(learnt, train(without_frequencies(&settings), &drifting()));
    let expected = reported(&settings, &learnt);
    for threads in [1, 2, 7] {
        let mut trainer = Trainer::new(settings.clone(), threads).unwrap();
        drifting().iter().for_each(|batch| {
            trainer.partial_fit(batch).unwrap();
        });
        assert_eq!(trainer.topics().unwrap(), expected, "{threads} threads");
    }
}

/// The topics of all words, each as often as it was met lately: every document of the past with its weight, straight from
/// the definition.
#[test]
fn frequencies_with_a_memory_are_those_of_the_last_documents() {
    let (memory, share) = (30, 0.04);
    let settings = with_frequencies(SOFT, Smoothing::Share(share));
    let method = Method { averaging: Averaging::RecentFrequencies(memory), ..settings.method };
    let recent = Settings { method, ..settings.clone() };
    let mut trainer = Trainer::new(recent.clone(), 1).unwrap();
    let batches = drifting();
    let mut counts = vec![0.0; WORDS];
    for batch in &batches {
        trainer.partial_fit(batch).unwrap();
        let kept = libm::exp(-(batch.len() as f64) / memory as f64);
        counts.iter_mut().for_each(|count| *count *= kept);
        for (index, &word) in batch.words().iter().enumerate() {
            counts[word as usize] += batch.tokens_of_word(index) as f64;
        }
    }
    let running = dense(&trainer.topic_state().unwrap().counts);
    let tokens: Vec<f64> = (0..WORDS * TOPICS)
        .map(|i| {
            let word = i / TOPICS;
            let anywhere: f64 = running[word * TOPICS..][..TOPICS].iter().sum();
            counts[word] * running[i] / anywhere
        })
        .collect();
    let totals: Vec<f64> = (0..TOPICS).map(|k| tokens.iter().skip(k).step_by(TOPICS).sum()).collect();
    let expected: Vec<f64> = (0..WORDS * TOPICS)
        .map(|i| (1.0 - share) * tokens[i] / totals[i % TOPICS] + share / WORDS as f64)
        .collect();
    let found = trainer.topics().unwrap();
    assert_close("beta", &found.beta, &expected, 1e-10);
    let everything = train(settings.clone(), &batches);
    assert!(distance(&found.beta, &reported(&settings, &everything).beta) > 0.1, "it matters here");
    assert_eq!(learnt(&trainer).state, everything.state, "what is learnt does not depend on it");

    // One that remembers everything reports what is counted without a memory.
    let endless = Method { averaging: Averaging::RecentFrequencies(1 << 40), ..settings.method };
    let mut trainer = Trainer::new(Settings { method: endless, ..settings.clone() }, 1).unwrap();
    batches.iter().for_each(|batch| assert!(trainer.partial_fit(batch).is_ok()));
    assert_close("beta", &trainer.topics().unwrap().beta, &reported(&settings, &everything).beta, 1e-6);
}

/// A run that was interrupted, and one that goes on from a model without a memory.
#[test]
fn the_memory_of_frequencies_is_part_of_what_was_learnt() {
    let settings = with_frequencies(SOFT, Smoothing::Share(0.04));
    let method = Method { averaging: Averaging::RecentFrequencies(30), ..settings.method };
    let recent = Settings { method, ..settings.clone() };
    let batches = drifting();
    let mut undisturbed = Trainer::new(recent.clone(), 1).unwrap();
    batches.iter().for_each(|batch| assert!(undisturbed.partial_fit(batch).is_ok()));
    let mut first = Trainer::new(recent.clone(), 1).unwrap();
    batches[..5].iter().for_each(|batch| assert!(first.partial_fit(batch).is_ok()));
    let mut second = Trainer::resume(recent.clone(), first.into_fitted().unwrap(), 1).unwrap();
    batches[5..].iter().for_each(|batch| assert!(second.partial_fit(batch).is_ok()));
    assert_eq!(second.fitted().unwrap().hash(), undisturbed.fitted().unwrap().hash());
    assert_eq!(second.topics(), undisturbed.topics());

    let mut plain = Trainer::new(settings, 1).unwrap();
    batches[..5].iter().for_each(|batch| assert!(plain.partial_fit(batch).is_ok()));
    let mut begun = Trainer::resume(recent, plain.into_fitted().unwrap(), 1).unwrap();
    batches[5..].iter().for_each(|batch| assert!(begun.partial_fit(batch).is_ok()));
    // After twice the memory little is left of how it began.
    let (found, expected) = (begun.topics().unwrap().beta, undisturbed.topics().unwrap().beta);
    assert!(distance(&found, &expected) < 0.2);
}
