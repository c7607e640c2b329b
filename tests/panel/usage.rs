//! API requests on the usage page.

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::store::{OperationCounts, OperationUsage, TokenUsage, UsageCounts};
use forum_api::token::Lookup;

use crate::fixture::PanelFixture;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Five requests, of which one is refused and one fails. They take 7 ms each.
fn counts() -> OperationCounts {
    let usage = UsageCounts {
        requests: 5,
        units: 9,
        forbidden: 1,
        errors: 1,
        ..UsageCounts::default()
    };
    let mut counts = OperationCounts {
        usage,
        ..OperationCounts::default()
    };
    for _ in 0..5 {
        counts.latency.record(Duration::from_millis(7));
    }
    counts
}

#[tokio::test]
async fn requests_are_shown_by_hour_endpoint_and_token() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("No API requests in the last 24 hours."));
    let now = fixture.clock.now();
    let store = &fixture.stores.usage;
    for (hours_ago, operation) in [(0, "searchThreads"), (23, "getMe"), (24, "getMe")] {
        let usage = OperationUsage {
            hour: TokenUsage::hour_of(now.saturating_sub(hours_ago * HOUR)),
            operation: operation.into(),
            counts: counts(),
        };
        store.add_operation_usage(&[usage]).await.unwrap();
    }
    let token = Lookup::parse(&fixture.token).unwrap();
    let usage = TokenUsage {
        hour: TokenUsage::hour_of(now),
        token,
        counts: counts().usage,
    };
    store.add_token_usage(&[usage]).await.unwrap();
    let page = fixture.get("/panel/usage").await;
    for shown in [
        "10 requests in 24 hours: 2 refused, 2 failed · busiest hour: 5",
        "24 hours: median 7.5\u{a0}ms, 95th percentile 9.8\u{a0}ms",
        "title=\"2025-12-31 01:00:00 UTC\">2025-12-31 01:00 UTC</time>",
        "<code>getMe</code> <small><span class=\"long\">GET /me</span>",
        "<span>10\u{a0}ms</span><span>5.0\u{a0}ms</span><span>0\u{a0}ms</span>",
        &format!("<a href=\"/panel/tokens/{token}\">"),
    ] {
        assert!(page.contains(shown), "{shown}: {}", page.body);
    }
    assert_eq!(page.body.matches("role=\"img\"").count(), 3);
}
