//! What stands around every page.

use maud::{DOCTYPE, Markup, html};

use super::visit::Visit;
use super::{notice, style};

/// The areas: their paths and names.
const AREAS: [(&str, &str); 4] = [
    ("/tokens", "API tokens"),
    ("/webhooks", "Webhooks"),
    ("/deliveries", "Deliveries"),
    ("/usage", "Usage"),
];

/// A page of one of the areas.
pub(super) fn whole(visit: &Visit, title: &str, main: Markup) -> Markup {
    let inside = html! {
        a.skip href="#main" { "Skip to the content" }
        header {
            div.bar {
                p.name { a href=(visit.at("/tokens")) { "Control panel" } }
                (signed_in(visit))
            }
            nav aria-label="Areas" { ul { @for area in AREAS { (link(visit, area)) } } }
        }
        main id="main" tabindex="-1" {
            h1 { (title) }
            @if let Some(text) = notice::of(visit.query.get("done")) {
                p.notice role="status" { (text) }
            }
            (main)
        }
    };
    document(&visit.core.settings.mount, title, inside)
}

/// A page that shows nothing of the panel.
pub(super) fn bare(mount: &str, title: &str, text: &str) -> Markup {
    let inside = html! { main.narrow id="main" { h1 { (title) } p { (text) } } };
    document(mount, title, inside)
}

fn document(mount: &str, title: &str, inside: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Control panel" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ (mount) (style::PATH) };
            }
            body { (inside) }
        }
    }
}

fn signed_in(visit: &Visit) -> Markup {
    html! {
        div.who {
            span { span.as { "Signed in as " } strong { (visit.session.name) } }
            @if let Some(path) = visit.core.operator.sign_out() {
                form method="post" action=(path) {
                    (visit.csrf())
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

/// The area that the page is in is marked.
fn link(visit: &Visit, (path, name): (&str, &str)) -> Markup {
    let is_here = visit.row.path.starts_with(path);
    html! { li { a href=(visit.at(path)) aria-current=[is_here.then_some("page")] { (name) } } }
}
