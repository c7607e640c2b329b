//! Trait of usage stores.

use std::ops::AddAssign;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::BackendResult;
use crate::model::Timestamp;
use crate::store::OperationUsage;
use crate::token::Lookup;

const HOUR_MILLIS: i64 = 60 * 60 * 1000;

/// Numbers of API requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageCounts {
    /// Requests with any status, and requests whose client disconnected before the response.
    pub requests: u64,
    /// Charged units.
    pub units: u64,
    /// Requests refused with 429.
    pub rate_limited: u64,
    /// Requests refused with 401. Those of a token are refused because it is revoked or expired.
    pub unauthenticated: u64,
    /// Requests refused with 403.
    pub forbidden: u64,
    /// Requests that failed with a status from 500 on.
    pub errors: u64,
}

impl UsageCounts {
    /// Returns the number of requests that were refused with 401, 403 or 429.
    pub fn refused(&self) -> u64 {
        self.unauthenticated + self.forbidden + self.rate_limited
    }
}

impl AddAssign for UsageCounts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.units += other.units;
        self.rate_limited += other.rate_limited;
        self.unauthenticated += other.unauthenticated;
        self.forbidden += other.forbidden;
        self.errors += other.errors;
    }
}

/// Requests with one token in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenUsage {
    /// Beginning of the hour.
    pub hour: Timestamp,
    /// The token.
    pub token: Lookup,
    /// Numbers of requests.
    pub counts: UsageCounts,
}

impl TokenUsage {
    /// Time for which the library keeps usage: 30 days.
    pub const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// Returns the beginning of the hour of `at`, in UTC.
    pub fn hour_of(at: Timestamp) -> Timestamp {
        let millis = at.as_millis();
        Timestamp::from_millis(millis - millis.rem_euclid(HOUR_MILLIS))
    }
}

/// Stores the usage of tokens and operations by hour.
#[async_trait]
pub trait UsageStore: Send + Sync + 'static {
    /// Adds these numbers to the stored ones, in one transaction. `usage` is ordered by hour and token, and contains no hour of
    /// a token twice.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The caller repeats the call; numbers that were added
    /// nevertheless are then counted twice.
    async fn add(&self, usage: &[TokenUsage]) -> BackendResult<()>;

    /// Returns the sums of each hour that begins at or after `since`, of all tokens or of `token`. The oldest hour comes first;
    /// hours without requests are omitted.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn by_hour(
        &self,
        since: Timestamp,
        token: Option<&Lookup>,
    ) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;

    /// Returns the sums of the `limit` tokens with the most requests in the hours that begin at or after `since`, in descending
    /// order of requests; tokens with the same number in ascending order of their lookups.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn by_token(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> BackendResult<Vec<(Lookup, UsageCounts)>>;

    /// Adds these numbers to the stored ones, in one transaction. `usage` is ordered by hour and operation, and contains no
    /// hour of an operation twice.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails. The caller repeats the call; numbers that were added
    /// nevertheless are then counted twice.
    async fn add_operations(&self, usage: &[OperationUsage]) -> BackendResult<()>;

    /// Returns the usage of each operation in each hour that begins at or after `since`, ordered by hour and operation.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn by_operation(&self, since: Timestamp) -> BackendResult<Vec<OperationUsage>>;

    /// Removes the hours of tokens and operations that began before `before`.
    ///
    /// # Errors
    /// [`BackendError`](super::BackendError) if the backend fails.
    async fn sweep(&self, before: Timestamp) -> BackendResult<()>;
}

forward!(UsageStore {
    async fn add(usage: &[TokenUsage]) -> BackendResult<()>;
    async fn by_hour(since: Timestamp, token: Option<&Lookup>) -> BackendResult<Vec<(Timestamp, UsageCounts)>>;
    async fn by_token(since: Timestamp, limit: u32) -> BackendResult<Vec<(Lookup, UsageCounts)>>;
    async fn add_operations(usage: &[OperationUsage]) -> BackendResult<()>;
    async fn by_operation(since: Timestamp) -> BackendResult<Vec<OperationUsage>>;
    async fn sweep(before: Timestamp) -> BackendResult<()>;
});
