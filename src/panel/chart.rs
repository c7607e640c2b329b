//! SVG charts.

use maud::{Markup, html};

use super::components::number;

// Lengths in units of the SVG.
const COLUMN_HEIGHT: u64 = 120;
/// Distance between the starts of two columns.
const COLUMN_STEP: u64 = 30;
/// Space on each side of a column.
const COLUMN_MARGIN: u64 = 3;

/// Chart with a column for each interval of a period, divided into `N` series.
pub(super) struct ColumnChart<'a, const N: usize> {
    /// Class and name of each series. The class gives the colour.
    pub(super) series: [(&'static str, &'static str); N],
    /// Numbers of each interval, the oldest first, in the order of the series.
    pub(super) columns: &'a [[u64; N]],
    /// Description for the caption and for screen readers.
    pub(super) summary: String,
    /// Label of the first column.
    pub(super) from: Markup,
    /// Label of the last column.
    pub(super) to: Markup,
}

impl<const N: usize> ColumnChart<'_, N> {
    /// Renders the chart. Screen readers read the summary, not the axes.
    pub(super) fn render(&self) -> Markup {
        let totals = self.columns.iter().map(|counts| counts.iter().sum());
        let top = axis_end(totals.max().unwrap_or(0));
        let width = self.columns.len() as u64 * COLUMN_STEP;
        let height = COLUMN_HEIGHT;
        html! {
            figure {
                div.plot {
                    p.scale aria-hidden="true" { @for value in [top, top / 2, 0] { span { (number(value)) } } }
                    svg.columns role="img" aria-label=(self.summary) viewBox={ "0 0 " (width) " " (height) }
                        preserveAspectRatio="none" {
                        @for y in [0, height / 2, height] { line.axis x1="0" x2=(width) y1=(y) y2=(y) {} }
                        @for (place, counts) in (0..).zip(self.columns) { (self.column(place, counts, top)) }
                    }
                    p.span aria-hidden="true" { span { (self.from) } span { (self.to) } }
                }
                figcaption {
                    span { (self.summary) }
                    @for (class, name) in self.series { span class={ "key of-" (class) } { (name) } }
                }
            }
        }
    }

    /// Renders the parts of a column from bottom to top.
    fn column(&self, place: u64, counts: &[u64; N], top: u64) -> Markup {
        let mut below = 0;
        html! {
            @for ((class, _), count) in self.series.iter().zip(counts) {
                @if *count > 0 {
                    @let part_height = scaled(*count, top, COLUMN_HEIGHT);
                    @let y = COLUMN_HEIGHT.saturating_sub(below + part_height);
                    rect class={ "of-" (class) } x=(place * COLUMN_STEP + COLUMN_MARGIN) y=(y)
                        width=(COLUMN_STEP - 2 * COLUMN_MARGIN) height=(part_height) {}
                    @let () = below += part_height;
                }
            }
        }
    }
}

/// Returns the upper end of an axis for values up to `most`: an even number such as 8, 30 or 200.
fn axis_end(most: u64) -> u64 {
    let mut unit = 1_u64;
    while unit.saturating_mul(10) < most {
        unit = unit.saturating_mul(10);
    }
    let mut ends = [2, 3, 4, 5, 6, 8, 10]
        .map(|end| unit.saturating_mul(end))
        .into_iter()
        .filter(|end| end % 2 == 0);
    ends.find(|end| *end >= most).unwrap_or(u64::MAX)
}

/// Scales a count to a length. A count above 0 is at least 2 units long, so that it is visible.
fn scaled(count: u64, most: u64, length: u64) -> u64 {
    match count {
        0 => 0,
        _ => (count.saturating_mul(length) / most).max(2),
    }
}

#[cfg(test)]
mod tests {
    use super::axis_end;

    #[test]
    fn an_axis_ends_at_a_round_number() {
        for (most, end) in [
            (0, 2),
            (2, 2),
            (3, 4),
            (5, 6),
            (9, 10),
            (10, 10),
            (11, 20),
            (2145, 3000),
            (61, 80),
            (100, 100),
            (101, 200),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(axis_end(most), end, "{most}");
        }
    }
}
