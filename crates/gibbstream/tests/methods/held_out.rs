//! The evidence lower bound and document completion of held-out documents, against exact values.

use super::*;
use crate::support::{assert_mean, enumerate, random_topics, reference};
use gibbstream::evaluation::completion::{Completion, halves};
use gibbstream::evaluation::elbo::Elbo;
use gibbstream::model::topics::lda::{LogTopics, Topics};

const CONVERGED: Elbo = Elbo { iterations: 10_000, tolerance: 0.0, threads: 1 };

fn bound(elbo: Elbo, topics: &LogTopics, documents: &[Document]) -> f64 {
    elbo.score(topics, documents.iter().cloned().map(Ok)).unwrap().elbo_per_document
}

#[test]
fn bound_of_the_reference_document_is_golden() {
    let (topics, tokens) = reference();
    let document = [Document::from_tokens(&tokens)];
    let logs = LogTopics::from(topics);
    for (elbo, expected, tolerance) in [
        (Elbo { iterations: 1, ..CONVERGED }, -9.239_784_975_9, 1e-10),
        (Elbo { iterations: 20, ..CONVERGED }, -8.800_196_586_8, 1e-10),
        (CONVERGED, -8.787_904_394_6, 1e-10),
        (Elbo::default(), -8.787_904_394_6, 1e-3),
    ] {
        let found = bound(elbo, &logs, &document);
        assert!((found - expected).abs() < tolerance, "{elbo:?}: {found} is not {expected}");
    }
}

#[test]
fn bound_is_below_the_likelihood_and_means_over_documents() {
    let mut random = stream(81);
    let topics = random_topics(3, 6, &mut random);
    let logs = LogTopics::from(topics.clone());
    let documents: Vec<Vec<u32>> =
        (0..130).map(|_| (0..random.below(7)).map(|_| random.below(6) as u32).collect()).collect();
    let bags: Vec<Document> = documents.iter().map(|tokens| Document::from_tokens(tokens)).collect();
    let mut sum = 0.0;
    for (tokens, bag) in documents.iter().zip(&bags) {
        let (found, exact) =
            (bound(CONVERGED, &logs, std::slice::from_ref(bag)), enumerate(&topics, tokens).log_likelihood);
        assert!(found <= exact + 1e-10, "{found} above {exact}");
        assert!(found > exact - 5.0, "{found} far below {exact}");
        assert!(!tokens.is_empty() || found == 0.0);
        sum += found;
    }
    for threads in [1, 2, 7] {
        let score = Elbo { threads, ..CONVERGED }.score(&logs, bags.iter().cloned().map(Ok)).unwrap();
        assert!((score.elbo_per_document - sum / 130.0).abs() < 1e-12);
        assert_eq!((score.documents, score.tokens), (130, bags.iter().map(Document::tokens).sum()));
        assert!(score.standard_error.unwrap() > 0.0);
    }
    assert!(Elbo::default().score(&logs, []).is_err());
}

/// One topic leaves nothing to sum out; weights below the smallest number a float holds are no obstacle.
#[test]
fn bound_in_closed_form() {
    let logs = LogTopics { log_weights: vec![-2.0, -1000.0, -0.5], alpha: vec![0.3] };
    let document = Document { words: vec![(0, 2), (1, 3), (7, 4)], ..Document::default() };
    let score = CONVERGED.score(&logs, [Ok(document)]).unwrap();
    assert!((score.elbo_per_document + 3004.0).abs() < 1e-9, "{}", score.elbo_per_document);
    assert_eq!((score.tokens, score.out_of_vocabulary_tokens), (5, 4));
    let impossible = LogTopics {
        log_weights: vec![-2.0, -2.0, f64::NEG_INFINITY, f64::NEG_INFINITY],
        alpha: vec![0.3; 2],
    };
    assert_eq!(bound(CONVERGED, &impossible, &[Document::from_tokens(&[0, 1])]), f64::NEG_INFINITY);
    // A factor of a word is a shift of the bound, however large.
    let (topics, tokens) = reference();
    let mut shifted = LogTopics::from(topics);
    shifted.log_weights[..3].iter_mut().for_each(|log| *log -= 900.0);
    let found = bound(CONVERGED, &shifted, &[Document::from_tokens(&tokens)]);
    assert!((found - (-8.787_904_394_6 - 1800.0)).abs() < 1e-9, "{found}");
}

/// Under a Bayesian rule the bound uses `E[log beta]`, which lies below `log E[beta]`.
#[test]
fn bound_of_a_posterior() {
    let documents = grouped(60, 4, 30, 20, 82);
    let settings = settings(Method::OLDA.with_population(60.0), 4, 30, 10);
    let learnt = train(settings.clone(), &minibatches(&documents, 10));
    let posterior = bound(
        CONVERGED,
        &settings.log_topics(&learnt.state, &learnt.clock, &learnt.seen()),
        &documents[..20],
    );
    let plug_in = bound(CONVERGED, &reported(&settings, &learnt).into(), &documents[..20]);
    assert!(posterior < plug_in && posterior > plug_in - 0.2 * plug_in.abs(), "{posterior}, {plug_in}");
}

