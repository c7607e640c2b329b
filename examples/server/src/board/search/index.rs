//! Words of texts as in the search index, and bulk indexing of posts.

use std::collections::HashSet;
use std::iter;

use forum_api::host::BoardResult;
use rusqlite::config::DbConfig;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use crate::board::db::{Driver, Transaction, bind};

/// A word of a text.
#[derive(Debug)]
pub struct Word {
    /// Offset in the text, in bytes.
    pub offset: usize,
    pub folded: String,
    /// `true` if the word is one letter of a script without spaces between words.
    pub is_letter: bool,
}

/// Returns the words of a text. A word begins with a letter or a digit, and continues with letters, digits, marks and
/// invisible characters such as a soft hyphen. Each letter of a script without spaces between words is a word, with its
/// marks.
pub fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut letters = text.char_indices().peekable();
    iter::from_fn(move || {
        let (offset, first) =
            letters.find(|(_, letter)| folds_to_itself(*letter) || letter.is_alphanumeric())?;
        let is_letter = is_unspaced(first);
        let mut end = offset + first.len_utf8();
        let continues = |letter| {
            !folds_to_itself(letter)
                && (is_mark(letter)
                    || is_ignored(letter)
                    || !is_letter && letter.is_alphanumeric() && !is_unspaced(letter))
        };
        while let Some((_, next)) = letters.next_if(|(_, letter)| continues(*letter)) {
            end += next.len_utf8();
        }
        let word = text.get(offset..end).unwrap_or_default();
        Some(Word { offset, folded: cut(fold(word)), is_letter })
    })
}

/// Returns whether a character is a letter of a script without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han,
/// and Hangul, which has no space before a particle.
pub fn is_unspaced(letter: char) -> bool {
    let is_in_script = matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}'
        | '\u{1aff0}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}'
    );
    folds_to_itself(letter) || is_in_script && letter.is_alphanumeric() && !is_mark(letter)
}

/// Returns whether a character is a frequent letter of a script without spaces that is folded to itself. The check of such
/// letters avoids look-ups in the tables of Unicode, which take most of the time of a text in these scripts.
const fn folds_to_itself(letter: char) -> bool {
    matches!(letter,
        '\u{e01}'..='\u{e30}' | '\u{e8c}'..='\u{ea3}' | '\u{ea7}'..='\u{eb0}' | '\u{1000}'..='\u{102a}'
        | '\u{1780}'..='\u{17b3}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{2a6df}'
    )
}

/// Returns whether a character belongs to the letter before it: a combining mark, a vowel or a final consonant of a
/// decomposed Hangul syllable, or a halfwidth voicing mark.
fn is_mark(letter: char) -> bool {
    is_combining_mark(letter)
        || matches!(letter, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' | '\u{ff9e}' | '\u{ff9f}')
}

/// Cuts a word to [`MAX_WORD_LENGTH`].
fn cut(mut word: String) -> String {
    if word.len() > MAX_WORD_LENGTH
        && let Some((end, _)) = word.char_indices().nth(MAX_WORD_LENGTH)
    {
        word.truncate(end);
    }
    word
}

/// Folds the form of characters, and the case by upper case and then lower case, so that `ẞ` equals `ß` and `ss`, and `ς`
/// equals `σ`. A word of ignored characters only keeps them.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut all = word.chars();
    if let (Some(letter), None) = (all.next(), all.next())
        && folds_to_itself(letter)
    {
        return word.into();
    }
    fold_letters(word)
}

/// Folds a word with the tables of Unicode.
fn fold_letters(word: &str) -> String {
    let mut letters = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter {
            // Letters of Hangul, and fullwidth and halfwidth forms.
            '\u{3131}'..='\u{318e}' | '\u{ff00}'..='\u{ffef}' => {
                decompose_compatible(letter, |part| letters.push(part));
            }
            letter => letters.push(letter),
        }
    }
    let mut kept = letters.nfd().filter(|letter| !is_ignored(*letter)).peekable();
    if kept.peek().is_none() {
        return letters.nfc().collect();
    }
    let lower = kept.flat_map(char::to_lowercase);
    let upper = lower.flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfc().collect()
}

