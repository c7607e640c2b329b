//! Renders posts: CommonMark with the tables, strikethrough and bare links of GitHub Flavored Markdown. HTML in the
//! source is escaped. The addresses of links and images are relative or have the scheme `http`, `https` or `mailto`.
//! Headings begin at the third level, because a page has the title of the thread above.

use std::borrow::Cow;
use std::ops::Range;

use forum_api::host::{BoardError, BoardResult, OrInternal};
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
    TextMergeStream, html,
};
use tokio::task::spawn_blocking;

use crate::board::texts::{Texts, fill};

/// Maximum length of a post's HTML as a multiple of its source, in addition to [`MIN_LENGTH_LIMIT`].
const MAX_LENGTH_FACTOR: usize = 8;

/// Length in bytes that the HTML of every post may have.
const MIN_LENGTH_LIMIT: usize = 4096;

/// Maximum number of cells in the tables of a source. A source with more cells is rendered without tables.
const MAX_CELLS: usize = 10_000;

/// HTML of a body that a member has sent. It is rendered on a blocking thread before the transaction that stores it,
/// because rendering can take longer than the transaction.
#[derive(Clone, Debug)]
pub struct BodyHtml {
    /// `None` if the body is too long to be rendered.
    html: Option<String>,
    max_length: i64,
}

impl BodyHtml {
    /// Renders a body of at most `max_length` characters.
    pub async fn render(body: &str, max_length: i64) -> BoardResult<Self> {
        let mut html = None;
        if body.chars().nth(max_length as usize).is_none() {
            let body = body.to_owned();
            html = Some(spawn_blocking(move || render_blocking(&body)).await.or_internal()?);
        }
        Ok(Self { html, max_length })
    }

    /// Returns the HTML.
    ///
    /// # Errors
    /// If the body is too long.
    pub fn as_str(&self, texts: &Texts) -> BoardResult<&str> {
        let too_long = || {
            let text = fill(texts.body_too_long, self.max_length);
            BoardError::validation("body", text).with_reason("too_long")
        };
        self.html.as_deref().ok_or_else(too_long)
    }
}

/// Renders safe HTML. A source whose HTML would be too long (a thousand nested quotes) is rendered as a code block, and
/// tables with too many cells are rendered as text.
pub fn render_blocking(source: &str) -> String {
    let html = render_source(source);
    if html.len() <= MAX_LENGTH_FACTOR * source.len() + MIN_LENGTH_LIMIT {
        return html;
    }
    let lines = source_lines(source).map(|line| format!("    {line}\n"));
    render_source(&lines.collect::<String>())
}

/// Returns the lines of a source. In Markdown, a carriage return without line feed ends a line as well.
fn source_lines(source: &str) -> impl Iterator<Item = &str> {
    source.lines().flat_map(|line| line.split('\r'))
}

fn render_source(source: &str) -> String {
    let mut html = String::new();
    let source = delimit_addresses(source);
    match &source {
        Cow::Borrowed(source) => html::push_html(&mut html, safe(events(source))),
        Cow::Owned(source) => {
            let events = events(source).map(with_restored_address);
            html::push_html(&mut html, link_addresses(safe(events)));
            html = restore(&html);
        }
    }
    // Content security policies can forbid styles. `<` is escaped in texts.
    let replacements = [
        ("<th style=\"text-align: ", "<th align=\""),
        ("<td style=\"text-align: ", "<td align=\""),
        ("<a href=", "<a rel=\"nofollow ugc noopener\" href="),
    ];
    replacements.into_iter().fold(html, |html, (from, to)| html.replace(from, to))
}

/// Parses a source, without tables if they can have more than [`MAX_CELLS`] cells. Each row of a table has as many
/// cells as the header, so that a short source can have a million.
fn parser(source: &str) -> Parser<'_> {
    let mut options = Options::ENABLE_STRIKETHROUGH;
    options.set(Options::ENABLE_TABLES, max_cells(source) <= MAX_CELLS);
    Parser::new_ext(source, options)
}

fn events(source: &str) -> impl Iterator<Item = Event<'_>> {
    TextMergeStream::new(parser(source))
}

/// Turns HTML into text, lowers headings by two levels, and removes images and links with unsafe addresses, but not
/// their texts.
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
            Event::Start(Tag::Heading { level, id, classes, attrs }) => {
                Event::Start(Tag::Heading { level: lower(level), id, classes, attrs })
            }
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let class = CowStr::from(language(&info).to_owned());
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(class)))
            }
            event => event,
        })
}

const fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Returns the language at the beginning of the info string of a code block, which becomes a class. Other characters would
/// end the name, and begin a class that the author chooses.
fn language(info: &str) -> &str {
    let is_part = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '#' | '.' | '_' | '-')
    };
    let end = info.find(|letter| !is_part(letter)).unwrap_or(info.len());
    info.get(..end).unwrap_or_default()
}

/// Returns `true` if an address is relative or has the scheme `http`, `https` or `mailto`.
fn is_safe_address(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.split_once(':').is_none_or(|(scheme, _)| {
        let is_outside_of_schemes =
            |letter: char| letter.is_ascii_punctuation() && !"+-.".contains(letter);
        scheme.contains(is_outside_of_schemes)
            || ["http", "https", "mailto"].contains(&&*scheme.to_ascii_lowercase())
    })
}

/// Characters before and after a bare address in a source for the parser, and the characters that replace marks in it.
/// Unicode reserves these noncharacters for the use within a program.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';
const REPLACEMENTS: [(char, char); 5] =
    [('*', '\u{fdd2}'), ('_', '\u{fdd3}'), ('~', '\u{fdd4}'), ('[', '\u{fdd5}'), (']', '\u{fdd6}')];

/// Delimits the bare addresses of a source and replaces the marks in them, so that the parser finds no markup in them.
/// Addresses in links, images and code do not change.
fn delimit_addresses(source: &str) -> Cow<'_, str> {
    let is_reserved = |letter| (BEGIN..='\u{fdef}').contains(&letter);
    if source.contains(is_reserved) || next_address(source, 0..source.len()).is_none() {
        return source.into();
    }
    let mut delimited = String::new();
    let mut end = 0;
    // Depth in links, images and code, in which addresses are not linked.
    let mut unlinked = 0;
    // Up to the end of the current cell, if the event is in a table: an address does not contain the border of a cell.
    let mut source_of_cell = source;
    for (event, range) in parser(source).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => unlinked += 1,
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) => unlinked -= 1,
            Event::Start(Tag::TableCell) => {
                source_of_cell = source.get(..range.end).unwrap_or(source)
            }
            Event::End(TagEnd::TableCell) => source_of_cell = source,
            Event::Text(_) | Event::Html(_) | Event::InlineHtml(_) if unlinked == 0 => {
                while let Some(address) =
                    next_address(source_of_cell, end.max(range.start)..range.end)
                {
                    delimited.push_str(source.get(end..address.start).unwrap_or_default());
                    delimited.push(BEGIN);
                    end = address.end;
                    push_without_marks(&mut delimited, source.get(address).unwrap_or_default());
                    delimited.push(END);
                }
            }
            _ => {}
        }
    }
    delimited.push_str(source.get(end..).unwrap_or_default());
    delimited.into()
}

/// Adds an address with replaced marks. An escaped mark does not change.
fn push_without_marks(text: &mut String, address: &str) {
    let mut is_escaped = false;
    for letter in address.chars() {
        let replacement = REPLACEMENTS.iter().find(|(mark, _)| *mark == letter);
        text.push(match replacement {
            Some((_, replacement)) if !is_escaped => *replacement,
            _ => letter,
        });
        is_escaped = letter == '\\' && !is_escaped;
    }
}

/// Removes the delimiters of addresses, and restores their marks.
fn restore(text: &str) -> String {
    let letters = text.chars().filter(|letter| ![BEGIN, END].contains(letter));
    let restored = letters.map(|letter| {
        let found = REPLACEMENTS.iter().find(|(_, replacement)| *replacement == letter);
        found.map_or(letter, |(mark, _)| *mark)
    });
    restored.collect()
}

/// Restores the address of a link or an image. It can be a bare address that is the address of a link only after the marks
/// of another one are replaced.
fn with_restored_address(mut event: Event<'_>) -> Event<'_> {
    if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = &mut event {
        *dest_url = restore(dest_url).into();
    }
    event
}

/// Turns delimited addresses into links, except in links and images: those can surround a delimited address that contained
/// a link.
fn link_addresses<'a>(events: impl Iterator<Item = Event<'a>>) -> impl Iterator<Item = Event<'a>> {
    let mut unlinked = 0;
    events.flat_map(move |event| {
        match &event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => unlinked += 1,
            Event::End(TagEnd::Link | TagEnd::Image) => unlinked -= 1,
            Event::Text(text) if unlinked == 0 && text.contains(BEGIN) => return links(text),
            _ => {}
        }
        vec![event]
    })
}

