//! Finished cells, one JSON line each, so that no work is done twice.
//!
//! A line is written at once and only when its cell is finished. A process that dies in the middle of a line leaves a
//! torn one behind, which the next process removes; its cell is run again.

use super::cells::{Cell, Finished, Task};
use anyhow::{Context, bail};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The finished cells of a folder, and the file that more are added to.
pub struct Store {
    path: PathBuf,
    file: File,
    finished: HashMap<Cell, Finished>,
    /// Lines that no version of this layout has written.
    pub foreign_lines: usize,
}

impl Store {
    /// Opens `cells.jsonl` in the folder, which is made if need be. Only one process at a time has it.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("cells.jsonl");
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = file.with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{} is in use by another run; wait for it", path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        file.set_len(whole as u64).with_context(|| format!("cannot write {}", path.display()))?;
        file.seek(SeekFrom::End(0)).with_context(|| format!("cannot write {}", path.display()))?;
        let mut store = Self { path, file, finished: HashMap::new(), foreign_lines: 0 };
        for line in text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Finished>(line) {
                Ok(finished) => store.remember(finished),
                Err(_) => store.foreign_lines += 1,
            }
        }
        Ok(store)
    }

    /// The finished cell, if all that the task wants has been measured.
    pub fn find(&self, task: &Task) -> Option<&Finished> {
        self.finished.get(&task.cell).filter(|finished| finished.covers(task))
    }

    /// What is still to be done of a task: with it, all that was measured before is measured again.
    pub fn remaining(&self, task: &Task) -> Option<Task> {
        let Some(before) = self.finished.get(&task.cell) else { return Some(task.clone()) };
        let extras = before.extras.union(&task.extras).copied().collect();
        (!before.covers(task)).then(|| Task { cell: task.cell.clone(), extras })
    }

    /// Adds a finished cell.
    pub fn add(&mut self, finished: Finished) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&finished)?;
        line.push(b'\n');
        // One call, so that a line is torn only if the machine stops in the middle of it.
        let written = self.file.write_all(&line).and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.remember(finished);
        Ok(())
    }

    fn remember(&mut self, finished: Finished) {
        self.finished.insert(finished.cell.clone(), finished);
    }
}
