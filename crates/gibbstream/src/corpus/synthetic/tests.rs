//! Statistical tests with fixed seeds: they pass or fail for ever. For a correct generator each check had a
//! chance below 7e-6 to be unlucky with its seed (|z| < 4.5, two-sided).

use super::*;
use crate::numerics::random::tests::{Z, check_moments, chi_square_z};

const SEED: Seed = Seed(11);

fn random(topics: usize, vocabulary: usize) -> Truth {
    Truth::random(topics, vocabulary, 0.1, 0.2, SEED).unwrap()
}

fn count(documents: Synthetic) -> Vec<u64> {
    let mut counts = vec![0; documents.truth().vocabulary_size];
    for document in documents {
        for (word, count) in document.unwrap().words {
            counts[word as usize] += u64::from(count);
        }
    }
    counts
}

#[test]
fn a_document_does_not_depend_on_the_ones_before() {
    let all = Synthetic::new(random(5, 50), Length::Poisson(20.0), SEED, 100).unwrap();
    let drawn: Vec<Document> = all.clone().map(Result::unwrap).collect();
    assert_eq!(drawn.len(), 100);
    assert_eq!(all.size_hint(), (100, Some(100)));
    for start in [1, 50, 99, 100, 1_000] {
        let rest: Vec<Document> = all.clone().skip(start).map(Result::unwrap).collect();
        assert_eq!(rest, drawn[start.min(100)..], "skip {start}");
    }
    assert_eq!(all.document(63), drawn[63]);
    let mut endless = Synthetic::new(random(5, 50), Length::Poisson(20.0), SEED, u64::MAX).unwrap();
    assert_eq!(endless.nth(63).unwrap().unwrap(), drawn[63]);
    assert!(endless.nth(usize::MAX - 1_000).is_some() && endless.nth(usize::MAX).is_none());
    let other = Synthetic::new(random(5, 50), Length::Poisson(20.0), Seed(12), 100).unwrap();
    assert_ne!(other.document(63), drawn[63]);
}

#[test]
fn bits_never_change() {
    let document = Synthetic::new(random(5, 50), Length::Poisson(20.0), SEED, 1).unwrap().document(0);
    assert_eq!(
        document.words,
        [(1, 2), (3, 1), (4, 4), (21, 1), (23, 1), (26, 1), (33, 3), (37, 1), (47, 1)]
    );
}

#[test]
fn a_topic_does_not_depend_on_the_number_of_topics() {
    assert_eq!(random(3, 40).topics, random(7, 40).topics[..120]);
    assert_ne!(random(3, 40).row(0), random(3, 40).row(1));
}

/// Documents of one token are independent draws from the mean topic, so Pearson's statistic applies.
#[test]
fn words_of_short_documents_follow_the_mean_topic() {
    let mut truth = random(6, 300);
    truth.alpha = vec![0.05, 0.1, 0.2, 0.4, 0.8, 1.6];
    let total: f64 = truth.alpha.iter().sum();
    let law: Vec<f64> =
        (0..300).map(|v| (0..6).map(|k| truth.alpha[k] / total * truth.row(k)[v]).sum()).collect();
    let counts = count(Synthetic::new(truth, Length::Fixed(1), SEED, 500_000).unwrap());
    assert_eq!(counts.iter().sum::<u64>(), 500_000);
    let z = chi_square_z(&counts, &law);
    assert!(z.abs() < Z, "z = {z}");
}

/// With a single topic all tokens are independent; words of probability zero never occur.
#[test]
fn words_of_one_topic_follow_it() {
    let laws = [random(1, 2_000).topics, vec![0.0, 0.25, 0.0, 0.75, 0.0], vec![1.0], vec![0.1; 10]];
    for law in laws {
        let truth = Truth::new(law.clone(), vec![0.3]).unwrap();
        let counts = count(Synthetic::new(truth, Length::Fixed(100), SEED, 10_000).unwrap());
        assert!(law.len() > 1 || counts == [1_000_000]);
        let z = if law.len() > 1 { chi_square_z(&counts, &law) } else { 0.0 };
        assert!(z.abs() < Z, "{} words: z = {z}", law.len());
    }
}

