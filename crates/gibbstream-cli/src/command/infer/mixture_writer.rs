//! How the mixture of a document is written: a line of JSON, or a row of a table.

use super::{InferArgs, OutputFormat, columns};
use crate::output::data;
use crate::table::{Cell, Column, Kind, TableWriter, rounded};
use gibbstream::corpus::Vocabulary;
use gibbstream::file::{Destination, NewFile};
use gibbstream::inference::mixtures::{TopicMixture, assigned};
use gibbstream::learn::{ModelKind, Observation, Snapshot};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Where mixtures go, and what is written of each.
pub struct MixtureWriter<'a> {
    out: Format,
    shown: Shown<'a>,
    /// Whether a document had each of the fields that are passed through.
    met: Vec<bool>,
}

enum Format {
    Lines(BufWriter<Place>),
    Table(Box<TableWriter<BufWriter<Place>>>),
}

/// Where bytes go.
enum Place {
    StandardOutput(Box<dyn Write + Send>),
    /// A file that others read while it grows.
    Growing(File),
    /// A file that appears when it is complete.
    Whole(NewFile),
}

impl Place {
    fn open(destination: Option<&Destination>, grows: bool) -> gibbstream::Result<Self> {
        Ok(match destination {
            None => Self::StandardOutput(Box::new(data())),
            Some(destination) if grows => Self::Growing(destination.append(0)?.0),
            Some(destination) => Self::Whole(destination.create()?),
        })
    }

    fn finish(mut self) -> anyhow::Result<()> {
        match self {
            Self::Whole(file) => Ok(file.finish()?),
            Self::StandardOutput(_) | Self::Growing(_) => Ok(self.flush()?),
        }
    }
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::StandardOutput(out) => out.write(bytes),
            Self::Growing(file) => file.write(bytes),
            Self::Whole(file) => file.writer().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::StandardOutput(out) => out.flush(),
            Self::Growing(file) => file.flush(),
            Self::Whole(file) => file.writer().flush(),
        }
    }
}

/// What topics are called; nothing if none has a name.
fn names(model: &Snapshot) -> Vec<Option<String>> {
    let names: Vec<Option<String>> =
        model.topic_names().into_iter().map(|name| name.map(|(name, _)| name)).collect();
    if names.iter().any(Option::is_some) { names } else { Vec::new() }
}

/// What is written of a mixture.
struct Shown<'a> {
    args: &'a InferArgs,
    /// What the mixture is called.
    name: &'static str,
    /// What its parts are called.
    unit: &'static str,
    vocabulary: Vocabulary,
    /// Share of each topic of all tokens; nothing for models of numbers.
    shares: Vec<f64>,
    /// What topics are called; nothing if none has a name.
    names: Vec<Option<String>>,
    /// Number of parts that are written.
    parts: usize,
    has_spread: bool,
    has_schema: bool,
}

impl<'a> MixtureWriter<'a> {
    /// Opens the file, or takes standard output.
    pub fn open(
        args: &'a InferArgs,
        destination: Option<&Destination>,
        snapshot: &Snapshot,
        has_schema: bool,
    ) -> anyhow::Result<Self> {
        let kind = snapshot.settings.model;
        let shares =
            if kind.has_topics() { snapshot.parameters()?.topics()?.shares.clone() } else { Vec::new() };
        let shown = Shown {
            args,
            name: kind.latent(),
            unit: match kind {
                ModelKind::Lda | ModelKind::Hdp(_) => "topic",
                ModelKind::Ica { .. } => "source",
                _ => "component",
            },
            vocabulary: snapshot.features.vocabulary(),
            shares,
            names: names(snapshot),
            parts: args.top.unwrap_or(usize::MAX).min(columns(snapshot)),
            // A mixture of rows of numbers has none.
            has_spread: args.uncertainty && (kind.has_topics() || matches!(kind, ModelKind::Ica { .. })),
            has_schema,
        };
        let place = Place::open(destination, args.follow)?;
        let place = BufWriter::with_capacity(1 << 16, place);
        let out = match args.format() {
            OutputFormat::JsonLines => Format::Lines(place),
            OutputFormat::Table(format) => {
                Format::Table(Box::new(TableWriter::new(place, format, &shown.columns())?))
            }
        };
        Ok(Self { out, shown, met: vec![false; args.pass_through.len()] })
    }

    /// Writes the mixture of a document.
    pub fn write(
        &mut self,
        index: u64,
        observation: &Observation,
        mixture: &TopicMixture,
    ) -> anyhow::Result<()> {
        for (met, value) in self.met.iter_mut().zip(kept(observation)) {
            *met |= !value.is_null();
        }
        match &mut self.out {
            Format::Lines(out) => {
                serde_json::to_writer(&mut *out, &self.shown.line(index, observation, mixture))?;
                Ok(out.write_all(b"\n")?)
            }
            Format::Table(table) => table.row(self.shown.row(index, observation, mixture)),
        }
    }

    /// Lets readers see what is there, where the format can do that.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        match &mut self.out {
            Format::Lines(out) => Ok(out.flush()?),
            Format::Table(table) => table.flush(),
        }
    }

    /// Completes the file, and tells which fields no document had.
    pub fn finish(self) -> anyhow::Result<Vec<String>> {
        match self.out {
            Format::Lines(out) => out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?,
            Format::Table(table) => {
                table.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
            }
        }
        let unmet = self.shown.args.pass_through.iter().zip(self.met).filter(|(_, met)| !met);
        Ok(unmet.map(|(field, _)| field.clone()).collect())
    }
}

