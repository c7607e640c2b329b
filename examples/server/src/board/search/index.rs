//! Words of texts as in the search index, and bulk indexing of posts.

use forum_api::host::BoardResult;
use rusqlite::config::DbConfig;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::board::db::{self, Connection, Driver, Transaction, bind};

/// Returns the folded words of a text, separated by spaces.
pub fn fold_words(text: &str) -> String {
    let words: Vec<String> = words(text).map(|(_, word)| word).collect();
    words.join(" ")
}

/// Returns the folded words of a text with their byte offsets. A word begins with a letter or a digit, and continues
/// with letters, digits and marks.
pub fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut end = 0;
    let words = text.split_inclusive(is_separator).filter_map(move |run| {
        let begin = end;
        end += run.len();
        let (marks, word) = run.split_at(run.find(char::is_alphanumeric)?);
        Some((begin + marks.len(), word.trim_end_matches(is_separator)))
    });
    words.map(|(offset, word)| (offset, fold(word)))
}

fn is_separator(letter: char) -> bool {
    !letter.is_alphanumeric() && !is_combining_mark(letter)
}

/// Folds the case by upper case and then lower case, so that `ẞ` equals `ß` and `ss`, and `ς` equals `σ`.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let letters = word.nfd().filter(|letter| !is_accent(*letter));
    let lower = letters.flat_map(char::to_lowercase);
    let upper = lower.flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// Returns whether a character is a mark of Latin, Greek or Cyrillic and not a letter. Marks of other scripts, such as
/// the vowels of Hindi, distinguish words.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}') && !letter.is_alphanumeric()
}

/// Runs `write` without the triggers that index posts, and then indexes the added posts with one statement, which is
/// two to three times as fast. `write` must not change existing posts.
pub async fn index_in_bulk(
    tx: &Transaction<'_>,
    write: impl Future<Output = BoardResult<()>> + Send,
) -> BoardResult<()> {
    let last = last_post(tx).await?;
    remove_timeout(tx).await?;
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
async fn set_index_triggers(tx: &Transaction<'_>, enabled: bool) -> db::DbResult<()> {
    match &tx.driver {
        Driver::Sqlite(sqlite) => {
            sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, enabled)?;
            Ok(())
        }
        Driver::Postgres(_) if enabled => tx.execute_batch("SET LOCAL board.together = off").await,
        Driver::Postgres(_) => tx.execute_batch("SET LOCAL board.together = on").await,
    }
}

/// Updates the statistics of Postgres after many posts were added.
pub async fn update_statistics(tx: &Transaction<'_>) -> db::DbResult<()> {
    remove_timeout(tx).await?;
    tx.execute_batch(tx.dialect("", "ANALYZE")).await
}

/// Removes the timeout of the statements of this transaction.
async fn remove_timeout(tx: &Transaction<'_>) -> db::DbResult<()> {
    tx.execute_batch(tx.dialect("", "SET LOCAL statement_timeout = 0"))
        .await
}

async fn last_post(connection: &Connection<'_>) -> db::DbResult<i64> {
    let find = "SELECT coalesce(max(id), 0) AS last FROM post";
    connection.one(find, &[], |row| row.value("last")).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::schema;

    /// All characters except those for private use. The omitted planes are empty.
    fn characters() -> impl Iterator<Item = char> {
        ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}')
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
            ("Ⓐ ❤\u{fe0f} \u{308} ١", "ⓐ ١"),
        ] {
            assert_eq!(fold_words(text), words);
        }
        let places = words("«Чай» — чай.").map(|(place, _)| place);
        assert_eq!(places.collect::<Vec<_>>(), [2, 15]);
        let places = words("tea \u{308}cup").map(|(place, _)| place);
        assert_eq!(places.collect::<Vec<_>>(), [0, 6]);
        for letter in characters() {
            let expected = usize::from(letter.is_alphanumeric());
            assert_eq!(words(&letter.to_string()).count(), expected, "{letter:?}");
        }
    }

    #[test]
    fn words_are_the_same_in_any_encoding_in_any_case_and_in_the_index() {
        // Each character separately, after a letter, before one, and between two.
        let texts = characters().map(|letter| format!("{letter} x{letter} {letter}x x{letter}x\n"));
        let text: String = texts.collect();
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
        let add = "INSERT INTO post_text (title) VALUES (?1)";
        index.execute(add, [&words]).unwrap();
        let terms = "CREATE VIRTUAL TABLE term USING fts5vocab (post_text, instance)";
        index.execute_batch(terms).unwrap();
        let mut select = index
            .prepare("SELECT term FROM term ORDER BY offset")
            .unwrap();
        let terms = select.query_map([], |row| row.get(0)).unwrap();
        same(&terms.map(Result::unwrap).collect::<Vec<String>>().join(" "));
    }
}
