//! The form that adds an endpoint.

use maud::{Markup, html};

use super::topics;
use crate::panel::fields::{Line, Wrong};
use crate::panel::form::Form;
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;

/// The form with what was typed, but a secret, and with what is wrong of it.
pub(super) fn form(visit: &Visit, typed: &Form, wrong: &Wrong) -> Result<Markup, Problem> {
    let is_checked = |topic: &str| typed.all("topics").any(|one| one == topic);
    Ok(html! {
        section aria-labelledby="add" {
            h2 id="add" { "Add an endpoint" }
            form.fields method="post" action=(visit.at("/webhooks")) {
                (visit.csrf())
                (visit.once()?)
                @for line in lines(typed) { (line.field(wrong)) }
                (topics::field(visit, is_checked, wrong))
                (SECRET.field(wrong))
                div.actions { button type="submit" { "Add the endpoint" } }
            }
        }
    })
}

fn lines(typed: &Form) -> [Line<'_>; 2] {
    [
        Line {
            name: "url",
            label: "URL",
            hint: "Where deliveries are sent, as https://example.org/hook.",
            value: typed.get("url"),
            keys: "url",
            ..Line::TEXT
        },
        Line {
            name: "owner",
            label: "Owner",
            hint: "The username of the member for whom the endpoint acts: it is told of nothing that this member may \
                   not see. Nothing for yourself.",
            value: typed.get("owner"),
            ..Line::TEXT
        },
    ]
}

const SECRET: Line<'static> = Line {
    name: "secret",
    label: "Secret",
    hint: "What signs the deliveries: 16 characters or more that the receiver has already, or nothing for a new one.",
    kind: "password",
    autocomplete: "new-password",
    ..Line::TEXT
};
