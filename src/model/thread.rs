//! Threads (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Author, ForumId, NewPoll, PageKey, PageLimit, PollId, PostId, ThreadId, Timestamp};

/// Whether a thread or post is there for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContentState {
    /// For everybody who sees the forum.
    Visible,
    /// Its author and moderators see it.
    AwaitingApproval,
    /// Soft-deleted: moderators see it.
    Deleted,
}

/// The newest post of a thread; the first one when there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastPost {
    /// The post's id.
    pub post_id: PostId,
    /// Who wrote it; null when the account is gone.
    pub author: Option<Author>,
    /// When it was written.
    pub created_at: Timestamp,
}

/// A thread's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Thread::example())]
pub struct Thread {
    /// The thread's id.
    pub thread_id: ThreadId,
    /// The forum it is in.
    pub forum_id: ForumId,
    /// Its title.
    pub title: String,
    /// Who started it; null when the account is gone.
    pub author: Option<Author>,
    /// Whether it is there for everybody.
    pub state: ContentState,
    /// When it was started.
    pub created_at: Timestamp,
    /// When something visible was last posted in it.
    pub last_activity_at: Timestamp,
    /// Its newest visible post.
    pub last_post: Option<LastPost>,
    /// How many visible posts it has, without the first.
    pub reply_count: u64,
    /// Whether the board's own pages lift it to the top. Lists of this API do not.
    pub pinned: bool,
    /// Whether only moderators may post in it.
    pub locked: bool,
    /// Its first post.
    pub first_post_id: PostId,
    /// Its poll, if it carries one.
    pub poll_id: Option<PollId>,
    /// Whether this caller may reply.
    pub can_reply: bool,
    /// Counts the changes to it, from 1. A board that does not count them answers 1.
    pub version: i64,
}

impl Thread {
    pub(crate) fn example() -> Self {
        let time = Timestamp::from_millis(1_769_860_800_000);
        Self {
            thread_id: ThreadId::from(17),
            forum_id: ForumId::from(2),
            title: "Which tea?".into(),
            author: Some(Author::example()),
            state: ContentState::Visible,
            created_at: time,
            last_activity_at: time,
            last_post: Some(LastPost {
                post_id: PostId::from(40),
                author: Some(Author::example()),
                created_at: time,
            }),
            reply_count: 0,
            pinned: false,
            locked: false,
            first_post_id: PostId::from(40),
            poll_id: Some(PollId::from(4)),
            can_reply: true,
            version: 1,
        }
    }
}

/// What `GET /forums/{forumId}/threads` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListThreadsParams {
    /// How many to return.
    #[serde(skip_serializing)]
    pub limit: PageLimit,
    /// The `next` of the page before.
    #[serde(skip_serializing)]
    pub after: Option<PageKey>,
    /// Only threads that were active later than this.
    pub since: Option<Timestamp>,
}

/// What `POST /forums/{forumId}/threads` takes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(extend("required" = ["title", "body"]))]
#[schemars(example = json!({"title": "Which tea?", "body": "Green or *black*?"}))]
#[non_exhaustive]
pub struct NewThread {
    /// The thread's title; empty when it was left out, and the board refuses that.
    pub title: String,
    /// The first post's source markup; empty when it was left out, and the board refuses that.
    pub body: String,
    /// A poll to carry.
    pub poll: Option<NewPoll>,
    /// Whether the author follows the thread from now on. `true` also needs the scope `subscriptions:write`.
    pub subscribe: bool,
}