/// The fields of the record that are passed through.
fn kept(observation: &Observation) -> &[Value] {
    match observation {
        Observation::Document(document) => &document.kept,
        Observation::Row(_) => &[],
    }
}

impl Shown<'_> {
    fn line(&self, index: u64, observation: &Observation, mixture: &TopicMixture) -> Map<String, Value> {
        let mut line = Map::new();
        let mut put = |name: &str, value: Value| drop(line.insert(name.to_owned(), value));
        if self.has_schema {
            put("schema", json!("gibbstream/infer/1"));
        }
        put("id", json!(observation.id()));
        put("index", json!(index));
        if let Observation::Document(document) = observation {
            put("tokens", json!(document.tokens()));
            put("out_of_vocabulary_tokens", json!(document.out_of_vocabulary));
        }
        for (field, value) in self.args.pass_through.iter().zip(kept(observation)) {
            put(field, value.clone());
        }
        if self.args.assign {
            let (topic, confidence) = assigned(&mixture.theta, &self.shares);
            put("topic", json!(topic));
            put("confidence", self.number(confidence));
            if !self.names.is_empty() {
                put("label", json!(self.names.get(topic)));
            }
        }
        if self.args.top.is_some_and(|top| top > 0) {
            let entry = |k: usize| {
                let mut entry = json!({ "topic": k, "weight": self.number(mixture.theta[k]) });
                if self.has_spread {
                    entry["spread"] = self.number(mixture.spread[k]);
                }
                entry
            };
            put(self.name, self.parts(mixture).into_iter().map(entry).collect());
        } else if self.args.top.is_none() {
            let numbers = |values: &[f64]| values.iter().map(|&value| self.number(value)).collect();
            put(self.name, numbers(&mixture.theta));
            if self.has_spread {
                put("spread", numbers(&mixture.spread));
            }
        }
        if self.args.tokens {
            put("token_topics", self.token_topics(mixture));
        }
        line
    }

    fn number(&self, value: f64) -> Value {
        json!(rounded(value, self.args.digits))
    }

    fn token_topics(&self, mixture: &TopicMixture) -> Value {
        let tokens = mixture.token_topics.iter();
        tokens.map(|&(word, topic)| json!((self.vocabulary.word(word), topic))).collect()
    }

    /// Columns of a table; with `--top` pairs of topic and share, otherwise a column per topic.
    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![("id".to_owned(), Kind::Text), ("index".to_owned(), Kind::Whole)];
        let mut add = |name: String, kind: Kind| columns.push((name, kind));
        let unit = self.unit;
        if unit == "topic" {
            add("tokens".into(), Kind::Whole);
            add("out_of_vocabulary_tokens".into(), Kind::Whole);
        }
        self.args.pass_through.iter().for_each(|field| add(field.clone(), Kind::Text));
        if self.args.assign {
            add("topic".into(), Kind::Whole);
            add("confidence".into(), Kind::Number);
            if !self.names.is_empty() {
                add("label".into(), Kind::Text);
            }
        }
        for k in 0..self.parts {
            let spread = if self.args.top.is_some() {
                add(format!("{unit}_{}", k + 1), Kind::Whole);
                add(format!("weight_{}", k + 1), Kind::Number);
                format!("spread_{}", k + 1)
            } else {
                add(format!("{unit}_{k}"), Kind::Number);
                format!("spread_{k}")
            };
            if self.has_spread {
                add(spread, Kind::Number);
            }
        }
        if self.args.tokens {
            add("token_topics".into(), Kind::Text);
        }
        columns
    }

    fn row(&self, index: u64, observation: &Observation, mixture: &TopicMixture) -> Vec<Cell> {
        let id = observation.id().map_or(Cell::Missing, |id| Cell::Text(id.to_owned()));
        let mut row = vec![id, Cell::Whole(index as i64)];
        if let Observation::Document(document) = observation {
            row.push(Cell::Whole(document.tokens() as i64));
            row.push(Cell::Whole(document.out_of_vocabulary as i64));
        }
        row.extend(kept(observation).iter().map(|value| match value {
            Value::Null => Cell::Missing,
            Value::String(text) => Cell::Text(text.clone()),
            other => Cell::Text(other.to_string()),
        }));
        if self.args.assign {
            let (topic, confidence) = assigned(&mixture.theta, &self.shares);
            row.extend([Cell::Whole(topic as i64), Cell::Number(confidence)]);
            if !self.names.is_empty() {
                row.push(self.names.get(topic).cloned().flatten().map_or(Cell::Missing, Cell::Text));
            }
        }
        for k in self.parts(mixture) {
            if self.args.top.is_some() {
                row.push(Cell::Whole(k as i64));
            }
            row.push(Cell::Number(mixture.theta[k]));
            if self.has_spread {
                row.push(Cell::Number(mixture.spread[k]));
            }
        }
        if self.args.tokens {
            row.push(Cell::Text(self.token_topics(mixture).to_string()));
        }
        row
    }

    /// The parts that are written: all in their order, or with `--top` those with the largest shares, largest first.
    fn parts(&self, mixture: &TopicMixture) -> Vec<usize> {
        let mut parts: Vec<usize> = (0..mixture.theta.len()).collect();
        if self.args.top.is_some() {
            parts.sort_by(|&a, &b| mixture.theta[b].total_cmp(&mixture.theta[a]));
            parts.truncate(self.parts);
        }
        parts
    }
}
