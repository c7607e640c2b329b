//! Words of texts as the index holds them, and adding many posts at once.

use forum_api::host::BoardResult;
use rusqlite::config::DbConfig;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::super::db::{self, Connection, Transaction, bind};

/// The folded words of a text, separated by blanks.
pub fn fold_words(text: &str) -> String {
    let words: Vec<String> = words(text).map(|(_, word)| word).collect();
    words.join(" ")
}

/// The folded words of a text and where each begins, in bytes. A word begins with a letter or a digit, and continues
/// with letters, digits and marks.
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

/// By direction of small letters and capitals: `ẞ` has the capitals of `ß`, which are two, and `ς` has that of `σ`.
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

/// Runs `write`, and puts the posts that it adds into the index together: one after the other, as the triggers do it,
/// they would take two or three times as long. It changes no post that is there.
pub async fn together(
    tx: &Transaction<'_>,
    write: impl Future<Output = BoardResult<()>> + Send,
) -> BoardResult<()> {
    let last = last_post(tx).await?;
    one_by_one(tx, false).await?;
    let written = write.await;
    let restored = one_by_one(tx, true).await;
    written?;
    restored?;
    let add = tx.dialect(
        "INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
         SELECT id, title, body, place, thread_id, forum_id FROM indexed_post WHERE id > ?1 ORDER BY id",
        "INSERT INTO post_text SELECT * FROM indexed_post WHERE post_id > ?1 ORDER BY post_id",
    );
    tx.change(add, bind![last]).await?;
    Ok(())
}

/// Enables or disables the triggers that index posts.
async fn one_by_one(tx: &Transaction<'_>, one_by_one: bool) -> db::DbResult<()> {
    match &**tx {
        Connection::Sqlite(sqlite) => {
            sqlite.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, one_by_one)?;
            Ok(())
        }
        Connection::Postgres(_) if one_by_one => tx.run("SET LOCAL board.together = off").await,
        Connection::Postgres(_) => tx.run("SET LOCAL board.together = on").await,
    }
}

/// Updates the statistics of Postgres after many posts were added.
pub async fn learn(tx: &Transaction<'_>) -> db::DbResult<()> {
    tx.run(tx.dialect("", "SET LOCAL statement_timeout = 0; ANALYZE"))
        .await
}

async fn last_post(connection: &Connection<'_>) -> db::DbResult<i64> {
    let find = "SELECT coalesce(max(id), 0) FROM post";
    connection.one(find, &[], |row| row.value()).await
}

#[cfg(test)]
mod tests {
    use super::super::super::schema;
    use super::*;

    /// All characters but private ones. The planes between are empty.
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
        let mut terms = index
            .prepare("SELECT term FROM term ORDER BY offset")
            .unwrap();
        let terms = terms.query_map([], |row| row.get(0)).unwrap();
        same(&terms.map(Result::unwrap).collect::<Vec<String>>().join(" "));
    }
}
