//! From findings to plots.

use crate::cells::{Finished, Moment};
use crate::claims::{Measure, most_careful};
use crate::experiment::{Experiment, Figure};
use crate::findings::{Findings, Place, Spread, value_of};
use gibbstream_cli::plot::{Axis, Band, PANEL, Panel, Plot, Series};

const SCORE: &str = "nats per held-out document";

/// A plot with the name of its file, which ends in `.svg`.
pub struct Drawing {
    pub name: String,
    pub caption: String,
    pub svg: String,
}

/// All plots of an experiment for which there are points.
pub fn drawings(
    experiment: &Experiment,
    findings: &Findings<'_>,
    reference: impl Fn(&str) -> usize,
) -> Vec<Drawing> {
    let drawing = |figure: &Figure| {
        let (name, x, y, log) = axes(*figure);
        let direction = if y == SCORE { " (lower is better)" } else { "" };
        let title = format!("{}: {}{direction}", experiment.id, experiment.title);
        let panel = |corpus: &str| panel(*figure, findings, corpus, reference(corpus));
        let panels: Vec<Panel> = findings.corpora().into_iter().map(panel).collect();
        let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.series.is_empty()).collect();
        let x_axis = Axis { label: x.to_owned(), log, ticks: Vec::new() };
        let plot = Plot { title, x: x_axis, y: y.to_owned(), panels, size: PANEL, whole: false };
        (!plot.panels.is_empty()).then(|| Drawing {
            name: format!("{}-{name}", experiment.id),
            caption: format!("{y} by {x}: medians, and bands from the third to the seventh decile"),
            svg: plot.svg(),
        })
    };
    experiment.figures.iter().filter_map(drawing).collect()
}

/// Name, labels of the axes, and whether the horizontal one is logarithmic.
fn axes(figure: Figure) -> (&'static str, &'static str, &'static str, bool) {
    let bound = "lower bound, nats per document";
    match figure {
        Figure::ByTopics(Measure::Score) => ("topics", "topics", SCORE, true),
        Figure::ByTopics(Measure::Elbo) => ("elbo-topics", "topics", bound, true),
        Figure::ThroughDocuments(Measure::Score) => ("documents", "documents read", SCORE, true),
        Figure::ThroughDocuments(Measure::Elbo) => ("elbo-documents", "documents read", bound, true),
        Figure::ThroughTime => ("time", "CPU seconds of training", SCORE, true),
        Figure::ByFlag(flag, label) => (flag.trim_start_matches('-'), label, SCORE, false),
        Figure::ByEstimator => ("alpha", "alpha", "nats above smc", true),
    }
}

fn panel(figure: Figure, findings: &Findings<'_>, corpus: &str, reference: usize) -> Panel {
    let view = View { findings, corpus, reference };
    let series = match figure {
        Figure::ByTopics(measure) => view.by_topics(measure),
        Figure::ThroughDocuments(measure) => view.through(|moment| moment.documents as f64, measure),
        Figure::ThroughTime => view.through_time(),
        Figure::ByFlag(flag, _) => view.by_flag(flag),
        Figure::ByEstimator => view.by_estimator(),
    };
    let is_score = axes(figure).2 == SCORE;
    Panel {
        title: corpus.to_owned(),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        levels: if is_score { view.levels() } else { Vec::new() },
    }
}

/// One corpus of the findings.
struct View<'a> {
    findings: &'a Findings<'a>,
    corpus: &'a str,
    reference: usize,
}