/// Returns whether a character inside of a word does not matter: an accent of Latin, Greek or Cyrillic, a vowel sign or
/// another mark of Hebrew or Arabic, which most texts omit, the stretching of an Arabic word, a soft hyphen, a joiner or
/// non-joiner, or the choice of a variant. Marks of other scripts, such as the vowels of Hindi, distinguish words.
fn is_ignored(letter: char) -> bool {
    match letter {
        '\u{300}'..='\u{36f}' => !letter.is_alphanumeric(),
        '\u{591}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{670}'
        | '\u{6d6}'..='\u{6ed}' => is_combining_mark(letter),
        '\u{ad}' | '\u{640}' | '\u{200c}' | '\u{200d}' | '\u{2060}' => true,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => true,
        _ => false,
    }
}

/// A word of the index.
#[derive(Debug)]
pub struct IndexWord {
    pub text: String,
    /// Whether the word is a pair of adjacent letters of scripts without spaces.
    pub is_pair: bool,
    /// Whether a search can look the word up. It does not look up a letter of a pair, because the pair is rarer.
    is_key: bool,
}

/// Returns the words of the index for a text: its words, and each pair of adjacent letters of scripts without spaces between
/// the two letters.
fn index_words(text: &str) -> Vec<IndexWord> {
    let mut all: Vec<IndexWord> = Vec::new();
    let mut is_after_letter = false;
    for word in words(text) {
        let is_paired = is_after_letter && word.is_letter;
        if let Some(letter) = all.last_mut().filter(|_| is_paired) {
            letter.is_key = false;
            let text = cut(format!("{}{}", letter.text, word.folded));
            all.push(IndexWord { text, is_pair: true, is_key: true });
        }
        all.push(IndexWord { text: word.folded, is_pair: false, is_key: !is_paired });
        is_after_letter = word.is_letter;
    }
    all
}

/// Maximum number of distinct words of a title or a body in the index. The index of a post takes time and space for each.
const MAX_DISTINCT_WORDS: usize = 8_000;

/// Maximum length of a word in the index, in characters. A `TSVECTOR` of Postgres holds words of up to 2,046 bytes.
const MAX_WORD_LENGTH: usize = 500;

/// Maximum length of the words of a title in the index, in characters. The words of a title are twice in a `TSVECTOR`
/// of Postgres, which holds less than a megabyte.
const MAX_TITLE_LENGTH: usize = 50_000;

/// Maximum length of the words of a body in the index, in characters.
const MAX_BODY_LENGTH: usize = 100_000;

/// Returns the words of the index for a title, separated by spaces.
pub fn title_words(title: &str) -> String {
    first_words(&index_words(title), MAX_TITLE_LENGTH)
}

/// Returns the words of the index for a body, separated by spaces.
pub fn body_words(body: &str) -> String {
    first_words(&index_words(body), MAX_BODY_LENGTH)
}

/// Joins the first words: up to [`MAX_DISTINCT_WORDS`] distinct ones, and up to `max_length` characters with the spaces.
fn first_words(words: &[IndexWord], max_length: usize) -> String {
    let mut distinct = HashSet::new();
    let mut length = 0;
    let mut kept = Vec::new();
    for word in words {
        length += word.text.chars().count();
        distinct.insert(word.text.as_str());
        if length > max_length || distinct.len() > MAX_DISTINCT_WORDS {
            break;
        }
        length += 1;
        kept.push(word.text.as_str());
    }
    kept.join(" ")
}

/// Returns all words of the index for a text, separated by spaces.
#[cfg(test)]
pub fn fold_words(text: &str) -> String {
    let words: Vec<_> = index_words(text).into_iter().map(|word| word.text).collect();
    words.join(" ")
}

/// Returns the shortest sequence of words of the index that contains the words of a text, separated by spaces.
pub fn phrase(text: &str) -> String {
    let mut words = index_words(text);
    let last_key = words.iter().rposition(|word| word.is_key);
    words.truncate(last_key.map_or(0, |last| last + 1));
    let from_first_key = words.into_iter().skip_while(|word| !word.is_key);
    let kept: Vec<_> = from_first_key.map(|word| word.text).collect();
    kept.join(" ")
}

