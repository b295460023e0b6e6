//! The page of an experiment: how it was run, what the paper says and whether it holds, plots, and all numbers.

use crate::cells::{AS_USUAL, Finished, TopicPair, USUAL};
use crate::claims::{Ground, Measure, NEAR, Verdict, check, score_within, seconds_to};
use crate::experiment::{Corpus, Experiment, Table};
use crate::figures::Drawing;
use crate::findings::{Findings, Place, Spread, value_of};
use crate::library::Corpora;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Where the paper reports hours, and how many tokens it went through in them: documents times their mean length.
const TIMED: [(Corpus, f64); 4] = [
    (Corpus::Imdb, 614_589.0 * 82.2),
    (Corpus::Wikipedia, 1_010_000.0 * 162.3),
    (Corpus::Reuters, 299_877.0 * 287.4),
    (Corpus::Pubmed, 2_100_000.0 * 82.0),
];

/// Hours that the paper reports on them.
const HOURS: [(&str, [u32; 4]); 8] = [
    ("g-oem", [13, 55, 30, 58]),
    ("v-oem++", [9, 37, 20, 54]),
    ("olda", [7, 33, 8, 30]),
    ("vargibbs", [12, 50, 28, 54]),
    ("svb", [7, 34, 9, 30]),
    ("splda", [9, 37, 20, 54]),
    ("sgs", [11, 48, 27, 50]),
    ("lds", [7, 17, 12, 40]),
];

/// One statement of the paper on one corpus.
pub struct Checked {
    pub says: &'static str,
    pub corpus: String,
    pub verdict: Verdict,
}

/// All statements of the paper about an experiment.
pub fn checks(experiment: &Experiment, findings: &Findings<'_>, corpora: &Corpora) -> Vec<Checked> {
    let mut checked = Vec::new();
    for expectation in experiment.paper {
        for &corpus in expectation.corpora {
            let Some(source) = corpora.source(corpus) else { continue };
            let reference = corpora.scale().reference_topics(corpus);
            let ground = Ground { findings, corpus: source.name(), reference };
            checked.push(Checked {
                says: expectation.says,
                corpus: source.name().to_owned(),
                verdict: check(expectation, &ground),
            });
        }
    }
    checked
}

/// An experiment with all that was made of it.
pub struct Page<'a> {
    pub experiment: &'a Experiment,
    pub findings: &'a Findings<'a>,
    pub corpora: &'a Corpora,
    pub checks: &'a [Checked],
    pub drawings: &'a [Drawing],
    pub command: String,
}

