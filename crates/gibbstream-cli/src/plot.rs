//! Plots as SVG: panels side by side, a line with a band for each series, one legend beside them.
//!
//! Lines differ in colour, dashes and markers, so that they can be told apart without colours.

use std::fmt::Write;

/// A whole picture.
pub struct Plot {
    /// What it is about.
    pub title: String,
    /// The horizontal axis of all panels.
    pub x: Axis,
    /// What is on the vertical axis.
    pub y: String,
    /// Panels, three in a row.
    pub panels: Vec<Panel>,
    /// Width and height of a panel.
    pub size: (f64, f64),
    /// Whether all values and ranges are shown, even if a few of them flatten all others.
    pub whole: bool,
}

/// The horizontal axis.
pub struct Axis {
    /// What is on it.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Where its marks are, and what they say; if there are none, at round numbers.
    pub ticks: Vec<(f64, String)>,
}

/// One picture of several.
pub struct Panel {
    /// What it is about.
    pub title: String,
    /// Its lines.
    pub series: Vec<Series>,
    /// Horizontal lines for comparison.
    pub levels: Vec<(String, f64)>,
}

/// One line.
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// By ascending x.
    pub points: Vec<(f64, Band)>,
    /// Whether there is anything between the points; if not, each has a bar of its own.
    pub joined: bool,
}

/// A value and the range that it is likely in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Lower end of the range.
    pub low: f64,
    /// The value.
    pub middle: f64,
    /// Upper end.
    pub high: f64,
}

const COLUMNS: usize = 3;
/// The usual size of a panel.
pub const PANEL: (f64, f64) = (300.0, 230.0);
/// Room around the plotting area of a panel: left, top, right, bottom.
const MARGIN: (f64, f64, f64, f64) = (52.0, 28.0, 12.0, 44.0);
const TITLE_HEIGHT: f64 = 34.0;
const LEGEND_ROW: f64 = 19.0;
const CHARACTER: f64 = 6.3;

const COLOURS: [&str; 8] =
    ["#000000", "#0072b2", "#d55e00", "#009e73", "#8a3fa0", "#b8860b", "#56b4e9", "#c2457a"];
/// Methods look the same in every picture: each has the look of its place here. Other lines have those that are left.
const METHODS: [&str; 14] = [
    "g-oem",
    "v-oem",
    "olda",
    "v-oem++",
    "svb",
    "vargibbs",
    "splda",
    "sgs",
    "lds",
    "mh-oem",
    "g-oem++",
    "batch-vem",
    "batch-gibbs",
    "mcem",
];
const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"];
const MARKERS: usize = 6;
/// Colour of levels.
const LEVEL: &str = "#888888";
const DASHES_OF_LEVELS: [&str; 2] = ["1 3", "1 6"];

/// How a line looks.
#[derive(Clone, Copy)]
struct Style {
    colour: &'static str,
    dashes: &'static str,
    marker: usize,
}

impl Style {
    fn of(index: usize) -> Self {
        // The numbers have no common factor, so that looks repeat late.
        Self {
            colour: COLOURS[index % COLOURS.len()],
            dashes: DASHES[index % DASHES.len()],
            marker: index % MARKERS,
        }
    }
}