/// Splits a text into links and the texts between them.
fn links<'a>(text: &str) -> Vec<Event<'a>> {
    let mut parts = text.split(BEGIN);
    let before = parts.next().unwrap_or_default();
    let mut events = vec![Event::Text(before.to_owned().into())];
    for part in parts {
        let (address, after) = part.split_once(END).unwrap_or((part, ""));
        events.extend(link(&restore(address)));
        events.push(Event::Text(after.to_owned().into()));
    }
    events
}

/// Returns a link to an address, with the address as its text.
fn link<'a>(address: &str) -> [Event<'a>; 3] {
    let scheme = if scheme_length(address) > 0 {
        ""
    } else if begins_with(address, "www.") {
        "http://"
    } else {
        "mailto:"
    };
    let tag = Tag::Link {
        link_type: LinkType::Autolink,
        dest_url: format!("{scheme}{address}").into(),
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    };
    let end = Event::End(tag.to_end());
    let text = Event::Text(address.to_owned().into());
    [Event::Start(tag), text, end]
}

/// Returns the first bare address that begins in a range of a text.
fn next_address(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let mut starts =
        text.get(range.clone())?.char_indices().map(|(offset, _)| range.start + offset);
    starts.find_map(|start| {
        let (before, rest) = text.split_at_checked(start)?;
        let address = first_address(before, rest)?;
        Some(start..start + address.len())
    })
}

/// Returns the address at the beginning of a text: one with `http://`, `https://` or `www.`, or an e-mail address, as in
/// GitHub Flavored Markdown. Further, it ends before a quotation mark and before the punctuation of Chinese and Japanese,
/// and a mark after it belongs to it if the same mark is in it.
fn first_address<'a>(before: &str, text: &'a str) -> Option<&'a str> {
    let letter_before = before.chars().next_back();
    let is_after = |is_allowed: fn(char) -> bool| letter_before.is_none_or(is_allowed);
    let scheme_len = scheme_length(text);
    let is_address = if scheme_len > 0 {
        is_after(|before| !before.is_ascii_alphanumeric())
            && domain(text.get(scheme_len..)?).is_some()
    } else {
        let can_be_before =
            |before: char| !before.is_ascii() || before.is_whitespace() || "*_~(".contains(before);
        begins_with(text, "www.") && is_after(can_be_before) && domain(text)?.contains('.')
    };
    if is_address {
        let end = text.find(is_after_address).unwrap_or(text.len());
        return Some(without_punctuation(text.get(..end)?, letter_before));
    }
    email(before, text)
}

/// Returns the length of `http://` or `https://` at the beginning of a text.
fn scheme_length(text: &str) -> usize {
    let schemes = ["http://", "https://"];
    schemes.into_iter().find(|scheme| begins_with(text, scheme)).map_or(0, str::len)
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix))
}

/// Maximum length of a domain in characters.
const MAX_DOMAIN_LENGTH: usize = 253;

/// Returns the domain at the beginning of a text. Its last two labels have no underscore.
fn domain(text: &str) -> Option<&str> {
    let is_end = |letter: char| {
        letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-_.".contains(letter)
            || is_after_address(letter)
    };
    let end = text.char_indices().nth(MAX_DOMAIN_LENGTH);
    let text = text.get(..end.map_or(text.len(), |(end, _)| end))?;
    let name = text.split(is_end).next()?.trim_end_matches('.');
    let mut last_labels = name.rsplit('.').take(2);
    let is_valid =
        last_labels.all(|label| !label.contains('_')) && name.contains(char::is_alphanumeric);
    is_valid.then_some(name)
}

/// Returns whether an address ends before a character.
fn is_after_address(letter: char) -> bool {
    match letter {
        '<' | '>' | '"' | '`' | '«' | '»' | '—' | '…' | '\u{2018}'..='\u{201f}' | '‹' | '›' => {
            true
        }
        '\u{3000}'..='\u{303f}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff65}' => !letter.is_alphanumeric(),
        letter => letter.is_whitespace() || letter.is_control(),
    }
}

/// Removes the punctuation after an address: also a bracket that is not opened in it, an entity, and a mark.
fn without_punctuation(mut address: &str, before: Option<char>) -> &str {
    let count = |letter: char| address.matches(letter).count();
    let mut unopened = [('(', ')'), ('[', ']')]
        .map(|(open, close)| (close, count(close).saturating_sub(count(open))));
    while let Some(last) = address.chars().next_back() {
        let rest = address.strip_suffix(last).unwrap_or_default();
        let bracket = unopened.iter_mut().find(|(close, count)| *close == last && *count > 0);
        address = match last {
            '?' | '!' | '.' | ',' | ':' | '\'' | '\\' => rest,
            ';' => {
                let entity = rest.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
                entity.strip_suffix('&').unwrap_or(rest)
            }
            '*' | '_' | '~' => {
                let rest = rest.trim_end_matches(last);
                if rest.contains(last) && before != Some(last) {
                    return address;
                }
                rest
            }
            _ => match bracket {
                Some((_, count)) => {
                    *count -= 1;
                    rest
                }
                None => return address,
            },
        };
    }
    address
}

