//! Renders posts: CommonMark with the tables, strikethrough and bare links of GitHub Flavored Markdown. HTML in the
//! source is escaped, and links to scripts are removed.

use std::sync::{Arc, LazyLock};

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, markdown_to_html, parse_document};

static OPTIONS: LazyLock<Options<'static>> = LazyLock::new(|| {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.image_url_rewriter = Some(Arc::new(remove_data_url));
    options.extension.link_url_rewriter = Some(Arc::new(remove_data_url));
    options.render.escape = true;
    options
});

/// Removes `data:` addresses, which the renderer permits for some images.
fn remove_data_url(address: &str) -> String {
    let scheme = address.get(.."data:".len()).unwrap_or_default();
    let is_data = scheme.eq_ignore_ascii_case("data:");
    if is_data {
        String::new()
    } else {
        address.into()
    }
}

/// Maximum length of a post's HTML as a multiple of its source, in addition to [`MIN_LENGTH_LIMIT`].
const MAX_LENGTH_FACTOR: usize = 8;

/// Length in bytes that the HTML of every post may have.
const MIN_LENGTH_LIMIT: usize = 4096;

/// Renders safe HTML. A source whose HTML would be too long (a thousand nested quotes, a table of empty cells) is
/// rendered as a code block.
pub fn render(source: &str) -> String {
    let html = markdown_to_html(source, &OPTIONS);
    if html.len() <= MAX_LENGTH_FACTOR * source.len() + MIN_LENGTH_LIMIT {
        return html;
    }
    let lines = source.lines().map(|line| format!("    {line}\n"));
    markdown_to_html(&lines.collect::<String>(), &OPTIONS)
}

/// Returns the words of the source, without marks and without the addresses of links.
pub fn plain(source: &str) -> String {
    if is_unmarked(source) {
        return source.into();
    }
    parsed(source)
}

fn parsed(source: &str) -> String {
    let arena = Arena::new();
    let nodes = parse_document(&arena, source, &OPTIONS).descendants();
    nodes.map(|node| words(&node.data().value)).collect()
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

fn words(node: &NodeValue) -> String {
    match node {
        NodeValue::Text(text) => text.to_string(),
        NodeValue::Code(code) => code.literal.clone(),
        NodeValue::CodeBlock(code) => format!(" {}", code.literal),
        NodeValue::HtmlInline(text) => text.clone(),
        NodeValue::HtmlBlock(html) => format!(" {}", html.literal),
        NodeValue::SoftBreak | NodeValue::LineBreak => " ".into(),
        node if node.block() => " ".into(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{parsed, plain, render};

    #[test]
    fn markdown_is_rendered_as_html() {
        for (source, html) in [
            ("*tea*", "<p><em>tea</em></p>\n"),
            ("~~black~~", "<p><del>black</del></p>\n"),
            (
                "see https://example.org",
                "<p>see <a href=\"https://example.org\">https://example.org</a></p>\n",
            ),
            ("1 < 2", "<p>1 &lt; 2</p>\n"),
        ] {
            assert_eq!(render(source), html);
        }
        assert!(render("| a |\n|---|\n| b |").contains("<table>"));
    }

    #[test]
    fn a_source_with_too_long_html_is_shown_as_code() {
        let row = |cell: &str| format!("{}|\n", format!("|{cell}").repeat(2000));
        let table = [row("a"), row("-"), "|x|\n".repeat(3000)].concat();
        for source in [">".repeat(20_000), table] {
            let html = render(&source);
            assert!(html.starts_with("<pre><code>"));
            assert!(html.len() <= 8 * source.len() + 4096);
        }
        assert!(render("> > > deep").contains("<blockquote>"));
        assert!(render(&"<".repeat(3000)).starts_with("<p>"));
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
            let html = render(source);
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
            "- ".repeat(10_000),
        ] {
            assert!(!render(&source).is_empty());
        }
    }
}
