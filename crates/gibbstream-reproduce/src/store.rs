//! Finished cells, a line each, so that no work is done twice.
//!
//! A line is written at once and only when its cell is finished. A process that dies in the middle of a line leaves a
//! torn one behind, which the next process removes; its cell is run again.

use crate::cells::{Cell, Finished, Task};
use crate::row::{HEADER, cells_of, line_of};
use anyhow::{Context, bail};
use gibbstream_cli::Output;
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
    foreign_lines: usize,
}

impl Store {
    /// Opens `cells.tsv` in the folder, which is made if need be. Only one process at a time has it.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("cells.tsv");
        let mut file = open_alone(&path)?;
        let lines = whole_lines(&mut file).with_context(|| format!("cannot read {}", path.display()))?;
        let mut store = Self { path, file, finished: HashMap::new(), foreign_lines: 0 };
        match lines.strip_prefix(HEADER.as_bytes()) {
            Some(rows) => store.remember_all(rows.to_vec()),
            None if lines.is_empty() => store.write(HEADER)?,
            None => store.remember_all(lines),
        }
        Ok(store)
    }

    /// Says so if there is something else in the file.
    pub fn warn_about_foreign_lines(&self, output: &Output) {
        if self.foreign_lines > 0 {
            let lines = self.foreign_lines;
            output.warn(format_args!("{lines} lines of cells.tsv cannot be read and are left alone"));
        }
    }

    /// The finished cell, if all that the task wants has been measured.
    pub fn find(&self, task: &Task) -> Option<&Finished> {
        self.finished.get(&task.cell).filter(|finished| finished.covers(task))
    }

    /// What is still to be done of a task: with it, all that was measured before is measured again.
    pub fn remaining(&self, task: &Task) -> Option<Task> {
        let Some(before) = self.finished.get(&task.cell) else { return Some(task.clone()) };
        let extras = before.extras().union(&task.extras).copied().collect();
        (!before.covers(task)).then(|| Task { cell: task.cell.clone(), extras })
    }

    /// Adds a finished cell.
    pub fn add(&mut self, finished: Finished) -> anyhow::Result<()> {
        self.write(&line_of(&finished)?)?;
        self.remember(finished);
        Ok(())
    }

    /// One call, so that a line is torn only if the machine stops in the middle of it.
    fn write(&mut self, line: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn remember_all(&mut self, lines: Vec<u8>) {
        for cell in cells_of(lines) {
            match cell {
                Ok(finished) => self.remember(finished),
                Err(_) => self.foreign_lines += 1,
            }
        }
    }

    fn remember(&mut self, finished: Finished) {
        self.finished.insert(finished.cell.clone(), finished);
    }
}

/// Opens a file to read and to add to, if no other process has it.
fn open_alone(path: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("{} is in use by another run; wait for it", path.display()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// All lines of the file that have an end; what is behind them is cut off.
fn whole_lines(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    text.truncate(whole);
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::End(0))?;
    Ok(text)
}
