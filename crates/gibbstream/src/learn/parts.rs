//! How the parts of a method go together when one of them is changed.
#![expect(clippy::unnecessary_wraps, reason = "every knob is set by a function of the same form")]

use super::knobs::read;
use super::{ModelKind, Settings};
use crate::learn::averaging::Averaging;
use crate::error::{Error, Result};
use crate::inference::gibbs::{Statistic, Window};
use crate::learn::method::{Local, Method};
use crate::model::topics::rule::{Population, Smoothing, TopicRule};
use crate::learn::schedule::StepSize;

pub fn set_model(settings: &mut Settings, name: &str) -> Result<()> {
    let Some(model) = ModelKind::by_name(name) else {
        let advice = format!("use one of {}", ModelKind::NAMES.join(", "));
        return Err(Error::setting("model", format!("there is no `{name}`"), advice));
    };
    let mode = settings.mode;
    *settings = Settings::of(model, if model.hdp().is_some() { 2 } else { 0 }, "g-oem")?.in_mode(mode);
    Ok(())
}

pub fn set_method(settings: &mut Settings, name: &str) -> Result<()> {
    settings.method = settings.model.recommended(name, settings.mode)?;
    name.clone_into(&mut settings.name);
    Ok(())
}

/// Whoever knows the input has decided what `auto` is.
pub fn set_mode(settings: &mut Settings, name: &str) -> Result<()> {
    if name != "auto" {
        *settings = settings.clone().in_mode(read(name)?);
    }
    Ok(())
}

/// The kind of sampling changes, and what it keeps stays, if there is something.
pub fn set_local(settings: &mut Settings, name: &str) -> Result<()> {
    let local = &mut settings.method.local;
    let (window, statistic) = match *local {
        Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
            (window, statistic)
        }
        _ => (Window::LastQuarter, Statistic::RaoBlackwell),
    };
    *local = match name {
        "gibbs" => Local::Gibbs { window, statistic },
        "mh" => Local::MetropolisHastings { window, statistic },
        _ => Local::MeanField,
    };
    Ok(())
}

fn no_samples(setting: &str) -> Error {
    let problem = "mean field does not sample, so there is nothing to choose";
    Error::setting(setting, problem, "leave it out, or use {local} gibbs")
}

pub fn set_statistic(settings: &mut Settings, name: &str) -> Result<()> {
    match &mut settings.method.local {
        Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
            (*window, *statistic) = match (name, *window) {
                ("last", _) => (Window::Last, Statistic::Counts),
                (_, Window::Last) => (Window::LastQuarter, read(name)?),
                (_, kept) => (kept, read(name)?),
            };
            Ok(())
        }
        Local::MeanField => Err(no_samples("statistic")),
        Local::CollapsedGibbs { .. } => {
            let problem = "collapsed Gibbs sampling of the whole corpus keeps counts";
            Err(Error::setting("statistic", problem, "leave it out, or use {method} mcem"))
        }
        Local::PredictiveGibbs { .. } => {
            Err(Error::setting("statistic", "this method keeps counts", "leave it out"))
        }
    }
}

pub fn show_statistic(settings: &Settings) -> Option<String> {
    match settings.method.local {
        Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
            let last = (window, statistic) == (Window::Last, Statistic::Counts);
            Some(if last { "last".to_owned() } else { statistic.to_string() })
        }
        _ => None,
    }
}

pub fn set_window(settings: &mut Settings, name: &str) -> Result<()> {
    match &mut settings.method.local {
        Local::Gibbs { window, .. }
        | Local::MetropolisHastings { window, .. }
        | Local::CollapsedGibbs { window }
        | Local::PredictiveGibbs { window } => *window = read(name)?,
        Local::MeanField => return Err(no_samples("window")),
    }
    Ok(())
}

pub fn show_window(settings: &Settings) -> Option<String> {
    (settings.method.local != Local::MeanField).then(|| settings.method.window().to_string())
}

/// The step belongs to it, because Langevin moves take one of their own kind; so do reported word frequencies, which
/// are those of topics that follow from counts alone.
pub fn set_global(settings: &mut Settings, name: &str) -> Result<()> {
    let method = &mut settings.method;
    if method.global.name() == name {
        return Ok(());
    }
    let was_langevin = method.is_langevin();
    method.global = match name {
        "ml" => Method::G_OEM.global,
        "bayes" => Method::OLDA.global,
        _ => Method::LDS.global,
    };
    if was_langevin != method.is_langevin() {
        method.step = if was_langevin { Method::G_OEM.step } else { Method::LDS.step };
    }
    if name != "ml" && method.averaging.counts_words() {
        method.averaging = Averaging::None;
    }
    Ok(())
}

