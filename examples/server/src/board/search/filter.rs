//! Condition of a search: its filters in the query dialect of the index.

use std::collections::{BTreeSet, HashSet};
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::{ForumId, SearchField, SearchFilter, SearchQuery, Timestamp};

use super::index;
use super::text_match::{TextMatch, required_terms};
use crate::board::access::actor::Actor;
use crate::board::accounts;
use crate::board::db::{Connection, Row, bind, json};

/// A match, ordered by score and age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    pub score: i64,
    pub post: i64,
    pub thread: i64,
}

#[derive(Debug)]
pub struct MatchCondition {
    /// Words and author in the dialect of the index. Posts that match it are candidates, whose texts `text` checks.
    pub query: String,
    /// Number of words that the index looks up.
    pub lookups: i64,
    pub text: TextMatch,
    /// Condition on the forums: a suffix of `query` for FTS5, and a JSON list for Postgres.
    pub place: String,
    pub forums: BTreeSet<i64>,
    pub posts: RangeInclusive<i64>,
    /// Times of the posts, in milliseconds.
    pub times: Range<i64>,
    dialect: &'static QueryDialect,
}

/// Longest time by which a post can be older than another post with a smaller id. Ids follow time in a forum, but not from
/// one forum to another: a clock that is ahead delays the times of one forum only. If a clock was ahead by more than this,
/// a search with an end of `when` before the times that this clock wrote can omit posts that were written after them.
const TOLERANCE: Duration = Duration::from_secs(24 * 60 * 60);

/// All posts.
pub const ALL_POSTS: RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// All times.
pub const ALL_TIMES: Range<i64> = i64::MIN..i64::MAX;

impl MatchCondition {
    /// Returns the condition of `filter`; `None` if nothing can match.
    pub async fn of(
        connection: &Connection<'_>,
        actor: &Actor,
        filter: &SearchFilter,
        now: Timestamp,
    ) -> BoardResult<Option<Self>> {
        let mut forums: BTreeSet<i64> = actor.visible_forums().collect();
        if !filter.forum.is_empty() {
            forums = with_descendants(connection, &filter.forum, &forums).await?;
        }
        let author = match &filter.by {
            Some(by) => Some(accounts::find(connection, by).await?),
            None => None,
        };
        let has_condition = filter.q.is_some() || filter.by.is_some();
        if forums.is_empty() || author == Some(None) || !has_condition {
            return Ok(None);
        }
        let times = filter.when.as_ref().map_or(ALL_TIMES, |when| {
            let (from, until) = when.bounds(now);
            let from = from.map_or(i64::MIN, Timestamp::as_millis);
            from..until.map_or(i64::MAX, Timestamp::as_millis)
        });
        let posts =
            if times == ALL_TIMES { ALL_POSTS } else { posts_in_range(connection, &times).await? };
        let dialect: &QueryDialect = connection.dialect(&FTS5, &TSQUERY);
        let is_whole_board = filter.forum.is_empty() && actor.sees_all();
        let place = (dialect.place)(&forums, is_whole_board);
        let new = Self::new(dialect, filter, author.flatten(), place, forums);
        Ok(Some(Self { posts, times, ..new }))
    }

    /// Returns the condition without limits of ids and times.
    pub fn new(
        dialect: &'static QueryDialect,
        filter: &SearchFilter,
        author: Option<i64>,
        place: String,
        forums: BTreeSet<i64>,
    ) -> Self {
        let (query, lookups) = dialect.query(filter, author);
        let text = TextMatch::of(filter);
        let (posts, times) = (ALL_POSTS, ALL_TIMES);
        Self { query, lookups, text, place, forums, posts, times, dialect }
    }

    /// Returns whether the condition has times. A statement need not return the times of candidates otherwise.
    pub fn has_times(&self) -> bool {
        self.times != ALL_TIMES
    }

