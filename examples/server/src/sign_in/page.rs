//! The sign-in page. It uses the style sheet of the control panel, and no script.

use axum::response::{IntoResponse, Response};
use forum_api::panel::security_headers;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, html};

use super::form::SignInForm;
use super::service::SIGN_IN;
use crate::http::router::PANEL;

/// Returns the page with the form as it was sent, and the reason of a refusal.
pub fn sign_in_page(status: StatusCode, form: &SignInForm, reason: Option<&str>) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Sign in" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ (PANEL) "/style.css" };
            }
            body {
                main.narrow {
                    h1 { "Sign in" }
                    @if let Some(reason) = reason { p.alert id="reason" role="alert" { (reason) } }
                    form.fields method="post" action=(SIGN_IN) {
                        input type="hidden" name="back" value=(form.back);
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
                }
            }
        }
    };
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = (status, page.into_string()).into_response();
    add_page_headers(&mut response);
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}

/// Adds the headers that every page of the panel has, and forbids caching.
pub fn add_page_headers(response: &mut Response) {
    let headers = response.headers_mut();
    headers.extend(security_headers());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
