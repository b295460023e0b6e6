//! Threads that work through a stream of held-out documents, some at a time, in bounded memory.

use crate::corpus::{Document, Entry, Minibatch};
use crate::error::{Error, Result};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A pool of threads, each with a working space of type `S`.
pub(super) struct Workers<S> {
    pool: ThreadPool,
    vocabulary: usize,
    spare: Mutex<Vec<S>>,
}

/// One document, reduced to the words that the topics know.
pub(super) struct Held<'a> {
    /// The document itself.
    pub document: &'a Document,
    /// The documents that it is worked on with.
    pub batch: &'a Minibatch,
    /// Its place among them.
    pub index: usize,
}

impl Held<'_> {
    /// Its words, as places in [`Minibatch::words`] of the batch.
    pub fn entries(&self) -> &[Entry] {
        self.batch.document(self.index)
    }

    /// The key of its random streams.
    pub fn key(&self) -> u64 {
        self.batch.content_key(self.index)
    }
}

impl<S: Default + Send> Workers<S> {
    /// Starts the threads; topics know the words below `vocabulary`.
    pub fn new(threads: usize, vocabulary: usize) -> Result<Self> {
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            Error::setting("threads", format!("cannot start {threads} threads: {error}"), "ask for fewer")
        })?;
        Ok(Self { pool, vocabulary, spare: Mutex::default() })
    }

    /// Calls `prepare` for every chunk of documents, to fill the context that `work` reads; `work` for every document
    /// of it, on all threads; and `each` with the results, in the order of documents.
    pub fn run<C: Send + Sync, T: Send>(
        &self,
        documents: impl IntoIterator<Item = Result<Document>>,
        mut context: C,
        prepare: impl Fn(&Minibatch, &mut C) + Sync,
        work: impl Fn(&C, &Held<'_>, &mut S) -> T + Sync,
        mut each: impl FnMut(&Document, &T),
    ) -> Result<()> {
        // No result depends on which documents share a chunk, so its size is free to suit the machine.
        let size = 64.max(8 * self.pool.current_num_threads());
        let mut documents = documents.into_iter();
        let mut chunk = Vec::new();
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            chunk.clear();
            for document in documents.by_ref().take(size) {
                chunk.push(self.known_part(document?));
            }
            if chunk.is_empty() {
                return Ok(());
            }
            let batch = Minibatch::new(&chunk, 0, 0);
            let results: Vec<T> = self.pool.install(|| {
                prepare(&batch, &mut context);
                let indexed = chunk.par_iter().with_max_len(1).enumerate();
                let one = |(index, document)| {
                    let taken = spare().pop();
                    let mut mine = taken.unwrap_or_default();
                    let result = work(&context, &Held { document, batch: &batch, index }, &mut mine);
                    spare().push(mine);
                    result
                };
                indexed.map(one).collect()
            });
            chunk.iter().zip(&results).for_each(|(document, result)| each(document, result));
        }
    }

    /// The document without tokens of words that the topics do not know.
    fn known_part(&self, mut document: Document) -> Document {
        let known = document.words.partition_point(|&(word, _)| (word as usize) < self.vocabulary);
        let unknown = document.words.drain(known..).map(|(_, count)| u64::from(count)).sum::<u64>();
        document.out_of_vocabulary += unknown;
        document
    }
}

/// Mean and spread over documents (Welford), with what all results report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Documents.
    pub documents: u64,
    /// Tokens in the vocabulary.
    pub tokens: u64,
    /// Tokens that were left out.
    pub out_of_vocabulary_tokens: u64,
    /// Sum of the values.
    pub total: f64,
    mean: f64,
    squares: f64,
}

impl Sums {
    /// Counts a document with its value.
    pub fn add(&mut self, document: &Document, value: f64) {
        self.documents += 1;
        self.tokens += document.tokens();
        self.out_of_vocabulary_tokens += document.out_of_vocabulary;
        self.total += value;
        let distance = value - self.mean;
        self.mean += distance / self.documents as f64;
        self.squares += distance * (value - self.mean);
    }

    /// The mean; an error without documents.
    pub fn mean(&self) -> Result<f64> {
        if self.documents == 0 {
            let advice = "give at least one held-out document";
            return Err(Error::setting("documents", "there is none to evaluate", advice));
        }
        if self.total.is_nan() {
            let advice = "the model is damaged; train it again or take a copy that is whole";
            return Err(Error::setting("model", "a document has no likelihood under it", advice));
        }
        Ok(self.total / self.documents as f64)
    }

    /// The standard error of the mean; `None` for fewer than two documents or an infinite mean.
    pub fn standard_error(&self) -> Option<f64> {
        let documents = self.documents as f64;
        let variance = self.squares / (documents - 1.0);
        Some((variance / documents).sqrt()).filter(|error| error.is_finite())
    }
}
