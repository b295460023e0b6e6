//! Which topic of one model is which topic of another: the assignment of least total distance (science.md 5.4).

use crate::corpus::Vocabulary;
use crate::error::{Error, Result};
use crate::learn::TopicParameters;
use crate::model::topics::lda::Topics;
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Share of both topics that is spread evenly over all words before their divergence is taken, so that a word that only
/// one of them knows does not make it infinite.
const SMOOTHING: f64 = 1e-9;

/// The assignment wants whole numbers; a billionth is precise enough.
const UNIT: f64 = 1e-9;

/// How different two topics are, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Jensen-Shannon divergence: symmetric, at most log 2.
    #[default]
    JensenShannon,
    /// Kullback-Leibler divergence of the second from the first.
    KullbackLeibler,
}

impl std::str::FromStr for Distance {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "jensen-shannon" => Ok(Self::JensenShannon),
            "kl" => Ok(Self::KullbackLeibler),
            _ => Err(Error::setting("distance", format!("there is no `{name}`"), "use jensen-shannon or kl")),
        }
    }
}

/// Two topics that belong together.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Pair {
    /// Topic of the first model.
    pub a: usize,
    /// Topic of the second model.
    pub b: usize,
    /// Their distance.
    pub distance: f64,
}

/// Topics with rows of words, as two models share them.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicRows {
    rows: Vec<Vec<f64>>,
}

impl TopicRows {
    /// The topics of a model over `words` words: `places` says which of them each of its own words is.
    pub fn new(topics: &Topics, words: usize, places: impl Fn(u32) -> usize) -> Self {
        let mut rows = vec![vec![SMOOTHING / words as f64; words]; topics.topics()];
        for word in 0..topics.vocabulary() as u32 {
            let place = places(word);
            for (row, probability) in rows.iter_mut().zip(topics.row(word)) {
                row[place] += (1.0 - SMOOTHING) * probability;
            }
        }
        Self { rows }
    }

    /// The first so many alone: what a model with an open number of topics has in its last row is not a topic.
    #[must_use]
    pub fn keep_first(mut self, topics: usize) -> Self {
        self.rows.truncate(topics);
        self
    }
}

/// Pairs the topics that two models have met; words are matched by spelling, and every word that one of the models knows has
/// a place in both.
pub fn align_models(
    a: (&TopicParameters, &Vocabulary),
    b: (&TopicParameters, &Vocabulary),
    distance: Distance,
) -> Vec<Pair> {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for word in a.1.words().chain(b.1.words()) {
        let next = places.len();
        places.entry(word).or_insert(next);
    }
    let rows = |(parameters, words): (&TopicParameters, &Vocabulary)| {
        let place = |word| places[words.word(word)];
        TopicRows::new(&parameters.topics, places.len(), place).keep_first(parameters.met())
    };
    align(&rows(a), &rows(b), distance)
}

/// Pairs the topics of two models so that the sum of distances is least. Where one model has more topics, some of
/// them stay alone. Pairs come in the order of the model with fewer topics, the first one if they have as many.
pub fn align(a: &TopicRows, b: &TopicRows, distance: Distance) -> Vec<Pair> {
    let swapped = a.rows.len() > b.rows.len();
    let (few, many) = if swapped { (b, a) } else { (a, b) };
    let between = |i: usize, j: usize| match (distance, swapped) {
        (Distance::JensenShannon, _) => jensen_shannon(&few.rows[i], &many.rows[j]),
        (Distance::KullbackLeibler, false) => kullback_leibler(&few.rows[i], &many.rows[j]),
        (Distance::KullbackLeibler, true) => kullback_leibler(&many.rows[j], &few.rows[i]),
    };
    let (rows, columns) = (few.rows.len(), many.rows.len());
    let distances: Vec<f64> =
        (0..rows * columns).into_par_iter().map(|place| between(place / columns, place % columns)).collect();
    let at = |i: usize, j: usize| distances[i * columns + j];
    let costs = Matrix::from_fn(rows, columns, |(i, j)| (at(i, j) / UNIT) as i64);
    let (_, assignment) = kuhn_munkres_min(&costs);
    let pair = |(i, j): (usize, usize)| {
        let (a, b) = if swapped { (j, i) } else { (i, j) };
        Pair { a, b, distance: at(i, j) }
    };
    assignment.into_iter().enumerate().map(pair).collect()
}

fn kullback_leibler(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| p * libm::log(p / q)).sum::<f64>().max(0.0)
}

fn jensen_shannon(p: &[f64], q: &[f64]) -> f64 {
    let towards = |p: f64, q: f64| p * libm::log(2.0 * p / (p + q));
    let sum: f64 = p.iter().zip(q).map(|(&p, &q)| towards(p, q) + towards(q, p)).sum();
    (0.5 * sum).max(0.0)
}

/// How much better or worse the second model predicts the same documents, with a 95 % interval over documents.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreDifference {
    /// Documents that both scored.
    pub documents: u64,
    /// Mean of `log p(X)` under the second model minus that under the first, in nats per document: positive means that
    /// the second predicts better.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Ends of the interval.
    pub interval: [f64; 2],
}

