//! Subscriptions to threads and forums ([protocol](crate::guide::protocol), section 12.5).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{ForumId, TargetId, ThreadId, Timestamp};

/// Kind of the subscription's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionTargetKind {
    /// A subscription to one thread.
    Thread,
    /// A subscription to one forum.
    Forum,
}

/// Target of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubscriptionTarget {
    /// A thread.
    Thread(ThreadId),
    /// A forum.
    Forum(ForumId),
}

impl SubscriptionTarget {
    pub(crate) fn new(kind: SubscriptionTargetKind, id: TargetId) -> Self {
        match kind {
            SubscriptionTargetKind::Thread => Self::Thread(id.into_thread()),
            SubscriptionTargetKind::Forum => Self::Forum(id.into_forum()),
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> SubscriptionTargetKind {
        match self {
            Self::Thread(_) => SubscriptionTargetKind::Thread,
            Self::Forum(_) => SubscriptionTargetKind::Forum,
        }
    }

    fn id(&self) -> TargetId {
        match self {
            Self::Thread(id) => id.clone().into(),
            Self::Forum(id) => id.clone().into(),
        }
    }
}

/// A subscription to a thread or a forum.
///
/// The library omits subscriptions from lists while the caller cannot see their `forum_id`. The board must keep them,
/// so that they reappear when the caller can see the forum again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "SubscriptionJson", into = "SubscriptionJson")]
#[non_exhaustive]
pub struct Subscription {
    /// The target, in JSON the fields `target` and `targetId`.
    pub target: SubscriptionTarget,
    /// The forum itself, or the forum of the thread.
    pub forum_id: ForumId,
    /// Title of the target.
    pub title: String,
    /// Time of the subscription.
    pub created_at: Timestamp,
}

impl Subscription {
    /// Creates the subscription to a forum, or to a thread of this forum.
    pub fn new(
        target: SubscriptionTarget,
        forum_id: ForumId,
        title: impl Into<String>,
        created_at: Timestamp,
    ) -> Self {
        Self { target, forum_id, title: title.into(), created_at }
    }

    pub(crate) fn example() -> Self {
        Self::new(
            SubscriptionTarget::Thread(ThreadId::from(16)),
            ForumId::from(2),
            "Which tea for a rainy afternoon?",
            Timestamp::from_millis(1_769_860_800_000),
        )
    }
}

/// A subscription to a thread or a forum.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Subscription")]
struct SubscriptionJson {
    /// Kind of the subscription's target.
    target: SubscriptionTargetKind,
    /// Id of the target.
    target_id: TargetId,
    /// The forum itself, or the forum of the thread.
    forum_id: ForumId,
    /// Title of the target.
    title: String,
    /// Time of the subscription.
    created_at: Timestamp,
}

impl From<SubscriptionJson> for Subscription {
    fn from(json: SubscriptionJson) -> Self {
        Self {
            target: SubscriptionTarget::new(json.target, json.target_id),
            forum_id: json.forum_id,
            title: json.title,
            created_at: json.created_at,
        }
    }
}

impl From<Subscription> for SubscriptionJson {
    fn from(subscription: Subscription) -> Self {
        Self {
            target: subscription.target.kind(),
            target_id: subscription.target.id(),
            forum_id: subscription.forum_id,
            title: subscription.title,
            created_at: subscription.created_at,
        }
    }
}

impl JsonSchema for Subscription {
    fn schema_name() -> Cow<'static, str> {
        SubscriptionJson::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SubscriptionJson::json_schema(generator)
    }
}

/// Filters of `GET /subscriptions`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Only targets of this kind: `thread` or `forum`. Default: all kinds.
    pub target: Option<SubscriptionTargetKind>,
}

/// Body of `POST /subscriptions`, created from a [`SubscriptionTarget`] with `From`.
///
/// ```
/// use forum_api::model::{NewSubscription, SubscriptionTarget, ThreadId};
///
/// let new = NewSubscription::from(SubscriptionTarget::Thread(ThreadId::from(16)));
/// assert_eq!(new.target, SubscriptionTarget::Thread(ThreadId::from(16)));
/// ```
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(from = "NewSubscriptionBody", into = "NewSubscriptionBody")]
#[non_exhaustive]
pub struct NewSubscription {
    /// The target.
    pub target: SubscriptionTarget,
}

impl NewSubscription {
    pub(crate) fn example() -> Self {
        SubscriptionTarget::Thread(ThreadId::from(16)).into()
    }
}

/// Body of `POST /subscriptions`.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SubscriptionInput")]
struct NewSubscriptionBody {
    /// Kind of the target.
    target: SubscriptionTargetKind,
    /// Id of the target.
    target_id: TargetId,
}

impl From<SubscriptionTarget> for NewSubscription {
    fn from(target: SubscriptionTarget) -> Self {
        Self { target }
    }
}

impl From<NewSubscriptionBody> for NewSubscription {
    fn from(body: NewSubscriptionBody) -> Self {
        Self { target: SubscriptionTarget::new(body.target, body.target_id) }
    }
}

impl From<NewSubscription> for NewSubscriptionBody {
    fn from(new: NewSubscription) -> Self {
        Self { target: new.target.kind(), target_id: new.target.id() }
    }
}

impl JsonSchema for NewSubscription {
    fn schema_name() -> Cow<'static, str> {
        NewSubscriptionBody::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        NewSubscriptionBody::json_schema(generator)
    }
}
