//! What the paper says, in a form that can be true or false of finished cells.

use super::cells::{Finished, Moment};
use super::experiments::Expectation;
use super::findings::{Findings, Place, value_of};

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
                .filter(|other| *other != series)
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