impl Page<'_> {
    /// The page in Markdown.
    pub fn markdown(&self) -> Result<String, std::fmt::Error> {
        let mut text = format!("# {}: {}\n\n", self.experiment.id, self.experiment.title);
        self.write_settings(&mut text)?;
        self.write_checks(&mut text)?;
        for drawing in self.drawings {
            writeln!(text, "\n![{}]({}.svg)", drawing.caption, drawing.name)?;
        }
        for corpus in self.findings.corpora() {
            let section =
                Section { findings: self.findings, corpus, reference: self.corpora.reference_topics(corpus) };
            match self.experiment.table {
                Table::Scores => section.write_scores(Measure::Score, &mut text)?,
                Table::ScoresAndBounds => {
                    section.write_scores(Measure::Score, &mut text)?;
                    section.write_scores(Measure::Elbo, &mut text)?;
                }
                Table::Time => section.write_times(self.corpora.corpus(corpus), &mut text)?,
                Table::Topics => section.write_topics(&mut text)?,
                Table::Estimators => section.write_estimators(&mut text)?,
            }
        }
        Ok(text)
    }

    fn write_settings(&self, text: &mut String) -> std::fmt::Result {
        let (done, all) = (self.findings.finished.len(), self.findings.planned.len());
        if done < all {
            writeln!(
                text,
                "**Partial: {done} of {all} cells.** Whatever is compared has the same splits.\n"
            )?;
        }
        let Some(first) = self.findings.finished.first() else {
            return writeln!(text, "Nothing is finished yet.");
        };
        let of_all = |value: fn(&Finished) -> String| {
            let values: BTreeSet<String> =
                self.findings.finished.iter().map(|finished| value(finished)).collect();
            values.into_iter().collect::<Vec<_>>().join(", ")
        };
        if self.corpora.scale().is_drawn() {
            let warning =
                "Tiny random corpora: this shows that everything runs, and says nothing about the paper.";
            writeln!(text, "**{warning}**\n")?;
        }
        let cell = &first.cell;
        let cut = cell.longest.map_or(String::new(), |longest| {
            format!(
                "; of held-out documents above {longest} tokens only so many, picked at random, are scored"
            )
        });
        writeln!(text, "    {}\n", self.command)?;
        writeln!(
            text,
            "gibbstream {}, {done} of {all} cells. Settings of the paper: minibatches of {}, 20 sweeps or iterations (`lds` \
             200), steps 1/sqrt(i), one pass, unless the name of a method says otherwise. Scores are means of -log p(document) \
             in nats by `{}` with {} particles, lower is better{cut}. Medians over splits, in brackets the third and the \
             seventh decile; scores are shifted by how much harder their split is for word frequencies than the median \
             split, which makes no difference between methods (`cells.tsv` has them as they are).\n",
            of_all(|finished| finished.version.clone()),
            cell.batch,
            cell.estimator,
            cell.particles,
        )?;
        if self.findings.planned.iter().any(|cell| cell.method == USUAL) {
            writeln!(text, "`{AS_USUAL}` is what `train` does by default: `{USUAL}`.\n")?;
        }
        writeln!(
            text,
            "| corpus | in the paper | splits | documents | held out |\n|---|---|---:|---:|---:|"
        )?;
        for name in self.findings.corpora() {
            let cells = || self.findings.of_corpus(name);
            let splits: BTreeSet<u64> = cells().map(|finished| finished.cell.split).collect();
            let largest =
                |value: fn(&Finished) -> u64| cells().map(|finished| value(finished)).max().unwrap_or(0);
            writeln!(
                text,
                "| {name} | {} | {} | {} | {} |",
                self.corpora.corpus(name).map_or("", Corpus::in_the_paper),
                splits.len(),
                largest(|finished| finished.cell.documents),
                largest(|finished| finished.cell.held_out),
            )?;
        }
        let shown = self.findings.corpora();
        for remark in self.corpora.remarks() {
            if shown.iter().any(|name| remark.starts_with(&format!("`{name}`"))) {
                writeln!(text, "\n{remark}")?;
            }
        }
        Ok(())
    }

    fn write_checks(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n## What the paper says\n\nAbout the same means within {} %.\n", 100.0 * NEAR)?;
        writeln!(
            text,
            "| the paper | corpus | here | comparisons that agree | medians |\n|---|---|---|---:|---|"
        )?;
        // What is not measured yet need not be said.
        let partial = self.findings.finished.len() < self.findings.planned.len();
        let shown = self.checks.iter().filter(|checked| !partial || checked.verdict.of > 0);
        for Checked { says, corpus, verdict } in shown {
            writeln!(
                text,
                "| {says} | {corpus} | **{}** | {} of {} | {} |",
                verdict.word(),
                verdict.held,
                verdict.of,
                verdict.details.join("; "),
            )?;
        }
        Ok(())
    }
}

/// One corpus of a page.
struct Section<'a> {
    findings: &'a Findings<'a>,
    corpus: &'a str,
    reference: usize,
}

