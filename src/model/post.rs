//! Posts ([protocol](crate::guide::protocol), sections 11 and 12.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::serde_helpers::{first_paragraph, remove_examples};
use super::{Author, BodyExtra, ContentState, Extra, LastPost, PostId, ThreadId, Timestamp};

/// A post of a thread: the first post, or a reply.
///
/// [`list_posts`](crate::host::Board::list_posts) returns it in the requested [`BodyFormat`]; the other methods return
/// both formats. The board must sanitise `body_html`, because the library sends it unchanged.
///
/// # Places of deleted posts
/// A board of trees can return a deleted reply to every caller who sees its thread, so that other replies keep the post
/// that they answer. The JSON of such a post is a place: `author`, `editedBy`, `body`, `bodyHtml` and `extra` are null.
/// Serialization removes them from each deleted post whose [`can_read_deleted`](Self::can_read_deleted) is `false`:
///
/// ```
/// use forum_api::model::{ContentState, Extra, Post};
/// # fn post() -> Post {
/// #     serde_json::from_str(r#"{"postId": "56", "threadId": "16", "number": 2, "inReplyTo": "54", "author": null,
/// #         "state": "visible", "createdAt": "2026-01-31T12:00:00Z", "editedAt": null, "editedBy": null,
/// #         "body": "Green, *always*.", "bodyHtml": null, "canEdit": false, "canDelete": false, "version": 1,
/// #         "extra": null}"#).unwrap()
/// # }
///
/// let mut post: Post = post();
/// post.state = ContentState::Deleted;
/// post.can_read_deleted = false; // the caller is not a moderator
/// let place = serde_json::to_value(&post)?;
/// assert!(place["body"].is_null() && place["inReplyTo"] == "54");
///
/// post.can_read_deleted = true;
/// assert_eq!(serde_json::to_value(&post)?["body"], "Green, *always*.");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct Post {
    /// The post's id.
    pub post_id: PostId,
    /// The thread of the post.
    pub thread_id: ThreadId,
    /// Number in the thread, from 1. Numbers are stable and can have gaps.
    #[schemars(extend("minimum" = 1))]
    pub number: u64,
    /// Id of the post in the same thread that this post replies to; null if it replies to the thread itself, or if the
    /// caller cannot see that post.
    ///
    /// The library does not check the visibility of that post. For a webhook event, set the field only if every
    /// caller who can see the forum can also see the answered post.
    #[schemars(transform = first_paragraph)]
    pub in_reply_to: Option<PostId>,
    /// The author; null if the account no longer exists, and in a deleted post for callers who are not moderators.
    pub author: Option<Author>,
    /// Publication state.
    pub state: ContentState,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last edit; null if the post was not edited, or if the board does not record the edit, for example one on
    /// its own pages.
    pub edited_at: Option<Timestamp>,
    /// The last editor; null if the post was not edited, if the account no longer exists, if the board does not record
    /// editors, and in a deleted post for callers who are not moderators.
    pub edited_by: Option<Author>,
    /// The source markup; null in lists with `body=html`, in events of deletions, in a deleted post for callers who are
    /// not moderators, and on boards that do not store it.
    pub body: Option<String>,
    /// The markup rendered to sanitised HTML; null in lists with `body=source`, in events of deletions, in a deleted post
    /// for callers who are not moderators, and on boards that do not render it.
    pub body_html: Option<String>,
    /// `true` if the caller may edit the post.
    pub can_edit: bool,
    /// `true` if the caller may delete the post.
    pub can_delete: bool,
    /// Number of the current version, from 1. Always 1 on boards without versions.
    pub version: i64,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
    /// Fields that only this board has; null if there are none, and in a deleted post for callers who are not moderators.
    pub extra: Option<Extra>,
    /// `true` if the caller may read the author and the texts of the post when it is deleted, as the moderators of the
    /// forum may. Without effect in other states. The JSON does not contain it.
    #[serde(skip, default = "can_read_received")]
    pub can_read_deleted: bool,
}

/// A received post contains only what its receiver may read.
fn can_read_received() -> bool {
    true
}

impl Post {
    /// Creates a post of version 1 without an author or texts, which was not edited.
    ///
    /// The post replies to the thread itself. The caller may not edit or delete it, or read it when it is deleted.
    pub fn new(
        post_id: PostId,
        thread_id: ThreadId,
        number: u64,
        state: ContentState,
        created_at: Timestamp,
    ) -> Self {
        Self {
            post_id,
            thread_id,
            number,
            in_reply_to: None,
            author: None,
            state,
            created_at,
            edited_at: None,
            edited_by: None,
            body: None,
            body_html: None,
            can_edit: false,
            can_delete: false,
            version: 1,
            web_url: None,
            extra: None,
            can_read_deleted: false,
        }
    }

