//! Finished cells by corpus, method and number of topics, and what they say over splits.

use crate::cells::{Cell, Finished};
use crate::claims::Measure;
use gibbstream_cli::plot::Band;
use std::collections::BTreeMap;

/// Several values of the same thing: the median, and the third and seventh decile, as in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub low: f64,
    pub median: f64,
    pub high: f64,
    pub splits: usize,
}

impl Spread {
    /// `None` without values.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, rest) = (place as usize, place.fract());
            let above = (below + 1).min(values.len() - 1);
            values[below] + rest * (values[above] - values[below])
        };
        (!values.is_empty()).then(|| Self {
            low: quantile(0.3),
            median: quantile(0.5),
            high: quantile(0.7),
            splits: values.len(),
        })
    }

    /// As it is drawn.
    pub fn band(self) -> Band {
        Band { low: self.low, middle: self.median, high: self.high }
    }
}

/// Cells as if all splits of a corpus were equally hard: scores less how much worse word frequencies score on their split than on
/// the median one. Without it medians and deciles would say how documents differ, not how runs do.
pub fn evened(cells: &[&Finished]) -> Vec<Finished> {
    let unigram = |finished: &Finished| finished.unigram_log_perplexity_per_document;
    let usual = |corpus: &str| {
        let of_corpus = cells.iter().filter(|finished| finished.cell.corpus == corpus);
        let splits = of_corpus.map(|finished| (finished.cell.split, unigram(finished)));
        let splits: BTreeMap<u64, f64> = splits.collect();
        Spread::of(splits.into_values().collect()).map_or(0.0, |spread| spread.median)
    };
    let evened =
        |finished: &&Finished| less((*finished).clone(), unigram(finished) - usual(&finished.cell.corpus));
    cells.iter().map(evened).collect()
}

/// All that grows with the hardness of held-out documents, less so much.
fn less(mut finished: Finished, harder: f64) -> Finished {
    let truth = finished.true_parameters_log_perplexity_per_document.as_mut();
    let estimates = finished.estimates.iter_mut().map(|estimate| &mut estimate.log_perplexity_per_document);
    let scores =
        [&mut finished.log_perplexity_per_document, &mut finished.unigram_log_perplexity_per_document];
    scores.into_iter().chain(truth).chain(estimates).for_each(|score| *score -= harder);
    finished.elbo_per_document.iter_mut().for_each(|bound| *bound += harder);
    for moment in &mut finished.curve {
        moment.log_perplexity_per_document -= harder;
        moment.elbo_per_document.iter_mut().for_each(|bound| *bound += harder);
    }
    finished
}

/// The finished cells of an experiment.
pub struct Findings<'a> {
    /// In the order of the plan.
    pub finished: Vec<&'a Finished>,
    /// Cells that the experiment consists of.
    pub planned: Vec<Cell>,
}

/// What is read off a finished cell.
pub type Reading<'a> = &'a dyn Fn(&Finished) -> Option<f64>;

/// A line of a plot at one number of topics.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub corpus: &'a str,
    pub series: &'a str,
    pub topics: usize,
}

impl<'a> Findings<'a> {
    /// Names of corpora with a finished cell.
    pub fn corpora(&self) -> Vec<&'a str> {
        distinct(self.finished.iter().map(|finished| finished.cell.corpus.as_str()))
    }

    /// Lines of a corpus.
    pub fn series(&self, corpus: &str) -> Vec<String> {
        distinct(self.of_corpus(corpus).map(|finished| finished.cell.series()))
    }

    /// Numbers of topics of a line, ascending; of all lines of the corpus without one.
    pub fn topics(&self, corpus: &str, series: Option<&str>) -> Vec<usize> {
        let matching = |finished: &&&Finished| series.is_none_or(|series| finished.cell.series() == series);
        let mut topics =
            distinct(self.of_corpus(corpus).filter(matching).map(|finished| finished.cell.topics));
        topics.sort_unstable();
        topics
    }

    pub fn of_corpus(&self, corpus: &str) -> impl Iterator<Item = &&'a Finished> {
        self.finished.iter().filter(move |finished| finished.cell.corpus == corpus)
    }

    /// The finished splits of a place.
    pub fn at(&self, place: Place<'_>) -> impl Iterator<Item = &&'a Finished> {
        self.of_corpus(place.corpus).filter(move |finished| {
            finished.cell.topics == place.topics && finished.cell.series() == place.series
        })
    }

    /// A measure over splits.
    pub fn spread(&self, place: Place<'_>, measure: impl Fn(&Finished) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.at(place).filter_map(|finished| measure(finished)).collect())
    }

    /// The medians of two places over the splits that both have: others would make the comparison unfair.
    pub fn medians(&self, places: [Place<'_>; 2], measures: [Reading<'_>; 2]) -> Option<[f64; 2]> {
        let values = |which: usize| -> Vec<(u64, f64)> {
            let value = |finished: &&'a Finished| Some((finished.cell.split, measures[which](finished)?));
            self.at(places[which]).filter_map(value).collect()
        };
        let (first, second) = (values(0), values(1));
        let shared = |own: &[(u64, f64)], other: &[(u64, f64)]| {
            let both = |(split, _): &&(u64, f64)| other.iter().any(|(theirs, _)| theirs == split);
            Spread::of(own.iter().filter(both).map(|&(_, value)| value).collect())
        };
        Some([shared(&first, &second)?.median, shared(&second, &first)?.median])
    }
}

/// The value of a measure of a finished cell.
pub fn value_of(measure: Measure, finished: &Finished) -> Option<f64> {
    match measure {
        Measure::Score => Some(finished.log_perplexity_per_document),
        Measure::Elbo => finished.elbo_per_document,
    }
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut seen, value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
        seen
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::tests::cell;

    #[test]
    fn deciles_are_interpolated() {
        let spread = Spread::of((0..=10).rev().map(f64::from).collect()).unwrap();
        assert_eq!((spread.low, spread.median, spread.high, spread.splits), (3.0, 5.0, 7.0, 11));
        let two = Spread::of(vec![1.0, 2.0, f64::NAN]).unwrap();
        assert_eq!((two.median, two.splits), (1.5, 2));
        assert!((two.low - 1.3).abs() < 1e-12 && (two.high - 1.7).abs() < 1e-12);
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn hard_splits_are_evened() {
        let cells: Vec<Finished> = [(1, 90.0), (2, 100.0), (3, 130.0)]
            .into_iter()
            .map(|(split, unigram)| Finished {
                unigram_log_perplexity_per_document: unigram,
                elbo_per_document: Some(-85.0),
                ..cell("a", 8, split, 80.0)
            })
            .collect();
        let found = evened(&cells.iter().collect::<Vec<_>>());
        assert_eq!(
            found.iter().map(|f| f.log_perplexity_per_document).collect::<Vec<_>>(),
            [90.0, 80.0, 50.0]
        );
        assert!(found.iter().all(|f| f.unigram_log_perplexity_per_document == 100.0));
        assert_eq!(
            found.iter().map(|f| f.elbo_per_document.unwrap()).collect::<Vec<_>>(),
            [-95.0, -85.0, -55.0]
        );
    }
}
