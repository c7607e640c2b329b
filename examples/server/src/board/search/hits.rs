//! Hits of a search: scores and excerpts.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use forum_api::model::{SearchField, SearchFilter, SearchHit, SearchHitKind, SearchShow};
use memchr::memmem::Finder;

use super::index::words;
use crate::board::db::{self, Connection, RowReader, bind};
use crate::board::posts::markdown;

static ON_SQLITE: LazyLock<String> = LazyLock::new(|| hits(FOUND_ON_SQLITE));
static ON_POSTGRES: LazyLock<String> = LazyLock::new(|| hits(FOUND_ON_POSTGRES));

/// The ids of a JSON list as a table `found` with the columns `value` and `key` (the index), on SQLite.
pub const FOUND_ON_SQLITE: &str = "json_each(?1) AS found";

/// The same table as [`FOUND_ON_SQLITE`], on Postgres.
pub const FOUND_ON_POSTGRES: &str = "(
        SELECT CAST(value AS BIGINT) AS value, key
        FROM jsonb_array_elements_text(CAST(?1 AS TEXT)::jsonb) WITH ORDINALITY AS listed (value, key)
    ) AS found";

fn hits(found: &str) -> String {
    format!(
        "SELECT
            thread.forum_id, thread.id, post.id, thread.title, author.id, author.username, author.avatar_url,
            post.created_at, post.body,
            CASE WHEN post.number = 1 THEN thread.title_words ELSE '' END, post.body_words
        FROM {found}
        JOIN post ON post.id = found.value
        JOIN thread ON thread.id = post.thread_id
        LEFT JOIN member AS author ON author.id = post.author_id
        ORDER BY found.key"
    )
}

pub async fn read(
    connection: &Connection<'_>,
    posts: &[i64],
    filter: &SearchFilter,
) -> db::DbResult<Vec<SearchHit>> {
    let terms = TermMatcher::of(filter);
    let kind = match filter.show {
        SearchShow::Posts => SearchHitKind::Post,
        SearchShow::Threads => SearchHitKind::Thread,
    };
    let find: &str = connection.dialect(&ON_SQLITE, &ON_POSTGRES);
    connection
        .all(find, bind![json(posts)], |row| hit(row, kind, &terms))
        .await
}

fn hit(
    row: &mut RowReader<'_>,
    kind: SearchHitKind,
    terms: &TermMatcher,
) -> db::DbResult<SearchHit> {
    let mut hit = SearchHit {
        kind,
        forum_id: row.id()?,
        thread_id: row.id()?,
        post_id: row.id()?,
        title: row.value()?,
        author: row.author()?,
        created_at: row.value()?,
        excerpt: String::new(),
        score: 0.0,
    };
    let body: String = row.value()?;
    let mut words = || row.text().map(Option::unwrap_or_default);
    hit.score = terms.score(words()?, words()?) as f64 / 1e6;
    hit.excerpt = excerpt(&markdown::plain(scored_prefix(&body)), terms);
    Ok(hit)
}

/// Formats ids as a JSON list.
pub fn json(ids: &[i64]) -> String {
    serde_json::json!(ids).to_string()
}

/// Maximum length of an excerpt in characters.
const EXCERPT_LENGTH: usize = 200;

/// Maximum number of characters before the match.
const MAX_LENGTH_BEFORE_MATCH: usize = 60;

const ELLIPSIS: &str = "…";

/// Cuts an excerpt around the first of the `terms`, or at the beginning, between words.
pub fn excerpt(text: &str, terms: &TermMatcher) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let offset = terms.find_first(&text).unwrap_or_default();
    let (before, after) = text.split_at_checked(offset).unwrap_or_default();
    let before = last_words(before, MAX_LENGTH_BEFORE_MATCH);
    let cut_before = before.len() < offset;
    let after = first_words(after, EXCERPT_LENGTH - before.chars().count());
    let cut_after = offset + after.len() < text.len();
    let mark = |cut| if cut { ELLIPSIS } else { "" };
    format!("{}{before}{after}{}", mark(cut_before), mark(cut_after))
}

