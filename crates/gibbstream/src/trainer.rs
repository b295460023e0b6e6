//! Training a topic model from settings: names become types here, once.

use crate::batch_size::BatchSize;
use crate::corpus::Minibatch;
use crate::error::{Error, Result};
use crate::inference::LocalInference;
use crate::inference::chain::Move;
use crate::inference::collapsed::CollapsedGibbs;
use crate::inference::gibbs::Gibbs;
use crate::inference::mean_field::MeanField;
use crate::inference::predictive::PredictiveGibbs;
use crate::learn::Settings;
use crate::method::{Local, Method};
use crate::model::LatentModel;
use crate::model::alpha::smallest_entry;
use crate::model::births::BirthRule;
use crate::model::deaths::DeathRule;
use crate::model::hdp::{Hdp, topics_used};
use crate::model::lda::{Lda, LdaState, LogTopics, Topics};
use crate::model::sticks::Sticks;
use crate::online::{Online, Run};
use crate::schedule::Step;

impl Settings {
    /// The parameters to report.
    pub fn parameters(&self, learnt: &Learnt) -> Topics {
        let Learnt { state, clock, word_counts, .. } = learnt;
        match self.hdp_model() {
            Some(hdp) => hdp.parameters(state, clock),
            None => self.lda_model().parameters(state, clock, word_counts),
        }
    }

    /// Logarithms of the topics for the evidence lower bound.
    pub fn log_topics(&self, learnt: &Learnt) -> LogTopics {
        if self.model.hdp().is_some() {
            return self.parameters(learnt).into();
        }
        self.lda_model().log_topics(&learnt.state, &learnt.clock, &learnt.word_counts)
    }

    /// The model of an open number of topics that these settings describe.
    pub fn hdp_model(&self) -> Option<Hdp> {
        let settings = self.model.hdp()?;
        Some(Hdp {
            start: self.lda_model(),
            settings,
            births: BirthRule::DEFAULT,
            deaths: DeathRule::DEFAULT,
        })
    }

    /// The model with a fixed number of topics that these settings describe, or the one that an open number starts
    /// from.
    pub fn lda_model(&self) -> Lda {
        Lda {
            topics: self.components,
            vocabulary: self.features,
            rule: self.method.global,
            alpha: self.method.alpha,
            alpha_floor: smallest_entry(self.components, self.method.local == Local::MeanField),
            start: self.method.start,
            averaging: self.method.averaging,
            seed: self.seed,
        }
    }
}

/// What has been learnt so far, and from how much.
#[derive(Clone, Debug, PartialEq)]
pub struct Learnt {
    /// Statistics and parameters.
    pub state: LdaState,
    /// Updates made and documents seen.
    pub clock: Step,
    /// Tokens seen.
    pub tokens: u64,
    /// Tokens seen of each word: the unigram baseline.
    pub word_counts: Vec<u64>,
}

impl Learnt {
    /// Where the number of topics is open, how many are in use: those with more than a thousandth of all tokens.
    pub fn topics_used(&self) -> Option<usize> {
        self.state.sticks.as_ref().map(|_| topics_used(&self.state.counts.topic_tokens()))
    }

    /// Where the number of topics is open, how many were ever created.
    pub fn topics_created(&self) -> Option<u64> {
        self.state.sticks.as_ref().map(|sticks| sticks.created)
    }
}

/// The driver with its type parameters hidden: one virtual call per minibatch.
trait Learner: Send {
    fn partial_fit(&mut self, batch: &Minibatch) -> Result<Step>;
    fn state(&self) -> Option<&LdaState>;
    fn clock(&self) -> Step;
    fn resume(&mut self, state: LdaState, clock: Step);
    fn parameters(&self, word_counts: &[u64]) -> Option<Topics>;
    fn on_every_thread(&self, work: &(dyn Fn() + Sync));
    fn take_state(&mut self) -> Option<LdaState>;
    fn grow(&mut self, words: usize);
    fn forget(&mut self, words: &[u32]);
}

