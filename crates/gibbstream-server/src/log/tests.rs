//! The log by itself.

use super::*;
use std::path::Path;
use std::time::Duration;

const OPTIONS: WriterOptions = WriterOptions {
    fsync: Fsync::Always,
    retention: Retention { bytes: None, age: None },
    segment_bytes: 1 << 20,
    remembered_requests: 100,
    queue: 16,
};

fn text(number: u64) -> String {
    format!("{{\"text\":\"document {number}\"}}")
}

fn append(log: &LogHandle, first: u64, documents: u64, key: Option<&str>) -> Result<Accepted, Refusal> {
    let texts: Vec<String> = (first..first + documents).map(text).collect();
    let append = Append {
        list: format!("[{}]", texts.join(",")),
        documents,
        fingerprint: fingerprint(texts.iter().map(String::as_str)),
        key: key.map(str::to_owned),
        room: None,
    };
    log.append(append)?.blocking_recv().unwrap()
}

/// All documents from a position on, as the reader gives them; cuts are `|`.
fn read(log: &LogHandle, position: u64) -> Vec<String> {
    let mut reader = LogReader::at(log.folder(), log.follower(), position).unwrap();
    let mut found = Vec::new();
    while let Next::Record(record) = reader.next(Duration::ZERO).unwrap() {
        if record.cut {
            found.push("|".to_owned());
        }
        let known = position.saturating_sub(record.position) as usize;
        found.extend(record.documents.iter().skip(known).map(|document| document.get().to_owned()));
    }
    found
}

fn expected(documents: std::ops::Range<u64>) -> Vec<String> {
    documents.map(text).collect()
}

#[test]
fn documents_are_read_in_the_order_in_which_they_were_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions { segment_bytes: 200, ..OPTIONS };
    let log = open(folder.path(), options).unwrap();
    for first in (0..60).step_by(3) {
        assert_eq!(append(&log, first, 3, None).unwrap().position, first);
    }
    assert!(log.cut());
    log.sync();
    append(&log, 60, 1, None).unwrap();
    let mut all = expected(0..60);
    all.push("|".into());
    all.extend(expected(60..61));
    assert_eq!(read(&log, 0), all);
    assert_eq!(read(&log, 58), all[58..]);
    assert!(read(&log, 61).iter().all(|one| one == "|"), "a cut that ends nothing does no harm");
    assert!(std::fs::read_dir(folder.path()).unwrap().count() > 5, "there are several segments");
    log.close();
    let log = open(folder.path(), options).unwrap();
    assert_eq!(read(&log, 0), all);
    assert_eq!(log.follower().end().documents, 61);
    assert!(LogReader::at(folder.path(), log.follower(), 62).is_err());
}

#[test]
fn a_reader_follows_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), WriterOptions { segment_bytes: 500, ..OPTIONS }).unwrap();
    let mut reader = LogReader::at(folder.path(), log.follower(), 0).unwrap();
    assert!(matches!(reader.next(Duration::from_millis(1)).unwrap(), Next::Nothing));
    std::thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|number| assert!(append(&log, number, 1, None).is_ok())));
        for number in 0..200 {
            let Next::Record(record) = reader.next(Duration::from_secs(10)).unwrap() else {
                panic!("nothing came")
            };
            assert_eq!(record.documents[0].get(), text(number));
        }
    });
}

/// A copy of a folder.
fn copied(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.path().join(path.file_name().unwrap())).unwrap();
    }
    to
}

