//! Usage of tokens and guests.

use std::time::Duration;

use super::*;
use crate::store::{TokenUsage, UsageCounts};

/// An hour in milliseconds.
const HOUR: i64 = 3_600_000;

store_rules! {
    mod token_usage, __rules_token_usage;

    /// Numbers of the same token and hour, and of guests, are added up, also by concurrent calls.
    async fn numbers_are_added_up(fixture: &StoreFixture) -> TestResult {
        let usage_of_call = [guests(0, 2), usage(0, 1, 3)?, usage(0, 2, 1)?];
        let calls = repeat_n((fixture.stores.usage.clone(), usage_of_call), 10)
            .map(|(store, usage)| async move { store.add_token_usage(&usage).await });
        succeed_concurrently(calls).await?;
        let expected = [(Some(lookup(1)?), counts(30)), (None, counts(20)), (Some(lookup(2)?), counts(10))];
        check_eq!(fixture.stores.usage.most_used_tokens(instant(0), 9).await?, expected)
    }

    /// The usage by hour contains the hours from the given time on, the oldest first, for all requests or for
    /// one token.
    async fn usage_is_summed_by_hour(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        let all = [usage(0, 1, 1)?, guests(1, 16), usage(1, 1, 2)?, usage(1, 2, 4)?, usage(3, 2, 8)?];
        store.add_token_usage(&all).await?;
        let hour = |hour: i64, requests| (instant(hour * HOUR), counts(requests));
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [hour(0, 1), hour(1, 22), hour(3, 8)])?;
        check_eq!(store.token_usage_by_hour(instant(1), None).await?, [hour(1, 22), hour(3, 8)])?;
        check_eq!(store.token_usage_by_hour(instant(0), Some(&lookup(1)?)).await?, [hour(0, 1), hour(1, 2)])?;
        check_eq!(store.token_usage_by_hour(instant(0), Some(&lookup(9)?)).await?, [])
    }

    /// The most used tokens are ordered by the number of requests, up to the limit. Guests are listed like a token.
    async fn usage_is_summed_by_token(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        let all = [usage(0, 1, 9)?, usage(1, 1, 1)?, usage(1, 2, 4)?, guests(2, 1), usage(2, 2, 4)?, usage(2, 3, 1)?];
        store.add_token_usage(&all).await?;
        let [one, two, three] = [Some(lookup(1)?), Some(lookup(2)?), Some(lookup(3)?)];
        let sums = [(one, 10), (two, 8), (None, 1), (three, 1)].map(|(token, requests)| (token, counts(requests)));
        check_eq!(store.most_used_tokens(instant(0), 9).await?, sums)?;
        check_eq!(store.most_used_tokens(instant(0), 2).await?.as_slice(), sums.get(..2).unwrap_or_default())?;
        let later = [(two, 8), (None, 1), (one, 1), (three, 1)].map(|(token, requests)| (token, counts(requests)));
        check_eq!(store.most_used_tokens(instant(1), 9).await?, later)
    }

    /// A token is among the most used ones if its requests of one hour are.
    async fn a_token_that_is_often_used_in_one_hour_is_found(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        for hour in 0..3 {
            let others: Vec<_> = (1..=4)
                .map(|number| usage(hour, 10 * (hour as u64 + 1) + number, number))
                .collect::<TestResult<_>>()?;
            store.add_token_usage(&others).await?;
        }
        store.add_token_usage(&[usage(1, 1, 100)?, usage(2, 1, 1)?]).await?;
        let most_used = store.most_used_tokens(instant(0), 2).await?;
        check_eq!(most_used.len(), 2)?;
        check_eq!(most_used.first(), Some(&(Some(lookup(1)?), counts(101))))
    }

    /// The sums of operations are ordered by the number of requests. They include the requests of all tokens.
    async fn usage_is_summed_by_operation(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        let of = |operation, usage| TokenUsage { operation: Some(operation), ..usage };
        let all = [
            guests(0, 8), of("getMe", guests(1, 2)), of("search", guests(1, 1)), of("getMe", usage(1, 1, 1)?),
            of("listPosts", usage(1, 1, 4)?), guests(2, 1),
        ];
        store.add_token_usage(&all).await?;
        let sum = |operation: &str, requests| (Some(operation.to_owned()), counts(requests));
        let [posts, me, search] = [sum("listPosts", 4), sum("getMe", 3), sum("search", 1)];
        let sums = [(None, counts(9)), posts.clone(), me.clone(), search.clone()];
        check_eq!(store.usage_by_operation(instant(0)).await?, sums)?;
        check_eq!(store.usage_by_operation(instant(1)).await?, [posts, me, (None, counts(1)), search])?;
        let hour = |hour: i64, requests| (instant(hour * HOUR), counts(requests));
        check_eq!(store.token_usage_by_hour(instant(1), None).await?, [hour(1, 8), hour(2, 1)])?;
        check_eq!(store.token_usage_by_hour(instant(0), Some(&lookup(1)?)).await?, [hour(1, 5)])
    }

    /// Calls of a sweep remove the hours that began longer ago than the retention, or begin more than an hour ahead. Each removes
    /// rows up to the limit, and the last one fewer.
    async fn old_hours_are_swept(fixture: &StoreFixture) -> TestResult {
        let store = &fixture.stores.usage;
        store.add_token_usage(&[usage(0, 1, 1)?, usage(1, 1, 2)?, usage(1, 2, 4)?, usage(2, 1, 8)?]).await?;
        let [hour_1, hour_2] = [(1, 6), (2, 8)].map(|(hour, requests)| (instant(hour * HOUR), counts(requests)));
        sweep_all(fixture, HOUR.unsigned_abs(), 2 * HOUR).await?;
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [hour_1, hour_2])?;
        check_eq!(store.token_usage_by_hour(instant(0), Some(&lookup(2)?)).await?.len(), 1)?;
        sweep_all(fixture, 0, 2 * HOUR).await?;
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [hour_2])?;
        check_eq!(store.most_used_tokens(instant(0), 9).await?, [(Some(lookup(1)?), counts(8))])?;
        sweep_all(fixture, HOUR.unsigned_abs(), HOUR).await?;
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [hour_2])?;
        sweep_all(fixture, HOUR.unsigned_abs(), HOUR - 1).await?;
        check_eq!(store.token_usage_by_hour(instant(0), None).await?, [])?;
        check_eq!(store.most_used_tokens(instant(0), 9).await?, [])?;
        check_eq!(store.usage_by_operation(instant(0)).await?, [])
    }
}

/// Removes the usage outside of the retention, in milliseconds, two rows in a call.
async fn sweep_all(fixture: &StoreFixture, retention: u64, now: i64) -> TestResult {
    const LIMIT: u32 = 2;
    let retention = Duration::from_millis(retention);
    loop {
        let removed = fixture.stores.usage.sweep(retention, instant(now), LIMIT).await?;
        check_eq!(removed.min(u64::from(LIMIT)), removed)?;
        if removed < u64::from(LIMIT) {
            return Ok(());
        }
    }
}

/// Returns different numbers for each field.
fn counts(requests: u64) -> UsageCounts {
    UsageCounts {
        requests,
        units: 2 * requests,
        rate_limited: 3 * requests,
        unauthenticated: 4 * requests,
        forbidden: 5 * requests,
        rejected: 7 * requests,
        errors: 6 * requests,
    }
}

fn guests(hour: i64, requests: u64) -> TokenUsage {
    TokenUsage {
        hour: instant(hour * HOUR),
        token: None,
        operation: None,
        counts: counts(requests),
    }
}

fn usage(hour: i64, token: u64, requests: u64) -> TestResult<TokenUsage> {
    let token = lookup(token)?;
    Ok(with(guests(hour, requests), |usage| usage.token = Some(token)))
}
