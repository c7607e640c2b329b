//! The server's own pages. They use the style sheet of the control panel, and no script.

use axum::response::{IntoResponse, Response};
use forum_api::panel::security_headers;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, html};

use super::router::{API, DOCS, MCP, PANEL};

/// Returns the start page, which links to the reference page, the control panel and the OpenAPI document, and names the
/// path of the MCP server if there is one.
pub async fn home_page(has_mcp: bool) -> Response {
    let links = html! {
        p { a href=(DOCS) { "API reference" } br; "Operations, code samples and forms to send requests" }
        p { a href=(PANEL) { "Control panel" } br; "Tokens, webhooks, usage and audit log, for administrators" }
        p { a href={ (API) "/openapi.json" } { "OpenAPI document" } br; "For code generators and other tools" }
        @if has_mcp {
            p { "MCP server: " code { (MCP) } br; "For assistants and agents that use the Model Context Protocol, with a token" }
        }
    };
    page(StatusCode::OK, "Forum API", links)
}

/// Returns a page with a heading.
pub fn page(status: StatusCode, title: &str, content: Markup) -> Response {
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
            }
            body { main.narrow { h1 { (title) } (content) } }
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
