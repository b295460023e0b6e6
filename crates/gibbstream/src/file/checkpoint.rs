//! Checkpoints: a folder that, once there is a whole checkpoint in it, always holds one.
//!
//! A checkpoint is a model file with the state of the run in its header: statistics, random key, counters and the
//! place in the input are replaced together or not at all. Files are numbered by updates; the newest three are kept.
//! Nothing is ever renamed over an older one, so that there is no moment without one to go back to.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::model::{Model, RunState};
use super::new_file::PREFIX as TEMPORARY_PREFIX;
use crate::error::{Error, Result};

/// Checkpoints that are kept: the newest, and two to go back to.
const KEPT: usize = 3;

const PREFIX: &str = "checkpoint-";
const SUFFIX: &str = ".gbs";
const LOCK: &str = "lock";

/// A model, and where the run that learns it stands.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// What has been learnt.
    pub model: Model,
    /// The place in the input and what was asked for.
    pub run: RunState,
}

impl Checkpoint {
    /// Reads a checkpoint, refusing anything that is not exactly what was written.
    pub fn load(path: &Path) -> Result<Self> {
        let (model, run) = Model::load_with(path)?;
        let run = run.ok_or_else(|| {
            Error::model_file(path, "it is a model, not a checkpoint", "use {continue} to train a model further")
        })?;
        Ok(Self { model, run })
    }
}

/// A folder of checkpoints that no other process writes to.
#[derive(Debug)]
pub struct CheckpointFolder {
    path: PathBuf,
    /// The system lets go of it when the process ends, however it ends.
    _lock: File,
}