/// Returns the words of the index that a search for a text can look up. Each post that contains the text has all of them.
pub fn keys(text: &str) -> impl Iterator<Item = IndexWord> {
    index_words(text).into_iter().filter(|word| word.is_key)
}

/// Runs `write` without the triggers that index posts, and then indexes the added posts with one statement, which is
/// two to three times as fast. `write` must not change existing posts. The transaction has no timeout.
pub async fn index_in_bulk(
    tx: &Transaction<'_>,
    write: impl Future<Output = BoardResult<()>> + Send,
) -> BoardResult<()> {
    let find_last = "SELECT coalesce(max(id), 0) AS last FROM post";
    let last: i64 = tx.one(find_last, &[], |row| row.value("last")).await?;
    set_index_triggers(tx, false).await?;
    let written = write.await;
    let restored = set_index_triggers(tx, true).await;
    written?;
    restored?;
    let add = tx.dialect(
        "INSERT INTO post_text (rowid, title, body, place)
         SELECT id, title, body, place FROM indexed_post WHERE id > ?1 ORDER BY id",
        "INSERT INTO post_text SELECT * FROM indexed_post WHERE post_id > ?1 ORDER BY post_id",
    );
    tx.execute(add, bind![last]).await?;
    Ok(())
}

/// Enables or disables the triggers that index posts.
async fn set_index_triggers(tx: &Transaction<'_>, enabled: bool) -> BoardResult<()> {
    match &tx.driver {
        Driver::Sqlite(sqlite) => {
            sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled)?;
            Ok(())
        }
        Driver::Postgres(_) if enabled => tx.execute_batch("SET LOCAL board.together = off").await,
        Driver::Postgres(_) => tx.execute_batch("SET LOCAL board.together = on").await,
    }
}

