//! What stands around something that happened, as everybody sees it who sees the forum.

use std::sync::LazyLock;

use forum_api::host::Result;
use forum_api::model::{Author, Post, Thread};
use forum_api::webhook::{ForumName, Surroundings};
use rusqlite::{Connection, named_params};

use super::super::row::Columns;
use super::super::{posts, threads};

/// A thread with the title of its forum, the member who did something to it, and a post in it.
pub struct Around {
    thread: Thread,
    forum_title: String,
    actor: Option<Author>,
    /// The post, if one was asked for.
    pub post: Option<Post>,
}

impl Around {
    /// All of it in one statement.
    pub fn load(
        connection: &Connection,
        thread: i64,
        post: Option<i64>,
        actor: Option<i64>,
    ) -> Result<Self> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {}, forum.title, actor.id, actor.username, actor.avatar_url, {}
                FROM thread {}
                JOIN forum ON forum.id = thread.forum_id
                LEFT JOIN member AS actor ON actor.id = :actor
                LEFT JOIN post ON post.id = :post {}
                WHERE thread.id = :thread",
                threads::COLUMNS,
                posts::COLUMNS,
                threads::OTHERS,
                posts::PEOPLE,
            )
        });
        let parameters = named_params! {
            ":thread": thread,
            ":post": post,
            ":actor": actor,
            ":source": true,
            ":html": true,
        };
        let mut query = connection.prepare_cached(&QUERY)?;
        let around = query.query_row(parameters, |row| {
            let mut columns = Columns::of(row);
            Ok(Self {
                thread: threads::fields(&mut columns)?,
                forum_title: columns.value()?,
                actor: columns.author()?,
                post: posts::fields(&mut columns)?,
            })
        });
        Ok(around?)
    }

    /// As events take it.
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            thread: &self.thread,
            forum_title: &self.forum_title,
            actor: self.actor.as_ref(),
        }
    }
}

/// Who rated, and the forum of the post that it was for.
pub fn rating(
    connection: &Connection,
    actor: Option<i64>,
    forum: Option<i64>,
) -> Result<(Option<Author>, Option<ForumName>)> {
    let mut query = connection.prepare_cached(
        "SELECT actor.id, actor.username, actor.avatar_url, forum.id, forum.title
         FROM (SELECT 1)
         LEFT JOIN member AS actor ON actor.id = :actor
         LEFT JOIN forum ON forum.id = :forum",
    )?;
    let found = query.query_row(named_params! { ":actor": actor, ":forum": forum }, |row| {
        let mut columns = Columns::of(row);
        let actor = columns.author()?;
        let (forum_id, title) = (columns.maybe_id()?, columns.value::<Option<String>>()?);
        let forum = forum_id.zip(title);
        Ok((
            actor,
            forum.map(|(forum_id, title)| ForumName { forum_id, title }),
        ))
    });
    Ok(found?)
}
