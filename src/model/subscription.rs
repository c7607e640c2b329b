//! Subscriptions: follows of threads and forums (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serde_helpers::non_null;
use super::{ForumId, Limit, Position, TargetId, ThreadId, Timestamp};

/// What kind of thing is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A thread.
    Thread,
    /// A forum.
    Forum,
}

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A thread.
    Thread(ThreadId),
    /// A forum.
    Forum(ForumId),
}

/// A follow of a thread or a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Subscription::example())]
pub struct Subscription {
    /// What kind of thing is followed.
    pub target: TargetKind,
    /// Its id.
    pub target_id: TargetId,
    /// The forum it is, or is in.
    pub forum_id: ForumId,
    /// Its title.
    pub title: String,
    /// Since when it is followed.
    pub created_at: Timestamp,
}

impl Subscription {
    fn example() -> Self {
        Self {
            target: TargetKind::Thread,
            target_id: TargetId::from(17),
            forum_id: ForumId::from(2),
            title: "Which tea?".into(),
            created_at: Timestamp::from_millis(1_769_860_800_000),
        }
    }
}

/// The outcome of following: 201 for a new subscription, 200 for one that was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// It was not followed before.
    New(Subscription),
    /// It was followed already: the same subscription.
    Already(Subscription),
}

/// What `GET /subscriptions` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListSubscriptions {
    /// Only this kind.
    #[serde(deserialize_with = "non_null")]
    pub target: Option<TargetKind>,
    /// How many to return.
    #[serde(skip_serializing)]
    pub limit: Limit,
    /// The `next` of the page before.
    #[serde(skip_serializing)]
    pub after: Option<Position>,
}

/// What `POST /subscriptions` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Follow", example = json!({"target": "thread", "targetId": "17"}))]
pub(crate) struct Follow {
    /// What kind of thing to follow.
    target: TargetKind,
    /// Its id.
    target_id: TargetId,
}

impl From<Follow> for Target {
    fn from(follow: Follow) -> Self {
        match follow.target {
            TargetKind::Thread => Self::Thread(follow.target_id.into()),
            TargetKind::Forum => Self::Forum(follow.target_id.into()),
        }
    }
}
