//! How well the best words of a topic go together: how often they meet in documents (science.md 5.5).
//!
//! One pass over a corpus counts, for the best words of all topics, the windows that contain a word and those that
//! contain two words of one topic. Memory depends on the number of topics and best words alone. NPMI slides a window of
//! 10 tokens over each document, C_V one of 110, UMass takes documents whole; documents without an order of words are
//! one window for all three.

use super::Document;
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// Keeps logarithms of pairs that never meet finite.
const EPSILON: f64 = 1e-12;

/// Tokens in a window of NPMI, of C_V, and of UMass, which takes a document as a whole.
const WINDOWS: [usize; 3] = [10, 110, usize::MAX];
const NPMI: usize = 0;
const C_V: usize = 1;
const UMASS: usize = 2;

/// What UMass adds to the number of documents in which two words meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UmassSmoothing {
    /// One document, as Mimno et al. (2011) do.
    #[default]
    One,
    /// A share of 1e-12 of all documents, as some libraries do.
    Epsilon,
}

/// Coherence of one topic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TopicCoherence {
    /// Mean normalised pointwise mutual information of two words, from -1 (never meet) to 1 (always together).
    pub npmi: f64,
    /// Mean cosine between the NPMI vector of a word and the sum of those of all words, from 0 to 1.
    pub c_v: f64,
    /// Mean log probability to meet a word in the documents of a better one; at most about 0.
    pub umass: f64,
}

/// Coherence of all topics.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Coherence {
    /// Topic by topic.
    pub topics: Vec<TopicCoherence>,
    /// Means over topics.
    pub mean: TopicCoherence,
    /// Share of distinct words among the best words of all topics.
    pub diversity: f64,
    /// Documents counted.
    pub documents: u64,
}

/// Counts how often the best words of topics meet.
#[derive(Clone, Debug)]
pub struct CoherenceCounter {
    /// Best words of each topic, as places in the counts.
    topics: Vec<Vec<u32>>,
    /// Places of word ids.
    places: FxHashMap<u32, u32>,
    /// For each word, the words of higher place that it shares a topic with, and the place of the pair.
    partners: Vec<Vec<(u32, u32)>>,
    pairs: FxHashMap<(u32, u32), u32>,
    counts: [Counts; 3],
    documents: u64,
    /// Of each word, the windows of the document at hand that contain it: first and last start, ascending.
    spans: Vec<Vec<(usize, usize)>>,
    /// Of each word, its places in the document at hand.
    positions: Vec<Vec<usize>>,
    present: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    windows: u64,
    words: Vec<u64>,
    pairs: Vec<u64>,
}

impl CoherenceCounter {
    /// Nothing counted yet; `best` holds the best words of each topic, the best first.
    pub fn new(best: &[Vec<u32>]) -> Result<Self> {
        if let Some(topic) = best.iter().position(|words| words.len() < 2) {
            let problem = format!("topic {topic} has fewer than two words to compare");
            return Err(Error::setting("words", problem, "ask for at least 2 words per topic"));
        }
        let (mut places, mut pairs) = (FxHashMap::default(), FxHashMap::default());
        let mut place = |word: u32| {
            let next = places.len() as u32;
            *places.entry(word).or_insert(next)
        };
        let topics: Vec<Vec<u32>> =
            best.iter().map(|words| words.iter().map(|&word| place(word)).collect()).collect();
        let mut partners = vec![Vec::new(); places.len()];
        for words in &topics {
            for (a, b) in ordered_pairs(words) {
                let next = pairs.len() as u32;
                pairs.entry((a, b)).or_insert_with(|| {
                    partners[a as usize].push((b, next));
                    next
                });
            }
        }
        let empty = Counts { windows: 0, words: vec![0; places.len()], pairs: vec![0; pairs.len()] };
        Ok(Self {
            spans: vec![Vec::new(); places.len()],
            positions: vec![Vec::new(); places.len()],
            counts: [empty.clone(), empty.clone(), empty],
            documents: 0,
            present: Vec::new(),
            topics,
            places,
            partners,
            pairs,
        })
    }

