//! Small charts, drawn without a script: SVG whose colours come from the style sheet.

use maud::{Markup, html};

use super::counts::{Hour, Hours};

/// How wide a full bar is, and how high.
const BAR: (u64, u64) = (200, 12);

/// How high the columns are, and how far apart.
const HEIGHT: u64 = 120;
const STEP: u64 = 30;

/// A row of a chart.
pub(super) struct Bar {
    pub(super) label: Markup,
    /// Which colour it has.
    pub(super) class: &'static str,
    pub(super) count: u64,
}

/// A table with a bar beside each number.
pub(super) fn bars(id: &str, title: &str, what: &str, counted: &str, rows: &[Bar]) -> Markup {
    let most = rows.iter().map(|row| row.count).max().unwrap_or(0).max(1);
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            table.chart {
                thead { tr { th scope="col" { (what) } th.number scope="col" { (counted) } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.label) }
                            td.number { (row.count) (bar(row, most)) }
                        }
                    }
                }
            }
        }
    }
}

/// The number beside it says the same.
fn bar(row: &Bar, most: u64) -> Markup {
    let (width, height) = BAR;
    let long = scaled(row.count, most, width);
    html! {
        svg.gauge aria-hidden="true" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            preserveAspectRatio="none" {
            rect.ground width=(width) height=(height) rx="3" {}
            rect class={ "of-" (row.class) } width=(long) height=(height) rx="3" {}
        }
    }
}

/// A column for each hour, with what became of it in three colours.
pub(super) fn columns(id: &str, title: &str, hours: &Hours) -> Markup {
    let (most, width) = (hours.most(), STEP * 24);
    let total: u64 = hours.0.iter().map(Hour::total).sum();
    let noun = if total == 1 { "delivery" } else { "deliveries" };
    let says = format!("{total} {noun} in 24 hours, {most} at most in one");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            figure {
                svg.columns role="img" aria-label=(says) viewBox={ "0 0 " (width) " " (HEIGHT) }
                    preserveAspectRatio="none" {
                    line.axis x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) {}
                    @for (place, hour) in (0..).zip(&hours.0) { (column(place, hour, most)) }
                }
                p.span { span { "24 hours ago" } span { "now" } }
                figcaption {
                    span { (says) }
                    span.key.of-delivered { "delivered" }
                    span.key.of-queued { "still to be sent" }
                    span.key.of-dead { "dead, gone or withheld" }
                }
            }
        }
    }
}

/// From the ground up: delivered, pending, failed.
fn column(place: u64, hour: &Hour, most: u64) -> Markup {
    let parts = [
        ("of-delivered", hour.delivered),
        ("of-queued", hour.pending),
        ("of-dead", hour.failed),
    ];
    let mut below = 0;
    html! {
        @for (class, count) in parts {
            @if count > 0 {
                @let high = scaled(count, most, HEIGHT - 10);
                @let top = HEIGHT.saturating_sub(below + high);
                rect class=(class) x=(place * STEP + 3) y=(top) width=(STEP - 6) height=(high) {}
                @let () = below += high;
            }
        }
    }
}

/// Whatever is there is seen.
fn scaled(count: u64, most: u64, length: u64) -> u64 {
    match count {
        0 => 0,
        _ => (count.saturating_mul(length) / most).max(2),
    }
}
