//! Markup that several pages share: the document around them, flash messages, tables, badges and times.

use maud::{DOCTYPE, Markup, html};

use super::page_context::PageContext;
use super::response::STYLE_SHEET;
use crate::model::Timestamp;

/// The areas: their paths and names.
const AREAS: [(&str, &str); 4] = [
    ("/tokens", "API tokens"),
    ("/webhooks", "Webhooks"),
    ("/deliveries", "Deliveries"),
    ("/usage", "Usage"),
];

/// A page of one of the areas.
pub(super) fn area_document(context: &PageContext, title: &str, main: Markup) -> Markup {
    let body = html! {
        a.skip href="#main" { "Skip to content" }
        header {
            div.bar {
                p.name { a href=(context.url("/tokens")) { "Control panel" } }
                (signed_in(context))
            }
            nav aria-label="Areas" { ul { @for area in AREAS { (area_link(context, area)) } } }
        }
        main id="main" tabindex="-1" {
            h1 { (title) }
            @if let Some(text) = flash(context.query.get("done")) {
                p.notice role="status" { (text) }
            }
            (main)
        }
    };
    document(&context.panel.settings.base_path, title, body)
}

/// A page that shows nothing of the panel.
pub(super) fn bare_document(mount: &str, title: &str, text: &str) -> Markup {
    let body = html! { main.narrow id="main" { h1 { (title) } p { (text) } } };
    document(mount, title, body)
}

fn document(mount: &str, title: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Control panel" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ (mount) (STYLE_SHEET) };
            }
            body { (body) }
        }
    }
}

fn signed_in(context: &PageContext) -> Markup {
    html! {
        div.who {
            span { span.as { "Signed in as " } strong { (context.session.username) } }
            @if let Some(path) = context.panel.operator.sign_out_path() {
                form method="post" action=(path) {
                    (context.csrf())
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

/// The area that the page is in is marked.
fn area_link(context: &PageContext, (path, name): (&str, &str)) -> Markup {
    let is_here = context.route.path.starts_with(path);
    html! { li { a href=(context.url(path)) aria-current=[is_here.then_some("page")] { (name) } } }
}

/// The text that a page shows after a form. The address holds only its name, so that nothing typed there is shown.
fn flash(name: &str) -> Option<&'static str> {
    Some(match name {
        "revoked" => "Token revoked. Requests that use it now return 401.",
        "subscribed" => "Topics saved.",
        "activated" => "The new secret is active.",
        "enabled" => "Endpoint enabled. Queued deliveries are sent now.",
        "disabled" => "Endpoint disabled. Queued deliveries are kept.",
        "pinged" => "Ping queued. Reload this page to see the result.",
        "retried" => "Delivery queued again.",
        "all-retried" => "All dead deliveries of the endpoint are queued again.",
        "endpoint-removed" => "Endpoint deleted with its deliveries.",
        "delivery-removed" => "Delivery removed.",
        _ => return None,
    })
}

/// A state as a badge. Its colour says no more than its text does.
pub(super) fn badge(state: &str) -> Markup {
    html! { span class={ "badge " (state) } { (state) } }
}

/// What an empty list says, and what to do next.
pub(super) fn empty(text: &str, next: Markup) -> Markup {
    html! { div.empty { p { strong { (text) } } p { (next) } } }
}

/// A row of a table: the name and the content of each column. A column without a name holds buttons.
pub(super) type TableRow = Vec<(&'static str, Markup)>;

/// A table, which becomes a list of cards on a narrow screen. Its head has the names of the first row.
pub(super) fn table(rows: impl IntoIterator<Item = TableRow>) -> Markup {
    let rows: Vec<_> = rows.into_iter().collect();
    let columns = rows.first().into_iter().flatten();
    html! {
        table {
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

/// A text of any length, of which a list shows the beginning.
pub(super) fn breakable(text: &str) -> Markup {
    html! { span.long { (text) } }
}

/// A secret that is shown once, in a read-only field that one click selects without a script.
pub(super) fn secret_field(name: &str, label: &str, secret: &str) -> Markup {
    html! {
        div.revealed {
            p id={ (name) "-label" } { (label) }
            code id=(name) role="textbox" aria-readonly="true" aria-labelledby={ (name) "-label" } tabindex="0"
                autofocus { (secret) }
        }
    }
}

/// The link to the next page of a list.
pub(super) fn next_page_link(text: &str, path: &str) -> Markup {
    html! { p.further { a href=(path) rel="next" { (text) } } }
}

/// The units in milliseconds, the longest first.
const UNITS: [(&str, i64); 4] = [
    ("year", 365 * DAY),
    ("day", DAY),
    ("hour", 60 * 60 * 1000),
    ("minute", 60 * 1000),
];

const DAY: i64 = 24 * 60 * 60 * 1000;

/// How long before `now` it was, in the longest unit of which there is a whole one; or how long after it will be,
/// rounded, so that a token that was just issued for 30 days does not expire in 29.
pub(super) fn relative(at: Timestamp, now: Timestamp) -> String {
    let apart = at.as_millis().saturating_sub(now.as_millis());
    let length = apart.saturating_abs();
    let Some((unit, millis)) = UNITS.into_iter().find(|(_, millis)| length >= *millis) else {
        return if apart > 0 { "in a moment" } else { "just now" }.into();
    };
    let half = if apart > 0 { millis / 2 } else { 0 };
    let count = length.saturating_add(half) / millis;
    let plural = if count == 1 { "" } else { "s" };
    match apart > 0 {
        true => format!("in {count} {unit}{plural}"),
        false => format!("{count} {unit}{plural} ago"),
    }
}

/// To the second, in UTC.
pub(super) fn exact(at: Timestamp) -> String {
    let text = at.to_string();
    let second = text.split('.').next().unwrap_or_default();
    format!("{} UTC", second.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unit_counts() {
        let now = Timestamp::from_millis(1_767_225_600_000);
        for (seconds, expected) in [
            (0, "just now"),
            (-59, "just now"),
            (59, "in a moment"),
            (-60, "1 minute ago"),
            (-3 * 3600 - 5, "3 hours ago"),
            (-86_400, "1 day ago"),
            (30 * 86_400, "in 30 days"),
            (30 * 86_400 - 5, "in 30 days"),
            (3 * 3600 - 90, "in 3 hours"),
            (-59 * 60 - 59, "59 minutes ago"),
            (36_500 * 86_400, "in 100 years"),
        ] {
            let at = Timestamp::from_millis(now.as_millis() + seconds * 1000);
            assert_eq!(relative(at, now), expected);
        }
        assert_eq!(exact(now), "2026-01-01 00:00:00 UTC");
    }
}
