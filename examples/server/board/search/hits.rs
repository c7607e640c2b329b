//! What is told of a hit.

use forum_api::host::Result;
use forum_api::model::{HitKind, Search, SearchHit, Show};
use rusqlite::{Connection, Row};

use super::super::markdown;
use super::super::row::Columns;
use super::excerpt::excerpt;
use super::terms::{Terms, beginning};

const HITS: &str = "
    SELECT
        thread.forum_id, thread.id, post.id, thread.title, author.id, author.username, author.avatar_url,
        post.created_at, post.body, iif(post.number = 1, thread.title_words, ''), post.body_words
    FROM json_each(?1) AS found
    CROSS JOIN post ON post.id = found.value
    CROSS JOIN thread ON thread.id = post.thread_id
    LEFT JOIN member AS author ON author.id = post.author_id
    ORDER BY found.key";

/// The hits on these `posts`, in their order.
pub fn read(connection: &Connection, posts: &[i64], search: &Search) -> Result<Vec<SearchHit>> {
    let terms = Terms::of(search);
    let kind = match search.show {
        Show::Posts => HitKind::Post,
        Show::Threads => HitKind::Thread,
    };
    let mut query = connection.prepare_cached(HITS)?;
    let hits = query.query_map([json(posts)], |row| hit(row, kind, &terms))?;
    Ok(hits.collect::<rusqlite::Result<_>>()?)
}

fn hit(row: &Row<'_>, kind: HitKind, terms: &Terms) -> rusqlite::Result<SearchHit> {
    let mut columns = Columns::of(row);
    let mut hit = SearchHit {
        kind,
        forum_id: columns.id()?,
        thread_id: columns.id()?,
        post_id: columns.id()?,
        title: columns.value()?,
        author: columns.author()?,
        created_at: columns.value()?,
        excerpt: String::new(),
        score: 0.0,
    };
    let body: String = columns.value()?;
    let mut words = || columns.text().map(Option::unwrap_or_default);
    hit.score = terms.score(words()?, words()?) as f64 / 1e6;
    hit.excerpt = excerpt(&markdown::plain(beginning(&body)), terms);
    Ok(hit)
}

/// A list as `json_each` takes it.
pub fn json(ids: &[i64]) -> String {
    serde_json::json!(ids).to_string()
}
