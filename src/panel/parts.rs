//! Pieces that several pages have.

use maud::{Markup, html};

/// A word in a frame, whose colour says no more than the word does.
pub(super) fn badge(word: &str) -> Markup {
    html! { span class={ "badge " (word) } { (word) } }
}

/// What an empty list says: that it is, and what to do next.
pub(super) fn empty(what: &str, next: Markup) -> Markup {
    html! { div.empty { p { strong { (what) } } p { (next) } } }
}

/// The head of a table, which becomes a list of cards where it is narrow. Its last column may be one of buttons.
pub(super) fn head(columns: &[&str], has_buttons: bool) -> Markup {
    html! {
        thead {
            tr {
                @for column in columns { th scope="col" { (column) } }
                @if has_buttons { th scope="col" { span.aloud { "Actions" } } }
            }
        }
    }
}

/// A cell, which carries the name of its column.
pub(super) fn cell(column: &str, content: Markup) -> Markup {
    html! { td data-label=(column) { div { (content) } } }
}

/// A text of any length, of which a list shows the beginning.
pub(super) fn long(text: &str) -> Markup {
    html! { span.long { (text) } }
}

/// A secret that is shown once, in a read-only field that one click selects. No script runs, and of an `input` a style
/// sheet cannot ask that.
pub(super) fn revealed(name: &str, label: &str, secret: &str) -> Markup {
    html! {
        div.revealed {
            p id={ (name) "-label" } { (label) }
            code id=(name) role="textbox" aria-readonly="true" aria-labelledby={ (name) "-label" } tabindex="0"
                autofocus { (secret) }
        }
    }
}

/// The link to what follows in a list.
pub(super) fn further(text: &str, path: &str) -> Markup {
    html! { p.further { a href=(path) rel="next" { (text) } } }
}
