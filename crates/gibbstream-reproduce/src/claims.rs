//! What the paper says, in a form that can be true or false of finished cells.

use crate::cells::{AS_USUAL, Finished, Moment};
use crate::experiment::Expectation;
use crate::findings::{Findings, Place, value_of};

/// Scores that differ by no more than this share are about the same.
pub const NEAR: f64 = 0.005;

/// What is on the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Log-perplexity per held-out document.
    Score,
    /// Evidence lower bound per held-out document.
    Elbo,
}

/// At which numbers of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Smallest,
    Reference,
    Largest,
    Every,
    /// At one or more.
    Somewhere,
}

type Series = &'static str;

/// A statement about medians over splits. Scores are better if they are lower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// The first is below every other line.
    Lowest(Series, At),
    /// The first is above every other line.
    Highest(Series, At),
    /// The first is below the second.
    Below(Series, Series, At),
    /// They are about the same.
    Near(Series, Series, At),
    /// The score is lower at the second number of topics.
    Falls(Series, At, At),
    /// It is not.
    Rises(Series, At, At),
    /// The score is about the same for all numbers of topics.
    Flat(Series),
    /// The score is best there.
    BestAt(Series, At),
    /// The score is best at no more than so many topics.
    BestUpTo(Series, usize),
    /// The bound is better with the most topics than with the fewest.
    ElboRises(Series),
    /// After so many documents each of these is below all others.
    LeadAfter(u64, &'static [Series]),
    /// The first needs less time than the second to its last score.
    FirstToScore(Series, Series),
    /// The topics are more coherent than those beside them.
    CoherentBeside(Series),
    /// Two estimators agree up to a share of the score.
    AgreeWithin(Series, &'static str, &'static str, f64),
    /// Two estimators differ by more than a share of the score.
    DifferBy(Series, &'static str, &'static str, f64),
}

/// Comparisons that were possible, those that came out as claimed, and the numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    pub held: usize,
    pub of: usize,
    pub details: Vec<String>,
}

impl Verdict {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match (self.held, self.of) {
            (_, 0) => "not measured",
            (held, of) if held == of => "agrees",
            (0, _) => "differs",
            _ => "partly",
        }
    }

    fn add(&mut self, holds: bool, detail: String) {
        self.held += usize::from(holds);
        self.of += 1;
        self.details.push(detail);
    }
}

/// A corpus on which claims are checked.
pub struct Ground<'a> {
    pub findings: &'a Findings<'a>,
    pub corpus: &'a str,
    /// The number of topics of experiments that have only one.
    pub reference: usize,
}

/// All claims of an expectation on one corpus.
pub fn check(expectation: &Expectation, ground: &Ground<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    for claim in expectation.claims {
        claim.check(ground, &mut verdict);
    }
    verdict
}

fn score(finished: &Finished) -> Option<f64> {
    value_of(Measure::Score, finished)
}

impl Claim {
    /// The lines that it is about.
    #[cfg(test)]
    pub fn series(&self) -> Vec<Series> {
        match *self {
            Self::Below(a, b, _) | Self::Near(a, b, _) | Self::FirstToScore(a, b) => vec![a, b],
            Self::LeadAfter(_, leaders) => leaders.to_vec(),
            Self::Lowest(series, _)
            | Self::Highest(series, _)
            | Self::Falls(series, ..)
            | Self::Rises(series, ..)
            | Self::Flat(series)
            | Self::BestAt(series, _)
            | Self::BestUpTo(series, _)
            | Self::ElboRises(series)
            | Self::CoherentBeside(series)
            | Self::AgreeWithin(series, ..)
            | Self::DifferBy(series, ..) => vec![series],
        }
    }

