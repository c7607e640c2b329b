//! Idempotency store.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{
    BeginOutcome, Completion, IdempotencyRecord, IdempotencyStore, IdempotentRequest, Reservation,
    lock,
};
use crate::token::Lookup;

type Key = (Lookup, String);

/// First answers in a map, and their keys by age, so that they are forgotten in time.
#[derive(Debug, Default)]
pub struct MemoryIdempotencyStore(Mutex<Keys>);

/// Both hold the same keys.
#[derive(Debug, Default)]
struct Keys {
    entries: HashMap<Key, IdempotencyRecord>,
    by_age: BTreeSet<(Timestamp, Key)>,
}

impl Keys {
    fn take(&mut self, key: Key, entry: IdempotencyRecord) {
        self.by_age.insert((entry.started_at, key.clone()));
        self.entries.insert(key, entry);
    }

    fn free(&mut self, key: Key, began: Timestamp) {
        let aged = (began, key);
        if self.by_age.remove(&aged) {
            self.entries.remove(&aged.1);
        }
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((began, key)) = self.oldest_over(now) {
            self.free(key, began);
        }
    }

    fn oldest_over(&self, now: Timestamp) -> Option<(Timestamp, Key)> {
        let oldest = self.by_age.first()?;
        let is_over = self.entries.get(&oldest.1)?.is_expired(now);
        is_over.then(|| oldest.clone())
    }
}

#[async_trait]
impl IdempotencyStore for MemoryIdempotencyStore {
    async fn begin(
        &self,
        attempt: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let mut keys = lock(&self.0);
        keys.forget(now);
        let key = (attempt.token, attempt.key.clone());
        if let Some(entry) = keys.entries.get(&key) {
            return Ok(entry.clone().outcome_for(&attempt.fingerprint, now));
        }
        let entry = IdempotencyRecord {
            fingerprint: attempt.fingerprint,
            started_at: now,
            completion: None,
        };
        keys.take(key, entry);
        Ok(BeginOutcome::Reserved(attempt.reservation(now)))
    }

    async fn complete(&self, ticket: &Reservation, outcome: Completion) -> BackendResult<()> {
        let mut keys = lock(&self.0);
        let key = (ticket.token, ticket.key.clone());
        let ended = match outcome {
            Completion::Responded(kept) => Some(kept),
            Completion::OutcomeUnknown => None,
            Completion::NotExecuted => {
                keys.free(key, ticket.started_at);
                return Ok(());
            }
        };
        if let Some(entry) = keys
            .entries
            .get_mut(&key)
            .filter(|entry| entry.started_at == ticket.started_at)
        {
            entry.completion = Some(ended);
        }
        Ok(())
    }
}
