//! The server's own pages. They use the style sheet of the control panel.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use forum_api::panel::security_headers;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest as _, Sha256};

use super::paths::{API, DOCS, MCP, PANEL};

/// Path of the script of the start page.
pub const READER_SCRIPT: &str = "/reader.js";

/// Path of the style sheet that the start page has in addition to that of the panel.
pub const READER_STYLE: &str = "/reader.css";

/// Policy of the start page. It allows scripts and requests of this origin only. It shows no image of this origin,
/// because the address in a post could be a request to the API, which would spend the budget of the reader's address.
const READER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// Returns the start page: a reader of the board that sends requests to the API, and links to the other pages.
pub async fn home_page(board_name: Arc<str>, has_mcp: bool) -> Response {
    let links = html! {
        link rel="stylesheet" href=(READER_STYLE);
        script type="module" src=(READER_SCRIPT) {}
    };
    let body = html! {
        header {
            div.bar {
                p.name { a href="#/" { (board_name) } }
                form #search role="search" {
                    label.visually-hidden for="q" { "Search" }
                    input #q name="q" type="search" placeholder="Search" required;
                    button { "Search" }
                }
                form #access {
                    label.visually-hidden for="token" { "Token" }
                    input #token type="password" placeholder="Token, or none for a guest" autocomplete="off";
                    button.quiet { "Use token" }
                }
            }
        }
        main aria-live="polite" {
            noscript { h1 { (board_name) } p { "The reader of the board needs JavaScript. The pages below do not." } }
        }
        footer {
            section aria-labelledby="requests" {
                h2 #requests { "Requests of this view" }
                ol #calls {}
            }
            nav aria-label="Pages" {
                p { a href=(DOCS) { "API reference" } br; "Operations, code samples and forms to send requests" }
                p { a href=(PANEL) { "Control panel" } br; "Tokens, webhooks, usage and audit log, for administrators" }
                p { a href={ (API) "/openapi.json" } { "OpenAPI document" } br; "For code generators and other tools" }
                @if has_mcp {
                    p { "MCP server: " code { (MCP) } br; "For assistants and agents that use the Model Context Protocol, with a token" }
                }
            }
        }
    };
    let mut response = document(StatusCode::OK, &board_name, links, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, READER_POLICY);
    response
}

/// Returns the script of the start page.
pub async fn reader_script(request: HeaderMap) -> Response {
    asset(
        &request,
        "text/javascript; charset=utf-8",
        include_str!("reader.js"),
    )
}

/// Returns the style sheet of the start page.
pub async fn reader_style(request: HeaderMap) -> Response {
    asset(
        &request,
        "text/css; charset=utf-8",
        include_str!("reader.css"),
    )
}

/// Returns a file with its hash as the `etag`, or a 304 if the client has the file.
fn asset(request: &HeaderMap, content_type: &'static str, content: &'static str) -> Response {
    let tag = format!(
        "\"{}\"",
        BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(content))
    );
    let is_tag = |value: &HeaderValue| value.to_str().is_ok_and(|tags| tags.contains(&tag));
    let mut response = if request.get_all(IF_NONE_MATCH).iter().any(is_tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        content.into_response()
    };
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&tag).map(|tag| (ETAG, tag)));
    headers.extend(security_headers());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Returns a page with a heading, the name of the board, and a link to the start page.
pub fn page(status: StatusCode, board_name: &str, title: &str, content: Markup) -> Response {
    let body = html! {
        header { div.bar { p.name { a href="/" { (board_name) } } } }
        main.narrow { h1 { (title) } (content) }
    };
    document(status, &format!("{title} · {board_name}"), html! {}, body)
}

/// Returns the page for an unknown path.
pub fn not_found_page(board_name: &str) -> Response {
    let content = html! {
        p { "There is no page at this address." }
        p { a href="/" { "Start page" } " · " a href=(DOCS) { "API reference" } }
    };
    page(StatusCode::NOT_FOUND, board_name, "Not found", content)
}

fn document(status: StatusCode, title: &str, links: Markup, body: Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                link rel="stylesheet" href={ (PANEL) "/style.css" };
                (links)
            }
            body { (body) }
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
