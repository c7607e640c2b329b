//! Renders posts: CommonMark with the tables, strikethrough and bare links of GitHub Flavored Markdown. HTML in the
//! source is escaped. The addresses of links and images are relative or have the scheme `http`, `https` or `mailto`.

use std::mem;

use forum_api::host::{BoardError, BoardResult, OrInternal};
use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{
    CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};
use tokio::task::spawn_blocking;

use crate::board::texts::{Texts, fill};

/// Maximum length of a post's HTML as a multiple of its source, in addition to [`MIN_LENGTH_LIMIT`].
const MAX_LENGTH_FACTOR: usize = 8;

/// Length in bytes that the HTML of every post may have.
const MIN_LENGTH_LIMIT: usize = 4096;

/// Maximum number of cells in the tables of a source. A source with more cells is rendered without tables.
const MAX_CELLS: usize = 10_000;

/// Scheme of bare addresses that begin with `www.`.
const SCHEME_OF_WWW: &str = "http://";

/// HTML of a body that a member has sent. It is rendered on a blocking thread before the transaction that stores it,
/// because rendering can take longer than the transaction.
#[derive(Clone, Debug)]
pub struct BodyHtml {
    /// `None` if the body is too long to be rendered.
    html: Option<String>,
    max_length: u32,
}

impl BodyHtml {
    /// Renders a body of at most `max_length` characters.
    pub async fn render(body: &str, max_length: u32) -> BoardResult<Self> {
        let is_short = body.chars().nth(max_length as usize).is_none();
        let html = match is_short.then(|| body.to_owned()) {
            Some(body) => Some(
                spawn_blocking(move || render_blocking(&body))
                    .await
                    .or_internal()?,
            ),
            None => None,
        };
        Ok(Self { html, max_length })
    }

    /// # Errors
    /// If the body is too long.
    pub fn as_str(&self, texts: &Texts) -> BoardResult<&str> {
        let too_long =
            || BoardError::validation("body", fill(texts.body_too_long, self.max_length));
        self.html.as_deref().ok_or_else(too_long)
    }
}

/// Renders safe HTML. A source whose HTML would be too long (a thousand nested quotes) is rendered as a code block, and
/// tables with too many cells are rendered as text.
pub fn render_blocking(source: &str) -> String {
    let html = rendered(source);
    if html.len() <= MAX_LENGTH_FACTOR * source.len() + MIN_LENGTH_LIMIT {
        return html;
    }
    let lines = source.lines().map(|line| format!("    {line}\n"));
    rendered(&lines.collect::<String>())
}

fn rendered(source: &str) -> String {
    let mut html = String::new();
    html::push_html(&mut html, linked(safe(events(source))));
    // Content security policies can forbid styles. `<` is escaped in texts.
    ["th", "td"].into_iter().fold(html, |html, cell| {
        html.replace(
            &format!("<{cell} style=\"text-align: "),
            &format!("<{cell} align=\""),
        )
    })
}

/// Parses a source, without tables if they can have more than [`MAX_CELLS`] cells. Each row of a table has as many
/// cells as the header, so that a short source can have a million.
fn events(source: &str) -> impl Iterator<Item = Event<'_>> {
    let mut options = Options::ENABLE_STRIKETHROUGH;
    options.set(Options::ENABLE_TABLES, max_cells(source) <= MAX_CELLS);
    TextMergeStream::new(Parser::new_ext(source, options))
}

/// Turns HTML into text, and removes images and links with unsafe addresses, but not their texts.
fn safe<'a>(events: impl Iterator<Item = Event<'a>>) -> impl Iterator<Item = Event<'a>> {
    let mut are_safe = Vec::new();
    events
        .filter(move |event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let is_safe = is_safe_address(dest_url);
                are_safe.push(is_safe);
                is_safe
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                are_safe.pop().is_some_and(|is_safe| is_safe)
            }
            _ => true,
        })
        .map(|event| match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            event => event,
        })
}