#[test]
fn a_torn_end_is_cut_off_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), OPTIONS).unwrap();
    append(&log, 0, 2, Some("a")).unwrap();
    append(&log, 2, 1, None).unwrap();
    append(&log, 3, 2, Some("b")).unwrap();
    log.close();
    let name = "00000000000000000000.jsonl";
    let whole = std::fs::read(folder.path().join(name)).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').map(|at| at + 1).collect();
    assert_eq!(ends.len(), 3);
    for length in 0..=whole.len() {
        let folder = copied(folder.path());
        std::fs::write(folder.path().join(name), &whole[..length]).unwrap();
        let log = open(folder.path(), OPTIONS).unwrap();
        let records = ends.iter().filter(|&&end| end <= length).count();
        let documents = [0, 2, 3, 5][records];
        assert_eq!(log.follower().end().documents, documents, "{length} bytes");
        assert_eq!(read(&log, 0), expected(0..documents), "{length} bytes");
        // What was acknowledged is known, what was not is accepted again.
        assert_eq!(append(&log, 0, 2, Some("a")).unwrap().position, 0);
        let documents = documents.max(2);
        let position = append(&log, 3, 2, Some("b")).unwrap().position;
        assert_eq!(position, if records == 3 { 3 } else { documents });
        log.close();
        assert!(open(folder.path(), OPTIONS).is_ok());
    }
}

#[test]
fn any_other_end_is_cut_off_too_but_not_what_others_follow() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), OPTIONS).unwrap();
    append(&log, 0, 1, None).unwrap();
    append(&log, 1, 1, None).unwrap();
    log.close();
    let name = "00000000000000000000.jsonl";
    let whole = std::fs::read(folder.path().join(name)).unwrap();
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for rest in
        [&b"\0\0\0\0"[..], b"\n\n\n", b"{}\n", b"\xff\n\xff", &whole[..first], &whole[first..whole.len() - 1]]
    {
        let folder = copied(folder.path());
        std::fs::write(folder.path().join(name), [&whole[..first], rest].concat()).unwrap();
        let log = open(folder.path(), OPTIONS).unwrap();
        assert_eq!(read(&log, 0), expected(0..1), "{}", String::from_utf8_lossy(rest));
        log.close();
    }
    // Every bit of a record that another follows.
    for bit in 0..8 * first {
        let folder = copied(folder.path());
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(folder.path().join(name), &bytes).unwrap();
        if let Err(refused) = open(folder.path(), OPTIONS) {
            assert!(refused.to_string().contains("the log is damaged at byte 0"), "bit {bit}: {refused}");
        } else {
            let digit = bit / 8;
            assert!((10..18).contains(&digit) && bit % 8 == 5, "bit {bit} is only the case of a digit");
        }
    }
}

#[test]
fn a_request_is_accepted_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), OPTIONS).unwrap();
    let first = append(&log, 0, 2, Some("a")).unwrap();
    assert_eq!(append(&log, 0, 2, Some("a")), Ok(first));
    assert_eq!(append(&log, 5, 2, Some("a")), Err(Refusal::KeyReused));
    assert_eq!(append(&log, 0, 2, None).unwrap().position, 2, "without a name it is another request");
    assert_eq!(log.follower().end().documents, 4);
    // Many at once, of which each pair is the same request.
    std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..32)
            .map(|number| {
                scope.spawn({
                    let log = &log;
                    move || loop {
                        match append(log, 100 + number / 2, 1, Some(&format!("k{}", number / 2))) {
                            Err(Refusal::Busy) => std::thread::yield_now(),
                            done => return done.unwrap().position,
                        }
                    }
                })
            })
            .collect();
        let mut positions: Vec<u64> = tasks.into_iter().map(|task| task.join().unwrap()).collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions, (4..20).collect::<Vec<_>>());
    });
}

#[test]
fn segments_are_removed_only_if_nobody_needs_them() {
    let folder = tempfile::tempdir().unwrap();
    let retention = Retention { bytes: Some(300), age: None };
    let log = open(folder.path(), WriterOptions { segment_bytes: 100, retention, ..OPTIONS }).unwrap();
    (0..10).for_each(|number| assert!(append(&log, number, 1, None).is_ok()));
    let left = |position: u64| {
        log.retain_from(position);
        log.sync();
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names.len()
    };
    let all = left(0);
    assert_eq!((left(1), left(2)), (all, all - 1), "two records are a segment");
    assert_eq!(left(10), 1, "what is being written stays");
}
