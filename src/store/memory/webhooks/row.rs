//! A delivery in memory, and what happens to one.

use std::collections::VecDeque;

use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::store::{ATTEMPTS_KEPT, Filter, Settlement, ended_at};
use crate::webhook::{Attempted, Delivery, Event, Progress};

/// A delivery, and what is known of it beside.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) delivery: Delivery,
    /// When it was delivered, gone or withheld.
    pub(super) ended_at: Option<Timestamp>,
    pub(super) attempts: VecDeque<Attempted>,
    /// Counts what was done to the leases on it, so that no two have the same.
    pub(super) lease: i64,
    /// True if it is leased: the lease is in force until the delivery is due.
    pub(super) leased: bool,
    /// True if sending had begun under a lease that was not settled.
    pub(super) sending: bool,
}

impl Row {
    pub(super) fn queued(
        id: DeliveryId,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Self {
        Self {
            delivery: Delivery {
                id,
                event: event.id.clone(),
                topic: event.topic.clone(),
                endpoint: endpoint.clone(),
                created_at: now,
                progress: Progress::queued(now),
            },
            ended_at: None,
            attempts: VecDeque::new(),
            lease: 0,
            leased: false,
            sending: false,
        }
    }

    pub(super) fn take_lease(&mut self, until: Timestamp) {
        self.lease += 1;
        self.leased = true;
        self.delivery.progress.due_at = Some(until);
    }

    pub(super) fn release(&mut self, lease_expired: bool, due_at: Timestamp) {
        self.lease += 1;
        self.leased = false;
        self.sending = lease_expired;
        self.delivery.progress.due_at = Some(due_at);
    }

    pub(super) fn settle(&mut self, settlement: &Settlement, now: Timestamp) {
        self.lease += 1;
        self.leased = false;
        self.sending = false;
        self.ended_at = ended_at(&settlement.progress, now);
        self.delivery.progress = settlement.progress;
        self.attempts.extend(settlement.attempted.clone());
        let over = self.attempts.len().saturating_sub(ATTEMPTS_KEPT as usize);
        self.attempts.drain(..over);
    }

    pub(super) fn retry(&mut self, progress: Progress) {
        self.ended_at = None;
        self.delivery.progress = progress;
    }

    /// Returns whether a lease is in force that has not expired.
    pub(super) fn holds_lease(&self, now: Timestamp) -> bool {
        self.leased && self.delivery.progress.due_at.is_some_and(|due| now < due)
    }

    /// Whether the filter lets it through, wherever it begins.
    pub(super) fn passes(&self, filter: &Filter) -> bool {
        let Delivery {
            progress,
            topic,
            endpoint,
            ..
        } = &self.delivery;
        filter.state.is_none_or(|state| state == progress.state)
            && filter.topic.as_ref().is_none_or(|one| one == topic)
            && filter.endpoint.as_ref().is_none_or(|one| one == endpoint)
    }
}
