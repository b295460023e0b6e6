//! A report as a file: the page with its data inside, or the data alone.
//!
//! The page is built from `web/` and kept as one file, whose security policy names the hashes of its script and style. The
//! data stands in elements that are not executed, as base64 of compressed JSON, so that no text of a document or a label
//! can ever become markup: base64 has no `<`.

use super::report::{DocumentText, Report};
use crate::error::{Error, Result};
use crate::file::new_file::NewFile;
use crate::file::{Destination, Kind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};
use std::io::{self, Write};
use std::path::PathBuf;

/// The built page. Its elements for data are empty.
pub const PAGE: &str = include_str!("../../../../web/dist/page.html");

/// How the elements for data begin; what follows is their name.
const ELEMENT: &str = "<script type=\"application/octet-stream;base64\" id=\"";
const ELEMENT_END: &str = "\"></script>";

const TITLE: &str = "<title>gibbstream</title>";

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFormat {
    /// The page.
    Html,
    /// Its data alone.
    Json,
}

/// A report's file, which appears under its name when it is complete.
pub struct PageFile {
    path: PathBuf,
    file: NewFile,
}

impl PageFile {
    /// What a report may replace: an older one, in either format.
    pub const KIND: Kind = Kind { name: "a page or its data", recognise: is_report };

    /// Prepares a file before any work is done for it. Refuses a folder that does not exist, a file that holds something
    /// else, and one of the `inputs`.
    pub fn create(place: &Destination, inputs: &[PathBuf]) -> Result<Self> {
        let path = place.path();
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            let problem = format!("the folder {} does not exist", folder.display());
            return Err(Error::setting(path.display().to_string(), problem, "create it first"));
        }
        place.check(inputs)?;
        Ok(Self { path: path.to_path_buf(), file: place.create()? })
    }

    /// Writes a report and gives the file its name; returns its length.
    pub fn finish(mut self, report: Report, format: PageFormat) -> Result<u64> {
        let mut counted = Counted { out: self.file.writer(), bytes: 0 };
        let written = match format {
            PageFormat::Html => write_page(report, &mut counted),
            PageFormat::Json => write_json(&report, &mut counted),
        };
        let bytes = counted.bytes;
        written.map_err(|error| Error::io(&self.path, "write", error))?;
        self.file.finish()?;
        Ok(bytes)
    }
}

/// Whether a file begins like one of ours.
fn is_report(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let is_page = text.starts_with("<!doctype html>") && text.contains(&format!("{ELEMENT}report-data"));
    is_page || text.starts_with(r#"{"schema":"gibbstream/report/"#)
}

/// Counts what goes through it.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes the page with a report inside.
pub fn write_page(mut report: Report, mut out: impl Write) -> io::Result<()> {
    let texts = report.documents.as_mut().and_then(|documents| documents.texts.take());
    let per_block = report.documents.as_ref().map_or(1, |documents| documents.texts_per_block.max(1));
    let blocks = texts.as_deref().unwrap_or_default().chunks(per_block as usize);
    let blocks: Vec<String> = blocks.map(|block: &[DocumentText]| packed(&block)).collect::<io::Result<_>>()?;
    let mut page = PAGE.replacen(TITLE, &format!("<title>{}</title>", escaped(&report.title)), 1);
    for (name, data) in [("report-documents", blocks.join("\n")), ("report-data", packed(&report)?)] {
        page = filled(&page, name, &data)?;
    }
    out.write_all(page.as_bytes())?;
    out.flush()
}

/// Writes the data alone, as one object.
pub fn write_json(report: &Report, mut out: impl Write) -> io::Result<()> {
    report.serialize(&mut serde_json::Serializer::with_formatter(&mut out, SixDigits(CompactFormatter)))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The page with one of its elements filled.
fn filled(page: &str, name: &str, data: &str) -> io::Result<String> {
    let empty = format!("{ELEMENT}{name}{ELEMENT_END}");
    let Some((before, after)) = page.split_once(&empty) else {
        return Err(io::Error::other(format!("the built page has no empty element `{name}`")));
    };
    let end = ELEMENT_END.trim_start_matches("\">");
    Ok([before, ELEMENT, name, "\">", data, end, after].concat())
}

fn packed(value: &impl Serialize) -> io::Result<String> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut packer, SixDigits(CompactFormatter)))?;
    Ok(STANDARD.encode(packer.finish()?))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Numbers with six significant digits: more than anybody reads off a page, and half as long.
struct SixDigits(CompactFormatter);

impl Formatter for SixDigits {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        self.0.write_f64(writer, short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn element<'a>(page: &'a str, name: &str) -> &'a str {
        let start = format!("{ELEMENT}{name}\">");
        let (_, after) = page.split_once(&start).unwrap();
        after.split_once("</script>").unwrap().0
    }

    fn unpacked(data: &str) -> String {
        let mut text = String::new();
        GzDecoder::new(&*STANDARD.decode(data).unwrap()).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_built_page_has_its_places() {
        for name in ["report-data", "report-documents"] {
            assert_eq!(PAGE.matches(&format!("{ELEMENT}{name}{ELEMENT_END}")).count(), 1, "{name}");
        }
        assert!(PAGE.contains(TITLE));
        assert!(PAGE.contains("Content-Security-Policy"));
    }

    #[test]
    fn a_page_and_its_data_are_known_by_their_beginning() {
        assert!(is_report(PAGE.as_bytes()) && is_report(br#"{"schema":"gibbstream/report/1","title":"a"}"#));
        for other in ["", "<!doctype html><p>mine", r#"{"schema":"gibbstream/labels/1"}"#, ELEMENT] {
            assert!(!is_report(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn elements_are_filled_and_nothing_else_changes() {
        let page = filled(&filled(PAGE, "report-data", "QUJD").unwrap(), "report-documents", "QQ==\nQg==").unwrap();
        assert_eq!((element(&page, "report-data"), element(&page, "report-documents")), ("QUJD", "QQ==\nQg=="));
        assert_eq!(page.len(), PAGE.len() + 4 + 9);
        assert!(filled(&page, "report-data", "").is_err(), "it is not empty any more");
    }

    #[test]
    fn hostile_text_stays_data() {
        let text = "</script><script>alert(1)</script>\u{202e}";
        let packed = packed(&text).unwrap();
        assert!(!packed.contains(['<', '>', '"', '\'', '&']));
        assert_eq!(unpacked(&packed), serde_json::to_string(text).unwrap());
        assert_eq!(escaped("</title><b>&"), "&lt;/title&gt;&lt;b&gt;&amp;");
    }

    #[test]
    fn numbers_have_six_digits() {
        let mut text = Vec::new();
        let numbers = (0.123_456_789, 1e-12, 1.0, 123_456_789.5, 1.0 / 3.0, 7_u64);
        numbers
            .serialize(&mut serde_json::Serializer::with_formatter(&mut text, SixDigits(CompactFormatter)))
            .unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "[0.123457,1e-12,1.0,123457000.0,0.333333,7]");
    }
}
