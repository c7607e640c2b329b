//! Budgets: who shares one, what is charged, and when a window ends (`docs/protocol.md`, section 4).

use std::net::IpAddr;
use std::time::Duration;

use forum_api::ApiSettings;
use forum_api::runtime::Clock;
use forum_api::test_util::TestResponse;

use crate::support::server::settings;
use crate::support::*;

fn left(answer: &TestResponse) -> i64 {
    number(answer, "x-ratelimit-remaining")
}

fn reset(answer: &TestResponse) -> i64 {
    number(answer, "x-ratelimit-reset")
}

/// A server whose guests have this many units.
fn guests_have(units: u32) -> Server {
    let mut settings = settings();
    settings.guest_budget.units = units;
    Server::with(settings)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_connections_on_one_token_are_granted_exactly_its_budget() {
    let server = Server::with(ApiSettings::default()).listening().await;
    let ask = Ask::get("/forums").bearer(&server.token("alice").await);
    let clients = (0..64).map(|_| {
        let (server, ask) = (server.clone(), ask.clone());
        tokio::spawn(async move {
            let mut connection = server.connection().await;
            let mut granted = 0;
            for _ in 0..20 {
                connection.ready().await.unwrap();
                let answer = connection.send_request(ask.request()).await.unwrap();
                granted += usize::from(answer.status() == 200);
            }
            granted
        })
    });
    let mut granted = 0;
    for client in clients.collect::<Vec<_>>() {
        granted += client.await.unwrap();
    }
    assert_eq!((granted, server.board.calls().len()), (600, 600));
}

#[tokio::test]
async fn the_defaults_are_the_specifications() {
    let server = Server::with(ApiSettings::default());
    let alice = server.token("alice").await;
    for (token, limit) in [(Some(&alice), 600), (None, 120)] {
        let answer = server.send(&Ask::get("/search?q=tea").by(token)).await;
        assert_eq!(number(&answer, "x-ratelimit-limit"), limit);
        assert_eq!(left(&answer), limit - 10);
        assert_eq!(reset(&answer), 1_767_225_600 + 300);
    }
}

/// Asks as a guest from an address, with lines of `x-forwarded-for`.
async fn left_for(server: &Server, peer: &str, forwarded: &[&str]) -> i64 {
    let ask = forwarded.iter().fold(Ask::get("/forums"), |ask, line| {
        ask.header("x-forwarded-for", line)
    });
    let mut request = ask.request();
    if let Ok(peer) = peer.parse::<IpAddr>() {
        request.extensions_mut().insert(peer);
    }
    left(&server.call(request).await)
}

#[tokio::test]
async fn neighbours_share_a_budget_and_only_trusted_proxies_are_believed() {
    const PROXY: &str = "10.0.0.1";
    for (one, other, shared) in [
        (("192.0.2.1", &[][..]), ("192.0.2.254", &[][..]), true),
        (("192.0.2.1", &[]), ("192.0.3.1", &[]), false),
        (("192.0.2.1", &[]), ("::ffff:192.0.2.9", &[]), true),
        (("2001:db8::1", &[]), ("2001:db8::ffff:0:0:1", &[]), true),
        (("2001:db8::1", &[]), ("2001:db8:0:1::1", &[]), false),
        (("", &[]), ("", &[]), true),
        (("", &[]), ("192.0.2.1", &[]), false),
        (
            ("192.0.2.1", &["198.51.100.1"]),
            ("192.0.2.1", &["203.0.113.1"]),
            true,
        ),
        ((PROXY, &["198.51.100.1"]), (PROXY, &["203.0.113.1"]), false),
        ((PROXY, &["198.51.100.1"]), ("198.51.100.7", &[]), true),
        (
            (PROXY, &["203.0.113.1, 198.51.100.1"]),
            (PROXY, &["192.0.2.1, 198.51.100.2"]),
            true,
        ),
        (
            (PROXY, &["203.0.113.1", "198.51.100.1, 10.9.9.9"]),
            (PROXY, &["198.51.100.2:80"]),
            true,
        ),
        ((PROXY, &["garbage"]), (PROXY, &[]), true),
        ((PROXY, &["garbage"]), (PROXY, &["198.51.100.1"]), false),
    ] {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let server = Server::with(ApiSettings {
            trusted_proxies,
            ..ApiSettings::default()
        });
        assert_eq!(left_for(&server, one.0, one.1).await, 119);
        let expected = if shared { 118 } else { 119 };
        assert_eq!(
            left_for(&server, other.0, other.1).await,
            expected,
            "{one:?} {other:?}"
        );
    }
}

#[tokio::test]
async fn requests_that_fail_routing_or_authentication_are_charged_to_the_address() {
    for (ask, expected) in [
        (Ask::get("/nothing"), NO_SUCH_ROUTE),
        (Ask::new("OPTIONS", "/forums"), NO_SUCH_ROUTE),
        (Ask::get("/me"), UNAUTHENTICATED),
        (Ask::get("/forums").bearer("nonsense"), UNAUTHENTICATED),
    ] {
        let server = guests_have(2);
        let alice = server.token("alice").await;
        for remaining in [1, 0, 0, 0] {
            let answer = server.send(&ask).await;
            assert_eq!((outcome(&answer), left(&answer)), (expected, remaining));
        }
        assert_eq!(server.outcome(Ask::get("/forums")).await, RATE_LIMITED);
        let member = server.send(&Ask::get("/forums").bearer(&alice)).await;
        assert_eq!(
            (member.status, left(&member)),
            (200, 999_999),
            "a token has its own budget"
        );
    }
}

#[tokio::test]
async fn every_request_that_passes_the_rate_limit_is_charged() {
    let server = Server::new();
    let (alice, banned) = (server.token("alice").await, server.token("banned").await);
    let scopeless = server.token_with("alice", &[]).await;
    let reply = |body| Ask::post("/threads/open-1/posts", body);
    let (x, y) = (r#"{"body":"x"}"#, r#"{"body":"y"}"#);
    for (token, ask, status, cost) in [
        (
            &alice,
            Ask::get("/forums").header("if-none-match", "*"),
            304,
            1,
        ),
        (&alice, Ask::new("HEAD", "/search?q=tea"), 200, 10),
        (&alice, Ask::get("/threads/staff-1"), 404, 1),
        (&alice, Ask::get("/search"), 400, 10),
        (&alice, reply("{"), 400, 5),
        (&alice, reply("{}"), 422, 5),
        (&alice, reply(x).key("k"), 201, 5),
        (&alice, reply(x).key("k"), 201, 5),
        (&alice, reply(y).key("k"), 409, 5),
        (&scopeless, Ask::get("/forums"), 403, 1),
        (&banned, reply("{}"), 403, 5),
    ] {
        let before = server.left(token, settings().token_budget).await;
        let answer = server.send(&ask.bearer(token)).await;
        assert_eq!((answer.status, left(&answer)), (status, before - cost));
    }
}

#[tokio::test]
async fn the_document_costs_nothing_and_is_never_refused() {
    let server = guests_have(2);
    let alice = server.token("alice").await;
    let document = Ask::get("/openapi.json");
    for (spent, remaining) in [(Ask::get("/forums"), 1), (Ask::get("/forums"), 0)] {
        server.board.go_offline(false);
        assert_eq!(left(&server.send(&spent).await), remaining);
        server.board.go_offline(true);
        for (ask, status) in [
            (document.clone(), 200),
            (document.clone().bearer(&alice), 200),
            (document.clone().bearer("nonsense"), 200),
            (document.clone().header("if-none-match", "*"), 304),
            (Ask::new("HEAD", "/openapi.json"), 200),
        ] {
            let answer = server.send(&ask).await;
            assert_eq!(answer.status, status, "{ask:?}");
            assert_eq!(number(&answer, "x-ratelimit-limit"), 2, "{ask:?}");
            assert_eq!(left(&answer), remaining, "{ask:?}");
        }
    }
    server.board.go_offline(false);
    let refused = server.send(&Ask::get("/forums")).await;
    assert_eq!(outcome(&refused), RATE_LIMITED);
    let served = server.send(&document).await;
    assert_eq!(reset(&served), reset(&refused), "no window was started");
}

#[tokio::test]
async fn a_clock_set_back_locks_no_budget() {
    let server = guests_have(1);
    let forums = Ask::get("/forums");
    let now = server.clock.now();
    server.clock.advance(Duration::from_secs(3600));
    assert_eq!(server.send(&forums).await.status, 200);
    assert_eq!(server.send(&forums).await.status, 429);
    server.clock.set(now);
    let answer = server.send(&forums).await;
    assert_eq!((answer.status, reset(&answer)), (200, 1_767_225_600 + 300));
    assert_eq!(number(&server.send(&forums).await, "retry-after"), 300);
}

#[tokio::test]
async fn a_window_begins_with_its_first_charge_and_ends_to_the_millisecond() {
    let server = guests_have(1);
    let forums = Ask::get("/forums");
    server.clock.advance(Duration::from_millis(1_500));
    let first = server.send(&forums).await;
    let rounded_up = 1_767_225_600 + 302;
    assert_eq!((first.status, reset(&first)), (200, rounded_up));
    for (advance, status, retry_after) in [
        (0, 429, Some("300")),
        (299_000, 429, Some("1")),
        (999, 429, Some("1")),
        (1, 200, None),
        (0, 429, Some("300")),
    ] {
        server.clock.advance(Duration::from_millis(advance));
        let answer = server.send(&forums).await;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (status, retry_after)
        );
    }
    assert_eq!(reset(&server.send(&forums).await), 1_767_225_600 + 602);
}

#[tokio::test]
async fn each_token_has_its_own_budget() {
    let server = Server::new();
    for _ in 0..2 {
        let token = server.token("alice").await;
        let answer = server.send(&Ask::get("/me").bearer(&token)).await;
        assert_eq!(left(&answer), 999_999);
    }
}
