//! How far things are: a bar on a terminal, JSON lines for programs, or nothing.

use crate::args::{General, ProgressChoice};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between two lines of JSON.
const INTERVAL: Duration = Duration::from_millis(500);

/// The progress of one activity after the other.
pub struct Progress {
    mode: Mode,
    activity: Cell<&'static str>,
    last_line: Cell<Option<Instant>>,
}

enum Mode {
    Hidden,
    Bar(RefCell<ProgressBar>),
    Json,
}

impl Progress {
    /// As the options say; nothing is shown before [`Progress::start`].
    pub fn new(general: &General) -> Self {
        let mode = match general.progress {
            _ if general.quiet => Mode::Hidden,
            ProgressChoice::None => Mode::Hidden,
            ProgressChoice::Json => Mode::Json,
            ProgressChoice::Auto if std::io::stderr().is_terminal() => {
                Mode::Bar(RefCell::new(ProgressBar::hidden()))
            }
            ProgressChoice::Auto => Mode::Hidden,
        };
        Self { mode, activity: Cell::new(""), last_line: Cell::new(None) }
    }

    /// An activity begins: `units` are counted, and there will be `total` of them if that is known.
    pub fn start(&self, activity: &'static str, units: &str, total: Option<u64>) {
        self.finish();
        self.activity.set(activity);
        if let Mode::Bar(bar) = &self.mode {
            let (new, form) = match total {
                Some(total) => (ProgressBar::new(total), "[{bar:24.cyan}] {human_pos}/{human_len}"),
                None => (ProgressBar::no_length(), "{spinner:.cyan} {human_pos}"),
            };
            let left = if total.is_some() { "{eta} left" } else { "{elapsed}" };
            // A template that does not parse leaves the default looks.
            if let Ok(style) =
                ProgressStyle::with_template(&format!("{activity} {form} {units}  {{msg}}  {left}"))
            {
                new.set_style(style.progress_chars("━╸ "));
            }
            *bar.borrow_mut() = new;
        }
    }

    /// `done` units are done; `facts` are shown beside (as text on the bar, as fields in JSON).
    pub fn advance(&self, done: u64, facts: impl FnOnce() -> (String, Value)) {
        match &self.mode {
            Mode::Hidden => {}
            Mode::Bar(bar) => {
                let bar = bar.borrow();
                bar.set_position(done);
                bar.set_message(facts().0);
            }
            Mode::Json => {
                if self.last_line.get().is_none_or(|last| last.elapsed() >= INTERVAL) {
                    self.last_line.set(Some(Instant::now()));
                    self.event("progress", &json!({ "done": done }), facts().1);
                }
            }
        }
    }

    /// Something that happened, for programs that watch.
    pub fn happened(&self, facts: Value) {
        if matches!(self.mode, Mode::Json) {
            self.event("event", &json!({}), facts);
        }
    }

    fn event(&self, kind: &str, first: &Value, facts: Value) {
        let mut line =
            json!({ "schema": "gibbstream/progress/1", "kind": kind, "activity": self.activity.get() });
        for more in [first.clone(), facts] {
            if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
                line.extend(more);
            }
        }
        // Nobody can be told that standard error is closed.
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// The activity is over.
    pub fn finish(&self) {
        self.last_line.set(None);
        if let Mode::Bar(bar) = &self.mode {
            bar.replace(ProgressBar::hidden()).finish_and_clear();
        }
    }

    /// Runs `write` while no bar is in the way.
    pub fn aside(&self, write: impl FnOnce()) {
        match &self.mode {
            Mode::Bar(bar) => bar.borrow().suspend(write),
            _ => write(),
        }
    }
}
