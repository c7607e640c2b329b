//! Idempotency store.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotencyProgress, IdempotencyRecord,
    IdempotencyStore, IdempotentRequest, Reservation,
};

type Key = (IdempotencyNamespace, String);

/// Idempotency keys in a map. Each [`begin`](IdempotencyStore::begin) deletes the expired ones.
#[derive(Debug, Default)]
pub(crate) struct MemoryIdempotencyStore(Mutex<KeyTable>);

/// Both collections contain the same keys.
#[derive(Debug, Default)]
struct KeyTable {
    records: HashMap<Key, IdempotencyRecord>,
    by_age: BTreeSet<(Timestamp, Key)>,
}

impl KeyTable {
    fn insert(&mut self, key: Key, record: IdempotencyRecord) {
        self.by_age.insert((record.started_at, key.clone()));
        self.records.insert(key, record);
    }

    fn remove(&mut self, key: Key, started_at: Timestamp) {
        let entry = (started_at, key);
        if self.by_age.remove(&entry) {
            self.records.remove(&entry.1);
        }
    }

    fn remove_expired(&mut self, now: Timestamp) {
        while let Some((started_at, key)) = self.first_expired(now) {
            self.remove(key, started_at);
        }
    }

    fn first_expired(&self, now: Timestamp) -> Option<(Timestamp, Key)> {
        let oldest = self.by_age.first()?;
        let is_expired = self.records.get(&oldest.1)?.is_expired(now);
        is_expired.then(|| oldest.clone())
    }
}

#[async_trait]
impl IdempotencyStore for MemoryIdempotencyStore {
    async fn begin(
        &self,
        request: &IdempotentRequest,
        now: Timestamp,
    ) -> BackendResult<BeginOutcome> {
        let mut table = lock(&self.0);
        table.remove_expired(now);
        let key = (request.namespace, request.key.clone());
        if let Some(record) = table.records.get(&key) {
            if !record.is_expired(now) {
                return Ok(record.clone().outcome_for(&request.fingerprint, now));
            }
            // Its clock was ahead: expired records of the past are removed above.
            let started_at = record.started_at;
            table.remove(key.clone(), started_at);
        }
        let record = IdempotencyRecord {
            fingerprint: request.fingerprint,
            started_at: now,
            progress: IdempotencyProgress::InProgress,
        };
        table.insert(key, record);
        Ok(BeginOutcome::Reserved(request.reservation(now)))
    }

    async fn complete(
        &self,
        reservation: &Reservation,
        completion: Completion,
    ) -> BackendResult<()> {
        let mut table = lock(&self.0);
        let started_at = reservation.started_at;
        let key = (reservation.namespace, reservation.key.clone());
        let response = match completion {
            Completion::Responded(response) => Some(response),
            Completion::OutcomeUnknown => None,
            Completion::NotExecuted => {
                table.remove(key, started_at);
                return Ok(());
            }
        };
        let record = table.records.get_mut(&key);
        if let Some(record) = record.filter(|record| record.started_at == started_at) {
            record.progress = response.into();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Lookup;

    const DAY: i64 = 86_400_000;

    #[tokio::test]
    async fn each_request_deletes_the_expired_keys() {
        let store = MemoryIdempotencyStore::default();
        let token = Lookup::parse("0123456789abcdEF").unwrap();
        for number in 0..3_i64 {
            let request = IdempotentRequest {
                namespace: IdempotencyNamespace::Token(token),
                key: number.to_string(),
                fingerprint: [0; 32],
            };
            store.begin(&request, Timestamp::from_millis(number * DAY)).await.unwrap();
            let table = lock(&store.0);
            assert_eq!((table.records.len(), table.by_age.len()), (1, 1), "after {number} days");
        }
    }
}
