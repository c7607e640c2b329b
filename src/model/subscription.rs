//! Subscriptions: follows of threads and forums (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serde_helpers::non_null;
use super::{ForumId, Limit, Position, TargetId, ThreadId, Timestamp};

/// Kind of the subscription's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A thread.
    Thread,
    /// A forum.
    Forum,
}

/// Target of a subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A thread.
    Thread(ThreadId),
    /// A forum.
    Forum(ForumId),
}

/// A subscription to a thread or a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = Subscription::example())]
pub struct Subscription {
    /// Kind of the subscription's target.
    pub target: TargetKind,
    /// Id of the target.
    pub target_id: TargetId,
    /// The forum itself, or the forum of the thread.
    pub forum_id: ForumId,
    /// Title of the target.
    pub title: String,
    /// Time of the subscription.
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

/// Outcome of subscribing: 201 for a new subscription, 200 for an existing one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// A new subscription.
    New(Subscription),
    /// The subscription that existed before.
    Already(Subscription),
}

/// Query parameters of `GET /subscriptions`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListSubscriptions {
    /// Only targets of this kind.
    #[serde(deserialize_with = "non_null")]
    pub target: Option<TargetKind>,
    /// Number of items per page, 1 to 100.
    #[serde(skip_serializing)]
    pub limit: Limit,
    /// `next` of the previous page.
    #[serde(skip_serializing)]
    pub after: Option<Position>,
}

/// Body of `POST /subscriptions`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Follow", example = json!({"target": "thread", "targetId": "17"}))]
pub(crate) struct Follow {
    /// Kind of the target.
    target: TargetKind,
    /// Id of the target.
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