    /// Returns the match of the candidate in a row; `None` if its texts or its time do not match.
    pub fn matched(&self, row: &Row<'_>, post: i64) -> BackendResult<Option<Match>> {
        if self.has_times() && !self.times.contains(&row.value("created_at")?) {
            return Ok(None);
        }
        let body = row.text("body_words")?.unwrap_or_default();
        let score = self.text.score(row.text("title_words")?, body);
        let thread = row.value("thread")?;
        Ok(score.map(|score| Match { score, post, thread }))
    }

    /// Returns the query for candidates in a thread.
    pub fn query_in_thread(&self, thread: i64) -> String {
        format!("{}{}{}", self.query, self.dialect.and, (self.dialect.thread)(thread))
    }
}

/// Returns the visible forums that are named or have a visible named ancestor.
async fn with_descendants(
    connection: &Connection<'_>,
    named: &[ForumId],
    visible: &BTreeSet<i64>,
) -> BoardResult<BTreeSet<i64>> {
    let named_ids: BTreeSet<i64> = named.iter().filter_map(|forum| forum.to_i64().ok()).collect();
    let roots = Vec::from_iter(&named_ids & visible);
    let find = "
        WITH RECURSIVE below (id) AS (
            SELECT CAST(value AS BIGINT) FROM json_each(?1)
            UNION
            SELECT forum.id FROM below JOIN forum ON forum.parent_id = below.id
        )
        SELECT id FROM below";
    let found = connection.all(find, bind![json(&roots)?], |row| row.value("id")).await?;
    Ok(&BTreeSet::from_iter(found) & visible)
}

/// Returns a range of ids that contains the posts of a range of times.
async fn posts_in_range(
    connection: &Connection<'_>,
    times: &Range<i64>,
) -> BoardResult<RangeInclusive<i64>> {
    let tolerance = TOLERANCE.as_millis() as i64;
    let before = times.start.saturating_sub(tolerance);
    let after = times.end.saturating_add(tolerance);
    // The condition of the index `post_by_age` on Postgres is `id > 0`.
    let find = "
        SELECT
            (SELECT id FROM post WHERE created_at < ?1 AND id > 0 ORDER BY created_at DESC, id DESC LIMIT 1) AS earlier,
            (SELECT id FROM post WHERE created_at >= ?2 AND id > 0 ORDER BY created_at, id LIMIT 1) AS later";
    let read = |row: &Row<'_>| Ok((row.value("earlier")?, row.value("later")?));
    let (earlier, later): (Option<i64>, Option<i64>) =
        connection.one(find, bind![before, after], read).await?;
    let first = earlier.map_or(i64::MIN, |earlier| earlier.saturating_add(1));
    let last = later.map_or(i64::MAX, |later| later.saturating_sub(1));
    Ok(first..=last)
}

/// Reads a range of ids from its ends; an empty range if it has none.
pub fn read_range(row: &Row<'_>) -> BackendResult<RangeInclusive<i64>> {
    let first: Option<i64> = row.value("first")?;
    let last: Option<i64> = row.value("last")?;
    Ok(first.unwrap_or(i64::MAX)..=last.unwrap_or(i64::MIN))
}

/// The query language of an index.
#[derive(Debug)]
pub struct QueryDialect {
    and: &'static str,
    or: &'static str,
    without: &'static str,
    word: fn(SearchField, word: &str) -> String,
    author: fn(i64) -> String,
    thread: fn(i64) -> String,
    place: fn(forums: &BTreeSet<i64>, is_whole_board: bool) -> String,
    /// Returns whether the index finds only words of the searched texts.
    is_exact: fn(SearchField) -> bool,
}

