//! From settings to types: the only place that knows which model and which inference a name stands for.

use super::learner::{Fitted, FittedModel, Learner, OnlineLearner};
use super::{ModelKind, Settings, Stored};
use crate::learn::batch_size::BatchSize;
use crate::error::{Error, Result};
use crate::inference::chain::Move;
use crate::inference::collapsed::CollapsedGibbs;
use crate::inference::exact::Exact;
use crate::inference::gibbs::Gibbs;
use crate::inference::mean_field::MeanField;
use crate::inference::predictive::PredictiveGibbs;
use crate::inference::scales::ScaleGibbs;
use crate::learn::method::{Local, Method};
use crate::model::topics::alpha::smallest_entry;
use crate::model::rows::families::bernoulli::Bernoulli;
use crate::model::topics::hdp::births::BirthRule;
use crate::model::topics::hdp::deaths::DeathRule;
use crate::model::rows::families::gaussian::Gaussian;
use crate::model::topics::hdp::Hdp;
use crate::model::rows::ica::Ica;
use crate::model::topics::lda::{Lda, LdaState, LogTopics};
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::model::rows::mixture::Mixture;
use crate::model::rows::families::multinomial::Multinomial;
use crate::model::rows::families::poisson::Poisson;
use crate::learn::online::OnlineSettings;
use crate::learn::schedule::Step;

impl Settings {
    /// A learner that has seen nothing; `threads` never changes a result.
    pub fn learner(&self, threads: usize) -> Result<Box<dyn Learner>> {
        self.validate()?;
        let Self { components: k, features: d, ref method, seed, .. } = *self;
        let run = OnlineSettings {
            step: method.step,
            averaging: method.averaging,
            boost: method.boost,
            // The whole corpus is a full minibatch, however small.
            batch: if method.whole_corpus { BatchSize::of(1) } else { self.batch },
            seed,
            threads,
        };
        macro_rules! boxed {
            ($model:expr, $local:expr) => {
                Ok(Box::new(OnlineLearner::new($model, $local, run)?))
            };
        }
        match self.model {
            ModelKind::Lda => lda_learner(self.lda_model(), method, run),
            ModelKind::Hdp(_) => hdp_learner(self.hdp_model(), method, run),
            ModelKind::Ica { .. } => {
                boxed!(self.ica_model()?, ScaleGibbs { sweeps: method.sweeps, window: method.window() })
            }
            ModelKind::GaussianMixture { covariance, floor } => {
                boxed!(Mixture::new(k, d, Gaussian { covariance, floor })?, Exact)
            }
            ModelKind::PoissonMixture { floor } => boxed!(Mixture::new(k, d, Poisson { floor })?, Exact),
            ModelKind::MultinomialMixture { smoothing } => {
                boxed!(Mixture::new(k, d, Multinomial { smoothing })?, Exact)
            }
            ModelKind::BernoulliMixture { floor } => boxed!(Mixture::new(k, d, Bernoulli { floor })?, Exact),
        }
    }

    /// What was learnt with these settings, read again.
    pub fn restore(&self, stored: &dyn Stored, clock: Step) -> Result<Box<dyn Fitted>, String> {
        self.validate().map_err(|error| error.to_string())?;
        let Self { components: k, features: d, .. } = *self;
        macro_rules! mixture {
            ($family:expr) => {{
                let model = Mixture::new(k, d, $family).map_err(|error| error.to_string())?;
                FittedModel::restore(model, stored, clock)
            }};
        }
        match self.model {
            ModelKind::Lda => FittedModel::restore(self.lda_model(), stored, clock),
            ModelKind::Hdp(_) => FittedModel::restore(self.hdp_model(), stored, clock),
            ModelKind::Ica { .. } => {
                let model = self.ica_model().map_err(|error| error.to_string())?;
                FittedModel::restore(model, stored, clock)
            }
            ModelKind::GaussianMixture { covariance, floor } => mixture!(Gaussian { covariance, floor }),
            ModelKind::PoissonMixture { floor } => mixture!(Poisson { floor }),
            ModelKind::MultinomialMixture { smoothing } => mixture!(Multinomial { smoothing }),
            ModelKind::BernoulliMixture { floor } => mixture!(Bernoulli { floor }),
        }
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
            seeds: self.seeds.clone(),
        }
    }

    /// The model of an open number of topics that these settings describe.
    pub fn hdp_model(&self) -> Hdp {
        let settings = self.model.hdp().unwrap_or_default();
        Hdp { start: self.lda_model(), settings, births: BirthRule::DEFAULT, deaths: DeathRule::DEFAULT }
    }

    /// Logarithms of topics for the evidence lower bound.
    pub fn log_topics(&self, state: &LdaState, clock: &Step, seen: &WordFrequencies) -> LogTopics {
        match self.model {
            ModelKind::Hdp(_) => self.hdp_model().parameters(state, clock).into(),
            _ => self.lda_model().log_topics(state, clock, seen),
        }
    }

    fn ica_model(&self) -> Result<Ica> {
        let ModelKind::Ica { sources: law, noise, learn_scale, floor } = self.model else {
            return Err(Error::setting("model", "it has no sources", "use ica"));
        };
        let (dimension, sources) = (self.features, self.components);
        let model = Ica { dimension, sources, law, noise, learn_scale, floor };
        model.validate()?;
        Ok(model)
    }
}

fn lda_learner(model: Lda, method: &Method, run: OnlineSettings) -> Result<Box<dyn Learner>> {
    let (sweeps, vocabulary) = (method.sweeps, model.vocabulary);
    Ok(match method.local {
        Local::Gibbs { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::Gibbs };
            Box::new(OnlineLearner::new(model, local, run)?)
        }
        Local::MetropolisHastings { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::MetropolisHastings };
            Box::new(OnlineLearner::new(model, local, run)?)
        }
        Local::CollapsedGibbs { window } => {
            let local = CollapsedGibbs { sweeps, window, prior: method.global.pseudo_count(), vocabulary };
            Box::new(OnlineLearner::new(model, local, run)?)
        }
        Local::PredictiveGibbs { window } => {
            Box::new(OnlineLearner::new(model, PredictiveGibbs { sweeps, window }, run)?)
        }
        Local::MeanField => Box::new(OnlineLearner::new(model, MeanField { iterations: sweeps }, run)?),
    })
}

fn hdp_learner(model: Hdp, method: &Method, run: OnlineSettings) -> Result<Box<dyn Learner>> {
    let sweeps = method.sweeps;
    Ok(match method.local {
        Local::PredictiveGibbs { window } => {
            Box::new(OnlineLearner::new(model, PredictiveGibbs { sweeps, window }, run)?)
        }
        Local::Gibbs { window, statistic } => {
            let local = Gibbs { sweeps, window, statistic, transition: Move::Gibbs };
            Box::new(OnlineLearner::new(model, local, run)?)
        }
        _ => return Err(Error::setting("local", "only Gibbs sampling can meet new topics", "leave it out")),
    })
}
