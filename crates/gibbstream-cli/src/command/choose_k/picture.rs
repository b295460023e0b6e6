//! Score, coherence and stability over the number of topics.

use super::Row;
use super::judgement::Judgement;
use crate::plot::{Axis, Band, PANEL, Panel, Plot, Series, is_plot};
use gibbstream::file::Kind;

/// What may be replaced.
pub const KIND: Kind = Kind { name: "such a picture", recognise: is_plot };

/// The picture.
pub fn draw(rows: &[Row], judgement: &Judgement, unigram: f64) -> Plot {
    let band = |middle: f64, error: f64| Band { low: middle - error, middle, high: middle + error };
    let panel = |title: &str, name: &str, points: Vec<(f64, Band)>, levels| Panel {
        title: title.to_owned(),
        series: vec![Series { name: name.to_owned(), points, joined: true }],
        levels,
    };
    let points = |value: &dyn Fn(&Row) -> Option<Band>| -> Vec<(f64, Band)> {
        rows.iter().filter_map(|row| Some((row.topics as f64, value(row)?))).collect()
    };
    let score = points(&|row| Some(band(row.worse_by, row.worse_by_error)));
    let best = rows.iter().map(|row| row.log_perplexity_per_document).fold(f64::INFINITY, f64::min);
    let coherence = points(&|row| Some(band(row.coherence, row.coherence_deviation)));
    let stability = points(&|row| row.stability.map(|stability| band(stability, 0.0)));
    let levels = vec![("word frequencies".to_owned(), unigram - best)];
    let mut panels = vec![
        panel("worse than the best (lower is better)", "score, nats per document", score, levels),
        panel("coherence (higher is better)", "coherence, NPMI", coherence, Vec::new()),
    ];
    if !stability.is_empty() {
        panels.push(panel("stability (higher is better)", "stability over seeds", stability, Vec::new()));
    }
    Plot {
        title: format!("How many topics? Recommended: {}", judgement.recommended),
        x: Axis { label: "topics".into(), log: true, ticks: Vec::new() },
        y: String::new(),
        panels,
        size: PANEL,
        whole: true,
    }
}
