//! Rate limits: budgets, charges and headers (`docs/protocol.md`, section 4).

use std::net::IpAddr;

use forum_api::MalformedRequest;
use forum_api::mcp::McpServer;

use crate::support::server::read;
use crate::support::*;

fn remaining_units(response: &TestResponse) -> i64 {
    number(response, "x-ratelimit-remaining")
}

fn cost(response: &TestResponse) -> i64 {
    number(response, "x-ratelimit-cost")
}

fn reset(response: &TestResponse) -> i64 {
    number(response, "x-ratelimit-reset")
}

/// Creates a server whose guests have this many units.
fn with_guest_units(units: u32) -> Server {
    let mut settings = settings();
    settings.guest_budget.units = units;
    Server::with(settings)
}

#[tokio::test]
async fn the_default_budgets_are_600_and_120_units() {
    let server = Server::with(ApiSettings::default());
    let alice = server.token("alice").await;
    for (token, limit) in [(Some(&alice), 600), (None, 120)] {
        let search = Request::get("/search?q=tea").maybe_bearer(token);
        let response = server.send(&search).await;
        assert_eq!(number(&response, "x-ratelimit-limit"), limit);
        assert_eq!(remaining_units(&response), limit - 10);
        assert_eq!(reset(&response), 1_767_225_600 + 300);
    }
}

/// Sends a request as a guest, and returns the remaining units.
async fn remaining_for(server: &Server, peer: &str, forwarded: &str) -> i64 {
    let mut request = Request::get("/forums").header("x-forwarded-for", forwarded).to_http();
    if let Ok(peer) = peer.parse::<IpAddr>() {
        request.extensions_mut().insert(peer);
    }
    remaining_units(&server.call(request).await)
}

#[tokio::test]
async fn guests_share_the_budget_of_the_prefix_of_their_client_ip() {
    const PROXY: &str = "10.0.0.1";
    let mut settings = ApiSettings::default();
    settings.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
    let server = Server::with(settings);
    for (peer, forwarded, expected) in [
        ("192.0.2.1", "", 119),
        ("192.0.2.254", "203.0.113.1", 118),
        ("192.0.3.1", "", 119),
        (PROXY, "203.0.113.1, 192.0.2.7", 117),
        (PROXY, "203.0.113.1", 119),
        ("2001:db8::1", "", 119),
        ("2001:db8::ffff:0:0:1", "", 118),
        ("unknown", "", 119),
        ("unknown", "192.0.2.1", 118),
    ] {
        let units = remaining_for(&server, peer, forwarded).await;
        assert_eq!(units, expected, "{peer} {forwarded}");
    }
}

#[tokio::test]
async fn requests_that_fail_routing_or_authentication_are_charged_to_the_address() {
    for (request, expected) in [
        (Request::get("/nothing"), NO_SUCH_ROUTE),
        (Request::new("OPTIONS", "/forums"), NO_SUCH_ROUTE),
        (Request::get("/me"), UNAUTHENTICATED),
        (Request::get("/forums").bearer("nonsense"), UNAUTHENTICATED),
    ] {
        let server = with_guest_units(2);
        let alice = server.token("alice").await;
        for (units, remaining) in [(1, 1), (1, 0), (0, 0), (0, 0)] {
            let response = server.send(&request).await;
            let found = (outcome(&response), cost(&response), remaining_units(&response));
            assert_eq!(found, (expected, units, remaining));
        }
        let refused = server.send(&Request::get("/forums")).await;
        assert_eq!((outcome(&refused), cost(&refused)), (RATE_LIMITED, 0));
        let member = server.send(&Request::get("/forums").bearer(&alice)).await;
        let found = (member.status, remaining_units(&member));
        assert_eq!(found, (200, 999_999), "a token has its own budget");
    }
}

