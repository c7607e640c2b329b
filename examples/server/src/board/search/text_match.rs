//! Check and score of the texts of a candidate: a post with the words of a search.

use std::collections::{BTreeSet, HashMap};
use std::iter::repeat_n;

use forum_api::model::{SearchField, SearchFilter, SearchQuery, SearchTerm};
use memchr::memmem::Finder;

use super::index;

/// Weight of a word in a title.
const TITLE_WEIGHT: f32 = 1.0;

/// Weight of a word in a body.
const BODY_WEIGHT: f32 = 0.2;

/// Maximum number of occurrences of a word that count.
const MAX_OCCURRENCES: usize = 256;

/// Sum of 1/n² over all n.
const SUM_OF_INVERSE_SQUARES: f64 = 1.644_934_066_85;

/// Length of an average post, in bytes.
const AVERAGE_LENGTH: f64 = 400.0;

/// Returns the terms that the texts of a match have.
pub fn required_terms(query: Option<&SearchQuery>) -> impl Iterator<Item = &SearchTerm> {
    query.into_iter().flat_map(SearchQuery::terms).filter(|term| !term.excluded)
}

/// The terms of a search, to be checked in folded words. The costs of a check are linear in the length of the texts, and do
/// not depend on the number of words.
#[derive(Debug)]
pub struct TextMatch {
    field: SearchField,
    /// The required words with their numbers.
    words: HashMap<Box<[u8]>, usize>,
    /// Lengths and first bytes of the required words. Most words of a text are not looked up.
    marks: WordMarks,
    phrases: Vec<Phrase>,
}

#[derive(Debug)]
struct Phrase {
    /// Finds the words with a blank before and after.
    finder: Finder<'static>,
    is_excluded: bool,
}

impl TextMatch {
    pub fn of(filter: &SearchFilter) -> Self {
        let required = required_terms(filter.q.as_ref());
        let words = required.flat_map(|term| index::keys(&term.text)).map(|key| key.text).collect();
        let terms = filter.q.iter().flat_map(SearchQuery::terms);
        let phrases: BTreeSet<_> =
            terms.map(|term| (index::phrase(&term.text), term.excluded)).collect();
        // The index of Postgres does not distinguish the words of bodies from those of titles.
        let is_checked = |(words, is_excluded): &(String, bool)| {
            words.contains(' ') || *is_excluded && filter.field == SearchField::Posts
        };
        let phrase = |(words, is_excluded)| {
            let finder = Finder::new(&format!(" {words} ")).into_owned();
            Phrase { finder, is_excluded }
        };
        Self {
            field: filter.field,
            marks: WordMarks::of(&words),
            words: words.into_iter().map(|word| word.into_bytes().into()).zip(0..).collect(),
            phrases: phrases.into_iter().filter(is_checked).map(phrase).collect(),
        }
    }

    /// Returns the number of phrases, each of which is searched for in the texts.
    pub fn phrases(&self) -> i64 {
        self.phrases.len() as i64
    }

    /// Returns the score of a post with these folded words in millionths; `None` if the post does not match. The score does
    /// not depend on other posts, on the caller, or on concurrent writes. Each word adds the weights of its occurrences,
    /// and longer bodies have lower scores. The score of a search without words is 0.
    ///
    /// A post that is not the first of its thread has no title. A search in titles without words finds posts with a title.
    pub fn score(&self, title: Option<&str>, body: &str) -> Option<i64> {
        if self.field == SearchField::Titles && title.is_none() {
            return None;
        }
        let title = title.unwrap_or_default();
        let in_title = self.count(title);
        let in_body = self.count(body);
        let occurs = |(in_title, in_body): (&usize, &usize)| match self.field {
            SearchField::All => in_title + in_body > 0,
            SearchField::Titles => *in_title > 0,
            SearchField::Posts => *in_body > 0,
        };
        if !in_title.iter().zip(&in_body).all(occurs) || !self.has_phrases(title, body) {
            return None;
        }
        let mut sum = 0.0_f32;
        for (in_title, in_body) in in_title.iter().zip(&in_body) {
            let weight = weight_of(*in_title, *in_body);
            sum = (f64::from(sum) + f64::from(weight) / SUM_OF_INVERSE_SQUARES) as f32;
        }
        let length = (1.0 + body.len() as f64 / AVERAGE_LENGTH).sqrt();
        let mean = sum / self.words.len().max(1) as f32;
        Some((f64::from(mean) * 1e6 / length) as i64)
    }

