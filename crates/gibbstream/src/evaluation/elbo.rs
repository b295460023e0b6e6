//! The evidence lower bound of held-out documents: mean field instead of particles (science.md 5.3).
//!
//! Only the part that belongs to documents, equation (8) of science.md 3.3. Under a Bayesian rule the topics
//! are summed out too, by `E[log beta]` in place of `log beta`; see [`Lda::log_topics`].
//!
//! [`Lda::log_topics`]: crate::model::topics::lda::Lda::log_topics

use super::stream::{Held, Sums, Workers};
use crate::corpus::{Document, Minibatch};
use crate::error::{Error, Result};
use crate::inference::mean_field::Variational;
use crate::model::topics::lda::LogTopics;
use crate::model::topics::view::{TopicView, weight_and_prior};

/// Settings of the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elbo {
    /// Mean-field iterations over a document, at most.
    pub iterations: usize,
    /// Less, once no expected count of a topic moves by more than this.
    pub tolerance: f64,
    /// Worker threads; never changes a result.
    pub threads: usize,
}

impl Default for Elbo {
    fn default() -> Self {
        Self { iterations: 100, tolerance: 1e-5, threads: 1 }
    }
}

/// The bound over all documents, in nats.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ElboScore {
    /// Documents, empty ones included; their bound is 0.
    pub documents: u64,
    /// Tokens in the vocabulary.
    pub tokens: u64,
    /// Tokens that were left out because the model does not know their word.
    pub out_of_vocabulary_tokens: u64,
    /// Mean over documents of the lower bound of `log p(X)`. Minus infinity, `null` in JSON, if all topics give
    /// probability 0 to some word of the documents.
    pub elbo_per_document: f64,
    /// Its standard error over documents; `None` for fewer than two documents or an infinite mean.
    pub standard_error: Option<f64>,
}

/// Weights of the words of some documents: the largest of each word is 1, its logarithm stands apart, so that
/// nothing underflows.
#[derive(Default)]
struct ScaledView {
    view: TopicView,
    log_scales: Vec<f64>,
}

impl ScaledView {
    fn refresh(&mut self, topics: &LogTopics, batch: &Minibatch) {
        let largest = |&word: &u32| topics.row(word).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.log_scales.clear();
        self.log_scales.extend(batch.words().iter().map(largest));
        self.view.refresh(batch.words(), &topics.alpha, |index, row| {
            let scale = self.log_scales[index];
            for (weight, log_weight) in row.iter_mut().zip(topics.row(batch.words()[index])) {
                *weight = if scale > f64::NEG_INFINITY { libm::exp(log_weight - scale) } else { 1.0 };
            }
            weight_and_prior(row, &topics.alpha)
        });
    }
}

impl Elbo {
    /// The bound of all documents.
    pub fn score(
        &self,
        topics: &LogTopics,
        documents: impl IntoIterator<Item = Result<Document>>,
    ) -> Result<ElboScore> {
        if self.iterations == 0 {
            let advice = "choose at least 1, such as 100";
            return Err(Error::setting("elbo iterations", "a bound needs some", advice));
        }
        let workers = Workers::<Variational>::new(self.threads, topics.vocabulary())?;
        let mut sums = Sums::default();
        workers.run(
            documents,
            ScaledView::default(),
            |batch, scaled| scaled.refresh(topics, batch),
            |scaled, held, document| self.bound(scaled, held, document),
            |document, bound| sums.add(document, *bound),
        )?;
        Ok(ElboScore {
            elbo_per_document: sums.mean()?,
            documents: sums.documents,
            tokens: sums.tokens,
            out_of_vocabulary_tokens: sums.out_of_vocabulary_tokens,
            standard_error: sums.standard_error(),
        })
    }

    fn bound(&self, scaled: &ScaledView, held: &Held<'_>, q: &mut Variational) -> f64 {
        let (view, entries) = (&scaled.view, held.entries());
        q.start(view, held.document.tokens());
        let mut before = Vec::new();
        for _ in 0..self.iterations {
            before.clone_from(&q.gamma);
            q.iterate(view, entries);
            let still = |(old, new): (&f64, &f64)| (old - new).abs() <= self.tolerance;
            if before.iter().zip(&q.gamma).all(still) {
                break;
            }
        }
        let scales =
            entries.iter().map(|entry| f64::from(entry.count) * scaled.log_scales[entry.word as usize]);
        q.bound(view, entries) + scales.sum::<f64>()
    }
}
