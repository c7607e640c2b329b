//! The chart: how many times as good as its goal each figure is, on one logarithmic axis.

use std::ops::RangeInclusive;

use maud::{Markup, html};

use crate::row::Row;

/// Sizes, in pixels of a chart that is shown in its own size: of the whole, and of what each row has.
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 24.0;
const HEAD: f64 = 44.0;
const ROW: f64 = 56.0;
const LINE: f64 = 15.0;
const BAND: f64 = 16.0;
const BAR: f64 = 10.0;

/// What is better or worse than this ends at the edge.
const EDGES: (f64, f64) = (1.0 / 16.0, 64.0);

/// An image in the colours of the page that it is in.
pub fn draw(rows: &[Row]) -> String {
    let axis = Axis::of(rows);
    let height = HEAD + ROW * rows.len() as f64 + MARGIN;
    let image = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
            aria-label="Each figure as a multiple of its goal" fill="currentColor" stroke="currentColor"
            stroke-width="0" font-family="sans-serif" font-size="13" {
            (scale(&axis, height - MARGIN))
            @for (number, row) in rows.iter().enumerate() {
                (line(&axis, row, HEAD + ROW * number as f64))
            }
        }
    };
    // An element a line, and none that is empty: it would end the image in Markdown.
    let lines = image.into_string().replace("><", ">\n<");
    lines.replace(">\n</", "></") + "\n"
}

/// An axis on which each doubling takes the same room.
struct Axis(RangeInclusive<i32>);

impl Axis {
    /// The goal, a doubling to each side at least, and all of these rows.
    fn of(rows: &[Row]) -> Self {
        let ends = |row: &Row| [&row.least, &row.most].map(|end| doublings(row.multiple(end)));
        let ends = || rows.iter().flat_map(ends);
        let first = ends().fold(-1.0, f64::min).floor();
        let last = ends().fold(1.0, f64::max).ceil();
        Self(first as i32..=last as i32)
    }

    fn at(&self, doublings: f64) -> f64 {
        let (first, last) = (f64::from(*self.0.start()), f64::from(*self.0.end()));
        MARGIN + (WIDTH - 2.0 * MARGIN) * (doublings - first) / (last - first)
    }
}

fn doublings(multiple: f64) -> f64 {
    multiple.clamp(EDGES.0, EDGES.1).log2()
}

/// The marks of the axis beside each bar, and above them what they mean. The goal's is the strongest.
fn scale(axis: &Axis, bottom: f64) -> Markup {
    let goal = axis.at(0.0);
    html! {
        text x=(pixel(goal - 12.0)) y="14" text-anchor="end" { "← misses it" }
        text x=(pixel(goal + 12.0)) y="14" { "better than its goal →" }
        @for doubling in axis.0.clone() {
            @let x = pixel(axis.at(doubling.into()));
            text x=(x) y="34" text-anchor="middle" { (named(doubling)) }
            line x1=(x) x2=(x) y1=(HEAD + ROW - BAND) y2=(bottom) stroke-width=(if doubling == 0 { 2 } else { 1 })
                stroke-dasharray=(format!("{BAND} {}", ROW - BAND)) opacity=(if doubling == 0 { 1.0 } else { 0.3 }) {}
        }
    }
}

fn named(doubling: i32) -> String {
    match doubling {
        0 => "goal".into(),
        1.. => format!("{}×", 1 << doubling),
        _ => format!("1/{}", 1 << -doubling),
    }
}

/// A row: what it is and against what, a bar from the goal to the median, and a whisker from the least to the most.
fn line(axis: &Axis, row: &Row, top: f64) -> Markup {
    let at = |figure| axis.at(doublings(row.multiple(figure)));
    let (goal, median) = (axis.at(0.0), at(&row.median));
    let (second, middle) = (top + ROW - BAND - 6.0, top + ROW - BAND / 2.0);
    let first = pixel(second - LINE);
    html! {
        text x=(MARGIN) y=(first) { (row.what.replace('`', "")) }
        text x=(WIDTH - MARGIN) y=(first) text-anchor="end" { (row.median) " " (row.unit) " (" (row.goal) ")" }
        @if row.against != "none" {
            text x=(MARGIN) y=(pixel(second)) font-size="11" opacity="0.7" { "against " (row.against) }
        }
        rect x=(pixel(goal.min(median))) width=(pixel((goal - median).abs())) y=(pixel(middle - BAR / 2.0))
            height=(BAR) opacity="0.5" {}
        line x1=(pixel(at(&row.least))) x2=(pixel(at(&row.most))) y1=(pixel(middle)) y2=(pixel(middle))
            stroke-width="2" {}
    }
}

fn pixel(place: f64) -> String {
    format!("{place:.1}")
}