    /// Removes the fields that the caller may not read from a deleted post.
    #[cfg(feature = "conformance")]
    pub(crate) fn redact(&mut self) {
        if self.is_place() {
            (self.author, self.edited_by) = (None, None);
            (self.body, self.body_html, self.extra) = (None, None, None);
        }
    }

    fn is_place(&self) -> bool {
        self.state == ContentState::Deleted && !self.can_read_deleted
    }

    /// Returns the path of the post.
    pub fn path(&self) -> PostPath {
        PostPath::new(self.thread_id.clone(), self.post_id.clone())
    }

    pub(crate) fn example() -> Self {
        let post = Self::new(
            PostId::from(54),
            ThreadId::from(16),
            1,
            ContentState::Visible,
            Timestamp::from_millis(1_769_860_800_000),
        );
        Self {
            author: Some(Author::example()),
            body: Some("Green or *black*?".into()),
            body_html: Some("<p>Green or <em>black</em>?</p>\n".into()),
            can_edit: true,
            can_delete: true,
            can_read_deleted: true,
            ..post
        }
    }

    /// An answer to [`example`](Self::example).
    pub(crate) fn reply_example() -> Self {
        Self {
            post_id: PostId::from(56),
            number: 2,
            in_reply_to: Some(PostId::from(54)),
            author: Some(Author::other_example()),
            created_at: Timestamp::from_millis(1_769_861_400_000),
            body: Some("Green, *always*.".into()),
            body_html: Some("<p>Green, <em>always</em>.</p>\n".into()),
            can_edit: false,
            can_delete: false,
            ..Self::example()
        }
    }

    /// The answer of [`NewPost::example`] to [`reply_example`](Self::reply_example).
    pub(crate) fn own_reply_example() -> Self {
        Self {
            post_id: PostId::from(69),
            number: 7,
            in_reply_to: Some(PostId::from(56)),
            author: Some(Author::example()),
            can_edit: true,
            can_delete: true,
            ..Self::reply_example()
        }
    }

    /// The own reply after the update of [`PostUpdate::example`].
    pub(crate) fn updated_example() -> Self {
        let reply = Self::own_reply_example();
        Self {
            edited_at: Some(Timestamp::from_millis(1_769_861_700_000)),
            edited_by: reply.author.clone(),
            body: Some("Green, always.".into()),
            body_html: Some("<p>Green, always.</p>\n".into()),
            version: 2,
            ..reply
        }
    }
}

/// The JSON of a post.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostJson<'a> {
    post_id: &'a PostId,
    thread_id: &'a ThreadId,
    number: u64,
    in_reply_to: &'a Option<PostId>,
    author: Option<&'a Author>,
    state: ContentState,
    created_at: Timestamp,
    edited_at: Option<Timestamp>,
    edited_by: Option<&'a Author>,
    body: Option<&'a str>,
    body_html: Option<&'a str>,
    can_edit: bool,
    can_delete: bool,
    version: i64,
    web_url: Option<&'a str>,
    extra: Option<&'a Extra>,
}

impl Serialize for Post {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_readable = !self.is_place();
        let json = PostJson {
            post_id: &self.post_id,
            thread_id: &self.thread_id,
            number: self.number,
            in_reply_to: &self.in_reply_to,
            author: self.author.as_ref().filter(|_| is_readable),
            state: self.state,
            created_at: self.created_at,
            edited_at: self.edited_at,
            edited_by: self.edited_by.as_ref().filter(|_| is_readable),
            body: self.body.as_deref().filter(|_| is_readable),
            body_html: self.body_html.as_deref().filter(|_| is_readable),
            can_edit: self.can_edit,
            can_delete: self.can_delete,
            version: self.version,
            web_url: self.web_url.as_deref(),
            extra: self.extra.as_ref().filter(|_| is_readable),
        };
        json.serialize(serializer)
    }
}

/// Takes the id, the author and the creation time of the post, which must be the newest visible one of its thread.
impl From<&Post> for LastPost {
    fn from(post: &Post) -> Self {
        Self {
            post_id: post.post_id.clone(),
            author: post.author.clone(),
            created_at: post.created_at,
        }
    }
}

/// Path of a post. The board returns [`BoardError::PathNotFound`](crate::host::BoardError::PathNotFound) if the post belongs
/// to another thread.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostPath {
    /// The thread.
    pub thread_id: ThreadId,
    /// The post.
    pub post_id: PostId,
}