/// FTS5 of SQLite. Quoted words are not operators.
pub const FTS5: QueryDialect = QueryDialect {
    and: " AND ",
    or: " OR ",
    without: " NOT ",
    word: |field, word| match field {
        SearchField::All => format!("{{title body}} : \"{word}\""),
        SearchField::Titles => format!("title : \"{word}\""),
        SearchField::Posts => format!("body : \"{word}\""),
    },
    author: |id| format!("place : m{id}"),
    thread: |id| format!("place : t{id}"),
    // FTS5 looks up each forum for each match.
    place: |forums, is_whole_board| {
        if is_whole_board {
            String::new()
        } else {
            let words: Vec<_> = forums.iter().map(|id| format!("place : f{id}")).collect();
            format!("{}{}", FTS5.and, group(&words, FTS5.or))
        }
    },
    is_exact: |_| true,
};

/// Queries of Postgres. A prefix marks the kind of a word: `=` for titles, `#` for authors, `^` for threads. Words without
/// a prefix are those of titles and bodies. Words contain neither these characters nor quotes.
pub const TSQUERY: QueryDialect = QueryDialect {
    and: " & ",
    or: " | ",
    without: " & !",
    word: |field, word| match field {
        SearchField::All | SearchField::Posts => format!("'{word}'"),
        SearchField::Titles => format!("'={word}'"),
    },
    author: |id| format!("'#{id}'"),
    thread: |id| format!("'^{id}'"),
    place: |forums, _| serde_json::json!(forums).to_string(),
    is_exact: |field| field != SearchField::Posts,
};

impl QueryDialect {
    /// Returns the query for candidates and the number of its lookups. The index has no places of words: it finds posts with
    /// the [`looked_up`] words of the required terms, and without the excluded words. Excluded phrases are left to
    /// [`TextMatch`], as are excluded words where the index does not distinguish titles from bodies.
    fn query(&self, filter: &SearchFilter, author: Option<i64>) -> (String, i64) {
        let words = |words: BTreeSet<String>| -> Vec<_> {
            words.iter().map(|word| (self.word)(filter.field, word)).collect()
        };
        let terms = || filter.q.iter().flat_map(SearchQuery::terms);
        let mut required = words(looked_up(filter.q.as_ref()));
        required.extend(author.map(self.author));
        let excluded_words = terms()
            .filter(|term| term.excluded && (self.is_exact)(filter.field))
            .map(|term| index::phrase(&term.text))
            .filter(|words| !words.contains(' '))
            .collect();
        let excluded = words(excluded_words);
        let lookups = (required.len() + excluded.len()) as i64;
        let required = group(&required, self.and);
        let query = match &*excluded {
            [] => required,
            excluded => format!("({required}{}{})", self.without, group(excluded, self.or)),
        };
        (query, lookups)
    }
}

/// Maximum number of pairs of letters that a query looks up for its terms of several pairs. Each lookup costs time in each
/// part of the index that is read.
const MAX_PAIRS: usize = 10;

/// Returns the words that a query looks up for the required terms: each word, each term that is one pair of letters, and at
/// most [`MAX_PAIRS`] of the other pairs, chosen at equal distances in the order of the query. A post with these pairs of a
/// long run of letters nearly always has the others. [`TextMatch`] checks all pairs.
fn looked_up(query: Option<&SearchQuery>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut pairs = Vec::new();
    let mut distinct = HashSet::new();
    for term in required_terms(query) {
        let keys: Vec<_> = index::keys(&term.text).collect();
        let is_one_key = keys.len() == 1;
        for key in keys {
            if is_one_key || !key.is_pair {
                words.insert(key.text);
            } else if distinct.insert(key.text.clone()) {
                pairs.push(key.text);
            }
        }
    }
    let count = pairs.len().min(MAX_PAIRS);
    words.extend((0..count).filter_map(|n| pairs.get(n * pairs.len() / count).cloned()));
    words
}