/// Returns `true` if an address is relative or has the scheme `http`, `https` or `mailto`.
fn is_safe_address(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.split_once(':').is_none_or(|(scheme, _)| {
        ["http", "https", "mailto"].contains(&&*scheme.to_ascii_lowercase())
    })
}

/// Turns bare addresses into links, except in links, images and code.
fn linked<'a>(events: impl Iterator<Item = Event<'a>>) -> impl Iterator<Item = Event<'a>> {
    let mut unlinked = 0;
    events.flat_map(move |event| {
        match &event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => unlinked += 1,
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) => unlinked -= 1,
            Event::Text(text) if unlinked == 0 => return links(text),
            _ => {}
        }
        vec![event]
    })
}

/// Splits a text into links and the texts between them.
fn links<'a>(text: &str) -> Vec<Event<'a>> {
    LinkFinder::new()
        .spans(text)
        .flat_map(|span| {
            let address = span.as_str();
            match span.kind() {
                Some(LinkKind::Email) => link("mailto:", address),
                Some(_) if begins_with(address, "http://") => link("", address),
                Some(_) if begins_with(address, "https://") => link("", address),
                _ => links_without_scheme(address),
            }
        })
        .collect()
}

/// Makes words that begin with `www.` links.
fn links_without_scheme<'a>(text: &str) -> Vec<Event<'a>> {
    let words = text.split_inclusive(|letter: char| letter.is_whitespace() || letter == '(');
    let mut events = Vec::new();
    let mut unlinked = String::new();
    for word in words {
        let (address, rest) = word.split_at(address_len(word));
        if !address.is_empty() {
            events.push(Event::Text(mem::take(&mut unlinked).into()));
            events.extend(link(SCHEME_OF_WWW, address));
        }
        unlinked.push_str(rest);
    }
    events.push(Event::Text(unlinked.into()));
    events
}

/// Returns the length of the address at the beginning of a word; 0 if it does not begin with `www.`.
fn address_len(word: &str) -> usize {
    if !begins_with(word, "www.") {
        return 0;
    }
    let address = format!("{SCHEME_OF_WWW}{word}");
    let found = LinkFinder::new().links(&address).next();
    found.map_or(0, |found| found.end() - SCHEME_OF_WWW.len())
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix))
}

/// Returns a link to the scheme and the address, with the address as its text.
fn link<'a>(scheme: &str, address: &str) -> Vec<Event<'a>> {
    let link = Tag::Link {
        link_type: LinkType::Autolink,
        dest_url: format!("{scheme}{address}").into(),
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    };
    let end = Event::End(link.to_end());
    vec![
        Event::Start(link),
        Event::Text(CowStr::from(address.to_owned())),
        end,
    ]
}

/// Returns an upper bound of the number of cells. A table ends before a blank line. The number of its columns exceeds
/// the number of bars in one of its lines by at most one.
fn max_cells(source: &str) -> usize {
    let mut cells = 0;
    let mut lines = 0;
    let mut columns = 0;
    for line in source.lines().flat_map(|line| line.split('\r')) {
        if line.bytes().all(|byte| b" \t".contains(&byte)) {
            cells += lines * columns;
            (lines, columns) = (0, 0);
        } else {
            let bars = line.bytes().filter(|byte| *byte == b'|').count();
            lines += 1;
            columns = columns.max(if bars > 0 { bars + 1 } else { 0 });
        }
    }
    cells + lines * columns
}

/// Returns the text of the source, without markup and without the addresses of links.
pub fn plain(source: &str) -> String {
    if is_unmarked(source) {
        return source.into();
    }
    parsed(source)
}

fn parsed(source: &str) -> String {
    events(source).map(words).map(CowStr::into_string).collect()
}

