//! List, retry and removal of deliveries, and the usage page.

use std::time::Duration;

use forum_api::audit::AuditEntry;
use forum_api::model::{DeliveryId, EventId, Timestamp};
use forum_api::store::{Quarantine, QuarantinedEvent};
use forum_api::webhook::{AttemptRecord, DeliveryState, TransportError};

use crate::fixture::PanelFixture;

#[tokio::test(start_paused = true)]
async fn every_delivery_that_is_not_queued_can_be_retried() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.delivery_path("");
    let retry = fixture.delivery_path("/retry");
    let button = format!("action=\"{retry}\"");
    let in_actions = format!("<div class=\"actions\"><form method=\"post\" {button}>");
    let page = fixture.get(&path).await;
    assert!(page.contains("dead</span>") && page.contains("500") && page.contains("17\u{a0}ms"));
    let text = ">Redeliver<";
    use DeliveryState::{Delivered, Gone, Retrying, Withheld};
    for state in [Delivered, Gone, Withheld, Retrying] {
        let page = fixture.get(&path).await;
        assert!(page.contains(&in_actions) && page.contains(text));
        let (_, page) = fixture.post_and_follow(&retry).await;
        page.expect(&["Ping queued. There is no result yet.", "queued</span>"]);
        assert!(!page.contains(&button));
        assert_eq!(fixture.state().await, Some(DeliveryState::Queued));
        let (status, again) = fixture.post_and_follow(&retry).await;
        assert!(status == 409 && again.contains("already queued or being sent"));
        fixture.end_attempt(state).await;
        assert_eq!(fixture.state().await, Some(state));
    }
    let page = fixture.get(&path).await;
    assert!(page.contains(&button) && page.contains(text));
}

