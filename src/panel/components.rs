//! Shared markup: document, tables, badges, links and times.

use std::fmt::Display;
use std::time::Duration;

use maud::{Markup, html};

use super::builder::PanelSettings;
use crate::error::ParseError;
use crate::html;
use crate::model::{DAY, HOUR, Timestamp};

/// Path of the style sheet below the base path. It is served without authentication, for a host's own sign-in page.
pub(super) const STYLE_SHEET: &str = "/style.css";

/// Path of the script below the base path. It is served without authentication, like the style sheet.
pub(super) const SCRIPT: &str = "/script.js";

/// Renders a page without navigation in the panel. Its header has the links of the board and `user`, the markup of the
/// visitor.
pub(super) fn bare_document(
    settings: &PanelSettings,
    user: Markup,
    title: &str,
    text: &str,
) -> Markup {
    let body = html! {
        header { (settings.frame().header("Panel", user)) }
        main.narrow id="main" {
            h1 { (title) }
            p { (text) }
            @if !settings.board_url.is_empty() { p { a href=(settings.board_url) { "Back to the board" } } }
        }
    };
    document(settings, title, body)
}

/// Renders a document. `title` precedes the name of the panel and of the board in the title of the browser's tab.
pub(super) fn document(settings: &PanelSettings, title: &str, body: Markup) -> Markup {
    let [style, script] = [STYLE_SHEET, SCRIPT].map(|path| format!("{}{path}", settings.base_path));
    let names =
        [title, "Control panel", &settings.board_name].into_iter().filter(|name| !name.is_empty());
    let title = names.collect::<Vec<_>>().join(" · ");
    let icon = settings.icon_url();
    html::document(&title, &style, &script, &icon, html! { body { (body) } })
}

pub(super) fn badge(state: &str) -> Markup {
    html! { span class={ "badge " (state) } { (state) } }
}

/// Renders an empty list with its text and a next step.
pub(super) fn empty(text: &str, next: Markup) -> Markup {
    html! { div.empty { p { strong { (text) } } p { (next) } } }
}

/// A row of a table: name and content of each column. A column of buttons has an empty name.
pub(super) type TableRow = Vec<(&'static str, Markup)>;

/// Renders a table, which the style sheet shows as a list of cards on narrow screens. The head has the names of the first
/// row.
pub(super) fn table(rows: impl IntoIterator<Item = TableRow>) -> Markup {
    table_of(false, rows)
}

/// Renders a [`table`] whose first column has labels and whose other columns have numbers.
pub(super) fn number_table(rows: impl IntoIterator<Item = TableRow>) -> Markup {
    table_of(true, rows)
}

fn table_of(has_numbers: bool, rows: impl IntoIterator<Item = TableRow>) -> Markup {
    let rows: Vec<_> = rows.into_iter().collect();
    let columns = rows.first().into_iter().flatten();
    html! {
        table class=(if has_numbers { "numbers" } else { "rows" }) {
            thead {
                tr {
                    @for (column, _) in columns {
                        th scope="col" { @if column.is_empty() { span.visually-hidden { "Actions" } } @else { (column) } }
                    }
                }
            }
            tbody { @for row in &rows { tr { @for cell in row { (table_cell(cell)) } } } }
        }
    }
}

fn table_cell((column, content): &(&str, Markup)) -> Markup {
    html! {
        @if column.is_empty() {
            td { (content) }
        } @else {
            td data-label=(column) { div { (content) } }
        }
    }
}

/// Marks a text that may be long. A URL wraps after its separators, and any text inside a word only if the word is longer
/// than the line.
pub(super) fn breakable(text: &str) -> Markup {
    if !text.contains("://") {
        return html! { span.long { (text) } };
    }
    html! { span.long title=(text) { @for part in text.split_inclusive(['/', '?', '&']) { (part) wbr; } } }
}

/// Renders a text in one line. What exceeds the line is cut off, and visible on another page.
pub(super) fn one_line(text: &str) -> Markup {
    html! { span.one-line title=(text) { (text) } }
}

/// Formats a number with a comma between each three digits.
pub(super) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Renders the only name, or the number of names, which unfolds to the names.
pub(super) fn folded_names(names: &[&str], noun: &str) -> Markup {
    match names {
        [name] => html! { small { (name) } },
        _ => html! {
            details.names { summary { (names.len()) " " (noun) } small { (names.join(", ")) } }
        },
    }
}

/// Renders the properties of an object: names and values.
pub(super) fn properties<'a>(rows: impl IntoIterator<Item = (&'a str, Markup)>) -> Markup {
    html! { dl { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } } }
}