fn completion(settings: Completion, topics: &Topics, documents: &[Document]) -> Option<f64> {
    settings.score(topics, documents.iter().cloned().map(Ok)).unwrap().completion_log_likelihood_per_token
}

/// The halves that a seed gives a document, as words.
fn halves_of(document: &Document, seed: Seed) -> (Vec<u32>, Vec<u32>) {
    let batch = Minibatch::new(std::slice::from_ref(document), 0, 0);
    let mut random = seed.stream(Purpose::Completion, [batch.content_key(0), 0]);
    let mut tokens = Vec::new();
    let (observed, hidden) = halves(batch.document(0), &mut random, &mut tokens);
    let word = |&row: &u32| document.words[row as usize].0;
    (observed.iter().map(word).collect(), hidden.iter().map(word).collect())
}

/// The proportions that the observed half leaves are known by enumeration; so is the score. 150 seeds with 3,000
/// kept sweeps each; the bias of the logarithm (about the variance over twice the sweeps) is far below the error.
#[test]
fn completion_is_exact_on_tiny_documents() {
    let (topics, _) = reference();
    for tokens in [vec![0, 0, 2, 3, 1], vec![2, 2, 2, 0, 3, 3, 1, 0], vec![1]] {
        let document = Document::from_tokens(&tokens);
        let mut differences = Vec::new();
        for seed in 0..150 {
            let settings = Completion { sweeps: 3_050, kept: 3_000, seed: Seed(seed), threads: 1 };
            let (observed, hidden) = halves_of(&document, Seed(seed));
            assert_eq!((observed.len(), hidden.len()), (tokens.len() / 2, tokens.len().div_ceil(2)));
            let exact = enumerate(&topics, &observed);
            let total = observed.len() as f64 + 1.0;
            let theta: Vec<f64> =
                (0..3).map(|k| (exact.counts[k].iter().sum::<f64>() + topics.alpha[k]) / total).collect();
            let probability =
                |&word: &u32| topics.row(word).iter().zip(&theta).map(|(p, t)| p * t).sum::<f64>();
            let expected = hidden.iter().map(|word| libm::log(probability(word))).sum::<f64>();
            let found = completion(settings, &topics, std::slice::from_ref(&document)).unwrap();
            differences.push(found - expected / hidden.len() as f64);
        }
        assert_mean(&format!("{tokens:?}"), &differences, 0.0);
        assert!(differences.iter().all(|difference| difference.abs() < 0.05));
    }
}

#[test]
fn completion_with_one_topic_is_known() {
    let topics = Topics { beta: vec![0.5, 0.3, 0.2], alpha: vec![0.7] };
    let documents = grouped(200, 3, 3, 9, 83);
    let (mut sum, mut tokens) = (0.0, 0);
    for document in &documents {
        let (_, hidden) = halves_of(document, Seed::default());
        sum += hidden.iter().map(|&word| libm::log(topics.row(word)[0])).sum::<f64>();
        tokens += hidden.len() as u64;
    }
    for threads in [1, 2, 7] {
        let settings = Completion { threads, ..Completion::default() };
        let score = settings.score(&topics, documents.iter().cloned().map(Ok)).unwrap();
        assert_eq!((score.documents, score.completed_tokens), (200, tokens));
        let found = score.completion_log_likelihood_per_token.unwrap();
        assert!((found - sum / tokens as f64).abs() < 1e-12);
    }
}

#[test]
fn completion_of_odd_documents() {
    let topics = Topics { beta: vec![1.0, 1.0, 0.0, 0.0], alpha: vec![0.7; 2] };
    assert_eq!(completion(Completion::default(), &topics, &[Document::default()]), None);
    let impossible = Document::from_tokens(&[1]);
    assert_eq!(completion(Completion::default(), &topics, &[impossible]), Some(f64::NEG_INFINITY));
    let unknown = Document::from_tokens(&[5, 5, 0]);
    let score = Completion::default().score(&topics, [Ok(unknown)]).unwrap();
    assert_eq!((score.completed_tokens, score.out_of_vocabulary_tokens), (1, 2));
    assert!(Completion { kept: 0, ..Completion::default() }.score(&topics, []).is_err());
    assert!(Completion { kept: 101, ..Completion::default() }.score(&topics, []).is_err());
}

/// Company and order do not change a document's part.
#[test]
fn results_depend_on_the_document_alone() {
    let mut random = stream(84);
    let topics = random_topics(4, 20, &mut random);
    let documents = grouped(100, 4, 20, 15, 85);
    let part = |documents: &[Document]| {
        let tokens: u64 = documents.iter().map(|document| document.tokens().div_ceil(2)).sum();
        completion(Completion::default(), &topics, documents).unwrap() * tokens as f64
    };
    let apart = part(&documents[..37]) + part(&documents[37..]);
    let mut reversed = documents.clone();
    reversed.reverse();
    assert!((part(&documents) - apart).abs() < 1e-9 && (part(&reversed) - apart).abs() < 1e-9);
}
