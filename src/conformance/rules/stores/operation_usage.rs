//! Usage of operations.

use super::*;
use crate::store::{LatencyHistogram, OperationCounts, OperationUsage, UsageCounts};

/// An hour in milliseconds.
const HOUR: i64 = 3_600_000;

store_rules! {
    mod operation_usage;

    /// Numbers of the same operation and hour are added up, also by concurrent calls.
    async fn numbers_of_an_operation_are_added_up(fixture: &StoreFixture) -> TestResult {
        let usage_of_call = [usage(0, "getMe", 3), usage(0, "search", 1)];
        let calls = repeat_n((fixture.stores.usage.clone(), usage_of_call), 10)
            .map(|(store, usage)| async move { store.add_operation_usage(&usage).await });
        for result in fixture.run_concurrently(calls).await {
            result?;
        }
        let expected = [usage(0, "getMe", 30), usage(0, "search", 10)];
        check_eq!(fixture.stores.usage.operation_usage_by_hour(instant(0)).await?, expected)
    }

    /// Operations are listed by hour and operation, from the given time on.
    async fn operations_are_listed_by_hour(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        let all = [usage(0, "search", 1), usage(1, "getMe", 2), usage(1, "search", 3), usage(2, "getMe", 4)];
        let [first, rest @ ..] = all;
        store.add_operation_usage(&rest).await?;
        store.add_operation_usage(std::slice::from_ref(&first)).await?;
        check_eq!(store.operation_usage_by_hour(instant(1)).await?, rest)?;
        check_eq!(store.operation_usage_by_hour(instant(0)).await?.first(), Some(&first))?;
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [])
    }

    /// A sweep removes the hours before the given time.
    async fn old_hours_of_operations_are_swept(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        store.add_operation_usage(&[usage(0, "getMe", 1), usage(1, "getMe", 2)]).await?;
        store.sweep(instant(HOUR)).await?;
        check_eq!(store.operation_usage_by_hour(instant(0)).await?, [usage(1, "getMe", 2)])
    }
}

/// Returns different numbers for each field.
fn usage(hour: i64, operation: &'static str, requests: u64) -> OperationUsage {
    OperationUsage {
        hour: instant(hour * HOUR),
        operation: operation.into(),
        counts: OperationCounts {
            usage: UsageCounts {
                requests,
                units: 2 * requests,
                rate_limited: 3 * requests,
                unauthenticated: 4 * requests,
                forbidden: 5 * requests,
                errors: 6 * requests,
            },
            latency: LatencyHistogram {
                total_millis: 7 * requests,
                buckets: std::array::from_fn(|index| (8 + index as u64) * requests),
            },
        },
    }
}