#[tokio::test(start_paused = true)]
async fn a_delivery_shows_its_request_and_the_responses_to_its_attempts() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get(&fixture.delivery_path("")).await;
    page.expect(&[
        "x-forum-signature: sha256=abc",
        "server: &lt;script&gt;",
        "aria-label=\"Response body of attempt 6\"",
        "\n  &quot;topic&quot;: &quot;ping&quot;,\n",
        "500</span>",
    ]);
    assert!(!page.contains("whsec_"));
    let retry = fixture.delivery_path("/retry");
    fixture.post_and_follow(&retry).await;
    fixture.end_attempt(DeliveryState::Delivered).await;
    let page = fixture.get(&fixture.delivery_path("")).await;
    assert_eq!(page.body.matches("<details").count(), 3);
    assert_eq!(page.body.matches("<details open").count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_sent_nothing_is_shown_without_a_request() {
    let fixture = PanelFixture::with_content().await;
    let retry = fixture.delivery_path("/retry");
    fixture.post_and_follow(&retry).await;
    let not_sent = |record: &mut AttemptRecord| {
        (record.status, record.error) = (None, Some(TransportError::not_sent("no such host")));
        (record.request_headers, record.response_headers) = (None, None);
        record.response_excerpt = None;
    };
    let state = DeliveryState::Retrying;
    fixture.end_attempt_with(state, not_sent).await;
    let page = fixture.get(&fixture.delivery_path("")).await;
    let (_, last) = page.body.split_once("<details open").unwrap();
    let (last, _) = last.split_once("</details>").unwrap();
    assert!(last.contains(">not sent</span>"), "{last}");
    assert!(last.contains(">no such host</span>"), "{last}");
    assert!(!last.contains("Request headers"), "{last}");
    let list = fixture.get("/panel/deliveries").await;
    assert!(list.contains("<td data-label=\"Response\"><div>not sent</div>"));
}

#[tokio::test(start_paused = true)]
async fn deliveries_of_a_disabled_endpoint_are_paused() {
    let fixture = PanelFixture::with_content().await;
    let retry = fixture.delivery_path("/retry");
    fixture.post_and_follow(&retry).await;
    let pages = [fixture.delivery_path(""), fixture.endpoint_path(""), "/panel/deliveries".into()];
    for (action, message, paused) in
        [("/disable", "Endpoint disabled.", true), ("/enable", "Endpoint enabled.", false)]
    {
        let path = fixture.endpoint_path(action);
        let (_, after) = fixture.post_and_follow(&path).await;
        assert!(after.contains(message), "{action}");
        for page in &pages {
            let shown = fixture.get(page).await;
            let is_paused = shown.contains("paused (endpoint disabled)");
            assert_eq!(is_paused, paused, "{action} {page}");
        }
    }
}

#[tokio::test]
async fn all_dead_deliveries_are_retried_together() {
    let fixture = PanelFixture::with_content().await;
    let of_endpoint = fixture.endpoint_path("/retry-dead");
    let list = format!("/panel/deliveries?endpoint={}", fixture.endpoint);
    for (page, path) in [
        (&*list, &*of_endpoint),
        (&fixture.endpoint_path(""), &of_endpoint),
        ("/panel/deliveries", "/panel/deliveries/retry-dead"),
    ] {
        let button = format!("<div class=\"actions\"><form method=\"post\" action=\"{path}\">");
        let shown = fixture.get(page).await;
        assert!(shown.contains(&button) && shown.contains("Redeliver all failed (1)"));
        let (_, shown) = fixture.post_and_follow(path).await;
        assert!(shown.contains("All dead deliveries are queued again."));
        assert!(!shown.contains("Redeliver all failed"));
        assert_eq!(fixture.state().await, Some(DeliveryState::Queued));
        fixture.end_attempt(DeliveryState::Dead).await;
    }
}

#[tokio::test]
async fn a_removed_delivery_is_not_found() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.delivery_path("");
    let remove = fixture.delivery_path("/remove");
    let removed = fixture.post(&remove, &[]).await;
    let location = "/panel/deliveries?done=delivery-removed";
    assert_eq!(removed.header("location"), location);
    assert_eq!(fixture.state().await, None);
    assert_eq!(fixture.get(&path).await.status, 404);
    for path in [remove, format!("{path}/retry")] {
        assert_eq!(fixture.post(&path, &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_list_is_filtered_and_has_pages() {
    let fixture = PanelFixture::with_content().await;
    fixture.queue(60).await;
    let count = |body: &str| body.matches("href=\"/panel/deliveries/dlv_").count();
    for (query, expected) in [
        ("state=dead", 1),
        ("state=queued", 50),
        ("state=delivered", 0),
        ("topic=ping&state=dead", 1),
        ("topic=poll.voted", 0),
        ("endpoint=whe_none", 0),
        ("state=nonsense&after=nonsense&from=nonsense&to=2026-99-99", 50),
        ("response=5xx", 1),
        ("response=2xx", 0),
        ("response=none", 0),
        ("state=queued&response=5xx", 0),
        ("from=2026-01-01&to=2026-01-01", 50),
        ("from=2026-01-01T00%3A00&to=2026-01-01T00%3A00%3A00", 50),
        ("from=2026-01-01T00%3A01", 0),
        ("to=2025-12-31", 0),
    ] {
        let page = fixture.get(&format!("/panel/deliveries?{query}")).await;
        assert_eq!((page.status, count(&page.body)), (200, expected), "{query}");
    }
    let dead = fixture.get("/panel/deliveries?state=dead").await;
    assert!(dead.contains(">ping</a> <code>dlv_") && dead.contains("<div>500 · 17\u{a0}ms</div>"));
    assert!(dead.contains("<details class=\"range\"><summary>Time range</summary>"));
    let first = fixture.get("/panel/deliveries").await;
    assert!(first.contains("<td data-label=\"Response\"><div>none</div>"));
    first.expect(&["rel=\"next\">Older deliveries</a></p>"]);
    let rest = fixture.get(&first.next_page().unwrap()).await;
    assert_eq!((count(&rest.body), rest.next_page()), (11, None));
    let path = "/panel/deliveries?topic=post.created&from=2026-01-01&to=2026-01-01";
    let first = fixture.get(path).await;
    first.expect(&[
        "<details class=\"range\" open>",
        "value=\"2026-01-01T00:00\"",
        "value=\"2026-01-01T23:59\"",
    ]);
    let next = first.next_page().unwrap();
    let second = fixture.get(&next).await;
    assert_eq!((count(&second.body), second.next_page()), (10, None));
    assert!(second.contains("value=\"2026-01-01T23:59\""));
    let none = fixture.get("/panel/deliveries?to=2025-12-31").await;
    assert!(none.contains("No deliveries match these filters."));
}

#[tokio::test]
async fn a_filter_by_response_covers_seven_days_unless_its_beginning_is_chosen() {
    let fixture = PanelFixture::with_content().await;
    fixture.clock.advance(Duration::from_secs(8 * 24 * 60 * 60));
    for (query, is_listed, begin) in [
        ("response=5xx", false, ""),
        ("response=5xx&to=2026-01-03", true, ""),
        ("response=5xx&from=2026-01-01", true, "2026-01-01T00:00"),
        ("response=2xx", false, ""),
        ("state=dead", true, ""),
    ] {
        let page = fixture.get(&format!("/panel/deliveries?{query}")).await;
        assert_eq!(page.contains(&fixture.delivery), is_listed, "{query}");
        let field = "name=\"from\" type=\"datetime-local\" value=\"";
        assert_eq!(page.after(field), begin, "{query}");
        let is_default = query.contains("5xx") && !query.contains("from");
        let is_covered = page.contains("covers the 7 days before");
        assert_eq!(is_covered, is_default, "{query}");
    }
    let invalid = fixture.get("/panel/deliveries?response=5xx&from=2026").await;
    assert_eq!(invalid.after("name=\"from\" type=\"datetime-local\" value=\""), "");
}

#[tokio::test]
async fn a_filter_shows_the_endpoint_although_it_was_removed() {
    let fixture = PanelFixture::with_content().await;
    let list = format!("/panel/deliveries?endpoint={}", fixture.endpoint);
    fixture.post(&fixture.endpoint_path("/remove"), &[]).await;
    let page = fixture.get(&list).await;
    let chosen = format!("<option value=\"{}\" selected>", fixture.endpoint);
    assert!(page.contains(&chosen), "{}", page.body);
}

#[tokio::test(start_paused = true)]
async fn a_withheld_ping_has_a_reason() {
    let fixture = PanelFixture::with_content().await;
    fixture.post(&fixture.delivery_path("/retry"), &[]).await;
    fixture.end_attempt(DeliveryState::Withheld).await;
    let page = fixture.get(&fixture.delivery_path("?done=attempted")).await;
    let reason = "The owner of the endpoint is not allowed to receive this event.";
    assert!(page.contains(&format!("Ping not sent. {reason}")));
    assert_eq!(page.body.matches(reason).count(), 2, "result and state");
}

#[tokio::test(start_paused = true)]
async fn the_result_of_an_attempt_is_shown_only_after_a_redirect() {
    use DeliveryState::{Dead, Delivered, Gone, Queued, Retrying, Withheld};
    const DELIVERED: &str = "Ping delivered. The endpoint responded with 500.";
    const FAILED: &str = "Ping failed. The endpoint responded with 500.";
    const QUEUED: &str = "Ping queued. There is no result yet. Reload this page to see it.";
    const SENDING: &str = "Ping is being sent. There is no result yet. Reload this page to see it.";
    const NOT_SENT: &str = "Ping not sent. The owner of the endpoint is not allowed to receive this event. Redeliver it after the owner's permissions have changed.";
    let fixture = PanelFixture::with_content().await;
    for (state, attempted, sending, queued) in [
        (Dead, Some(FAILED), Some(FAILED), Some(FAILED)),
        (Queued, None, Some(SENDING), Some(QUEUED)),
        (Retrying, Some(FAILED), Some(SENDING), Some(QUEUED)),
        (Delivered, Some(DELIVERED), Some(DELIVERED), Some(DELIVERED)),
        (Gone, Some(FAILED), Some(FAILED), Some(FAILED)),
        (Withheld, Some(NOT_SENT), Some(NOT_SENT), Some(NOT_SENT)),
    ] {
        if state != Dead {
            fixture.post(&fixture.delivery_path("/retry"), &[]).await;
        }
        if !matches!(state, Dead | Queued) {
            fixture.end_attempt(state).await;
        }
        for (done, expected) in [
            ("attempted", attempted),
            ("sending", sending),
            ("queued", queued),
            ("other", None),
            ("", None),
        ] {
            let page = fixture.get(&fixture.delivery_path(&format!("?done={done}"))).await;
            let expected: Vec<_> = expected.into_iter().collect();
            assert_eq!(page.messages(), expected, "{state:?} {done}");
        }
        if state == Queued {
            fixture.end_attempt(Dead).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_shows_its_result_and_its_empty_parts() {
    let mut fixture = PanelFixture::with_content().await;
    fixture.queue(1).await;
    let event = EventId::parse("evt_0").unwrap();
    fixture.delivery = DeliveryId::derive(&event, &fixture.endpoint_id()).to_string();
    let page = fixture.get(&fixture.delivery_path("")).await;
    page.expect(&["<p>No attempts yet.</p>"]);
    let lost = |record: &mut AttemptRecord| {
        (record.status, record.error) = (None, Some(TransportError::new("connection reset")));
        record.response_excerpt = Some(String::new());
    };
    fixture.end_attempt_with(DeliveryState::Dead, lost).await;
    let page = fixture.get(&fixture.delivery_path("?done=attempted")).await;
    assert_eq!(page.messages(), ["Event failed. connection reset"]);
    page.expect(&["<p>Response body: empty</p>", "<span class=\"badge dead\">no response</span>"]);
    let list = fixture.get("/panel/deliveries?topic=post.created").await;
    list.expect(&["<td data-label=\"Response\"><div>no response · 17\u{a0}ms</div>"]);
    for (status, class) in [(199, "dead"), (200, "delivered"), (299, "delivered"), (300, "dead")] {
        fixture.post(&fixture.delivery_path("/retry"), &[]).await;
        let change = |record: &mut AttemptRecord| record.status = Some(status);
        fixture.end_attempt_with(DeliveryState::Dead, change).await;
        let page = fixture.get(&fixture.delivery_path("")).await;
        page.expect(&[&format!("<span class=\"badge {class}\">{status}</span>")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_is_being_sent_cannot_be_retried() {
    let fixture = PanelFixture::with_content().await;
    let next = |shown: &str| format!("<dt>Next attempt</dt><dd>{shown}</dd>");
    fixture.interceptor.on_result("deliveries.is_sending", |is_sending: &mut bool| {
        *is_sending = true;
    });
    let path = fixture.delivery_path("");
    fixture.get(&path).await.expect(&[&next("none")]);
    let retry = fixture.delivery_path("/retry");
    let retried = fixture.post(&retry, &[]).await;
    let location = format!("{path}?done=sending");
    assert_eq!(retried.status_and_location(), (303, &*location));
    fixture.get(&path).await.expect(&[&next("being sent")]);
    fixture.end_attempt(DeliveryState::Retrying).await;
    let absent = DeliveryId::derive(&EventId::parse("evt_0").unwrap(), &fixture.endpoint_id());
    fixture.interceptor.on_arguments(
        "deliveries.retry",
        move |(id, ..): &mut (DeliveryId, Timestamp, AuditEntry)| {
            id.clone_from(&absent);
            Ok(())
        },
    );
    let refused = fixture.post(&retry, &[]).await;
    assert_eq!(refused.status, 409);
    refused.expect(&["<p>The delivery is being sent. Try again after this attempt.</p>"]);
}

#[tokio::test]
async fn a_delivery_names_the_request_that_caused_its_event() {
    let mut fixture = PanelFixture::with_content().await;
    let page = fixture.get(&fixture.delivery_path("")).await;
    assert!(page.contains("none: not caused by an API request"));
    fixture.queue(1).await;
    let event = EventId::parse("evt_0").unwrap();
    fixture.delivery = DeliveryId::derive(&event, &fixture.endpoint_id()).to_string();
    let page = fixture.get(&fixture.delivery_path("")).await;
    assert!(page.contains("data-copy=\"request id\">7f3a<"));
}

#[tokio::test]
async fn unreadable_events_are_shown() {
    let fixture = PanelFixture::new().await;
    let pages = ["/panel/deliveries", "/panel/usage"];
    for path in pages {
        let page = fixture.get(path).await;
        assert!(!page.contains("cannot be read"), "{path}");
    }
    let change = |quarantine: &mut Quarantine| {
        quarantine.count = 2;
        quarantine.latest = vec![QuarantinedEvent::new("evt <b>", "the id is malformed")];
    };
    fixture.interceptor.on_result("outbox.quarantined", change);
    for path in pages {
        let page = fixture.get(path).await;
        let line = "2 events cannot be read and will not be delivered. Latest: <code>";
        assert!(page.contains(line), "{path}");
        assert!(page.contains("evt &lt;b&gt;") && page.contains("the id is malformed"));
    }
    for (count, events) in
        [(1, "1 event"), (10_000, "10000 events"), (10_001, "At least 10001 events")]
    {
        let change = move |quarantine: &mut Quarantine| {
            quarantine.count = count;
            quarantine.latest = vec![QuarantinedEvent::new("evt_1", "the id is malformed")];
        };
        fixture.interceptor.on_result("outbox.quarantined", change);
        let line = format!("<p class=\"quarantine\">{events} cannot be read");
        fixture.get("/panel/deliveries").await.expect(&[&line]);
    }
}

/// The stores count at most 10,001 dead deliveries.
#[tokio::test]
async fn a_capped_number_of_dead_deliveries_is_marked() {
    let fixture = PanelFixture::with_content().await;
    for (count, number) in [(10_000, "10000"), (10_001, "more than 10000")] {
        let change = move |counted: &mut u64| *counted = count;
        fixture.interceptor.on_result("deliveries.count_dead", change);
        let page = fixture.get("/panel/deliveries").await;
        page.expect(&[&format!(">Redeliver all failed ({number})<")]);
    }
}

#[tokio::test]
async fn a_list_without_deliveries_names_the_next_step() {
    let mut fixture = PanelFixture::with_content().await;
    fixture.post(&fixture.delivery_path("/remove"), &[]).await;
    let ping =
        "Send a ping to one of the <a href=\"/panel/webhooks\">endpoints</a> to create a delivery.";
    for (path, text) in [
        ("/panel/deliveries", "There are no deliveries."),
        ("/panel/usage", "No deliveries in the last 24 hours."),
        ("/panel/usage?period=30d", "No deliveries in the last 30 days."),
    ] {
        let empty = format!("<p><strong>{text}</strong></p><p>{ping}</p>");
        fixture.get(path).await.expect(&[&empty]);
    }
    let page = fixture.get(&fixture.endpoint_path("")).await;
    page.expect(&["<h2 id=\"latest\">Latest deliveries</h2><p>No deliveries yet.</p>"]);
    fixture.queue(6).await;
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert_eq!(page.body.matches("href=\"/panel/deliveries/dlv_").count(), 5);
    let long = format!("https://93.184.215.14/{}", "x".repeat(39));
    let form = [("url", &*long), ("topics", "*")];
    let added = fixture.post_confirmed("/panel/webhooks", &form).await;
    fixture.endpoint = added.added_endpoint();
    let page = fixture.get("/panel/deliveries").await;
    let option = format!("<option value=\"{}\">{}…</option>", fixture.endpoint, &long[..60]);
    page.expect(&[&option]);
}

#[tokio::test]
async fn the_usage_counts_all_deliveries_of_the_last_day() {
    const MANY: usize = 12_000;
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("1 delivery in 24 hours · busiest interval: 1") && page.contains("<svg"));
    fixture.queue(MANY).await;
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("12,001 deliveries in 24 hours"));
    let endpoint = &fixture.endpoint;
    let path = format!("?state=queued&amp;endpoint={endpoint}&amp;from=2025-12-31T00:00");
    page.expect(&[&format!("{path}\">12,000</a>")]);
    fixture.clock.advance(Duration::from_secs(24 * 60 * 60));
    let page = fixture.get("/panel/usage").await;
    assert!(page.contains("No deliveries in the last 24 hours."));
    assert!(page.contains("0</a></strong><small>1 fewer than in the 24 hours before</small>"));
    let page = fixture.get("/panel/usage?period=7d").await;
    assert!(page.contains("12,001 deliveries in 7 days"));
}
