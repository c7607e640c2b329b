//! Search and its hits (contract, sections 6 and 7).

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::serde_helpers::non_null;
use super::{
    Author, DateRange, Expected, ForumId, PageKey, PageLimit, PostId, SearchQuery, ThreadId,
    Timestamp, UserRef,
};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchHitKind {
    /// A thread.
    Thread,
    /// A post.
    Post,
}

/// A hit of a full-text search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = SearchHit::example())]
pub struct SearchHit {
    /// What was found.
    pub kind: SearchHitKind,
    /// The forum that it is in.
    pub forum_id: ForumId,
    /// The thread that it is, or is in.
    pub thread_id: ThreadId,
    /// The post that matched.
    pub post_id: PostId,
    /// The thread's title.
    pub title: String,
    /// Who wrote the post; null when the account is gone.
    pub author: Option<Author>,
    /// When the post was written.
    pub created_at: Timestamp,
    /// Some plain text around the match.
    pub excerpt: String,
    /// How well it matches; higher is better.
    #[serde(serialize_with = "serialize_finite")]
    pub score: f64,
}

/// JSON has no word for any other number, and a score is never null.
fn serialize_finite<S: Serializer>(score: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if score.is_finite() {
        serializer.serialize_f64(*score)
    } else {
        Err(ser::Error::custom("a score is not finite"))
    }
}

impl SearchHit {
    fn example() -> Self {
        Self {
            kind: SearchHitKind::Post,
            forum_id: ForumId::from(2),
            thread_id: ThreadId::from(17),
            post_id: PostId::from(40),
            title: "Which tea?".into(),
            author: Some(Author::example()),
            created_at: Timestamp::from_millis(1_769_860_800_000),
            excerpt: "Green or black?".into(),
            score: 2.5,
        }
    }
}

/// Where to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchField {
    /// Titles and posts.
    #[default]
    All,
    /// Titles alone.
    Titles,
    /// Posts alone.
    Posts,
}

/// What a hit stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchShow {
    /// One hit per post.
    #[default]
    Posts,
    /// One hit per thread.
    Threads,
}

/// The order of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchSort {
    /// Best first, among the newest matches.
    #[default]
    Relevance,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// What `GET /search` takes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchParams {
    /// The words to look for: all are required; `"a phrase"`, `-word`.
    pub q: SearchQuery,
    /// Only in these forums and their sub-forums; several with commas between them. A forum that is absent or hidden has
    /// no hits.
    #[serde(default, deserialize_with = "forum_ids")]
    #[schemars(with = "String", extend("pattern" = FORUM_IDS, "examples" = ["17", "17,18"]))]
    pub forum: Vec<ForumId>,
    /// Only by this member. A member who is absent has no hits.
    #[serde(default, deserialize_with = "user_ref")]
    pub by: Option<UserRef>,
    /// Only from this span of time.
    #[serde(default, deserialize_with = "non_null")]
    pub when: Option<DateRange>,
    /// Where to look.
    #[serde(default, rename = "in")]
    pub field: SearchField,
    /// What a hit stands for.
    #[serde(default)]
    pub show: SearchShow,
    /// The order of the hits.
    #[serde(default)]
    pub sort: SearchSort,
    /// How many to return.
    #[serde(default, skip_serializing)]
    pub limit: PageLimit,
    /// The `next` of the page before.
    #[serde(default, skip_serializing)]
    pub after: Option<PageKey>,
}

impl SearchParams {
    /// A search for `q` with every other parameter at its default.
    pub fn new(q: SearchQuery) -> Self {
        Self {
            q,
            forum: Vec::new(),
            by: None,
            when: None,
            field: SearchField::default(),
            show: SearchShow::default(),
            sort: SearchSort::default(),
            limit: PageLimit::default(),
            after: None,
        }
    }
}

const FORUM_IDS: &str = "^[A-Za-z0-9_-]{1,64}(,[A-Za-z0-9_-]{1,64})*$";

/// Rejects an empty list, and one with a text that cannot be an id.
fn forum_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ForumId>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let ids: Option<Vec<_>> = text.split(',').map(ForumId::parse).collect();
    ids.ok_or_else(|| Expected::ForumIds.error())
}

/// Rejects a text that can be neither an id nor `@username`.
fn user_ref<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<UserRef>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let user = UserRef::parse(&text).ok_or_else(|| Expected::UserRef.error())?;
    Ok(Some(user))
}