#[tokio::test]
async fn malformed_requests_are_charged_to_the_address() {
    let server = with_guest_units(3);
    let mcp = McpServer::new(&server.api).unwrap();
    let alice = server.token("alice").await;
    let malformed = || {
        let mut request = Request::get("/forums").bearer(&alice).to_http();
        let mark = MalformedRequest { header: "host", expected: "exactly one" };
        request.extensions_mut().insert(mark);
        request
    };
    for (units, remaining) in [(1, 2), (1, 0), (0, 0)] {
        let response = server.call(malformed()).await;
        let found = (outcome(&response), cost(&response), remaining_units(&response));
        assert_eq!(found, (BAD_REQUEST, units, remaining));
        let of_tool = read(mcp.respond(malformed()).await).await;
        assert_eq!(
            (outcome(&of_tool), remaining_units(&of_tool)),
            (BAD_REQUEST, (remaining - 1).max(0))
        );
    }
}

#[tokio::test]
async fn every_request_that_passes_the_rate_limit_is_charged() {
    let (server, alice) = Server::with_alice().await;
    let banned = server.token("banned").await;
    let scopeless = server.token_with("alice", &[]).await;
    let reply = |body| Request::post("/threads/open-1/posts", body);
    let x = r#"{"body":"x"}"#;
    let y = r#"{"body":"y"}"#;
    for (token, request, status, units) in [
        (&alice, Request::get("/forums").header("if-none-match", "*"), 304, 1),
        (&alice, Request::new("HEAD", "/search?q=tea"), 200, 10),
        (&alice, Request::get("/threads/staff-1"), 404, 1),
        (&alice, Request::get("/search"), 400, 10),
        (&alice, reply("{"), 400, 5),
        (&alice, reply("{}"), 422, 5),
        (&alice, reply(x).key("k"), 201, 5),
        (&alice, reply(x).key("k"), 201, 5),
        (&alice, reply(y).key("k"), 409, 5),
        (&scopeless, Request::get("/forums"), 403, 1),
        (&banned, reply("{}"), 403, 5),
    ] {
        let before = server.remaining(token, settings().token_budget).await;
        let response = server.send(&request.bearer(token)).await;
        let found = (response.status, cost(&response), remaining_units(&response));
        assert_eq!(found, (status, units, before - units));
    }
}

#[tokio::test]
async fn the_document_costs_nothing_and_is_never_refused() {
    let server = with_guest_units(2);
    let alice = server.token("alice").await;
    let document = Request::get("/openapi.json");
    for (charged, remaining) in [(Request::get("/forums"), 1), (Request::get("/forums"), 0)] {
        server.board.set_offline(false);
        assert_eq!(remaining_units(&server.send(&charged).await), remaining);
        server.board.set_offline(true);
        for (request, status) in [
            (document.clone(), 200),
            (document.clone().bearer(&alice), 200),
            (document.clone().bearer("nonsense"), 200),
            (document.clone().header("if-none-match", "*"), 304),
            (Request::new("HEAD", "/openapi.json"), 200),
        ] {
            let response = server.send(&request).await;
            assert_eq!(response.status, status, "{request:?}");
            assert_eq!(number(&response, "x-ratelimit-limit"), 2, "{request:?}");
            assert_eq!(cost(&response), 0, "{request:?}");
            assert_eq!(remaining_units(&response), remaining, "{request:?}");
        }
    }
    server.board.set_offline(false);
    let rejected = server.send(&Request::get("/forums")).await;
    assert_eq!(outcome(&rejected), RATE_LIMITED);
    let served = server.send(&document).await;
    assert_eq!(reset(&served), reset(&rejected), "no window was started");
}

#[tokio::test]
async fn the_headers_round_the_end_of_the_window_up_to_seconds() {
    let server = with_guest_units(1);
    let forums = Request::get("/forums");
    server.clock.advance(Duration::from_millis(1_500));
    let first = server.send(&forums).await;
    let rounded_up = 1_767_225_600 + 302;
    assert_eq!((first.status, reset(&first)), (200, rounded_up));
    for (advance, status, retry_after) in
        [(0, 429, Some("300")), (299_999, 429, Some("1")), (1, 200, None)]
    {
        server.clock.advance(Duration::from_millis(advance));
        let response = server.send(&forums).await;
        let retry = response.header("retry-after");
        assert_eq!((response.status, retry), (status, retry_after));
    }
}
