//! The stores of webhooks.

use std::sync::Arc;
use std::time::Duration;

use super::{
    DeliveryCount, DeliveryFilter, DeliveryStore, EndpointStats, EndpointStore, FeedStore,
    OutboxStore, Quarantine, QueueStats, StoredEvent,
};
use crate::error::BackendResult;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp};
use crate::webhook::{AttemptRecord, Delivery, Endpoint, Event, KeyId, Topic};

/// Stores of webhooks in one database: events, endpoints, deliveries and their attempts.
///
/// Its methods are for the pages, commands, monitoring and tests of a host. Only [`insert_event`](Self::insert_event) and
/// [`pending_events`](Self::pending_events) write. A `WebhookAdmin` changes endpoints and deliveries.
///
/// A host adds an event in the transaction of the change that caused the event: to the table of the outbox
/// ([example](crate::guide::outbox)), or to a [`PendingEventStore`](super::PendingEventStore) of its own.
#[derive(Clone)]
#[doc(alias = "transactional outbox")]
pub struct WebhookStores {
    /// Events that are not fanned out yet.
    pub(crate) outbox: Arc<dyn OutboxStore>,
    /// Events that clients can still read.
    pub(crate) feed: Arc<dyn FeedStore>,
    /// Endpoints of webhooks.
    pub(crate) endpoints: Arc<dyn EndpointStore>,
    /// Deliveries and their attempts.
    pub(crate) deliveries: Arc<dyn DeliveryStore>,
}

/// Events.
impl WebhookStores {
    /// Adds an event. Changes nothing if an event with its id is stored. If a host calls it after the transaction of the
    /// change, the event is lost when the process stops in between.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn insert_event(&self, event: &Event) -> BackendResult<()> {
        self.outbox.insert(event).await
    }

    /// Returns up to `limit` events that are not fanned out yet, oldest first. Events with the same time are in the
    /// order in which they were inserted.
    ///
    /// The store finds pending events by their state, not by their position, so that it does not miss an event whose
    /// transaction commits late. It decodes each event separately. It moves an event that cannot be decoded to the
    /// [quarantine](Self::quarantined_events), logs its id and counts it in the metrics; other events are not delayed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn pending_events(&self, limit: u32) -> BackendResult<Vec<Event>> {
        self.outbox.pending(limit).await
    }

    /// Returns the number of events that could not be decoded, at most [`Quarantine::MAX_COUNT`], and the latest `limit` of
    /// them, newest first. They stay in quarantine until an operator repairs or deletes their rows.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn quarantined_events(&self, limit: u32) -> BackendResult<Quarantine> {
        self.outbox.quarantined(limit).await
    }

    /// Returns an event, even after it was fanned out; `None` if it is not stored. An event is removed with its last
    /// delivery, or when it leaves the feed, whichever is later.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn find_event(&self, id: &EventId) -> BackendResult<Option<StoredEvent>> {
        self.outbox.find(id).await
    }
}

/// Endpoints.
impl WebhookStores {
    /// Returns the endpoint with this id; `None` if it does not exist.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or the endpoint cannot be decoded.
    pub async fn find_endpoint(&self, id: &EndpointId) -> BackendResult<Option<Endpoint>> {
        self.endpoints.find(id).await
    }

    /// Lists all endpoints in the order in which they were added. The stores are designed for up to a few hundred.
    ///
    /// The store logs an endpoint that cannot be decoded with its id, counts it in the metrics and omits it from the
    /// list.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn list_endpoints(&self) -> BackendResult<Vec<Endpoint>> {
        self.endpoints.list().await
    }

    /// Returns `true` if an enabled endpoint subscribes to `topic`, so that a host can omit an event that no endpoint
    /// receives. A host with SQL transactions runs [`Event::IS_SUBSCRIBED_SQL`] instead.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn is_subscribed(&self, topic: &Topic) -> BackendResult<bool> {
        self.endpoints.is_subscribed(topic).await
    }

    /// Returns the recorded id of the key that encrypts the secrets; `None` if no key is recorded yet.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn key_id(&self) -> BackendResult<Option<KeyId>> {
        self.endpoints.key_id().await
    }
}

/// Deliveries. `now` is the caller's time. The stores of `in_postgres` use the clock of Postgres instead, which also wrote
/// the stored times.
impl WebhookStores {
    /// Returns a delivery and its stored attempts, oldest first; `None` if it does not exist or its endpoint was removed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails or the delivery cannot be decoded.
    pub async fn find_delivery(
        &self,
        id: &DeliveryId,
    ) -> BackendResult<Option<(Delivery, Vec<AttemptRecord>)>> {
        self.deliveries.find(id).await
    }

    /// Lists deliveries with their last attempts, newest first, by `created_at` and id; `None` for a delivery without an
    /// attempt. Omits deliveries of removed endpoints and those that cannot be decoded, such as deliveries in a state that
    /// only a newer version knows: a list can be shorter than [`DeliveryFilter::limit`] although more deliveries follow.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn list_deliveries(
        &self,
        filter: &DeliveryFilter,
    ) -> BackendResult<Vec<(Delivery, Option<AttemptRecord>)>> {
        self.deliveries.list(filter).await
    }

    /// Returns the number of dead deliveries to `endpoint`, or with `None` to all endpoints, at most
    /// [`QueueStats::MAX_DEPTH`]. Deliveries of removed endpoints are not counted.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn count_dead_deliveries(&self, endpoint: Option<&EndpointId>) -> BackendResult<u64> {
        self.deliveries.count_dead(endpoint).await
    }

    /// Counts the due, retrying and dead deliveries, and the disabled endpoints. A delivery is due if a worker could send it
    /// at `now`, or if its due time was written by a clock that was more than 60 s ahead. Deliveries of removed endpoints are
    /// not counted. Each count of deliveries stops at [`QueueStats::MAX_DEPTH`].
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn queue_stats(&self, now: Timestamp) -> BackendResult<QueueStats> {
        self.deliveries.queue_stats(now).await
    }

    /// Counts the deliveries that were first queued less than `period` before `now`, by endpoint, state and hour, in any order.
    /// A delivery of a later time than `now` counts as 0 hours ago. Deliveries of removed endpoints are not counted. Of each
    /// state, only the latest [`DeliveryCount::MAX_DELIVERIES`] are read.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn delivery_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<DeliveryCount>> {
        self.deliveries.delivery_stats(period, now).await
    }

    /// Returns the results of each endpoint, in any order: the numbers of its deliveries that were first queued less than
    /// `period` before `now`, and its latest delivery with an attempt, also if it is older. Of each endpoint, only the latest
    /// [`EndpointStats::MAX_DELIVERIES`] deliveries with an attempt are counted.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    pub async fn endpoint_stats(
        &self,
        period: Duration,
        now: Timestamp,
    ) -> BackendResult<Vec<EndpointStats>> {
        self.deliveries.endpoint_stats(period, now).await
    }
}

/// The stores, for the tests of the library.
#[doc(hidden)]
impl WebhookStores {
    pub fn outbox(&self) -> &Arc<dyn OutboxStore> {
        &self.outbox
    }

    pub fn feed(&self) -> &Arc<dyn FeedStore> {
        &self.feed
    }

    pub fn endpoints(&self) -> &Arc<dyn EndpointStore> {
        &self.endpoints
    }

    pub fn deliveries(&self) -> &Arc<dyn DeliveryStore> {
        &self.deliveries
    }
}

opaque_debug!(WebhookStores);