/// A model of topics: what a trainer asks of one beyond learning.
trait TopicFamily: LatentModel<Batch = Minibatch, State = LdaState> {
    fn parameters(&self, state: &LdaState, step: &Step, word_counts: &[u64]) -> Topics;
    fn set_vocabulary(&mut self, words: usize);
}

impl TopicFamily for Lda {
    fn parameters(&self, state: &LdaState, step: &Step, word_counts: &[u64]) -> Topics {
        Lda::parameters(self, state, step, word_counts)
    }

    fn set_vocabulary(&mut self, words: usize) {
        self.vocabulary = words;
    }
}

impl TopicFamily for Hdp {
    fn parameters(&self, state: &LdaState, step: &Step, _word_counts: &[u64]) -> Topics {
        Hdp::parameters(self, state, step)
    }

    fn set_vocabulary(&mut self, words: usize) {
        self.start.vocabulary = words;
    }
}

impl<M: TopicFamily, L: LocalInference<M>> Learner for Online<M, L> {
    fn partial_fit(&mut self, batch: &Minibatch) -> Result<Step> {
        Online::partial_fit(self, batch)
    }

    fn state(&self) -> Option<&LdaState> {
        Online::state(self)
    }

    fn clock(&self) -> Step {
        Online::clock(self)
    }

    fn resume(&mut self, state: LdaState, clock: Step) {
        Online::resume(self, state, clock);
    }

    fn parameters(&self, word_counts: &[u64]) -> Option<Topics> {
        let report = |state| self.install(|| self.model().parameters(state, &self.clock(), word_counts));
        self.state().map(report)
    }

    fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        Online::on_every_thread(self, work);
    }

    fn take_state(&mut self) -> Option<LdaState> {
        Online::take_state(self)
    }

    fn grow(&mut self, words: usize) {
        self.change(|model, state| {
            model.set_vocabulary(words);
            if let Some(state) = state {
                state.counts.grow(words);
            }
        });
    }

    fn forget(&mut self, words: &[u32]) {
        self.change(|_, state| {
            if let Some(state) = state {
                state.counts.forget(words);
            }
        });
    }
}

fn lda_learner(model: Lda, method: Method, run: Run) -> Result<Box<dyn Learner>> {
    let (sweeps, vocabulary) = (method.sweeps, model.vocabulary);
    Ok(match method.local {
        Local::Gibbs { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::Gibbs };
            Box::new(Online::new(model, local, run)?)
        }
        Local::MetropolisHastings { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::MetropolisHastings };
            Box::new(Online::new(model, local, run)?)
        }
        Local::CollapsedGibbs { window } => {
            let local = CollapsedGibbs { sweeps, window, prior: method.global.pseudo_count(), vocabulary };
            Box::new(Online::new(model, local, run)?)
        }
        Local::PredictiveGibbs { window } => {
            Box::new(Online::new(model, PredictiveGibbs { sweeps, window }, run)?)
        }
        Local::MeanField => Box::new(Online::new(model, MeanField { iterations: sweeps }, run)?),
    })
}

fn hdp_learner(model: Hdp, method: Method, run: Run) -> Result<Box<dyn Learner>> {
    let sweeps = method.sweeps;
    Ok(match method.local {
        Local::PredictiveGibbs { window } => {
            Box::new(Online::new(model, PredictiveGibbs { sweeps, window }, run)?)
        }
        Local::Gibbs { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::Gibbs };
            Box::new(Online::new(model, local, run)?)
        }
        _ => return Err(Error::setting("local", "only Gibbs sampling can meet new topics", "leave it out")),
    })
}

/// Learns topics, minibatch after minibatch.
pub struct Trainer {
    settings: Settings,
    learner: Box<dyn Learner>,
    tokens: u64,
    word_counts: Vec<u64>,
}

impl Trainer {
    /// A trainer that has seen nothing; `threads` never changes a result.
    pub fn new(settings: Settings, threads: usize) -> Result<Self> {
        settings.validate()?;
        let method = settings.method;
        let run = Run {
            step: method.step,
            averaging: method.averaging,
            boost: method.boost,
            // The whole corpus is a full minibatch, however small.
            batch: if method.whole_corpus { BatchSize::of(1) } else { settings.batch },
            seed: settings.seed,
            threads,
        };
        let learner = match settings.hdp_model() {
            Some(hdp) => hdp_learner(hdp, method, run)?,
            None => lda_learner(settings.lda_model(), method, run)?,
        };
        Ok(Self { learner, tokens: 0, word_counts: vec![0; settings.features], settings })
    }

