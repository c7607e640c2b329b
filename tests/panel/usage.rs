//! The usage page.

use std::time::Duration;

use forum_api::runtime::Clock;
use forum_api::store::{DeliveryCount, TokenUsage, UsageCounts};
use forum_api::token::Lookup;
use forum_api::webhook::Endpoint;

use crate::fixture::PanelFixture;
use crate::recorded::noticeable_lines;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Five requests, of which two are refused and one fails.
const COUNTS: UsageCounts = UsageCounts {
    requests: 5,
    units: 9,
    rate_limited: 0,
    unauthenticated: 0,
    forbidden: 1,
    rejected: 1,
    errors: 1,
};

#[tokio::test]
async fn requests_are_shown_by_period_and_token() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("No API requests in the last 24 hours."));
    let now = fixture.clock.now();
    let store = &fixture.stores.usage;
    let token = Lookup::parse(&fixture.token).unwrap();
    for (hours_ago, token) in [(0, Some(token)), (23, None), (24, None), (24 * 13, None)] {
        let usage = TokenUsage {
            hour: TokenUsage::hour_of(now.saturating_sub(hours_ago * HOUR)),
            token,
            operation: token.map(|_| "getMe"),
            counts: COUNTS,
        };
        store.add_token_usage(&[usage]).await.unwrap();
    }
    let page = fixture.get("/panel/usage").await;
    page.expect(&[
        "10 requests in 24 hours: 2 refused, 2 with another 4xx, 2 failed · busiest interval: 5",
        "title=\"2025-12-31 01:00:00 UTC\">2025-12-31 01:00 UTC</time>",
        "Guests",
        "<code>getMe</code></div></td><td data-label=\"Requests\"><div>5</div>",
        "Other paths",
        "title=\"2026-01-01 00:00:00 UTC\">00:00:00 UTC</time>",
        &format!("<a href=\"/panel/tokens/{token}\">"),
        "<dt>Requests</dt><dd><strong><a href=\"#requests\">10</a></strong><small>5 more than in the 24 hours before</small>",
    ]);
    assert_eq!(page.body.matches("role=\"img\"").count(), 2);
    let (_, section) = page.body.split_once("id=\"requests\"").unwrap();
    let (chart, _) = section.split_once("</figure>").unwrap();
    let parts: Vec<_> =
        chart.split("<rect ").skip(1).filter_map(|part| part.split('>').next()).collect();
    let column = |x: u32| {
        [("completed", 80, 40), ("refused", 60, 20), ("rejected", 40, 20), ("failed", 20, 20)].map(
            |(series, y, height)| {
                format!(
                    "class=\"of-{series}\" x=\"{x}\" y=\"{y}\" width=\"24\" height=\"{height}\""
                )
            },
        )
    };
    assert_eq!(parts, [column(3), column(693)].concat(), "from bottom to top");
    let times = chart.split("<time ").skip(1);
    let ends: Vec<_> = times.filter_map(|time| time.split(['>', '<']).nth(1)).collect();
    assert_eq!(ends, ["2025-12-31 01:00 UTC", "2026-01-01 00:00 UTC"]);
    for (period, figure) in [
        ("7d", "15</a></strong><small>10 more than in the 7 days before</small>"),
        ("30d", "20</a></strong><small>no data before</small>"),
        ("1y", "10</a></strong><small>"),
    ] {
        let page = fixture.get(&format!("/panel/usage?period={period}")).await;
        let figure = format!("<dt>Requests</dt><dd><strong><a href=\"#requests\">{figure}");
        assert!(page.contains(&figure), "{period}: {}", page.body);
    }
    let yesterday = TokenUsage {
        hour: TokenUsage::hour_of(now.saturating_sub(25 * HOUR)),
        token: None,
        operation: None,
        counts: COUNTS,
    };
    store.add_token_usage(&[yesterday]).await.unwrap();
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("10</a></strong><small>–</small>"));
}

#[tokio::test]
async fn failing_endpoints_and_expiring_tokens_are_shown_first() {
    let empty = PanelFixture::new().await.get("/panel/usage").await;
    assert!(!empty.contains("No endpoint is failing.") && !empty.contains("within 7 days"));
    let figure = "<strong>0</strong><small>no data before";
    assert_eq!(empty.body.matches(figure).count(), 4);
    let fixture = PanelFixture::with_content().await;
    fixture.issue(&[("expires_in_days", "7")]).await;
    fixture.issue(&[("expires_in_days", "8")]).await;
    let page = fixture.get("/panel/usage").await;
    let endpoint = fixture.endpoint_path("");
    page.expect(&[
        "1 endpoint is failing:",
        &format!("<li><a href=\"{}\">", endpoint.trim_end_matches('/')),
        "<a href=\"/panel/tokens?state=expiring\">1 token expires</a> within 7 days.",
        "<dt>Failed deliveries</dt><dd><strong><a href=\"#deliveries\">1</a></strong><small>no data before</small>",
    ]);
}

