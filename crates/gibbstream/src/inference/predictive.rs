//! Local Gibbs sampling that sees the posterior of each topic as its prior (science.md 4.3): beside what topics have
//! learnt, a document's own tokens count.
//!
//! A token of word w takes topic k with weight `(n_k + alpha_k) (n_kw + L_k phi_kw) / (n_k + L_k)`, where `L_k` is how
//! many tokens `phi_k` is worth. Topics without a token in the document have `alpha_k phi_kw`, the prior mass of the
//! view, so only the topics present are looked at one by one.

use super::document_stats::DocumentStats;
use super::gibbs::{Window, starting_topics};
use super::slots::NewTopics;
use super::{LocalInference, Passes};
use crate::corpus::{Entry, Minibatch};
use crate::model::LatentModel;
use crate::model::topics::statistics::TopicStatistics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::Stream;

/// Sweeps over the tokens of a document, some of which are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictiveGibbs {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Which of them are kept.
    pub window: Window,
}

/// A document and the topics of its tokens.
#[derive(Clone, Debug, Default)]
pub struct PredictiveDocument {
    /// (row of the word, slot of the topic) for every token.
    tokens: Vec<(u32, u32)>,
    words: Vec<u32>,
    /// Topic of each slot; a topic that has lost its tokens keeps its slot.
    topics: Vec<u32>,
    /// Tokens of each slot.
    sizes: Vec<f64>,
    /// For each slot, tokens of each word.
    counts: Vec<Vec<f64>>,
    new_topics: NewTopics,
    random: Stream,
    stats: DocumentStats,
    weights: Vec<f64>,
}

impl PredictiveDocument {
    /// A document whose tokens have these topics.
    pub fn start(&mut self, document: &[Entry], topics: impl Iterator<Item = (u32, u32)>, random: Stream) {
        self.words.clear();
        self.words.extend(document.iter().map(|entry| entry.word));
        self.tokens.clear();
        self.topics.clear();
        self.sizes.clear();
        self.counts.clear();
        self.new_topics.clear();
        self.random = random;
        for (row, topic) in topics {
            let slot = self.slot_of(topic);
            self.tokens.push((row, slot as u32));
            self.change(row, slot, 1.0);
        }
    }

    fn slot_of(&mut self, topic: u32) -> usize {
        self.topics.iter().position(|&other| other == topic).unwrap_or_else(|| {
            self.topics.push(topic);
            self.sizes.push(0.0);
            self.counts.push(vec![0.0; self.words.len()]);
            self.topics.len() - 1
        })
    }

    fn change(&mut self, row: u32, slot: usize, by: f64) {
        self.sizes[slot] += by;
        self.counts[slot][row as usize] += by;
    }

    /// `alpha_k` of a topic, known or met by this document alone.
    fn alpha(&self, view: &TopicView, topic: usize) -> f64 {
        match topic.checked_sub(view.known_topics()) {
            Some(own) => view.alpha()[view.known_topics()] * self.new_topics.share(own),
            None => view.alpha()[topic],
        }
    }

    /// Visits every token once, in uniformly random order, and draws its topic anew.
    pub fn sweep(&mut self, view: &TopicView) {
        let mut random = self.random.clone();
        random.shuffle(&mut self.tokens);
        for place in 0..self.tokens.len() {
            let (row, slot) = self.tokens[place];
            self.change(row, slot as usize, -1.0);
            let slot = self.draw(view, row, &mut random);
            self.tokens[place].1 = slot as u32;
            self.change(row, slot, 1.0);
        }
        self.random = random;
    }

    /// A slot for a token of the word in `row`, given all the others.
    fn draw(&mut self, view: &TopicView, row: u32, random: &mut Stream) -> usize {
        let word = self.words[row as usize];
        let scale = view.scale(word);
        let mut absent = view.prior_mass(word);
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        for (slot, &topic) in self.topics.iter().enumerate() {
            let size = self.sizes[slot];
            if size == 0.0 {
                weights.push(0.0);
                continue;
            }
            let (alpha, strength) = (self.alpha(view, topic as usize), view.strength(topic as usize));
            let phi = f64::from(view.relative(word, topic as usize)) / scale;
            absent -= alpha * phi;
            let count = self.counts[slot][row as usize];
            weights.push((size + alpha) * (count + strength * phi) / (size + strength));
        }
        let present: f64 = weights.iter().sum();
        let inside = random.uniform() * (present + absent.max(0.0)) < present;
        let slot = if inside { random.categorical(&weights) } else { self.draw_absent(view, word, random) };
        self.weights = weights;
        slot
    }

    /// A topic that the document has no token in: from the prior, until it is one.
    fn draw_absent(&mut self, view: &TopicView, word: u32, random: &mut Stream) -> usize {
        loop {
            let mut topic = view.find_in_prior(word, random.uniform());
            if let Some(concentration) = view.stick_concentration()
                && topic == view.known_topics()
            {
                topic += self.new_topics.pick(concentration, random);
            }
            let slot = self.slot_of(topic as u32);
            if self.sizes[slot] == 0.0 {
                return slot;
            }
        }
    }

    /// Keeps the topics of the present state.
    fn keep(&mut self) {
        let counts = self.tokens.iter().map(|&(row, slot)| (row as usize, slot as usize));
        self.stats.add_tokens(self.words.len(), &self.topics, counts);
        let sizes = self.topics.iter().zip(&self.sizes).filter(|&(_, &size)| size > 0.0);
        self.stats.add_sizes(sizes.map(|(&topic, &size)| (topic, size as u32)));
    }

    /// (row, topic) of every token, in the present order.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.tokens.iter().map(|&(row, slot)| (row, self.topics[slot as usize]))
    }
}

impl<M> LocalInference<M> for PredictiveGibbs
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Statistics = TopicStatistics>,
{
    type Latent = PredictiveDocument;
    type Scratch = ();

    fn view(&self) -> TopicView {
        TopicView::for_sampling()
    }

    fn passes(&self) -> usize {
        self.sweeps
    }

    fn first_kept(&self) -> usize {
        self.sweeps - self.window.kept(self.sweeps)
    }

    /// Every token starts in a topic drawn by its word alone.
    fn begin(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut PredictiveDocument,
        mut random: Stream,
    ) {
        let start: Vec<(u32, u32)> = starting_topics(view, batch.document(index), &mut random).collect();
        latent.start(batch.document(index), start.into_iter(), random);
    }

    fn advance(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut PredictiveDocument,
        (): &mut (),
        passes: Passes,
    ) {
        latent.stats.clear();
        for pass in passes.range {
            latent.sweep(view);
            if pass >= passes.keep_from {
                latent.keep();
            }
        }
        latent.stats.close(&latent.topics, latent.new_topics.shares(), view, batch.document(index));
    }

    fn collect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [PredictiveDocument],
        out: &mut TopicStatistics,
    ) {
        let documents = latents.iter_mut().map(|latent| &mut latent.stats);
        out.take_documents(view, batch, documents);
    }
}
