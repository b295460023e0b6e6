//! Opening the log: what was being written when the process ended is cut off, and the last requests are known again.

use super::handle::{LogHandle, Start, WriterOptions};
use super::keys::Keys;
use super::record::{Record, START};
use super::segment::Segment;
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Opens the log in a folder, which nobody else may write to, and starts its writer.
pub fn open(folder: &Path, options: WriterOptions) -> Result<LogHandle> {
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let mut segments = Segment::list(folder)?;
    if segments.is_empty() {
        let first = Segment::new(folder, 0);
        create(&first, folder)?;
        segments.push(first);
    }
    let mut keys = Keys::new(options.remembered_requests);
    let Some((last, older)) = segments.split_last() else {
        return Err(Error::setting("log", "there is no segment", "use another folder"));
    };
    let (position, bytes, problem) = last.scan(|_, record| keys.push_record(record))?;
    if let Some(problem) = problem {
        cut_off(last, position, bytes, &problem)?;
    }
    for segment in older.iter().rev() {
        if keys.is_full() {
            break;
        }
        let mut before = Keys::new(options.remembered_requests);
        let (_, bytes, problem) = segment.scan(|_, record| before.push_record(record))?;
        if let Some(problem) = problem {
            return Err(segment.damaged(bytes, &problem));
        }
        keys = keys.after(before);
    }
    LogHandle::start(folder, options, Start { segment: last.first, bytes, position, keys })
}

/// Makes an empty file whose name is durable.
pub fn create(segment: &Segment, folder: &Path) -> Result<File> {
    let make = || {
        let file = File::options().create(true).append(true).open(&segment.path)?;
        file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(file)
    };
    make().map_err(|source| Error::io(&segment.path, "create", source))
}

/// Cuts a torn end off, and keeps it beside the file. A record that is damaged while others follow it was not torn: it was
/// durable once, and nobody but the owner of the data can say what to do.
fn cut_off(segment: &Segment, position: u64, bytes: u64, problem: &str) -> Result<()> {
    let failed = |source| Error::io(&segment.path, "cut", source);
    let mut file = segment.open()?;
    file.seek(SeekFrom::Start(bytes)).map_err(failed)?;
    let mut line = Vec::new();
    file.read_to_end(&mut line).map_err(failed)?;
    if holds_record(&line, position) {
        return Err(segment.damaged(bytes, problem));
    }
    let kept = segment.path.with_extension("torn");
    std::fs::write(&kept, &line).map_err(|source| Error::io(&kept, "write", source))?;
    tracing::warn!(
        file = %segment.path.display(), byte = bytes, length = line.len(), kept = %kept.display(), problem,
        "the last record was not written to its end, so it was never acknowledged; it is cut off"
    );
    let file = File::options().write(true).open(&segment.path).map_err(failed)?;
    file.set_len(bytes).and_then(|()| file.sync_all()).map_err(failed)
}

/// Whether a whole record that comes later is anywhere in these bytes, also if the line break before it is damaged.
fn holds_record(bytes: &[u8], position: u64) -> bool {
    (1..bytes.len()).filter(|&at| bytes[at..].starts_with(START.as_bytes())).any(|at| {
        let line = bytes[at..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        Record::read(line).is_ok_and(|record| record.position >= position)
    })
}
