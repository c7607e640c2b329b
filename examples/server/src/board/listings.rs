//! Lists of members, forums, threads, posts and nodes for the operator, without visibility checks.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::{ContentState, ForumId, PostId, ThreadId, Timestamp, UserId};
use serde::Serialize;

use super::db::{Connection, Row, bind};
use super::forum_count;
use crate::database_lock::Node;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberListing {
    pub user_id: UserId,
    pub username: String,
    pub groups: Vec<String>,
    pub banned: bool,
    pub joined_at: Timestamp,
    pub last_seen_at: Option<Timestamp>,
    pub post_count: i64,
}

/// Lists all members, the newest first.
pub async fn members(connection: &Connection<'_>) -> BoardResult<Vec<MemberListing>> {
    let query = "
        SELECT
            id, username, groups, banned, joined_at, last_seen_at,
            post_count + coalesce(waiting.difference, 0) AS post_count
        FROM member LEFT JOIN (
            SELECT author_id, CAST(sum(
                CASE WHEN thread_recount.counts THEN thread_author.post_count ELSE 0 END - counted
            ) AS BIGINT) AS difference
            FROM thread_recount JOIN thread_author ON thread_author.thread_id = thread_recount.thread_id
            GROUP BY author_id
        ) AS waiting ON waiting.author_id = member.id
        ORDER BY id DESC";
    connection
        .all(query, &[], |row| {
            Ok(MemberListing {
                user_id: row.id("id")?,
                username: row.value("username")?,
                groups: split(&row.value::<String>("groups")?),
                banned: row.value("banned")?,
                joined_at: row.value("joined_at")?,
                last_seen_at: row.value("last_seen_at")?,
                post_count: row.value("post_count")?,
            })
        })
        .await
}

/// A forum with its lists of groups. `None` inherits the list of the parent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForumListing {
    pub forum_id: ForumId,
    pub parent_id: Option<ForumId>,
    pub title: String,
    pub read: Option<Vec<String>>,
    pub start: Option<Vec<String>>,
    pub reply: Option<Vec<String>>,
    pub thread_count: i64,
    pub post_count: i64,
}

/// Lists all forums by id.
pub async fn forums(connection: &Connection<'_>) -> BoardResult<Vec<ForumListing>> {
    static LIST: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT id, parent_id, title, read_groups, start_groups, reply_groups, {}
            FROM forum ORDER BY id",
            forum_count::COLUMNS,
        )
    });
    connection
        .all(&LIST, &[], |row| {
            Ok(ForumListing {
                forum_id: row.id("id")?,
                parent_id: row.maybe_id("parent_id")?,
                title: row.value("title")?,
                read: groups(row, "read_groups")?,
                start: groups(row, "start_groups")?,
                reply: groups(row, "reply_groups")?,
                thread_count: row.value("thread_count")?,
                post_count: row.value("post_count")?,
            })
        })
        .await
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadListing {
    pub thread_id: ThreadId,
    pub forum_id: ForumId,
    pub title: String,
    /// `None` if the account is removed.
    pub author: Option<String>,
    pub state: ContentState,
    pub locked: bool,
    pub pinned: bool,
    pub reply_count: i64,
    pub last_activity_at: Timestamp,
}

/// Lists threads of a forum, or of all forums, the newest first: up to `rows` threads with smaller ids than `before`.
pub async fn threads(
    connection: &Connection<'_>,
    forum: Option<i64>,
    before: i64,
    rows: i64,
) -> BoardResult<Vec<ThreadListing>> {
    static OF_ALL: LazyLock<String> = LazyLock::new(|| threads_query(""));
    static OF_FORUM: LazyLock<String> = LazyLock::new(|| threads_query("AND forum_id = :forum"));
    let of_all = bind! { ":before": before, ":rows": rows };
    let of_forum = bind! { ":before": before, ":rows": rows, ":forum": forum };
    let (query, parameters) = match forum {
        None => (&*OF_ALL, &of_all[..]),
        Some(_) => (&*OF_FORUM, &of_forum[..]),
    };
    connection
        .all(query, parameters, |row| {
            Ok(ThreadListing {
                thread_id: row.id("id")?,
                forum_id: row.id("forum_id")?,
                title: row.value("title")?,
                author: row.value("username")?,
                state: row.state("state")?,
                locked: row.value("locked")?,
                pinned: row.value("pinned")?,
                reply_count: row.value("reply_count")?,
                last_activity_at: row.value("last_activity_at")?,
            })
        })
        .await
}