/// Renders the last section of a page: a change that cannot be undone. `control` makes the change, after the visitor has
/// unfolded what it does.
#[cfg(feature = "webhooks")]
pub(super) fn danger_section(title: &str, summary: &str, effect: &str, control: Markup) -> Markup {
    html! {
        section aria-labelledby="danger" {
            h2 id="danger" { (title) }
            details.danger {
                summary { (summary) }
                p { (effect) " This cannot be undone." }
                (control)
            }
        }
    }
}

/// Renders a secret in a read-only field that has the focus. One click selects the content without a script. The script
/// adds a copy button.
pub(super) fn secret_field(name: &str, label: &str, secret: &str) -> Markup {
    read_only_field(name, label, secret, true)
}

/// Renders a command or another text as [`secret_field`] does, but without the focus.
pub(super) fn copyable_text(name: &str, label: &str, text: &str) -> Markup {
    read_only_field(name, label, text, false)
}

fn read_only_field(name: &str, label: &str, text: &str, is_secret: bool) -> Markup {
    html! {
        div.copyable.secret[is_secret] {
            p id={ (name) "-label" } { (label) }
            code id=(name) role="textbox" aria-readonly="true" aria-labelledby={ (name) "-label" } tabindex="0"
                autofocus[is_secret] data-copy=(label.to_lowercase()) { (text) }
        }
    }
}

/// Formats the parameter `after` of the page after an item: its creation time in milliseconds, a dot, and its id.
pub(super) fn position(created_at: Timestamp, id: &impl Display) -> String {
    format!("{}.{id}", created_at.as_millis())
}

/// Parses a [`position`]. `None` for any other text; the first page is shown then.
pub(super) fn parse_position<T>(
    text: &str,
    parse_id: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Option<(Timestamp, T)> {
    let (created_at, id) = text.split_once('.')?;
    let created_at = Timestamp::from_millis(created_at.parse().ok()?);
    Some((created_at, parse_id(id).ok()?))
}

/// Units with their lengths, the longest first.
const UNITS: [(&str, Duration); 5] = [
    ("year", DAY.saturating_mul(365)),
    ("day", DAY),
    ("hour", HOUR),
    ("minute", Duration::from_secs(60)),
    ("second", Duration::from_secs(1)),
];

/// Describes the time between `now` and `at` in the longest unit that fits. Past times are rounded down. Future times are
/// rounded, so that a token that was just issued for 30 days does not expire in 29.
pub(super) fn relative_time(at: Timestamp, now: Timestamp) -> String {
    let is_future = at > now;
    let (earlier, later) = if is_future { (now, at) } else { (at, now) };
    let exact = later.saturating_duration_since(earlier);
    let length = match longest_unit(exact) {
        Some((_, unit)) if is_future => exact.saturating_add(unit / 2),
        _ => exact,
    };
    let Some((name, unit)) = longest_unit(length) else {
        return "now".into();
    };
    let count = length.as_millis() / unit.as_millis();
    let noun = plural(count, name);
    if is_future { format!("in {count} {noun}") } else { format!("{count} {noun} ago") }
}

/// Returns a number with the form of its noun and verb.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a noun in the plural, unless the count is 1.
pub(super) fn plural(count: impl Into<u128>, noun: &str) -> String {
    if count.into() == 1 { noun.to_owned() } else { format!("{noun}s") }
}

fn longest_unit(length: Duration) -> Option<(&'static str, Duration)> {
    UNITS.into_iter().find(|(_, unit)| length >= *unit)
}

/// Formats a time in UTC with seconds.
pub(super) fn utc_time(at: Timestamp) -> String {
    let text = at.to_string();
    let second = text.split('.').next().unwrap_or_default();
    format!("{} UTC", second.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times_use_the_longest_unit() {
        let now = Timestamp::from_millis(1_767_225_600_000);
        for (seconds, expected) in [
            (0, "now"),
            (-1, "1 second ago"),
            (-59, "59 seconds ago"),
            (5, "in 5 seconds"),
            (-60, "1 minute ago"),
            (-3 * 3600 - 5, "3 hours ago"),
            (-86_400, "1 day ago"),
            (30 * 86_400, "in 30 days"),
            (30 * 86_400 - 5, "in 30 days"),
            (3 * 3600 - 90, "in 3 hours"),
            (-59 * 60 - 59, "59 minutes ago"),
            (59 * 60 + 40, "in 1 hour"),
            (59 * 60 + 20, "in 59 minutes"),
            (24 * 3600 - 60, "in 1 day"),
            (36_500 * 86_400, "in 100 years"),
        ] {
            let at = Timestamp::from_millis(now.as_millis() + seconds * 1000);
            assert_eq!(relative_time(at, now), expected);
        }
        assert_eq!(utc_time(now), "2026-01-01 00:00:00 UTC");
    }

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let numbers = [0, 999, 1_000, 12_345, 1_000_000].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345", "1,000,000"]);
    }
}
