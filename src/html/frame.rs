//! The frame of a page: name, icon, accent colour and links of a board.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::build_error::BuildError;

/// Accent colour of the theme in light mode.
const DEFAULT_COLOR: &str = "#1f55b5";

/// Shades of an accent colour. In `accent.css` the colour is [`DEFAULT_COLOR`].
const ACCENT_STYLE: &str = include_str!("accent.css");

/// Name, colour and URLs of a board. The header omits empty ones.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) board_name: &'a str,
    /// [`check_accent_color`] accepts it.
    pub(crate) accent_color: &'a str,
    pub(crate) board_url: &'a str,
    pub(crate) reference_url: &'a str,
    pub(crate) panel_url: &'a str,
}

impl Frame<'_> {
    /// Returns `true` if the board has a name or another page.
    #[cfg(feature = "reference")]
    pub(crate) fn is_given(&self) -> bool {
        let fields = [self.board_name, self.board_url, self.panel_url];
        fields.iter().any(|field| !field.is_empty())
    }

    /// Renders the first row of a header. `current` is the text of the link to the page, or another name of the page,
    /// `end` follows the links.
    pub(crate) fn header(&self, current: &str, end: Markup) -> Markup {
        let links = [
            ("Board", self.board_url),
            ("API reference", self.reference_url),
            ("Panel", self.panel_url),
        ];
        let mut pages = links.iter().filter(|(_, url)| !url.is_empty());
        let start = pages.clone().next().map_or("", |(_, url)| url);
        let name = if self.board_name.is_empty() { current } else { self.board_name };
        html! {
            div.frame {
                a.board href=(start) title=(name) {
                    span.icon aria-hidden="true" { (letter(name)) }
                    span.name { (name) }
                }
                // Not `nav`, whose style is that of the areas or of the contents of a page.
                div.pages role="navigation" aria-label="Pages" {
                    @for (text, url) in pages.by_ref() {
                        a href=(url) aria-current=[(*text == current).then_some("true")] { (text) }
                    }
                }
                (end)
            }
        }
    }

    /// Returns the `data:` URL of the icon: the first letter of the name on the accent colour.
    pub(crate) fn icon_url(&self) -> String {
        let color = match self.accent_color {
            "" => DEFAULT_COLOR,
            color => color,
        };
        let ink = if luma(color) > 150 { "#000" } else { "#fff" };
        let image = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" {
                rect width="32" height="32" rx="7" fill=(color) {}
                text x="16" y="23" font-family="sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill=(ink) {
                    (letter(self.board_name))
                }
            }
        };
        let svg = image.into_string();
        format!("data:image/svg+xml,{}", utf8_percent_encode(&svg, NON_ALPHANUMERIC))
    }

    /// Returns the style sheet of the accent colour.
    pub(crate) fn accent_style(&self) -> String {
        match self.accent_color {
            "" => String::new(),
            color => ACCENT_STYLE.replace(DEFAULT_COLOR, color),
        }
    }
}

/// Returns the path of a page that is mounted at a base path, which is empty at the root of the host.
pub(crate) fn page_path(base_path: &str) -> &str {
    match base_path {
        "" => "/",
        path => path,
    }
}

/// Requires a colour as `#rrggbb`, or an empty text for the colour of the theme.
pub(crate) fn check_accent_color(color: &str) -> Result<(), BuildError> {
    let is_hex =
        |digits: &str| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let is_valid = color.is_empty() || color.strip_prefix('#').is_some_and(is_hex);
    let expected = "a colour such as `#1f55b5`, or an empty text";
    BuildError::require(is_valid, "accent_color", expected)
}

/// Requires an absolute URL or a path from the root of the host, or an empty text.
pub(crate) fn check_page_url(setting: &'static str, url: &str) -> Result<(), BuildError> {
    let is_path = url.starts_with('/') && !url.starts_with("//");
    let is_valid = url.is_empty() || is_path || is_http_url(url);
    let expected = "an absolute URL, a path such as `/docs`, or an empty text";
    BuildError::require(is_valid, setting, expected)
}

pub(crate) fn is_http_url(url: &str) -> bool {
    let uri = url.parse::<http::Uri>().ok();
    let scheme = uri.as_ref().and_then(http::Uri::scheme_str);
    matches!(scheme, Some("http" | "https"))
}

/// Returns the first letter of a name in upper case.
fn letter(name: &str) -> String {
    let first = name.trim_start().chars().next().unwrap_or('F');
    first.to_uppercase().collect()
}

