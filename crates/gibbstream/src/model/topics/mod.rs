//! Topic models: counts of words by topic, the rules that make topics and alpha of them, and the two models.

pub mod statistics;

pub mod counts;

pub mod rule;

pub mod alpha;

pub mod view;

pub mod lda;

pub mod hdp;

pub mod word_frequencies;

pub mod learner;