    fn check(&self, ground: &Ground<'_>, verdict: &mut Verdict) {
        match *self {
            Self::Lowest(series, at) => ground.beside_all(series, at, verdict, |own, other| own < other),
            Self::Highest(series, at) => ground.beside_all(series, at, verdict, |own, other| own > other),
            Self::Below(a, b, at) => ground.pairwise(a, b, at, verdict, |a, b| a < b),
            Self::Near(a, b, at) => ground.pairwise(a, b, at, verdict, near),
            Self::Falls(series, from, to) => {
                ground.along(series, [from, to], score, verdict, |from, to| to < from);
            }
            Self::Rises(series, from, to) => {
                ground.along(series, [from, to], score, verdict, |from, to| to >= from);
            }
            Self::ElboRises(series) => {
                let elbo = |finished: &Finished| value_of(Measure::Elbo, finished);
                ground.along(series, [At::Smallest, At::Largest], elbo, verdict, |from, to| to > from);
            }
            Self::Flat(series) => ground
                .best(series, verdict, |curve, best| curve.iter().all(|&(_, score)| near(best.1, score))),
            Self::BestAt(series, at) => {
                let topics = ground.places(series, at).first().copied();
                ground.best(series, verdict, |_, best| Some(best.0) == topics);
            }
            Self::BestUpTo(series, most) => ground.best(series, verdict, |_, best| best.0 <= most),
            Self::LeadAfter(documents, leaders) => ground.lead(documents, leaders, verdict),
            Self::FirstToScore(a, b) => ground.first_to_score(a, b, verdict),
            Self::CoherentBeside(series) => ground.coherent(series, verdict),
            Self::AgreeWithin(series, a, b, share) => {
                ground.estimators(series, a, b, verdict, |gap| gap <= share);
            }
            Self::DifferBy(series, a, b, share) => {
                ground.estimators(series, a, b, verdict, |gap| gap > share);
            }
        }
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= NEAR * a.abs().min(b.abs())
}

impl<'a> Ground<'a> {
    fn place(&self, series: &'a str, topics: usize) -> Place<'a> {
        Place { corpus: self.corpus, series, topics }
    }

    /// Numbers of topics of a line.
    fn places(&self, series: &str, at: At) -> Vec<usize> {
        let all = self.findings.topics(self.corpus, Some(series));
        let chosen = match at {
            At::Smallest => all.first().copied(),
            At::Largest => all.last().copied(),
            At::Reference => all.contains(&self.reference).then_some(self.reference),
            At::Every | At::Somewhere => return all,
        };
        chosen.into_iter().collect()
    }

    fn beside_all(&self, series: Series, at: At, verdict: &mut Verdict, holds: fn(f64, f64) -> bool) {
        let others = self.findings.series(self.corpus);
        for topics in self.places(series, at) {
            let compared: Vec<(&String, [f64; 2])> = others
                .iter()
                .filter(|other| *other != series && *other != AS_USUAL) // which the paper does not know
                .filter_map(|other| {
                    let places =
                        [self.place(series, topics), Place { series: other, ..self.place("", topics) }];
                    Some((other, self.findings.medians(places, [&score, &score])?))
                })
                .collect();
            // The rival that says most: one for which the claim fails, or else the closest.
            let nearest = compared.iter().min_by(|(_, a), (_, b)| {
                let room = |[own, other]: &[f64; 2]| {
                    let gap = (own - other).abs();
                    if holds(*own, *other) { gap } else { -gap }
                };
                room(a).total_cmp(&room(b))
            });
            if let Some((other, [own, theirs])) = nearest {
                let all = compared.iter().all(|(_, [own, other])| holds(*own, *other));
                verdict.add(all, format!("K = {topics}: {own:.1}, {other} {theirs:.1}"));
            }
        }
    }

    fn pairwise(&self, a: Series, b: Series, at: At, verdict: &mut Verdict, holds: fn(f64, f64) -> bool) {
        let mut found = Verdict::default();
        for topics in self.places(a, at) {
            let places = [self.place(a, topics), self.place(b, topics)];
            if let Some([own, other]) = self.findings.medians(places, [&score, &score]) {
                found.add(holds(own, other), format!("K = {topics}: {a} {own:.1}, {b} {other:.1}"));
            }
        }
        if at == At::Somewhere && found.of > 0 {
            (found.held, found.of) = (usize::from(found.held > 0), 1);
        }
        verdict.held += found.held;
        verdict.of += found.of;
        verdict.details.append(&mut found.details);
    }

    fn along(
        &self,
        series: Series,
        [from, to]: [At; 2],
        measure: fn(&Finished) -> Option<f64>,
        verdict: &mut Verdict,
        holds: fn(f64, f64) -> bool,
    ) {
        let ends = [self.places(series, from), self.places(series, to)];
        let [Some(&first), Some(&last)] = [ends[0].first(), ends[1].first()] else { return };
        let places = [self.place(series, first), self.place(series, last)];
        if first != last
            && let Some([before, after]) = self.findings.medians(places, [&measure, &measure])
        {
            let detail = format!("{series}: {before:.1} at K = {first}, {after:.1} at K = {last}");
            verdict.add(holds(before, after), detail);
        }
    }

    /// The best of all numbers of topics.
    fn best(
        &self,
        series: Series,
        verdict: &mut Verdict,
        holds: impl Fn(&[(usize, f64)], (usize, f64)) -> bool,
    ) {
        let median =
            |topics: usize| Some((topics, self.findings.spread(self.place(series, topics), score)?.median));
        let curve: Vec<(usize, f64)> =
            self.places(series, At::Every).into_iter().filter_map(median).collect();
        let best = curve.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some(best) = best.filter(|_| curve.len() > 1) {
            let worst = curve.iter().map(|&(_, score)| score).fold(best.1, f64::max);
            let detail = format!("{series}: best at K = {}, {:.1} to {worst:.1}", best.0, best.1);
            verdict.add(holds(&curve, best), detail);
        }
    }

    fn lead(&self, documents: u64, leaders: &[Series], verdict: &mut Verdict) {
        let then = |finished: &Finished| score_after(&finished.curve, documents);
        let all = self.findings.series(self.corpus);
        for &leader in leaders {
            let others = all.iter().filter(|other| !leaders.contains(&other.as_str()));
            let compared: Vec<(&String, [f64; 2])> = others
                .filter_map(|other| {
                    let places = [
                        self.place(leader, self.reference),
                        Place { series: other, ..self.place("", self.reference) },
                    ];
                    Some((other, self.findings.medians(places, [&then, &then])?))
                })
                .collect();
            let best = compared.iter().min_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]));
            if let Some((other, [own, theirs])) = best {
                let all = compared.iter().all(|(_, [own, other])| own < other);
                verdict.add(all, format!("{leader} {own:.1}, best of the others {other} {theirs:.1}"));
            }
        }
    }

    fn first_to_score(&self, a: Series, b: Series, verdict: &mut Verdict) {
        let rivals: Vec<&&Finished> = self.findings.at(self.place(b, self.reference)).collect();
        // A score that is never attained takes for ever.
        let own_time = |finished: &Finished| {
            let rival = rivals.iter().find(|rival| rival.cell.split == finished.cell.split)?;
            let target = rival.log_perplexity_per_document;
            Some(seconds_to(&finished.curve, target).unwrap_or(f64::MAX))
        };
        let their_time = |finished: &Finished| Some(finished.train_cpu_seconds);
        let places = [self.place(a, self.reference), self.place(b, self.reference)];
        if let Some([own, theirs]) = self.findings.medians(places, [&own_time, &their_time]) {
            let own_text = if own < f64::MAX { format!("{own:.1} s") } else { "never".to_owned() };
            verdict.add(own < theirs, format!("to the score of {b}: {own_text}, {b} {theirs:.1} s"));
        }
    }

    fn coherent(&self, series: Series, verdict: &mut Verdict) {
        let npmi = |which: usize| {
            move |finished: &Finished| finished.beside.as_ref().map(|beside| beside.coherence[which].npmi)
        };
        let place = self.place(series, self.reference);
        if let Some([own, other]) = self.findings.medians([place, place], [&npmi(0), &npmi(1)]) {
            verdict.add(own > other, format!("{own:.3}, beside it {other:.3}"));
        }
    }

    fn estimators(
        &self,
        series: Series,
        a: &str,
        b: &str,
        verdict: &mut Verdict,
        holds: impl Fn(f64) -> bool,
    ) {
        let by = |estimator: &str| {
            let estimator = estimator.to_owned();
            move |finished: &Finished| most_careful(finished, &estimator)
        };
        let place = self.place(series, self.reference);
        if let Some([first, second]) = self.findings.medians([place, place], [&by(a), &by(b)]) {
            let gap = (first - second).abs() / second.abs();
            verdict.add(holds(gap), format!("{series}: {a} {first:.2}, {b} {second:.2}"));
        }
    }
}