impl Section<'_> {
    fn spread(
        &self,
        series: &str,
        topics: usize,
        value: impl Fn(&Finished) -> Option<f64>,
    ) -> Option<Spread> {
        self.findings.spread(Place { corpus: self.corpus, series, topics }, value)
    }

    fn write_scores(&self, measure: Measure, text: &mut String) -> std::fmt::Result {
        let title = if measure == Measure::Elbo { ": evidence lower bound" } else { "" };
        let value = |finished: &Finished| value_of(measure, finished);
        let grid = self.findings.topics(self.corpus, None);
        let heads: String =
            grid.iter().fold(String::new(), |heads, topics| format!("{heads} K = {topics} |"));
        writeln!(
            text,
            "\n## {}{title}\n\n| method |{heads}\n|---|{}",
            self.corpus,
            "---:|".repeat(grid.len())
        )?;
        for series in self.findings.series(self.corpus) {
            let cells: Vec<String> =
                grid.iter().map(|&topics| shown(self.spread(&series, topics, value), 1)).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                writeln!(text, "| `{series}` | {} |", cells.join(" | "))?;
            }
        }
        if measure == Measure::Score {
            self.write_level(
                "word frequencies",
                &grid,
                |finished| Some(finished.unigram_log_perplexity_per_document),
                text,
            )?;
            self.write_level(
                "true parameters",
                &grid,
                |finished| finished.true_parameters_log_perplexity_per_document,
                text,
            )?;
        }
        let used: Vec<f64> = self
            .findings
            .of_corpus(self.corpus)
            .filter_map(|finished| Some(finished.topics_used? as f64))
            .collect();
        if let Some(used) = Spread::of(used) {
            writeln!(
                text,
                "\nWhere the number of topics is open, {} were in use at the end.",
                shown(Some(used), 0)
            )?;
        }
        Ok(())
    }

    fn write_level(
        &self,
        name: &str,
        grid: &[usize],
        value: fn(&Finished) -> Option<f64>,
        text: &mut String,
    ) -> std::fmt::Result {
        let at = |topics: usize| {
            let cells =
                self.findings.of_corpus(self.corpus).filter(|finished| finished.cell.topics == topics);
            Spread::of(cells.filter_map(|finished| value(finished)).collect())
        };
        let cells: Vec<String> = grid
            .iter()
            .map(|&topics| at(topics).map_or(String::new(), |spread| format!("{:.1}", spread.median)))
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            writeln!(text, "| {name} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }

    /// Speed, the score at equal time, and the time to an equal score.
    fn write_times(&self, corpus: Option<Corpus>, text: &mut String) -> std::fmt::Result {
        let series = self.findings.series(self.corpus);
        let at =
            |name: &str, value: &dyn Fn(&Finished) -> Option<f64>| self.spread(name, self.reference, value);
        let seconds = |finished: &Finished| Some(finished.train_cpu_seconds);
        let finals = |finished: &Finished| Some(finished.log_perplexity_per_document);
        let times = series.iter().filter_map(|name| Some(at(name, &seconds)?.median));
        let shortest = times.fold(f64::INFINITY, f64::min);
        let scores = series.iter().filter_map(|name| Some(at(name, &finals)?.median));
        let Some(middle) = Spread::of(scores.collect()) else { return Ok(()) };
        // What is never attained takes for ever.
        let to_the_middle =
            |finished: &Finished| Some(seconds_to(&finished.curve, middle.median).unwrap_or(f64::MAX));
        let column = TIMED.iter().position(|(timed, _)| Some(*timed) == corpus);
        let minutes_here = |finished: &Finished| {
            let tokens_per_second = finished.tokens as f64 / finished.train_cpu_seconds;
            Some(TIMED[column?].1 / tokens_per_second / 60.0)
        };
        writeln!(text, "\n## {}, K = {}\n", self.corpus, self.reference)?;
        writeln!(
            text,
            "Equal time: {shortest:.1} CPU seconds, what the fastest method takes for all documents. Equal score: {:.1}, the \
             median of all methods at the end. Both are read off the curves, which have a few points. \
             Minutes here: of one core, for as many tokens as the paper's corpus has, at the speed measured here.\n",
            middle.median
        )?;
        writeln!(
            text,
            "| method | documents per CPU s | CPU s | score | at equal time | CPU s to equal score | minutes here | hours in the paper |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        for name in &series {
            let speed = |finished: &Finished| Some(finished.documents() as f64 / finished.train_cpu_seconds);
            let hours = HOURS.iter().find(|(method, _)| method == name);
            writeln!(
                text,
                "| `{name}` | {} | {} | {} | {} | {} | {} | {} |",
                shown(at(name, &speed), 0),
                shown(at(name, &seconds), 1),
                shown(at(name, &finals), 1),
                shown(at(name, &|finished| score_within(&finished.curve, shortest)), 1),
                shown(at(name, &to_the_middle), 2),
                shown(at(name, &minutes_here), 1),
                hours.zip(column).map_or(String::new(), |((_, hours), column)| hours[column].to_string()),
            )?;
        }
        Ok(())
    }

    fn write_topics(&self, text: &mut String) -> std::fmt::Result {
        let Some(first) = self
            .findings
            .of_corpus(self.corpus)
            .find_map(|finished| Some((finished, finished.beside.as_ref()?)))
        else {
            return Ok(());
        };
        let (finished, beside) = first;
        writeln!(
            text,
            "\n## {}, K = {}, split {}\n\nThe {} largest topics of `{}`, each beside the topic of `{}` that optimal assignment by \
             Kullback-Leibler divergence gives it.\n",
            self.corpus,
            finished.cell.topics,
            finished.cell.split,
            beside.pairs.len(),
            finished.cell.method,
            beside.method
        )?;
        writeln!(
            text,
            "| share | `{}` | divergence | `{}` |\n|---:|---|---:|---|",
            finished.cell.method, beside.method
        )?;
        for TopicPair { share, divergence, words, words_beside } in &beside.pairs {
            writeln!(
                text,
                "| {:.1} % | {} | {divergence:.2} | {} |",
                100.0 * share,
                words.join(" "),
                words_beside.join(" ")
            )?;
        }
        writeln!(
            text,
            "\nMean coherence of all topics in the documents that they were learnt from, ten words each:\n"
        )?;
        writeln!(
            text,
            "| split | NPMI | beside | C_V | beside | UMass | beside |\n|---:|---:|---:|---:|---:|---:|---:|"
        )?;
        for finished in self.findings.of_corpus(self.corpus) {
            let Some(beside) = &finished.beside else { continue };
            let [own, other] = beside.coherence;
            writeln!(
                text,
                "| {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} |",
                finished.cell.split, own.npmi, other.npmi, own.c_v, other.c_v, own.umass, other.umass
            )?;
        }
        Ok(())
    }

    fn write_estimators(&self, text: &mut String) -> std::fmt::Result {
        let series = self.findings.series(self.corpus);
        let Some(first) =
            self.findings.of_corpus(self.corpus).find(|finished| !finished.estimates.is_empty())
        else {
            return Ok(());
        };
        let heads = first.estimates.iter().fold(String::new(), |heads, estimate| {
            format!("{heads} {}, {} |", estimate.estimator, estimate.particles)
        });
        writeln!(
            text,
            "\n## {}, K = {}\n\n`gibbs`: each word given samples of the topics of all words \
             before it, from chains that run long between words.\n\n| model |{heads}\n|---|{}",
            self.corpus,
            self.reference,
            "---:|".repeat(first.estimates.len())
        )?;
        for name in &series {
            let by = |place: usize| {
                move |finished: &Finished| Some(finished.estimates.get(place)?.log_perplexity_per_document)
            };
            let cells: Vec<String> = (0..first.estimates.len())
                .map(|place| shown(self.spread(name, self.reference, by(place)), 2))
                .collect();
            writeln!(text, "| `{name}` | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// The median, with the deciles if there are several values.
fn shown(spread: Option<Spread>, digits: usize) -> String {
    let Some(Spread { low, median, high, splits }) = spread else { return String::new() };
    // What is never attained has the largest number there is, and so have deciles that lean on it.
    let number = |value: f64| if value < 1e300 { format!("{value:.digits$}") } else { "never".to_owned() };
    if splits < 2 || low == high {
        return number(median);
    }
    format!("{} ({}–{})", number(median), number(low), number(high))
}