/// Returns whether parsing would change only white space: the source has no character with a meaning in Markdown, and
/// no line that can be an item of a list.
fn is_unmarked(source: &str) -> bool {
    let is_plain = |letter: char| match letter {
        '\u{feff}' => false,
        ' ' | '\n' | '.' | ',' | ';' | '?' | '!' | '\'' | '"' | '(' | ')' | '%' => true,
        letter => letter.is_ascii_alphanumeric() || !letter.is_ascii(),
    };
    let is_item = |line: &str| {
        line.trim_start()
            .starts_with(|first: char| first.is_ascii_digit())
    };
    source.chars().all(is_plain) && !source.lines().any(is_item)
}

fn words(event: Event<'_>) -> CowStr<'_> {
    match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => text,
        Event::Start(tag) if is_inline(&tag) => CowStr::Borrowed(""),
        Event::Start(_) | Event::SoftBreak | Event::HardBreak => CowStr::Borrowed(" "),
        _ => CowStr::Borrowed(""),
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{events, parsed, plain, render_blocking};

    #[test]
    fn markdown_is_rendered_as_html() {
        for (source, html) in [
            ("*tea*", "<p><em>tea</em></p>\n"),
            ("~~black~~", "<p><del>black</del></p>\n"),
            (
                "see https://example.org",
                "<p>see <a href=\"https://example.org\">https://example.org</a></p>\n",
            ),
            (
                "(www.tea.example/a_b) `http://code.example`, ann@tea.example.",
                "<p>(<a href=\"http://www.tea.example/a_b\">www.tea.example/a_b</a>) \
                <code>http://code.example</code>, \
                <a href=\"mailto:ann@tea.example\">ann@tea.example</a>.</p>\n",
            ),
            (
                "[a http://b.example](http://c.example) tea.example http.example httpx://tea",
                "<p><a href=\"http://c.example\">a http://b.example</a> tea.example http.example httpx://tea</p>\n",
            ),
            (
                "<ann@tea.example>",
                "<p><a href=\"mailto:ann@tea.example\">ann@tea.example</a></p>\n",
            ),
            ("1 < 2", "<p>1 &lt; 2</p>\n"),
        ] {
            assert_eq!(render_blocking(source), html);
        }
        let table = render_blocking("| a |\n|--:|\n| b |");
        assert!(table.contains("<th align=\"right\">a</th>"), "{table}");
    }

    #[test]
    fn a_source_with_too_long_html_is_shown_as_code() {
        let source = ">".repeat(20_000);
        let html = render_blocking(&source);
        assert!(html.starts_with("<pre><code>"));
        assert!(html.len() <= 8 * source.len() + 4096);
        assert!(render_blocking("> > > deep").contains("<blockquote>"));
        assert!(render_blocking(&"<".repeat(3000)).starts_with("<p>"));
    }

    /// The cost of rendering is proportional to the number of nodes.
    #[test]
    fn tables_of_many_empty_cells_are_text() {
        let table = |columns: usize, rows: usize| {
            let row = |cell: &str| format!("{}|\n", format!("|{cell}").repeat(columns));
            [row("a"), row("-"), "a|\n".repeat(rows)].concat()
        };
        let quoted = |table: String| table.lines().map(|line| format!("> {line}\n")).collect();
        for source in [
            table(1000, 5000),
            table(150, 6000),
            quoted(table(1000, 4000)),
            format!("text\n{}", table(1000, 5000)),
            table(1000, 5000).replace('\n', "\r"),
            table(1000, 5000).replace('\n', "\r\n"),
            table(1000, 100).replace("a|\n", "a|\n\u{3000}\n"),
            [table(1000, 1000), table(9, 3000)].concat(),
            format!("{}\n", table(20, 470)).repeat(12),
        ] {
            let count = events(&source).count();
            assert!(count <= 4 * source.len(), "{count}");
        }
        let full = [
            "|a".repeat(90),
            "|-".repeat(90),
            format!("{}\n", "|b".repeat(90)).repeat(40),
        ]
        .join("\n");
        for source in [full, "|a|\n|-|\n|b|\n\n".repeat(400)] {
            assert!(render_blocking(&source).contains("<td>b</td>"));
        }
    }

    #[test]
    fn plain_text_omits_marks_and_link_addresses() {
        for (source, words) in [
            ("*tea* and **cake**", "tea and cake"),
            ("t*e*a", "tea"),
            ("<div>\ntea\n</div>", "<div> tea </div>"),
            ("# Tea\n\n- green\n- black", "Tea green black"),
            ("[here](https://tea.example \"tip\") `a * b`", "here a * b"),
            ("![a cup](cup.png)\nnext", "a cup next"),
            ("~~~ rust\nlet tea;\n~~~", "let tea;"),
            ("<b>tea</b>", "<b>tea</b>"),
        ] {
            let plain = plain(source);
            assert_eq!(
                plain.split_whitespace().collect::<Vec<_>>().join(" "),
                words
            );
        }
    }

    proptest! {
        #[test]
        fn plain_text_of_an_unmarked_source_equals_the_parsed_text(source in "([a-c0-2w.,;?!'\"()%é…\u{a0}\u{2028}]{0,3}[ \n]{0,5}){1,12}") {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(words(&plain(&source)), words(&parsed(&source)));
        }
    }

    #[test]
    fn unsafe_html_and_links_are_escaped_or_removed() {
        for source in [
            "<script>alert(1)</script>",
            "a <script src=//evil.example></script> b",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)>",
            "<svg><script>alert(1)</script></svg>",
            "<iframe src=\"https://evil.example\"></iframe>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](java&#115;cript:alert(1))",
            "[x](&#x6A;avascript:alert(1))",
            "[x](<javascript:alert(1)>)",
            "[x](vbscript:x)",
            "[x](data:text/html;base64,PHNjcmlwdD4=)",
            "![x](data:image/svg+xml;base64,PHN2Zz4=)",
            "![x](data:image/png;base64,iVBORw0KGgo=)",
            "[x](DATA:image/gif;base64,R0lGODlh)",
            "![x](javascript:alert(1))",
            "<javascript:alert(1)>",
            "[x][y]\n\n[y]: javascript:alert(1)",
            "[x](https://a.example \"\\\" onmouseover=alert(1)\")",
            "`<script>`",
            "```\"><script>\nx\n```",
            "<!-- --><script>alert(1)</script>",
            "| <script> |\n|---|\n| <b onclick=x> |",
        ] {
            let html = render_blocking(source);
            assert_safe(source, &html);
        }
    }

    /// Asserts that the HTML has only tags that Markdown creates, without unsafe attributes.
    fn assert_safe(source: &str, html: &str) {
        const TAGS: [&str; 13] = [
            "p", "a", "em", "img", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "br",
        ];
        for tag in html
            .split('<')
            .skip(1)
            .filter_map(|rest| rest.split('>').next())
        {
            let name = tag
                .trim_start_matches('/')
                .split([' ', '/'])
                .next()
                .unwrap();
            assert!(TAGS.contains(&name), "{source}: {html}");
            let lower = tag.to_lowercase();
            for address in ["href=\"", "src=\""] {
                let target = lower.split(address).nth(1).unwrap_or_default();
                let scheme = ["javascript:", "vbscript:", "data:"];
                assert!(
                    !scheme.iter().any(|scheme| target.starts_with(scheme)),
                    "{source}: {html}"
                );
            }
            assert!(
                !lower.contains(" on") || lower.contains("title=\""),
                "{source}: {html}"
            );
        }
        assert!(!html.contains("\" onmouseover"), "{source}: {html}");
    }

    #[test]
    fn deep_nesting_and_long_runs_are_rendered() {
        for source in [
            ">".repeat(20_000),
            "[".repeat(20_000),
            "*a_".repeat(6_000),
            "a.:".repeat(6_000),
            "- ".repeat(10_000),
        ] {
            assert!(!render_blocking(&source).is_empty());
        }
    }
}
