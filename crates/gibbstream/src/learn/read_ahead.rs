//! Reading in a thread of its own, so that it overlaps with computing, through a channel of bounded length, so
//! that memory does not depend on how much there is to read.

use crate::error::{Error, Result};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often somebody is asked whether to go on while there is nothing to read.
const PATIENCE: Duration = Duration::from_millis(50);

/// Items that another thread prepares.
pub struct ReadAhead<T> {
    items: Receiver<Result<T>>,
    reader: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> ReadAhead<T> {
    /// Starts to go through `items`, at most `ahead` of them in advance.
    pub fn start(items: impl Iterator<Item = Result<T>> + Send + 'static, ahead: usize) -> Result<Self> {
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
        let reader = std::thread::Builder::new().name("reader".into()).spawn(read).map_err(|error| {
            Error::setting("threads", format!("cannot start a thread to read: {error}"), "ask for fewer")
        })?;
        Ok(Self { items: receiver, reader: Some(reader) })
    }

    /// The next item; `None` at the end, or when `interrupted` says so.
    pub fn next(&mut self, interrupted: &dyn Fn() -> bool) -> Result<Option<T>> {
        loop {
            if interrupted() {
                return Ok(None);
            }
            match self.items.recv_timeout(PATIENCE) {
                Ok(item) => return item.map(Some),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    /// Waits for an item, and takes up to `most` that are there; empty at the end.
    pub fn next_some(&mut self, most: usize, interrupted: &dyn Fn() -> bool) -> Result<Vec<T>> {
        let mut some: Vec<T> = self.next(interrupted)?.into_iter().collect();
        while !some.is_empty() && some.len() < most {
            match self.items.try_recv() {
                Ok(item) => some.push(item?),
                Err(_) => break,
            }
        }
        Ok(some)
    }

    fn end(&mut self) -> Result<Option<T>> {
        match self.reader.take().map(JoinHandle::join) {
            Some(Err(_)) => {
                let problem = "reading stopped for a reason that should not exist";
                Err(Error::setting("INPUT", problem, "please report this"))
            }
            _ => Ok(None),
        }
    }
}
