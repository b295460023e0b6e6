//! Reading in a thread of its own, so that it overlaps with computing, through a channel of bounded length, so
//! that memory does not depend on how much there is to read.

use crate::interrupt::Interrupt;
use anyhow::anyhow;
use gibbstream::Error;
use gibbstream::batch_size::BatchSize;
use gibbstream::corpus::{Corpus, Document, Minibatch, NewWords, OpenRule, OpenVocabulary};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often a signal is looked for while there is nothing to read.
const PATIENCE: Duration = Duration::from_millis(50);

/// Items that another thread prepares.
pub struct Feed<T> {
    items: Receiver<gibbstream::Result<T>>,
    reader: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Feed<T> {
    /// Starts to go through `items`, at most `ahead` of them in advance.
    pub fn start(
        items: impl Iterator<Item = gibbstream::Result<T>> + Send + 'static,
        ahead: usize,
    ) -> anyhow::Result<Self> {
        let (sender, receiver) = sync_channel(ahead);
        let read = move || {
            // Where cores are few, reading must not push a computing thread aside while all others wait for it. On
            // systems where this is not for the thread alone, it is no loss either.
            #[cfg(target_os = "linux")]
            let _ = rustix::process::nice(5);
            for item in items {
                let failed = item.is_err();
                // Nobody listens any more, or there is nothing sensible to say any more.
                if sender.send(item).is_err() || failed {
                    return;
                }
            }
        };
        let reader = std::thread::Builder::new().name("reader".into()).spawn(read)?;
        Ok(Self { items: receiver, reader: Some(reader) })
    }

    /// The next item; `None` at the end, or when a signal asks to stop.
    pub fn next(&mut self, interrupt: &Interrupt) -> anyhow::Result<Option<T>> {
        loop {
            if interrupt.received().is_some() {
                return Ok(None);
            }
            match self.items.recv_timeout(PATIENCE) {
                Ok(item) => return Ok(Some(item?)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    /// Waits for an item, and takes up to `most` that are there; empty at the end.
    pub fn next_some(&mut self, most: usize, interrupt: &Interrupt) -> anyhow::Result<Vec<T>> {
        let mut some: Vec<T> = self.next(interrupt)?.into_iter().collect();
        while !some.is_empty() && some.len() < most {
            match self.items.try_recv() {
                Ok(item) => some.push(item?),
                Err(_) => break,
            }
        }
        Ok(some)
    }

    fn end(&mut self) -> anyhow::Result<Option<T>> {
        match self.reader.take().map(JoinHandle::join) {
            Some(Err(_)) => {
                Err(anyhow!("reading stopped for a reason that should not exist; please report this"))
            }
            _ => Ok(None),
        }
    }
}

/// A part of the stream of documents as training takes it.
pub enum Portion {
    /// The documents at the beginning that are kept aside.
    HeldOut(Aside),
    /// Documents to learn from.
    Lesson(Lesson),
}

/// Documents that are kept aside.
pub struct Aside {
    pub documents: Vec<Document>,
    /// What their word ids mean, if not what they mean for training.
    pub words: Option<OpenVocabulary>,
}

/// Documents to learn from, and where they stand.
pub struct Lesson {
    pub batch: Minibatch,
    /// Words that were not known before, if the vocabulary is not fixed.
    pub new_words: Option<NewWords>,
    /// Their tokens that the vocabulary does not know.
    pub unknown_tokens: u64,
    /// The pass over the input, from 0.
    pub pass: u64,
    /// Documents of this pass that have been handed out for learning, these included.
    pub documents: u64,
}

/// What is cut into portions.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Documents at the beginning of every pass that are kept aside.
    pub held_out: usize,
    pub batch: BatchSize,
    pub passes: u64,
    /// The number of the first document of a pass; numbers key the random streams.
    pub first: u64,
    /// Where to begin: the pass, and how many documents of it have been learnt from before.
    pub start: (u64, u64),
    /// Documents that the model has learnt from before, in all passes and earlier runs.
    pub seen: u64,
}

/// Cuts passes over documents into portions. The documents that are kept aside come first and once; the others
/// are counted in every pass, whatever came before them.
pub struct Portions<F> {
    open: F,
    course: Course,
    /// The vocabulary that new words enter while reading, if there is one.
    vocabulary: Option<Arc<Mutex<OpenVocabulary>>>,
    documents: Option<Box<dyn Corpus>>,
    aside: Option<Aside>,
    pass: u64,
    taken: u64,
}

impl<F: FnMut() -> Box<dyn Corpus>> Portions<F> {
    /// `open` starts reading from the top.
    pub fn new(open: F, course: Course) -> Self {
        let (pass, taken) = course.start;
        Self { open, course, vocabulary: None, documents: None, aside: None, pass, taken }
    }

    /// `open` reads with this vocabulary.
    pub fn with_vocabulary(self, vocabulary: Option<Arc<Mutex<OpenVocabulary>>>) -> Self {
        Self { vocabulary, ..self }
    }

    fn locked(&self) -> Option<MutexGuard<'_, OpenVocabulary>> {
        self.vocabulary.as_ref().map(|vocabulary| vocabulary.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn portion(&mut self) -> gibbstream::Result<Option<Portion>> {
        let Course { batch, passes, first, held_out, .. } = self.course;
        while self.pass < passes {
            let Some(documents) = &mut self.documents else {
                self.begin_pass()?;
                if held_out > 0
                    && let Some(aside) = self.aside.take()
                {
                    return Ok(Some(Portion::HeldOut(aside)));
                }
                continue;
            };
            let some: Vec<Document> =
                documents.by_ref().take(batch.after(self.course.seen)).collect::<gibbstream::Result<_>>()?;
            if !some.is_empty() {
                self.course.seen += some.len() as u64;
                let batch = Minibatch::new(&some, first + self.taken, self.pass);
                self.taken += some.len() as u64;
                let unknown_tokens = some.iter().map(|document| document.out_of_vocabulary).sum();
                let new_words = self.locked().map(|mut vocabulary| {
                    let new_words = vocabulary.take_new_words();
                    vocabulary.close(&batch);
                    new_words
                });
                let lesson =
                    Lesson { batch, new_words, unknown_tokens, pass: self.pass, documents: self.taken };
                return Ok(Some(Portion::Lesson(lesson)));
            }
            self.documents = None;
            self.pass += 1;
            self.taken = 0;
        }
        Ok(None)
    }

    /// Opens the input, takes the documents that are kept aside, and passes over those learnt from before.
    fn begin_pass(&mut self) -> gibbstream::Result<()> {
        let mut documents = (self.open)();
        if self.course.held_out > 0 {
            self.take_aside(&mut documents)?;
        }
        if self.taken > 0 {
            let (last, _) =
                self.aside_of_vocabulary(|taken| documents.nth(taken as usize - 1).transpose())?;
            if last.is_none() {
                let problem =
                    format!("it ends before the {} documents that the run has learnt from", self.taken);
                return Err(Error::setting("INPUT", problem, "give the same input as before"));
            }
        }
        self.documents = Some(documents);
        Ok(())
    }

    fn take_aside(&mut self, documents: &mut Box<dyn Corpus>) -> gibbstream::Result<()> {
        let held_out = self.course.held_out;
        let aside = |_| documents.by_ref().take(held_out).collect::<gibbstream::Result<Vec<_>>>();
        let (documents, words) = self.aside_of_vocabulary(aside)?;
        if self.pass == self.course.start.0 {
            self.aside = Some(Aside { documents, words });
        }
        Ok(())
    }

    /// Reads documents whose words must not enter the vocabulary: meanwhile another one numbers them.
    fn aside_of_vocabulary<T>(
        &self,
        read: impl FnOnce(u64) -> gibbstream::Result<T>,
    ) -> gibbstream::Result<(T, Option<OpenVocabulary>)> {
        let all = OpenRule::Grow { most: u32::MAX as usize - 1 };
        let other = self.vocabulary.as_ref().map(|_| OpenVocabulary::new(all)).transpose()?;
        let exchange = |new: Option<OpenVocabulary>| {
            let (mut vocabulary, new) = self.locked().zip(new)?;
            Some(std::mem::replace(&mut *vocabulary, new))
        };
        let own = exchange(other);
        let result = read(self.taken);
        let other = exchange(own);
        Ok((result?, other))
    }
}

impl<F: FnMut() -> Box<dyn Corpus>> Iterator for Portions<F> {
    type Item = gibbstream::Result<Portion>;

    fn next(&mut self) -> Option<Self::Item> {
        self.portion().transpose()
    }
}
