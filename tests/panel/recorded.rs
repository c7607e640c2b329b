//! Texts, links and fields of pages, compared as a whole: `recorded/content.txt` has all pages of a panel with content,
//! `recorded/empty.txt` the lists of a panel without. `SNAPSHOTS=overwrite cargo test --workspace --test panel recorded` replaces
//! the files.

use std::path::Path;
use std::time::Duration;

use forum_api::runtime::Clock as _;
use forum_api::token::Lookup;
use html5gum::{StartTag, Token, Tokenizer};
use snapbox::{Assert, Data};

use crate::fixture::PanelFixture;
use crate::pages::page_paths;

/// Attributes that a reader notices, with those that a form sends.
const ATTRIBUTES: [&str; 19] = [
    "action",
    "aria-label",
    "checked",
    "datetime",
    "formaction",
    "href",
    "list",
    "max",
    "maxlength",
    "method",
    "min",
    "name",
    "open",
    "readonly",
    "required",
    "selected",
    "title",
    "type",
    "value",
];

/// Returns a line for each text and for each tag with a noticeable attribute.
fn lines(html: &str) -> String {
    let mut lines = String::new();
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::StartTag(tag) => {
                if let Some(line) = start_line(&tag) {
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

/// Returns the line of a tag with its noticeable attributes; `None` if it has none of them.
fn start_line(tag: &StartTag<()>) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let attributes: Vec<_> = tag
        .attributes
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .filter(|(name, _)| ATTRIBUTES.contains(&name.as_str()))
        .map(|(name, value)| if value.is_empty() { name } else { format!("{name}={value}") })
        .collect();
    let is_noticeable = !attributes.is_empty();
    is_noticeable.then(|| format!("<{} {}>\n", text(&tag.name), attributes.join(" ")))
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/panel/recorded").join(file);
    Assert::new().action_env("SNAPSHOTS").eq(pages, Data::read_from(&path, None).raw());
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
