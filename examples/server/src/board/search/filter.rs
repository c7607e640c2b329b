//! Condition of a search: its filters in the query dialect of the index.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use forum_api::host::BoardResult;
use forum_api::model::{DateRange, ForumId, SearchField, SearchFilter, SearchQuery, Timestamp};

use super::index;
use super::score::{Scorer, required_words};
use crate::board::access::actor::Actor;
use crate::board::access::visibility::between_commas;
use crate::board::accounts;
use crate::board::db::{Connection, bind};

#[derive(Debug)]
pub struct MatchCondition {
    /// Terms in the dialect of the index.
    pub text: String,
    /// Words to score, as a query of Postgres.
    pub words: String,
    pub scorer: Scorer,
    /// Condition on the forums: a suffix of `text` for FTS5, and a JSON list for Postgres.
    pub place: String,
    pub forums: BTreeSet<i64>,
    pub posts: RangeInclusive<i64>,
}

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
        if forums.is_empty() || author == Some(None) {
            return Ok(None);
        }
        let posts = match &filter.when {
            Some(when) => posts_in_range(connection, when, now).await?,
            None => i64::MIN..=i64::MAX,
        };
        let dialect: &QueryDialect = connection.dialect(&FTS5, &TSQUERY);
        let is_whole_board = filter.forum.is_empty() && actor.sees_all();
        Ok(Some(Self {
            text: dialect.text(filter, author.flatten()),
            words: words_to_score(filter),
            scorer: Scorer::of(&filter.q),
            place: (dialect.place)(&forums, is_whole_board),
            forums,
            posts,
        }))
    }
}

/// Returns the visible forums that are named or have a visible named ancestor.
async fn with_descendants(
    connection: &Connection<'_>,
    named: &[ForumId],
    visible: &BTreeSet<i64>,
) -> BoardResult<BTreeSet<i64>> {
    let named_ids = named.iter().filter_map(|forum| forum.to_i64().ok());
    let roots = between_commas(named_ids.filter(|forum| visible.contains(forum)));
    let find = "
        WITH RECURSIVE below (id) AS (
            SELECT id FROM forum WHERE instr(?1, ',' || id || ',') > 0
            UNION
            SELECT forum.id FROM below JOIN forum ON forum.parent_id = below.id
        )
        SELECT id FROM below";
    let found = connection.all(find, bind![roots], |row| row.value("id")).await?;
    Ok(&BTreeSet::from_iter(found) & visible)
}

/// Returns the range of posts written in a time span.
async fn posts_in_range(
    connection: &Connection<'_>,
    when: &DateRange,
    now: Timestamp,
) -> BoardResult<RangeInclusive<i64>> {
    let (from, until) = when.bounds(now);
    let parameters = bind![
        from.map_or(i64::MIN, Timestamp::as_millis),
        until.map_or(i64::MAX, Timestamp::as_millis),
    ];
    let find = "
        SELECT
            (SELECT id FROM post WHERE created_at >= ?1 ORDER BY created_at, id LIMIT 1) AS first,
            (SELECT id FROM post WHERE created_at < ?2 ORDER BY created_at DESC, id DESC LIMIT 1) AS last";
    connection
        .one(find, parameters, |row| {
            let first: Option<i64> = row.value("first")?;
            let last: Option<i64> = row.value("last")?;
            Ok(first.unwrap_or(i64::MAX)..=last.unwrap_or(i64::MIN))
        })
        .await
}

/// The query language of an index.
#[derive(Debug)]
pub struct QueryDialect {
    and: &'static str,
    or: &'static str,
    without: &'static str,
    phrase: fn(column: SearchField, words: &str) -> String,
    author: fn(i64) -> String,
    place: fn(forums: &BTreeSet<i64>, is_whole_board: bool) -> String,
}

/// FTS5 of SQLite. Quoted words are not operators.
pub const FTS5: QueryDialect = QueryDialect {
    and: " AND ",
    or: " OR ",
    without: " NOT ",
    phrase: |column, words| match column {
        SearchField::All => format!("{{title body}} : \"{words}\""),
        SearchField::Titles => format!("title : \"{words}\""),
        SearchField::Posts => format!("body : \"{words}\""),
    },
    author: |id| format!("place : m{id}"),
    // FTS5 looks up each forum for each match.
    place: |forums, is_whole_board| {
        if is_whole_board {
            String::new()
        } else {
            let places: Vec<_> = forums.iter().map(|id| format!("place : f{id}")).collect();
            format!("{}{}", FTS5.and, group(&places, FTS5.or))
        }
    },
};