const fn is_in_mailbox(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '+' | '-' | '_')
}

/// Returns the e-mail address at the beginning of a text. Underscores around it are marks.
fn email<'a>(before: &str, text: &'a str) -> Option<&'a str> {
    if !text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) {
        return None;
    }
    let unmarked = before.trim_end_matches('_');
    if unmarked.ends_with(is_in_mailbox) {
        return None;
    }
    let (mailbox, rest) = text.split_at(text.find(|letter| !is_in_mailbox(letter))?);
    let after_at = rest.strip_prefix('@')?;
    let end = after_at.find(|letter| !is_in_mailbox(letter) || letter == '+');
    let mut host = after_at.get(..end.unwrap_or(after_at.len()))?.trim_end_matches('.');
    if unmarked.len() < before.len() {
        host = host.trim_end_matches('_');
    }
    let is_valid = host.contains('.') && !host.ends_with(['-', '_']);
    text.get(..mailbox.len() + 1 + host.len()).filter(|_| is_valid)
}

/// Returns an upper bound of the number of cells. A table ends before a blank line. The number of its columns exceeds
/// the number of bars in one of its lines by at most one.
fn max_cells(source: &str) -> usize {
    let mut cells = 0;
    let mut lines = 0;
    let mut columns = 0;
    for line in source_lines(source) {
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
    let source = delimit_addresses(source);
    let text: String = events(&source).map(words).map(CowStr::into_string).collect();
    restore(&text)
}

/// Returns whether parsing would change only white space: the source has no character with a meaning in Markdown, and
/// no line that can be an item of a list.
fn is_unmarked(source: &str) -> bool {
    let is_plain = |letter: char| match letter {
        '\u{feff}' => false,
        ' ' | '\n' | '.' | ',' | ';' | '?' | '!' | '\'' | '"' | '(' | ')' | '%' => true,
        letter => letter.is_ascii_alphanumeric() || !letter.is_ascii(),
    };
    let is_item = |line: &str| line.trim_start().starts_with(|first: char| first.is_ascii_digit());
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

    use super::{events, is_safe_address, parsed, plain, render_blocking};

    #[test]
    fn markdown_is_rendered_as_html() {
        for (source, html) in [
            ("*tea*", "<p><em>tea</em></p>\n"),
            ("~~black~~", "<p><del>black</del></p>\n"),
            ("# Tea\n\n##### Cup", "<h3>Tea</h3>\n<h6>Cup</h6>\n"),
            ("## a\n\n### b\n\n#### c", "<h4>a</h4>\n<h5>b</h5>\n<h6>c</h6>\n"),
            ("[tea](javascript:x) ![cup](javascript:y)", "<p>tea cup</p>\n"),
            (
                "[![tea](javascript:x)](cup)",
                "<p><a rel=\"nofollow ugc noopener\" href=\"cup\">tea</a></p>\n",
            ),
            // The characters that replace marks in bare addresses.
            ("\u{fdd2} https://a.b", "<p>\u{fdd2} https://a.b</p>\n"),
            (
                "| a |\n|--:|\n| b |",
                "<table><thead><tr><th align=\"right\">a</th></tr></thead><tbody>\n<tr><td align=\"right\">b</td></tr>\n</tbody></table>\n",
            ),
            (
                "[tea](cup \"x\") ![](cup)",
                "<p><a rel=\"nofollow ugc noopener\" href=\"cup\" title=\"x\">tea</a> <img src=\"cup\" alt=\"\" /></p>\n",
            ),
            ("1 < 2", "<p>1 &lt; 2</p>\n"),
        ] {
            assert_eq!(render_blocking(source), html);
        }
    }

    /// A source and its HTML in each line. `⏎` is a line break, and `{address text}` a link.
    const BARE_ADDRESSES: &str = include_str!("bare_addresses.txt");

    #[test]
    fn bare_addresses_are_links_outside_of_links_and_code() {
        for line in BARE_ADDRESSES.lines() {
            let (source, expected) = line.split_once(" => ").unwrap();
            let html = render_blocking(&source.replace('⏎', "\n"))
                .replace("<a rel=\"nofollow ugc noopener\" href=\"", "{")
                .replace("\">", " ")
                .replace("</a>", "}")
                .trim_end()
                .replace('\n', "⏎");
            let inner = html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>"));
            assert_eq!(inner.unwrap_or(&html), expected, "{source}");
        }
        let table = render_blocking("| a |\n|---|\n| https://a.b/_c_|");
        assert!(table.contains(">https://a.b/_c_</a></td>"), "{table}");
    }

    #[test]
    fn the_address_of_a_link_has_a_safe_scheme_or_no_scheme() {
        for (address, is_safe) in [
            ("foo):", true),
            ("a/b:c", true),
            ("MAILTO:ann@tea.example", true),
            ("javascript:x", false),
            ("java\tscript:x", false),
            ("x-y+z.1:", false),
        ] {
            assert_eq!(is_safe_address(address), is_safe, "{address:?}");
        }
    }

    #[test]
    fn a_source_with_too_long_html_is_shown_as_code() {
        let quotes = ">".repeat(20_000);
        for before in ["", "\r", "tea\r", "tea\r\r", "tea\r\n"] {
            let source = format!("{before}{quotes}");
            let html = render_blocking(&source);
            assert!(html.starts_with("<pre><code>"), "{before:?}");
            assert!(html.len() <= 8 * source.len() + 4096, "{before:?}");
        }
        assert!(render_blocking("> > > deep").contains("<blockquote>"));
        assert!(render_blocking(&"<".repeat(3000)).starts_with("<p>"));
    }

    #[test]
    fn the_class_of_a_code_block_is_a_language() {
        for (info, expected) in [
            ("rust", " class=\"language-rust\""),
            ("c++ x", " class=\"language-c++\""),
            ("objective-c_2.0#", " class=\"language-objective-c_2.0#\""),
            ("rust,ignore", " class=\"language-rust\""),
            ("x\u{c}position-fixed\u{c}vw-100", " class=\"language-x\""),
            ("x\tfixed", " class=\"language-x\""),
            ("x&Tab;fixed", " class=\"language-x\""),
            ("x&#10;fixed", " class=\"language-x\""),
            ("x\u{a0}fixed", " class=\"language-x\""),
            ("{.python}", ""),
            ("日本", ""),
            ("", ""),
        ] {
            let html = render_blocking(&format!("```{info}\ncode\n```\nhttps://a.example"));
            let block = format!("<pre><code{expected}>code\n</code></pre>");
            assert!(html.contains(&block), "{info:?}: {html}");
        }
    }

    /// The cost of rendering is proportional to the number of events.
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
        let rows = format!("{}\n", "|b".repeat(90)).repeat(40);
        let full = ["|a".repeat(90), "|-".repeat(90), rows].join("\n");
        for source in [full, "|a|\n|-|\n|b|\n\n".repeat(400)] {
            assert!(render_blocking(&source).contains("<td>b</td>"));
        }
    }

    #[test]
    fn plain_text_omits_marks_and_link_addresses() {
        for (source, expected) in [
            ("*tea* and **cake**", "tea and cake"),
            ("t*e*a t**e**a t[e](x)a t![e](x)a", "tea tea tea tea"),
            ("*tea*  \ncup", "tea cup"),
            ("<div>\ntea\n</div>", "<div> tea </div>"),
            ("# Tea\n\n- green\n- black", "Tea green black"),
            ("[here](https://tea.example \"tip\") `a * b`", "here a * b"),
            ("![a cup](cup.png)\nnext", "a cup next"),
            ("~~~ rust\nlet tea;\n~~~", "let tea;"),
            ("<b>tea</b>", "<b>tea</b>"),
            ("see https://a.b/__init__.py", "see https://a.b/__init__.py"),
        ] {
            let text = plain(source);
            let words: Vec<_> = text.split_whitespace().collect();
            assert_eq!(words.join(" "), expected);
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
    fn deep_nesting_and_long_runs_are_rendered() {
        for source in [
            ">".repeat(20_000),
            "[".repeat(20_000),
            "*a_".repeat(6_000),
            "a.:".repeat(6_000),
            "https://a.b/*_".repeat(6_000),
            "https://a.b/".to_owned() + &"*.".repeat(100_000),
            "https://a.b/".to_owned() + &")]".repeat(100_000),
            "a@".repeat(100_000),
            "www.a_".repeat(100_000),
            "éwww.".repeat(100_000) + "_",
            "a.".repeat(100_000),
            "_".repeat(100_000) + "a",
            "- ".repeat(10_000),
        ] {
            assert!(!render_blocking(&source).is_empty());
        }
    }
}
