//! The page that asks for name and password. It looks like the control panel, and runs no script either.

use axum::body::Body;
use forum_api::panel::page_headers;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use maud::{DOCTYPE, html};

use super::SIGN_IN;
use super::typed::Typed;
use crate::front::PANEL;

/// The form with the name that was typed, and what is to be said of it.
pub fn asking(status: StatusCode, typed: &Typed, reason: Option<&str>) -> Response<Body> {
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
                        input type="hidden" name="back" value=(typed.back);
                        div.field {
                            label for="name" { "Username" }
                            input id="name" name="name" value=(typed.name) autocomplete="username" required
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
    let mut answer = Response::new(Body::from(page.into_string()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.extend(page_headers());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(CONTENT_TYPE, html);
    answer
}
