//! The sign-in page.

use axum::response::Response;
use forum_api::panel::PanelSettings;
use http::StatusCode;
use maud::html;

use super::form::{SESSION_ENDED, SIGN_IN, SignInForm};
use crate::http::page::page;

/// Returns the page with the form as it was sent, and the reason of a refusal.
pub fn sign_in_page(
    status: StatusCode,
    frame: &PanelSettings,
    form: &SignInForm,
    reason: Option<&str>,
) -> Response {
    let content = html! {
        @if let Some(reason) = reason { p.alert id="reason" role="alert" { (reason) } }
        @if form.session_ended {
            p.notice.waiting role="status" { "Your session has ended. What you entered was not saved. Sign in to return to the page." }
        }
        form.fields method="post" action=(SIGN_IN) {
            input type="hidden" name="back" value=(form.back);
            @if form.session_ended { input type="hidden" name=(SESSION_ENDED) value="1"; }
            div.field {
                label for="name" { "Username" }
                input id="name" name="name" value=(form.name) autocomplete="username" required
                    autocapitalize="none" spellcheck="false" aria-describedby=[reason.map(|_| "reason")];
            }
            div.field {
                label for="password" { "Password" }
                input id="password" name="password" type="password" autocomplete="current-password"
                    required aria-describedby=[reason.map(|_| "reason")];
            }
            button type="submit" { "Sign in" }
        }
        p.hint { "For administrators of the board. Members read and write on the " a href="/" { "start page" } "." }
        p.hint { "Forgot your password? An operator sets a new one with " code { "forum-server member password NAME" } "." }
    };
    page(status, frame, "Panel", "Sign in", content)
}
