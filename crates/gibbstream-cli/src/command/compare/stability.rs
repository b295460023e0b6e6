//! Several models: which topics come again.

use crate::Outcome;
use crate::command::topics::load_topics;
use crate::output::{BAD, FAINT, GOOD, NOTABLE, Output, STRONG, WORDS, shown};
use gibbstream::Result;
use gibbstream::corpus::Vocabulary;
use gibbstream::evaluation::stability::{Stability, TopicStability, stability};
use gibbstream::learn::{Snapshot, TopicParameters};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    models: Vec<About>,
    /// How similar a topic must be that is found again.
    same: f64,
    #[serde(flatten)]
    stability: Stability,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct About {
    model: String,
    model_hash: String,
    seed: u64,
    topics: usize,
}

/// Looks for the topics of the first model in all others.
pub fn run(paths: &[PathBuf], words: usize, same: f64, output: &Output) -> anyhow::Result<Outcome> {
    let models = paths.iter().map(|path| load_topics(path)).collect::<Result<Vec<Snapshot>>>()?;
    let vocabularies: Vec<Vocabulary> = models.iter().map(|model| model.features.vocabulary()).collect();
    let parameters =
        models.iter().map(|model| model.parameters()?.topics()).collect::<Result<Vec<&TopicParameters>>>()?;
    let sides: Vec<(&TopicParameters, &Vocabulary)> = parameters.into_iter().zip(&vocabularies).collect();
    let first = models[0].hash();
    if models.iter().skip(1).any(|model| model.hash() == first) {
        output.warn("the same model is given twice, which says nothing about stability");
    }
    let about = |(path, model): (&PathBuf, &Snapshot)| About {
        model: path.display().to_string(),
        model_hash: model.hash(),
        seed: model.settings.seed.0,
        topics: model.components(),
    };
    let report = Report {
        schema: "gibbstream/stability/1",
        models: paths.iter().zip(&models).map(about).collect(),
        same,
        stability: stability(&sides, words, same),
        warnings: output.warnings(),
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&table(&report)?)?;
    }
    Ok(Outcome::Done)
}

fn table(report: &Report) -> Result<String, std::fmt::Error> {
    let (all, others) = (report.models.len(), report.models.len() - 1);
    let mut topics: Vec<&TopicStability> = report.stability.topics.iter().collect();
    topics.sort_by(|a, b| b.stability.total_cmp(&a.stability).then(a.id.cmp(&b.id)));
    let mut text = format!("{STRONG}topic   share  stability  found in  words (* in all models){STRONG:#}\n");
    for topic in topics {
        let style = match topic.found_in {
            found if found == others => GOOD,
            0 => BAD,
            _ => NOTABLE,
        };
        let word = |word: &gibbstream::evaluation::stability::StableWord| {
            format!("{}{}", shown(&word.word), if word.models == all { "*" } else { "" })
        };
        let words: Vec<String> = topic.words.iter().map(word).collect();
        writeln!(
            text,
            "{STRONG}{:5}{STRONG:#}  {:5.1}%  {style}{:9.2}{style:#}  {:3} of {others:<2}  {WORDS}{}{WORDS:#}",
            topic.id,
            100.0 * topic.share,
            topic.stability,
            topic.found_in,
            words.join(" ")
        )?;
    }
    let Stability { stability, stable_topics, topics } = &report.stability;
    writeln!(
        text,
        "{STRONG}{stable_topics} of {} topics are found in all {all} models{STRONG:#}; mean stability {stability:.2}  \
         {FAINT}(by share; found: similarity {} or more){FAINT:#}",
        topics.len(),
        report.same
    )?;
    Ok(text)
}
