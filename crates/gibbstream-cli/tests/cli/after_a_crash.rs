//! What a disk may hold after a crash of the machine. A run is recorded call by call; then, for every moment, the states
//! are made that a disk may be left in: content that was not flushed is there or not, in any part, and so are names. In
//! every one of them the checkpoints must be usable.

use crate::disk_faults::Faults;
use crate::support::Folder;
use gibbstream::file::{CheckpointFolder, Model};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A disk writes its sectors whole.
const SECTOR: usize = 512;

/// What the program asked of the disk. Files are numbered in the order of their creation; names lie in the folder.
#[derive(Clone, Debug)]
enum Change {
    Create(String, usize),
    Write { file: usize, offset: usize, bytes: Vec<u8> },
    Rename(String, String),
    Unlink(String),
    Flush(usize),
    FlushFolder,
}

type Names = BTreeMap<String, usize>;

/// The changes of a recorded run in the folder `ck`.
fn recorded(record: &Folder, folder: &Path) -> Vec<Change> {
    let mut entries: Vec<_> =
        std::fs::read_dir(record.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let (mut changes, mut names, mut files) = (Vec::new(), Names::new(), 0);
    for entry in entries {
        let content = std::fs::read(entry).unwrap();
        let mut parts = content.splitn(4, |&byte| byte == b'\n').map(<[u8]>::to_vec);
        let mut text = || String::from_utf8(parts.next().unwrap()).unwrap();
        let (kind, path, other) = (text(), text(), text());
        let bytes = parts.next().unwrap_or_default();
        if Path::new(&path) == folder {
            assert_eq!(kind, "fsync");
            changes.push(Change::FlushFolder);
            continue;
        }
        let within =
            |path: &str| Path::new(path).strip_prefix(folder).ok().map(|name| name.display().to_string());
        let Some(name) = within(&path) else { continue };
        changes.push(match kind.as_str() {
            "create" => {
                files += 1;
                names.insert(name.clone(), files);
                Change::Create(name, files)
            }
            "write" => Change::Write { file: names[&name], offset: other.parse().unwrap(), bytes },
            "fsync" => Change::Flush(names[&name]),
            "rename" => {
                let (to, file) = (within(&other).unwrap(), names.remove(&name).unwrap());
                names.insert(to.clone(), file);
                Change::Rename(name, to)
            }
            "unlink" => {
                names.remove(&name);
                Change::Unlink(name)
            }
            other => unreachable!("{other}"),
        });
    }
    changes
}

/// The folder after some changes of names, each of which the disk may have kept or not.
fn apply(names: &mut Names, change: &Change, created: &Names) {
    match change {
        Change::Create(name, file) => {
            names.insert(name.clone(), *file);
        }
        // The new entry may be on the disk although the old one never was.
        Change::Rename(from, to) => {
            names.remove(from);
            names.insert(to.clone(), created[from]);
        }
        Change::Unlink(name) => {
            names.remove(name);
        }
        _ => {}
    }
}

fn write(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    content.resize(content.len().max(offset + bytes.len()), 0);
    content[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// What a file may hold of writes that were not flushed: all, the first few, all but one, or parts of the last.
fn contents(flushed: &[u8], pending: &[(usize, &[u8])]) -> BTreeSet<Vec<u8>> {
    let with = |chosen: &dyn Fn(usize) -> bool| {
        let mut content = flushed.to_vec();
        let writes = pending.iter().enumerate().filter(|(place, _)| chosen(*place));
        writes.for_each(|(_, (offset, bytes))| write(&mut content, *offset, bytes));
        content
    };
    let mut states = BTreeSet::new();
    for place in 0..pending.len() {
        states.insert(with(&|other| other < place));
        states.insert(with(&|other| other != place));
        let (offset, bytes) = pending[place];
        for torn in (SECTOR..bytes.len()).step_by(SECTOR) {
            let mut content = with(&|other| other < place);
            write(&mut content, offset, &bytes[..torn]);
            states.insert(content);
        }
    }
    states.insert(with(&|_| true));
    states
}

/// What was found in the states after a crash.
#[derive(Default)]
struct Found {
    states: usize,
    /// States in which a checkpoint that had been told to be safe was gone.
    lost: usize,
    /// States with a checkpoint that was refused.
    damaged: usize,
}

/// Makes every state after every change. Whatever is loaded must be one of the checkpoints, by the hash of its model.
fn crash_everywhere(changes: &[Change], hashes: &[String]) -> Found {
    let mut created = Names::new();
    for change in changes {
        if let Change::Create(name, file) = change {
            created.insert(name.clone(), *file);
        }
    }
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for moment in 0..=changes.len() {
        let past = &changes[..moment];
        // A checkpoint is safe when the folder was flushed after it got its name.
        let flushed_names =
            past.iter().rposition(|change| matches!(change, Change::FlushFolder)).unwrap_or(0);
        let named = |changes: &[Change]| {
            changes
                .iter()
                .filter(|change| matches!(change, Change::Rename(_, to) if to.starts_with("checkpoint-")))
                .count()
        };
        let safe = named(&past[..flushed_names]);
        let mut certain = Names::new();
        past[..flushed_names].iter().for_each(|change| apply(&mut certain, change, &created));
        let open: Vec<&Change> = past[flushed_names..]
            .iter()
            .filter(|change| matches!(change, Change::Create(..) | Change::Rename(..) | Change::Unlink(_)))
            .collect();
        assert!(open.len() < 10, "{} names that were not flushed", open.len());
        for kept in 0..1_usize << open.len() {
            let mut names = certain.clone();
            let chosen = open.iter().enumerate().filter(|(place, _)| kept >> place & 1 == 1);
            chosen.for_each(|(_, change)| apply(&mut names, change, &created));
            for state in states_of(past, &names) {
                if !seen.insert((safe, state.clone())) {
                    continue;
                }
                found.states += 1;
                look(&state, safe, hashes, &mut found);
            }
        }
    }
    found
}

/// The folders, as (name, content), that there may be with these names.
fn states_of(past: &[Change], names: &Names) -> Vec<BTreeMap<String, Vec<u8>>> {
    let versions: BTreeMap<usize, Vec<Vec<u8>>> = names
        .values()
        .map(|&file| {
            let flushed_at =
                past.iter().rposition(|change| matches!(change, Change::Flush(flushed) if *flushed == file));
            let (mut flushed, mut pending) = (Vec::new(), Vec::new());
            for (place, change) in past.iter().enumerate() {
                match change {
                    Change::Write { file: written, offset, bytes } if *written == file => {
                        if flushed_at.is_some_and(|at| place < at) {
                            write(&mut flushed, *offset, bytes);
                        } else {
                            pending.push((*offset, &bytes[..]));
                        }
                    }
                    _ => {}
                }
            }
            // The whole content comes last.
            let mut versions: Vec<Vec<u8>> = contents(&flushed, &pending).into_iter().collect();
            versions.sort_by_key(Vec::len);
            (file, versions)
        })
        .collect();
    let state = |changed: usize, version: &Vec<u8>| {
        let content = |file: usize| if file == changed { version } else { versions[&file].last().unwrap() };
        names.iter().map(|(name, &file)| (name.clone(), content(file).clone())).collect()
    };
    // One file at a time is not what it should be; the others are whole.
    let mut states: Vec<BTreeMap<String, Vec<u8>>> = Vec::new();
    for (&file, versions) in &versions {
        states.extend(versions.iter().map(|version| state(file, version)));
    }
    if states.is_empty() {
        states.push(BTreeMap::new());
    }
    states
}

fn look(state: &BTreeMap<String, Vec<u8>>, safe: usize, hashes: &[String], found: &mut Found) {
    let folder = Folder::new();
    for (name, content) in state {
        std::fs::write(folder.file(name), content).unwrap();
    }
    let claimed = CheckpointFolder::claim(folder.path()).unwrap();
    let mut refused = 0;
    let newest = claimed.newest(|error| {
        assert!(error.to_string().contains("not a usable model file: "), "{error}");
        refused += 1;
    });
    found.damaged += usize::from(refused > 0);
    let hash = newest.ok().flatten().map(|checkpoint| checkpoint.model.hash());
    // The number of the checkpoint from 1; 0 if there is none. The last one may be the one before, with other notes.
    let number = hash
        .map_or(0, |hash| 1 + hashes.iter().rposition(|known| *known == hash).expect("a model of this run"));
    found.lost += usize::from(number < safe);
}

#[test]
fn after_a_crash_of_the_machine_there_is_a_whole_checkpoint() {
    let (faults, record) = (Faults::new(), Folder::new());
    let line =
        "train uci --topics 3 --batch 60 --sweeps 3 --threads 1 --checkpoint ck --checkpoint-every 1b --json";
    let place = record.path().to_str().unwrap().to_owned();
    faults.run(line, &[("FAULT_RECORD", &place)]).0.ok();
    let folder = faults.folder.path().canonicalize().unwrap().join("ck");
    let changes = recorded(&record, &folder);
    // The checkpoints in their order: what every rename gave its name to.
    let mut hashes = Vec::new();
    for (moment, change) in changes.iter().enumerate() {
        if let Change::Rename(from, _) = change {
            let file = changes[..moment].iter().rev().find_map(|change| match change {
                Change::Create(name, file) if name == from => Some(*file),
                _ => None,
            });
            let mut content = Vec::new();
            for change in &changes[..moment] {
                if let Change::Write { file: written, offset, bytes } = change
                    && Some(*written) == file
                {
                    write(&mut content, *offset, bytes);
                }
            }
            hashes.push(Model::parse(Path::new("recorded"), &content).unwrap().0.hash());
        }
    }
    assert!(hashes.len() >= 5, "{} checkpoints", hashes.len());
    let found = crash_everywhere(&changes, &hashes);
    assert!(found.states > 30, "only {} states", found.states);
    assert_eq!((found.lost, found.damaged), (0, 0), "of {} states", found.states);
    // The same run without flushing content: then checkpoints are lost, and what is damaged is refused, never believed.
    let careless: Vec<Change> =
        changes.iter().filter(|change| !matches!(change, Change::Flush(_))).cloned().collect();
    let found = crash_everywhere(&careless, &hashes);
    assert!(found.lost > 0 && found.damaged > 0, "{} lost, {} damaged", found.lost, found.damaged);
}
