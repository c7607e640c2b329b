//! Usage store.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::lock::lock;
use crate::model::Timestamp;
use crate::store::{OperationCounts, OperationUsage, TokenUsage, UsageCounts, UsageStore};
use crate::token::Lookup;

/// Usage by hour and token, and by hour and operation, in maps.
#[derive(Debug, Default)]
pub struct MemoryUsageStore {
    tokens: Mutex<BTreeMap<(Timestamp, Lookup), UsageCounts>>,
    operations: Mutex<BTreeMap<(Timestamp, Cow<'static, str>), OperationCounts>>,
}

#[async_trait]
impl UsageStore for MemoryUsageStore {
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()> {
        let mut table = lock(&self.tokens);
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
        for ((hour, one), counts) in lock(&self.tokens).iter() {
            if *hour >= since && token.is_none_or(|token| token == one) {
                *hours.entry(*hour).or_default() += *counts;
            }
        }
        Ok(hours.into_iter().collect())
    }

    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Lookup, UsageCounts)>> {
        let mut tokens = HashMap::<_, UsageCounts>::new();
        for ((hour, token), counts) in lock(&self.tokens).iter() {
            if *hour >= since {
                *tokens.entry(*token).or_default() += *counts;
            }
        }
        let mut tokens: Vec<_> = tokens.into_iter().collect();
        tokens.sort_unstable_by_key(|(token, counts)| (Reverse(counts.requests), *token));
        tokens.truncate(limit as usize);
        Ok(tokens)
    }

    async fn add_operation_usage(&self, usage: &[OperationUsage]) -> BackendResult<()> {
        let mut table = lock(&self.operations);
        for one in usage {
            *table.entry((one.hour, one.operation.clone())).or_default() += one.counts;
        }
        Ok(())
    }

    async fn operation_usage_by_hour(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<OperationUsage>> {
        let table = lock(&self.operations);
        let hours = table.iter().filter(|((hour, _), _)| *hour >= since);
        let usage = hours.map(|((hour, operation), counts)| OperationUsage {
            hour: *hour,
            operation: operation.clone(),
            counts: *counts,
        });
        Ok(usage.collect())
    }

    async fn sweep(&self, before: Timestamp) -> BackendResult<()> {
        lock(&self.tokens).retain(|(hour, _), _| *hour >= before);
        lock(&self.operations).retain(|(hour, _), _| *hour >= before);
        Ok(())
    }
}
