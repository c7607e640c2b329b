//! Where in a text the words of a search are, and how well they match it.

use std::collections::BTreeSet;
use std::iter;

use forum_api::model::{Search, SearchIn};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// How often a word counts that is in the title.
const TITLE: f64 = 5.0;

/// How soon another occurrence adds little.
const SATURATION: f64 = 1.2;

/// The part of the score that depends on the text's length.
const LENGTH: f64 = 0.75;

/// The length of an ordinary post, in bytes.
const ORDINARY: f64 = 400.0;

/// The words and phrases that a hit has to have, without case and accents.
#[derive(Debug)]
pub struct Words {
    terms: BTreeSet<Vec<String>>,
    within: SearchIn,
}

impl Words {
    /// Those of `search`.
    pub fn of(search: &Search) -> Self {
        let terms = search.q.terms().iter().filter(|term| !term.excluded);
        let plain = |word: &String| plain(word).collect();
        Self {
            terms: terms
                .map(|term| term.words.iter().map(plain).collect())
                .collect(),
            within: search.within,
        }
    }

    /// How well a post matches, in millionths: the formula of Okapi BM25, but for the weights of words that come from
    /// the rest of the board. So it is the same for everybody, and stays the same while a reader pages.
    pub fn score(&self, title: &str, body: &str) -> i64 {
        let length = 1.0 - LENGTH + LENGTH * body.len() as f64 / ORDINARY;
        let scores = self.terms.iter().map(|term| {
            let count = self.count(term, title, body);
            count / (count + SATURATION * length)
        });
        (scores.sum::<f64>() * 1e6) as i64
    }

    fn count(&self, term: &[String], title: &str, body: &str) -> f64 {
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
        let firsts = self.terms.iter();
        firsts.filter_map(|term| places(term, text).next()).min()
    }
}

/// Where in `text` the words of `term` stand side by side.
fn places(term: &[String], text: &str) -> impl Iterator<Item = usize> {
    let mut rest = words(text);
    iter::from_fn(move || {
        loop {
            let (place, found) = rest.next()?;
            let (first, others) = term.split_first()?;
            let mut next = rest.clone();
            let mut follows = |word: &String| next.next().is_some_and(|(_, found)| is(found, word));
            if is(found, first) && others.iter().all(&mut follows) {
                return Some(place);
            }
        }
    })
}

/// Runs of letters and digits, each with its place.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let between = |letter: char| !letter.is_alphanumeric() && !is_combining_mark(letter);
    let mut end = 0;
    let words = text.split_inclusive(between).map(move |word| {
        let place = end;
        end += word.len();
        (place, word.trim_end_matches(between))
    });
    words.filter(|(_, word)| !word.is_empty())
}

fn is(found: &str, word: &str) -> bool {
    match found.is_ascii() {
        true => found.eq_ignore_ascii_case(word),
        false => plain(found).eq(word.chars()),
    }
}

fn plain(word: &str) -> impl Iterator<Item = char> {
    let letters = word.nfd().filter(|letter| !is_combining_mark(*letter));
    letters.flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use forum_api::model::Query;

    use super::{Search, SearchIn, Words};

    fn words(text: &str) -> Words {
        Words::of(&Search::new(Query::parse(text).unwrap()))
    }

    #[test]
    fn are_found_whatever_their_case_and_accents() {
        for (query, text, place) in [
            ("tea", "Some TEA", Some(5)),
            ("tea", "steam, teas", None),
            ("grun", "das Grün", Some(4)),
            ("GRÜN", "das gru\u{308}n", Some(4)),
            ("\"green leaf\"", "green tea, Green-leaf", Some(11)),
            ("\"green leaf\"", "leaf green", None),
            ("cup tea -milk", "milk tea cup", Some(5)),
            ("чай", "Чай", Some(0)),
        ] {
            assert_eq!(words(query).first_in(text), place, "{query} in {text}");
        }
    }

    #[test]
    fn more_matches_in_less_text_score_higher_and_a_title_more_than_a_body() {
        let (tea, long) = (words("tea"), "tea ".to_owned() + &"x ".repeat(500));
        let scores = [
            tea.score("", &long),
            tea.score("", "tea cup"),
            tea.score("", "tea tea"),
            tea.score("Tea", "cup cup"),
            tea.score("Tea", "tea cup"),
        ];
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
    }

    #[test]
    fn only_what_is_searched_counts() {
        let mut search = Search::new(Query::parse("tea").unwrap());
        search.within = SearchIn::Titles;
        assert_eq!(Words::of(&search).score("Cup", "tea"), 0);
        search.within = SearchIn::Posts;
        assert_eq!(Words::of(&search).score("Tea", "cup"), 0);
    }

    #[test]
    fn a_word_named_twice_counts_once() {
        let score = |query| words(query).score("", "tea");
        assert_eq!(score("tea TEA"), score("tea"));
    }
}