impl PostPath {
    /// Creates the path of a post of this thread.
    pub fn new(thread_id: ThreadId, post_id: PostId) -> Self {
        Self { thread_id, post_id }
    }
}

/// Formats of post bodies in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyFormat {
    /// Source markup and HTML.
    #[default]
    Both,
    /// Source markup only.
    Source,
    /// HTML only.
    Html,
}

impl BodyFormat {
    /// Returns `true` if the list contains the source markup, [`Post::body`].
    ///
    /// ```
    /// use forum_api::model::BodyFormat;
    ///
    /// let formats = [BodyFormat::Both, BodyFormat::Source, BodyFormat::Html];
    /// assert_eq!(formats.map(BodyFormat::has_source), [true, true, false]);
    /// assert_eq!(formats.map(BodyFormat::has_html), [true, false, true]);
    /// ```
    pub const fn has_source(self) -> bool {
        matches!(self, Self::Both | Self::Source)
    }

    /// Returns `true` if the list contains the HTML, [`Post::body_html`].
    pub const fn has_html(self) -> bool {
        matches!(self, Self::Both | Self::Html)
    }
}

/// Order of the posts of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PostSort {
    /// Oldest first.
    #[default]
    Oldest,
    /// Newest first.
    Newest,
}

/// Filters and order of `GET /threads/{threadId}/posts`.
///
/// ```
/// use forum_api::model::{PostFilter, PostSort};
///
/// assert_eq!(PostFilter::default().sort, PostSort::Oldest);
/// ```
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PostFilter {
    /// Only posts created at this RFC 3339 time or later; can repeat earlier posts.
    #[schemars(transform = remove_examples)]
    pub since: Option<Timestamp>,
    /// Id of the post at which the list starts, 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`. Cannot be combined
    /// with `after`.
    #[serde(skip_serializing)]
    #[schemars(transform = remove_examples)]
    pub from: Option<PostId>,
    /// Order of the posts: `oldest` or `newest`. With `newest`, the list starts at the newest post, or at the post `from`,
    /// and goes on to older ones. Default: `oldest`.
    pub sort: PostSort,
    /// Formats of the bodies to return: `both`, `source` or `html`. The field of the other format is null. Default: `both`.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = "both"))]
    pub body: BodyFormat,
}

/// Body of `POST /threads/{threadId}/posts`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(extend("required" = ["body"]))]
#[schemars(rename = "PostInput")]
#[non_exhaustive]
pub struct NewPost {
    /// The source markup. The board rejects a missing or empty text.
    pub body: String,
    /// Id of the post in the thread to reply to; null to reply to the thread itself. Boards that do not support replies to
    /// posts ignore this field.
    pub in_reply_to: Option<PostId>,
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

impl NewPost {
    pub(crate) fn example() -> Self {
        Self {
            body: "Green, *always*.".into(),
            in_reply_to: Some(PostId::from(56)),
            subscribe: false,
            extra: None,
        }
    }
}

/// Body of `PATCH /threads/{threadId}/posts/{postId}`: at least `body` or `title`. Omitted fields keep their value.
///
/// The library rejects an update without a change.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(transform = first_paragraph)]
#[schemars(extend("not" = {"patternProperties": {"^(body|title)$": {"type": "null"}}}))]
#[non_exhaustive]
pub struct PostUpdate {
    /// The new source markup; null to keep the text.
    pub body: Option<String>,
    /// The new title of the thread; null to keep the title. Only an edit of the thread's first post can change the
    /// title. In an edit of another post, and on boards whose titles cannot change, a title is a 422 `VALIDATION`.
    pub title: Option<String>,
    /// Reason for the edit; null for an edit without a reason. The board limits its length.
    pub reason: Option<String>,
    /// The version of the post that the caller has read. If it is stale, the response is a 409 `CONFLICT`. If it is
    /// omitted, the version is not checked.
    pub expected_version: Option<i64>,
    /// Fields of the host; `None` if `extra` is absent or `null`. A body with `extra` is refused with 400 unless the
    /// host registered a type with [`ForumApiBuilder::extra`](crate::ForumApiBuilder::extra).
    #[serde(skip)]
    pub extra: Option<BodyExtra>,
}

impl PostUpdate {
    pub(crate) fn example() -> Self {
        Self {
            body: Some("Green, always.".into()),
            title: None,
            reason: Some("Less emphasis".into()),
            expected_version: Some(1),
            extra: None,
        }
    }
}
