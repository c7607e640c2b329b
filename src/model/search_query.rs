//! Search queries: words, `"phrases"` and excluded `-words` ([protocol](crate::guide::protocol), section 12.6).

use schemars::json_schema;

use super::Expected;
use super::serde_helpers::inline_schema;
use crate::error::{ParseError, impl_as_str, impl_from_str, impl_serde_str};

/// Maximum length of a query, in characters.
const MAX_LENGTH: usize = 200;

/// Quotation marks that delimit phrases: the straight one and the curly ones, in any width.
const QUOTES: [char; 6] = ['"', '“', '”', '„', '‟', '＂'];

/// Hyphens that exclude a term, in any width.
const HYPHENS: [char; 2] = ['-', '－'];

/// The query `q` of a search: 1 to 200 characters, at least one term that is not excluded, and at most
/// [`MAX_TERMS`](Self::MAX_TERMS) terms.
///
/// Curly quotation marks delimit phrases like straight ones. The board's index decides where words begin and end, and which
/// words are equal. A board that also counts the words of phrases rejects a query with too many words with
/// [`BoardError::InvalidParameter`](crate::host::BoardError::InvalidParameter) and
/// [`EXPECTED_FORMAT`](Self::EXPECTED_FORMAT).
///
/// ```
/// use forum_api::model::SearchQuery;
///
/// let query = SearchQuery::parse(r#"tea "green leaf" -bag"#).unwrap();
/// let terms: Vec<_> = query.terms().iter().map(|term| (&*term.text, term.excluded)).collect();
/// assert_eq!(terms, [("tea", false), ("green leaf", false), ("bag", true)]);
/// assert!(SearchQuery::parse("-bag").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    text: String,
    terms: Vec<SearchTerm>,
}

/// Term of a query: a word, or a phrase of adjacent words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchTerm {
    /// Text of the term without `-` and quotes. It contains at least one letter or digit, and can contain characters that
    /// separate words, such as `-` or `.`.
    pub text: String,
    /// `true` if hits must not contain the term (`-word`).
    pub excluded: bool,
}

impl SearchQuery {
    /// Maximum number of terms.
    pub const MAX_TERMS: usize = 32;

    /// Description of the format for error messages, in English. The library translates it.
    pub const EXPECTED_FORMAT: &str = Expected::SEARCH_QUERY.as_str();

    /// Parses a query.
    ///
    /// # Errors
    /// [`ParseError`] if the text has more than 200 characters or more than [`MAX_TERMS`](Self::MAX_TERMS) terms, or if it
    /// has no terms, or all of its terms are excluded.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let error = ParseError::new(Self::EXPECTED_FORMAT);
        if text.chars().count() > MAX_LENGTH {
            return Err(error);
        }
        let terms = terms(text);
        let is_searchable =
            terms.len() <= Self::MAX_TERMS && terms.iter().any(|term| !term.excluded);
        if is_searchable { Ok(Self { text: text.into(), terms }) } else { Err(error) }
    }

    /// Returns the text that was parsed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the terms. A hit contains each term that is not excluded, and no excluded term.
    pub fn terms(&self) -> &[SearchTerm] {
        &self.terms
    }
}

fn terms(mut rest: &str) -> Vec<SearchTerm> {
    let mut terms = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return terms;
        }
        let excluded = rest.starts_with(HYPHENS);
        let unsigned = rest.strip_prefix(HYPHENS).unwrap_or(rest);
        let (term, after) = split_first_term(unsigned);
        rest = after;
        if term.contains(char::is_alphanumeric) {
            let text = term.into();
            terms.push(SearchTerm { text, excluded });
        }
    }
}

/// Splits off a quoted phrase or a word. Without an end quote, a phrase extends to the end of the text.
fn split_first_term(text: &str) -> (&str, &str) {
    match text.strip_prefix(QUOTES) {
        Some(quoted) => quoted.split_once(QUOTES).unwrap_or((quoted, "")),
        None => {
            let end = text.find(|c: char| c.is_whitespace() || QUOTES.contains(&c));
            text.split_at(end.unwrap_or(text.len()))
        }
    }
}

impl_from_str!(SearchQuery);
impl_as_str!(SearchQuery);
impl_serde_str!(SearchQuery);

inline_schema!(
    SearchQuery,
    json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "examples": ["tea \"rainy afternoon\" -coffee"] })
);

#[cfg(test)]
mod tests {
    use super::SearchQuery;

    fn parsed(text: &str) -> Option<String> {
        let query = SearchQuery::parse(text).ok()?;
        let terms = query.terms().iter().map(|term| {
            let sign = if term.excluded { "-" } else { "" };
            format!("{sign}{}", term.text)
        });
        Some(terms.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn words_phrases_and_exclusions() {
        for (text, terms) in [
            ("tea", "tea"),
            ("  green   tea ", "green; tea"),
            ("\"green leaf\" -bag", "green leaf; -bag"),
            ("-\"tea bag\" cup", "-tea bag; cup"),
            ("don't", "don't"),
            ("tea\"cup", "tea; cup"),
            ("tea - -- \"\" cup", "tea; cup"),
            ("-gru\u{308}n ١", "-gru\u{308}n; ١"),
            ("“green leaf” „tea cup“ -”a b\" don’t", "green leaf; tea cup; -a b; don’t"),
            ("＂上海　茶＂　－東京", "上海　茶; -東京"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(terms), "{text}");
        }
    }

    #[test]
    fn a_query_has_up_to_200_characters_and_32_terms() {
        for text in ["x".repeat(200), "x ".repeat(32)] {
            assert!(parsed(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_query_needs_a_term_that_is_not_excluded() {
        let long = "x".repeat(201);
        let many = "x ".repeat(33);
        for text in ["", "  ", "-tea", "\"\"", "!?", &long, &many] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
