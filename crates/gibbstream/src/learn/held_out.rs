//! Observations that are held out of training, and how well the parameters so far predict them.

use super::batch::Observation;
use super::cost::Cost;
use super::parameters::{AnyScore, Parameters};
use crate::corpus::{Document, OpenVocabulary, count_words};
use crate::error::Result;
use crate::evaluation::Evaluation;
use crate::learn::schedule::Step;
use serde::Serialize;

/// The observations.
pub struct HeldOut {
    /// In their order.
    pub observations: Vec<Observation>,
    /// What their word ids mean, if not what they mean for training.
    pub words: Option<OpenVocabulary>,
}

/// A score at some point of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Evaluated {
    /// Minibatches learnt from.
    pub updates: u64,
    /// Documents or rows learnt from.
    pub documents_seen: u64,
    /// Time spent training until then.
    pub train_seconds: f64,
    /// The same on all processors.
    pub train_cpu_seconds: f64,
    /// The score of what is held out.
    #[serde(flatten)]
    pub score: AnyScore,
}

impl HeldOut {
    /// Scores the observations. `open` is the vocabulary of training if it is not fixed.
    pub fn evaluate(
        &self,
        parameters: &Parameters,
        evaluation: Evaluation,
        open: Option<&OpenVocabulary>,
        clock: Step,
        cost: Cost,
    ) -> Result<Evaluated> {
        let score = parameters.score(evaluation, self.numbered_as(open).map(Ok), |_| ())?;
        Ok(Evaluated {
            updates: clock.update,
            documents_seen: clock.seen,
            train_seconds: cost.wall.as_secs_f64(),
            train_cpu_seconds: cost.cpu.as_secs_f64(),
            score,
        })
    }

    /// The observations, their words numbered as in training.
    fn numbered_as<'a>(&'a self, open: Option<&'a OpenVocabulary>) -> impl Iterator<Item = Observation> + 'a {
        let words = self.words.as_ref().map(OpenVocabulary::vocabulary);
        self.observations.iter().map(move |observation| match (observation, &words, open) {
            (Observation::Document(document), Some(words), Some(open)) => {
                renumbered(document, |word| open.find(words.word(word))).into()
            }
            _ => observation.clone(),
        })
    }
}

fn renumbered(document: &Document, number: impl Fn(u32) -> Option<u32>) -> Document {
    let mut found = Document { id: document.id.clone(), ..Document::default() };
    for &(word, count) in &document.words {
        match number(word) {
            Some(word) => found.words.push((word, count)),
            None => found.out_of_vocabulary += u64::from(count),
        }
    }
    found.words = count_words(found.words);
    found
}
