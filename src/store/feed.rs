//! Trait of feed stores: the events that clients can still read.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::{EventId, ForumId, Timestamp, UserId};
use crate::webhook::Topic;

/// Position of an event in the feed.
///
/// The order of positions is the order in which the changes became visible. A store returns an event only if no event with
/// an earlier position can become visible later.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPosition {
    /// Group of transactions.
    pub group: i64,
    /// Number of the event in its group.
    pub number: i64,
}

impl FeedPosition {
    /// The position before all events.
    pub const START: Self = Self { group: i64::MIN, number: i64::MIN };

    /// Returns a position before this one and after all earlier events.
    #[cfg(feature = "webhooks")]
    pub(crate) const fn before(self) -> Self {
        Self { group: self.group, number: self.number.saturating_sub(1) }
    }
}

/// A stored event of the feed.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundInFeed {
    /// Position of the event.
    pub position: FeedPosition,
    /// Time since the fan-out; zero if the time of the fan-out is in the future, and `None` before the fan-out.
    pub age: Option<Duration>,
}

/// An event of the feed without its body.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedEntry {
    /// Id of the event.
    pub id: EventId,
    /// Topic of the event.
    pub topic: Topic,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Id of the forum that a reader must see; `None` for an event outside of forums.
    pub forum_id: Option<ForumId>,
    /// Length of the body in bytes.
    pub size: u64,
    /// `false` if the event concerns only its parties, and the reader is certainly not one of them.
    pub may_concern_reader: bool,
}

/// The events that a store has read.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct FeedRead {
    /// The events, without those that cannot be decoded.
    pub entries: Vec<FeedEntry>,
    /// Position of the next page, if more events follow: the id of the last event, or of one that cannot be decoded if
    /// `entries` is empty.
    pub next: Option<EventId>,
}

/// Stores the events of the feed: those that are not fanned out yet, and those that the worker keeps for its
/// `event_retention` after the fan-out.
///
/// `now` is the caller's time. A backend that several machines share may use its own clock instead.
#[async_trait]
pub trait FeedStore: Send + Sync + 'static {
    /// Returns the position of an event of the feed; `None` if the feed does not contain it (any more).
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn find(&self, id: &EventId, now: Timestamp) -> BackendResult<Option<FoundInFeed>>;

    /// Returns the position at which a page of the events since `time` begins; `None` if the feed is empty.
    ///
    /// Clocks differ, so that an event can precede an earlier one in the feed. The position is therefore at most that of the
    /// latest event before `time`, and precedes the 1,000 events with the earliest times since `time`. It can precede events
    /// before `time`, too.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn find_start(&self, time: Timestamp) -> BackendResult<Option<FeedPosition>>;

    /// Returns the position of the first event that is not fanned out, or was fanned out at most `retention` ago; `None` if
    /// there is none.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn first_kept(
        &self,
        retention: Duration,
        now: Timestamp,
    ) -> BackendResult<Option<FeedPosition>>;

    /// Returns up to `limit` events after a position, in order.
    ///
    /// No event with a position between two returned ones, or between `after` and the first one, becomes visible later.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn read(
        &self,
        after: FeedPosition,
        reader: &UserId,
        limit: u32,
    ) -> BackendResult<FeedRead>;

    /// Returns the last `limit` events, the latest first.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn latest(&self, reader: &UserId, limit: u32) -> BackendResult<Vec<FeedEntry>>;

    /// Returns the bodies of events, without the ids of deliveries. Omits events that are not stored.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn bodies(&self, ids: &[EventId]) -> BackendResult<HashMap<EventId, String>>;

    /// Removes up to `limit` events from the beginning of the feed that were fanned out longer ago than `retention`. Deletes
    /// those without deliveries. Returns their number.
    ///
    /// Sets the fan-out times of the first `limit` events that are more than 60 s ahead to `now`: a clock that was ahead
    /// recorded them. These events stay for the whole retention from now on.
    ///
    /// A store that first has to move events to their positions moves some of them, and returns `limit`.
    ///
    /// An event stays while an earlier one stays, so that a client misses no event after a position that is in the feed. It also
    /// stays while [`read`](Self::read) does not return it yet.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64>;
}
