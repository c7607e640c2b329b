//! Search parameters and hits ([protocol](crate::guide::protocol), section 12.6).

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::serde_helpers::first_paragraph;
use super::{
    Author, DateRange, Expected, ForumId, PostId, SearchQuery, ThreadId, Timestamp, UserRef,
};

/// Kind of the hit. Skip a hit of a kind that you do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SearchHitKind {
    /// One hit for each thread.
    Thread,
    /// One hit for each post.
    Post,
}

/// A hit of a full-text search.
///
/// `kind` is [`SearchHitKind::Thread`] if and only if the search has [`SearchShow::Threads`]. A match in a title belongs to
/// the first post of the thread. The library removes hits whose `forum_id` the caller cannot see.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct SearchHit {
    /// Kind of the hit.
    pub kind: SearchHitKind,
    /// The forum of the hit.
    pub forum_id: ForumId,
    /// The thread itself, or the thread of the post.
    pub thread_id: ThreadId,
    /// The post that matched.
    pub post_id: PostId,
    /// The thread's title.
    pub title: String,
    /// The post's author; null if the account no longer exists.
    pub author: Option<Author>,
    /// Creation time of the post.
    pub created_at: Timestamp,
    /// Plain text around the match, or the beginning of the post.
    pub excerpt: String,
    /// Relevance; higher is better. 0 for a search without `q`.
    ///
    /// The score must be finite: JSON cannot represent other numbers, and the response would be a 500.
    #[schemars(transform = first_paragraph)]
    #[serde(serialize_with = "serialize_finite")]
    pub score: f64,
    /// Absolute URL of the page for people; null if the board has none.
    ///
    /// `None` lets the library set it from [`Environment::web_urls`](crate::Environment::web_urls).
    #[schemars(transform = first_paragraph)]
    pub web_url: Option<String>,
}

fn serialize_finite<S: Serializer>(score: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if score.is_finite() {
        serializer.serialize_f64(*score)
    } else {
        Err(ser::Error::custom("a score is not finite"))
    }
}

impl SearchHit {
    /// Creates a hit with score 0, without an author or an excerpt.
    pub fn new(
        kind: SearchHitKind,
        forum_id: ForumId,
        thread_id: ThreadId,
        post_id: PostId,
        title: impl Into<String>,
        created_at: Timestamp,
    ) -> Self {
        Self {
            kind,
            forum_id,
            thread_id,
            post_id,
            title: title.into(),
            author: None,
            created_at,
            excerpt: String::new(),
            web_url: None,
            score: 0.0,
        }
    }

    pub(crate) fn example() -> Self {
        let hit = Self::new(
            SearchHitKind::Post,
            ForumId::from(2),
            ThreadId::from(16),
            PostId::from(54),
            "Which tea for a rainy afternoon?",
            Timestamp::from_millis(1_769_860_800_000),
        );
        Self {
            author: Some(Author::example()),
            excerpt: "Green or black?".into(),
            score: 2.5,
            ..hit
        }
    }
}

/// Texts to search: titles, posts, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchField {
    /// Titles and posts.
    #[default]
    All,
    /// Titles only.
    Titles,
    /// Posts only.
    Posts,
}

/// Kind of the hits: posts or threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchShow {
    /// One hit per post.
    #[default]
    Posts,
    /// One hit per thread.
    Threads,
}

/// Order of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchSort {
    /// Best matches first. A board can limit this order to the newest matches: older ones are then no hits.
    #[default]
    Relevance,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// Filters and order of `GET /search`.
///
/// Omitted filters do not restrict the hits. A search has a query, an author, or both: without a query its hits are the
/// author's posts.
///
/// ```
/// use forum_api::model::{DateRange, ForumId, List, SearchFilter, SearchQuery, SearchSort};
///
/// let mut filter = SearchFilter::new(SearchQuery::parse("green tea").unwrap());
/// filter.forum = vec![ForumId::from(2)];
/// filter.when = DateRange::parse("30d").ok();
/// assert_eq!(filter.sort, SearchSort::Relevance);
/// assert_eq!(List::new(filter).limit.get(), 20);
/// ```
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = first_paragraph)]
#[non_exhaustive]
pub struct SearchFilter {
    /// Words to search for: 1 to 200 characters, at most 32 words, at least one of them without `-`; otherwise the response
    /// is a 400. A board can also count the words of phrases. All words are required. `"a phrase"` matches adjacent words,
    /// `-word` excludes a word. Letters of scripts without spaces, such as Chinese, are found inside a text. Required unless
    /// `by` is given: without it, all posts of that member are hits.
    #[schemars(extend("x-required-unless" = "by"))]
    pub q: Option<SearchQuery>,
    /// Only posts in this forum and its sub-forums: an id of 1 to 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`, or
    /// several ids, separated by commas. A forum that does not exist or is hidden has no hits.
    #[serde(default, deserialize_with = "forum_ids")]
    #[schemars(with = "String", extend("pattern" = FORUM_IDS, "examples" = ["2", "2,3"]))]
    pub forum: Vec<ForumId>,
    /// Only posts by this member: an id, or `@` and a username, each of 1 to 64 characters. An unknown member has no hits.
    #[serde(default, deserialize_with = "user_ref")]
    pub by: Option<UserRef>,
    /// Only posts from this period: `24h`, `7d`, `30d`, `1y`, or a range of dates in UTC, for example
    /// `2026-01-01..2026-02-01`. The end is exclusive. One of the two dates can be omitted.
    pub when: Option<DateRange>,
    /// Texts to search: `all`, `titles` or `posts`. Default: `all`. Without `q`, `titles` selects the first posts of
    /// threads.
    #[serde(default, rename = "in")]
    pub field: SearchField,
    /// Kind of the hits: `posts` or `threads`. Default: `posts`.
    #[serde(default)]
    pub show: SearchShow,
    /// Order of the hits: `relevance`, `newest` or `oldest`. Default: `relevance`, which without `q` is `newest`.
    #[serde(default)]
    pub sort: SearchSort,
}

impl SearchFilter {
    /// Creates a search for `q` with default values of all other fields.
    pub fn new(q: SearchQuery) -> Self {
        Self { q: Some(q), ..Self::empty() }
    }

    /// Creates a search for the posts of a member with default values of all other fields.
    ///
    /// ```
    /// use forum_api::model::{SearchFilter, UserRef};
    ///
    /// let filter = SearchFilter::of_author(UserRef::parse("@alice").unwrap());
    /// assert_eq!(filter.q, None);
    /// ```
    pub fn of_author(by: UserRef) -> Self {
        Self { by: Some(by), ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            q: None,
            forum: Vec::new(),
            by: None,
            when: None,
            field: SearchField::default(),
            show: SearchShow::default(),
            sort: SearchSort::default(),
        }
    }
}

const FORUM_IDS: &str =
    "^([A-Za-z0-9_]|[A-Za-z0-9_-]{2,64})(,([A-Za-z0-9_]|[A-Za-z0-9_-]{2,64}))*$";

/// Rejects an empty list and values that cannot be ids.
fn forum_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ForumId>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let ids: Result<Vec<_>, _> = text.split(',').map(ForumId::parse).collect();
    ids.map_err(|_| Expected::FORUM_IDS.error())
}

/// Rejects a text that is neither an id nor `@username`.
fn user_ref<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<UserRef>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let user = UserRef::parse(&text).map_err(|_| Expected::USER_REF.error())?;
    Ok(Some(user))
}
