//! The document with its head.

use maud::{DOCTYPE, Markup, html};

/// Renders a document from its `body` element and the URLs of its style sheet, its script and its icon.
pub(crate) fn document(title: &str, style: &str, script: &str, icon: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href=(icon);
                link rel="stylesheet" href=(style);
                script src=(script) defer {}
            }
            (body)
        }
    }
}
