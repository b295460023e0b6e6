//! Local Gibbs sampling: the E-step of G-OEM (Algorithm 2 of the paper, science.md 3.2).

use super::chain::{Chain, Move};
use super::document_stats::DocumentStats;
use super::{LocalInference, Passes};
use crate::corpus::{Entry, Minibatch};
use crate::model::LatentModel;
use crate::model::topics::statistics::TopicStatistics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::Stream;
use serde::{Deserialize, Serialize};

/// Sweeps over the tokens of a document, some of which are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gibbs {
    /// Number of sweeps P.
    pub sweeps: usize,
    /// Which of them are kept.
    pub window: Window,
    /// What is kept of them.
    pub statistic: Statistic,
    /// How a token's topic is drawn anew.
    pub transition: Move,
}

/// Which sweeps are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// The last quarter, at least one.
    LastQuarter,
    /// The second half.
    LastHalf,
    /// The last one alone.
    Last,
}

impl Window {
    /// How many of so many sweeps are kept.
    pub fn kept(self, sweeps: usize) -> usize {
        let kept = match self {
            Self::LastQuarter => sweeps / 4,
            Self::LastHalf => sweeps / 2,
            Self::Last => 1,
        };
        kept.max(1)
    }

    /// The first sweep that is kept, counted from 0.
    pub fn first_kept(self, sweeps: usize) -> usize {
        sweeps - self.kept(sweeps)
    }
}

/// What is kept of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// At the end of the sweep, the probabilities of each token's topic given all the others.
    RaoBlackwell,
    /// The same probabilities at the moment when the token is drawn.
    InSweep,
    /// The topics themselves.
    Counts,
}

impl Gibbs {
    /// Plain Gibbs sampling as in G-OEM.
    pub const fn new(sweeps: usize) -> Self {
        Self {
            sweeps,
            window: Window::LastQuarter,
            statistic: Statistic::RaoBlackwell,
            transition: Move::Gibbs,
        }
    }
}

/// The topics of a document's tokens, its random stream, and the statistics kept.
#[derive(Clone, Debug, Default)]
pub struct DocumentTopics {
    /// (row of the word, topic) for every token.
    tokens: Vec<(u32, u32)>,
    random: Stream,
    stats: DocumentStats,
}

/// Words whose sums are asked for in advance while topics are drawn.
const WORDS_AHEAD: usize = 4;

/// (row of the word, topic) for every token of a document, each topic drawn by its word alone.
pub(super) fn starting_topics<'a>(
    view: &'a TopicView,
    document: &'a [Entry],
    random: &'a mut Stream,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let tokens = document.iter().enumerate().flat_map(move |(row, entry)| {
        if let Some(soon) = document.get(row + WORDS_AHEAD) {
            view.prefetch_weights(soon.word);
        }
        std::iter::repeat_n((row as u32, entry.word), entry.count as usize)
    });
    tokens.map(|(row, word)| (row, view.find_in_weights(word, random.uniform()) as u32))
}

impl<M> LocalInference<M> for Gibbs
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Statistics = TopicStatistics>,
{
    type Latent = DocumentTopics;
    type Scratch = Chain;

    fn view(&self) -> TopicView {
        TopicView::for_sampling()
    }

    fn passes(&self) -> usize {
        self.sweeps
    }

    fn first_kept(&self) -> usize {
        self.window.first_kept(self.sweeps)
    }

    /// Every token starts in a topic drawn by its word alone.
    fn begin(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut DocumentTopics,
        mut random: Stream,
    ) {
        latent.tokens.clear();
        latent.tokens.extend(starting_topics(view, batch.document(index), &mut random));
        latent.random = random;
    }

    fn advance(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut DocumentTopics,
        chain: &mut Chain,
        passes: Passes,
    ) {
        chain.reset(view, batch.document(index).iter().map(|entry| entry.word));
        chain.load(view, latent.tokens.iter().copied());
        let Passes { range, keep_from } = passes;
        let last = range.end;
        for pass in range {
            let kept = pass >= keep_from;
            match (self.transition, self.statistic) {
                (Move::Gibbs, Statistic::InSweep) if kept => chain.sweep_and_keep(view, &mut latent.random),
                (Move::Gibbs, _) => chain.sweep(view, &mut latent.random),
                (Move::MetropolisHastings, _) => chain.sweep_by_proposals(view, &mut latent.random),
            }
            match (kept, self.statistic) {
                // Topics leave quickly at first and slowly later.
                (false, _) if pass.is_power_of_two() => chain.compact(),
                (true, Statistic::RaoBlackwell) => chain.keep(view),
                (true, Statistic::Counts) => chain.keep_counts(),
                (false, _) | (true, Statistic::InSweep) => {}
            }
        }
        if last < self.sweeps {
            latent.tokens.clear();
            latent.tokens.extend(chain.tokens());
        }
        chain.take_stats(view, batch.document(index), &mut latent.stats);
    }

    fn collect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [DocumentTopics],
        out: &mut TopicStatistics,
    ) {
        let documents = latents.iter_mut().map(|latent| &mut latent.stats);
        out.take_documents(view, batch, documents);
    }
}