fn threads_query(condition: &str) -> String {
    format!(
        "SELECT thread.id, forum_id, thread.title, username, state, locked, pinned, reply_count, last_activity_at
        FROM thread LEFT JOIN member ON member.id = author_id
        WHERE thread.id < :before {condition}
        ORDER BY thread.id DESC LIMIT :rows"
    )
}

pub async fn count_threads(connection: &Connection<'_>, forum: Option<i64>) -> BoardResult<usize> {
    let count = "
        SELECT count(*) AS threads FROM thread WHERE forum_id = ?1 OR CAST(?1 AS BIGINT) IS NULL";
    connection.one(count, bind![forum], |row| row.count("threads")).await
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PostListing {
    pub post_id: PostId,
    pub thread_id: ThreadId,
    /// `None` if the account is removed.
    pub author: Option<String>,
    pub created_at: Timestamp,
    pub body: String,
}

/// Condition of the posts in the hidden state `?1` that an operator can list, as in the index `post_hidden`.
const HIDDEN_POSTS: &str = "state = ?1 AND state <> 'visible' AND NOT erased";

/// Lists posts in a hidden state, the newest first: up to `rows` posts with smaller ids than `before`.
pub async fn posts(
    connection: &Connection<'_>,
    state: ContentState,
    before: i64,
    rows: i64,
) -> BoardResult<Vec<PostListing>> {
    static LIST: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT post.id, thread_id, username, created_at, body
            FROM post LEFT JOIN member ON member.id = author_id
            WHERE {HIDDEN_POSTS} AND post.id < ?2
            ORDER BY post.id DESC LIMIT ?3"
        )
    });
    let parameters = bind![state.as_str(), before, rows];
    connection
        .all(&LIST, parameters, |row| {
            Ok(PostListing {
                post_id: row.id("id")?,
                thread_id: row.id("thread_id")?,
                author: row.value("username")?,
                created_at: row.value("created_at")?,
                body: row.value("body")?,
            })
        })
        .await
}

pub async fn count_posts(connection: &Connection<'_>, state: ContentState) -> BoardResult<usize> {
    static COUNT: LazyLock<String> =
        LazyLock::new(|| format!("SELECT count(*) AS posts FROM post WHERE {HIDDEN_POSTS}"));
    connection.one(&COUNT, bind![state.as_str()], |row| row.count("posts")).await
}

/// Lists the running servers and workers of a board in Postgres, with the addresses that Postgres sees.
pub async fn nodes_of_postgres(connection: &Connection<'_>) -> BoardResult<Vec<Node>> {
    let list = "
        SELECT application_name AS name, coalesce(host(client_addr), 'local') AS address
        FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'forum-server/%'
        GROUP BY name, address ORDER BY address, name";
    connection
        .all(list, &[], |row| {
            let name: String = row.value("name")?;
            let (version, process) = name.split_once(' ').unwrap_or((&name, "-"));
            Ok(Node {
                version: version.into(),
                process: process.into(),
                address: row.value("address")?,
            })
        })
        .await
}

fn groups(row: &Row<'_>, column: &str) -> BackendResult<Option<Vec<String>>> {
    let names = row.value::<Option<String>>(column)?;
    Ok(names.map(|names| split(&names)))
}

fn split(names: &str) -> Vec<String> {
    names.split(',').map(str::to_owned).collect()
}