/// Returns the last words of at most `most` characters.
fn last_words(text: &str, most: usize) -> &str {
    let Some((start, _)) = text.char_indices().rev().nth(most) else {
        return text;
    };
    let (_, kept) = text.split_at(start);
    kept.split_once(' ').map_or("", |(_, words)| words)
}

/// Returns the first words of at most `most` characters.
fn first_words(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let (kept, _) = text.split_at(end);
    kept.rsplit_once(' ').map_or(kept, |(words, _)| words)
}

/// Weight of a word in the title.
const TITLE_WEIGHT: f64 = 5.0;

/// Saturation of further occurrences.
const SATURATION: f64 = 1.2;

/// Weight of the text's length.
const LENGTH_WEIGHT: f64 = 0.75;

/// Length of an average post, in bytes.
const AVERAGE_LENGTH: f64 = 400.0;

/// Number of bytes of a post that are read for its score and excerpt, which bounds the cost of a search.
const MAX_SCORED_BYTES: usize = 4096;

/// Required words and phrases.
#[derive(Debug)]
pub struct TermMatcher {
    terms: BTreeSet<Vec<String>>,
    /// Searchers of the terms, in their order.
    finders: Vec<Finder<'static>>,
    field: SearchField,
}

impl TermMatcher {
    pub fn of(filter: &SearchFilter) -> Self {
        let terms = filter.q.terms().iter().filter(|term| !term.excluded);
        let words = |text| words(text).map(|(_, word)| word).collect();
        let terms: BTreeSet<Vec<String>> = terms.map(|term| words(&term.text)).collect();
        let finders = terms
            .iter()
            .map(|term| Finder::new(&term.join(" ")).into_owned());
        Self {
            finders: finders.collect(),
            terms,
            field: filter.field,
        }
    }

    /// Returns the score of a post with these folded words in millionths. The formula is Okapi BM25 without the inverse
    /// document frequency, so that the score does not depend on other posts, on the caller, or on concurrent writes.
    pub fn score(&self, title: &str, body: &str) -> i64 {
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * body.len() as f64 / AVERAGE_LENGTH;
        let body = scored_prefix(body);
        let scores = self.finders.iter().map(|term| {
            let count = self.count(term, title, body);
            count / (count + SATURATION * length)
        });
        (scores.sum::<f64>() * 1e6) as i64
    }

    fn count(&self, term: &Finder<'_>, title: &str, body: &str) -> f64 {
        match self.field {
            SearchField::All => TITLE_WEIGHT * occurrences(term, title) + occurrences(term, body),
            SearchField::Titles => TITLE_WEIGHT * occurrences(term, title),
            SearchField::Posts => occurrences(term, body),
        }
    }

    /// Returns the byte offset of the first complete match in `text`.
    pub fn find_first(&self, text: &str) -> Option<usize> {
        let (mut offsets, mut seen) = (Vec::new(), Vec::new());
        for (offset, word) in words(text) {
            offsets.push(offset);
            seen.push(word);
            if let Some(term) = self.terms.iter().find(|term| seen.ends_with(term)) {
                return offsets.get(seen.len() - term.len()).copied();
            }
        }
        None
    }
}

/// Counts the occurrences of a phrase in folded words. Occurrences can overlap, for example of `tea tea`.
fn occurrences(term: &Finder<'_>, words: &str) -> f64 {
    let (words, length) = (words.as_bytes(), term.needle().len());
    let is_separator = |offset: usize| words.get(offset).is_none_or(|byte| *byte == b' ');
    let (mut count, mut from) = (0_u32, 0);
    while let Some(offset) = words.get(from..).and_then(|rest| term.find(rest)) {
        let begin = from + offset;
        let begins_word = begin.checked_sub(1).is_none_or(is_separator);
        count += u32::from(begins_word && is_separator(begin + length));
        from = begin + 1;
    }
    count.into()
}

