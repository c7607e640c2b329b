//! A post as statements read it, without permissions.

use forum_api::host::BackendResult;
use forum_api::model::{ContentState, Post, PostId, UserId};

use crate::board::db::Row;

pub const COLUMNS: &str = "
    post.id AS post_id, post.thread_id AS post_thread_id, post.number, post.state AS post_state,
    post.created_at AS post_created_at,
    author.id AS author_id, author.username AS author_name, author.avatar_url AS author_avatar,
    post.edited_at, editor.id AS editor_id, editor.username AS editor_name, editor.avatar_url AS editor_avatar,
    CASE WHEN :source THEN post.body END AS body, CASE WHEN :html THEN post.body_html END AS body_html,
    post.version AS post_version,
    answered.id AS answered_id, answered.state AS answered_state, answered.author_id AS answered_author_id";

/// Joins of the author, the editor and the answered post. The addition keeps Postgres from searching for the answered post
/// among all posts of the thread.
pub const JOINS: &str = "
    LEFT JOIN member AS author ON author.id = post.author_id
    LEFT JOIN member AS editor ON editor.id = post.edited_by
    LEFT JOIN post AS answered ON answered.id = post.in_reply_to AND answered.thread_id + 0 = post.thread_id";

/// A post as all callers who see the forum see it: without permissions, and with `in_reply_to` only if the answered post
/// is visible.
#[derive(Clone, Debug)]
pub struct PublicPost {
    pub post: Post,
    pub answered: Option<AnsweredPost>,
}

/// Answered post of a reply, in any state.
#[derive(Clone, Debug)]
pub struct AnsweredPost {
    pub post_id: PostId,
    pub state: ContentState,
    pub author: Option<UserId>,
}

impl AnsweredPost {
    /// Returns `None` if the row has no answered post.
    pub fn read(row: &Row<'_>) -> BackendResult<Option<Self>> {
        let Some(post_id) = row.maybe_id("answered_id")? else {
            return Ok(None);
        };
        Ok(Some(Self {
            post_id,
            state: row.state("answered_state")?,
            author: row.maybe_id("answered_author_id")?,
        }))
    }
}

impl PublicPost {
    /// Returns `None` if the row has no post.
    pub fn maybe_read(row: &Row<'_>) -> BackendResult<Option<Self>> {
        match row.maybe_id::<PostId>("post_id")? {
            Some(_) => Self::read(row).map(Some),
            None => Ok(None),
        }
    }

    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        let mut post = Post::new(
            row.id("post_id")?,
            row.id("post_thread_id")?,
            row.count("number")?,
            row.state("post_state")?,
            row.value("post_created_at")?,
        );
        post.author = row.author(["author_id", "author_name", "author_avatar"])?;
        post.edited_at = row.value("edited_at")?;
        post.edited_by = row.author(["editor_id", "editor_name", "editor_avatar"])?;
        post.body = row.value("body")?;
        post.body_html = row.value("body_html")?;
        post.version = row.value("post_version")?;
        Ok(Self::new(post, AnsweredPost::read(row)?))
    }

    pub fn new(mut post: Post, answered: Option<AnsweredPost>) -> Self {
        let public = answered.as_ref().filter(|answered| answered.state == ContentState::Visible);
        post.in_reply_to = public.map(|answered| answered.post_id.clone());
        Self { post, answered }
    }
}
