//! Models with an open number of topics: the sampler against exact laws, the M-step against its definition, whole runs
//! against known truths.
#![allow(missing_docs, clippy::unwrap_used)]

mod runs;
mod sampler;
mod steps;

use gibbstream::corpus::{Document, Minibatch};
use gibbstream::learn::method::Method;
use gibbstream::learn::{ModelKind, Settings};
use gibbstream::model::topics::hdp::HdpSettings;
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::random::Seed;

/// A view of topics that are known, with `phi[word][k]`, and of all others.
fn open_view(phi: &[Vec<f64>], alpha: &[f64], unmet: f64, concentration: f64) -> TopicView {
    let uniform = 1.0 / phi.len() as f64;
    let all: Vec<f64> = alpha.iter().copied().chain([unmet]).collect();
    let mut view = TopicView::for_sampling();
    let words: Vec<u32> = (0..phi.len() as u32).collect();
    view.refresh(&words, &all, |word, row| {
        row[..alpha.len()].copy_from_slice(&phi[word]);
        row[alpha.len()] = uniform;
        (row.iter().sum(), row.iter().zip(&all).map(|(weight, alpha)| weight * alpha).sum())
    });
    view.open(concentration);
    view
}

fn document(words: &[u32]) -> Document {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    for word in sorted {
        match counts.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => counts.push((word, 1)),
        }
    }
    Document { words: counts, ..Document::default() }
}

fn settings(method: Method, vocabulary: usize, seed: u64) -> Settings {
    let model = ModelKind::Hdp(HdpSettings::default());
    Settings { model, ..Settings::new(2).method("test", method).vocabulary(vocabulary).seed(seed) }
}

fn batches(documents: &[Document], size: usize) -> Vec<Minibatch> {
    let some = documents.chunks(size).enumerate();
    some.map(|(i, documents)| Minibatch::new(documents, (i * size) as u64, 0)).collect()
}