/// With topics on disjoint words the topic of each token can be seen, and the counts of the topics follow the
/// Dirichlet-multinomial law.
#[test]
fn topic_counts_are_dirichlet_multinomial() {
    let alpha = [0.1, 0.5, 2.0];
    let mut topics = vec![0.0; 9];
    for k in 0..3 {
        topics[k * 3 + k] = 1.0;
    }
    let (total, length) = (alpha.iter().sum::<f64>(), 30.0);
    let documents =
        Synthetic::new(Truth::new(topics, alpha.to_vec()).unwrap(), Length::Fixed(30), SEED, 200_000)
            .unwrap();
    let mut counts = vec![Vec::new(); 3];
    for document in documents {
        let words = document.unwrap().words;
        for (k, counts) in counts.iter_mut().enumerate() {
            let found = words.iter().find(|&&(word, _)| word as usize == k);
            counts.push(found.map_or(0.0, |&(_, count)| f64::from(count)));
        }
    }
    for (k, counts) in counts.iter().enumerate() {
        let p = alpha[k] / total;
        let variance = length * p * (1.0 - p) * (length + total) / (1.0 + total);
        let mean = length * p;
        let fourth = counts.iter().map(|x| libm::pow(x - mean, 4.0)).sum::<f64>() / counts.len() as f64;
        check_moments(&format!("topic {k}"), counts, mean, variance, fourth);
    }
}

#[test]
fn lengths_are_as_asked() {
    let lengths = |length| -> Vec<f64> {
        let documents = Synthetic::new(random(3, 20), length, SEED, 100_000).unwrap();
        documents.map(|document| document.unwrap().tokens() as f64).collect()
    };
    assert!(lengths(Length::Fixed(7)).iter().all(|&tokens| tokens == 7.0));
    for mean in [0.5, 60.0] {
        check_moments("length", &lengths(Length::Poisson(mean)), mean, mean, mean + 3.0 * mean * mean);
    }
}

#[test]
fn bad_settings_say_which_and_what_to_do() {
    let refused = |truth: Result<Truth>| truth.unwrap_err().to_string();
    let random = |k, v, c, a| Truth::random(k, v, c, a, SEED);
    assert!(refused(random(0, 5, 0.1, 0.1)).starts_with("topics: "));
    assert!(refused(random(5, 0, 0.1, 0.1)).starts_with("vocab: "));
    assert!(refused(random(5, 1 << 40, 0.1, 0.1)).starts_with("vocab: "));
    assert!(refused(random(usize::MAX, 1 << 30, 0.1, 0.1)).starts_with("topics, vocab: "));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
        assert!(refused(random(5, 5, bad, 0.1)).starts_with("topic concentration: "), "{bad}");
        assert!(refused(random(5, 5, 0.1, bad)).starts_with("alpha: "), "{bad}");
        assert!(refused(Truth::new(vec![1.0; 2], vec![1.0, bad])).starts_with("alpha: "), "{bad}");
    }
    let laws = [vec![], vec![0.5, 0.5, 1.0], vec![0.5, 0.5, 1.5, -0.5], vec![0.5, 0.5, 0.5, 0.6]];
    for rows in laws.into_iter().chain([vec![0.5, 0.5, f64::NAN, 1.0]]) {
        assert!(Truth::new(rows.clone(), vec![0.1; 2]).is_err(), "{rows:?}");
    }
    assert!(refused(Truth::new(vec![1.0], vec![])).contains("use at least 1"));
    let truth = random(2, 2, 0.1, 0.1).unwrap();
    let endless = [Length::Poisson(f64::INFINITY), Length::Poisson(1e8), Length::Fixed(u64::MAX)];
    let empty = [Length::Fixed(0), Length::Poisson(0.0), Length::Poisson(-3.0), Length::Poisson(f64::NAN)];
    for length in endless.into_iter().chain(empty) {
        let refused = Synthetic::new(truth.clone(), length, SEED, 1).unwrap_err().to_string();
        assert!(refused.starts_with("length: ") && refused.contains("; use "), "{refused}");
    }
}