fn group(parts: &[String], by: &str) -> String {
    match parts {
        [part] => part.clone(),
        parts => format!("({})", parts.join(by)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, prop_assert_eq, prop_oneof, proptest};

    use super::{BTreeSet, FTS5, MatchCondition, SearchFilter, SearchQuery, looked_up};
    use crate::board::schema;
    use crate::board::search::index::fold_words;

    /// Queries that contain operators of FTS5.
    fn queries() -> impl Strategy<Value = String> {
        let command = prop::sample::select(vec![
            "AND", "-OR", "NOT", "NEAR(", ")", "^", "tea*", "+", "title : ", "{body}", "-", "\"",
            "'",
        ]);
        let part = prop_oneof![command.prop_map(str::to_owned), "\\PC{1,6}"];
        prop::collection::vec(part, 1..12).prop_map(|parts| parts.join(" "))
    }

    #[test]
    fn a_query_looks_up_all_words_and_few_pairs_of_letters() {
        let letters: String = ('一'..).take(198).collect();
        let phrases: Vec<_> =
            letters.chars().collect::<Vec<_>>().chunks(9).take(17).map(String::from_iter).collect();
        let words = (0..32).map(|word| word.to_string()).collect::<Vec<_>>().join(" ");
        let terms: Vec<_> = phrases.iter().map(|phrase| &phrase[..6]).take(11).collect();
        for (query, lookups) in [
            (letters.as_str(), 10),
            (&phrases.join(" "), 10),
            (&words, 32),
            ("上海的茶 tea 茶", 5),
            (&"的".repeat(198), 1),
            (&letters[..33], 10),
            (&letters[..36], 10),
            (&terms.join(" "), 11),
            // Twenty letters that repeat: each pair is looked up once.
            (&letters[..60].repeat(9), 10),
        ] {
            let filter = SearchFilter::new(SearchQuery::parse(query).unwrap());
            let condition =
                MatchCondition::new(&FTS5, &filter, None, String::new(), BTreeSet::new());
            assert_eq!(condition.lookups, lookups, "{query}");
        }
    }

    /// The index finds a text with the pairs that are looked up.
    #[test]
    fn a_text_without_the_other_pairs_does_not_match() {
        let letters: String = ('一'..).take(198).collect();
        let filter = SearchFilter::new(SearchQuery::parse(&letters).unwrap());
        let condition = MatchCondition::new(&FTS5, &filter, None, String::new(), BTreeSet::new());
        let pairs: Vec<_> = looked_up(filter.q.as_ref()).into_iter().collect();
        for (body, is_match) in [(fold_words(&letters), true), (pairs.join(" "), false)] {
            let index = schema::in_memory();
            index.execute("INSERT INTO post_text (body) VALUES (?1)", [&body]).unwrap();
            let count = "SELECT count(*) FROM post_text (?1)";
            let found: i64 = index.query_row(count, [&condition.query], |row| row.get(0)).unwrap();
            assert_eq!(found, 1, "{body}");
            assert_eq!(condition.text.score(None, &body).is_some(), is_match, "{body}");
        }
    }

    proptest! {
        #[test]
        fn a_text_with_all_words_is_found_unless_one_of_them_is_excluded(query in queries()) {
            let Ok(query) = SearchQuery::parse(&query) else {
                return Ok(());
            };
            let index = schema::in_memory();
            let (excluded, required): (Vec<_>, Vec<_>) = query.terms().iter().partition(|term| term.excluded);
            let required: Vec<_> = required.iter().map(|term| fold_words(&term.text)).collect();
            let body = format!(" {} ", required.join(" "));
            let found_excluded = excluded.iter().any(|term| body.contains(&format!(" {} ", fold_words(&term.text))));
            index.execute("INSERT INTO post_text (body) VALUES (?1)", [&body]).unwrap();
            let filter = SearchFilter::new(query);
            let condition = MatchCondition::new(&FTS5, &filter, None, String::new(), BTreeSet::new());
            let count = "SELECT count(*) FROM post_text (?1)";
            let found: i64 = index.query_row(count, [&condition.query], |row| row.get(0)).unwrap();
            let is_match = condition.text.score(None, body.trim()).is_some();
            prop_assert_eq!(found == 1 && is_match, !found_excluded);
        }
    }
}
