//! Text to numbered words: how it is cut, which words count, and what number each of them has.

pub(crate) mod tokenizer;

pub(crate) mod stop_words;

pub(crate) mod vocabulary;

pub(crate) mod word_counts;

pub(crate) mod open_vocabulary;
