//! What a word is. It is said here alone: the index gets its texts folded, with blanks between the words.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The words of a text as the index has them, with blanks between.
pub fn folded(text: &str) -> String {
    let words: Vec<String> = words(text).map(|(_, word)| word).collect();
    words.join(" ")
}

/// The words of a text, without case and accents, and where each begins, in bytes. A word begins with a letter or a
/// digit, and goes on with letters, digits and marks.
pub fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut end = 0;
    let words = text.split_inclusive(is_between).filter_map(move |run| {
        let begin = end;
        end += run.len();
        let (marks, word) = run.split_at(run.find(char::is_alphanumeric)?);
        Some((begin + marks.len(), word.trim_end_matches(is_between)))
    });
    words.map(|(place, word)| (place, fold(word)))
}

fn is_between(letter: char) -> bool {
    !letter.is_alphanumeric() && !is_combining_mark(letter)
}

/// By way of small letters and capitals: `ẞ` has the capitals of `ß`, which are two, and `ς` has that of `σ`.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let letters = word.nfd().filter(|letter| !is_accent(*letter));
    let small = letters.flat_map(char::to_lowercase);
    let capitals = small.flat_map(char::to_uppercase);
    capitals.flat_map(char::to_lowercase).collect()
}

/// The marks of Latin, Greek and Cyrillic, but for those that are letters. Others, as a vowel of Hindi, make other
/// words.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}') && !letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::super::super::schema;
    use super::{folded, words};

    /// Every character there is, but for private ones: in the planes between there are none.
    fn characters() -> impl Iterator<Item = char> {
        ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}')
    }

    /// Each of them alone, after a letter, before one, and between two.
    fn everything() -> String {
        let texts = characters().map(|letter| format!("{letter} x{letter} {letter}x x{letter}x\n"));
        texts.collect()
    }

    fn assert_same(some: &str, other: &str) {
        let mut pairs = some.split(' ').zip(other.split(' '));
        assert_eq!(pairs.find(|(one, another)| one != another), None);
        assert_eq!(some.len(), other.len());
    }

    #[test]
    fn are_runs_of_letters_digits_and_marks() {
        for (text, words) in [
            ("Some TEA", "some tea"),
            ("Green-leaf, don't", "green leaf don t"),
            ("das Grün, das gru\u{308}n", "das grun das grun"),
            ("Чай ёлка о\u{306}й", "чаи елка ои"),
            ("ΟΔΟΣ, οδός", "οδοσ οδοσ"),
            ("Straße STRASSE", "strasse strasse"),
            ("हिन्दी चाय", "हिन्दी चाय"),
            ("Ⓐ ❤\u{fe0f} \u{308} ١", "ⓐ ١"),
        ] {
            assert_eq!(folded(text), words);
        }
    }

    #[test]
    fn stand_where_they_begin() {
        let places = words("«Чай» — чай.").map(|(place, _)| place);
        assert_eq!(places.collect::<Vec<_>>(), [2, 15]);
    }

    #[test]
    fn a_letter_or_a_digit_makes_one_and_nothing_else_does() {
        for letter in characters() {
            let expected = usize::from(letter.is_alphanumeric());
            assert_eq!(words(&letter.to_string()).count(), expected, "{letter:?}");
        }
    }

    #[test]
    fn are_the_same_however_they_are_coded_and_whatever_their_case() {
        let text = everything();
        let words = folded(&text);
        assert_same(&words, &folded(&text.nfc().to_string()));
        assert_same(&words, &folded(&text.nfd().to_string()));
        assert_same(&words, &folded(&text.to_uppercase()));
        assert_same(&words, &folded(&text.to_lowercase()));
    }

    #[test]
    fn are_the_same_in_the_index() {
        let index = schema::in_memory();
        let words = folded(&everything());
        let mut add = index
            .prepare("INSERT INTO post_text (title) VALUES (?1)")
            .unwrap();
        add.execute([&words]).unwrap();
        index
            .execute_batch("CREATE VIRTUAL TABLE term USING fts5vocab (post_text, instance)")
            .unwrap();
        let mut terms = index
            .prepare("SELECT term FROM term ORDER BY offset")
            .unwrap();
        let terms = terms.query_map([], |row| row.get(0)).unwrap();
        let terms: Vec<String> = terms.map(Result::unwrap).collect();
        assert_same(&words, &terms.join(" "));
    }
}
