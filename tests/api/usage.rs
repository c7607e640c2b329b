//! Usage of tokens and guests by hour.

use std::pin::pin;

use forum_api::store::{TokenUsage, UsageCounts};
use forum_api::test_util::audit_entry;
use forum_api::token::Lookup;
use tokio::time::timeout;

use crate::support::*;

#[tokio::test]
async fn requests_with_a_token_are_counted_until_they_are_flushed() {
    let server = Server::new();
    let token = server.token("alice").await;
    let request = || Request::get("/forums").bearer(&token);
    for _ in 0..2 {
        assert_eq!(server.send(&request()).await.status, 200);
    }
    let usage = &server.stores.usage;
    let since = server.clock.now();
    let sums = || usage.most_used_tokens(Default::default(), 9);
    assert_eq!(sums().await.unwrap(), [], "before the first flush");
    server.api.flush_usage().await.unwrap();
    server.api.flush_usage().await.unwrap();
    let found = sums().await.unwrap();
    let counts = UsageCounts { requests: 2, units: 2, ..UsageCounts::default() };
    assert_eq!(found, [(Some(lookup(&token)), counts)]);

    let tokens = &server.stores.tokens;
    let now = server.clock.now();
    tokens.revoke(&lookup(&token), now, &audit_entry()).await.unwrap();
    assert_eq!(server.send(&request()).await.status, 401);
    server.api.flush_usage().await.unwrap();
    let refused = UsageCounts { requests: 3, unauthenticated: 1, ..counts };
    assert_eq!(sums().await.unwrap(), [(Some(lookup(&token)), refused)]);

    server.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    server.api.flush_usage().await.unwrap();
    let hours = usage.token_usage_by_hour(since, None).await.unwrap();
    assert_eq!(hours, [], "kept for 30 days");
}

#[tokio::test]
async fn requests_of_guests_and_unknown_paths_are_counted_together() {
    let server = Server::new();
    let [_, _, unknown, _] = server.invalid_tokens().await;
    for (path, status) in [
        ("/forums", 200),
        ("/forums?x=1", 400),
        ("/me", 401),
        ("/nothing", 404),
        ("/openapi.json", 200),
    ] {
        assert_eq!(server.send(&Request::get(path)).await.status, status);
    }
    let request = Request::get("/forums").bearer(&unknown);
    assert_eq!(server.send(&request).await.status, 401);
    server.api.flush_usage().await.unwrap();
    let usage = &server.stores.usage;
    let sums = usage.most_used_tokens(Default::default(), 9).await.unwrap();
    let [(None, counts)] = sums.as_slice() else {
        panic!("{sums:?}");
    };
    assert_eq!((counts.requests, counts.refused()), (6, 2));
    let hours = usage.token_usage_by_hour(Default::default(), None).await.unwrap();
    assert_eq!(hours.len(), 1);
    assert_eq!(hours[0].1, *counts);
    let operations = usage.usage_by_operation(Default::default()).await.unwrap();
    let of = |counts: &UsageCounts| (counts.requests, counts.refused(), counts.rejected);
    let operations: Vec<_> =
        operations.iter().map(|(id, counts)| (id.as_deref(), of(counts))).collect();
    let expected = [(Some("listForums"), (3, 1, 1)), (None, (2, 0, 1)), (Some("getMe"), (1, 1, 0))];
    assert_eq!(operations, expected);
}

/// A transaction removes at most 1,000 rows.
#[tokio::test]
async fn a_flush_removes_all_old_numbers() {
    let server = Server::new();
    let hour = TokenUsage::hour_of(server.clock.now());
    let of_token = |number: u32| TokenUsage {
        hour,
        token: Some(Lookup::parse(&format!("{number:016}")).unwrap()),
        operation: None,
        counts: UsageCounts { requests: 1, ..UsageCounts::default() },
    };
    let usage = &server.stores.usage;
    let rows: Vec<_> = (0..2_500).map(of_token).collect();
    usage.add_token_usage(&rows).await.unwrap();
    server.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    server.api.flush_usage().await.unwrap();
    assert_eq!(usage.token_usage_by_hour(hour, None).await.unwrap(), []);
}

/// A flush begins a minute after the last one, and ends after a minute.
#[tokio::test(start_paused = true)]
async fn a_store_of_usage_that_does_not_respond_is_logged() {
    const WARNING: &str = " WARN forum_api::api::service: failed to record usage; retrying error=the usage store did not respond";
    let count = || log::text().lines().filter(|line| line.ends_with(WARNING)).count();
    let hang = || Intervention::Hang;
    let (_, failing) = Server::with_failing_store(settings(), "usage.", hang);
    failing.expect(Request::get("/forums"), (200, None)).await;
    let mut flushes = pin!(failing.api.flush_usage_periodically());
    for (millis, warnings) in [(119_900, 0), (200, 1), (119_700, 1), (400, 2)] {
        timeout(Duration::from_millis(millis), &mut flushes).await.unwrap_err();
        assert_eq!(count(), warnings);
    }
}