    /// Counts a document whose words have no order.
    pub fn add_bag(&mut self, document: &Document) {
        let words = document.words.iter().map(|&(word, _)| word);
        let present = words.filter_map(|word| self.places.get(&word).copied());
        for place in present {
            self.positions[place as usize].push(0);
            self.present.push(place);
        }
        self.count(1);
    }

    /// Counts a document whose tokens stand in order; `None` is a token of a word without an id.
    pub fn add_tokens(&mut self, tokens: &[Option<u32>]) {
        for (position, word) in tokens.iter().enumerate() {
            let Some(&place) = word.and_then(|word| self.places.get(&word)) else { continue };
            if self.positions[place as usize].is_empty() {
                self.present.push(place);
            }
            self.positions[place as usize].push(position);
        }
        self.count(tokens.len());
    }

    /// Counts the windows of the document at hand, and forgets it.
    fn count(&mut self, length: usize) {
        self.documents += 1;
        for (counts, window) in self.counts.iter_mut().zip(WINDOWS) {
            // A document shorter than the window is one window.
            let last_start = length.saturating_sub(window);
            counts.windows += last_start as u64 + 1;
            for &word in &self.present {
                let spans = &mut self.spans[word as usize];
                spans.clear();
                for &position in &self.positions[word as usize] {
                    let start = (position + 1).saturating_sub(window);
                    let end = position.min(last_start);
                    match spans.last_mut() {
                        Some((_, last)) if start <= *last + 1 => *last = end,
                        _ => spans.push((start, end)),
                    }
                }
                counts.words[word as usize] +=
                    spans.iter().map(|(start, end)| (end - start + 1) as u64).sum::<u64>();
            }
            for &word in &self.present {
                for &(partner, pair) in &self.partners[word as usize] {
                    if !self.positions[partner as usize].is_empty() {
                        counts.pairs[pair as usize] +=
                            overlap(&self.spans[word as usize], &self.spans[partner as usize]);
                    }
                }
            }
        }
        for word in self.present.drain(..) {
            self.positions[word as usize].clear();
        }
    }

    /// The coherence of all topics.
    pub fn finish(&self, smoothing: UmassSmoothing) -> Result<Coherence> {
        if self.documents == 0 {
            let advice = "give the documents that the words are to be looked for in";
            return Err(Error::setting("documents", "there is none to count words in", advice));
        }
        let topics: Vec<TopicCoherence> = self
            .topics
            .iter()
            .map(|words| TopicCoherence {
                npmi: self.mean_npmi(words),
                c_v: self.c_v(words),
                umass: self.umass(words, smoothing),
            })
            .collect();
        let mean =
            |value: fn(&TopicCoherence) -> f64| topics.iter().map(value).sum::<f64>() / topics.len() as f64;
        let mean = TopicCoherence { npmi: mean(|t| t.npmi), c_v: mean(|t| t.c_v), umass: mean(|t| t.umass) };
        let words = self.topics.iter().map(Vec::len).sum::<usize>();
        let diversity = self.places.len() as f64 / words as f64;
        Ok(Coherence { topics, mean, diversity, documents: self.documents })
    }

    /// Windows that contain both words, which may be the same one.
    fn joint_count(&self, measure: usize, a: u32, b: u32) -> u64 {
        let counts = &self.counts[measure];
        if a == b {
            return counts.words[a as usize];
        }
        self.pairs.get(&(a.min(b), a.max(b))).map_or(0, |&pair| counts.pairs[pair as usize])
    }

