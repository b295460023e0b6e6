//! Learning as a fold over the log, in a thread of its own.
//!
//! Documents wait as the text that they came as until their minibatch is full or cut; only then do their words enter the
//! vocabulary. So between two minibatches the run is exactly what a checkpoint holds, and a run that is started again from one
//! goes the same way.

mod watch;

use crate::log::{LogHandle, LogReader, Next};
use crate::priority::yield_to_requests;
use crate::publish::{Publisher, Urgency};
use crate::setup::Learning;
use crate::status::Status;
use crate::timeline::Timeline;
use gibbstream::corpus::{Format, Inputs, ResolvedInputs, SAMPLED_FROM_STREAMS, Tokenizer};
use gibbstream::file::{Checkpoint, HistoryEntry};
use gibbstream::learn::{Checkpoints, TrainingRun};
use gibbstream::{Error, Result};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use watch::Watch;

/// How long it waits for documents before it looks around.
const PATIENCE: Duration = Duration::from_millis(50);

/// Checkpoints that are kept: documents behind the oldest of them are needed again if newer ones turn out to be damaged.
const CHECKPOINTS_KEPT: usize = 3;

/// Learns from the log until it is told to stop.
pub struct Fold {
    run: TrainingRun,
    inputs: Inputs,
    held_out: HeldOutDocuments,
    /// Whether a minibatch was learnt from: then the language is known, and documents are held out.
    has_begun: bool,
    eval_every: Option<u64>,
    max_wait: Option<Duration>,
    log: Arc<LogHandle>,
    reader: LogReader,
    /// Documents of the record that was read last which have not been taken yet.
    arriving: VecDeque<String>,
    /// Documents of a minibatch that is not full.
    waiting: Vec<String>,
    waiting_since: Option<Instant>,
    cut_requested: bool,
    /// Documents of the log that are held out or learnt from.
    consumed: u64,
    /// Documents of the log that were handed over.
    taken: u64,
    checkpoint_positions: VecDeque<u64>,
    timeline_file: PathBuf,
    watch: Watch,
}

/// The documents at the beginning of the log that are held out. They have a file of their own, because the log may not be
/// kept for ever.
struct HeldOutDocuments {
    file: PathBuf,
    wanted: usize,
    texts: Vec<String>,
}

impl Fold {
    /// Goes on where the newest checkpoint was, or begins, with a lower priority than those who answer requests.
    pub fn new(
        learning: Learning,
        data: &Path,
        log: Arc<LogHandle>,
        status: Arc<Status>,
        publisher: Publisher,
    ) -> Result<Self> {
        yield_to_requests();
        let Learning { settings, features, inputs, base, changes, threads, folder, found, .. } = learning;
        let mut inputs = Inputs { format: Format::JsonLines, ..inputs };
        let tokenizer = Some(inputs.tokenizer.clone());
        let action = if base.is_some() { "continue" } else { "serve" };
        let (run, state) = if let Some(Checkpoint { model, run: state }) = found {
            let features = model.features.clone();
            let settings = gibbstream::learn::Settings { features: features.len(), ..settings };
            let run = TrainingRun::resume(model, settings, threads)?.with_features(features).at(&state)?;
            (run, Some(state))
        } else {
            let mut run = match base {
                Some(model) => TrainingRun::resume(model, settings, threads)?.with_features(features),
                None => TrainingRun::new(settings, features, tokenizer, threads)?,
            };
            let entry = HistoryEntry::new(action, vec![log.folder().display().to_string()]);
            run.begin(Some(HistoryEntry { changes, ..entry }));
            (run, None)
        };
        let mut run =
            run.with_checkpoints(Some(Checkpoints::new(folder, learning.checkpoint_every)), learning.request);
        let mut held_out = HeldOutDocuments {
            file: data.join("held-out.jsonl"),
            wanted: learning.held_out,
            texts: Vec::new(),
        };
        let mut consumed = 0;
        if let Some(state) = &state {
            // The language was found before the first minibatch.
            inputs.tokenizer = run.tokenizer().cloned().unwrap_or_else(Tokenizer::plain);
            held_out.read()?;
            held_out.give(&mut run, &inputs)?;
            consumed = learning.held_out as u64 + state.documents;
        }
        let timeline_file = data.join("curves.json");
        let timeline =
            state.as_ref().map_or_else(Timeline::default, |_| read_timeline(&timeline_file, consumed));
        let reader = LogReader::at(log.folder(), log.follower(), consumed)?;
        let watch = Watch::new(status, publisher, &run, timeline, held_out.texts.len() as u64, consumed);
        let mut fold = Self {
            run,
            inputs,
            held_out,
            has_begun: state.is_some(),
            eval_every: learning.eval_every,
            max_wait: learning.max_wait,
            log,
            reader,
            arriving: VecDeque::new(),
            waiting: Vec::new(),
            waiting_since: None,
            cut_requested: false,
            consumed,
            taken: consumed,
            checkpoint_positions: VecDeque::new(),
            timeline_file,
            watch,
        };
        if fold.run.has_learnt() {
            fold.watch.publish(&fold.run, Urgency::Now)?;
        }
        Ok(fold)
    }

