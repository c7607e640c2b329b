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

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    /// Returns the HTML of the main part of the page.
    async fn main_part(form: &SignInForm, reason: Option<&str>) -> String {
        let page = sign_in_page(StatusCode::OK, &PanelSettings::default(), form, reason);
        let body = to_bytes(page.into_body(), usize::MAX).await.unwrap();
        let html = String::from_utf8(body.to_vec()).unwrap();
        let (_, rest) = html.split_once("<main class=\"narrow\">").unwrap();
        rest.split_once("</main>").unwrap().0.to_owned()
    }

    #[tokio::test]
    async fn the_page_has_the_form_as_it_was_sent() {
        let hints = concat!(
            r#"<button type="submit">Sign in</button></form>"#,
            r#"<p class="hint">For administrators of the board. Members read and write on the <a href="/">start page</a>.</p>"#,
            r#"<p class="hint">Forgot your password? An operator sets a new one with "#,
            "<code>forum-server member password NAME</code>.</p>",
        );
        let first = concat!(
            r#"<h1>Sign in</h1><form class="fields" method="post" action="/sign-in">"#,
            r#"<input type="hidden" name="back" value="/panel/usage">"#,
            r#"<div class="field"><label for="name">Username</label>"#,
            r#"<input id="name" name="name" value="" autocomplete="username" required "#,
            r#"autocapitalize="none" spellcheck="false"></div>"#,
            r#"<div class="field"><label for="password">Password</label>"#,
            r#"<input id="password" name="password" type="password" "#,
            r#"autocomplete="current-password" required></div>"#,
        );
        let shown = main_part(&SignInForm::default(), None).await;
        assert_eq!(shown, format!("{first}{hints}"));
        let sent = SignInForm {
            name: "<alice>".into(),
            password: "secret".into(),
            back: "/panel?a=1&b=2".into(),
            session_ended: true,
        };
        let refused = concat!(
            r#"<h1>Sign in</h1><p class="alert" id="reason" role="alert">A reason.</p>"#,
            r#"<p class="notice waiting" role="status">Your session has ended. "#,
            "What you entered was not saved. Sign in to return to the page.</p>",
            r#"<form class="fields" method="post" action="/sign-in">"#,
            r#"<input type="hidden" name="back" value="/panel?a=1&amp;b=2">"#,
            r#"<input type="hidden" name="ended" value="1">"#,
            r#"<div class="field"><label for="name">Username</label>"#,
            r#"<input id="name" name="name" value="&lt;alice&gt;" autocomplete="username" required "#,
            r#"autocapitalize="none" spellcheck="false" aria-describedby="reason"></div>"#,
            r#"<div class="field"><label for="password">Password</label>"#,
            r#"<input id="password" name="password" type="password" "#,
            r#"autocomplete="current-password" required aria-describedby="reason"></div>"#,
        );
        assert_eq!(main_part(&sent, Some("A reason.")).await, format!("{refused}{hints}"));
    }
}
