//! Where in a text the words of a search are, and how well they match it.

use std::borrow::Cow;
use std::collections::BTreeSet;

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

/// How many bytes of a post its score is taken from: however long posts are, a search costs so much and no more.
const SCORED: usize = 4096;

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
        let plain = |word: &String| folded(word).into_owned();
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
        let (title, body) = (words(title), words(beginning(body)));
        let scores = self.terms.iter().map(|term| {
            let count = self.count(term, &title, &body);
            count / (count + SATURATION * length)
        });
        (scores.sum::<f64>() * 1e6) as i64
    }

    fn count(&self, term: &[String], title: &[Word<'_>], body: &[Word<'_>]) -> f64 {
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
        let words = words(text);
        let firsts = self.terms.iter();
        firsts.filter_map(|term| places(term, &words).next()).min()
    }
}

/// A word without case and accents, and where it is, in bytes.
type Word<'a> = (usize, Cow<'a, str>);

/// Where the words of `term` stand side by side.
fn places(term: &[String], words: &[Word<'_>]) -> impl Iterator<Item = usize> {
    let here = move |at: &[Word<'_>]| at.iter().map(|(_, found)| found).eq(term);
    let spans = words.windows(term.len().max(1)).filter(move |at| here(at));
    spans.filter_map(|at| at.first()).map(|(place, _)| *place)
}

/// Runs of letters and digits.
fn words(text: &str) -> Vec<Word<'_>> {
    let between = |letter: char| !letter.is_alphanumeric() && !is_combining_mark(letter);
    let mut end = 0;
    let words = text.split_inclusive(between).map(|word| {
        let place = end;
        end += word.len();
        (place, word.trim_end_matches(between))
    });
    let words = words.filter(|(_, word)| !word.is_empty());
    words.map(|(place, word)| (place, folded(word))).collect()
}

fn beginning(text: &str) -> &str {
    let ends = (0..=SCORED.min(text.len())).rev();
    ends.into_iter()
        .find_map(|end| text.get(..end))
        .unwrap_or_default()
}

fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        let capital = word.bytes().any(|byte| byte.is_ascii_uppercase());
        return if capital {
            word.to_ascii_lowercase().into()
        } else {
            word.into()
        };
    }
    let letters = word.nfd().filter(|letter| !is_combining_mark(*letter));
    letters
        .flat_map(char::to_lowercase)
        .collect::<String>()
        .into()
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
