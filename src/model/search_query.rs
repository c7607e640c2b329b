//! Search queries: words, `"phrases"` and `-words` (`docs/protocol.md`, section 12.9).
//!
//! The index of the board defines words.

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Expected;
use super::serde_helpers::inline_schema;

/// The `q` of a search: 1-200 characters, with at least one word to look for, and at most 32 words and phrases. A board
/// that counts the words of phrases, too, refuses more of them with [`EXPECTED`](Self::EXPECTED).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    text: String,
    terms: Vec<SearchTerm>,
}

/// A word, or several that must stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchTerm {
    /// What the client wrote, without `-` and quotes. A letter or a digit is in it, so it has a word; what is neither may
    /// part it into several.
    pub text: String,
    /// Whether it must be absent (`-word`).
    pub excluded: bool,
}

impl SearchQuery {
    /// How many words and phrases it may have: each of them costs the board a look.
    pub const MAX_TERMS: usize = 32;

    /// What is expected of it, as a refusal says it.
    pub const EXPECTED_FORMAT: &str =
        "1 to 200 characters with at least one word to search for, and at most 32 words";

    /// `None` when it is too long, or has no word to look for.
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().count() > 200 {
            return None;
        }
        let terms = terms(text);
        let searchable = terms.len() <= Self::MAX_TERMS && terms.iter().any(|term| !term.excluded);
        searchable.then(|| Self {
            text: text.into(),
            terms,
        })
    }

    /// All of these hold for a hit.
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
        let excluded = rest.starts_with('-');
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let (chunk, after) = chunk(unsigned);
        rest = after;
        if chunk.contains(char::is_alphanumeric) {
            let text = chunk.into();
            terms.push(SearchTerm { text, excluded });
        }
    }
}

/// A quoted phrase (an end quote that is missing is the end of the text), or all up to the next blank.
fn chunk(text: &str) -> (&str, &str) {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => {
            let end = text
                .find(|c: char| c.is_whitespace() || c == '"')
                .unwrap_or(text.len());
            text.split_at(end)
        }
    }
}

impl Serialize for SearchQuery {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for SearchQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| Expected::SearchQuery.error())
    }
}

inline_schema!(
    SearchQuery,
    "Query",
    json_schema!({ "type": "string", "minLength": 1, "maxLength": 200, "examples": ["tea \"green leaf\" -bag"] })
);

#[cfg(test)]
mod tests {
    use super::SearchQuery;

    fn parsed(text: &str) -> Option<String> {
        let term = |term: &super::SearchTerm| {
            let sign = if term.excluded { "-" } else { "" };
            format!("{sign}{}", term.text)
        };
        SearchQuery::parse(text).map(|query| {
            query
                .terms()
                .iter()
                .map(term)
                .collect::<Vec<_>>()
                .join("; ")
        })
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
        ] {
            assert_eq!(parsed(text).as_deref(), Some(terms), "{text}");
        }
    }

    #[test]
    fn without_a_word_there_is_no_query() {
        for text in [
            "",
            "  ",
            "-tea",
            "\"\"",
            "!?",
            &"x".repeat(201),
            &"x ".repeat(33),
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
