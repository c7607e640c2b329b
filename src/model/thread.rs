//! Threads ([protocol](crate::guide::protocol), sections 11 and 12.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::serde_helpers::{first_paragraph, remove_examples};
use super::{Author, BodyExtra, Extra, ForumId, NewPoll, PollId, PostId, ThreadId, Timestamp};

/// Publication state of a thread or post. Treat a state that you do not know like `deleted`.
///
/// `Deserialize` reads the state of a later version as [`Deleted`](Self::Deleted), because a client must not show such content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub enum ContentState {
    /// Visible to every caller who can see the forum.
    Visible,
    /// Visible to its author and to moderators.
    AwaitingApproval,
    /// Soft-deleted; visible to moderators. On some boards other callers see a deleted reply without author and texts.
    ///
    /// A [`Post`](super::Post) in this state without author and texts is a place.
    #[schemars(transform = first_paragraph)]
    #[serde(other)]
    Deleted,
}

impl ContentState {
    /// Returns the text of the state in JSON, which a board can also store.
    ///
    /// ```
    /// use forum_api::model::ContentState;
    ///
    /// let state = ContentState::AwaitingApproval;
    /// assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
    /// let archived = serde_json::from_str::<ContentState>(r#""archived""#).unwrap();
    /// assert_eq!(archived, ContentState::Deleted);
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Deleted => "deleted",
        }
    }
}

/// The newest visible post of a thread; the first post if there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LastPost {
    /// The post's id.
    pub post_id: PostId,
    /// The author; null if the account no longer exists.
    pub author: Option<Author>,
    /// Creation time.
    pub created_at: Timestamp,
}

impl LastPost {
    /// Creates a last post without an author.
    pub fn new(post_id: PostId, created_at: Timestamp) -> Self {
        Self { post_id, author: None, created_at }
    }
}

/// A thread's metadata.
///
/// The library checks `forum_id` against the caller's [`Access`](crate::host::Access). `can_reply` agrees with
/// [`create_post`](crate::host::Board::create_post): it is `false` for guests and, except for moderators, in a locked
/// thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Thread {
    /// The thread's id.
    pub thread_id: ThreadId,
    /// The forum of the thread.
    pub forum_id: ForumId,
    /// The title.
    pub title: String,
    /// The author; null if the account no longer exists.
    pub author: Option<Author>,
    /// Publication state.
    pub state: ContentState,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the newest visible post; `createdAt` if the thread has none. Lists of threads are ordered by it.
    pub last_activity_at: Timestamp,
    /// The newest visible post; null if the thread has none, or if the board omits it from lists.
    pub last_post: Option<LastPost>,
    /// Number of visible replies; the first post does not count.
    pub reply_count: u64,
    /// `true` if the thread is pinned. Lists of this API do not sort pinned threads first.
    pub pinned: bool,
    /// `true` if the thread is locked: only moderators may post in it, or no caller on some boards.
    pub locked: bool,
    /// Id of the first post.
    pub first_post_id: PostId,
    /// Id of the thread's poll; null for a thread without a poll.
    pub poll_id: Option<PollId>,
    /// `true` if the caller may reply.
    pub can_reply: bool,
    /// Number of the current version, from 1. Always 1 on boards without versions.
    pub version: i64,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
    /// Fields that only this board has; null if there are none.
    pub extra: Option<Extra>,
}

impl Thread {
    /// Creates a thread of version 1 without an author, replies, a poll or a [`last_post`](Self::last_post).
    ///
    /// The last activity is the creation. The thread is neither pinned nor locked, and the caller may not reply.
    pub fn new(
        thread_id: ThreadId,
        forum_id: ForumId,
        title: impl Into<String>,
        state: ContentState,
        first_post_id: PostId,
        created_at: Timestamp,
    ) -> Self {
        Self {
            thread_id,
            forum_id,
            title: title.into(),
            author: None,
            state,
            created_at,
            last_activity_at: created_at,
            last_post: None,
            reply_count: 0,
            pinned: false,
            locked: false,
            first_post_id,
            poll_id: None,
            can_reply: false,
            version: 1,
            web_url: None,
            extra: None,
        }
    }

    pub(crate) fn example() -> Self {
        let time = Timestamp::from_millis(1_769_860_800_000);
        let first_post_id = PostId::from(54);
        let thread = Self::new(
            ThreadId::from(16),
            ForumId::from(2),
            "Which tea for a rainy afternoon?",
            ContentState::Visible,
            first_post_id.clone(),
            time,
        );
        let author = Some(Author::example());
        Self {
            author: author.clone(),
            last_post: Some(LastPost { author, ..LastPost::new(first_post_id, time) }),
            poll_id: Some(PollId::from(1)),
            can_reply: true,
            ..thread
        }
    }

    /// The thread after the example of an answer.
    pub(crate) fn answered_example() -> Self {
        let last_activity_at = Timestamp::from_millis(1_769_861_400_000);
        let last_post = LastPost::new(PostId::from(56), last_activity_at);
        Self {
            last_activity_at,
            last_post: Some(LastPost { author: Some(Author::other_example()), ..last_post }),
            reply_count: 1,
            ..Self::example()
        }
    }
}

/// Filters of `GET /forums/{forumId}/threads`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ThreadFilter {
    /// Only threads with activity at this RFC 3339 time or later; can repeat threads with earlier activity. A client that
    /// polls skips the threads that it has with the same `lastActivityAt`.
    #[schemars(transform = remove_examples)]
    pub since: Option<Timestamp>,
}

/// Body of `POST /forums/{forumId}/threads`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(extend("required" = ["title", "body"]))]
#[schemars(rename = "ThreadInput")]
#[non_exhaustive]
pub struct NewThread {
    /// The title. The board rejects a missing or empty title.
    pub title: String,
    /// Source markup of the first post. The board rejects a missing or empty text, except where `extra` replaces it.
    pub body: String,
    /// Poll to create with the thread.
    pub poll: Option<NewPoll>,
    /// `true` to subscribe the author to the thread. This requires a further scope; without it the response is 403
    /// `missing_scope`. Default: `false`.
    ///
    /// The library checks that the token has the scope `subscriptions:write`.
    #[schemars(transform = first_paragraph)]
    pub subscribe: bool,
    /// Fields of the host; `None` if `extra` is absent or `null`. A body with `extra` is refused with 400 unless the
    /// host registered a type with [`ForumApiBuilder::extra`](crate::ForumApiBuilder::extra).
    #[serde(skip)]
    pub extra: Option<BodyExtra>,
}

impl NewThread {
    pub(crate) fn example() -> Self {
        let question = "What goes into the pot when it rains?";
        let options = vec!["Black tea".into(), "Green tea".into()];
        Self {
            title: "Which tea for a rainy afternoon?".into(),
            body: "Green or *black*?".into(),
            poll: Some(NewPoll::new(question, options)),
            subscribe: false,
            extra: None,
        }
    }
}
