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

/// How many bytes of a post are looked at for its score, and for its excerpt: however long posts are, a search costs so
/// much and no more.
const LOOK: usize = 4096;

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
        let body: Vec<&str> = beginning(body).split(' ').collect();
        let scores = self.terms.iter().map(|term| {
            let count = self.count(term, &title, &body);
            count / (count + SATURATION * length)
        });
        (scores.sum::<f64>() * 1e6) as i64
    }

    fn count(&self, term: &[String], title: &[&str], body: &[&str]) -> f64 {
        match self.within {
            SearchIn::All => TITLE * occurrences(term, title) + occurrences(term, body),
            SearchIn::Titles => TITLE * occurrences(term, title),
            SearchIn::Posts => occurrences(term, body),
        }
    }

    /// Where in `text` the first of them begins, in bytes: the first that is complete.
    pub fn first_in(&self, text: &str) -> Option<usize> {
        let (mut places, mut seen) = (Vec::new(), Vec::new());
        for (place, word) in words(text) {
            places.push(place);
            seen.push(word);
            if let Some(term) = self.terms.iter().find(|term| seen.ends_with(term)) {
                return places.get(seen.len() - term.len()).copied();
            }
        }
        None
    }
}

/// How often the words of `term` stand side by side.
fn occurrences(term: &[String], words: &[&str]) -> f64 {
    let spans = words.windows(term.len().max(1));
    spans.filter(|at| *at == term).count() as f64
}

/// As much of a text as is looked at, but for a letter that would be cut.
pub fn beginning(text: &str) -> &str {
    let mut ends = (0..=LOOK.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
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