/// Updates the statistics of Postgres after many posts were added, and empties the pending list of the search index, which
/// each search reads until the next post is written.
pub async fn update_statistics(tx: &Transaction<'_>) -> BoardResult<()> {
    let update = "SELECT gin_clean_pending_list('post_text_by_word'); ANALYZE";
    tx.execute_batch(tx.dialect("", update)).await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;
    use crate::board::schema;

    #[test]
    fn the_index_has_a_bounded_part_of_a_text() {
        let letter = "ก".to_owned() + &"\u{e48}".repeat(400);
        let pair = format!("{letter}ก{}", "\u{e48}".repeat(98));
        let numbers =
            |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let known = numbers(MAX_DISTINCT_WORDS).join(" ");
        for (text, words) in [
            (known.clone() + " 7 7", known.clone() + " 7 7"),
            (known.clone() + " 7 new 7", known + " 7"),
            ("x".repeat(600) + " tea", "x".repeat(500) + " tea"),
            ("茶".repeat(600), "茶 茶茶 ".repeat(599) + "茶"),
            (letter.repeat(2), format!("{letter} {pair} {letter}")),
            ("tea ".repeat(30_000), "tea ".repeat(24_999) + "tea"),
            // As many characters as the index has at most.
            (
                "teas ".to_owned() + &"tea ".repeat(30_000),
                "teas ".to_owned() + &"tea ".repeat(24_998) + "tea",
            ),
        ] {
            assert_eq!(body_words(&text), words);
        }
        assert_eq!(title_words(&"tea ".repeat(30_000)), "tea ".repeat(12_499) + "tea");
    }

    /// All characters except those for private use. The omitted planes are empty.
    fn characters() -> impl Iterator<Item = char> {
        ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}')
    }

    #[test]
    fn frequent_letters_are_folded_to_themselves() {
        for letter in characters().filter(|letter| folds_to_itself(*letter)) {
            let word = letter.to_string();
            let is_letter = letter.is_alphanumeric() && !is_mark(letter) && !is_ignored(letter);
            assert!(is_letter, "{word}");
            assert_eq!(fold_letters(&word), word);
        }
    }

    #[test]
    fn words_are_runs_of_letters_digits_and_marks() {
        for (text, words) in [
            ("Some TEA", "some tea"),
            ("Green-leaf, don't", "green leaf don t"),
            ("das Grün, das gru\u{308}n", "das grun das grun"),
            ("Чай ёлка о\u{306}й", "чаи елка ои"),
            ("ΟΔΟΣ, οδός", "οδοσ οδοσ"),
            ("Straße STRASSE", "strasse strasse"),
            ("हिन्दी चाय", "हिन्दी चाय"),
            ("مُحَمَّد أكل كـتـاب, محمد", "محمد اكل كتاب محمد"),
            ("שָׁלוֹם שלום", "שלום שלום"),
            ("Text\u{ad}datei \u{ad} می\u{200c}خواهم \u{640}", "textdatei میخواهم \u{640}"),
            ("Ⓐ ❤\u{fe0f} \u{308} ١", "ⓐ ١"),
            ("上海, tea", "上 上海 海 tea"),
            ("３杯のﾊﾞﾅﾅ", "3 杯 杯の の のバ バ バナ ナ ナナ ナ"),
            ("서울ㅋ \u{1109}\u{1165}", "서 서울 울 울\u{110f} \u{110f} \u{110f}서 서"),
            ("ข้าวABC", "ข้ ข้า า าว ว abc"),
            ("葛\u{e0100}", "葛"),
        ] {
            assert_eq!(fold_words(text), words);
        }
        for (text, offsets) in [
            ("«Чай» — чай.", &[2, 15][..]),
            ("tea \u{308}cup", &[0, 6]),
            ("x茶\u{fe00}杯", &[0, 1, 7]),
        ] {
            let found: Vec<_> = words(text).map(|word| word.offset).collect();
            assert_eq!(found, offsets, "{text}");
        }
        for letter in characters() {
            let expected = usize::from(letter.is_alphanumeric());
            assert_eq!(words(&letter.to_string()).count(), expected, "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn the_index_has_a_phrase_if_the_text_has_its_words(
            text in "([上海タข้서]|ab|[ ，])*", phrase in "([上海タข้서]|ab|[ ，]){0,3}[上a]([上海タข้서]|ab|[ ，]){0,2}"
        ) {
            let folded = |text| words(text).map(|word| word.folded).collect::<Vec<_>>();
            let searched = folded(&phrase);
            let has_words = folded(&text).windows(searched.len()).any(|words| words == searched);
            let index = format!(" {} ", fold_words(&text));
            prop_assert_eq!(index.contains(&format!(" {} ", super::phrase(&phrase))), has_words);
            if has_words {
                let absent = keys(&phrase)
                    .map(|key| key.text)
                    .filter(|key| !index.contains(&format!(" {key} ")));
                prop_assert_eq!(absent.collect::<Vec<_>>(), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn words_are_the_same_in_any_encoding_in_any_case_and_in_the_index() {
        // Each character separately, after a letter, before one, and between two.
        let text: String = characters()
            .map(|letter| format!("{letter} x{letter} {letter}x x{letter}x\n"))
            .collect();
        let words = fold_words(&text);
        let same = |other: &str| {
            let mut pairs = words.split(' ').zip(other.split(' '));
            assert_eq!(pairs.find(|(one, another)| one != another), None);
            assert_eq!(words.len(), other.len());
        };
        same(&fold_words(&text.nfc().to_string()));
        same(&fold_words(&text.nfd().to_string()));
        same(&fold_words(&text.to_uppercase()));
        same(&fold_words(&text.to_lowercase()));
        let index = schema::in_memory();
        index.execute("INSERT INTO post_text (title) VALUES (?1)", [&words]).unwrap();
        let terms = "CREATE VIRTUAL TABLE term USING fts5vocab (post_text, row)";
        index.execute_batch(terms).unwrap();
        let mut select = index.prepare("SELECT term FROM term ORDER BY term").unwrap();
        let terms: Vec<String> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(terms.iter().eq(&BTreeSet::from_iter(words.split(' '))));
    }
}
