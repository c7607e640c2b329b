//! Subscriptions: follows of threads and forums (contract, section 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::serde_helpers::non_null;
use super::{ForumId, PageKey, PageLimit, TargetId, ThreadId, Timestamp};

/// What kind of thing is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionTargetKind {
    /// A thread.
    Thread,
    /// A forum.
    Forum,
}

/// What is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptionTarget {
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
    pub target: SubscriptionTargetKind,
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
            target: SubscriptionTargetKind::Thread,
            target_id: TargetId::from(17),
            forum_id: ForumId::from(2),
            title: "Which tea?".into(),
            created_at: Timestamp::from_millis(1_769_860_800_000),
        }
    }
}

/// The outcome of following: 201 for a new subscription, 200 for one that was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscribeOutcome {
    /// It was not followed before.
    Created(Subscription),
    /// It was followed already: the same subscription.
    Existing(Subscription),
}

/// What `GET /subscriptions` takes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ListSubscriptionsParams {
    /// Only this kind.
    #[serde(deserialize_with = "non_null")]
    pub target: Option<SubscriptionTargetKind>,
    /// How many to return.
    #[serde(skip_serializing)]
    pub limit: PageLimit,
    /// The `next` of the page before.
    #[serde(skip_serializing)]
    pub after: Option<PageKey>,
}

/// What `POST /subscriptions` takes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Follow", example = json!({"target": "thread", "targetId": "17"}))]
pub(crate) struct NewSubscription {
    /// What kind of thing to follow.
    target: SubscriptionTargetKind,
    /// Its id.
    target_id: TargetId,
}

impl From<NewSubscription> for SubscriptionTarget {
    fn from(follow: NewSubscription) -> Self {
        match follow.target {
            SubscriptionTargetKind::Thread => Self::Thread(follow.target_id.into()),
            SubscriptionTargetKind::Forum => Self::Forum(follow.target_id.into()),
        }
    }
}
