//! Rendering of descriptions, which are CommonMark with tables.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped};
pub(super) use pulldown_cmark::HeadingLevel;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::document::slug;

/// Renders a text. All of its headings have the level `headings`. HTML is shown as text, an image as its description, and a
/// link to a script as its text.
pub(super) fn markdown(text: &str, headings: HeadingLevel) -> Markup {
    render(events(text, headings))
}

/// Renders a text for a cell of a table: a single paragraph has no element of its own.
pub(super) fn inline_markdown(text: &str) -> Markup {
    let PreEscaped(html) = markdown(text, HeadingLevel::H4);
    let inner = html.trim().strip_prefix("<p>").and_then(|inner| inner.strip_suffix("</p>"));
    match inner.filter(|inner| !inner.contains("<p>")) {
        Some(inner) => PreEscaped(inner.into()),
        None => PreEscaped(html),
    }
}

/// Renders a text. In its tables each of these codes gets the fragment of [`code_fragment`], at its first occurrence. Removes
/// the codes found. In its code blocks the base URL is in elements of the class `base`.
pub(super) fn markdown_with_anchors(
    text: &str,
    codes: &mut BTreeSet<&str>,
    base_url: &str,
) -> Markup {
    let mut is_in_table = false;
    let mut is_in_code = false;
    render(events(text, HeadingLevel::H3).map(|event| {
        match &event {
            // Code blocks are HTML already.
            Event::InlineHtml(html) => is_in_code = html.starts_with("<div"),
            Event::Text(code) if is_in_code => {
                let html = maud::html! {
                    @for (number, part) in code.split(base_url).enumerate() {
                        @if number > 0 { span.base { (base_url) } }
                        (part)
                    }
                };
                return Event::InlineHtml(html.into_string().into());
            }
            Event::Start(Tag::Table(_)) => is_in_table = true,
            Event::End(TagEnd::Table) => is_in_table = false,
            Event::Code(code) if is_in_table && codes.remove(&**code) => {
                let html = maud::html! { code id=(code_fragment(code)) { (&**code) } };
                return Event::InlineHtml(html.into_string().into());
            }
            _ => {}
        }
        event
    }))
}

/// Returns the fragment of an error code on the page.
pub(super) fn code_fragment(code: &str) -> String {
    format!("error-{}", slug(code))
}

/// Splits a text before each heading of the second level. Returns titles and contents; the title before the first heading is
/// empty.
pub(super) fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        match line.strip_prefix("## ").filter(|_| !is_code) {
            Some(title) => sections.push((title.trim().into(), String::new())),
            None => {
                if let Some((_, content)) = sections.last_mut() {
                    content.push_str(line);
                    content.push('\n');
                }
            }
        }
    }
    sections.retain(|(title, content)| !(title.is_empty() && content.trim().is_empty()));
    sections
}

/// Parses a text, without events that write HTML, load images or follow unsafe links.
fn events(text: &str, headings: HeadingLevel) -> impl Iterator<Item = Event<'_>> {
    let mut links = Vec::new();
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(move |event| {
        Some(match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => return None,
            Event::Start(Tag::Link { ref dest_url, .. }) => {
                links.push(is_safe_link(dest_url));
                links.last().filter(|is_safe| **is_safe)?;
                event
            }
            Event::End(TagEnd::Link) => {
                links.pop().filter(|is_safe| *is_safe)?;
                event
            }
            Event::Start(Tag::Heading { .. }) => Event::Start(Tag::Heading {
                level: headings,
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Heading(headings)),
            Event::Start(Tag::CodeBlock(_)) => Event::InlineHtml(CowStr::Borrowed(
                "<div class=\"code copyable\"><pre tabindex=\"0\"><code>",
            )),
            Event::End(TagEnd::CodeBlock) => {
                Event::InlineHtml(CowStr::Borrowed("</code></pre></div>\n"))
            }
            event => event,
        })
    })
}

fn is_safe_link(url: &str) -> bool {
    let scheme = url.split(['/', '?', '#']).next().unwrap_or_default();
    match scheme.split_once(':') {
        Some((scheme, _)) => ["http", "https", "mailto"].contains(&&*scheme.to_ascii_lowercase()),
        None => true,
    }
}

fn render<'a>(events: impl Iterator<Item = Event<'a>>) -> Markup {
    let mut markup = String::new();
    html::push_html(&mut markup, events);
    PreEscaped(markup)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        markdown(text, HeadingLevel::H4).into_string()
    }

    #[test]
    fn html_and_unsafe_links_are_text() {
        for (text, expected) in [
            ("a <b>&", "<p>a &lt;b&gt;&amp;</p>\n"),
            ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
            ("[x](javascript:alert(1))", "<p>x</p>\n"),
            ("[x](JavaScript:alert)", "<p>x</p>\n"),
            ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>\n"),
            ("[x](data:text/html,y)", "<p>x</p>\n"),
            ("![x](https://a.example/i.png)", "<p>x</p>\n"),
            ("# a\n### b", "<h4>a</h4>\n<h4>b</h4>\n"),
            ("[x](#errors)", "<p><a href=\"#errors\">x</a></p>\n"),
            ("[x](/a:b)", "<p><a href=\"/a:b\">x</a></p>\n"),
            ("[x](?a:b)", "<p><a href=\"?a:b\">x</a></p>\n"),
            ("[x](#a:b)", "<p><a href=\"#a:b\">x</a></p>\n"),
            (
                "[x](https://a.example/?a=\"b\")",
                "<p><a href=\"https://a.example/?a=%22b%22\">x</a></p>\n",
            ),
            (
                "```a\"b\n<i>\n```",
                "<div class=\"code copyable\"><pre tabindex=\"0\"><code>&lt;i&gt;\n</code></pre></div>\n",
            ),
        ] {
            assert_eq!(rendered(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_split_at_headings_outside_of_code() {
        let parts = sections("intro\n## One\nfirst\n```\n## code\n```\n## Two\n");
        let titles: Vec<_> = parts.iter().map(|(title, _)| &**title).collect();
        assert_eq!(titles, ["", "One", "Two"]);
        assert!(parts[1].1.contains("## code"));
    }

    #[test]
    fn codes_in_tables_have_anchors_once() {
        let mut codes = BTreeSet::from(["a_b", "c"]);
        let text = "`a_b`\n\n| x |\n|---|\n| `a_b` |\n| `a_b` |\n";
        let html = markdown_with_anchors(text, &mut codes, "http://x").into_string();
        assert_eq!(html.matches("id=\"error-a_b\"").count(), 1);
        assert_eq!(codes, BTreeSet::from(["c"]));
    }

    #[test]
    fn the_base_url_is_marked_in_code_blocks_only() {
        let text = "http://x\n\n```\ncurl 'http://x/<a>'\n```\nhttp://x\n";
        let html = markdown_with_anchors(text, &mut BTreeSet::new(), "http://x").into_string();
        let marked = "curl '<span class=\"base\">http://x</span>/&lt;a&gt;'\n";
        assert!(html.contains(marked), "{html}");
        assert_eq!(html.matches("<span").count(), 1, "{html}");
    }
}
