//! What the program says: data on standard output, everything else on standard error.

use crate::args::General;
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};

/// Headings and names.
pub const STRONG: Style = Style::new().bold();
/// Less important things.
pub const FAINT: Style = Style::new().dimmed();
/// Good news.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Bad news.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Things to look at.
pub const NOTABLE: Style = AnsiColor::Yellow.on_default().bold();
/// Words of topics.
pub const WORDS: Style = AnsiColor::Cyan.on_default();

/// Where results and messages go, and how much is said.
pub struct Output {
    /// Whether results are JSON.
    pub json: bool,
    quiet: bool,
    verbose: bool,
    /// How far things are.
    pub progress: Progress,
    warnings: RefCell<Vec<String>>,
}

impl Output {
    /// As the options say.
    pub fn new(general: &General) -> Self {
        Self {
            json: general.json,
            quiet: general.quiet,
            verbose: general.verbose,
            progress: Progress::new(general),
            warnings: RefCell::default(),
        }
    }

    /// Something worth knowing, on standard error.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Something for those who want to know more.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.say(format_args!("{FAINT}{text}{FAINT:#}"));
        }
    }

    /// Something that may be wrong; it is also kept for the JSON result.
    pub fn warn(&self, text: impl Display) {
        if !self.quiet {
            self.say(format_args!("{NOTABLE}warning:{NOTABLE:#} {text}"));
        }
        self.warnings.borrow_mut().push(text.to_string());
    }

    /// All warnings so far.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    fn say(&self, text: impl Display) {
        // Nobody can be told that standard error is closed.
        self.progress.aside(|| drop(writeln!(anstream::stderr(), "{text}")));
    }

    /// Prints a result as one line of JSON.
    pub fn print_json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        self.print_line(serde_json::to_string(value)?)
    }

    /// Prints a result that is a line of JSON already.
    pub fn print_line(&self, mut line: String) -> anyhow::Result<()> {
        line.push('\n');
        self.progress.finish();
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Prints a result for people; colours are left out where they are not wanted.
    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        self.progress.finish();
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }
}

/// Whether the reader of standard output has gone away, which is its right.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Says why a command failed.
pub fn print_error(error: &anyhow::Error) {
    let mut text = String::new();
    for part in error.chain() {
        if !text.is_empty() {
            text.push_str(": ");
        }
        // The texts of the library already tell their causes.
        if let Some(error) = part.downcast_ref::<gibbstream::Error>() {
            text.push_str(&error.spelled(crate::args::spelling));
            break;
        }
        text.push_str(&part.to_string());
    }
    let _ = writeln!(anstream::stderr(), "{BAD}error:{BAD:#} {text}");
}

/// A whole number with separators.
pub fn count(number: u64) -> impl Display {
    indicatif::HumanCount(number)
}

/// A number of bytes in a unit that suits it.
pub fn bytes(number: u64) -> impl Display {
    indicatif::BinaryBytes(number)
}

/// `text` cut or filled to `width` characters.
pub fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
