//! `/metrics`: what was counted, as Prometheus reads it.

use crate::client::{Answer, get, send};
use crate::program::Server;
use crate::receiver::Receiver;
use crate::webhooks::{add, reply, server};

/// The value of a sample, by its name and labels.
fn value(metrics: &Answer, sample: &str) -> Option<f64> {
    let line = |line: &str| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok();
    metrics.body.lines().find_map(line)
}

fn metrics(server: &Server) -> Answer {
    get(&server.beside("/metrics"))
}

#[test]
fn requests_units_and_refusals_are_counted_by_what_is_bounded() {
    let server = Server::new(&["--token-budget", "2", "--guest-budget", "3", "--no-worker"]);
    let token = server.greeting["token"].as_str().unwrap();
    let statuses = [1, 2, 3].map(|_| server.get(token, "/threads/1").status);
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(get(&server.api("/nowhere/at/all")).status, 404);
    assert_eq!(send("BREW", &server.api("/forums"), &[], "").status, 404);
    let metrics = metrics(&server);
    assert_eq!(
        metrics.header("content-type"),
        Some("text/plain; version=0.0.4")
    );
    for (sample, expected) in [
        (
            r#"requests_total{code="",method="GET",route="/threads/{threadId}",status="200"}"#,
            2.0,
        ),
        (
            r#"requests_total{code="rate_limited",method="GET",route="/threads/{threadId}",status="429"}"#,
            1.0,
        ),
        (
            r#"requests_total{code="no_such_route",method="GET",route="other",status="404"}"#,
            1.0,
        ),
        (
            r#"requests_total{code="no_such_route",method="other",route="other",status="404"}"#,
            1.0,
        ),
        (
            r#"request_duration_seconds_count{method="GET",route="/threads/{threadId}"}"#,
            3.0,
        ),
        (
            r#"request_duration_seconds_bucket{method="GET",route="/threads/{threadId}",le="+Inf"}"#,
            3.0,
        ),
        (r#"units_charged_total{budget="token"}"#, 2.0),
        (r#"units_charged_total{budget="guest"}"#, 2.0),
        (r#"budget_refusals_total{budget="token"}"#, 1.0),
    ] {
        let found = value(&metrics, &format!("forum_api_{sample}"));
        assert_eq!(found, Some(expected), "{sample}\n{}", metrics.body);
    }
    for told in [
        "# HELP forum_api_requests_total Requests that were answered.",
        "# TYPE forum_api_requests_total counter",
        "# TYPE forum_api_request_duration_seconds histogram",
    ] {
        assert!(metrics.body.lines().any(|line| line == told), "{told}");
    }
    assert!(!metrics.body.contains("nowhere") && !metrics.body.contains("BREW"));
}

#[test]
fn deliveries_are_counted_by_topic_and_state() {
    let (server, receiver) = (server(), Receiver::new());
    add(&server, &receiver, &[]);
    reply(&server, &server.token("alice"), "Hello.");
    receiver.next();
    let sample = r#"forum_api_deliveries_total{state="delivered",topic="post.created"}"#;
    while value(&metrics(&server), sample) != Some(1.0) {}
    let metrics = metrics(&server);
    for (sample, expected) in [
        ("forum_api_delivery_attempt_duration_seconds_count", 1.0),
        ("forum_api_delivery_queue_depth", 0.0),
        ("forum_api_delivery_queue_age_seconds", 0.0),
    ] {
        assert_eq!(
            value(&metrics, sample),
            Some(expected),
            "{sample}\n{}",
            metrics.body
        );
    }
}
