//! The server's own pages. They use the style sheet of the control panel.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use forum_api::panel::{PanelSettings, security_headers};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::paths::{API, DOCS, MCP, PANEL};

/// Path of the script of the start page.
pub const READER_SCRIPT: &str = "/reader.js";

/// Path of the style sheet that the start page has in addition to that of the panel.
pub const READER_STYLE: &str = "/reader.css";

const HTML: &str = "text/html; charset=utf-8";

/// Policy of the start page. It allows scripts and requests of this origin only. It shows no image of this origin,
/// because the address in a post could be a request to the API, which would spend the budget of the reader's address.
const READER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// A page or file that never changes.
#[derive(Clone, Debug)]
pub struct Asset {
    headers: HeaderMap,
    /// The hash of the body, in quotes.
    tag: String,
    body: Bytes,
}

impl Asset {
    fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let tag = format!("\"{}\"", BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&body)));
        let mut headers = security_headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.extend(HeaderValue::from_str(&tag).map(|tag| (ETAG, tag)));
        Self { headers, tag, body }
    }

    /// Returns the asset with its hash as the `etag`, or a 304 if the client has it, or any version of it (`*`).
    pub fn respond(&self, request: &HeaderMap) -> Response {
        let is_tag = |value: &HeaderValue| {
            value.to_str().is_ok_and(|tags| tags.contains(&self.tag) || tags.trim() == "*")
        };
        let mut response = if request.get_all(IF_NONE_MATCH).iter().any(is_tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Body::from(self.body.clone()).into_response()
        };
        response.headers_mut().extend(self.headers.clone());
        response
    }
}

/// Returns the script of the start page.
pub fn reader_script() -> Asset {
    Asset::new(
        "text/javascript; charset=utf-8",
        concat!(
            include_str!("reader/client.js"),
            include_str!("reader/elements.js"),
            include_str!("reader/forms.js"),
            include_str!("reader/forums.js"),
            include_str!("reader/threads.js"),
            include_str!("reader/members.js"),
            include_str!("reader/search.js"),
            include_str!("reader/page.js"),
        ),
    )
}

/// Returns the style sheet of the start page.
pub fn reader_style() -> Asset {
    Asset::new("text/css; charset=utf-8", include_str!("reader/style.css"))
}

/// Returns the start page: the board, read and written through the API, and beside it the requests to the API.
pub fn home_page(frame: &PanelSettings, has_mcp: bool) -> Asset {
    let links = html! {
        link rel="stylesheet" href=(READER_STYLE);
        script type="module" src=(READER_SCRIPT) {}
    };
    let body = html! {
        a.skip href="#main" { "Skip to content" }
        header {
            (PreEscaped(frame.page_header("Board")))
            // Without the script, a search would load the start page.
            div #tools .bar inert {
                form #search role="search" {
                    label.visually-hidden for="q" { "Search" }
                    input #q name="q" type="search" dir="auto" placeholder="Search" maxlength="200" required;
                    button { "Search" }
                }
                form #access {
                    label.visually-hidden for="token" { "Token" }
                    input #token type="password" placeholder="API token" autocomplete="off" required aria-describedby="token-error";
                    button.quiet { "Use token" }
                    p.error #token-error role="alert" {}
                }
                p #who hidden {}
            }
        }
        div.columns {
            main #main tabindex="-1" {
                noscript {
                    h1 { (frame.board_name) }
                    p { (purpose()) }
                    p { "Reading the board here needs JavaScript. These pages work without it:" }
                    (pages_without_script())
                }
                p #intro {
                    (purpose()) " Each click here is a request to its API, which the page shows. To write, use an API token: "
                    a href={ (DOCS) "#about-authentication" } { "How to get a token" } "."
                }
                p #status role="status" {}
                div #view aria-busy="true" {
                    div.loading {
                        p { "Loading…" }
                        div.late {
                            p { "This takes longer than usual. " a href="/" { "Load the page again" } ", or use one of these:" }
                            (pages_without_script())
                        }
                    }
                }
            }
            aside #api hidden aria-labelledby="requests" {
                h2 #requests { "API requests" }
                button #drawer type="button" aria-expanded="false" aria-controls="calls" { "API requests" }
                p #budget {}
                ol #calls {}
            }
        }
        footer {
            a href={ (API) "/openapi.json" } { "OpenAPI document" } " for code generators and other tools"
            @if has_mcp { " · MCP server " a href=(MCP) { (MCP) } " for assistants and agents, with a token" }
        }
    };
    let markup = document(frame, &frame.board_name, links, body);
    let mut page = Asset::new(HTML, markup.into_string());
    page.headers.insert(CONTENT_SECURITY_POLICY, READER_POLICY);
    page
}

/// Renders what forum-api is, for a visitor who does not know it.
fn purpose() -> Markup {
    html! {
        "This board is an example of forum-api, which adds a " a href=(DOCS) { "REST API" } ", signed webhooks and a "
        a href=(PANEL) { "control panel" } " to a forum that you already run."
    }
}

/// Renders links to pages for a visitor whose browser does not run the script.
fn pages_without_script() -> Markup {
    html! {
        ul {
            li { a href=(DOCS) { "API reference" } ", with commands to read and write the board" }
            li { a href={ (API) "/forums" } { "List of forums" } ", as the API returns it" }
            li { a href=(PANEL) { "Control panel" } ", for administrators" }
        }
    }
}