impl Plot {
    /// Names of all series, in order of appearance.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        names
    }

    /// How the line of each name looks.
    fn styles(names: &[&str]) -> Vec<Style> {
        let known: Vec<_> =
            names.iter().map(|name| METHODS.iter().position(|method| method == name)).collect();
        let mut left = (0..).filter(|index| !known.contains(&Some(*index)));
        known.iter().map(|known| Style::of(known.or_else(|| left.next()).unwrap_or(0))).collect()
    }

    /// Names of all levels that can be seen, in order of appearance.
    fn levels(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for panel in &self.panels {
            let frame = Frame::new(panel, self, (0.0, 0.0));
            for (name, _) in panel.levels.iter().filter(|(_, level)| frame.shows(*level)) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let (names, levels) = (self.names(), self.levels());
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let longest = names.iter().chain(&levels).map(|name| name.chars().count()).max().unwrap_or(0);
        let legend_width = 52.0 + CHARACTER * longest as f64;
        let grid_width = columns as f64 * self.size.0;
        let width = (grid_width + legend_width + 10.0).max(20.0 + 7.5 * self.title.chars().count() as f64);
        let legend_height = LEGEND_ROW * (names.len() + levels.len()) as f64 + MARGIN.1;
        let height = TITLE_HEIGHT + (rows as f64 * self.size.1).max(legend_height) + 6.0;
        let (mut svg, styles) = (Svg::new(width, height), Self::styles(&names));
        svg.text((12.0, 21.0), "start", 14, "bold", &self.title);
        for (index, panel) in self.panels.iter().enumerate() {
            let corner = (
                (index % columns) as f64 * self.size.0,
                TITLE_HEIGHT + (index / columns) as f64 * self.size.1,
            );
            self.draw_panel(&mut svg, panel, corner, index);
        }
        for (row, name) in names.iter().chain(&levels).enumerate() {
            let y = TITLE_HEIGHT + MARGIN.1 + LEGEND_ROW * row as f64;
            let ends = [(grid_width + 8.0, y), (grid_width + 40.0, y)];
            if row < names.len() {
                let style = styles[row];
                svg.line(ends[0], ends[1], style.colour, 1.8, style.dashes);
                svg.marker((grid_width + 24.0, y), style);
            } else {
                svg.line(ends[0], ends[1], LEVEL, 1.2, DASHES_OF_LEVELS[(row - names.len()) % 2]);
            }
            svg.text((grid_width + 46.0, y + 4.0), "start", 11, "normal", name);
        }
        svg.finish()
    }

    fn draw_panel(&self, svg: &mut Svg, panel: &Panel, corner: (f64, f64), index: usize) {
        let (names, levels) = (self.names(), self.levels());
        let styles = Self::styles(&names);
        let style_of = |name: &str| styles[names.iter().position(|other| *other == name).unwrap_or(0)];
        let frame = Frame::new(panel, self, corner);
        let (left, top, right, bottom) = frame.edges;
        svg.text((f64::midpoint(left, right), top - 9.0), "middle", 12, "bold", &panel.title);
        for (tick, label) in &frame.x_ticks {
            let x = frame.x(*tick);
            svg.line((x, top), (x, bottom), "#ececec", 1.0, "");
            svg.text((x, bottom + 14.0), "middle", 10, "normal", label);
        }
        for (tick, label) in &frame.y_ticks {
            let y = frame.y(*tick);
            svg.line((left, y), (right, y), "#ececec", 1.0, "");
            svg.text((left - 5.0, y + 3.5), "end", 10, "normal", label);
        }
        svg.text((f64::midpoint(left, right), bottom + 31.0), "middle", 11, "normal", &self.x.label);
        svg.upright((left - 40.0, f64::midpoint(top, bottom)), &self.y);
        svg.begin_clip(&format!("panel{index}"), frame.edges);
        for (name, level) in panel.levels.iter().filter(|(_, level)| frame.shows(*level)) {
            let (y, place) = (frame.y(*level), levels.iter().position(|other| other == name).unwrap_or(0));
            svg.line((left, y), (right, y), LEVEL, 1.2, DASHES_OF_LEVELS[place % 2]);
        }
        for series in &panel.series {
            if series.joined {
                svg.band(&frame, series, style_of(&series.name));
            } else {
                svg.bars(&frame, series, style_of(&series.name));
            }
        }
        for series in &panel.series {
            svg.curve(&frame, series, style_of(&series.name));
        }
        svg.end_clip();
        svg.frame(frame.edges);
        let hidden: Vec<&str> = (panel.series.iter())
            .filter(|series| !series.points.iter().any(|(_, band)| frame.shows(band.middle)))
            .map(|series| series.name.as_str())
            .collect();
        if !hidden.is_empty() {
            let text = format!("off scale: {}", hidden.join(", "));
            svg.text((right - 4.0, top + 12.0), "end", 9, "normal", &text);
        }
    }
}

/// The coordinates of a panel.
struct Frame {
    /// Left, top, right, bottom.
    edges: (f64, f64, f64, f64),
    x_range: (f64, f64),
    y_range: (f64, f64),
    log: bool,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
}

