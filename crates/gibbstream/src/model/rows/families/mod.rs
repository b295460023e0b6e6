//! Families of which mixtures are made.

pub mod poisson;

pub mod gaussian;

pub mod multinomial;

pub mod bernoulli;