/// Returns a page with a heading, and the header of all pages. `current` is the text of its link to the page.
pub fn page(
    status: StatusCode,
    frame: &PanelSettings,
    current: &str,
    title: &str,
    content: Markup,
) -> Response {
    let body = html! {
        header { (PreEscaped(frame.page_header(current))) }
        main.narrow { h1 { (title) } (content) }
    };
    let title = format!("{title} · {}", frame.board_name);
    let markup = document(frame, &title, html! {}, body);
    let mut response = (status, markup.into_string()).into_response();
    add_page_headers(&mut response);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(HTML));
    response
}

/// Returns the page for an unknown path.
pub fn not_found_page(frame: &PanelSettings) -> Response {
    let content = html! {
        p { "There is no page at this address." }
        p { a href="/" { "Start page" } " · " a href=(DOCS) { "API reference" } }
    };
    page(StatusCode::NOT_FOUND, frame, "", "Not found", content)
}

fn document(frame: &PanelSettings, title: &str, links: Markup, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href=(frame.icon_url());
                link rel="stylesheet" href={ (PANEL) "/style.css" };
                (links)
            }
            body { (body) }
        }
    }
}

/// Adds the headers that every page of the panel has, and forbids caching.
pub fn add_page_headers(response: &mut Response) {
    let headers = response.headers_mut();
    headers.extend(security_headers());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_with_the_body_gets_a_304() {
        let [one, other] = ["one", "other"].map(|text| Asset::new("text/css", text));
        let sent = one.respond(&HeaderMap::new());
        assert_eq!(sent.status(), StatusCode::OK);
        let tag = sent.headers().get(ETAG).unwrap().to_str().unwrap();
        assert!(tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
        for (known, are_known) in [
            (tag.to_owned(), [true, false]),
            (format!("W/{tag}"), [true, false]),
            (format!("\"x\", {tag}"), [true, false]),
            ("*".into(), [true, true]),
            ("\"x\"".into(), [false, false]),
            ("\"*\"".into(), [false, false]),
        ] {
            let value = HeaderValue::from_str(&known).unwrap();
            let request = HeaderMap::from_iter([(IF_NONE_MATCH, value)]);
            let is_unchanged =
                |asset: &Asset| asset.respond(&request).status() == StatusCode::NOT_MODIFIED;
            assert_eq!([&one, &other].map(is_unchanged), are_known, "{known}");
        }
    }

    #[test]
    fn the_start_page_has_a_search_a_token_and_the_requests() {
        let mut frame = PanelSettings::default();
        frame.board_name = "Tea club".into();
        let header = frame.page_header("Board");
        let without_script = concat!(
            r#"<ul><li><a href="/docs">API reference</a>, with commands to read and write the board</li>"#,
            r#"<li><a href="/api/v1/forums">List of forums</a>, as the API returns it</li>"#,
            r#"<li><a href="/panel">Control panel</a>, for administrators</li></ul>"#,
        );
        let purpose = concat!(
            r#"This board is an example of forum-api, which adds a <a href="/docs">REST API</a>, signed webhooks "#,
            r#"and a <a href="/panel">control panel</a> to a forum that you already run."#,
        );
        let parts = [
            r##"<body><a class="skip" href="#main">Skip to content</a><header>"##,
            header.as_str(),
            r#"<div class="bar" id="tools" inert><form id="search" role="search">"#,
            r#"<label class="visually-hidden" for="q">Search</label>"#,
            r#"<input id="q" name="q" type="search" dir="auto" placeholder="Search" maxlength="200" required>"#,
            r#"<button>Search</button></form><form id="access">"#,
            r#"<label class="visually-hidden" for="token">Token</label>"#,
            r#"<input id="token" type="password" placeholder="API token" autocomplete="off" required "#,
            r#"aria-describedby="token-error"><button class="quiet">Use token</button>"#,
            r#"<p class="error" id="token-error" role="alert"></p></form><p id="who" hidden></p></div></header>"#,
            r#"<div class="columns"><main id="main" tabindex="-1"><noscript><h1>"#,
            "Tea club</h1><p>",
            purpose,
            "</p><p>Reading the board here needs JavaScript. These pages work without it:</p>",
            without_script,
            r#"</noscript><p id="intro">"#,
            purpose,
            " Each click here is a request to its API, which the page shows. To write, use an API token: ",
            r##"<a href="/docs#about-authentication">How to get a token</a>.</p>"##,
            r#"<p id="status" role="status"></p><div id="view" aria-busy="true"><div class="loading">"#,
            r#"<p>Loading…</p><div class="late"><p>This takes longer than usual. "#,
            r#"<a href="/">Load the page again</a>, or use one of these:</p>"#,
            without_script,
            r#"</div></div></div></main><aside id="api" hidden aria-labelledby="requests">"#,
            r#"<h2 id="requests">API requests</h2>"#,
            r#"<button id="drawer" type="button" aria-expanded="false" aria-controls="calls">API requests</button>"#,
            r#"<p id="budget"></p><ol id="calls"></ol></aside></div><footer>"#,
            r#"<a href="/api/v1/openapi.json">OpenAPI document</a> for code generators and other tools"#,
        ];
        let tools =
            r#" · MCP server <a href="/mcp">/mcp</a> for assistants and agents, with a token"#;
        for (has_mcp, end) in [(true, tools), (false, "")] {
            let page = home_page(&frame, has_mcp);
            let html = str::from_utf8(&page.body).unwrap();
            let (head, body) = html.split_at(html.find("<body>").unwrap());
            assert_eq!(body, format!("{}{end}</footer></body></html>", parts.concat()));
            assert!(head.contains("<title>Tea club</title>"), "{head}");
        }
    }
}