    /// Counts the occurrences of each required word, up to [`MAX_OCCURRENCES`].
    fn count(&self, text: &str) -> Vec<usize> {
        let mut counts = vec![0; self.words.len()];
        for word in text.as_bytes().split(|byte| *byte == b' ') {
            if self.marks.has(word)
                && let Some(number) = self.words.get(word)
                && let Some(count) = counts.get_mut(*number)
            {
                *count = MAX_OCCURRENCES.min(*count + 1);
            }
        }
        counts
    }

    /// Returns whether the searched texts have all required phrases and no excluded one.
    fn has_phrases(&self, title: &str, body: &str) -> bool {
        if self.phrases.is_empty() {
            return true;
        }
        let texts = match self.field {
            SearchField::All => format!(" {title}  {body} "),
            SearchField::Titles => format!(" {title} "),
            SearchField::Posts => format!(" {body} "),
        };
        let has = |phrase: &Phrase| phrase.finder.find(texts.as_bytes()).is_some();
        self.phrases.iter().all(|phrase| has(phrase) != phrase.is_excluded)
    }
}

/// Set of the first bytes of words by length. Most words that are not in the set of words are not in this set.
#[derive(Debug)]
struct WordMarks([u64; 256]);

impl WordMarks {
    fn of(words: &BTreeSet<String>) -> Self {
        let mut marks = [0; 256];
        for word in words {
            if let Some(lengths) =
                word.bytes().next().and_then(|byte| marks.get_mut(usize::from(byte)))
            {
                *lengths |= Self::length(word.len());
            }
        }
        Self(marks)
    }

    fn has(&self, word: &[u8]) -> bool {
        let first = word.first().copied().unwrap_or_default();
        self.0
            .get(usize::from(first))
            .is_some_and(|lengths| lengths & Self::length(word.len()) != 0)
    }

    /// Returns the bit of a length; long lengths share bits.
    const fn length(length: usize) -> u64 {
        1 << (length % 64)
    }
}

/// Adds the weights of a word's occurrences, first in the title and then in the body. The n-th occurrence has 1/n² of
/// its weight.
fn weight_of(in_title: usize, in_body: usize) -> f32 {
    let weights = repeat_n(TITLE_WEIGHT, in_title).chain(repeat_n(BODY_WEIGHT, in_body));
    let first = weights.clone().next().unwrap_or_default();
    let parts = (1..=MAX_OCCURRENCES).zip(weights);
    first + parts.map(|(n, weight)| weight / (n * n) as f32).sum::<f32>() - first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(query: &str, text: &str) -> Vec<usize> {
        let filter = SearchFilter::new(SearchQuery::parse(query).unwrap());
        TextMatch::of(&filter).count(text)
    }

    #[test]
    fn occurrences_are_whole_words() {
        for (query, text, expected) in [
            ("tea", "tea", vec![1]),
            ("tea", "tea tea steam teas tea", vec![3]),
            ("tete", "tetete tete", vec![1]),
            ("tea", "", vec![0]),
            ("tea cup", "cup tea cup", vec![2, 1]),
        ] {
            assert_eq!(counts(query, text), expected, "{text}");
        }
        assert_eq!(counts("tea", &"tea ".repeat(1000)), [MAX_OCCURRENCES]);
    }

    #[test]
    fn phrases_are_found_in_the_searched_texts() {
        let all = SearchField::All;
        for (query, field, title, body, is_match) in [
            ("\"green tea\"", all, None, "green tea", true),
            ("\"green tea\"", all, None, "green x green tea", true),
            ("\"green tea\"", all, None, "evergreen teas green", false),
            ("\"green tea\"", all, Some("a green"), "tea cup", false),
            ("\"green tea\"", all, Some("green tea"), "cup", true),
            ("\"green tea\"", SearchField::Posts, Some("green tea"), "tea green", false),
            ("\"green tea\"", SearchField::Titles, Some("green"), "green tea", false),
            ("tea -\"green tea\"", all, None, "tea green tea", false),
            ("tea -cup", SearchField::Posts, Some("cup"), "tea", true),
            ("tea -cup", SearchField::Posts, Some("tea"), "tea cup", false),
            ("tea", SearchField::Posts, Some("tea"), "cup", false),
        ] {
            let mut filter = SearchFilter::new(SearchQuery::parse(query).unwrap());
            filter.field = field;
            let score = TextMatch::of(&filter).score(title, body);
            assert_eq!(score.is_some(), is_match, "{query} in {title:?} {body}");
        }
    }
}
