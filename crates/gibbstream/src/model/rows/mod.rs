//! Models of rows of numbers: mixtures of any family, and independent components.

pub mod observations;

mod symmetric;

mod split;

pub mod mixture;

pub mod families;

pub mod ica;

// What each is as a learner: arrays, baseline, parameters.
pub mod baseline;

pub mod mixture_learner;

mod ica_learner;
