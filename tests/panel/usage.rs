//! API requests on the usage page.

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::store::{TokenUsage, UsageCounts};
use forum_api::token::Lookup;

use crate::fixture::PanelFixture;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Five requests, of which one is refused and one fails.
const COUNTS: UsageCounts = UsageCounts {
    requests: 5,
    units: 9,
    rate_limited: 0,
    unauthenticated: 0,
    forbidden: 1,
    errors: 1,
};

#[tokio::test]
async fn requests_are_shown_by_hour_and_token() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("No API requests in the last 24 hours."));
    let now = fixture.clock.now();
    let store = &fixture.stores.usage;
    let token = Lookup::parse(&fixture.token).unwrap();
    for (hours_ago, token) in [(0, Some(token)), (23, None), (24, None)] {
        let usage = TokenUsage {
            hour: TokenUsage::hour_of(now.saturating_sub(hours_ago * HOUR)),
            token,
            counts: COUNTS,
        };
        store.add_token_usage(&[usage]).await.unwrap();
    }
    let page = fixture.get("/panel/usage").await;
    for shown in [
        "10 requests in 24 hours: 2 refused, 2 failed · busiest hour: 5",
        "title=\"2025-12-31 01:00:00 UTC\">2025-12-31 01:00 UTC</time>",
        "Guests",
        &format!("<a href=\"/panel/tokens/{token}\">"),
    ] {
        assert!(page.contains(shown), "{shown}: {}", page.body);
    }
    assert_eq!(page.body.matches("role=\"img\"").count(), 2);
}
