//! What every method owes its users: topics that were planted in a stream are found again.

use super::*;
use gibbstream::corpus::{Length, Synthetic, Truth};
use gibbstream::evaluation::{Evaluation, Scorer, Unigram};
use gibbstream::model::topics::lda::Topics;
use std::fmt::Write;

/// Five topics over ten words each, a tenth of their mass spread over all words.
fn planted() -> Truth {
    let own = |k: usize, w: usize| if w / 10 == k { 0.09 } else { 0.0 };
    let rows = (0..5).flat_map(|k| (0..50).map(move |w| own(k, w) + 0.1 / 50.0)).collect();
    Truth::new(rows, vec![0.2; 5]).unwrap()
}

fn log_perplexity(topics: &Topics, unigram: &Unigram, documents: &[Document]) -> (f64, f64) {
    let evaluation = Evaluation { particles: 5, threads: 2, ..Evaluation::default() };
    let scorer = Scorer::new(evaluation, topics, unigram).unwrap();
    let score = scorer.score(documents.iter().cloned().map(Ok)).unwrap();
    (score.log_perplexity_per_document, score.unigram_log_perplexity_per_document)
}

/// On held-out documents every method closes at least `share` of the gap between the unigram baseline and the
/// true topics.
#[test]
fn every_method_learns_planted_topics() {
    let truth = planted();
    let beta = (0..50).flat_map(|w| (0..5).map(move |k| (k, w))).map(|(k, w)| truth.row(k)[w]).collect();
    let true_topics = Topics { beta, alpha: truth.alpha.clone() };
    let stream = Synthetic::new(truth, Length::Poisson(40.0), Seed(1), u64::MAX).unwrap();
    let documents: Vec<Document> = (0..3_000).map(|index| stream.document(index)).collect();
    let held_out: Vec<Document> = (0..150).map(|index| stream.document(1_000_000 + index)).collect();
    let mut report = String::new();
    for named in Method::NAMED {
        let (batches, usual): (Vec<Minibatch>, usize) = if named.method.whole_corpus {
            ((0..25).map(|pass| Minibatch::new(&documents[..500], 0, pass)).collect(), 500)
        } else {
            (minibatches(&documents, 50), 50)
        };
        let settings = settings(named.method.with_population(documents.len() as f64), 5, 50, usual);
        let mut trainer = Trainer::new(settings, 2).unwrap();
        batches.iter().for_each(|batch| assert!(trainer.partial_fit(batch).is_ok()));
        let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
        let (best, baseline) = log_perplexity(&true_topics, &unigram, &held_out);
        let (found, _) = log_perplexity(&trainer.topics().unwrap(), &unigram, &held_out);
        let share = (baseline - found) / (baseline - best);
        writeln!(report, "{:10} {found:8.3} nats, {:.1} % of the gap", named.name, 100.0 * share).unwrap();
        assert!(share > 0.5, "{report}the true topics {best:.3}, unigram {baseline:.3}");
    }
    println!("{report}");
}