impl Frame {
    fn new(panel: &Panel, plot: &Plot, corner: (f64, f64)) -> Self {
        let axis = &plot.x;
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let mut xs: Vec<f64> = points().map(|&(x, _)| x).filter(|x| !axis.log || *x > 0.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let scaled = |x: f64| if axis.log { libm::log10(x) } else { x };
        let x_range =
            widened((scaled(xs.first().copied().unwrap_or(1.0)), scaled(xs.last().copied().unwrap_or(2.0))));
        let y_range = if plot.whole {
            let ends = || points().flat_map(|(_, band)| [band.low, band.high]);
            widened((ends().fold(f64::INFINITY, f64::min), ends().fold(f64::NEG_INFINITY, f64::max)))
        } else {
            vertical_range(points().map(|(_, band)| band.middle).collect())
        };
        let edges = (
            corner.0 + MARGIN.0,
            corner.1 + MARGIN.1,
            corner.0 + plot.size.0 - MARGIN.2,
            corner.1 + plot.size.1 - MARGIN.3,
        );
        let x_ticks = match &axis.ticks {
            given if !given.is_empty() => given.clone(),
            _ if xs.len() <= 6 => xs.iter().map(|&x| (x, short(x))).collect(),
            _ => decades(&xs),
        };
        Self { edges, x_range, y_range, log: axis.log, x_ticks, y_ticks: round_ticks(y_range) }
    }

    fn x(&self, value: f64) -> f64 {
        let value = if self.log { libm::log10(value.max(1e-300)) } else { value };
        let share = (value - self.x_range.0) / (self.x_range.1 - self.x_range.0);
        self.edges.0 + share * (self.edges.2 - self.edges.0)
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.y_range.0) / (self.y_range.1 - self.y_range.0);
        self.edges.3 - share * (self.edges.3 - self.edges.1)
    }

    fn shows(&self, value: f64) -> bool {
        (self.y_range.0..=self.y_range.1).contains(&value)
    }
}

/// A little more room at both ends.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let room = if high > low { 0.06 * (high - low) } else { 0.5 };
    (low - room, high + room)
}

/// The range of all values, unless a few of them would flatten all others.
fn vertical_range(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else { return (0.0, 1.0) };
    let most = values[(0.85 * (values.len() - 1) as f64) as usize];
    let crowded = most > low && high - low > 3.0 * (most - low);
    widened((low, if crowded { low + 1.5 * (most - low) } else { high }))
}

/// Ticks at round numbers.
fn round_ticks((low, high): (f64, f64)) -> Vec<(f64, String)> {
    let rough = (high - low) / 5.0;
    let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(rough);
    let digits = (-libm::floor(libm::log10(step))).max(0.0) as usize;
    let (first, last) = (libm::ceil(low / step) as i64, libm::floor(high / step) as i64);
    (first..=last).map(|tick| tick as f64 * step).map(|tick| (tick, format!("{tick:.digits$}"))).collect()
}

/// Ticks at powers of ten, and at their halves and fifths if there are few of them.
fn decades(xs: &[f64]) -> Vec<(f64, String)> {
    let (Some(&low), Some(&high)) = (xs.first(), xs.last()) else { return Vec::new() };
    let powers = (libm::floor(libm::log10(low)) as i32)..=(libm::ceil(libm::log10(high)) as i32);
    let factors: &[f64] = if high < 30.0 * low { &[1.0, 2.0, 5.0] } else { &[1.0] };
    powers
        .flat_map(|power| factors.iter().map(move |factor| factor * libm::pow(10.0, f64::from(power))))
        .filter(|tick| (0.999 * low..=1.001 * high).contains(tick))
        .map(|tick| (tick, short(tick)))
        .collect()
}

/// A number in few characters.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{}M", rounded(n / 1e6)),
        n if n >= 1e4 => format!("{}k", rounded(n / 1e3)),
        n => rounded(n),
    }
}

fn rounded(number: f64) -> String {
    // Two digits beyond the point are enough for labels; smaller numbers as they are.
    let near = (100.0 * number).round() / 100.0;
    if near == 0.0 { number.to_string() } else { near.to_string() }
}

/// How every picture begins.
const START: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"";
const FONTS: &str = "font-family=\"Helvetica, Arial, sans-serif\">";

/// Whether a file begins like a picture of this kind.
pub fn is_plot(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&start[..start.len().min(300)]).into_owned();
    start.starts_with(START) && start.contains(FONTS)
}

/// An SVG file in the making.
struct Svg(String);