    /// Learns until it is told to stop, and writes a last checkpoint.
    pub fn run(mut self) -> Result<Stopped> {
        while !self.watch.status.is_stopping() {
            self.serve_requests();
            if self.watch.status.is_paused() {
                // Documents still come in.
                self.watch.tell_changes();
                std::thread::sleep(PATIENCE);
            } else if let Some(document) = self.arriving.pop_front() {
                self.take(document)?;
            } else {
                self.read()?;
            }
        }
        self.save()?;
        Ok(Stopped {
            documents: self.run.trainer().clock().seen,
            has_learnt: self.run.has_learnt(),
            run: self.run,
        })
    }

    /// Reads the next record, or looks around if there is none.
    fn read(&mut self) -> Result<()> {
        self.cut_if_due();
        let patience = if self.watch.is_published() { PATIENCE } else { PATIENCE / 10 };
        let Next::Record(record) = self.reader.next(patience)? else { return self.idle() };
        if record.cut {
            self.close()?;
            return Ok(());
        }
        let known = self.taken.saturating_sub(record.position) as usize;
        self.arriving.extend(record.documents.iter().skip(known).map(|document| document.get().to_owned()));
        self.taken = self.taken.max(record.end());
        self.watch.arrived_at = record.at;
        Ok(())
    }

    /// Nothing comes: a good moment to show what was learnt.
    fn idle(&mut self) -> Result<()> {
        self.watch.publish(&self.run, Urgency::Soon)?;
        self.watch.tell_changes();
        Ok(())
    }

    /// Waits no longer for a minibatch to be full, also if documents drop in all the time.
    fn cut_if_due(&mut self) {
        let waited = self.waiting_since.map(|since| since.elapsed());
        let is_due = waited.zip(self.max_wait).is_some_and(|(waited, most)| waited >= most);
        if is_due && !self.cut_requested {
            self.cut_requested = self.log.cut();
        }
    }

    /// Takes one document: it is held out, or waits for its minibatch, which may be full now.
    fn take(&mut self, document: String) -> Result<()> {
        if self.held_out.texts.len() < self.held_out.wanted {
            self.held_out.texts.push(document);
            self.consumed += 1;
            self.watch.held_out(self.held_out.texts.len() as u64, self.consumed);
            if self.held_out.texts.len() == self.held_out.wanted {
                self.held_out.write()?;
            }
            return Ok(());
        }
        self.waiting_since = self.waiting_since.or_else(|| Some(Instant::now()));
        self.waiting.push(document);
        if self.waiting.len() >= self.run.batch_size() { self.close() } else { Ok(()) }
    }

    /// Learns from the documents that wait, if there are any.
    fn close(&mut self) -> Result<()> {
        (self.waiting_since, self.cut_requested) = (None, false);
        if self.waiting.is_empty() {
            return Ok(());
        }
        if !self.has_begun {
            self.begin()?;
        }
        let documents = self.run.documents(&lines(&self.inputs, &self.waiting)?)?;
        self.consumed += documents.len() as u64;
        self.waiting.clear();
        self.watch.consumed = self.consumed;
        let mut step = None;
        for document in documents {
            step = self.run.push(document.into(), &mut self.watch)?;
        }
        let step = if step.is_some() { step } else { self.run.close(&mut self.watch)? };
        let Some(step) = step else { return Ok(()) };
        // Documents that a checkpoint is past must be durable, so that the log never ends before it.
        if self.run.checkpoint_is_due() {
            self.log.sync();
        }
        let before = self.watch.checkpoints;
        self.run.evaluate_and_save(step, self.eval_every, &mut self.watch)?;
        if self.watch.checkpoints > before {
            self.saved()?;
        }
        self.watch.publish(&self.run, Urgency::Cheaply)
    }

