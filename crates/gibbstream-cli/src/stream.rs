//! Reading in a thread of its own, so that it overlaps with computing, through a channel of bounded length, so
//! that memory does not depend on how much there is to read.

use crate::interrupt::Interrupt;
use anyhow::anyhow;
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
    /// Documents to learn from, and how many of their tokens the vocabulary does not know.
    Batch(Minibatch, u64),
}

/// Cuts passes over documents into portions. The documents that are kept aside come first and once; the others
/// are counted from 0 in every pass, whatever came before them.
pub struct Portions<F> {
    open: F,
    documents: Option<Box<dyn Corpus>>,
    held_out: usize,
    batch: usize,
    passes: u64,
    pass: u64,
    next: u64,
}

impl<F: FnMut() -> Box<dyn Corpus>> Portions<F> {
    /// `open` starts reading from the top.
    pub fn new(open: F, held_out: usize, batch: usize, passes: u64) -> Self {
        Self { open, documents: None, held_out, batch, passes, pass: 0, next: 0 }
    }

    fn portion(&mut self) -> gibbstream::Result<Option<Portion>> {
        while self.pass < self.passes {
            let Some(documents) = &mut self.documents else {
                let documents = self.documents.insert((self.open)());
                self.next = 0;
                if self.held_out > 0 {
                    let aside = documents.by_ref().take(self.held_out);
                    if self.pass == 0 {
                        return Ok(Some(Portion::HeldOut(aside.collect::<gibbstream::Result<_>>()?)));
                    }
                    aside.map(|document| document.map(drop)).collect::<gibbstream::Result<()>>()?;
                }
                continue;
            };
            let some: Vec<Document> =
                documents.by_ref().take(self.batch).collect::<gibbstream::Result<_>>()?;
            if !some.is_empty() {
                let batch = Minibatch::new(&some, self.next, self.pass);
                self.next += some.len() as u64;
                let unknown = some.iter().map(|document| document.out_of_vocabulary).sum();
                return Ok(Some(Portion::Batch(batch, unknown)));
            }
            self.documents = None;
            self.pass += 1;
        }
        Ok(None)
    }
}

impl<F: FnMut() -> Box<dyn Corpus>> Iterator for Portions<F> {
    type Item = gibbstream::Result<Portion>;

    fn next(&mut self) -> Option<Self::Item> {
        self.portion().transpose()
    }
}
