//! What the program says: data on standard output, everything else on standard error.

use crate::args::General;
use crate::progress::Progress;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

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
            self.say(message(&text.to_string()));
        }
    }

    /// Something for those who want to know more.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.say(format_args!("{FAINT}{}{FAINT:#}", message(&text.to_string())));
        }
    }

    /// Something that may be wrong; it is also kept for the JSON result.
    pub fn warn(&self, text: impl Display) {
        if !self.quiet {
            self.say(format_args!("{NOTABLE}warning:{NOTABLE:#} {}", message(&text.to_string())));
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
        let mut out = data();
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

/// Standard output for data. On a terminal control characters are shown as JSON writes them, because words and names come
/// from anybody.
pub fn data() -> impl Write + Send {
    let out = io::stdout();
    if out.is_terminal() { Data::Shown(Shown { out, begun: false }) } else { Data::Plain(out) }
}

enum Data<W> {
    Plain(W),
    Shown(Shown<W>),
}

impl<W: Write> Write for Data<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Shown(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Shown(out) => out.out.flush(),
        }
    }
}

/// Escapes control characters in UTF-8 text.
struct Shown<W> {
    out: W,
    /// Whether the last byte may be the first of two that make a control character.
    begun: bool,
}

impl<W: Write> Shown<W> {
    const FIRST_OF_TWO: u8 = 0xc2;

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            let begun = std::mem::take(&mut self.begun);
            match byte {
                0x80..=0x9f if begun => write!(self.out, "\\u{byte:04x}")?,
                _ if begun => self.out.write_all(&[Self::FIRST_OF_TWO, byte])?,
                Self::FIRST_OF_TWO => self.begun = true,
                b'\n' | b'\t' => self.out.write_all(&[byte])?,
                0..0x20 | 0x7f => write!(self.out, "\\u{byte:04x}")?,
                _ => self.out.write_all(&[byte])?,
            }
        }
        Ok(bytes.len())
    }
}

/// A word or a name that comes from somebody else, for people: control characters, and those that turn the direction of
/// writing, are shown as escapes, so that they reach no terminal.
pub fn shown(text: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| if acts(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// The same for a message, whose line ends and styles are ours.
fn message(text: &str) -> String {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, style)) = rest.split_once("\u{1b}[") {
        let end = style.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(style.len());
        let is_style = style[end..].starts_with('m');
        done += &plain_message(before);
        done += if is_style { "\u{1b}[" } else { "\\u{1b}[" };
        rest = style;
    }
    done + &plain_message(rest)
}

/// The same without styles.
fn plain_message(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
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
    let _ = writeln!(anstream::stderr(), "{BAD}error:{BAD:#} {}", plain_message(&text));
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
    let text = shown(text);
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("na\u{ef}ve"), "na\u{ef}ve");
        assert_eq!(shown("\u{1b}[31mred\u{9b}0m\u{7f}\u{202e}"), "\\u{1b}[31mred\\u{9b}0m\\u{7f}\\u{202e}");
        assert_eq!(message("one\ntwo\u{7}\u{1b}[2J"), "one\ntwo\\u{7}\\u{1b}[2J");
        assert_eq!(message("\u{1b}[1mbold\u{1b}[0m"), "\u{1b}[1mbold\u{1b}[0m");
        for chunk in 1..5 {
            let mut out = Shown { out: Vec::new(), begun: false };
            "{\"a\u{9b}\u{e9}\": \"\u{1b}[\"}\t\u{80}\n"
                .as_bytes()
                .chunks(chunk)
                .for_each(|some| drop(out.write(some)));
            assert_eq!(String::from_utf8(out.out).unwrap(), "{\"a\\u009b\u{e9}\": \"\\u001b[\"}\t\\u0080\n");
        }
    }
}