    /// Normalised pointwise mutual information. Words that are in every window together have 1, words that are
    /// nowhere -1: the formula has no value there.
    fn npmi(&self, measure: usize, a: u32, b: u32) -> f64 {
        let counts = &self.counts[measure];
        let share = |windows: u64| windows as f64 / counts.windows as f64;
        let (alone_a, alone_b) = (share(counts.words[a as usize]), share(counts.words[b as usize]));
        let together = share(self.joint_count(measure, a, b));
        if together >= 1.0 {
            return 1.0;
        }
        if alone_a * alone_b <= 0.0 {
            return -1.0;
        }
        libm::log((together + EPSILON) / (alone_a * alone_b)) / -libm::log(together + EPSILON)
    }

    fn mean_npmi(&self, words: &[u32]) -> f64 {
        mean_of(ordered_pairs(words).map(|(a, b)| self.npmi(NPMI, a, b)))
    }

    fn c_v(&self, words: &[u32]) -> f64 {
        let vector = |&word: &u32| words.iter().map(|&other| self.npmi(C_V, word, other)).collect();
        let vectors: Vec<Vec<f64>> = words.iter().map(vector).collect();
        let sum: Vec<f64> =
            (0..words.len()).map(|place| vectors.iter().map(|vector| vector[place]).sum()).collect();
        mean_of(vectors.iter().map(|vector| cosine(vector, &sum)))
    }

    /// Words come by falling weight, so the earlier one of a pair is the better one.
    fn umass(&self, words: &[u32], smoothing: UmassSmoothing) -> f64 {
        let counts = &self.counts[UMASS];
        let added = match smoothing {
            UmassSmoothing::One => 1.0,
            UmassSmoothing::Epsilon => EPSILON * counts.windows as f64,
        };
        let pairs = words.iter().enumerate().flat_map(|(i, &later)| {
            words[..i].iter().map(move |&better| {
                // A word that is nowhere is counted as if it were in one document.
                let documents = counts.words[better as usize].max(1) as f64;
                libm::log((self.joint_count(UMASS, better, later) as f64 + added) / documents)
            })
        });
        mean_of(pairs)
    }
}

/// All pairs of different words, the smaller place first.
fn ordered_pairs(words: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    words.iter().enumerate().flat_map(|(i, &a)| words[..i].iter().map(move |&b| (a.min(b), a.max(b))))
}

