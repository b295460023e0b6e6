//! A small table of p(word | topic), on which the page tries documents without the program.

use super::report::TryTable;
use crate::corpus::{Html, Rules, Segmentation, Tokenizer};
use crate::model::topics::lda::Topics;
use rayon::prelude::*;

/// Pairs of word and topic in the table: about a megabyte in the page.
const MOST_ENTRIES: usize = 250_000;

/// Steps of the logarithm in a unit: each probability is off by at most 1.6 %.
const STEPS: f64 = 32.0;

/// An entry: its share of all tokens, word, topic.
type Candidate = (f64, u32, u32);

/// The table, with words by their ids in the vocabulary.
pub(super) fn try_table(topics: &Topics, shares: &[f64], tokenizer: &Tokenizer) -> TryTable {
    build(topics, shares, tokenizer, MOST_ENTRIES)
}

fn build(topics: &Topics, shares: &[f64], tokenizer: &Tokenizer, most: usize) -> TryTable {
    let kept = heaviest(topics, shares, most);
    let coverage = kept.iter().map(|entry| entry.0).sum::<f64>().min(1.0);
    let mut table = TryTable { steps: STEPS, coverage, ..rules_of(tokenizer) };
    for entries in kept.chunk_by(|a, b| a.1 == b.1) {
        let word = entries[0].1;
        let row = &topics.row(word)[..shares.len()];
        table.words.push(word);
        table.starts.push(table.topics.len() as u32);
        let mut rest = row.iter().sum::<f64>();
        for &(_, _, topic) in entries {
            table.topics.push(topic);
            table.codes.push(code(row[topic as usize]));
            rest -= row[topic as usize];
        }
        table.rest.push(code(rest.max(0.0) / (row.len() - entries.len()).max(1) as f64));
        table.word_coverage += row.iter().zip(shares).map(|(p, share)| p * share).sum::<f64>();
    }
    table.starts.push(table.topics.len() as u32);
    table.word_coverage = table.word_coverage.min(1.0);
    table
}

/// A table without words, with the rules that the page cuts text by. They are taken apart one by one: a new one must be
/// followed in `web/src/data/text`, or the page must say that it is not.
fn rules_of(tokenizer: &Tokenizer) -> TryTable {
    let Tokenizer {
        lowercase,
        min_length,
        ngrams,
        stop_words,
        rules,
        html,
        keep_urls,
        language,
        stop_words_of_language: _,
        segmentation,
        phrases,
        stem,
    } = tokenizer;
    let html_name = Html::NAMES.iter().find(|(_, known)| known == html).map_or("", |(name, _)| name);
    TryTable {
        lowercase: *lowercase,
        min_length: *min_length as u32,
        ngrams: *ngrams as u32,
        stop_words: stop_words.clone().into(),
        rules: match rules {
            Rules::First => "first",
            Rules::Second => "second",
        }
        .into(),
        html: html_name.into(),
        keep_urls: *keep_urls,
        language: language.code().map(str::to_owned),
        segmentation: match segmentation {
            Segmentation::Pairs => "pairs",
            Segmentation::Dictionary => "dictionary",
        }
        .into(),
        phrases: phrases.clone().into(),
        stems: stem.is_some(),
        ..TryTable::default()
    }
}

/// The pairs with the largest shares of all tokens, by word and topic.
fn heaviest(topics: &Topics, shares: &[f64], most: usize) -> Vec<Candidate> {
    // Each word gives its own best entries first, so that no more than a part of the table is held.
    let of_word = |word: u32| {
        let row = topics.row(word).iter().zip(shares).enumerate();
        row.filter(|(_, (p, share))| **p * **share > 0.0).map(move |(k, (p, share))| (p * share, word, k as u32))
    };
    let order = |a: &Candidate, b: &Candidate| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)));
    let cut = |mut some: Vec<Candidate>| {
        if some.len() > most {
            some.select_nth_unstable_by(most, order);
            some.truncate(most);
        }
        some
    };
    let words: Vec<u32> = (0..topics.vocabulary() as u32).collect();
    let mut kept = words
        .par_chunks(1 << 10)
        .map(|words| cut(words.iter().flat_map(|&word| of_word(word)).collect()))
        .reduce(Vec::new, |mut a, b| {
            a.extend(b);
            cut(a)
        });
    kept.sort_unstable_by_key(|&(_, word, topic)| (word, topic));
    kept
}

/// `-log p` in steps; what has no probability gets the last code.
fn code(probability: f64) -> u16 {
    if probability > 0.0 { (-libm::log(probability) * STEPS).round().clamp(0.0, 65535.0) as u16 } else { u16::MAX }
}

#[cfg(test)]
mod words_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::tests::random_topics;

    #[test]
    fn everything_fits_or_the_heaviest_entries_are_there() {
        let (topics, shares) = random_topics(5, 80, 11);
        let tokenizer = Tokenizer::default();
        let whole = build(&topics, &shares, &tokenizer, 400);
        assert_eq!((whole.words.len(), whole.topics.len()), (80, 400));
        assert!((whole.coverage - 1.0).abs() < 1e-9 && (whole.word_coverage - 1.0).abs() < 1e-9);
        for (place, &word) in whole.words.iter().enumerate() {
            for entry in whole.starts[place] as usize..whole.starts[place + 1] as usize {
                let p = topics.row(word)[whole.topics[entry] as usize];
                let found = libm::exp(-f64::from(whole.codes[entry]) / whole.steps);
                assert!((found / p - 1.0).abs() < 0.016, "{found} {p}");
            }
        }
        let part = build(&topics, &shares, &tokenizer, 100);
        assert_eq!(part.topics.len(), 100);
        let mut all: Vec<f64> =
            (0..80).flat_map(|word| topics.row(word).iter().zip(&shares).map(|(p, s)| p * s)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        assert!((part.coverage - all[..100].iter().sum::<f64>()).abs() < 1e-12);
        assert!(part.word_coverage >= part.coverage);
        // What is not listed has the mean of what is left.
        let place = part.starts.windows(2).position(|ends| ends[1] - ends[0] == 2).unwrap();
        let word = part.words[place];
        let listed = &part.topics[part.starts[place] as usize..][..2];
        let left: f64 = (0..5).filter(|k| !listed.contains(k)).map(|k| topics.row(word)[k as usize]).sum();
        let rest = libm::exp(-f64::from(part.rest[place]) / part.steps);
        assert!((rest / (left / 3.0) - 1.0).abs() < 0.016, "{rest} {left}");
    }
}
