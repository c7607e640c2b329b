//! Hits of a search, with their excerpts.

use std::collections::{BTreeSet, HashMap};

use forum_api::host::BoardResult;
use forum_api::model::{SearchFilter, SearchHit, SearchHitKind, SearchQuery, SearchShow};

use super::filter::Match;
use super::index::{is_unspaced, words};
use crate::board::db::{Connection, Row, bind, json};
use crate::board::markdown;

const FIND: &str = "
    SELECT
        thread.forum_id, post.thread_id, post.id, thread.title, post.created_at, author.id AS author_id,
        author.username AS author_name, author.avatar_url AS author_avatar, post.body, found.key
    FROM json_each(?1) AS found
    JOIN post ON post.id = CAST(found.value AS BIGINT)
    JOIN thread ON thread.id = post.thread_id
    LEFT JOIN member AS author ON author.id = post.author_id
    ORDER BY found.key";

pub async fn read(
    connection: &Connection<'_>,
    found: &[Match],
    filter: &SearchFilter,
) -> BoardResult<Vec<SearchHit>> {
    let terms = TermMatcher::of(filter.q.as_ref());
    let posts: Vec<_> = found.iter().map(|found| found.post).collect();
    let kind = match filter.show {
        SearchShow::Posts => SearchHitKind::Post,
        SearchShow::Threads => SearchHitKind::Thread,
    };
    let mut max_searched = MAX_SEARCHED_BYTES;
    let read_hit = |row: &Row<'_>| {
        let mut hit = SearchHit::new(
            kind,
            row.id("forum_id")?,
            row.id("thread_id")?,
            row.id("id")?,
            row.value::<String>("title")?,
            row.value("created_at")?,
        );
        hit.author = row.author(["author_id", "author_name", "author_avatar"])?;
        let body: String = row.value("body")?;
        hit.excerpt = excerpt(&body, &terms, &mut max_searched);
        let score = found.get(row.count::<usize>("key")?).map_or(0, |found| found.score);
        hit.score = score as f64 / 1e6;
        Ok(hit)
    };
    connection.all(FIND, bind![json(&posts)?], read_hit).await
}

/// Maximum length of an excerpt in characters.
const EXCERPT_LENGTH: usize = 200;

/// Maximum number of characters before the match.
const MAX_LENGTH_BEFORE_MATCH: usize = 60;

const ELLIPSIS: &str = "…";

/// Cuts an excerpt of a post around the first of the `terms`, or at the beginning, between words. Subtracts the number of
/// bytes that it searches after the beginning of the post from `max_searched`.
fn excerpt(body: &str, terms: &TermMatcher, max_searched: &mut usize) -> String {
    let (text, offset) = excerpted_text(body, terms, max_searched);
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
    let cut = kept.char_indices().find(is_cut);
    cut.map_or("", |(offset, _)| kept.split_at(offset).1.trim_start())
}

/// Returns the first words of at most `most` characters.
fn first_words(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let (kept, _) = text.split_at(end);
    let cut = kept.char_indices().rev().find(is_cut);
    cut.map_or(kept, |(offset, _)| kept.split_at(offset).0)
}

/// Returns whether an excerpt can be cut before a character of a text.
fn is_cut((offset, letter): &(usize, char)) -> bool {
    *letter == ' ' || *offset > 0 && is_unspaced(*letter)
}

/// Number of bytes of a post that are rendered for its excerpt, which bounds the cost of a search.
const MAX_EXCERPTED_BYTES: usize = 4096;

/// Number of these bytes before a match.
const EXCERPTED_BYTES_BEFORE_MATCH: usize = 1024;

/// Number of bytes after the beginnings of all posts of a page in which the terms are searched for.
const MAX_SEARCHED_BYTES: usize = 256 * 1024;

/// Returns the plain text of the beginning of a post, or of the part with the first match if the beginning has none, and the
/// offset of the match; 0 if there is none.
fn excerpted_text(body: &str, terms: &TermMatcher, max_searched: &mut usize) -> (String, usize) {
    let beginning = prefix(body, MAX_EXCERPTED_BYTES);
    let text = plain_text(beginning);
    if let Some(offset) = terms.find_first(&text) {
        return (text, offset);
    }
    if beginning.len() == body.len() || terms.terms.is_empty() {
        return (text, 0);
    }
    // A phrase can begin before the end of the beginning.
    let passed = prefix(beginning, MAX_EXCERPTED_BYTES - EXCERPTED_BYTES_BEFORE_MATCH);
    let searched = prefix(body.strip_prefix(passed).unwrap_or_default(), *max_searched);
    *max_searched -= searched.len();
    let part = terms.find_first(searched).and_then(|offset| {
        let start = (passed.len() + offset).saturating_sub(EXCERPTED_BYTES_BEFORE_MATCH);
        let before = prefix(body, start);
        let part = body.strip_prefix(before).unwrap_or_default();
        let text = plain_text(prefix(part, MAX_EXCERPTED_BYTES));
        terms.find_first(&text).map(|offset| (text, offset))
    });
    part.unwrap_or((text, 0))
}

