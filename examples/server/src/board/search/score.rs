//! Score of a post: how often the words of a search occur in its title and its body.

use std::collections::BTreeSet;
use std::iter::repeat_n;

use forum_api::model::SearchQuery;
use memchr::memmem::Finder;

use super::index;

/// Weight of a word in a title: the weight A of Postgres.
const TITLE_WEIGHT: f32 = 1.0;

/// Weight of a word in a body: the weight C of Postgres.
const BODY_WEIGHT: f32 = 0.2;

/// Maximum number of occurrences of a word that count: the index of Postgres has at most as many places of a word.
const MAX_OCCURRENCES: usize = 256;

/// Sum of 1/n² over all n, as a constant of Postgres.
const SUM_OF_INVERSE_SQUARES: f64 = 1.644_934_066_85;

/// Length of an average post, in bytes.
const AVERAGE_LENGTH: f64 = 400.0;

/// Returns the required words. Their order is the one in which Postgres adds numbers.
pub fn required_words(query: &SearchQuery) -> BTreeSet<String> {
    let terms = query.terms().iter().filter(|term| !term.excluded);
    terms.flat_map(|term| index::keys(&term.text)).collect()
}

/// Computes scores as the function `score` of the schema of Postgres.
#[derive(Debug)]
pub struct Scorer(Vec<Finder<'static>>);

impl Scorer {
    pub fn of(query: &SearchQuery) -> Self {
        let words = required_words(query);
        let finders = words.iter().map(|word| Finder::new(word).into_owned());
        Self(finders.collect())
    }

    /// Returns the score of a post with these folded words in millionths. It does not depend on other posts, on the
    /// caller, or on concurrent writes.
    pub fn score(&self, title: &str, body: &str) -> i64 {
        let mut sum = 0.0_f32;
        for word in &self.0 {
            let weight = weight_of(count(word, title), count(word, body));
            sum = (f64::from(sum) + f64::from(weight) / SUM_OF_INVERSE_SQUARES) as f32;
        }
        let length = (1.0 + body.len() as f64 / AVERAGE_LENGTH).sqrt();
        (f64::from(sum / self.0.len() as f32) * 1e6 / length) as i64
    }
}

/// Adds the weights of a word's occurrences, first in the title and then in the body. The n-th occurrence has 1/n² of
/// its weight. The rounding is that of Postgres.
fn weight_of(in_title: usize, in_body: usize) -> f32 {
    let weights = repeat_n(TITLE_WEIGHT, in_title).chain(repeat_n(BODY_WEIGHT, in_body));
    let first = weights.clone().next().unwrap_or_default();
    let parts = (1..=MAX_OCCURRENCES).zip(weights);
    first + parts.map(|(n, weight)| weight / (n * n) as f32).sum::<f32>() - first
}

/// Counts the occurrences of a word in folded words.
fn count(word: &Finder<'_>, words: &str) -> usize {
    let words = words.as_bytes();
    let length = word.needle().len();
    let is_separator = |offset: usize| words.get(offset).is_none_or(|byte| *byte == b' ');
    let is_word = |begin: &usize| {
        begin.checked_sub(1).is_none_or(is_separator) && is_separator(begin + length)
    };
    let found = word.find_iter(words).filter(is_word);
    found.take(MAX_OCCURRENCES).count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
