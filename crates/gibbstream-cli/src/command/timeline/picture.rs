//! Shares by period or group as a picture.

use crate::plot::{Axis, Band, Panel, Plot, Series};
use gibbstream::explore::{TopicByClass, TopicShares};

/// Marks on the axis of time, at most.
const MOST_TICKS: usize = 8;

/// Characters of a label in the legend, and of a group at the axis.
const LABEL: usize = 42;
const GROUP: usize = 14;

/// Room for a group.
const GROUP_WIDTH: f64 = 70.0;

/// The topics with the largest shares, each with its interval.
pub fn draw(shares: &TopicShares, title: &str, topics: usize) -> Plot {
    let by_group = shares.by == "group";
    let mut chosen: Vec<&TopicByClass> = shares.topics.iter().collect();
    chosen.sort_by(|a, b| tokens(shares, b).total_cmp(&tokens(shares, a)).then(a.id.cmp(&b.id)));
    let left_out = chosen.len().saturating_sub(topics);
    chosen.truncate(topics);
    let series = chosen.iter().enumerate().map(|(place, topic)| Series {
        name: format!("{}: {}", topic.id, cut(&topic.label, LABEL)),
        points: points(topic, if by_group { place as f64 / chosen.len() as f64 } else { 0.0 }),
        joined: !by_group,
    });
    let rest = if left_out == 0 {
        String::new()
    } else {
        format!(" ({left_out} topics with smaller shares left out)")
    };
    let width =
        if by_group { (GROUP_WIDTH * shares.classes.len() as f64).clamp(320.0, 2_000.0) } else { 720.0 };
    Plot {
        title: format!("{title}: topics by {}{rest}", shares.by),
        x: Axis { label: shares.field.clone(), log: false, ticks: ticks(shares) },
        y: "share of tokens, 95 % interval".to_owned(),
        panels: vec![Panel { title: String::new(), series: series.collect(), levels: Vec::new() }],
        size: (width, 380.0),
        whole: true,
    }
}

/// Tokens that a topic has in all classes.
fn tokens(shares: &TopicShares, topic: &TopicByClass) -> f64 {
    let share = |(share, class): (&Option<f64>, &gibbstream::explore::Class)| {
        share.unwrap_or(0.0) * class.tokens as f64
    };
    topic.shares.iter().zip(&shares.classes).map(share).sum()
}

/// Groups stand at whole numbers, their topics beside each other.
fn points(topic: &TopicByClass, beside: f64) -> Vec<(f64, Band)> {
    let point = |(place, share): (usize, &Option<f64>)| {
        let middle = (*share)?;
        let (low, high) = (topic.low[place].unwrap_or(middle), topic.high[place].unwrap_or(middle));
        Some((place as f64 + 0.7 * beside, Band { low, middle, high }))
    };
    topic.shares.iter().enumerate().filter_map(point).collect()
}

fn ticks(shares: &TopicShares) -> Vec<(f64, String)> {
    let classes = &shares.classes;
    let groups = shares.by == "group";
    let step = if groups { 1 } else { classes.len().div_ceil(MOST_TICKS).max(1) };
    let tick = |place: usize| {
        let class = &classes[place];
        let text = match (&class.start, &class.group) {
            (Some(start), _) => date(start, &shares.by),
            (None, Some(group)) => cut(group, GROUP),
            (None, None) => String::new(),
        };
        (place as f64 + if groups { 0.3 } else { 0.0 }, text)
    };
    (0..classes.len()).step_by(step).map(tick).collect()
}

/// As much of a moment as its period needs.
fn date(start: &str, by: &str) -> String {
    let length = match by {
        "hour" => "2024-05-17T10".len(),
        "year" => "2024".len(),
        "month" | "quarter" => "2024-05".len(),
        _ => "2024-05-17".len(),
    };
    start.chars().take(length).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

fn cut(text: &str, width: usize) -> String {
    let text = crate::output::shown(text);
    if text.chars().count() <= width {
        return text.into_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}
