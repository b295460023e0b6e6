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

/// Two topics that belong together, and how surely.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Match {
    /// The topics.
    #[serde(flatten)]
    pub pair: Pair,
    /// `1 - distance / mean distance` of both from all topics of the other model but each other: 1 if they are the same, 0 if they
    /// are no closer than any two. Topics of one corpus have frequent words in common, so that a distance alone says little.
    pub similarity: f64,
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
    let (a, b) = shared_rows(a, b);
    align(&a, &b, distance)
}

/// The same by Jensen-Shannon divergence, with how surely topics belong together; in the order of the topics of the first
/// model.
pub fn match_models(a: (&TopicParameters, &Vocabulary), b: (&TopicParameters, &Vocabulary)) -> Vec<Match> {
    let (a, b) = shared_rows(a, b);
    let distances = Distances::new(&a, &b, Distance::JensenShannon);
    let mut found: Vec<Match> =
        distances.assigned().into_iter().map(|pair| Match { pair, similarity: distances.similarity(&pair) }).collect();
    found.sort_by_key(|found| found.pair.a);
    found
}

/// The topics of two models over the words that one of them knows.
fn shared_rows(a: (&TopicParameters, &Vocabulary), b: (&TopicParameters, &Vocabulary)) -> (TopicRows, TopicRows) {
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for word in a.1.words().chain(b.1.words()) {
        let next = places.len();
        places.entry(word).or_insert(next);
    }
    let rows = |(parameters, words): (&TopicParameters, &Vocabulary)| {
        let place = |word| places[words.word(word)];
        TopicRows::new(&parameters.topics, places.len(), place).keep_first(parameters.met())
    };
    (rows(a), rows(b))
}

/// Pairs the topics of two models so that the sum of distances is least. Where one model has more topics, some of
/// them stay alone. Pairs come in the order of the model with fewer topics, the first one if they have as many.
pub fn align(a: &TopicRows, b: &TopicRows, distance: Distance) -> Vec<Pair> {
    Distances::new(a, b, distance).assigned()
}

/// The distances of all topics of two models.
struct Distances {
    rows: usize,
    columns: usize,
    /// By topic of the first model, then of the second.
    all: Vec<f64>,
}

impl Distances {
    fn new(a: &TopicRows, b: &TopicRows, distance: Distance) -> Self {
        let (rows, columns) = (a.rows.len(), b.rows.len());
        let between = |i: usize, j: usize| match distance {
            Distance::JensenShannon => jensen_shannon(&a.rows[i], &b.rows[j]),
            Distance::KullbackLeibler => kullback_leibler(&a.rows[i], &b.rows[j]),
        };
        let all =
            (0..rows * columns).into_par_iter().map(|place| between(place / columns, place % columns)).collect();
        Self { rows, columns, all }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.all[i * self.columns + j]
    }

    /// The pairs of least sum, in the order of the model with fewer topics.
    fn assigned(&self) -> Vec<Pair> {
        let swapped = self.rows > self.columns;
        let pair = |few: usize, many: usize| {
            let (a, b) = if swapped { (many, few) } else { (few, many) };
            Pair { a, b, distance: self.at(a, b) }
        };
        let (few, many) = (self.rows.min(self.columns), self.rows.max(self.columns));
        let costs = Matrix::from_fn(few, many, |(i, j)| (pair(i, j).distance / UNIT) as i64);
        let (_, assignment) = kuhn_munkres_min(&costs);
        assignment.into_iter().enumerate().map(|(i, j)| pair(i, j)).collect()
    }

    fn similarity(&self, pair: &Pair) -> f64 {
        let of_a = (0..self.columns).filter(|&j| j != pair.b).map(|j| self.at(pair.a, j));
        let of_b = (0..self.rows).filter(|&i| i != pair.a).map(|i| self.at(i, pair.b));
        let (count, sum) = of_a.chain(of_b).fold((0, 0.0), |(count, sum), distance| (count + 1, sum + distance));
        // One topic in each model is compared with topics that have nothing in common.
        let others = if count == 0 { std::f64::consts::LN_2 } else { sum / f64::from(count) };
        if others > 0.0 { (1.0 - pair.distance / others).clamp(0.0, 1.0) } else { 0.0 }
    }
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

    /// Topics that are told apart, topics that are not, and the same two by hand.
    #[test]
    fn similarity_is_beside_that_of_other_topics() {
        // Rows have no zeros: a little is spread over all words.
        let apart = [vec![1.0 - 2e-12, 1e-12, 1e-12], vec![1e-12, 0.5, 0.5 - 1e-12]];
        let a = TopicRows { rows: apart.to_vec() };
        let distances = Distances::new(&a, &TopicRows { rows: vec![apart[1].clone(), apart[0].clone()] }, Distance::JensenShannon);
        for pair in distances.assigned() {
            assert!((distances.similarity(&pair) - 1.0).abs() < 1e-9, "{pair:?}");
        }
        let alike = |shift: f64| vec![0.5 + shift, 0.3 - shift, 0.2];
        let a = TopicRows { rows: vec![alike(0.01), alike(-0.01)] };
        let b = TopicRows { rows: vec![alike(0.1), alike(-0.1)] };
        let distances = Distances::new(&a, &b, Distance::JensenShannon);
        for pair in distances.assigned() {
            let found = distances.similarity(&pair);
            assert!(pair.distance < 0.01 && found < 0.5, "close, and no closer than others: {pair:?} {found}");
            let others = 0.5 * (distances.at(pair.a, 1 - pair.b) + distances.at(1 - pair.a, pair.b));
            assert!((found - (1.0 - pair.distance / others)).abs() < 1e-12);
        }
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
