//! Reading in a thread of its own, so that it overlaps with computing, through a channel of bounded length, so
//! that memory does not depend on how much there is to read.

use crate::interrupt::Interrupt;
use anyhow::anyhow;
use gibbstream::Error;
use gibbstream::corpus::{Corpus, Document, Minibatch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
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
    HeldOut(Vec<Document>),
    /// Documents to learn from.
    Lesson(Lesson),
}

/// Documents to learn from, and where they stand.
pub struct Lesson {
    pub batch: Minibatch,
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
    /// Documents in a minibatch.
    pub batch: usize,
    pub passes: u64,
    /// The number of the first document of a pass; numbers key the random streams.
    pub first: u64,
    /// Where to begin: the pass, and how many documents of it have been learnt from before.
    pub start: (u64, u64),
}

/// Cuts passes over documents into portions. The documents that are kept aside come first and once; the others
/// are counted in every pass, whatever came before them.
pub struct Portions<F> {
    open: F,
    course: Course,
    documents: Option<Box<dyn Corpus>>,
    aside: Option<Vec<Document>>,
    pass: u64,
    taken: u64,
}

impl<F: FnMut() -> Box<dyn Corpus>> Portions<F> {
    /// `open` starts reading from the top.
    pub fn new(open: F, course: Course) -> Self {
        let (pass, taken) = course.start;
        Self { open, course, documents: None, aside: None, pass, taken }
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
            let some: Vec<Document> = documents.by_ref().take(batch).collect::<gibbstream::Result<_>>()?;
            if !some.is_empty() {
                let batch = Minibatch::new(&some, first + self.taken, self.pass);
                self.taken += some.len() as u64;
                let unknown_tokens = some.iter().map(|document| document.out_of_vocabulary).sum();
                let lesson = Lesson { batch, unknown_tokens, pass: self.pass, documents: self.taken };
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
        let aside = documents.by_ref().take(self.course.held_out);
        if self.pass == self.course.start.0 {
            self.aside = Some(aside.collect::<gibbstream::Result<_>>()?);
        } else {
            for document in aside {
                document?;
            }
        }
        if self.taken > 0 && documents.nth(self.taken as usize - 1).transpose()?.is_none() {
            let problem = format!("it ends before the {} documents that the run has learnt from", self.taken);
            return Err(Error::setting("INPUT", problem, "give the same input as before"));
        }
        self.documents = Some(documents);
        Ok(())
    }
}

impl<F: FnMut() -> Box<dyn Corpus>> Iterator for Portions<F> {
    type Item = gibbstream::Result<Portion>;

    fn next(&mut self) -> Option<Self::Item> {
        self.portion().transpose()
    }
}
