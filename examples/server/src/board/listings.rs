//! Lists of members, forums, threads and posts for the operator, who sees everything.

use forum_api::model::{ContentState, Timestamp};

use super::db::{Connection, DbResult, bind, stored};

#[derive(Debug)]
pub struct ListedMember {
    pub id: i64,
    pub username: String,
    pub groups: String,
    pub banned: bool,
    pub joined_at: Timestamp,
    pub last_seen_at: Option<Timestamp>,
    pub post_count: i64,
}

/// Lists all members in the order in which they were added.
pub async fn members(connection: &Connection<'_>) -> DbResult<Vec<ListedMember>> {
    let list = "
        SELECT id, username, groups, banned, joined_at, last_seen_at, post_count FROM member
        ORDER BY id";
    let members = connection.all(list, &[], |row| {
        Ok(ListedMember {
            id: row.value()?,
            username: row.value()?,
            groups: row.value()?,
            banned: row.value()?,
            joined_at: row.value()?,
            last_seen_at: row.value()?,
            post_count: row.value()?,
        })
    });
    members.await
}

/// A forum with its lists of groups; `None` is the list of the forum above.
#[derive(Debug)]
pub struct ListedForum {
    pub id: i64,
    pub parent: Option<i64>,
    pub title: String,
    pub read: Option<String>,
    pub start: Option<String>,
    pub reply: Option<String>,
    pub thread_count: i64,
    pub post_count: i64,
}

/// Lists all forums by id.
pub async fn forums(connection: &Connection<'_>) -> DbResult<Vec<ListedForum>> {
    let list = "
        SELECT id, parent_id, title, read_groups, start_groups, reply_groups, thread_count, post_count
        FROM forum ORDER BY id";
    let forums = connection.all(list, &[], |row| {
        Ok(ListedForum {
            id: row.value()?,
            parent: row.value()?,
            title: row.value()?,
            read: row.value()?,
            start: row.value()?,
            reply: row.value()?,
            thread_count: row.value()?,
            post_count: row.value()?,
        })
    });
    forums.await
}

#[derive(Debug)]
pub struct ListedThread {
    pub id: i64,
    pub forum: i64,
    pub title: String,
    /// `None` if the account is removed.
    pub author: Option<String>,
    pub state: ContentState,
    pub locked: bool,
    pub pinned: bool,
    pub reply_count: i64,
    pub last_activity_at: Timestamp,
}

/// Lists the threads of a forum, or of all forums, by id.
pub async fn threads(
    connection: &Connection<'_>,
    forum: Option<i64>,
) -> DbResult<Vec<ListedThread>> {
    let list = "
        SELECT thread.id, forum_id, thread.title, username, state, locked, pinned, reply_count, last_activity_at
        FROM thread LEFT JOIN member ON member.id = author_id
        WHERE forum_id = coalesce(?1, forum_id)
        ORDER BY thread.id";
    let parameters = bind![forum];
    let threads = connection.all(list, parameters, |row| {
        Ok(ListedThread {
            id: row.value()?,
            forum: row.value()?,
            title: row.value()?,
            author: row.value()?,
            state: row.state()?,
            locked: row.value()?,
            pinned: row.value()?,
            reply_count: row.value()?,
            last_activity_at: row.value()?,
        })
    });
    threads.await
}

#[derive(Debug)]
pub struct ListedPost {
    pub id: i64,
    pub thread: i64,
    /// `None` if the account is removed.
    pub author: Option<String>,
    pub created_at: Timestamp,
    pub body: String,
}

/// Lists the posts in a state by id.
pub async fn posts(connection: &Connection<'_>, state: ContentState) -> DbResult<Vec<ListedPost>> {
    let list = "
        SELECT post.id, thread_id, username, created_at, body
        FROM post LEFT JOIN member ON member.id = author_id
        WHERE state = ?1
        ORDER BY post.id";
    let parameters = bind![stored(state)];
    let posts = connection.all(list, parameters, |row| {
        Ok(ListedPost {
            id: row.value()?,
            thread: row.value()?,
            author: row.value()?,
            created_at: row.value()?,
            body: row.value()?,
        })
    });
    posts.await
}
