//! What stands around something that happened, as everybody sees it who sees the forum.

use std::sync::LazyLock;

use forum_api::host::Result;
use forum_api::model::{Author, Post, Thread};
use forum_api::webhook::{ForumName, Surroundings};

use super::super::db::{Connection, bind};
use super::super::{posts, threads};

/// A thread with the title of its forum, the member who did something to it, and a post in it.
#[derive(Clone, Debug)]
pub struct Around {
    /// The thread.
    pub thread: Thread,
    forum_title: String,
    actor: Option<Author>,
    /// The post, if one was asked for.
    pub post: Option<Post>,
}

impl Around {
    /// All of it in one statement.
    pub async fn load(
        connection: &Connection<'_>,
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
        let parameters = bind! {
            ":thread": thread,
            ":post": post,
            ":actor": actor,
            ":source": true,
            ":html": true,
        };
        let around = connection.one(&QUERY, parameters, |columns| {
            Ok(Self {
                thread: threads::fields(columns)?,
                forum_title: columns.value()?,
                actor: columns.author()?,
                post: posts::fields(columns)?,
            })
        });
        Ok(around.await?)
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
pub async fn rating(
    connection: &Connection<'_>,
    actor: Option<i64>,
    forum: Option<i64>,
) -> Result<(Option<Author>, Option<ForumName>)> {
    let query = "
        SELECT actor.id, actor.username, actor.avatar_url, forum.id, forum.title
        FROM (SELECT 1) AS alone
        LEFT JOIN member AS actor ON actor.id = :actor
        LEFT JOIN forum ON forum.id = :forum";
    let parameters = bind! { ":actor": actor, ":forum": forum };
    let found = connection
        .one(query, parameters, |columns| {
            let actor = columns.author()?;
            let (forum_id, title) = (columns.maybe_id()?, columns.value::<Option<String>>()?);
            let forum = forum_id.zip(title);
            Ok((
                actor,
                forum.map(|(forum_id, title)| ForumName { forum_id, title }),
            ))
        })
        .await;
    Ok(found?)
}