    /// Finds the language in the first documents, and cuts those that are held out, before anything is learnt.
    fn begin(&mut self) -> Result<()> {
        if self.inputs.tokenizer.needs_language() {
            let texts = self.held_out.texts.iter().chain(&self.waiting);
            let first: Vec<String> = texts.take(SAMPLED_FROM_STREAMS).cloned().collect();
            self.inputs.tokenizer = lines(&self.inputs, &first)?.find_language(SAMPLED_FROM_STREAMS)?;
            self.run.cut_by(self.inputs.tokenizer.clone());
        }
        self.has_begun = true;
        self.held_out.give(&mut self.run, &self.inputs)
    }

    fn serve_requests(&mut self) {
        let requests = self.watch.status.take_checkpoint_requests();
        if requests.is_empty() {
            return;
        }
        let saved = self.save().map(|()| self.run.trainer().clock().seen).map_err(|error| error.to_string());
        for reply in requests {
            let _ = reply.send(saved.clone());
        }
    }

    /// Writes a checkpoint now; nothing before the first minibatch.
    fn save(&mut self) -> Result<()> {
        self.log.sync();
        let before = self.watch.checkpoints;
        self.run.save_checkpoint(&mut self.watch)?;
        if self.watch.checkpoints > before { self.saved() } else { Ok(()) }
    }

    /// What belongs to a checkpoint follows it; parts of the log that no kept checkpoint needs may go.
    fn saved(&mut self) -> Result<()> {
        self.watch.write_timeline(&self.timeline_file)?;
        self.checkpoint_positions.push_back(self.consumed);
        if self.checkpoint_positions.len() > CHECKPOINTS_KEPT {
            self.checkpoint_positions.pop_front();
        }
        if let (CHECKPOINTS_KEPT, Some(&oldest)) =
            (self.checkpoint_positions.len(), self.checkpoint_positions.front())
        {
            self.log.retain_from(oldest);
        }
        Ok(())
    }
}

/// A fold that has ended.
pub struct Stopped {
    pub documents: u64,
    pub has_learnt: bool,
    pub run: TrainingRun,
}

impl HeldOutDocuments {
    fn read(&mut self) -> Result<()> {
        if self.wanted == 0 {
            return Ok(());
        }
        let text =
            std::fs::read_to_string(&self.file).map_err(|source| Error::io(&self.file, "read", source))?;
        self.texts = text.lines().map(str::to_owned).collect();
        if self.texts.len() == self.wanted {
            return Ok(());
        }
        let problem = format!("it has {} documents instead of {}", self.texts.len(), self.wanted);
        Err(Error::setting(self.file.display().to_string(), problem, "put it back from a copy"))
    }

    fn write(&self) -> Result<()> {
        gibbstream::file::replace(&self.file, (self.texts.join("\n") + "\n").as_bytes())
    }

    fn give(&self, run: &mut TrainingRun, inputs: &Inputs) -> Result<()> {
        if self.texts.is_empty() { Ok(()) } else { run.hold_out(&lines(inputs, &self.texts)?) }
    }
}

/// Documents as an input.
pub fn lines(inputs: &Inputs, texts: &[String]) -> Result<ResolvedInputs> {
    inputs.clone().resolve_bytes(texts.join("\n").into_bytes())
}

/// What the file beside a checkpoint holds.
#[derive(serde::Deserialize)]
struct Curves {
    timeline: Timeline,
}

/// The timeline of a checkpoint; an empty one if there is none that belongs to it, because it is only shown.
fn read_timeline(file: &Path, consumed: u64) -> Timeline {
    let text = std::fs::read(file).unwrap_or_default();
    let curves: Option<Curves> = serde_json::from_slice(&text).ok();
    curves.map(|curves| curves.timeline).filter(|it| it.documents() <= consumed).unwrap_or_default()
}
