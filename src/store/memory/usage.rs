//! Usage store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Usage by hour and token, in a map.
#[derive(Debug, Default)]
pub(crate) struct MemoryUsageStore(Mutex<BTreeMap<(Timestamp, Option<Lookup>), UsageCounts>>);

#[async_trait]
impl UsageStore for MemoryUsageStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let mut table = lock(&self.0);
        for one in usage {
            *table.entry((one.hour, one.token)).or_default() += one.counts;
        }
        Ok(())
    }

    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>> {
        let mut hours = BTreeMap::<_, UsageCounts>::new();
        for ((hour, one), counts) in lock(&self.0).iter() {
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
        let mut tokens = HashMap::<_, UsageCounts>::new();
        for ((hour, token), counts) in lock(&self.0).iter() {
            if *hour >= since {
                *tokens.entry(*token).or_default() += *counts;
            }
        }
        let mut tokens: Vec<_> = tokens.into_iter().collect();
        tokens.sort_unstable_by_key(|(token, counts)| (Reverse(counts.requests), *token));
        tokens.truncate(limit as usize);
        Ok(tokens)
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        lock(&self.0).retain(|(hour, _), _| *hour >= before);
        Ok(())
    }
}
