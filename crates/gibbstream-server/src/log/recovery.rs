//! Opening the log: what was being written when the process ended is cut off, and the last requests are known again.

use super::handle::{LogHandle, Start, WriterOptions};
use super::keys::Keys;
use super::segment::{Segment, checked};
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::{BufRead, Read, Seek, SeekFrom};
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
    file.read_until(b'\n', &mut line).map_err(failed)?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest).map_err(failed)?;
    // A whole record for a later document: this is not the end.
    let follows = rest.split_inclusive(|&byte| byte == b'\n').any(|line| {
        let stripped = line.strip_suffix(b"\n").unwrap_or(line);
        super::record::Record::read(stripped).is_ok_and(|record| record.position >= position)
    });
    if follows || checked(&line, position).is_ok() {
        return Err(segment.damaged(bytes, problem));
    }
    line.extend_from_slice(&rest);
    let kept = segment.path.with_extension("torn");
    std::fs::write(&kept, &line).map_err(|source| Error::io(&kept, "write", source))?;
    tracing::warn!(
        file = %segment.path.display(), byte = bytes, length = line.len(), kept = %kept.display(), problem,
        "the last record was not written to its end, so it was never acknowledged; it is cut off"
    );
    let file = File::options().write(true).open(&segment.path).map_err(failed)?;
    file.set_len(bytes).and_then(|()| file.sync_all()).map_err(failed)
}
