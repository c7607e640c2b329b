//! Score of a post: how often the words of a search occur in its title and its body.

use std::collections::BTreeSet;

use forum_api::model::{SearchField, SearchFilter};
use memchr::memmem::Finder;

use super::index;

/// Weight of a word in a title. The schema of Postgres has the same weights.
const TITLE_WEIGHT: f32 = 1.0;

/// Weight of a word in a body.
const BODY_WEIGHT: f32 = 0.2;

/// Maximum number of occurrences of a word that count: the index of Postgres has the places of as many.
const MAX_OCCURRENCES: usize = 256;

/// Sum of 1/n² over all n, as a constant of Postgres.
const SUM_OF_INVERSE_SQUARES: f64 = 1.644_934_066_85;

/// Length of an average post, in bytes.
const AVERAGE_LENGTH: f64 = 400.0;

/// Mark of the words of titles in the index of Postgres.
pub const TITLE_MARK: &str = "=";

/// Required words, with the marks of Postgres's index. Their order is the one in which Postgres adds numbers.
pub fn marked_words(filter: &SearchFilter) -> BTreeSet<String> {
    let marks: &[&str] = match filter.field {
        SearchField::All => &[TITLE_MARK, ""],
        SearchField::Titles => &[TITLE_MARK],
        SearchField::Posts => &[""],
    };
    let terms = filter.q.terms().iter().filter(|term| !term.excluded);
    let words = terms.flat_map(|term| index::words(&term.text));
    words
        .flat_map(|(_, word)| marks.iter().map(move |mark| format!("{mark}{word}")))
        .collect()
}

/// Computes scores as the function `score` of the schema of Postgres.
#[derive(Debug)]
pub struct Scorer {
    words: Vec<ScoredWord>,
}

#[derive(Debug)]
struct ScoredWord {
    is_of_title: bool,
    finder: Finder<'static>,
}

impl Scorer {
    pub fn of(filter: &SearchFilter) -> Self {
        let words = marked_words(filter).into_iter().map(|marked| {
            let of_title = marked.strip_prefix(TITLE_MARK);
            ScoredWord {
                is_of_title: of_title.is_some(),
                finder: Finder::new(of_title.unwrap_or(&marked)).into_owned(),
            }
        });
        Self {
            words: words.collect(),
        }
    }

    /// Returns the score of a post with these folded words in millionths. It does not depend on other posts, on the
    /// caller, or on concurrent writes.
    pub fn score(&self, title: &str, body: &str) -> i64 {
        let mut sum = 0.0_f32;
        for ScoredWord {
            is_of_title,
            finder,
        } in &self.words
        {
            let (text, weight) = match is_of_title {
                true => (title, TITLE_WEIGHT),
                false => (body, BODY_WEIGHT),
            };
            let part = f64::from(weight_of(count(finder, text), weight)) / SUM_OF_INVERSE_SQUARES;
            sum = (f64::from(sum) + part) as f32;
        }
        let length = (1.0 + body.len() as f64 / AVERAGE_LENGTH).sqrt();
        (f64::from(sum / self.words.len() as f32) * 1e6 / length) as i64
    }
}

/// Adds the weights of a word's occurrences, of which the n-th has 1/n² of the weight, with the rounding of Postgres.
fn weight_of(occurrences: usize, weight: f32) -> f32 {
    let parts = (1..=occurrences).map(|n| weight / (n * n) as f32);
    weight + parts.sum::<f32>() - weight
}

/// Counts the occurrences of a word in folded words.
fn count(word: &Finder<'_>, words: &str) -> usize {
    let (words, length) = (words.as_bytes(), word.needle().len());
    let is_separator = |offset: usize| words.get(offset).is_none_or(|byte| *byte == b' ');
    let is_word = |begin: &usize| {
        begin.checked_sub(1).is_none_or(is_separator) && is_separator(begin + length)
    };
    let found = word.find_iter(words).filter(is_word);
    found.take(MAX_OCCURRENCES).count()
}

#[cfg(test)]
mod tests {
    use forum_api::model::SearchQuery;

    use super::super::index::fold_words;
    use super::*;

    fn scorer(field: SearchField) -> Scorer {
        let mut filter = SearchFilter::new(SearchQuery::parse("tea").unwrap());
        filter.field = field;
        Scorer::of(&filter)
    }

    #[test]
    fn more_matches_in_less_text_score_higher_and_a_title_more_than_a_body() {
        let (tea, long) = (
            scorer(SearchField::All),
            "tea ".to_owned() + &"x ".repeat(500),
        );
        let texts = [
            ("", &*long),
            ("", "tea cup"),
            ("", "tea tea"),
            ("Tea", "cup cup"),
            ("Tea", "tea cup"),
        ];
        let scores = texts.map(|(title, body)| tea.score(&fold_words(title), &fold_words(body)));
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert_eq!(scorer(SearchField::Titles).score("cup", "tea"), 0);
        assert_eq!(scorer(SearchField::Posts).score("tea", "cup"), 0);
    }

    #[test]
    fn occurrences_are_whole_words() {
        for (word, text, expected) in [
            ("tea", "tea", 1),
            ("tea", "tea tea steam teas tea", 3),
            ("tete", "tetete tete", 1),
            ("tea", "", 0),
        ] {
            assert_eq!(count(&Finder::new(word), text), expected, "{text}");
        }
    }
}