/// Returns the text of the source without markup, with one space between two words.
fn plain_text(source: &str) -> String {
    markdown::plain(source).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Required words and phrases. A search takes time linear in the length of the text, also if words repeat.
#[derive(Debug)]
struct TermMatcher {
    /// The words of all terms with their numbers.
    words: HashMap<String, usize>,
    terms: Vec<TermWords>,
}

/// The numbers of the words of a term.
#[derive(Debug, Default)]
struct TermWords {
    words: Vec<usize>,
    /// Prefix function of the algorithm of Knuth, Morris and Pratt: for each prefix of the term, the length of its longest
    /// proper prefix with which it ends.
    prefix_lengths: Vec<usize>,
}

impl TermWords {
    fn new(words: Vec<usize>) -> Self {
        let mut term = Self { words, prefix_lengths: Vec::new() };
        let mut begun = 0;
        for position in 0..term.words.len() {
            if position > 0
                && let Some(word) = term.words.get(position)
            {
                begun = term.advance(begun, *word);
            }
            term.prefix_lengths.push(begun);
        }
        term
    }

    /// Returns the length of the longest prefix of the term with which a text ends after the word `next`. `begun` is this
    /// length before the word.
    fn advance(&self, mut begun: usize, next: usize) -> usize {
        while self.words.get(begun) != Some(&next) {
            let Some(last) = begun.checked_sub(1) else {
                return 0;
            };
            begun = self.prefix_lengths.get(last).copied().unwrap_or_default();
        }
        begun + 1
    }
}

impl TermMatcher {
    fn of(query: Option<&SearchQuery>) -> Self {
        let terms = query.into_iter().flat_map(SearchQuery::terms).filter(|term| !term.excluded);
        // Of two terms that end with the same word, the first one in this order is the match.
        let distinct: BTreeSet<Vec<String>> =
            terms.map(|term| words(&term.text).map(|word| word.folded).collect()).collect();
        let mut words = HashMap::new();
        let mut number = |word| {
            let next = words.len();
            *words.entry(word).or_insert(next)
        };
        let terms = distinct
            .into_iter()
            .map(|term| TermWords::new(term.into_iter().map(&mut number).collect()))
            .collect();
        Self { words, terms }
    }

    /// Returns the byte offset of the first complete match in `text`.
    fn find_first(&self, text: &str) -> Option<usize> {
        if self.terms.is_empty() {
            return None;
        }
        let mut offsets = Vec::new();
        let mut begun = vec![0; self.terms.len()];
        for word in words(text) {
            offsets.push(word.offset);
            let Some(number) = self.words.get(&word.folded) else {
                begun.fill(0);
                continue;
            };
            for (term, begun) in self.terms.iter().zip(&mut begun) {
                *begun = term.advance(*begun, *number);
                if *begun == term.words.len() {
                    return offsets.get(offsets.len() - *begun).copied();
                }
            }
        }
        None
    }
}

/// Returns the longest prefix of a text with at most this number of bytes that ends between two characters.
fn prefix(text: &str, max_length: usize) -> &str {
    let mut ends = (0..=max_length.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> TermMatcher {
        TermMatcher::of(Some(&SearchQuery::parse(text).unwrap()))
    }

    fn excerpt_of(text: &str, terms: &TermMatcher) -> String {
        excerpt(text, terms, &mut MAX_SEARCHED_BYTES.clone())
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
            assert_eq!(excerpt_of(text, &terms(query)), expected, "{query}");
        }
        let text = format!("{}茶{}", "上海、".repeat(100), "ข้าว".repeat(100));
        let excerpt_of_letters = excerpt_of(&text, &terms("茶"));
        let expected = format!("…{}茶{}…", "上海、".repeat(20), "ข้าว".repeat(34) + "ข้");
        assert_eq!(excerpt_of_letters, expected);
        let text = format!("{}TEA {}", "grün ".repeat(100), "löffel ".repeat(100));
        let excerpt_of_words = excerpt_of(&text, &terms("tea"));
        let expected = format!("…{}TEA {}löffel…", "grün ".repeat(12), "löffel ".repeat(18));
        assert_eq!(excerpt_of_words, expected);
    }

    #[test]
    fn an_excerpt_is_around_a_match_wherever_it_is() {
        let long =
            format!("# Start\n\n{}*Smoked* tea {}", "grün ".repeat(4000), "cup ".repeat(4000));
        let excerpt_with = |query, max_searched: usize| {
            let terms = terms(query);
            excerpt(&long, &terms, &mut max_searched.clone())
        };
        for (query, before, after) in
            [("tea", 10, 33), ("\"smoked tea\"", 12, 31), ("smoked", 12, 31)]
        {
            let expected =
                format!("…{}Smoked tea {}cup…", "grün ".repeat(before), "cup ".repeat(after));
            assert_eq!(excerpt_with(query, MAX_SEARCHED_BYTES), expected, "{query}");
        }
        let beginning = format!("Start {}grün…", "grün ".repeat(37));
        for (query, max_searched) in [("milk", MAX_SEARCHED_BYTES), ("tea", 10_000)] {
            assert_eq!(excerpt_with(query, max_searched), beginning, "{query}");
        }
        let mut left = 10_000;
        excerpt(&long, &terms("tea"), &mut left);
        assert_eq!(left, 0);
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
            ("上海", "海上、ABC上海", Some(12)),
            ("ขขค", "ขขขขค", Some(6)),
            ("\"a a b a a c\"", "a a b a a b a a c", Some(6)),
            ("\"a a b\" \"a b\"", "a a a b", Some(2)),
            ("\"a b x\" \"b\"", "a b", Some(2)),
            ("\"a b\"", "a x b a b", Some(6)),
        ] {
            assert_eq!(terms(query).find_first(text), offset, "{query} in {text}");
        }
    }
}
