//! Trait of usage stores.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::{TokenUsage, UsageCounts};
use crate::token::Lookup;

/// Stores the usage by hour, of tokens and guests and of operations. The numbers are kept for 30 days.
///
/// The API service counts in memory. A host adds the numbers with
/// [`flush_usage_periodically`](crate::ForumApi::flush_usage_periodically), once a minute, and with
/// [`flush_usage`](crate::ForumApi::flush_usage) when the process stops. A crash loses the numbers since the last write.
///
/// - All requests without a token, or with an unknown one, count as requests of guests.
/// - A 401 counts for a token that is revoked or expired. Its units count neither for the token nor for guests.
/// - Requests for the OpenAPI document and for unknown paths or methods are included.
#[async_trait]
pub trait UsageStore: Send + Sync + 'static {
    /// Adds numbers of requests to the stored numbers, in one transaction. `usage` is ordered by hour, token and operation,
    /// `None` first, and contains each combination of the three at most once.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails. The caller repeats the call. If the failed call took
    /// effect, its requests are counted twice.
    async fn add_token_usage(&self, usage: &[TokenUsage]) -> BackendResult<()>;

    /// Returns the usage of `token`, or of all tokens and guests if it is `None`, in each hour that begins at or after
    /// `since`. The oldest hour comes first; hours without requests are omitted.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn token_usage_by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;

    /// Returns the sums of the `limit` tokens with the most requests in the hours that begin at or after `since`, in
    /// descending order of requests. All guests count as one token, `None`. Tokens with the same number of requests are in
    /// ascending order of their lookups, guests first.
    ///
    /// A store may leave out tokens that are in no hour among the `limit` most used ones, and choose by the hours in which a
    /// token is one of these. So the cost does not grow with the number of tokens.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn most_used_tokens(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>>;

    /// Returns the sums of each operation in the hours that begin at or after `since`, in descending order of requests. The
    /// requests without an operation have the id `None`. Operations with the same number of requests are in ascending
    /// order of their ids, `None` first.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn usage_by_operation(
        &self,
        since: Timestamp,
    ) -> BackendResult<Vec<(Option<String>, UsageCounts)>>;

    /// Removes up to `limit` rows of the hours that began longer ago than `retention`, or that begin more than an hour ahead: a
    /// clock that was ahead wrote those. Returns their number. If it is `limit`, more rows can follow.
    ///
    /// `now` is the caller's time. A backend that several machines share may use its own clock instead. Otherwise a machine
    /// with a wrong clock removes the hours of others.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the backend fails.
    async fn sweep(&self, retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64>;
}

impl_for_pointers!(UsageStore {
    async fn add_token_usage(usage: &[TokenUsage]) -> BackendResult<()>;
    async fn token_usage_by_hour(since: Timestamp, token: Option<&Lookup>) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;
    async fn most_used_tokens(since: Timestamp, limit: u32) -> BackendResult<Vec<(Option<Lookup>, UsageCounts)>>;
    async fn usage_by_operation(since: Timestamp) -> BackendResult<Vec<(Option<String>, UsageCounts)>>;
    async fn sweep(retention: Duration, now: Timestamp, limit: u32) -> BackendResult<u64>;
});
