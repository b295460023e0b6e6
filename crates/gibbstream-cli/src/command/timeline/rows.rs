//! Shares by period or group as a long table: a row for each topic in each class.

use crate::table::{Cell, Column, Kind, TableFormat, TableWriter};
use gibbstream::explore::{Class, TopicByClass, TopicShares};

/// The columns after the first, which is `start` or `group`.
const COLUMNS: [(&str, Kind); 10] = [
    ("documents", Kind::Whole),
    ("tokens", Kind::Whole),
    ("topic", Kind::Whole),
    ("label", Kind::Text),
    ("share", Kind::Number),
    ("low", Kind::Number),
    ("high", Kind::Number),
    ("words", Kind::Text),
    ("more", Kind::Text),
    ("less", Kind::Text),
];

/// Whether a file begins like a table of this kind.
pub fn is_csv(start: &[u8]) -> bool {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let rest = names.join(",");
    ["start", "group"].iter().any(|first| start.starts_with(format!("{first},{rest}\n").as_bytes()))
}

/// The table as the bytes of a file.
pub fn written(shares: &TopicShares, format: TableFormat) -> anyhow::Result<Vec<u8>> {
    let first = if shares.by == "group" { "group" } else { "start" };
    let columns: Vec<Column> = [(first, Kind::Text)]
        .into_iter()
        .chain(COLUMNS)
        .map(|(name, kind)| (name.to_owned(), kind))
        .collect();
    let mut table = TableWriter::new(Vec::new(), format, &columns)?;
    for (place, class) in shares.classes.iter().enumerate() {
        for topic in &shares.topics {
            table.row(row(class, topic, place))?;
        }
    }
    table.finish()
}

fn row(class: &Class, topic: &TopicByClass, place: usize) -> Vec<Cell> {
    let name = class.start.as_ref().or(class.group.as_ref()).cloned().unwrap_or_default();
    let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
    let words = |words: &[String]| Cell::Text(words.join(" "));
    vec![
        Cell::Text(name),
        Cell::Whole(class.documents as i64),
        Cell::Whole(class.tokens as i64),
        Cell::Whole(i64::from(topic.id)),
        Cell::Text(topic.label.clone()),
        number(topic.shares[place]),
        number(topic.low[place]),
        number(topic.high[place]),
        words(&topic.words[place]),
        words(&topic.more[place]),
        words(&topic.less[place]),
    ]
}
