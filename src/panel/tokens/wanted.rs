//! The form that asks for a token.

use maud::{Markup, html};

use crate::panel::fields::{Line, Wrong, boxes};
use crate::panel::form::Form;
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;

/// The form with what was typed, but the password, and with what is wrong of it.
pub(super) fn form(visit: &Visit, typed: &Form, wrong: &Wrong) -> Result<Markup, Problem> {
    let scopes: Vec<_> = visit
        .core
        .environment
        .surface
        .scopes()
        .map(|scope| {
            let is_checked = typed.all("scopes").any(|one| one == scope.as_str());
            (scope.to_string(), scope.allows(), is_checked)
        })
        .collect();
    Ok(html! {
        form.fields method="post" action=(visit.at("/tokens/new")) {
            (visit.csrf())
            (visit.once()?)
            @for line in lines(typed) { (line.field(wrong)) }
            (boxes(SCOPES, &scopes, wrong))
            @for line in [expiry(typed), PASSWORD] { (line.field(wrong)) }
            div.actions {
                button type="submit" { "Issue the token" }
                a href=(visit.at("/tokens")) { "Cancel" }
            }
        }
    })
}

const SCOPES: (&str, &str, &str) = (
    "scopes",
    "Scopes",
    "What the token carries. It never reaches what its owner may not do.",
);

fn lines(typed: &Form) -> [Line<'_>; 2] {
    [
        Line {
            name: "owner",
            label: "Owner",
            hint: "The username of the member for whom the token acts.",
            value: typed.get("owner"),
            ..Line::TEXT
        },
        Line {
            name: "label",
            label: "Label",
            hint: "What to call it in the list, such as the program that is to use it. May be empty.",
            value: typed.get("label"),
            ..Line::TEXT
        },
    ]
}

fn expiry(typed: &Form) -> Line<'_> {
    Line {
        name: "expires_in_days",
        label: "Expires in (days)",
        hint: "A whole number of days, or nothing: then it never expires.",
        value: typed.get("expires_in_days"),
        keys: "numeric",
        ..Line::TEXT
    }
}

const PASSWORD: Line<'static> = Line {
    name: "password",
    label: "Your password",
    hint: "Your own, once more.",
    kind: "password",
    autocomplete: "current-password",
    ..Line::TEXT
};