impl Svg {
    fn new(width: f64, height: f64) -> Self {
        Self(format!(
            "{START}{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" {FONTS}\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ))
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// Writing to a text does not fail.
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{element}");
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, size: u32, weight: &str, text: &str) {
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" \
             font-weight=\"{weight}\" fill=\"#222222\">{text}</text>"
        ));
    }

    fn upright(&mut self, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#222222\" \
             transform=\"rotate(-90 {x:.1} {y:.1})\">{text}</text>"
        ));
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dashes: &str) {
        self.push(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    fn frame(&mut self, (left, top, right, bottom): (f64, f64, f64, f64)) {
        self.push(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#888888\"/>",
            right - left,
            bottom - top
        ));
    }

    fn begin_clip(&mut self, id: &str, (left, top, right, bottom): (f64, f64, f64, f64)) {
        self.push(format_args!(
            "<clipPath id=\"{id}\"><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>\n\
             <g clip-path=\"url(#{id})\">",
            right - left,
            bottom - top
        ));
    }

    fn end_clip(&mut self) {
        self.push(format_args!("</g>"));
    }

    /// The range that values are likely in.
    fn band(&mut self, frame: &Frame, series: &Series, style: Style) {
        let edge = |at: fn(&Band) -> f64| {
            series.points.iter().map(move |(x, band)| (frame.x(*x), frame.y(at(band))))
        };
        let outline = joined(edge(|band| band.low).chain(edge(|band| band.high).rev()));
        let colour = style.colour;
        self.push(format_args!("<polygon points=\"{outline}\" fill=\"{colour}\" fill-opacity=\"0.13\"/>"));
    }

    /// The same where there is nothing between the points.
    fn bars(&mut self, frame: &Frame, series: &Series, style: Style) {
        for (x, band) in &series.points {
            let x = frame.x(*x);
            self.line((x, frame.y(band.low)), (x, frame.y(band.high)), style.colour, 1.2, "");
        }
    }

    /// Through the values.
    fn curve(&mut self, frame: &Frame, series: &Series, style: Style) {
        let points = series.points.iter().map(|(x, band)| (frame.x(*x), frame.y(band.middle)));
        let Style { colour, dashes, .. } = style;
        if series.joined {
            let line = joined(points.clone());
            self.push(format_args!(
                "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" \
                 stroke-dasharray=\"{dashes}\"/>"
            ));
        }
        points.for_each(|point| self.marker(point, style));
    }

    fn marker(&mut self, (x, y): (f64, f64), style: Style) {
        let colour = style.colour;
        if style.marker == 0 {
            return self.push(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\" stroke=\"{colour}\"/>"
            ));
        }
        let corners: &[(f64, f64)] = match style.marker {
            1 => &[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)],
            2 => &[(0.0, -4.0), (3.6, 2.8), (-3.6, 2.8)],
            3 => &[(0.0, -4.2), (4.2, 0.0), (0.0, 4.2), (-4.2, 0.0)],
            4 => &[(0.0, 4.0), (3.6, -2.8), (-3.6, -2.8)],
            _ => &[(-4.0, -1.2), (4.0, -1.2), (4.0, 1.2), (-4.0, 1.2)],
        };
        let outline = joined(corners.iter().map(|(dx, dy)| (x + dx, y + dy)));
        // Filled and hollow ones take turns.
        let fill = if style.marker.is_multiple_of(2) { colour } else { "#ffffff" };
        self.push(format_args!("<polygon points=\"{outline}\" fill=\"{fill}\" stroke=\"{colour}\"/>"));
    }
}

fn joined(points: impl Iterator<Item = (f64, f64)>) -> String {
    points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let labels = |range| round_ticks(range).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels((871.0, 929.0)), ["880", "900", "920"]);
        assert_eq!(labels((-0.31, 0.12)), ["-0.3", "-0.2", "-0.1", "0.0", "0.1"]);
        let of = |xs: &[f64]| decades(xs).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(of(&[100.0, 10_000.0]), ["100", "1000", "10k"]);
        assert_eq!(of(&[0.3, 4.0]), ["0.5", "1", "2"]);
    }

    #[test]
    fn outliers_do_not_flatten_the_others() {
        let mut values: Vec<f64> = (0..20).map(f64::from).collect();
        let (low, high) = vertical_range(values.clone());
        assert!(low < 0.0 && high > 19.0);
        values.push(500.0);
        let (low, high) = vertical_range(values);
        assert!(low < 0.0 && high > 19.0 && high < 40.0);
        assert_eq!(vertical_range(Vec::new()), (0.0, 1.0));
        let (low, high) = vertical_range(vec![7.0]);
        assert!(low < 7.0 && high > 7.0);
    }

    #[test]
    fn a_method_looks_the_same_in_every_picture() {
        let look = |names: &[&str], name: &str| {
            let style = Plot::styles(names)[names.iter().position(|other| *other == name).unwrap()];
            (style.colour, style.dashes, style.marker)
        };
        let (few, many) = (["olda", "g-oem"], ["by hand", "v-oem", "g-oem", "other", "olda"]);
        assert_eq!(look(&few, "olda"), look(&many, "olda"));
        assert_eq!(look(&few, "g-oem"), look(&many, "g-oem"));
        let looks: std::collections::HashSet<_> = many.iter().map(|name| look(&many, name)).collect();
        assert_eq!(looks.len(), many.len());
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a < b & c"), "a &lt; b &amp; c");
    }
}
