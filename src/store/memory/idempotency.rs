//! First answers in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::host::Stored;
use crate::model::Timestamp;
use crate::store::{Attempt, Begin, Entry, Idempotency, Outcome, Ticket};
use crate::token::Lookup;

type Key = (Lookup, String);

/// First answers in a map, and their keys in the order in which they will be forgotten.
#[derive(Debug, Default)]
pub struct MemoryIdempotency(Mutex<Keys>);

#[derive(Debug, Default)]
struct Keys {
    entries: HashMap<Key, Entry>,
    oldest: VecDeque<(Timestamp, Key)>,
}

impl Keys {
    fn forget(&mut self, now: Timestamp) {
        while let Some((began, _)) = self.oldest.front()
            && now >= began.plus(Entry::LIFE)
            && let Some((began, key)) = self.oldest.pop_front()
        {
            self.remove(&key, began);
        }
    }

    fn remove(&mut self, key: &Key, began: Timestamp) {
        if self
            .entries
            .get(key)
            .is_some_and(|entry| entry.began == began)
        {
            self.entries.remove(key);
        }
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
        keys.oldest.push_back((now, key.clone()));
        keys.entries.insert(
            key,
            Entry {
                request: attempt.request,
                began: now,
                ended: None,
            },
        );
        Ok(Begin::First(Ticket {
            token: attempt.token,
            key: attempt.key.clone(),
            began: now,
        }))
    }

    async fn settle(&self, ticket: &Ticket, outcome: Outcome) -> Stored<()> {
        let mut keys = lock(&self.0);
        let key = (ticket.token, ticket.key.clone());
        let ended = match outcome {
            Outcome::Answered(kept) => Some(kept),
            Outcome::Unknown => None,
            Outcome::DidNotRun => {
                keys.remove(&key, ticket.began);
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
