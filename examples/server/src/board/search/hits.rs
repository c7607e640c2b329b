//! What is told of a hit.

use std::sync::LazyLock;

use forum_api::model::{HitKind, Search, SearchHit, Show};

use super::super::db::{self, Columns, Connection, bind};
use super::super::markdown;
use super::excerpt::excerpt;
use super::terms::{Terms, beginning};

static ON_SQLITE: LazyLock<String> = LazyLock::new(|| hits(FOUND_ON_SQLITE));
static ON_POSTGRES: LazyLock<String> = LazyLock::new(|| hits(FOUND_ON_POSTGRES));

/// The table `found` with the ids of a list in `value` and their places in `key`, on SQLite.
pub const FOUND_ON_SQLITE: &str = "json_each(?1) AS found";

/// The same on Postgres.
pub const FOUND_ON_POSTGRES: &str = "(
        SELECT CAST(value AS BIGINT) AS value, key
        FROM jsonb_array_elements_text(CAST(?1 AS TEXT)::jsonb) WITH ORDINALITY AS listed (value, key)
    ) AS found";

fn hits(found: &str) -> String {
    format!(
        "SELECT
            thread.forum_id, thread.id, post.id, thread.title, author.id, author.username, author.avatar_url,
            post.created_at, post.body,
            CASE WHEN post.number = 1 THEN thread.title_words ELSE '' END, post.body_words
        FROM {found}
        JOIN post ON post.id = found.value
        JOIN thread ON thread.id = post.thread_id
        LEFT JOIN member AS author ON author.id = post.author_id
        ORDER BY found.key"
    )
}

/// The hits on these `posts`, in their order.
pub async fn read(
    connection: &Connection<'_>,
    posts: &[i64],
    search: &Search,
) -> db::Result<Vec<SearchHit>> {
    let terms = Terms::of(search);
    let kind = match search.show {
        Show::Posts => HitKind::Post,
        Show::Threads => HitKind::Thread,
    };
    let find: &str = connection.either(&ON_SQLITE, &ON_POSTGRES);
    connection
        .all(find, bind![json(posts)], |columns| {
            hit(columns, kind, &terms)
        })
        .await
}

fn hit(columns: &mut Columns<'_>, kind: HitKind, terms: &Terms) -> db::Result<SearchHit> {
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

/// A list as the statements take it.
pub fn json(ids: &[i64]) -> String {
    serde_json::json!(ids).to_string()
}
