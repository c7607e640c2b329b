//! Texts, links and fields of pages, compared as a whole: `recorded/content.txt` has all pages of a panel with content,
//! `recorded/empty.txt` the lists of a panel without, and `recorded/responses.txt` the pages that respond to forms.
//! `SNAPSHOTS=overwrite cargo test --workspace --test panel recorded` replaces the files.

use std::time::Duration;

use forum_api::Environment;
use forum_api::host::{WebPage, WebUrls};
use forum_api::panel::{Panel, PanelSettings};
use forum_api::runtime::Clock as _;
use forum_api::token::{Lookup, PlainToken};
use forum_test_support::recorded::assert_recorded;
use html5gum::{StartTag, Token, Tokenizer};

use crate::fixture::{ADMIN, PanelFixture, Response};
use crate::pages::page_paths;

/// Attributes that a reader notices.
const NOTICEABLE: [&str; 4] = ["aria-label", "datetime", "href", "title"];

/// Returns a line for each text and for each tag with an attribute.
fn lines(html: &str) -> String {
    lines_with(html, |_| true)
}

/// Returns a line for each text and for each tag with an attribute that a reader notices.
pub fn noticeable_lines(html: &str) -> String {
    lines_with(html, |name| NOTICEABLE.contains(&name))
}

/// Returns a line for each text and for each tag with an attribute whose name `is_compared`.
fn lines_with(html: &str, is_compared: impl Fn(&str) -> bool) -> String {
    let mut lines = String::new();
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::StartTag(tag) => {
                if let Some(line) = start_line(&tag, &is_compared) {
                    lines += &line;
                }
            }
            Token::String(text) => {
                let text = String::from_utf8_lossy(&text);
                let words: Vec<_> = text.split_whitespace().collect();
                if !words.is_empty() {
                    lines += &format!("{}\n", words.join(" "));
                }
            }
            _ => {}
        }
    }
    lines
}

/// Returns the line of a tag with its compared attributes; `None` if it has none of them.
fn start_line(tag: &StartTag<()>, is_compared: impl Fn(&str) -> bool) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let attributes: Vec<_> = tag
        .attributes
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .filter(|(name, _)| is_compared(name))
        .map(|(name, value)| if value.is_empty() { name } else { format!("{name}={value}") })
        .collect();
    let has_attributes = !attributes.is_empty();
    has_attributes.then(|| format!("<{} {}>\n", text(&tag.name), attributes.join(" ")))
}

/// Compares the pages with a file. The header and the footer, which all pages have, are recorded once.
async fn compare(fixture: &PanelFixture, paths: &[String], file: &str) {
    let mut pages = String::new();
    let csrf = fixture.csrf().await;
    for (number, path) in paths.iter().enumerate() {
        let page = fixture.get(path).await.body;
        let (before, rest) = page.split_once("<main").unwrap();
        let (main, after) = rest.split_once("</main>").unwrap();
        pages += &format!("# {path}\n");
        if number == 0 {
            pages += &format!("{}## main\n", lines(before));
        }
        pages += &lines(&format!("<main{main}"));
        if number == 0 {
            pages += &format!("## after main\n{}", lines(after));
        }
        pages.push('\n');
    }
    let ids = [
        (&csrf, "[CSRF]"),
        (&fixture.token, "[TOKEN]"),
        (&fixture.endpoint, "[ENDPOINT]"),
        (&fixture.delivery, "[DELIVERY]"),
    ];
    for (id, name) in ids.into_iter().filter(|(id, _)| !id.is_empty()) {
        pages = pages.replace(id, name);
    }
    assert_recorded(pages, path_of(file));
}