pub fn set_smoothing(settings: &mut Settings, text: &str) -> Result<()> {
    let share = read(text)?;
    match (&mut settings.model, &mut settings.method.global) {
        (ModelKind::MultinomialMixture { smoothing }, _) => *smoothing = share,
        (_, TopicRule::MaximumLikelihood(smoothing)) => *smoothing = Smoothing::Share(share),
        _ => {
            let problem = "the prior of this method already keeps words from having probability zero";
            return Err(Error::setting("smoothing", problem, "use {topic-prior}, or {global} ml"));
        }
    }
    Ok(())
}

pub fn show_smoothing(settings: &Settings) -> Option<String> {
    match (settings.model, settings.method.global) {
        (ModelKind::MultinomialMixture { smoothing: share }, _)
        | (_, TopicRule::MaximumLikelihood(Smoothing::Share(share))) => Some(share.to_string()),
        _ => None,
    }
}

pub fn set_topic_prior(settings: &mut Settings, text: &str) -> Result<()> {
    let chosen = read(text)?;
    match &mut settings.method.global {
        TopicRule::MaximumLikelihood(smoothing) => *smoothing = Smoothing::PseudoCount(chosen),
        TopicRule::Bayes { prior, .. } => *prior = Some(chosen),
        TopicRule::Langevin { prior, .. } => *prior = chosen,
    }
    Ok(())
}

pub fn show_topic_prior(settings: &Settings) -> Option<String> {
    match settings.method.global {
        TopicRule::MaximumLikelihood(Smoothing::Share(_)) => None,
        TopicRule::Bayes { prior: None, .. } => Some("1/K".to_owned()),
        TopicRule::MaximumLikelihood(Smoothing::PseudoCount(prior))
        | TopicRule::Bayes { prior: Some(prior), .. }
        | TopicRule::Langevin { prior, .. } => Some(prior.to_string()),
    }
}

/// Sets kappa, offset, tau or the least; a step of another kind becomes the paper's first.
pub fn set_power(settings: &mut Settings, which: usize, text: &str) -> Result<()> {
    let step = &mut settings.method.step;
    if !matches!(step, StepSize::Power { .. }) {
        *step = StepSize::PAPER;
    }
    if let StepSize::Power { kappa, offset, tau, least } = step {
        *[kappa, offset, tau, least][which] = read(text)?;
    }
    Ok(())
}

pub fn show_power(settings: &Settings, which: usize) -> Option<String> {
    match settings.method.step {
        StepSize::Power { kappa, offset, tau, least } => Some([kappa, offset, tau, least][which].to_string()),
        _ => None,
    }
}

/// The whole rule, where it is one of powers.
pub fn powers(settings: &Settings) -> Option<String> {
    match settings.method.step {
        StepSize::Power { kappa, offset, tau, least } => {
            let least = if least > 0.0 { format!(" min={least}") } else { String::new() };
            Some(format!("power kappa={kappa} offset={offset} tau={tau}{least}"))
        }
        _ => None,
    }
}

pub fn set_step(settings: &mut Settings, text: &str) -> Result<()> {
    let step = &mut settings.method.step;
    if text != step.to_string() {
        *step = read(text)?;
    }
    Ok(())
}

pub fn set_prequential(settings: &mut Settings, name: &str) -> Result<()> {
    settings.prequential = (name != "auto").then_some(["on", "true"].contains(&name));
    Ok(())
}

pub fn show_prequential(settings: &Settings) -> Option<String> {
    Some(settings.prequential.map_or("auto", |on| if on { "on" } else { "off" }).to_owned())
}

pub fn set_total_docs(settings: &mut Settings, text: &str) -> Result<()> {
    let documents = read(text)?;
    if let Some(population) = settings.method.population_mut() {
        *population = Population::Documents(documents);
    }
    Ok(())
}

pub fn show_total_docs(settings: &Settings) -> Option<String> {
    match settings.method.global {
        TopicRule::Bayes { population: Population::Documents(documents), .. }
        | TopicRule::Langevin { population: Population::Documents(documents), .. } => {
            Some(documents.to_string())
        }
        _ => None,
    }
}

pub fn set_source_scale(settings: &mut Settings, name: &str) -> Result<()> {
    if let ModelKind::Ica { learn_scale, .. } = &mut settings.model {
        *learn_scale = name == "learnt";
    }
    Ok(())
}

pub fn show_source_scale(settings: &Settings) -> Option<String> {
    match settings.model {
        ModelKind::Ica { learn_scale, .. } => Some(if learn_scale { "learnt" } else { "fixed" }.to_owned()),
        _ => None,
    }
}