/// Returns the prefix of a text that is read for scores and excerpts. It ends between two characters.
pub fn scored_prefix(text: &str) -> &str {
    let mut ends = (0..=MAX_SCORED_BYTES.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use forum_api::model::SearchQuery;

    use super::super::index::fold_words;
    use super::*;

    fn terms(text: &str) -> TermMatcher {
        TermMatcher::of(&SearchFilter::new(SearchQuery::parse(text).unwrap()))
    }

    fn score(terms: &TermMatcher, title: &str, body: &str) -> i64 {
        terms.score(&fold_words(title), &fold_words(body))
    }

    #[test]
    fn an_excerpt_is_cut_between_words_around_the_match() {
        let long_word = "ü".repeat(3 * EXCERPT_LENGTH);
        for (query, text, expected) in [
            ("tea", " green\n\n tea  cup\n", "green tea cup"),
            ("milk", "green tea", "green tea"),
            ("milk", "", ""),
            ("x", &long_word, &("ü".repeat(EXCERPT_LENGTH) + "…")),
            ("x", &format!("{long_word} x {long_word}"), "…x…"),
        ] {
            assert_eq!(excerpt(text, &terms(query)), expected, "{query}");
        }
        let text = format!("{}TEA {}", "grün ".repeat(100), "löffel ".repeat(100));
        let excerpt = excerpt(&text, &terms("tea"));
        assert!(
            excerpt.starts_with("…grün grün ") && excerpt.ends_with(" löffel…"),
            "{excerpt}"
        );
        let offset = excerpt.chars().position(|letter| letter == 'T').unwrap();
        assert!(
            offset <= MAX_LENGTH_BEFORE_MATCH + 1 && excerpt.chars().count() <= EXCERPT_LENGTH + 2
        );
    }

    #[test]
    fn terms_are_found_in_any_case_and_with_any_accents() {
        for (query, text, offset) in [
            ("tea", "Some TEA", Some(5)),
            ("tea", "steam, teas", None),
            ("gru\u{308}n", "das Grün", Some(4)),
            ("\"green leaf\"", "green tea, Green-leaf", Some(11)),
            ("\"green leaf\"", "leaf green", None),
            ("cup tea -milk", "milk tea cup", Some(5)),
            ("चाय", "हिन्दी चाय", Some(19)),
        ] {
            assert_eq!(terms(query).find_first(text), offset, "{query} in {text}");
        }
    }

    #[test]
    fn more_matches_in_less_text_score_higher_and_a_title_more_than_a_body() {
        let (tea, long) = (terms("tea"), "tea ".to_owned() + &"x ".repeat(500));
        let texts = [
            ("", &*long),
            ("", "tea cup"),
            ("", "tea tea"),
            ("Tea", "cup cup"),
            ("Tea", "tea cup"),
        ];
        let scores = texts.map(|(title, body)| score(&tea, title, body));
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert_eq!(score(&terms("tea TEA"), "", "tea"), score(&tea, "", "tea"));
        let mut filter = SearchFilter::new(SearchQuery::parse("tea").unwrap());
        filter.field = SearchField::Titles;
        assert_eq!(score(&TermMatcher::of(&filter), "Cup", "tea"), 0);
        filter.field = SearchField::Posts;
        assert_eq!(score(&TermMatcher::of(&filter), "Tea", "cup"), 0);
    }

    #[test]
    fn occurrences_are_whole_words_and_overlap() {
        for (term, text, expected) in [
            ("tea", "tea", 1.0),
            ("tea", "tea steam teas tea", 2.0),
            ("tea tea", "tea tea tea teas", 2.0),
            ("green leaf", "green leafs green leaf", 1.0),
            ("tea", "", 0.0),
        ] {
            assert_eq!(occurrences(&Finder::new(term), text), expected, "{text}");
        }
    }

    #[test]
    fn a_score_depends_on_occurrences_and_the_length_of_the_body() {
        let body = |length: usize| "tea ".to_owned() + &"x".repeat(length - 4);
        for (field, title, body, expected) in [
            (SearchField::All, "Cup", body(400), 454_545),
            (SearchField::All, "Tea", body(400), 833_333),
            (SearchField::All, "Cup", body(800), 322_580),
            (SearchField::Titles, "Tea, tea", String::new(), 970_873),
        ] {
            let mut filter = SearchFilter::new(SearchQuery::parse("tea").unwrap());
            filter.field = field;
            assert_eq!(score(&TermMatcher::of(&filter), title, &body), expected);
        }
    }
}