/// The score by an estimator with the most particles.
pub fn most_careful(finished: &Finished, estimator: &str) -> Option<f64> {
    let estimates = finished.estimates.iter().filter(|estimate| estimate.estimator == estimator);
    estimates.max_by_key(|estimate| estimate.particles).map(|estimate| estimate.log_perplexity_per_document)
}

/// The score after so many documents, or at the end if there were fewer.
pub fn score_after(curve: &[Moment], documents: u64) -> Option<f64> {
    let then = curve.iter().find(|moment| moment.documents >= documents).or(curve.last());
    then.map(|moment| moment.log_perplexity_per_document)
}

/// The time after which a score was attained.
pub fn seconds_to(curve: &[Moment], score: f64) -> Option<f64> {
    let attained = curve.iter().find(|moment| moment.log_perplexity_per_document <= score);
    attained.map(|moment| moment.cpu_seconds)
}

/// The score that was there after so much time.
pub fn score_within(curve: &[Moment], seconds: f64) -> Option<f64> {
    let then = curve.iter().rfind(|moment| moment.cpu_seconds <= seconds);
    then.map(|moment| moment.log_perplexity_per_document)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cells::{Beside, Cell, Estimate};
    use gibbstream::evaluation::coherence::TopicCoherence;

    /// A made-up cell with a score.
    pub fn cell(method: &str, topics: usize, split: u64, score: f64) -> Finished {
        Finished {
            cell: Cell {
                corpus: "made-up".into(),
                split,
                seed: split,
                documents: 10,
                held_out: 2,
                longest: None,
                batch: 5,
                method: method.into(),
                topics,
                passes: 1,
                estimator: "smc".into(),
                particles: 1,
            },
            version: String::new(),
            tokens: 100,
            held_out_tokens: 20,
            log_perplexity_per_document: score,
            standard_error: None,
            unigram_log_perplexity_per_document: 1_000.0,
            true_parameters_log_perplexity_per_document: None,
            train_cpu_seconds: 4.0,
            model_hash: String::new(),
            alpha_sum: 1.0,
            topics_used: None,
            elbo_per_document: Some(-score - topics as f64),
            curve: Vec::new(),
            estimates: Vec::new(),
            beside: None,
        }
    }

    /// Three splits around a score.
    fn splits(method: &str, topics: usize, score: f64) -> Vec<Finished> {
        (1..=3).map(|split| cell(method, topics, split, score + split as f64 - 2.0)).collect()
    }

    /// How many comparisons hold, and of how many.
    fn held(claim: Claim, finished: &[Finished]) -> (usize, usize) {
        let findings = Findings { finished: finished.iter().collect(), planned: Vec::new() };
        let ground = Ground { findings: &findings, corpus: "made-up", reference: 8 };
        let mut verdict = Verdict::default();
        claim.check(&ground, &mut verdict);
        assert!(verdict.held <= verdict.of && verdict.of <= verdict.details.len());
        (verdict.held, verdict.of)
    }

    #[test]
    fn orders_of_medians() {
        let scores = [("a", 4, 900.0), ("a", 8, 850.0), ("b", 4, 890.0), ("b", 8, 870.0), ("c", 8, 851.0)];
        let all: Vec<Finished> = scores.iter().flat_map(|&(name, k, score)| splits(name, k, score)).collect();
        for (claim, expected) in [
            (Claim::Lowest("a", At::Every), (1, 2)),
            (Claim::Lowest("a", At::Largest), (1, 1)),
            (Claim::Lowest("b", At::Reference), (0, 1)),
            (Claim::Highest("b", At::Reference), (1, 1)),
            (Claim::Highest("a", At::Smallest), (1, 1)),
            (Claim::Below("a", "b", At::Every), (1, 2)),
            (Claim::Below("a", "b", At::Smallest), (0, 1)),
            (Claim::Below("a", "b", At::Somewhere), (1, 1)),
            (Claim::Below("b", "c", At::Somewhere), (0, 1)),
            (Claim::Below("a", "nobody", At::Every), (0, 0)),
            (Claim::Near("a", "c", At::Reference), (1, 1)),
            (Claim::Near("a", "b", At::Every), (0, 2)),
            (Claim::Falls("a", At::Smallest, At::Largest), (1, 1)),
            (Claim::Rises("a", At::Smallest, At::Largest), (0, 1)),
            (Claim::Falls("c", At::Smallest, At::Largest), (0, 0)),
            (Claim::Flat("a"), (0, 1)),
            (Claim::BestAt("a", At::Reference), (1, 1)),
            (Claim::BestUpTo("a", 4), (0, 1)),
            (Claim::BestUpTo("a", 8), (1, 1)),
            (Claim::ElboRises("a"), (1, 1)),
        ] {
            assert_eq!(held(claim, &all), expected, "{claim:?}");
        }
    }

    /// A split that only one of two methods has says nothing about their order.
    #[test]
    fn comparisons_are_fair() {
        let mut all = vec![cell("a", 8, 1, 100.0), cell("b", 8, 1, 99.0)];
        assert_eq!(held(Claim::Below("a", "b", At::Every), &all), (0, 1));
        all.extend([cell("a", 8, 2, 10.0), cell("a", 8, 3, 10.0)]);
        assert_eq!(held(Claim::Below("a", "b", At::Every), &all), (0, 1));
        all.extend([cell("b", 8, 2, 11.0), cell("b", 8, 3, 11.0)]);
        assert_eq!(held(Claim::Below("a", "b", At::Every), &all), (1, 1));
    }

    fn with_curve(method: &str, scores: &[f64]) -> Finished {
        let moment = |(place, &score): (usize, &f64)| Moment {
            documents: 100 * (place as u64 + 1),
            cpu_seconds: place as f64 + 1.0,
            log_perplexity_per_document: score,
            elbo_per_document: None,
        };
        let last = scores.last().copied().unwrap();
        Finished {
            curve: scores.iter().enumerate().map(moment).collect(),
            train_cpu_seconds: scores.len() as f64,
            ..cell(method, 8, 1, last)
        }
    }

    #[test]
    fn curves() {
        let all = [
            with_curve("a", &[9.0, 7.0, 6.0]),
            with_curve("b", &[10.0, 8.0, 7.0]),
            with_curve("c", &[8.0, 8.0, 5.0]),
        ];
        assert_eq!(held(Claim::LeadAfter(200, &["a"]), &all), (1, 1));
        assert_eq!(held(Claim::LeadAfter(100, &["a", "c"]), &all), (2, 2));
        assert_eq!(
            held(Claim::LeadAfter(10_000, &["a", "c"]), &all),
            (2, 2),
            "the end counts if there is no more"
        );
        assert_eq!(held(Claim::LeadAfter(300, &["b"]), &all), (0, 1));
        assert_eq!(held(Claim::FirstToScore("a", "b"), &all), (1, 1));
        assert_eq!(held(Claim::FirstToScore("a", "c"), &all), (0, 1), "never");
        assert_eq!(held(Claim::FirstToScore("b", "a"), &all), (0, 1));
        let curve = &all[0].curve;
        assert_eq!((score_after(curve, 150), score_after(curve, 900)), (Some(7.0), Some(6.0)));
        assert_eq!((seconds_to(curve, 7.0), seconds_to(curve, 5.0)), (Some(2.0), None));
        assert_eq!((score_within(curve, 2.5), score_within(curve, 0.5)), (Some(7.0), None));
    }

    #[test]
    fn estimators_and_coherence() {
        let estimate = |estimator: &str, particles, score| Estimate {
            estimator: estimator.into(),
            particles,
            log_perplexity_per_document: score,
        };
        let estimates = vec![
            estimate("smc", 5, 101.0),
            estimate("smc", 25, 100.0),
            estimate("left-to-right", 5, 90.0),
            estimate("left-to-right", 25, 100.4),
        ];
        let topic = |npmi| TopicCoherence { npmi, c_v: 0.5, umass: -1.0 };
        let beside =
            Some(Beside { method: "other".into(), pairs: Vec::new(), coherence: [topic(0.2), topic(0.1)] });
        let all = [Finished { estimates, beside, ..cell("a", 8, 1, 100.0) }];
        assert_eq!(held(Claim::AgreeWithin("a", "left-to-right", "smc", 0.005), &all), (1, 1));
        assert_eq!(held(Claim::AgreeWithin("a", "left-to-right", "smc", 0.001), &all), (0, 1));
        assert_eq!(held(Claim::DifferBy("a", "left-to-right", "smc", 0.001), &all), (1, 1));
        assert_eq!(held(Claim::AgreeWithin("a", "gibbs", "smc", 0.1), &all), (0, 0));
        assert_eq!(held(Claim::CoherentBeside("a"), &all), (1, 1));
        let reversed = Beside { coherence: [topic(0.1), topic(0.2)], ..all[0].beside.clone().unwrap() };
        let all = [Finished { beside: Some(reversed), ..all[0].clone() }];
        assert_eq!(held(Claim::CoherentBeside("a"), &all), (0, 1));
    }

    #[test]
    fn verdicts_in_a_word() {
        let word = |held, of| Verdict { held, of, details: Vec::new() }.word();
        assert_eq!(
            [word(0, 0), word(2, 2), word(1, 2), word(0, 2)],
            ["not measured", "agrees", "partly", "differs"]
        );
    }
}
