//! Trait of usage stores.

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{OperationUsage, TokenUsage, UsageCounts};
use crate::token::Lookup;

/// Stores the usage of tokens and operations by hour.
#[async_trait]
pub trait UsageStore: Send + Sync + 'static {
    /// Adds the numbers of requests with tokens to the stored numbers, in one transaction. `usage` is ordered by hour and
    /// token, and contains each pair of an hour and a token at most once.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The caller repeats the call. If the failed call took
    /// effect, its requests are counted twice.
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()>;

    /// Returns the usage of `token`, or of all tokens if it is `None`, in each hour that begins at or after `since`.
    /// Requests without a token are not included. The oldest hour comes first; hours without requests are omitted.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;

    /// Returns the sums of the `limit` tokens with the most requests in the hours that begin at or after `since`, in
    /// descending order of requests. Tokens with the same number of requests are in ascending order of their lookups.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Lookup, UsageCounts)>>;

    /// Adds the numbers of requests of operations, with and without tokens, to the stored numbers, in one transaction.
    /// `usage` is ordered by hour and operation, and contains each pair of an hour and an operation at most once.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The caller repeats the call. If the failed call took
    /// effect, its requests are counted twice.
    async fn add_operation_usage(&self, usage: &[OperationUsage]) -> BackendResult<()>;

    /// Returns the usage of each operation in each hour that begins at or after `since`, ordered by hour and operation.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn operation_usage_by_hour(&self, since: Timestamp)
    -> BackendResult<Vec<OperationUsage>>;

    /// Removes the usage of tokens and operations in the hours that began before `before`.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn sweep(&self, before: Timestamp) -> BackendResult<()>;
}

impl_for_pointers!(UsageStore {
    async fn add_token_usage(usage: &[TokenUsage]) -> BackendResult<()>;
    async fn token_usage_by_hour(since: Timestamp, token: Option<&Lookup>) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;
    async fn most_used_tokens(since: Timestamp, limit: u32) -> BackendResult<Vec<(Lookup, UsageCounts)>>;
    async fn add_operation_usage(usage: &[OperationUsage]) -> BackendResult<()>;
    async fn operation_usage_by_hour(since: Timestamp) -> BackendResult<Vec<OperationUsage>>;
    async fn sweep(before: Timestamp) -> BackendResult<()>;
});
