//! Text to numbered words: how it is cut, which words count, and what number each of them has.

pub(crate) mod placed;

pub(crate) mod entities;

pub(crate) mod markup;

pub(crate) mod characters;

pub(crate) mod addresses;

pub(crate) mod segments;

pub(crate) mod words;

pub(crate) mod rules_1;

mod english;

pub(crate) mod stop_words;

pub(crate) mod language;

pub(crate) mod phrases;

pub(crate) mod stems;

pub(crate) mod term_weights;

pub(crate) mod cutter;

pub(crate) mod tokenizer;

pub(crate) mod vocabulary;

pub(crate) mod word_counts;

pub(crate) mod open_vocabulary;