impl CheckpointFolder {
    /// Makes the folder if need be, and claims it.
    pub fn claim(path: &Path) -> Result<Self> {
        let failed = |source| Error::io(path, "create", source);
        std::fs::create_dir_all(path).map_err(failed)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path.join(LOCK))
            .map_err(|source| Error::io(path.join(LOCK), "create", source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::setting(
                    "checkpoint",
                    format!("another run is writing to {}", path.display()),
                    "wait until it has ended, or use another folder",
                ));
            }
            Err(TryLockError::Error(source)) => return Err(Error::io(path.join(LOCK), "lock", source)),
        }
        let folder = Self { path: path.to_path_buf(), _lock: lock };
        folder.remove_leftovers()?;
        Ok(folder)
    }

    /// The newest checkpoint that is whole; `None` if there has never been one. Damaged ones are handed to `damaged`,
    /// and only if no other is left is that an error.
    pub fn newest(&self, mut damaged: impl FnMut(&Error)) -> Result<Option<Checkpoint>> {
        let mut last = None;
        for file in self.files()?.iter().rev() {
            match Checkpoint::load(&self.path.join(file)) {
                Ok(checkpoint) => return Ok(Some(checkpoint)),
                Err(error) => {
                    damaged(&error);
                    last = Some(error);
                }
            }
        }
        last.map_or(Ok(None), Err)
    }

    /// Whether there is no checkpoint, damaged or not.
    pub fn is_empty(&self) -> Result<bool> {
        self.files().map(|files| files.is_empty())
    }

    /// Adds a checkpoint and removes those that are too old. An error leaves the older ones as they were.
    pub fn save(&self, model: &Model, run: &RunState) -> Result<()> {
        let name = format!("{PREFIX}{:012}{SUFFIX}", model.clock().update);
        model.save_checkpoint(&self.path.join(name), run)?;
        let files = self.files()?;
        for old in &files[..files.len().saturating_sub(KEPT)] {
            let path = self.path.join(old);
            std::fs::remove_file(&path).map_err(|source| Error::io(path, "remove", source))?;
        }
        Ok(())
    }

    /// Names of all checkpoints, oldest first.
    fn files(&self) -> Result<Vec<String>> {
        let mut names = self.names()?;
        names.retain(|name| {
            let number = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
            number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
        });
        // Longer numbers are larger.
        names.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        Ok(names)
    }

    /// A run that was killed while writing leaves a file behind that nobody will finish.
    fn remove_leftovers(&self) -> Result<()> {
        for name in self.names()?.iter().filter(|name| name.starts_with(TEMPORARY_PREFIX)) {
            let path = self.path.join(name);
            std::fs::remove_file(&path).map_err(|source| Error::io(path, "remove", source))?;
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        let failed = |source| Error::io(&self.path, "read", source);
        let mut names = Vec::new();
        for entry in self.path.read_dir().map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Document, Minibatch, Vocabulary};
    use crate::file::shown::ShownWords;
    use crate::file::{Features, TopicLabels};
    use crate::file::new_file::{CRASH_AT, CRASH_POINTS};
    use crate::learn::Settings;
    use crate::learn::method::Method;
    use crate::learn::trainer::Trainer;
    use serde_json::json;
    use std::process::Command;

    fn checkpoint(updates: u64) -> Checkpoint {
        let documents = [Document::from_tokens(&[0, 1, 1]), Document::from_tokens(&[2])];
        let settings = Settings::new(2).method("g-oem", Method::G_OEM).vocabulary(3).batch(2).seed(1);
        let mut trainer = Trainer::new(settings.clone(), 1).unwrap();
        for update in 0..updates {
            trainer.partial_fit(&Minibatch::new(&documents, 2 * update, 0)).unwrap();
        }
        let features = Features::Words(Vocabulary::new(["a", "b", "c"]).unwrap());
        let fitted = trainer.into_fitted().unwrap();
        let (labels, shown) = (TopicLabels::default(), ShownWords::default());
        let model = Model { settings, fitted, features, tokenizer: None, history: Vec::new(), labels, shown };
        let run = RunState {
            request: json!({ "passes": 1 }),
            pass: 0,
            documents: 2 * updates,
            finished: false,
            notes: json!({}),
            inputs: Vec::new(),
        };
        Checkpoint { model, run }
    }

    fn save(folder: &CheckpointFolder, updates: u64) {
        let Checkpoint { model, run } = checkpoint(updates);
        folder.save(&model, &run).unwrap();
    }

    fn same(found: &Checkpoint, expected: &Checkpoint) -> bool {
        found.model.hash() == expected.model.hash() && found.run == expected.run
    }

    fn newest(path: &Path) -> Option<u64> {
        let folder = CheckpointFolder::claim(path).unwrap();
        let found: Checkpoint = folder.newest(|damaged| panic!("{damaged}")).unwrap()?;
        assert!(same(&found, &checkpoint(found.model.clock().update)));
        Some(found.model.clock().update)
    }

    #[test]
    fn the_newest_three_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let folder = CheckpointFolder::claim(&root.path().join("a/b")).unwrap();
        assert!(folder.is_empty().unwrap() && folder.newest(|_| ()).unwrap().is_none());
        (1..=5).for_each(|updates| save(&folder, updates));
        let names =
            ["checkpoint-000000000003.gbs", "checkpoint-000000000004.gbs", "checkpoint-000000000005.gbs"];
        assert_eq!(folder.files().unwrap(), names);
        assert!(same(&folder.newest(|_| ()).unwrap().unwrap(), &checkpoint(5)));
    }

    #[test]
    fn a_damaged_checkpoint_is_named_and_the_one_before_it_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let folder = CheckpointFolder::claim(root.path()).unwrap();
        (1..=2).for_each(|updates| save(&folder, updates));
        let path = |updates: u64| root.path().join(format!("checkpoint-{updates:012}.gbs"));
        let cut = |path: &Path| std::fs::write(path, &std::fs::read(path).unwrap()[1..]).unwrap();
        cut(&path(2));
        let mut named = Vec::new();
        let found = folder.newest(|damaged| named.push(damaged.to_string())).unwrap();
        assert!(same(&found.unwrap(), &checkpoint(1)));
        assert_eq!(named.len(), 1);
        assert!(named[0].contains("checkpoint-000000000002.gbs: not a usable model file: "), "{named:?}");
        cut(&path(1));
        let refused = folder.newest(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("checkpoint-000000000001.gbs: not a usable model file: "), "{refused}");
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_refused_by_name() {
        let root = tempfile::tempdir().unwrap();
        save(&CheckpointFolder::claim(root.path()).unwrap(), 2);
        let path = root.path().join("checkpoint-000000000002.gbs");
        let mut bytes = std::fs::read(&path).unwrap();
        let refused = |bytes: &[u8], what: &str| {
            let error = Model::parse(&path, bytes).expect_err(what).to_string();
            assert!(error.contains("checkpoint-000000000002.gbs: not a usable model file: "), "{error}");
        };
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            refused(&bytes, &format!("bit {bit}"));
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..bytes.len() {
            refused(&bytes[..length], &format!("{length} bytes"));
        }
        assert!(Model::parse(&path, &bytes).is_ok());
    }

    #[test]
    fn two_runs_cannot_share_a_folder() {
        let root = tempfile::tempdir().unwrap();
        let first = CheckpointFolder::claim(root.path()).unwrap();
        let refused = CheckpointFolder::claim(root.path()).unwrap_err().to_string();
        let expected = format!(
            "checkpoint: another run is writing to {}; wait until it has ended, or use another folder",
            root.path().display()
        );
        assert_eq!(refused, expected);
        drop(first);
        assert!(CheckpointFolder::claim(root.path()).is_ok());
    }

    const CHILD_FOLDER: &str = "GIBBSTREAM_TEST_CRASH_FOLDER";

    /// Not a test of its own: the process that [`a_crash_at_any_point_leaves_the_old_or_the_new`] lets crash.
    #[test]
    fn saves_where_it_is_told_to_crash() {
        let Some(path) = std::env::var_os(CHILD_FOLDER) else { return };
        save(&CheckpointFolder::claim(Path::new(&path)).unwrap(), 4);
    }

    #[test]
    fn a_crash_at_any_point_leaves_the_old_or_the_new() {
        let child = |folder: &Path, point: &str| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "file::checkpoint::tests::saves_where_it_is_told_to_crash"])
                .envs([(CHILD_FOLDER, folder.as_os_str()), (CRASH_AT, point.as_ref())])
                .output()
                .unwrap()
                .status
                .success()
        };
        for before in [0, 1, 3] {
            for point in CRASH_POINTS {
                let root = tempfile::tempdir().unwrap();
                let folder = CheckpointFolder::claim(root.path()).unwrap();
                (1..=before).for_each(|updates| save(&folder, updates));
                drop(folder);
                assert!(!child(root.path(), point), "it did not crash when {point}");
                let expected = if point == "renamed" { Some(4) } else { Some(before).filter(|&old| old > 0) };
                assert_eq!(newest(root.path()), expected, "{point}");
                let left: Vec<String> = CheckpointFolder::claim(root.path()).unwrap().names().unwrap();
                assert!(left.iter().all(|name| !name.starts_with(TEMPORARY_PREFIX)), "{left:?}");
                assert!(child(root.path(), "never"));
                assert_eq!(newest(root.path()), Some(4));
            }
        }
    }
}