/// Returns the path of a recorded file.
fn path_of(file: &str) -> String {
    format!("{}/tests/panel/recorded/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns a panel with all settings that add texts and links to pages.
fn panel_with_all_settings(fixture: &PanelFixture) -> Panel {
    let mut settings = PanelSettings::default();
    settings.board_name = "Tea".into();
    settings.board_url = "/".into();
    settings.api_url = "https://board.example/api/v1".into();
    settings.reference_url = "/docs".into();
    settings.mcp_url = "https://board.example/mcp".into();
    let web_urls = WebUrls::new(|page| match page {
        WebPage::Member(id) => Some(format!("https://board.example/members/{id}")),
        _ => None,
    });
    let environment = Environment::default().clock(fixture.clock.clone()).web_urls(&web_urls);
    fixture.node_builder_in(environment).settings(settings).build().unwrap()
}

#[tokio::test]
async fn pages_have_the_recorded_content() {
    let fixture = PanelFixture::with_content().await;
    let mut paths = page_paths(&fixture).await;
    fixture.clock.advance(Duration::from_secs(3600));
    let token = Lookup::parse(&fixture.token).unwrap();
    fixture.stores.tokens.record_use(&token, fixture.clock.now()).await.unwrap();
    // The store writes a use before the next token.
    fixture.issue(&[("expires_in_days", "7")]).await;
    paths.push("/panel/nothing".into());
    compare(&fixture, &paths, "content.txt").await;
}

#[tokio::test]
async fn empty_pages_have_the_recorded_content() {
    let fixture = PanelFixture::new().await;
    let lists = ["tokens", "usage", "audit", "webhooks", "deliveries"];
    let paths = lists.map(|list| format!("/panel/{list}"));
    compare(&fixture, &paths, "empty.txt").await;
}

#[tokio::test(start_paused = true)]
async fn responses_to_forms_have_the_recorded_content() {
    let mut fixture = PanelFixture::with_content().await;
    fixture.panel = panel_with_all_settings(&fixture);
    let csrf = fixture.csrf().await;
    let issued = fixture.issue(&[("once", "1")]).await;
    let token = format!("forum_pat_{}", issued.after("forum_pat_"));
    let lookup = PlainToken::parse(&token).unwrap().lookup().to_string();
    let issued_again = fixture.issue(&[("once", "1")]).await;

    let url = "https://93.184.215.14/hook?key=1";
    let add = [("once", "2"), ("url", url), ("topics", "*"), ("topics", "message.sent")];
    let added = fixture.post_confirmed("/panel/webhooks", &add).await;
    let added_id = added.added_endpoint();
    let added_secret = format!("whsec_{}", added.after("whsec_"));
    let added_again = fixture.post_confirmed("/panel/webhooks", &add).await;

    let rotate = fixture.endpoint_path("/rotate");
    let rotated = fixture.post(&rotate, &[("once", "3")]).await;
    let rotated_secret = format!("whsec_{}", rotated.after("whsec_"));
    let rotated_again = fixture.post(&rotate, &[("once", "3")]).await;
    let activate = fixture.endpoint_path("/activate");
    let without_time = fixture.post(&activate, &[]).await;
    let other_time = [("activates_at", "2026-01-01T00:00:00.000Z")];
    let replaced = fixture.post(&activate, &other_time).await;
    let example = fixture.endpoint_path("/example");
    let unknown_topic = fixture.post(&example, &[("topic", "no.topic")]).await;
    let retry = fixture.delivery_path("/retry");
    fixture.post(&retry, &[]).await;
    let retried_again = fixture.post(&retry, &[]).await;
    fixture.post(&fixture.endpoint_path("/disable"), &[]).await;
    let disabled = fixture.post(&fixture.endpoint_path("/ping"), &[]).await;

    let forged = fixture.send("POST", "/panel/webhooks", &[ADMIN], &[]).await;
    let unreadable = fixture.post("/panel/webhooks", &[("url", "\0")]).await;
    let too_long = fixture.post("/panel/webhooks", &[("url", &*"x".repeat(2 << 20))]).await;
    let hidden = fixture.get_as("alice/1", "/panel/tokens").await;

    let responses: [(&str, &Response); 15] = [
        ("token issued", &issued),
        ("token issued again", &issued_again),
        ("endpoint added", &added),
        ("endpoint added again", &added_again),
        ("secret rotated", &rotated),
        ("secret rotated again", &rotated_again),
        ("secret activated without its time", &without_time),
        ("secret activated with another time", &replaced),
        ("example of an unknown topic", &unknown_topic),
        ("queued delivery retried", &retried_again),
        ("disabled endpoint pinged", &disabled),
        ("forged form", &forged),
        ("unreadable form", &unreadable),
        ("long form", &too_long),
        ("page for a member", &hidden),
    ];
    let mut pages = String::new();
    for (name, Response { status, body, .. }) in responses {
        let (_, rest) = body.split_once("<main").unwrap();
        let (main, _) = rest.split_once("</main>").unwrap();
        pages += &format!("# {name}: {status}\n{}\n", lines(&format!("<main{main}")));
    }
    for (text, name) in [
        (&csrf, "[CSRF]"),
        (&token, "[SECRET]"),
        (&lookup, "[LOOKUP]"),
        (&added_secret, "[SECRET]"),
        (&added_id, "[ADDED]"),
        (&rotated_secret, "[SECRET]"),
        (&fixture.endpoint, "[ENDPOINT]"),
        (&fixture.delivery, "[DELIVERY]"),
    ] {
        pages = pages.replace(text, name);
    }
    assert_recorded(pages, path_of("responses.txt"));
}