#[tokio::test]
async fn the_tables_of_the_usage_have_each_number_in_its_column() {
    let fixture = PanelFixture::with_content().await;
    let counts = UsageCounts {
        requests: 1_040,
        units: 2_000,
        rate_limited: 3,
        unauthenticated: 1,
        forbidden: 2,
        rejected: 4,
        errors: 5,
    };
    let other = Lookup::parse("0000000000000000").unwrap();
    let token = Lookup::parse(&fixture.token).unwrap();
    let hour = TokenUsage::hour_of(fixture.clock.now());
    let usage = [(Some(token), Some("getMe"), 4), (Some(other), None, 2), (None, None, 1)].map(
        |(token, operation, times)| TokenUsage {
            hour,
            token,
            operation,
            counts: UsageCounts { requests: counts.requests * times, ..counts },
        },
    );
    fixture.stores.usage.add_token_usage(&usage).await.unwrap();
    let page = fixture.get("/panel/usage").await;
    let rows = |section: &str| {
        let (_, rest) = page.body.split_once(&format!("id=\"{section}\"")).unwrap();
        let (table, _) = rest.split_once("</table>").unwrap();
        noticeable_lines(table).lines().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let columns = "Requests Units 401 403 429 Other 4xx 5xx";
    assert_eq!(
        rows("requests-by-operation"),
        format!(
            "Operation {columns} getMe 4,160 2,000 1 2 3 4 5 \
             Other paths OpenAPI document, MCP messages, unknown paths 3,120 4,000 2 4 6 8 10"
        )
    );
    assert_eq!(
        rows("requests-by-token"),
        format!(
            "The 20 tokens with the most requests. Requests without a token, or with an unknown one, count as requests \
             of guests. Token Owner {columns} <a href=/panel/tokens/{token}> <script>alert(1)</script> {token} \
             <b>bob</b> 4,160 2,000 1 2 3 4 5 (deleted) {other} – 2,080 2,000 1 2 3 4 5 \
             Guests – 1,040 2,000 1 2 3 4 5"
        )
    );
    let (_, figures) = page.body.split_once("<dl class=\"figures\">").unwrap();
    let (figures, _) = figures.split_once("</dl>").unwrap();
    let shown = noticeable_lines(figures).lines().map(str::to_owned).collect::<Vec<_>>().join(" ");
    assert_eq!(
        shown,
        "Requests <a href=#requests> 7,280 no data before \
         Refusals (401, 403, 429) <a href=#requests-by-token> 18 no data before \
         Other refusals (other 4xx) <a href=#requests-by-operation> 12 no data before \
         Errors (5xx) <a href=#requests-by-operation> 15 no data before \
         Failed deliveries <a href=#deliveries> 1 no data before"
    );
}

#[tokio::test]
async fn five_failing_endpoints_are_listed() {
    let fixture = PanelFixture::with_content().await;
    let listed = format!("<li><a href=\"{}\">", fixture.endpoint_path(""));
    let all = "<p><a href=\"/panel/webhooks?state=failing\">All failing endpoints</a></p>";
    for (count, has_link) in [(5, false), (6, true)] {
        let repeat =
            move |endpoints: &mut Vec<Endpoint>| *endpoints = vec![endpoints[0].clone(); count];
        fixture.interceptor.on_result("endpoints.list", repeat);
        let page = fixture.get("/panel/usage").await;
        page.expect(&[&format!("<p>{count} endpoints are failing:</p>")]);
        assert_eq!(page.body.matches(&listed).count(), 5);
        assert_eq!(page.contains(all), has_link);
    }
}

#[tokio::test]
async fn a_hundred_tokens_that_expire_are_a_hundred_or_more() {
    let fixture = PanelFixture::new().await;
    for _ in 0..100 {
        fixture.issue(&[("expires_in_days", "7")]).await;
    }
    fixture.get("/panel/usage").await.expect(&[">100 or more tokens expire</a> within 7 days."]);
}

#[tokio::test(start_paused = true)]
async fn the_ten_endpoints_with_the_most_failed_deliveries_are_shown() {
    let mut fixture = PanelFixture::with_content().await;
    let failing = fixture.endpoint.clone();
    let form = [("url", "https://93.184.215.14/hook"), ("topics", "*")];
    for _ in 0..11 {
        let added = fixture.post_confirmed("/panel/webhooks", &form).await;
        fixture.endpoint = added.added_endpoint();
        fixture.post(&fixture.endpoint_path("/ping"), &[]).await;
    }
    let page = fixture.get("/panel/usage").await;
    let (_, table) = page.body.split_once("id=\"by-endpoint\"").unwrap();
    assert!(table.contains("<p>The 10 endpoints with the most failed deliveries.</p>"));
    let rows: Vec<_> = table.split("data-label=\"Endpoint\"").skip(1).collect();
    assert_eq!(rows.len(), 10);
    assert!(rows[0].contains(&failing), "{}", rows[0]);
    assert!(table.contains("<a href=\"/panel/webhooks\">All endpoints</a>"));
}

#[tokio::test]
async fn a_capped_number_of_deliveries_has_a_hint() {
    let fixture = PanelFixture::with_content().await;
    for (count, is_capped) in [(19_999, false), (20_000, true)] {
        let change = move |counts: &mut Vec<DeliveryCount>| counts[0].count = count;
        fixture.interceptor.on_result("deliveries.delivery_stats", change);
        let page = fixture.get("/panel/usage").await;
        let hint = "<p class=\"hint\">Of each state, the latest 20,000 deliveries are counted.</p>";
        assert_eq!(page.contains(hint), is_capped, "{count}");
    }
}

/// Of each state, the store reads the latest 20,000 deliveries of both periods together.
#[tokio::test]
async fn failed_deliveries_are_not_compared_with_an_incomplete_period() {
    let fixture = PanelFixture::with_content().await;
    for (earlier, change) in
        [(4_999, "10,001 more than in the 24 hours before"), (5_000, "no data before")]
    {
        let add = move |counts: &mut Vec<DeliveryCount>| {
            let mut before = counts[0].clone();
            (before.hours_ago, before.count) = (24, earlier);
            counts[0].count = 15_000;
            counts.push(before);
        };
        fixture.interceptor.on_result("deliveries.delivery_stats", add);
        let figure = format!("<a href=\"#deliveries\">15,000</a></strong><small>{change}</small>");
        fixture.get("/panel/usage").await.expect(&[&figure]);
    }
}
