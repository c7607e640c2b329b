//! Posts (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Author, ContentState, PageKey, PageLimit, PostId, ThreadId, Timestamp};

/// A post, as one caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Post::example())]
pub struct Post {
    /// The post's id.
    pub post_id: PostId,
    /// The thread it is in.
    pub thread_id: ThreadId,
    /// Its number in the thread, from 1; stable, may have gaps.
    pub number: u64,
    /// Who wrote it; null when the account is gone.
    pub author: Option<Author>,
    /// Whether it is there for everybody.
    pub state: ContentState,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last edited.
    pub edited_at: Option<Timestamp>,
    /// Who last edited it.
    pub edited_by: Option<Author>,
    /// The source markup; null in a list that was asked for `html`, and in the event of the post's deletion.
    pub body: Option<String>,
    /// The source rendered and sanitised; null in a list that was asked for `source`, and in the event of the post's
    /// deletion.
    pub body_html: Option<String>,
    /// Whether this caller may edit it.
    pub can_edit: bool,
    /// Whether this caller may delete it.
    pub can_delete: bool,
    /// Counts the changes to it, from 1. A board that does not count them answers 1.
    pub version: i64,
}

impl Post {
    pub(crate) fn example() -> Self {
        Self {
            post_id: PostId::from(40),
            thread_id: ThreadId::from(17),
            number: 1,
            author: Some(Author::example()),
            state: ContentState::Visible,
            created_at: Timestamp::from_millis(1_769_860_800_000),
            edited_at: None,
            edited_by: None,
            body: Some("Green or *black*?".into()),
            body_html: Some("<p>Green or <em>black</em>?</p>\n".into()),
            can_edit: true,
            can_delete: true,
            version: 1,
        }
    }
}

/// Where a post is: a path names both, and they must belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostPath {
    /// The thread.
    pub thread_id: ThreadId,
    /// The post in it.
    pub post_id: PostId,
}

/// Which forms of a body a list of posts carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyFormat {
    /// Source markup and HTML.
    #[default]
    Both,
    /// The source markup alone.
    Source,
    /// The HTML alone.
    Html,
}

/// What `GET /threads/{threadId}/posts` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListPostsParams {
    /// How many to return.
    #[serde(skip_serializing)]
    pub limit: PageLimit,
    /// The `next` of the page before.
    #[serde(skip_serializing)]
    pub after: Option<PageKey>,
    /// Only posts that were made later than this.
    pub since: Option<Timestamp>,
    /// Start at this post. Not together with `after`.
    #[serde(skip_serializing)]
    pub from: Option<PostId>,
    /// Which forms of the bodies to return; the other field is null.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = "both"))]
    pub body: BodyFormat,
}

/// What `POST /threads/{threadId}/posts` takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(extend("required" = ["body"]))]
#[schemars(example = json!({"body": "Green, *always*."}))]
#[non_exhaustive]
pub struct NewPost {
    /// The source markup; empty when it was left out, and the board refuses that.
    pub body: String,
    /// Whether the author follows the thread from now on. `true` also needs the scope `subscriptions:write`.
    pub subscribe: bool,
}

/// What `PATCH /threads/{threadId}/posts/{postId}` takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = json!({"body": "Green, always.", "expectedVersion": 1}))]
#[non_exhaustive]
pub struct PostUpdate {
    /// The new source markup.
    pub body: String,
    /// Why it was edited.
    #[serde(default)]
    pub reason: Option<String>,
    /// The version that the caller read; `CONFLICT` when it is no longer that one.
    #[serde(default)]
    pub expected_version: Option<i64>,
}
