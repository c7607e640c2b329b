//! What a search has to find: how well a post has it, and where.

use std::collections::BTreeSet;

use forum_api::model::{Search, SearchIn};

use super::words::words;

/// How often a word counts that is in the title.
const TITLE: f64 = 5.0;

/// How soon another occurrence adds little.
const SATURATION: f64 = 1.2;

/// The part of the score that depends on the text's length.
const LENGTH: f64 = 0.75;

/// The length of an ordinary post, in bytes.
const ORDINARY: f64 = 400.0;

/// How many bytes of a post its score is taken from: however long posts are, a search costs so much and no more.
const SCORED: usize = 4096;

/// The words and phrases that a hit has to have.
#[derive(Debug)]
pub struct Terms {
    terms: BTreeSet<Vec<String>>,
    within: SearchIn,
}

impl Terms {
    /// Those of `search`.
    pub fn of(search: &Search) -> Self {
        let terms = search.q.terms().iter().filter(|term| !term.excluded);
        let words = |text| words(text).map(|(_, word)| word).collect();
        Self {
            terms: terms.map(|term| words(&term.text)).collect(),
            within: search.within,
        }
    }

    /// How well a post with these folded words matches, in millionths: the formula of Okapi BM25, but for the weights
    /// of words that come from the rest of the board. So it is the same for everybody, and stays the same while a
    /// reader pages.
    pub fn score(&self, title: &str, body: &str) -> i64 {
        let length = 1.0 - LENGTH + LENGTH * body.len() as f64 / ORDINARY;
        let title: Vec<&str> = title.split(' ').collect();
        let body: Vec<&str> = beginning(body, SCORED).split(' ').collect();
        let scores = self.terms.iter().map(|term| {
            let count = self.count(term, &title, &body);
            count / (count + SATURATION * length)
        });
        (scores.sum::<f64>() * 1e6) as i64
    }

    fn count(&self, term: &[String], title: &[&str], body: &[&str]) -> f64 {
        let in_title = || TITLE * places(term, title).count() as f64;
        let in_body = || places(term, body).count() as f64;
        match self.within {
            SearchIn::All => in_title() + in_body(),
            SearchIn::Titles => in_title(),
            SearchIn::Posts => in_body(),
        }
    }

    /// Where in `text` the first of them is, in bytes.
    pub fn first_in(&self, text: &str) -> Option<usize> {
        let (bytes, words): (Vec<usize>, Vec<String>) = words(text).unzip();
        let firsts = self.terms.iter();
        let first = firsts.filter_map(|term| places(term, &words).next()).min();
        first.and_then(|word| bytes.get(word).copied())
    }
}

/// Where among the `words` those of `term` stand side by side.
fn places<W: AsRef<str>>(term: &[String], words: &[W]) -> impl Iterator<Item = usize> {
    let here = move |at: &[W]| at.iter().map(AsRef::as_ref).eq(term);
    let spans = words.windows(term.len().max(1)).enumerate();
    spans
        .filter(move |(_, at)| here(at))
        .map(|(place, _)| place)
}

/// So many bytes of `text`, or a few less where a letter would be cut.
pub fn beginning(text: &str, bytes: usize) -> &str {
    let ends = (0..=bytes.min(text.len())).rev();
    ends.into_iter()
        .find_map(|end| text.get(..end))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use forum_api::model::Query;

    use super::super::words::folded;
    use super::{Search, SearchIn, Terms};

    fn terms(text: &str) -> Terms {
        Terms::of(&Search::new(Query::parse(text).unwrap()))
    }

    fn score(terms: &Terms, title: &str, body: &str) -> i64 {
        terms.score(&folded(title), &folded(body))
    }

    #[test]
    fn are_found_whatever_their_case_and_accents() {
        for (query, text, place) in [
            ("tea", "Some TEA", Some(5)),
            ("tea", "steam, teas", None),
            ("grun", "das Grün", Some(4)),
            ("GRÜN", "das gru\u{308}n", Some(4)),
            ("gru\u{308}n", "das Grün", Some(4)),
            ("\"green leaf\"", "green tea, Green-leaf", Some(11)),
            ("\"green leaf\"", "leaf green", None),
            ("cup tea -milk", "milk tea cup", Some(5)),
            ("चाय", "हिन्दी चाय", Some(19)),
        ] {
            assert_eq!(terms(query).first_in(text), place, "{query} in {text}");
        }
    }

    #[test]
    fn more_matches_in_less_text_score_higher_and_a_title_more_than_a_body() {
        let (tea, long) = (terms("tea"), "tea ".to_owned() + &"x ".repeat(500));
        let scores = [
            ("", &*long),
            ("", "tea cup"),
            ("", "tea tea"),
            ("Tea", "cup cup"),
            ("Tea", "tea cup"),
        ];
        let scores = scores.map(|(title, body)| score(&tea, title, body));
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
    }

    #[test]
    fn only_what_is_searched_counts() {
        let mut search = Search::new(Query::parse("tea").unwrap());
        search.within = SearchIn::Titles;
        assert_eq!(score(&Terms::of(&search), "Cup", "tea"), 0);
        search.within = SearchIn::Posts;
        assert_eq!(score(&Terms::of(&search), "Tea", "cup"), 0);
    }

    #[test]
    fn a_word_named_twice_counts_once() {
        let of = |query| score(&terms(query), "", "tea");
        assert_eq!(of("tea TEA"), of("tea"));
    }
}
