//! Idempotency store.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::Stored;
use crate::model::Timestamp;
use crate::store::{Attempt, Begin, Entry, Idempotency, Outcome, Ticket, lock};
use crate::token::Lookup;

type Key = (Lookup, String);

/// First answers in a map, and their keys by age, so that they are forgotten in time.
#[derive(Debug, Default)]
pub struct MemoryIdempotency(Mutex<Keys>);

/// Both hold the same keys.
#[derive(Debug, Default)]
struct Keys {
    entries: HashMap<Key, Entry>,
    by_age: BTreeSet<(Timestamp, Key)>,
}

impl Keys {
    fn take(&mut self, key: Key, entry: Entry) {
        self.by_age.insert((entry.began, key.clone()));
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
        let is_over = self.entries.get(&oldest.1)?.is_over(now);
        is_over.then(|| oldest.clone())
    }
}

#[async_trait]
impl Idempotency for MemoryIdempotency {
    async fn begin(&self, attempt: &Attempt, now: Timestamp) -> Stored<Begin> {
        let mut keys = lock(&self.0);
        keys.forget(now);
        let key = (attempt.token, attempt.key.clone());
        if let Some(entry) = keys.entries.get(&key) {
            return Ok(entry.clone().says(&attempt.request, now));
        }
        let entry = Entry {
            request: attempt.request,
            began: now,
            ended: None,
        };
        keys.take(key, entry);
        Ok(Begin::First(attempt.ticket(now)))
    }

    async fn settle(&self, ticket: &Ticket, outcome: Outcome) -> Stored<()> {
        let mut keys = lock(&self.0);
        let key = (ticket.token, ticket.key.clone());
        let ended = match outcome {
            Outcome::Answered(kept) => Some(kept),
            Outcome::Unknown => None,
            Outcome::DidNotRun => {
                keys.free(key, ticket.began);
                return Ok(());
            }
        };
        if let Some(entry) = keys
            .entries
            .get_mut(&key)
            .filter(|entry| entry.began == ticket.began)
        {
            entry.ended = Some(ended);
        }
        Ok(())
    }
}