/// Returns the brightness of a colour as `#rrggbb`, 0 to 255.
fn luma(color: &str) -> u32 {
    let digits = color.trim_start_matches('#');
    let number = u32::from_str_radix(digits, 16).unwrap_or_default();
    let [_, red, green, blue] = number.to_be_bytes().map(u32::from);
    (red * 299 + green * 587 + blue * 114) / 1000
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;

    use super::*;

    const TEA: Frame<'_> = Frame {
        board_name: "tea & co",
        accent_color: "#c2410c",
        board_url: "/tea",
        reference_url: "",
        panel_url: "/panel",
    };

    const PLAIN: Frame<'_> = Frame {
        board_name: "",
        accent_color: "",
        board_url: "",
        reference_url: "/docs",
        panel_url: "/panel",
    };

    #[test]
    fn the_header_has_the_name_and_the_given_pages() {
        let end = || html! { p { "end" } };
        let named = concat!(
            r#"<div class="frame"><a class="board" href="/tea" title="tea &amp; co">"#,
            r#"<span class="icon" aria-hidden="true">T</span>"#,
            r#"<span class="name">tea &amp; co</span></a>"#,
            r#"<div class="pages" role="navigation" aria-label="Pages"><a href="/tea">Board</a>"#,
            r#"<a href="/panel" aria-current="true">Panel</a></div><p>end</p></div>"#,
        );
        assert_eq!(TEA.header("Panel", end()).into_string(), named);
        let plain = concat!(
            r#"<div class="frame"><a class="board" href="/docs" title="Sign in">"#,
            r#"<span class="icon" aria-hidden="true">S</span>"#,
            r#"<span class="name">Sign in</span></a>"#,
            r#"<div class="pages" role="navigation" aria-label="Pages">"#,
            r#"<a href="/docs">API reference</a><a href="/panel">Panel</a></div><p>end</p></div>"#,
        );
        assert_eq!(PLAIN.header("Sign in", end()).into_string(), plain);
    }

    #[test]
    fn the_icon_is_the_first_letter_on_the_accent_colour() {
        let icon = |name, color| {
            let url = Frame { board_name: name, accent_color: color, ..PLAIN }.icon_url();
            let image = url.strip_prefix("data:image/svg+xml,").unwrap();
            assert!(!image.contains(['#', '<', '"', ' ']), "{image}");
            percent_decode_str(image).decode_utf8().unwrap().into_owned()
        };
        let svg = |color, ink, letter| {
            format!(
                concat!(
                    r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">"#,
                    r#"<rect width="32" height="32" rx="7" fill="{}"></rect>"#,
                    r#"<text x="16" y="23" font-family="sans-serif" font-size="20" "#,
                    r#"font-weight="700" text-anchor="middle" fill="{}">{}</text></svg>"#,
                ),
                color, ink, letter
            )
        };
        assert_eq!(icon(" élan", ""), svg("#1f55b5", "#fff", "É"));
        assert_eq!(icon("", "#969696"), svg("#969696", "#fff", "F"));
        assert_eq!(icon("<", "#979797"), svg("#979797", "#000", "&lt;"));
        let brightness = ["#ff0000", "#00ff00", "#0000ff", "#ffffff"].map(luma);
        assert_eq!(brightness, [76, 149, 29, 255]);
    }

    #[test]
    fn colours_and_urls_are_checked() {
        for (color, is_valid) in [
            ("", true),
            ("#1f55b5", true),
            ("#ABCDEF", true),
            ("1f55b5", false),
            ("#1f55b", false),
            ("#1f55b51", false),
            ("#1f55bg", false),
        ] {
            assert_eq!(check_accent_color(color).is_ok(), is_valid, "{color}");
        }
        for (url, is_valid) in [
            ("", true),
            ("/", true),
            ("/docs", true),
            ("http://tea.example", true),
            ("https://tea.example/board", true),
            ("//tea.example", false),
            ("docs", false),
            ("ftp://tea.example", false),
            ("javascript:alert(1)", false),
        ] {
            assert_eq!(check_page_url("board_url", url).is_ok(), is_valid, "{url}");
        }
        assert_eq!(check_page_url("board_url", "docs").unwrap_err().setting(), "board_url");
        assert_eq!(["", "/docs"].map(page_path), ["/", "/docs"]);
        assert_eq!(PLAIN.accent_style(), "");
    }
}