impl View<'_> {
    fn place<'b>(&'b self, series: &'b str, topics: usize) -> Place<'b> {
        Place { corpus: self.corpus, series, topics }
    }

    /// What word frequencies and, where they are known, the true parameters score.
    fn levels(&self) -> Vec<(String, f64)> {
        let level = |value: fn(&Finished) -> Option<f64>| {
            Spread::of(self.findings.of_corpus(self.corpus).filter_map(|finished| value(finished)).collect())
        };
        let levels = [
            ("word frequencies", level(|finished| Some(finished.unigram_log_perplexity_per_document))),
            ("true parameters", level(|finished| finished.true_parameters_log_perplexity_per_document)),
        ];
        levels.into_iter().filter_map(|(name, level)| Some((name.to_owned(), level?.median))).collect()
    }

    fn by_topics(&self, measure: Measure) -> Vec<Series> {
        let series = |name: String| {
            let topics = self.findings.topics(self.corpus, Some(&name));
            let point = |topics: usize| {
                let value = |finished: &Finished| value_of(measure, finished);
                Some((topics as f64, self.findings.spread(self.place(&name, topics), value)?.band()))
            };
            let points = topics.into_iter().filter_map(point).collect();
            Series { name, points, joined: true }
        };
        self.findings.series(self.corpus).into_iter().map(series).collect()
    }

    /// Curves of the reference number of topics, or of the only one where it is open.
    fn through(&self, x: fn(&Moment) -> f64, measure: Measure) -> Vec<Series> {
        let value = |moment: &Moment| match measure {
            Measure::Score => Some(moment.log_perplexity_per_document),
            Measure::Elbo => moment.elbo_per_document,
        };
        let series = |name: String| {
            let curves = self.curves(&name);
            let steps = curves.iter().map(|curve| curve.len()).max().unwrap_or(0);
            let at = |step: usize| curves.iter().filter_map(move |curve| curve.get(step));
            let point = |step: usize| {
                let place = Spread::of(at(step).map(x).collect())?.median;
                Some((place, Spread::of(at(step).filter_map(value).collect())?.band()))
            };
            let points = (0..steps).filter_map(point).collect();
            Series { name, points, joined: true }
        };
        self.findings.series(self.corpus).into_iter().map(series).collect()
    }

    fn curves(&self, series: &str) -> Vec<&[Moment]> {
        let of_series =
            self.findings.of_corpus(self.corpus).filter(|finished| finished.cell.series() == series);
        let asked =
            of_series.filter(|finished| finished.cell.topics == self.reference || finished.cell.is_open());
        asked.map(|finished| finished.curve.as_slice()).collect()
    }

    fn through_time(&self) -> Vec<Series> {
        self.through(|moment| moment.cpu_seconds, Measure::Score)
    }

    /// A line for each method without the flag; where the flag is not given, the paper's value counts.
    fn by_flag(&self, flag: &str) -> Vec<Series> {
        let mut lines: Vec<Series> = Vec::new();
        for name in self.findings.series(self.corpus) {
            let (rest, value) = without_flag(&name, flag);
            let x = value.and_then(|value| value.parse().ok()).unwrap_or(0.5);
            let score = |finished: &Finished| value_of(Measure::Score, finished);
            let Some(spread) = self.findings.spread(self.place(&name, self.reference), score) else {
                continue;
            };
            match lines.iter_mut().find(|line| line.name == rest) {
                Some(line) => line.points.push((x, spread.band())),
                None => lines.push(Series { name: rest, points: vec![(x, spread.band())], joined: true }),
            }
        }
        for line in &mut lines {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        lines
    }

    /// A line for each estimator but the most careful one, which the others are held against.
    fn by_estimator(&self) -> Vec<Series> {
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for estimate in self.findings.of_corpus(self.corpus).flat_map(|finished| &finished.estimates) {
            let kind = (estimate.estimator.clone(), estimate.particles);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let most = kinds.iter().filter(|(name, _)| name == "smc").map(|&(_, particles)| particles).max();
        kinds.retain(|(name, particles)| name != "smc" || Some(*particles) != most);
        let line = |(estimator, particles): (String, usize)| {
            let gap = |finished: &Finished| {
                let mut estimates = finished.estimates.iter();
                let own = estimates.find(|e| e.estimator == estimator && e.particles == particles)?;
                Some(own.log_perplexity_per_document - most_careful(finished, "smc")?)
            };
            let point = |name: &String| {
                let alpha = without_flag(name, "--alpha").1?.trim_start_matches("fixed=").parse().ok()?;
                Some((alpha, self.findings.spread(self.place(name, self.reference), gap)?.band()))
            };
            let mut points: Vec<(f64, Band)> =
                self.findings.series(self.corpus).iter().filter_map(point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series { name: format!("{estimator}, {particles}"), points, joined: true }
        };
        kinds.into_iter().map(line).collect()
    }
}

/// A method without one of its flags, and the value of that flag.
fn without_flag(method: &str, flag: &str) -> (String, Option<String>) {
    let mut words: Vec<&str> = method.split_whitespace().collect();
    let Some(place) = words.iter().position(|word| *word == flag) else { return (method.to_owned(), None) };
    let taken: Vec<&str> = words.drain(place..(place + 2).min(words.len())).collect();
    (words.join(" "), taken.get(1).map(|value| (*value).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_taken_out_of_methods() {
        assert_eq!(without_flag("g-oem", "--kappa"), ("g-oem".into(), None));
        let both = "g-oem --averaging uniform --kappa 0.25";
        assert_eq!(without_flag(both, "--kappa"), ("g-oem --averaging uniform".into(), Some("0.25".into())));
        assert_eq!(without_flag(both, "--averaging"), ("g-oem --kappa 0.25".into(), Some("uniform".into())));
    }
}
