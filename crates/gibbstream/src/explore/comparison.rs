//! The model beside another one.

use super::facts::model_facts;
use super::report::Comparison;
use super::topics::{BEST_WORDS, made_names};
use crate::corpus::{Document, Vocabulary};
use crate::error::Result;
use crate::evaluation::alignment::{Distance, ScoreDifference, align_models};
use crate::evaluation::Evaluation;
use crate::learn::{Observation, Snapshot};

/// Another model, and what to call it.
pub struct Other<'a> {
    /// The name of its file.
    pub name: String,
    /// The model, which must have topics.
    pub snapshot: &'a Snapshot,
}

/// Pairs of topics, and what moved. `documents` are scored by both models, if they know the same words.
pub(super) fn comparison(
    snapshot: &Snapshot,
    other: &Other<'_>,
    documents: &[Document],
    evaluation: Evaluation,
) -> Result<Comparison> {
    let (words_a, words_b) = (snapshot.features.vocabulary(), other.snapshot.features.vocabulary());
    let (a, b) = (snapshot.parameters()?.topics()?, other.snapshot.parameters()?.topics()?);
    let best = |parameters: &crate::learn::TopicParameters, words: &Vocabulary| -> Vec<Vec<String>> {
        let names = |summary: crate::summary::TopicSummary| {
            summary.words.iter().map(|&(word, _)| words.word(word).to_owned()).collect()
        };
        parameters.summaries(BEST_WORDS, 1.0).into_iter().map(names).collect()
    };
    let (best_a, best_b) = (best(a, &words_a), best(b, &words_b));
    let mut pairs = align_models((a, &words_a), (b, &words_b), Distance::JensenShannon);
    pairs.sort_by_key(|pair| pair.a);
    let missing = |from: &[String], to: &[String]| -> Vec<String> {
        from.iter().filter(|word| !to.contains(word)).cloned().collect()
    };
    let score = if documents.len() > 1 && same_words(&words_a, &words_b) {
        Some(score(snapshot, other.snapshot, documents, evaluation)?)
    } else {
        None
    };
    Ok(Comparison {
        name: other.name.clone(),
        other: model_facts(other.snapshot),
        labels: made_names(b, &words_b, &other.snapshot.shown),
        shares: b.shares.clone(),
        common_words: words_a.words().filter(|word| words_b.id(word).is_some()).count() as u64,
        a: pairs.iter().map(|pair| pair.a as u32).collect(),
        b: pairs.iter().map(|pair| pair.b as u32).collect(),
        distance: pairs.iter().map(|pair| (pair.distance / std::f64::consts::LN_2).clamp(0.0, 1.0).sqrt()).collect(),
        gained: pairs.iter().map(|pair| missing(&best_b[pair.b], &best_a[pair.a])).collect(),
        lost: pairs.iter().map(|pair| missing(&best_a[pair.a], &best_b[pair.b])).collect(),
        words: best_b,
        score,
    })
}

/// Whether scores of two models are of the same parts of documents.
pub(super) fn same_words(a: &Vocabulary, b: &Vocabulary) -> bool {
    a.len() == b.len() && a.words().all(|word| b.id(word).is_some())
}

/// How much better the second model predicts documents with the words of the first.
fn score(a: &Snapshot, b: &Snapshot, documents: &[Document], evaluation: Evaluation) -> Result<ScoreDifference> {
    let (words_a, words_b) = (a.features.vocabulary(), b.features.vocabulary());
    let renumbered = |document: &Document| {
        let words = document.words.iter();
        let words = words.filter_map(|&(word, count)| Some((words_b.id(words_a.word(word))?, count)));
        Document { words: crate::corpus::count_words(words.collect()), ..Document::default() }
    };
    let each = |model: &Snapshot, documents: Vec<Document>| -> Result<Vec<f64>> {
        let mut scores = Vec::new();
        let documents = documents.into_iter().map(|document| Ok(Observation::Document(document)));
        model.parameters()?.score(evaluation, documents, |score| scores.push(score))?;
        Ok(scores)
    };
    let scores_a = each(a, documents.to_vec())?;
    ScoreDifference::new(&scores_a, &each(b, documents.iter().map(renumbered).collect())?)
}