impl ScoreDifference {
    /// From `log p(X)` of the same documents under two models, in the same order.
    pub fn new(a: &[f64], b: &[f64]) -> Result<Self> {
        if a.len() != b.len() || a.len() < 2 {
            let problem = format!("{} and {} documents cannot be compared in pairs", a.len(), b.len());
            return Err(Error::setting("documents", problem, "score the same two documents or more"));
        }
        let differences = || a.iter().zip(b).map(|(a, b)| b - a);
        let count = a.len() as f64;
        let mean = differences().sum::<f64>() / count;
        let squares: f64 = differences().map(|difference| (difference - mean) * (difference - mean)).sum();
        let standard_error = (squares / (count - 1.0) / count).sqrt();
        let half = 1.959_963_984_540_054 * standard_error;
        Ok(Self { documents: a.len() as u64, mean, standard_error, interval: [mean - half, mean + half] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    fn random_topics(topics: usize, words: usize, seed: u64) -> Topics {
        let mut random = Seed(seed).stream(Purpose::Initial, [0, 0]);
        let mut skewed = || (0..3).map(|_| random.uniform_positive()).product();
        let mut beta: Vec<f64> = (0..topics * words).map(|_| skewed()).collect();
        for k in 0..topics {
            let total: f64 = beta.iter().skip(k).step_by(topics).sum();
            beta.iter_mut().skip(k).step_by(topics).for_each(|value| *value /= total);
        }
        Topics { beta, alpha: vec![0.1; topics] }
    }

    fn rows(topics: &Topics) -> TopicRows {
        TopicRows::new(topics, topics.vocabulary(), |word| word as usize)
    }

    fn permuted(topics: &Topics, order: &[usize]) -> Topics {
        let row = |word: u32| order.iter().map(move |&k| topics.row(word)[k]);
        Topics {
            beta: (0..topics.vocabulary() as u32).flat_map(row).collect(),
            alpha: vec![0.1; order.len()],
        }
    }

    #[test]
    fn permuted_topics_are_found_at_distance_zero() {
        let topics = random_topics(5, 30, 1);
        let order = [3, 0, 4, 1, 2];
        for distance in [Distance::JensenShannon, Distance::KullbackLeibler] {
            for pair in align(&rows(&topics), &rows(&permuted(&topics, &order)), distance) {
                assert_eq!(order[pair.b], pair.a);
                assert!(pair.distance < 1e-12, "{pair:?}");
            }
        }
    }

    /// All assignments of up to five topics, tried one by one.
    #[test]
    fn the_assignment_is_the_best_there_is() {
        for (fewer, more, seed) in [(4, 4, 2), (3, 5, 3), (5, 3, 4)] {
            let (a, b) = (random_topics(fewer, 20, seed), random_topics(more, 20, seed + 10));
            let (a, b) = (rows(&a), rows(&b));
            for distance in [Distance::JensenShannon, Distance::KullbackLeibler] {
                let cost = |i: usize, j: usize| match distance {
                    Distance::JensenShannon => jensen_shannon(&a.rows[i], &b.rows[j]),
                    Distance::KullbackLeibler => kullback_leibler(&a.rows[i], &b.rows[j]),
                };
                let pairs = align(&a, &b, distance);
                assert_eq!(pairs.len(), fewer.min(more));
                let found: f64 = pairs.iter().map(|pair| cost(pair.a, pair.b)).sum();
                let swapped = fewer > more;
                let of = |i: usize, j: usize| if swapped { cost(j, i) } else { cost(i, j) };
                let best = least(&of, 0, fewer.min(more), &mut vec![false; fewer.max(more)]);
                assert!((found - best).abs() < 1e-8, "{found} against {best}");
            }
        }
    }

    fn least(cost: &dyn Fn(usize, usize) -> f64, row: usize, rows: usize, taken: &mut Vec<bool>) -> f64 {
        if row == rows {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for column in 0..taken.len() {
            if !taken[column] {
                taken[column] = true;
                best = best.min(cost(row, column) + least(cost, row + 1, rows, taken));
                taken[column] = false;
            }
        }
        best
    }

    #[test]
    fn hand_computed_distances() {
        let (p, q) = ([0.5, 0.5], [0.25, 0.75]);
        let expected = 0.5 * libm::log(2.0) + 0.5 * libm::log(0.5 / 0.75);
        assert!((kullback_leibler(&p, &q) - expected).abs() < 1e-12);
        let apart = jensen_shannon(&[1.0 - 1e-15, 1e-15], &[1e-15, 1.0 - 1e-15]);
        assert!((apart - libm::log(2.0)).abs() < 1e-12, "nothing in common: log 2");
    }

    #[test]
    fn differences_are_paired() {
        let (a, b) = ([-10.0, -20.0, -30.0], [-9.0, -18.0, -27.0]);
        let difference = ScoreDifference::new(&a, &b).unwrap();
        assert_eq!((difference.documents, difference.mean), (3, 2.0));
        assert!((difference.standard_error - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(difference.interval[0] < 2.0 && difference.interval[1] > 2.0);
        assert!(ScoreDifference::new(&a, &b[..2]).is_err());
    }
}
