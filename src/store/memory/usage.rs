//! Usage store.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::{HOUR, Timestamp};
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Usage by hour, token and operation, in a map.
#[derive(Debug, Default)]
pub(crate) struct MemoryUsageStore(Mutex<BTreeMap<Key, UsageCounts>>);

type Key = (Timestamp, Option<Lookup>, Option<&'static str>);

impl MemoryUsageStore {
    /// Sums the rows since an hour by the part of their key that `part` returns, in descending order of requests.
    fn most_used<T: Ord>(
        &self,
        since: Timestamp,
        part: impl Fn(&Key) -> T,
    ) -> Vec<(T, UsageCounts)> {
        let mut sums = BTreeMap::<_, UsageCounts>::new();
        for (key, counts) in lock(&self.0).iter().filter(|(key, _)| key.0 >= since) {
            *sums.entry(part(key)).or_default() += *counts;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, counts)| Reverse(counts.requests));
        sums
    }
}

#[async_trait]
impl UsageStore for MemoryUsageStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let mut table = lock(&self.0);
        for one in usage {
            let key = (one.hour, one.token, one.operation);
            *table.entry(key).or_default() += one.counts;
        }
        Ok(())
    }

    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let mut hours = BTreeMap::<_, UsageCounts>::new();
        for ((hour, one, _), counts) in lock(&self.0).iter() {
            if *hour >= since && (token.is_none() || token == one.as_ref()) {
                *hours.entry(*hour).or_default() += *counts;
            }
        }
        Ok(hours.into_iter().collect())
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>> {
        let mut tokens = self.most_used(since, |(_, token, _)| *token);
        tokens.truncate(limit as usize);
        Ok(tokens)
    }

    async fn usage_by_operation(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<(Option<String>, UsageCounts)>> {
        Ok(self.most_used(since, |(.., operation)| operation.map(str::to_owned)))
    }

    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64> {
        let kept = now.saturating_sub(retention)..=now.saturating_add(HOUR);
        let mut known = lock(&self.0);
        let mut removed = 0;
        while removed < u64::from(limit) {
            let outside = [known.first_key_value(), known.last_key_value()]
                .into_iter()
                .flatten()
                .map(|(key, _)| *key)
                .find(|(hour, ..)| !kept.contains(hour));
            let Some(key) = outside else {
                break;
            };
            known.remove(&key);
            removed += 1;
        }
        Ok(removed)
    }
}