/// Numbers that two lists of disjoint ascending ranges share.
fn overlap(a: &[(usize, usize)], b: &[(usize, usize)]) -> u64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (start, end) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
        if start <= end {
            shared += (end - start + 1) as u64;
        }
        if a[i].1 < b[j].1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    shared
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    sum / count as f64
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(best: &[Vec<u32>], documents: &[&[u32]]) -> CoherenceCounter {
        let mut counter = CoherenceCounter::new(best).unwrap();
        for tokens in documents {
            counter.add_tokens(&tokens.iter().map(|&word| Some(word)).collect::<Vec<_>>());
        }
        counter
    }

    /// Four documents shorter than any window: word 0 in three of them, word 1 in two, together in one.
    #[test]
    fn hand_computed() {
        let documents: [&[u32]; 4] = [&[0, 1], &[0, 2], &[0, 0, 2], &[1]];
        let coherence = counted(&[vec![0, 1]], &documents).finish(UmassSmoothing::One).unwrap();
        let topic = coherence.topics[0];
        let npmi = libm::log(0.25 / (0.75 * 0.5)) / -libm::log(0.25);
        assert!((topic.npmi - npmi).abs() < 1e-9, "{topic:?}");
        assert!((topic.umass - libm::log(2.0 / 3.0)).abs() < 1e-12, "{topic:?}");
        // Vectors (1, npmi) and (npmi, 1); their sum points to (1, 1).
        let cosine = (1.0 + npmi) / (2.0 * (1.0 + npmi * npmi)).sqrt();
        assert!((topic.c_v - cosine).abs() < 1e-9, "{topic:?}");
        assert_eq!((coherence.documents, coherence.diversity), (4, 1.0));
        let library = counted(&[vec![0, 1]], &documents).finish(UmassSmoothing::Epsilon).unwrap();
        assert!((library.mean.umass - libm::log(1.0 / 3.0)).abs() < 1e-9);
    }

    #[test]
    fn always_together_and_never() {
        let coherence = counted(&[vec![0, 1], vec![0, 2], vec![8, 9]], &[&[0, 1], &[2], &[0, 1], &[2]]);
        let coherence = coherence.finish(UmassSmoothing::One).unwrap();
        assert!((coherence.topics[0].npmi - 1.0).abs() < 1e-9);
        assert!((coherence.topics[1].npmi + 1.0).abs() < 0.1);
        assert_eq!(coherence.topics[2].npmi, -1.0, "words that are nowhere");
        assert_eq!(coherence.diversity, 5.0 / 6.0);
        let everywhere = counted(&[vec![0, 1]], &[&[0, 1], &[1, 0]]).finish(UmassSmoothing::One).unwrap();
        assert_eq!(everywhere.topics[0].npmi, 1.0);
    }

    /// The windows themselves, one after the other: slow and obvious.
    fn slow_counts(documents: &[Vec<Option<u32>>], window: usize, a: u32, b: u32) -> (u64, u64, u64) {
        let (mut windows, mut one, mut both) = (0, 0, 0);
        for tokens in documents {
            for start in 0..=tokens.len().saturating_sub(window) {
                let seen = &tokens[start..tokens.len().min(start.saturating_add(window))];
                let has = |word: u32| seen.contains(&Some(word));
                windows += 1;
                one += u64::from(has(a));
                both += u64::from(has(a) && has(b));
            }
        }
        (windows, one, both)
    }

    #[test]
    fn sliding_windows_equal_their_enumeration() {
        let mut random = crate::numerics::random::Seed(3).stream(crate::numerics::random::Purpose::Initial, [0, 0]);
        let documents: Vec<Vec<Option<u32>>> = (0..40)
            .map(|_| {
                let length = random.below(300);
                (0..length).map(|_| Some(random.below(40) as u32).filter(|&word| word < 30)).collect()
            })
            .collect();
        let best = vec![vec![0, 1, 2], vec![2, 7, 1], vec![29, 3, 4]];
        let mut counter = CoherenceCounter::new(&best).unwrap();
        documents.iter().for_each(|tokens| counter.add_tokens(tokens));
        for (measure, window) in WINDOWS.into_iter().enumerate() {
            for words in &best {
                for (a, b) in ordered_pairs(words) {
                    let (windows, one, both) = slow_counts(&documents, window, a, b);
                    let place = |word: u32| counter.places[&word];
                    let counts = &counter.counts[measure];
                    let found = (
                        counts.windows,
                        counts.words[place(a) as usize],
                        counter.joint_count(measure, place(a), place(b)),
                    );
                    assert_eq!(found, (windows, one, both), "window {window}, words {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn bags_are_one_window() {
        let best = [vec![0, 1], vec![1, 2]];
        let documents: [&[u32]; 3] = [&[0, 1, 2], &[1], &[0, 2]];
        let mut bags = CoherenceCounter::new(&best).unwrap();
        documents.iter().for_each(|tokens| bags.add_bag(&Document::from_tokens(tokens)));
        let expected = counted(&best, &documents).finish(UmassSmoothing::One);
        assert_eq!(bags.finish(UmassSmoothing::One).unwrap(), expected.unwrap());
    }

    #[test]
    fn nothing_to_compare_is_refused() {
        let refused = CoherenceCounter::new(&[vec![1, 2], vec![1]]).unwrap_err().to_string();
        assert_eq!(
            refused,
            "words: topic 1 has fewer than two words to compare; ask for at least 2 words per topic"
        );
        assert!(CoherenceCounter::new(&[vec![1, 2]]).unwrap().finish(UmassSmoothing::One).is_err());
    }
}