    /// A trainer that goes on where `learnt` stopped.
    pub fn resume(settings: Settings, learnt: Learnt, threads: usize) -> Result<Self> {
        let mut trainer = Self::new(settings, threads)?;
        trainer.put_back(learnt);
        Ok(trainer)
    }

    /// Learns from one minibatch.
    pub fn partial_fit(&mut self, batch: &Minibatch) -> Result<Step> {
        let step = self.learner.partial_fit(batch)?;
        self.tokens += batch.tokens();
        for index in 0..batch.len() {
            for entry in batch.document(index) {
                self.word_counts[batch.words()[entry.word as usize] as usize] += u64::from(entry.count);
            }
        }
        Ok(step)
    }

    /// Makes room for words that were not known before. They begin without counts, so in every topic they have the
    /// probability that its rule gives to words that did not occur: the smoothing share or the prior.
    pub fn grow(&mut self, words: usize) {
        if words > self.settings.features {
            self.settings.features = words;
            self.word_counts.resize(words, 0);
            self.learner.grow(words);
        }
    }

    /// Forgets what was learnt about some words, so that their places can be taken by others.
    pub fn forget(&mut self, words: &[u32]) {
        words.iter().for_each(|&word| self.word_counts[word as usize] = 0);
        self.learner.forget(words);
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Updates made and documents seen.
    pub fn clock(&self) -> Step {
        self.learner.clock()
    }

    /// Tokens seen.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Tokens seen of each word.
    pub fn word_counts(&self) -> &[u64] {
        &self.word_counts
    }

    /// Where the number of topics is open, what is known of their weights; `None` before the first update.
    pub fn sticks(&self) -> Option<&Sticks> {
        self.learner.state()?.sticks.as_ref()
    }

    /// Expected tokens per document of each topic; nothing before the first update.
    pub fn topic_tokens(&self) -> Vec<f64> {
        self.learner.state().map_or_else(Vec::new, |state| state.counts.topic_tokens())
    }

    /// The Dirichlet parameter after the last update; `None` before the first.
    pub fn alpha(&self) -> Option<&[f64]> {
        self.learner.state().map(|state| state.alpha.alpha.as_slice())
    }

    /// The parameters to report; `None` before the first update.
    pub fn topics(&self) -> Option<Topics> {
        self.learner.parameters(&self.word_counts)
    }

    /// What has been learnt; `None` before the first update.
    pub fn learnt(&self) -> Option<Learnt> {
        Some(Learnt {
            state: self.learner.state()?.clone(),
            clock: self.clock(),
            tokens: self.tokens,
            word_counts: self.word_counts.clone(),
        })
    }

    /// The same without a copy, when training is over.
    pub fn into_learnt(mut self) -> Option<Learnt> {
        self.take_learnt()
    }

    /// Lends what has been learnt to `work`, which gives it back: this is how it is saved without a copy. `None`
    /// before the first update.
    pub fn lend_learnt<T>(&mut self, work: impl FnOnce(Learnt) -> (Learnt, T)) -> Option<T> {
        let (learnt, result) = work(self.take_learnt()?);
        self.put_back(learnt);
        Some(result)
    }

    fn take_learnt(&mut self) -> Option<Learnt> {
        let (clock, tokens) = (self.clock(), self.tokens);
        let state = self.learner.take_state()?;
        Some(Learnt { state, clock, tokens, word_counts: std::mem::take(&mut self.word_counts) })
    }

    fn put_back(&mut self, learnt: Learnt) {
        self.learner.resume(learnt.state, learnt.clock);
        self.tokens = learnt.tokens;
        self.word_counts = learnt.word_counts;
    }

    /// Runs `work` once on every thread that trains: this is how its processor time can be measured.
    pub fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.learner.on_every_thread(work);
    }
}
