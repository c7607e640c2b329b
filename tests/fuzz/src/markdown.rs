//! Posts: their HTML has only tags that Markdown creates, properly nested, without attributes or addresses that run
//! code.

use forum_server::board::markdown as board;

use html5gum::{StartTag, Token, Tokenizer};

use crate::text;

/// The tags that Markdown creates, with their attributes.
#[rustfmt::skip]
const TAGS: &[(&str, &[&str])] = &[
    ("a", &["href", "rel", "title"]),
    ("img", &["src", "alt", "title"]),
    ("code", &["class"]),
    ("ol", &["start"]),
    ("th", &["align"]),
    ("td", &["align"]),
    ("blockquote", &[]), ("br", &[]), ("del", &[]), ("em", &[]), ("h3", &[]),
    ("h4", &[]), ("h5", &[]), ("h6", &[]), ("hr", &[]), ("li", &[]), ("p", &[]), ("pre", &[]),
    ("strong", &[]), ("table", &[]), ("tbody", &[]), ("thead", &[]), ("tr", &[]), ("ul", &[]),
];

/// Void tags.
const VOID: &[&str] = &["br", "hr", "img"];

pub(super) fn check_property(data: &[u8]) {
    let Some(source) = text(data) else {
        return;
    };
    board::plain(source);
    let html = board::render_blocking(source);
    let is_short = html.len() <= 8 * source.len() + 4096;
    assert!(is_short, "the HTML is too long");
    let mut open = Vec::new();
    for token in Tokenizer::new(&html).flatten() {
        match token {
            Token::StartTag(tag) => open.extend(opened(&tag, &html)),
            Token::EndTag(tag) => assert_eq!(open.pop(), Some(string(&tag.name)), "{html}"),
            Token::String(_) | Token::Error(_) => {}
            Token::Comment(_) | Token::Doctype(_) => panic!("{html}"),
        }
    }
    assert!(open.is_empty(), "{html}");
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the name of a safe tag, unless it is void.
fn opened(tag: &StartTag<()>, html: &str) -> Option<String> {
    let name = string(&tag.name);
    let known = TAGS.iter().find(|(known, _)| *known == name);
    let (_, attributes) = known.unwrap_or_else(|| panic!("{name}: {html}"));
    for (attribute, value) in &tag.attributes {
        let attribute = string(attribute);
        assert!(attributes.contains(&&*attribute), "{attribute}: {html}");
        let is_address = ["href", "src"].contains(&&*attribute);
        assert!(!is_address || is_harmless(&string(value)), "{html}");
    }
    (!VOID.contains(&&*name)).then_some(name)
}

/// Returns whether an address runs no code. Like browsers, ignores blanks and control characters before an address, and
/// line breaks inside it.
fn is_harmless(address: &str) -> bool {
    let visible = address.trim_start_matches(|letter: char| letter <= ' ');
    let address: String = visible.chars().filter(|letter| !"\t\n\r".contains(*letter)).collect();
    let scheme = address.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let runs = ["javascript", "vbscript", "data", "file"].contains(&&*scheme);
    !runs || !address.contains(':')
}