/// Queries of Postgres. A prefix marks the kind of a word: `=` for titles, `#` for authors. Words without a prefix are
/// those of titles and bodies; those of bodies have the weight C. Words contain neither these characters nor quotes. The
/// index has only the beginning of long words.
pub const TSQUERY: QueryDialect = QueryDialect {
    and: " & ",
    or: " | ",
    without: " & !",
    phrase: |column, words| {
        let lexemes = words.split(' ').map(|word| match column {
            SearchField::All => lexeme("", word),
            SearchField::Titles => lexeme("=", word),
            SearchField::Posts => lexeme("", word) + ":C",
        });
        group(&lexemes.collect::<Vec<_>>(), ADJACENT)
    },
    author: |id| format!("'#{id}'"),
    place: |forums, _| serde_json::json!(forums).to_string(),
};

/// Maximum length in characters of a word in Postgres's index.
const MAX_WORD_LENGTH: usize = 500;

impl QueryDialect {
    /// Returns the terms, and the author if one is given. For Postgres a second line has the phrases: the index does not
    /// have all places of the words of a long text, whose word `*` marks it.
    pub fn text(&self, filter: &SearchFilter, author: Option<i64>) -> String {
        let required = self.terms(filter, false);
        let mut excluded = self.terms(filter, true);
        let mut text = self.exclude(&required, &excluded);
        let has_phrases = required.iter().chain(&excluded).any(|term| is_phrase(term));
        if has_phrases {
            let unordered: Vec<_> =
                required.iter().map(|term| term.replace(ADJACENT, self.and)).collect();
            excluded.retain(|term| !is_phrase(term));
            text = format!("({text} | '*' & {})", self.exclude(&unordered, &excluded));
        }
        if let Some(author) = author {
            text = format!("{text}{}{}", self.and, (self.author)(author));
        }
        if has_phrases {
            text = format!("{text}\n{}", phrases(filter));
        }
        text
    }

    fn exclude(&self, required: &[String], excluded: &[String]) -> String {
        let required = group(required, self.and);
        match excluded {
            [] => required,
            excluded => format!("({required}{}{})", self.without, group(excluded, self.or)),
        }
    }

    fn terms(&self, filter: &SearchFilter, excluded: bool) -> Vec<String> {
        let folded = fold_terms(&filter.q, excluded);
        folded.iter().map(|words| (self.phrase)(filter.field, words)).collect()
    }
}

/// Operator of Postgres between the words of a phrase.
const ADJACENT: &str = " <-> ";

fn is_phrase(term: &str) -> bool {
    term.contains(ADJACENT)
}

fn fold_terms(query: &SearchQuery, excluded: bool) -> BTreeSet<String> {
    let terms = query.terms().iter().filter(|term| term.excluded == excluded);
    terms.map(|term| index::phrase(&term.text)).collect()
}

/// Returns the terms as the function `has_phrases` of the schema of Postgres expects them.
fn phrases(filter: &SearchFilter) -> String {
    let marked: Vec<_> = [true, false]
        .into_iter()
        .flat_map(|is_required| {
            let folded = fold_terms(&filter.q, !is_required).into_iter();
            folded.map(move |words| (format!(" {words} "), is_required))
        })
        .collect();
    serde_json::json!({ "in": filter.field, "phrases": marked }).to_string()
}

fn group(parts: &[String], by: &str) -> String {
    match parts {
        [part] => part.clone(),
        parts => format!("({})", parts.join(by)),
    }
}

fn lexeme(mark: &str, word: &str) -> String {
    let known: String = word.chars().take(MAX_WORD_LENGTH).collect();
    format!("'{mark}{known}'")
}

fn words_to_score(filter: &SearchFilter) -> String {
    let words = required_words(&filter.q);
    let lexemes: Vec<_> = words.iter().map(|word| lexeme("", word)).collect();
    lexemes.join(TSQUERY.or)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, prop_assert_eq, prop_oneof, proptest};

    use super::{FTS5, SearchFilter, SearchQuery};
    use crate::board::schema;
    use crate::board::search::fold_words;

    /// Queries that contain operators of FTS5.
    fn queries() -> impl Strategy<Value = String> {
        let command = prop::sample::select(vec![
            "AND", "-OR", "NOT", "NEAR(", ")", "^", "tea*", "+", "title : ", "{body}", "-", "\"",
            "'",
        ]);
        let part = prop_oneof![command.prop_map(str::to_owned), "\\PC{1,6}"];
        prop::collection::vec(part, 1..12).prop_map(|parts| parts.join(" "))
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
            let expression = FTS5.text(&SearchFilter::new(query), None);
            let found = index.query_row("SELECT count(*) FROM post_text (?1)", [expression], |row| row.get(0));
            prop_assert_eq!(found, Ok(i32::from(!found_excluded)));
        }
    }
}
