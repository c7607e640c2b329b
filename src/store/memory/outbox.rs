//! Outbox store.

use async_trait::async_trait;

use super::webhook_tables::{MemoryWebhookStore, WebhookTables};
use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::{EventId, Timestamp};
use crate::store::{FanOut, OutboxStore, Quarantine};
use crate::webhook::Event;

#[async_trait]
impl OutboxStore for MemoryWebhookStore {
    async fn insert(&self, event: &Event) -> BackendResult<()> {
        lock(&self.0).events.insert_pending(event);
        Ok(())
    }

    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let tables = lock(&self.0);
        let pending = tables.events.pending().take(limit as usize);
        Ok(pending.cloned().collect())
    }

    /// Returns an empty quarantine, because events in memory are not encoded.
    async fn quarantined(&self, _limit: u32) -> BackendResult<Quarantine> {
        Ok(Quarantine::default())
    }

    async fn body(&self, id: &EventId) -> BackendResult<Option<String>> {
        let tables = lock(&self.0);
        Ok(tables.events.get(id).map(|event| event.body.clone()))
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> BackendResult<()> {
        let mut tables = lock(&self.0);
        for fan_out in events {
            tables.fan_out(fan_out, now);
        }
        Ok(())
    }
}

impl WebhookTables {
    fn fan_out(&mut self, fan_out: &FanOut, now: Timestamp) {
        let Some(event) = self.events.take_pending(&fan_out.event_id) else {
            return;
        };
        for endpoint_id in &fan_out.endpoint_ids {
            if self.enabled_endpoint(endpoint_id).is_some() {
                self.enqueue(&event, endpoint_id, now);
            }
        }
        self.events.remove_unused(&event.id);
    }
}
