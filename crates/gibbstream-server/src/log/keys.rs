//! Names of requests that were accepted lately, so that a retry is not accepted again.

use super::record::Record;
use std::collections::{HashMap, VecDeque};

/// A request that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The position of its first document.
    pub position: u64,
    /// Its documents.
    pub documents: u64,
    /// Stands for their content.
    pub fingerprint: u64,
}

/// A name, as 128 bits of its hash.
type Key = [u8; 16];

fn hashed(key: &str) -> Key {
    let mut first = Key::default();
    first.copy_from_slice(&blake3::hash(key.as_bytes()).as_bytes()[..16]);
    first
}

/// The names of the last so many requests. Those without a name count too, so that it can be made again from the end of the
/// log without reading all of it.
#[derive(Debug)]
pub struct Keys {
    most: usize,
    accepted: HashMap<Key, Accepted>,
    order: VecDeque<Option<Key>>,
}

impl Keys {
    pub fn new(most: usize) -> Self {
        Self { most, accepted: HashMap::new(), order: VecDeque::new() }
    }

    pub fn find(&self, key: &str) -> Option<Accepted> {
        self.accepted.get(&hashed(key)).copied()
    }

    pub fn push(&mut self, key: Option<&str>, accepted: Accepted) {
        let key = key.map(hashed);
        if let Some(key) = key {
            self.accepted.insert(key, accepted);
        }
        self.order.push_back(key);
        while self.order.len() > self.most {
            if let Some(Some(old)) = self.order.pop_front() {
                self.accepted.remove(&old);
            }
        }
    }

    pub fn push_record(&mut self, record: &Record<'_>) {
        if !record.cut {
            let accepted = Accepted {
                position: record.position,
                documents: record.documents.len() as u64,
                fingerprint: record.fingerprint(),
            };
            self.push(record.key.as_deref(), accepted);
        }
    }

    /// Puts the requests of older records before its own, as far as there is room.
    pub fn after(mut self, older: Self) -> Self {
        let mut all = Self { most: self.most, ..older };
        for key in std::mem::take(&mut self.order) {
            if let Some((key, accepted)) = key.and_then(|key| Some((key, self.accepted.get(&key)?))) {
                all.accepted.insert(key, *accepted);
            }
            all.order.push_back(key);
        }
        while all.order.len() > all.most {
            if let Some(Some(old)) = all.order.pop_front() {
                all.accepted.remove(&old);
            }
        }
        all
    }

    pub fn is_full(&self) -> bool {
        self.order.len() >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(position: u64) -> Accepted {
        Accepted { position, documents: 1, fingerprint: position }
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut keys = Keys::new(3);
        keys.push(Some("a"), accepted(0));
        keys.push(None, accepted(1));
        keys.push(Some("b"), accepted(2));
        assert_eq!((keys.find("a"), keys.find("c")), (Some(accepted(0)), None));
        keys.push(Some("c"), accepted(3));
        assert_eq!(
            (keys.find("a"), keys.find("b"), keys.find("c")),
            (None, Some(accepted(2)), Some(accepted(3)))
        );
        assert!(keys.is_full());
    }

    #[test]
    fn older_ones_go_before() {
        let (mut old, mut new) = (Keys::new(3), Keys::new(3));
        old.push(Some("a"), accepted(0));
        old.push(Some("b"), accepted(1));
        new.push(Some("c"), accepted(2));
        new.push(Some("d"), accepted(3));
        let all = new.after(old);
        assert_eq!(
            [all.find("a"), all.find("b"), all.find("d")],
            [None, Some(accepted(1)), Some(accepted(3))]
        );
    }
}
