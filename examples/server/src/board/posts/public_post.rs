//! A post as statements read it, without permissions.

use forum_api::model::{ContentState, Post, PostId, UserId};

use crate::board::db::{self, RowReader};

pub const COLUMNS: &str = "
    post.id, post.thread_id, post.number, post.state, post.created_at,
    author.id, author.username, author.avatar_url,
    post.edited_at, editor.id, editor.username, editor.avatar_url,
    CASE WHEN :source THEN post.body END, CASE WHEN :html THEN post.body_html END, post.version,
    answered.id, answered.state, answered.author_id";

/// Joins of the author, the editor and the answered post.
pub const JOINS: &str = "
    LEFT JOIN member AS author ON author.id = post.author_id
    LEFT JOIN member AS editor ON editor.id = post.edited_by
    LEFT JOIN post AS answered ON answered.id = post.in_reply_to AND answered.thread_id = post.thread_id";

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
    fn read(row: &mut RowReader<'_>) -> db::DbResult<Option<Self>> {
        let Some(post_id) = row.maybe_id()? else {
            row.skip(2);
            return Ok(None);
        };
        Ok(Some(Self {
            post_id,
            state: row.state()?,
            author: row.maybe_id()?,
        }))
    }
}

impl PublicPost {
    /// Returns `None` if the row has no post.
    pub fn read(row: &mut RowReader<'_>) -> db::DbResult<Option<Self>> {
        let Some(post_id) = row.maybe_id()? else {
            return Ok(None);
        };
        let mut post = Post::new(post_id, row.id()?, row.count()?, row.state()?, row.value()?);
        post.author = row.author()?;
        post.edited_at = row.value()?;
        post.edited_by = row.author()?;
        post.body = row.value()?;
        post.body_html = row.value()?;
        post.version = row.value()?;
        Ok(Some(Self::new(post, AnsweredPost::read(row)?)))
    }

    pub fn new(mut post: Post, answered: Option<AnsweredPost>) -> Self {
        let public = answered
            .as_ref()
            .filter(|answered| answered.state == ContentState::Visible);
        post.in_reply_to = public.map(|answered| answered.post_id.clone());
        Self { post, answered }
    }
}
