//! A finished cell as a line of `cells.tsv`: its fields in their order, with tabs between them.
//!
//! A field that is a list (a curve, estimates) is a table of its own, with commas between columns and a semicolon after every
//! row. Numbers have as many digits as it takes to read them back exactly.

use crate::cells::Finished;
use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Cursor;

/// The first line.
pub const HEADER: &str = "corpus\tsplit\tseed\tdocuments\theld_out\tlongest\tbatch\tmethod\ttopics\tpasses\testimator\t\
    particles\tversion\ttokens\theld_out_tokens\tlog_perplexity_per_document\tstandard_error\t\
    unigram_log_perplexity_per_document\ttrue_parameters_log_perplexity_per_document\ttrain_cpu_seconds\tmodel_hash\t\
    alpha_sum\ttopics_used\telbo_per_document\tcurve\testimates\tbeside\n";

/// The line of a cell, with its end.
pub fn line_of(finished: &Finished) -> csv::Result<String> {
    LINES.write([finished])
}

/// The cells of whole lines; an error for each line that is none.
pub fn cells_of(lines: Vec<u8>) -> impl Iterator<Item = csv::Result<Finished>> {
    LINES.read(lines)
}

/// How rows are told apart, and their fields.
struct Layout {
    between: u8,
    end: u8,
}

const LINES: Layout = Layout { between: b'\t', end: b'\n' };
const LIST: Layout = Layout { between: b',', end: b';' };

impl Layout {
    fn write<T: Serialize>(&self, rows: impl IntoIterator<Item = T>) -> csv::Result<String> {
        let mut text = Vec::new();
        let mut writer = WriterBuilder::new()
            .delimiter(self.between)
            .terminator(Terminator::Any(self.end))
            .quote_style(QuoteStyle::Never)
            .has_headers(false)
            .from_writer(&mut text);
        rows.into_iter().try_for_each(|row| writer.serialize(row))?;
        writer.flush()?;
        drop(writer);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn read<T: DeserializeOwned>(&self, text: Vec<u8>) -> impl Iterator<Item = csv::Result<T>> + use<T> {
        ReaderBuilder::new()
            .delimiter(self.between)
            .terminator(Terminator::Any(self.end))
            .quoting(false)
            .has_headers(false)
            .flexible(true)
            .from_reader(Cursor::new(text))
            .into_deserialize()
    }
}

/// Lists in a field.
pub mod list {
    use super::LIST;
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub fn serialize<T: Serialize, S: Serializer>(items: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&LIST.write(items).map_err(ser::Error::custom)?)
    }

    pub fn deserialize<'a, T: DeserializeOwned, D: Deserializer<'a>>(field: D) -> Result<Vec<T>, D::Error> {
        let text = String::deserialize(field)?;
        LIST.read(text.into_bytes()).collect::<csv::Result<_>>().map_err(de::Error::custom)
    }
}

/// What is no table, as JSON; nothing for nothing.
pub mod json {
    use serde::de::DeserializeOwned;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    const NOTHING: &str = "null";

    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(value).map_err(ser::Error::custom)?;
        serializer.serialize_str(if text == NOTHING { "" } else { &text })
    }

    pub fn deserialize<'a, T: DeserializeOwned, D: Deserializer<'a>>(field: D) -> Result<T, D::Error> {
        let text = String::deserialize(field)?;
        serde_json::from_str(if text.is_empty() { NOTHING } else { &text }).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Beside, Estimate, Moment, TopicPair};
    use crate::claims::tests::cell;
    use gibbstream::evaluation::coherence::TopicCoherence;

    /// A cell of which everything was measured.
    fn rich() -> Finished {
        let moment = |documents, elbo_per_document| Moment {
            documents,
            cpu_seconds: 1.0 / 3.0,
            log_perplexity_per_document: 1e-300,
            elbo_per_document,
        };
        let estimate = |estimator: &str| Estimate {
            estimator: estimator.into(),
            particles: 20,
            log_perplexity_per_document: 0.1 + 0.2,
        };
        let coherence = TopicCoherence { npmi: 0.1, c_v: 0.2, umass: -0.3 };
        let words = vec!["it's".to_owned(), "\"a, b; c\"".to_owned()];
        let pair = TopicPair { share: 0.25, divergence: 1.5, words: words.clone(), words_beside: words };
        Finished {
            standard_error: Some(2.0),
            topics_used: Some(7),
            curve: vec![moment(100, None), moment(200, Some(-5.0))],
            estimates: vec![estimate("smc"), estimate("left-to-right")],
            beside: Some(Beside { method: "olda".into(), pairs: vec![pair], coherence: [coherence; 2] }),
            ..cell("g-oem --kappa 0.75", 8, 1, 1e17 / 7.0)
        }
    }

    #[test]
    fn lines_are_read_back_exactly() {
        let cells = [rich(), cell("olda", 2, 1, 3.0)];
        let lines: String = cells.iter().map(|cell| line_of(cell).unwrap()).collect();
        assert_eq!(lines.lines().count(), cells.len());
        for line in lines.lines() {
            assert_eq!(line.split('\t').count(), HEADER.split('\t').count(), "{line}");
        }
        let read: Vec<Finished> = cells_of(lines.into_bytes()).map(Result::unwrap).collect();
        assert_eq!(read, cells);
    }

    #[test]
    fn other_lines_are_no_cells() {
        let line = line_of(&rich()).unwrap();
        let text = format!("{HEADER}something else\n{line}\n{}\n", line.replace("0.3333", "third"));
        let read: Vec<bool> = cells_of(text.into_bytes()).map(|cell| cell.is_ok()).collect();
        assert_eq!(read, [false, false, true, false]);
    }
}
