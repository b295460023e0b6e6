//! A document from a row of a matrix: numbers of occurrences that may be fractions, in any order.

use crate::corpus::{Document, MAX_DOCUMENT_TOKENS};
use crate::numerics::random::{Purpose, Seed, mix};

/// What is wrong with the weight of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BadWeight {
    /// It is negative, infinite or not a number.
    NotACount {
        /// The word.
        word: u32,
        /// Its weight.
        weight: f64,
    },
    /// All together are more than [`MAX_DOCUMENT_TOKENS`].
    TooMany,
}

impl Document {
    /// A document from weights of words, which it sorts. Weights of the same word are added up, zeros left out.
    ///
    /// A weight of 2.3 becomes 3 with probability 0.3 and 2 otherwise, so that it is right on average. The random
    /// numbers depend on the weights of the document alone: the same document becomes the same counts wherever it is met.
    pub fn from_weights(weights: &mut Vec<(u32, f64)>) -> Result<Self, BadWeight> {
        if let Some(&(word, weight)) =
            weights.iter().find(|(_, weight)| !(*weight >= 0.0 && weight.is_finite()))
        {
            return Err(BadWeight::NotACount { word, weight });
        }
        if !weights.is_sorted_by(|a, b| a.0 < b.0) {
            // A stable order, so that sums of fractions have one too.
            weights.sort_by_key(|&(word, _)| word);
            weights.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        if weights.iter().map(|(_, weight)| weight).sum::<f64>() > MAX_DOCUMENT_TOKENS as f64 {
            return Err(BadWeight::TooMany);
        }
        let whole = weights.iter().all(|(_, weight)| weight.fract() == 0.0);
        let count = |&(word, weight): &(u32, f64)| (word, weight as u32);
        let mut words: Vec<(u32, u32)> = weights.iter().map(count).collect();
        if !whole {
            let key = weights.iter().fold(0x1319_8a2e_0370_7344, |key: u64, &(word, weight)| {
                mix(mix(key.rotate_left(23) ^ weight.to_bits()).wrapping_add(u64::from(word)))
            });
            let mut random = Seed(0).stream(Purpose::Rounding, [key, 0]);
            for ((_, count), (_, weight)) in words.iter_mut().zip(weights.iter()) {
                *count += u32::from(random.uniform() < weight.fract());
            }
        }
        words.retain(|&(_, count)| count > 0);
        Ok(Self { words, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_added_up() {
        let document = Document::from_weights(&mut vec![(5, 2.0), (1, 1.0), (5, 1.0), (2, 0.0)]).unwrap();
        assert_eq!(document.words, [(1, 1), (5, 3)]);
        assert_eq!(Document::from_weights(&mut vec![]).unwrap(), Document::default());
    }

    /// The mean of 40,000 roundings is within 4.5 standard errors: wrongly refused once in 150,000 seeds.
    #[test]
    fn fractions_are_rounded_without_bias_and_the_same_every_time() {
        let rows = 40_000;
        let mut total = 0;
        for row in 0..rows {
            // The second word makes the rows different.
            let mut weights = vec![(0, 2.3), (1, 1.0 + f64::from(row))];
            let document = Document::from_weights(&mut weights).unwrap();
            assert_eq!(document, Document::from_weights(&mut weights).unwrap());
            assert!(document.words[0].1 == 2 || document.words[0].1 == 3);
            assert_eq!(document.words[1], (1, 1 + row), "whole numbers stay as they are");
            total += document.words[0].1;
        }
        let mean = f64::from(total) / f64::from(rows);
        let error = (0.3 * 0.7 / f64::from(rows)).sqrt();
        assert!((mean - 2.3).abs() < 4.5 * error, "{mean}");
    }

    #[test]
    fn what_is_not_a_count_is_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let refused = Document::from_weights(&mut vec![(0, 1.0), (3, bad)]).unwrap_err();
            assert!(matches!(refused, BadWeight::NotACount { word: 3, .. }), "{refused:?}");
        }
        let large = MAX_DOCUMENT_TOKENS as f64;
        assert_eq!(Document::from_weights(&mut vec![(0, large), (1, 1.0)]), Err(BadWeight::TooMany));
        assert!(Document::from_weights(&mut vec![(0, large)]).is_ok());
    }
}
